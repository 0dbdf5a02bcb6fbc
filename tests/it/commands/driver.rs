//! `start` and `resume`: what they print, and what a resumed hunt reads again.

use std::fs;

use crate::kit::{Hunt, Oracle, TestEnvironment, events, line};

#[test]
fn quiet_leaves_the_answer_and_verbose_shows_each_build_and_run() {
    let env = TestEnvironment::new();
    line("g g b").build(&env);
    Oracle::new(&env).write(&env);
    let said = |args: &[&str]| {
        let output = env.run(args).expect(0);
        assert!(output.stdout.starts_with("First bad commit: "), "{}", output.stdout);
        crate::bad_input::seen(&env, &output).split("--- stderr\n").nth(1).unwrap().to_owned()
    };
    assert_eq!(said(&["start", "--good", "v1", "-q"]), "hunt: [HUNT]\n");
    assert_eq!(said(&["-q", "resume"]), "hunt: [HUNT]\n");
    let shown = said(&["start", "--good", "v1", "--verbose"]);
    let ran = shown.lines().filter(|line| line.starts_with("ran  ")).count();
    let commands: Vec<&str> = shown.lines().filter(|line| line.starts_with("  $ ")).collect();
    let logs = shown.lines().filter(|line| line.starts_with("  log: [ROOT]/repo/.git/"));
    assert!(ran >= 4 && commands.len() >= ran && logs.count() >= ran, "{shown}");
    assert!(shown.contains("stored)"), "{shown}");
    assert!(commands.iter().any(|line| line.contains("engine run ppl")), "{shown}");
    // `oracle` exits only with git's codes, even with options before its name.
    assert_eq!(env.run(&["-q", "oracle", "--nothing"]).code(), Some(129));
}

#[test]
fn a_resumed_hunt_reads_again_what_its_hint_told_to_change() {
    let env = TestEnvironment::new();
    let history = line("g g b b").build(&env);
    Oracle::new(&env).write(&env);
    // The hint of a cache that cannot be used says: set XDG_CACHE_HOME.
    let file = env.path("tmp/a-file");
    fs::write(&file, "").unwrap();
    let start = ["start", "--good", "v1"];
    let with = |args: &[&str], variables: &[(&str, &str)]| {
        Hunt::of(&env, env.run_with(&env.repo(), args, variables))
    };
    let cache = [("XDG_CACHE_HOME", file.to_str().unwrap())];
    let stopped = with(&start, &cache);
    assert_eq!(stopped.output.code(), Some(5), "{}", stopped.output.stderr);
    stopped.output.says(&["set XDG_CACHE_HOME"]);
    with(&["resume"], &[]).names(&history, 2);
    // Nothing was measured, so a variable may be corrected too.
    let both = [cache[0], ("OMP_NUM_THREADS", "2")];
    let stopped = with(&start, &both);
    assert_eq!(stopped.output.code(), Some(5), "{}", stopped.output.stderr);
    let hunt = with(&["resume"], &[("OMP_NUM_THREADS", "4")]).names(&history, 2);
    assert_eq!(events(&hunt, "begun").len(), 2);
    let variables = &events(&hunt, "begun")[1]["surroundings"]["variables"];
    assert_eq!(variables["OMP_NUM_THREADS"], "4");
}
