use std::convert::Infallible;

use super::*;

fn with(extra: &str) -> String {
    format!("{SMALL}{extra}")
}

fn problems(text: &str) -> Vec<String> {
    parse(text).unwrap_err().problems.iter().map(ToString::to_string).collect()
}

/// Resolves as if only the conditions with these `missing` paths hold.
fn resolved(config: &Config, missing: &[&str]) -> Config {
    config
        .resolve::<Infallible>(&mut |c| {
            Ok(c.missing.as_deref().is_some_and(|path| missing.contains(&path)))
        })
        .unwrap()
}

const TWO: &str = r#"
[build]
commands = ["make"]
env = { CC = "gcc", AR = "ar" }
[[override]]
when = { missing = "a" }
measure.ppl.command = "{build}/bin/perplexity"
measure.ppl.env.X = "1"
build.env.CC = "clang"
[[override]]
when = { missing = "b" }
build.commands = ["cmake", "ninja"]
build.env.CC = "icc"
measure.ppl.timeout = "9s"
run.threads = 1
measure.ppl.failures.crash = "bad"
"#;

#[test]
fn what_a_hunt_set_stays_where_overrides_hold() {
    let text = format!("{TWO}build.mode = \"incremental\"\n");
    let mut config = parse(&with(&text)).unwrap();
    let before = resolved(&config, &["a", "b"]);
    assert!(before.build.direct_mode && before.home == HomeUse::Checked);
    assert_eq!(before.build.mode, BuildMode::Incremental);
    config.build.direct_mode = false;
    config.build.set_always_clean();
    config.home = HomeUse::Shared;
    config.statistics.max_runs = 7;
    let chance = ["softmax".to_owned()].into_iter().collect();
    config.leave_out_checks("ppl", &chance);
    let after = resolved(&config, &["a", "b"]);
    assert_eq!(after.measure("ppl").unwrap().left_out, chance);
    assert!(!after.build.direct_mode && after.home == HomeUse::Shared);
    assert_eq!((after.build.mode, after.statistics.max_runs), (BuildMode::Clean, 7));
}

#[test]
fn overrides_that_hold_are_laid_over_in_order() {
    let config = parse(&with(TWO)).unwrap();
    assert_eq!(config.overrides.len(), 2);
    assert_eq!(config.overrides[1].missing.as_deref(), Some("b"));

    let neither = resolved(&config, &[]);
    assert_eq!(neither.measures[0].command.text, "{build}/ppl");
    assert!(neither.overrides.is_empty());

    let first = resolved(&config, &["a"]);
    assert_eq!(first.measures[0].command.text, "{build}/bin/perplexity");
    assert_eq!(first.measures[0].env["X"].text(), "1");
    assert_eq!(first.build.env["CC"].text(), "clang");
    assert_eq!(first.build.env["AR"].text(), "ar");

    let both = resolved(&config, &["a", "b"]);
    assert_eq!(both.measures[0].command.text, "{build}/bin/perplexity");
    assert_eq!(both.build.env["CC"].text(), "icc");
    assert_eq!(both.build.commands.len(), 2);
    assert_eq!(both.run.threads, Some(1));
    assert_eq!(both.measures[0].timeout, Duration::from_secs(9));
    assert_eq!(both.measures[0].failures.crash, Policy::Bad);
    assert_eq!(both.failures.crash, Policy::Skip);
    assert_eq!(config.build.env["CC"].text(), "gcc", "the original stays as it was");
}

#[test]
fn a_resolved_configuration_is_written_as_it_is() {
    let both = resolved(&parse(&with(TWO)).unwrap(), &["a", "b"]);
    assert_eq!(seen(&parse(both.text()).unwrap()), seen(&both));
}

#[test]
fn another_parser_drops_the_keys_of_the_former() {
    let text = r#"version = 1
[[measure]]
name = "ppl"
command = "p"
parser = "regex"
pattern = "ppl = ([0-9.]+)"
[[guard]]
metric = "ppl"
max = 9
[[override]]
when = { exists = "new" }
measure.ppl = { parser = "json", pointer = "/ppl" }
"#;
    let config = parse(text).unwrap();
    let new = config.resolve::<Infallible>(&mut |_| Ok(true)).unwrap();
    assert!(matches!(new.measures[0].parser, Parser::Json { .. }));
}

#[test]
fn one_way_to_point_replaces_the_other() {
    let text = r#"version = 1
[[measure]]
name = "ppl"
command = "p"
parser = "json"
pointer = "/ppl"
[[guard]]
metric = "ppl.wall_s"
max = 9
[[override]]
when = { exists = "new" }
measure.ppl.pointers = { value = "/value" }
"#;
    let new = parse(text).unwrap().resolve::<Infallible>(&mut |_| Ok(true)).unwrap();
    assert_eq!(new.measures[0].parser.names(), Some(vec![Some("value".to_owned())]));
}

#[test]
fn every_condition_is_read() {
    let text = with(
        r#"
[[override]]
when = { missing = "a", exists = "b/c", contains = ["Makefile", "CUDA"], has_ancestor = "v1.0", lacks_ancestor = "HEAD~3" }
run.threads = 1
"#,
    );
    let condition = Condition {
        missing: Some("a".to_owned()),
        exists: Some("b/c".to_owned()),
        contains: Some(("Makefile".to_owned(), "CUDA".to_owned())),
        has_ancestor: Some("v1.0".to_owned()),
        lacks_ancestor: Some("HEAD~3".to_owned()),
    };
    assert_eq!(parse(&text).unwrap().overrides, [condition]);
}

#[test]
fn mistakes_in_an_override_are_told_where_they_stand() {
    let text = with(
        r#"
[[override]]
when = { missing = "a" }
build.comands = ["make"]
measure.pl.command = "x"
measure.ppl.command = "{scr}"
"#,
    );
    let said = problems(&text);
    assert_eq!(said.len(), 3, "{said:#?}");
    assert!(
        said[0].starts_with(
            "oracle.toml:12:7: override[1].build.comands: unknown key; did you mean `commands`?"
        ),
        "{said:#?}"
    );
    assert!(said[1].starts_with("oracle.toml:13:9: override[1].measure.pl: there is no measure `pl`; did you mean `ppl`?"), "{said:#?}");
    assert!(
        said[2]
            .starts_with("oracle.toml:14:23: override[1].measure.ppl.command: unknown placeholder"),
        "{said:#?}"
    );
}

/// The override is valid alone. It breaks a guard elsewhere in the file.
#[test]
fn an_override_that_takes_a_metric_away_is_refused() {
    let text = r#"version = 1
[[measure]]
name = "s"
command = "p"
parser = "regex"
pattern = "(?<tg>[0-9.]+)"
[[guard]]
metric = "s.tg"
max = 9
[[override]]
when = { exists = "new" }
measure.s.pattern = "(?<pp>[0-9.]+)"
"#;
    let said = problems(text);
    assert_eq!(said.len(), 1, "{said:#?}");
    assert!(said[0].starts_with("oracle.toml:8:10: guard[1].metric: with override[1] applied: measure `s` yields no `s.tg`"), "{said:#?}");
}

#[test]
fn mistakes_of_the_base_are_not_repeated_for_each_override() {
    let text = with("[build]\nmod = 1\n[[override]]\nwhen = { missing = 'a' }\nrun.threads = 1\n");
    assert_eq!(problems(&text).len(), 1);
}

#[test]
fn what_belongs_to_the_whole_hunt_cannot_be_overridden() {
    for key in [
        "version = 1",
        "inputs.model = 'x'",
        "guard = []",
        "statistics.confidence = 0.9",
        "environment.probe = []",
        "limits.builds = '1 GiB'",
        "notify.command = 'x'",
        "worktree.dir = 'x'",
        "build.ignore = []",
        "build.paths = []",
        "build.confirm = 'reuse'",
        "build.keep = '1h'",
        "build.unread = 'build'",
    ] {
        let said = problems(&with(&format!("[[override]]\nwhen = {{ exists = 'a' }}\n{key}\n")));
        assert_eq!(said.len(), 1, "{said:#?}");
        assert!(said[0].contains("belongs to the whole hunt"), "{said:#?}");
    }
}

#[test]
fn overrides_that_do_not_fit_together_are_a_conflict() {
    let text = r#"version = 1
[[measure]]
name = "s"
command = "p"
parser = "regex"
pattern = "([0-9.]+)"
[[guard]]
metric = "s"
max = 9
[[override]]
when = { exists = "a" }
measure.s.kind = "number"
measure.s.pick = "max"
[[override]]
when = { exists = "b" }
measure.s.parser = "exit-code"
[[override]]
when = { exists = "c" }
measure.s.pick = "min"
"#;
    let config = parse(text).unwrap();
    let error = config.resolve::<Infallible>(&mut |_| Ok(true)).unwrap_err();
    assert!(matches!(error, ResolveError::Conflict(_)));
    let said = error.to_string();
    assert!(
        said.contains(
            "oracle.toml:19:18: measure.s.pick: belongs to the parser `llama-bench` or `regex`"
        ),
        "{said}"
    );
}

#[test]
fn a_condition_that_cannot_be_decided_is_passed_on() {
    let config = parse(&with(TWO)).unwrap();
    let error = config.resolve(&mut |_| Err("no such revision")).unwrap_err();
    assert_eq!(error.to_string(), "no such revision");
}

fn overlaid(overlay: &str) -> Result<Config, ConfigError> {
    let overlay = Overlay { name: "scenario.toml", text: overlay };
    Config::parse_with(&with(TWO), Some(overlay), Path::new("/base"), "oracle.toml")
}

#[test]
fn an_overlay_merges_tables_and_replaces_arrays() {
    let config = overlaid(
        r#"
[scenario]
anything = "goes"
[build]
commands = []
env.CC = "tcc"
[measure.ppl]
timeout = "3s"
[[guard]]
metric = "ppl.wall_s"
max_increase_percent = 20
"#,
    )
    .unwrap();
    assert!(config.build.commands.is_empty());
    assert_eq!(config.build.env["CC"].text(), "tcc");
    assert_eq!(config.build.env["AR"].text(), "ar");
    assert_eq!(config.measures[0].timeout, Duration::from_secs(3));
    assert_eq!(config.guards.len(), 1);
    assert_eq!(config.guards[0].metric, Metric::named("ppl", "wall_s"));
    assert_eq!(config.overrides.len(), 2, "overrides of the file stay");

    let frozen = parse(config.text()).unwrap();
    assert_eq!(seen(&frozen), seen(&config));
    assert_eq!(seen(&resolved(&frozen, &["b"])), seen(&resolved(&config, &["b"])));
}

#[test]
fn mistakes_in_an_overlay_name_its_file() {
    let error = overlaid("[build]\nmod = 1\n[measure.ppl]\nname = 'x'\n").unwrap_err();
    let said: Vec<_> = error.problems.iter().map(ToString::to_string).collect();
    assert!(
        said[0].starts_with("scenario.toml:2:1: build.mod: unknown key; did you mean `mode`?"),
        "{said:#?}"
    );
    assert!(
        said[1].starts_with("scenario.toml:4:1: measure.ppl.name: a measure keeps its name"),
        "{said:#?}"
    );
    assert_eq!(said.len(), 2);
}

#[test]
fn a_scenario_table_is_refused_in_the_file_itself() {
    assert!(problems(&with("[scenario]\nx = 1\n"))[0].contains("scenario: unknown key"));
}
