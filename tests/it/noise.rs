//! Values that do not repeat bit for bit.

use crate::kit::{Oracle, TestEnvironment, line};

const CALM: &str = "ppl = 7.00 7.01 7.02 6.99 7.03 7.01 6.98";
const WORSE: &str = "ppl = 7.50 7.52 7.49 7.51 7.53 7.48 7.50";

#[test]
fn endpoints_that_lie_apart_take_three_runs_a_commit() {
    let env = TestEnvironment::new();
    let mut plan = line("g g g g b b b b");
    for label in 0..8 {
        plan = plan.with(label, if label < 4 { CALM } else { WORSE });
    }
    let history = plan.build(&env);
    Oracle::new(&env).write(&env);
    let hunt = env.hunt().names(&history, 4);
    assert_eq!([env.runs_of(0), env.runs_of(7)], [5, 5], "{:?}", env.runs());
    for label in ["1", "2", "5", "6"] {
        assert!([0, 3].contains(&env.runs_of(label)), "{label}: {:?}", env.runs());
    }
    assert!(env.runs_of(3) >= 6 && env.runs_of(4) >= 6, "search and confirmation");
    assert_eq!(hunt.report["culprit"]["basis"], "sequential");
    let confidence = hunt.report["culprit"]["confidence"].as_f64().unwrap();
    assert!(confidence > 0.5 && confidence < 1.0, "{confidence}");
}

#[test]
fn runs_that_contradict_each_other_are_untestable() {
    let env = TestEnvironment::new();
    let history = line("g g b")
        .with(0, CALM)
        .with(1, "ppl = 7.01 7.52 7.02 7.49 7.25 7.26")
        .with(2, WORSE)
        .build(&env);
    Oracle::new(&env).write(&env);
    let hunt = env.hunt().expect(3, "candidates");
    assert_eq!(hunt.candidates(&history), ["1", "2"]);
    assert_eq!(hunt.verdict(&history, 1), "skip");
    assert_eq!(env.runs_of(1), 5);
}

#[test]
fn endpoints_whose_runs_overlap_end_the_hunt() {
    let env = TestEnvironment::new();
    let history = line("g g g b b b")
        .with(0, "ppl = 7.0 7.6 7.1 7.5 7.2")
        .with(5, "ppl = 7.3 7.8 7.4 7.9 7.6")
        .build(&env);
    Oracle::new(&env).write(&env);
    let hunt = env.hunt().expect(3, "noise-too-large");
    assert!(hunt.report["culprit"].is_null());
    assert_eq!([env.runs_of(0), env.runs_of(5)], [5, 5]);
    assert_eq!(env.runs().len(), 10, "nothing was searched");
    drop(history);
}

#[test]
fn noise_around_one_level_is_no_regression() {
    let env = TestEnvironment::new();
    line("g g g").with(0, CALM).with(2, "ppl = 7.02 7.00 7.01 7.03 6.99").build(&env);
    Oracle::new(&env).write(&env);
    let hunt = env.hunt();
    let code = hunt.output.code();
    let outcome = hunt.report["outcome"].as_str().unwrap_or_default().to_owned();
    let said = (code, outcome.as_str());
    let honest = [(Some(4), "no-regression"), (Some(3), "noise-too-large")];
    assert!(honest.contains(&said), "{said:?}: {}", hunt.output.stderr);
}
