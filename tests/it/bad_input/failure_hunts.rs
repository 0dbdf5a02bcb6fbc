//! The good end yields the guarded metric and the bad end fails: the hunt needs the user's
//! permission, and its answer does not mention the metric.

use super::seen;
use crate::kit::{History, Oracle, Output, TestEnvironment, line};

const START: [&str; 5] = ["start", "--good", "v1", "--bad", "HEAD"];

/// An engine that aborts from commit 4 on.
fn broken_from_4() -> (TestEnvironment, History) {
    let env = TestEnvironment::new();
    let mut plan = line("g g g g b b b b");
    for label in 4..8 {
        plan = plan
            .with(label, "fate = exit:2")
            .with(label, "say_err = arena: 76800 floats wanted, 17664 left");
    }
    let history = plan.build(&env);
    Oracle::new(&env).write(&env);
    (env, history)
}

/// The same on a terminal, with this typed in.
fn on_a_terminal(env: &TestEnvironment, typed: &str, args: &str) -> Output {
    let line = format!(
        "printf '{typed}\\n' | script -qec '{} {args}' /dev/null",
        TestEnvironment::product()
    );
    env.tool(&env.repo(), "sh", &["-c", &line])
}

#[test]
fn unattended_it_goes_on_and_the_headline_says_so() {
    let (env, history) = broken_from_4();
    let output = env.run(&START).expect(0);
    output.says(&[
        "hunting a failure, not a change of a metric: the bad endpoint crashes",
        &format!("First bad commit (it crashes; no metric compared): {}", history.commit("4")),
        "that it brought this failure: fresh runs of it fail alike, those of its parents do not",
        "arena: 76800 floats wanted, 17664 left",
    ]);
    let headline = format!(
        "# First bad commit (it crashes; no metric compared): {}",
        &history.commit("4")[..10]
    );
    env.run(&["report", "--format", "md"]).expect(0).says(&[&headline]);
    env.run(&["report", "--format", "issue"])
        .expect(0)
        .says(&["First bad commit (it crashes; no metric compared)"]);
}

#[test]
fn it_can_be_forbidden() {
    let (env, _) = broken_from_4();
    Oracle::new(&env).section("[failures]\nhunt = false\n").write(&env);
    insta::assert_snapshot!(seen(&env, &env.run(&START)), @r"
    exit code 4
    --- stdout
    No search is possible between the endpoints
    good yields ppl, bad does not: ppl crashes (ended with exit code 2: arena: 76800 floats wanted, 17664 left). A hunt for this failure is not allowed; --allow-failure-hunt allows it, or choose a bad commit that works
    What ppl printed at 92813403d3:
      command: [ROOT]/cache/bisect-ppl/[REPOSITORY]/slots/0/build/engine run ppl 'src=[ROOT]/cache/bisect-ppl/[REPOSITORY]/slots/0/src' 'cache=[ROOT]/cache/bisect-ppl/[REPOSITORY]/slots/0/cache' 'out=[ROOT]/cache/bisect-ppl/[REPOSITORY]/slots/0/out'
      | backend: cpu
      | arena: 76800 floats wanted, 17664 left
      log: [ROOT]/repo/.git/bisect-ppl/hunts/[HUNT]/logs/endpoint-92813403d3-ppl-[ATTEMPT].log
    report: [ROOT]/repo/.git/bisect-ppl/hunts/[HUNT]/report.html (report.md, report.json and reproduce.sh are beside it)
    --- stderr
    hunt: [HUNT]
    good end 317bf99e7c change 0
    bad end  92813403d3 change 7
    range    7 commits
    good end 317bf99e7c  ppl 7
    bad end  92813403d3  ended with exit code 2: arena: 76800 floats wanted, 17664 left
    bad end  92813403d3  ended with exit code 2: arena: 76800 floats wanted, 17664 left
    good end 317bf99e7c  ppl 7
    ");
    assert_eq!(env.runs_of(3), 0, "nothing was searched");
}

#[test]
fn the_option_is_stronger_than_the_file() {
    let (env, history) = broken_from_4();
    Oracle::new(&env).section("[failures]\nhunt = false\n").write(&env);
    let start = [&START[1..], &["--allow-failure-hunt"]].concat();
    env.start(&start).expect(0, "culprit").names(&history, 4);
}

#[test]
fn whoever_counts_crashes_as_bad_has_asked_for_them() {
    let (env, history) = broken_from_4();
    let failures = "[failures]\ncrash = 'bad'\nhunt = false\n";
    Oracle::new(&env).section(failures).write(&env);
    env.start(&START[1..]).expect(0, "culprit").names(&history, 4);
}

#[test]
fn on_a_terminal_no_ends_the_hunt_and_resume_remembers_it() {
    let (env, _) = broken_from_4();
    let output = on_a_terminal(&env, "n", &START.join(" ")).expect(4);
    output.says(&[
        "good yields ppl, bad does not: ppl crashes",
        "Hunt for the commit that brought this failure?",
        "[y/n]",
        "A hunt for this failure is not allowed",
    ]);
    env.run(&["resume"]).expect(4).says(&["A hunt for this failure is not allowed"]);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn on_a_terminal_yes_goes_on() {
    let (env, history) = broken_from_4();
    let output = on_a_terminal(&env, "perhaps\\ny", &START.join(" ")).expect(0);
    assert_eq!(output.stdout.matches("[y/n]").count(), 2, "{}", output.stdout);
    output.says(&[&history.commit("4")[..10]]);
}

#[test]
fn other_words_are_refused() {
    let (env, _) = broken_from_4();
    for (value, what) in [
        ("'perhaps'", "failures.hunt: `perhaps` is not allowed. Allowed: true, false, \"ask\""),
        ("3", "failures.hunt: expected true, false or \"ask\", found"),
    ] {
        Oracle::new(&env).section(&format!("[failures]\nhunt = {value}\n")).write(&env);
        env.run(&START).expect(2).says(&[what]);
    }
}
