use super::*;

const TEXT: &str = r#"
[run]
threads = 4
[[override]]
when = { missing = "a" }
measure.ppl.command = "{build}/old"
measure.ppl.timeout = "9s"
[[override]]
when = { missing = "b" }
run.threads = 1
"#;

fn changed(
    text: &str,
    set: &[&str],
    arg: &[&str],
) -> Result<(Config, Vec<crate::evaluation::OptionChange>), ConfigError> {
    let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let (set, arg) = (owned(set), owned(arg));
    let changes = Changes { set: &set, arg: &arg };
    Config::parse_changed(text, changes, Path::new("/base"), "oracle.toml")
}

/// The changes as option, former value, and number of overrides.
fn made(text: &str, set: &[&str], arg: &[&str]) -> (Config, Vec<(String, Option<String>, usize)>) {
    let (config, made) = changed(text, set, arg).unwrap_or_else(|error| panic!("{error}"));
    let about = |one: crate::evaluation::OptionChange| (one.option, one.former, one.overrides);
    (config, made.into_iter().map(about).collect())
}

fn problems(set: &[&str], arg: &[&str]) -> Vec<String> {
    let error = changed(&format!("{SMALL}{TEXT}"), set, arg).unwrap_err();
    error.problems.iter().map(ToString::to_string).collect()
}

/// The command of `ppl` where the override for commits without the file `path` holds.
fn command(config: &Config, path: &str) -> String {
    let holds = |c: &Condition| c.missing.as_deref() == Some(path);
    let resolved = config.resolve::<std::convert::Infallible>(&mut |c| Ok(holds(c))).unwrap();
    resolved.measures[0].command.text.clone()
}

#[test]
fn a_value_that_is_set_counts_at_every_commit() {
    let text = format!("{SMALL}{TEXT}");
    let (config, made) = made(&text, &["run.threads=8", "measure.ppl.timeout=1h"], &[]);
    let told = [("--set run.threads=8", "4", 1), ("--set measure.ppl.timeout=1h", "nothing", 1)];
    let made: Vec<_> = made
        .iter()
        .map(|(option, was, count)| (option.as_str(), was.as_deref().unwrap_or("nothing"), *count))
        .collect();
    assert_eq!(made, told);
    assert_eq!(config.run.threads, Some(8));
    assert_eq!(config.overrides.len(), 1, "the second override has no key left");
    assert_eq!(command(&config, "a"), "{build}/old", "its other keys stay");
    let again = Config::parse(config.text(), Path::new("/base"), "frozen").unwrap();
    assert_eq!(seen(&again), seen(&config));
}

#[test]
fn a_guard_has_one_form_and_a_new_one_is_added() {
    let set = ["guard.ppl.max_increase_percent=2", "guard.\"ppl.wall_s\".max=3"];
    let (config, made) = made(SMALL, &set, &[]);
    assert_eq!(made[0].1.as_deref(), Some("max_increase = 0.05"));
    assert_eq!((made[1].0.as_str(), &made[1].1), ("--set 'guard.\"ppl.wall_s\".max=3'", &None));
    assert_eq!(config.guards.len(), 2);
    assert_eq!(config.guards[0].form, GuardForm::MaxIncreasePercent(2.0));
    assert_eq!(config.guards[1].metric.to_string(), "ppl.wall_s");
}

#[test]
fn words_are_appended_to_the_command_and_to_those_of_overrides() {
    let text = format!("{SMALL}{TEXT}").replace("{build}/old\"", "{build}/old  # small\"");
    let (config, made) = made(&text, &[], &["ppl=-ctk q8_0", "ppl='a b'"]);
    assert_eq!((made[0].1.as_ref(), made[0].2), (None, 1));
    assert_eq!(command(&config, "none"), "{build}/ppl -ctk q8_0 'a b'");
    assert_eq!(command(&config, "a"), "{build}/old  # small\n-ctk q8_0\n'a b'");
    let holds = |c: &Condition| c.missing.as_deref() == Some("a");
    let old = config.resolve::<std::convert::Infallible>(&mut |c| Ok(holds(c))).unwrap();
    let words: Vec<&str> = old.measures[0].command.words.iter().map(Template::text).collect();
    assert_eq!(words, ["{build}/old", "-ctk", "q8_0", "a b"], "a comment ends with its line");
}

#[test]
fn what_is_wrong_names_the_option() {
    assert_eq!(problems(&["threads"], &[]), ["--set threads: write KEY=VALUE"]);
    assert_eq!(
        problems(&["measure.ppl.timeout=soon"], &[])[0].split(": ").take(2).collect::<Vec<_>>(),
        ["--set measure.ppl.timeout=soon", "measure.ppl.timeout"]
    );
    assert_eq!(
        problems(&[], &["pll=x", "ppl='x"]),
        [
            "--arg pll=x: there is no measure `pll`; did you mean `ppl`? Measures: ppl",
            "--arg ppl=\"'x\": a quote is never closed"
        ]
    );
    let wrong = changed("version = 2\n", &["run.threads=1"], &[]).unwrap_err();
    assert!(!wrong.is_of_options() && wrong.to_string().starts_with("oracle.toml has"));
}
