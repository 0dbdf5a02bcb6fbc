//! `start` in a tree without a configuration.

use super::{make_tree, written};
use crate::kit::Hunt;
use crate::kit::planted::Planted;

#[test]
fn start_writes_what_is_not_there_and_hunts_with_it() {
    let Planted { env, culprit } = make_tree();
    let recipe = ["--model", "models/model.bin", "--set", "guard.ppl.max_increase=0.1"];
    let start = |good: &'static str| [&["start", "--good", good], &recipe[..]].concat();
    // A wrong argument for the hunt: no hunt and no file.
    env.run(&start("nowhere")).expect(2).says(&["nowhere"]);
    assert!(!env.repo().join("oracle.toml").exists());

    let started = env.run(&start("v1")).says(&[
        "build: make, Makefile",
        "warning: text: data/corpus.txt (a guess",
        "wrote oracle.toml",
    ]);
    assert!(started.stderr.starts_with("hunt: "), "{}", started.stderr);
    let hunt = Hunt::of(&env, started).expect(0, "culprit");
    assert_eq!(hunt.culprit(), culprit);
    let init = [&["init", "-o", "-"], &recipe[..]].concat();
    let said = env.run(&init).expect(0);
    assert_eq!(written(&env), said.stdout);
    assert!(said.stderr.starts_with("reading this tree, and how older commits were built\n"));

    env.run(&start("v1")).expect(2).says(&[
        "error: oracle.toml is there already, and is left as it is",
        "hint: to hunt with this file, leave out --model and --text",
    ]);
    env.run(&["start", "--good", "v1"]).expect(0);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn start_hunts_where_nothing_can_be_written() {
    let Planted { env, culprit } = make_tree();
    let named = ["start", "--good", "v1", "--config", "/proc/o.toml", "--set", "build.jobs=1"];
    let started =
        env.run(&named).says(&["warning: cannot write /proc/o.toml: ", "uses its own copy"]);
    let hunt = Hunt::of(&env, started).expect(0, "culprit");
    assert_eq!(hunt.culprit(), culprit);
}

#[test]
fn a_hunt_without_a_configuration_is_offered_one() {
    let Planted { env, .. } = make_tree();
    for words in [&["start", "--good", "v1"][..], &["measure", "HEAD"]] {
        let output = env.run(words).expect(2);
        output.says(&[
            "error: there is no oracle.toml here",
            "hint: `bisect-ppl init --model F --text F` writes one for `ppl`, built with make (Makefile:5)",
        ]);
    }
    env.run(&["check"]).expect(1).says(&["there is no oracle.toml here", "writes one for `ppl`"]);
    env.run(&["start", "--good", "v1", "--config", "x/y.toml"])
        .expect(2)
        .says(&["there is no x/y.toml"]);
}
