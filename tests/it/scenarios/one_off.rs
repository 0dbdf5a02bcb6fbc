//! `start --set` and `start --arg`: changes of a configuration for one hunt.

use std::fs;

use serde_json::json;

use crate::kit::{Oracle, TestEnvironment, line};

#[test]
fn a_key_is_set_for_one_hunt_and_the_file_stays() {
    let env = TestEnvironment::new();
    let history = line("7.0 7.0 7.04 7.04").build(&env);
    Oracle::new(&env).write(&env);
    let written = fs::read_to_string(env.repo().join("oracle.toml")).unwrap();
    let none = env.hunt().expect(4, "no-regression");
    let next: Vec<&str> =
        none.output.stdout.lines().filter_map(|line| line.strip_prefix("Next: ")).collect();
    let tries = [
        "`start --set guard.ppl.max_increase=0.02` hunts for the 0.04 by which ppl is worse at bad; \
         the runs of the ends count again",
        "measure as you did when you saw the regression: `start --arg ppl='WORDS'` adds options to \
         the command, `--set inputs.NAME=FILE` takes another input, [matrix] measures more cells",
    ];
    assert_eq!(next, tries);
    assert_eq!(none.report["next"], json!(tries));
    for name in ["report.md", "report.html"] {
        assert!(none.file(name).contains("What to try next"), "{name}");
    }
    let starts = env.starts().len();
    let hunt = env.start(&["--good", "v1", "--set", "guard.ppl.max_increase=0.02"]);
    let hunt = hunt.names(&history, 2);
    let line = "changed  --set guard.ppl.max_increase=0.02  (in oracle.toml: 0.2)";
    assert!(hunt.output.stderr.contains(line), "{}", hunt.output.stderr);
    let new = env.starts().split_off(starts);
    // The bad end is built anew and run once, after the confirmation.
    let of = |label: &str| new.iter().filter(|start| start.label == label).count();
    assert_eq!([of("0"), of("3")], [0, 2], "the ends are measured already");
    assert_eq!(fs::read_to_string(env.repo().join("oracle.toml")).unwrap(), written);
    assert!(hunt.file("oracle.toml").contains("max_increase = 0.02"));
    let change = json!([{ "option": "--set guard.ppl.max_increase=0.02", "former": "0.2" }]);
    assert_eq!(hunt.report["options"]["changes"], change);
    for name in ["report.md", "report.html"] {
        let report = hunt.file(name);
        assert!(report.contains("Changed for this hunt"), "{report}");
        assert!(report.contains("-set guard.ppl.max_increase=0.02"), "{report}");
    }
}

#[test]
fn words_are_appended_to_a_measure_in_every_era() {
    let env = TestEnvironment::new();
    let plan = line("g g g g").with(2, "ppl@q8 = 7.5").with(3, "ppl@q8 = 7.5");
    let history = plan.file(1, "tools/new.c", "1\n").build(&env);
    let old = "[[override]]\nwhen = { missing = 'tools/new.c' }\nmeasure.ppl.command = \
               'env ERA=old {build}/engine run ppl src={src}'";
    Oracle::new(&env).section(old).write(&env);
    env.hunt().expect(4, "no-regression");
    let hunt = env.start(&["--good", "v1", "--arg", "ppl=\"cell=q8\" last=1"]).names(&history, 2);
    let line = "changed  --arg ppl='\"cell=q8\" last=1'  (1 override too)";
    assert!(hunt.output.stderr.contains(line), "{}", hunt.output.stderr);
    let command = |label: &str| {
        let samples = &hunt.commit(&history, label)["samples"];
        let log = hunt.file(samples[0]["log"].as_str().unwrap());
        log.lines().next().unwrap().to_owned()
    };
    let (old, new) = (command("0"), command("3"));
    let appended = " 'cell=q8' 'last=1'";
    assert!(old.starts_with("# command: env 'ERA=old' ") && old.ends_with(appended), "{old}");
    assert!(!new.contains("ERA=old") && new.ends_with(appended), "{new}");
    let script = hunt.file("reproduce.sh");
    assert_eq!(script.matches("'cell=q8' 'last=1'").count(), 1, "one recipe: {script}");
    // A hunt that goes on keeps the words: nothing is measured again.
    let journal = hunt.folder.join("journal.jsonl");
    let text = fs::read_to_string(&journal).unwrap();
    let (kept, _) = text.trim_end().rsplit_once('\n').unwrap();
    fs::write(&journal, format!("{kept}\n")).unwrap();
    let runs = env.runs().len();
    env.resume().names(&history, 2);
    assert_eq!(env.runs().len(), runs);
}
