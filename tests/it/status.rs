//! `status`, and what a terminal shows: where a hunt is, how far a build is, why a hunt stopped.

use std::fs;

use rustix::process::{Pid, Signal, kill_process_group};

use crate::kit::{Oracle, PATIENCE, TestEnvironment, line, wait_until};

const START: [&str; 3] = ["start", "--good", "v1"];

/// Waits until `status` prints all of these words; fails at the time limit.
#[track_caller]
fn eventually_says(env: &TestEnvironment, words: &[&str]) {
    let mut last = String::new();
    let says = wait_until(PATIENCE, || {
        last = env.run(&["status"]).stdout;
        words.iter().all(|word| last.contains(word))
    });
    assert!(says, "no {words:?} in:\n{last}");
}

/// A build that prints `said` and then waits for the file.
fn waiting_build(env: &TestEnvironment, said: &str, file: &str) -> String {
    let (fake, file) = (TestEnvironment::fake(), env.path(file));
    let wait = format!("until test -e {}; do sleep 0.05; done", file.display());
    format!("sh -c \"echo {said}; {wait}; {fake} build {{src}} {{build}}\"")
}

#[test]
fn a_build_says_how_far_it_is_and_a_search_its_step_values_and_time() {
    let env = TestEnvironment::new();
    line("g g g g b b b b b").with(4, "chunk_ms = 60000").build(&env);
    Oracle::new(&env).build_command(&waiting_build(&env, "[3/40] cc a.c", "go")).write(&env);
    let running = env.spawn_product(&START);
    assert!(wait_until(PATIENCE, || !env.run(&["status"]).stdout.is_empty()));
    eventually_says(&env, &["running: build at ", " (endpoint), for ", ", 3 of 40"]);
    eventually_says(&env, &["measuring the endpoints; ran for "]);
    fs::write(env.path("go"), "").unwrap();
    eventually_says(
        &env,
        &[
            "searching, step 1 of about 3, 8 commits left; ran for ",
            " left\n",
            "        ppl 7, 7\n",
        ],
    );
    eventually_says(&env, &["running: run ppl at ", " (search), for "]);
    env.run(&["stop"]).expect(0);
    running.wait().expect(130);
}

#[test]
fn a_hunt_that_no_process_drives_says_why() {
    let env = TestEnvironment::new();
    line("g g g b b").with(2, "chunk_ms = 60000").build(&env);
    Oracle::new(&env).write(&env);
    let killed = env.spawn_product(&START);
    assert!(wait_until(PATIENCE, || env.runs_of(2) == 1));
    kill_process_group(Pid::from_raw(killed.pid()).unwrap(), Signal::KILL).unwrap();
    killed.wait();
    let words =
        ["not running: its process ended unexpectedly (killed, ", "Next: `bisect-ppl resume "];
    env.run(&["status"]).expect(0).says(&words);

    let resumed = env.spawn_product(&["resume"]);
    assert!(wait_until(PATIENCE, || env.runs_of(2) == 2));
    env.run(&["stop"]).expect(0);
    resumed.wait().expect(130);
    env.run(&["status"]).expect(0).says(&["not running: interrupted by Ctrl-C"]);
    env.assert_no_survivors();
}

#[test]
fn a_fault_of_the_machine_is_said_with_what_the_program_printed() {
    let env = TestEnvironment::new();
    let broken = "break_world = broken";
    let mut plan = line("g g g b b");
    for label in 1..4 {
        plan = plan.with(label, broken);
    }
    plan.build(&env);
    Oracle::new(&env).write(&env);
    env.run(&START).expect(5);
    env.run(&["status"]).expect(0).says(&[
        "not running: stopped: ",
        "What ppl printed at ",
        "  | cannot allocate",
        "  log: ",
    ]);
}

#[test]
fn a_plan_says_that_results_may_come_from_the_store() {
    let env = TestEnvironment::new();
    line("g g g b b").build(&env);
    Oracle::new(&env).write(&env);
    let first = env.run(&START).expect(0);
    assert!(!first.stderr.contains("results in the store"), "{}", first.stderr);
    env.run(&START).expect(0).says(&["; at most about ", "(results in the store cost nothing)"]);
}

#[test]
fn on_a_terminal_a_rule_stands_before_the_answer_and_lines_break_at_words() {
    let env = TestEnvironment::new();
    let long = "say = words that go on and on until they are longer than a line of a terminal";
    line("g g b b").with_all(long).build(&env);
    Oracle::new(&env).write(&env);
    let inside = format!("stty cols 60; {} start --good v1", TestEnvironment::product());
    let output = env.tool(&env.repo(), "script", &["-qec", &inside, "/dev/null"]).expect(0);
    let shown = anstream::adapter::strip_str(&output.stdout).to_string().replace('\r', "");
    let (_, answer) = shown.split_once(&format!("\n{}\n", "─".repeat(60))).unwrap();
    assert!(answer.starts_with("First bad commit: "), "{answer}");
    for line in answer.lines().filter(|line| line.chars().count() > 60) {
        assert_eq!(line.split_whitespace().count(), 1, "{line}");
    }
    assert!(answer.contains("\n  "), "something is broken and indented: {answer}");
    assert!(answer.contains("Next: `bisect-ppl report"), "{answer}");
}
