//! The commands around a hunt.

use std::fs;

use serde_json::Value;

use crate::kit::{History, Hunt, Oracle, Output, Snapshot, TestEnvironment, line};

fn hunted() -> (TestEnvironment, History, Hunt) {
    let env = TestEnvironment::new();
    let history = line("g g x g b b b").build(&env);
    Oracle::new(&env).write(&env);
    let hunt = env.hunt().names(&history, 4);
    (env, history, hunt)
}

#[test]
fn the_log_replays_in_a_fresh_clone() {
    let (env, history, hunt) = hunted();
    let log = env.run(&["log"]).expect(0).stdout;
    assert_eq!(env.run(&["log", &hunt.id()]).expect(0).stdout, log);
    let clone = env.path("clone");
    env.git(&["clone", "--quiet", ".", clone.to_str().unwrap()]);
    fs::write(env.path("tmp/bisect.log"), log).unwrap();
    env.git_in(&clone, &["bisect", "replay", env.path("tmp/bisect.log").to_str().unwrap()]);
    let bad = env.git_in(&clone, &["rev-parse", "refs/bisect/bad"]);
    assert_eq!(bad.trim(), history.commit(4));
    let said = env.git_in(&clone, &["bisect", "log"]);
    assert!(said.contains(&format!("first bad commit: [{}]", history.commit(4))), "{said}");
}

#[test]
fn reproduce_sh_shows_both_figures_under_any_sh() {
    let (env, _history, hunt) = hunted();
    let script = hunt.folder.join("reproduce.sh");
    let runs = env.runs().len();
    let before = Snapshot::of(&env);
    let output = env.tool(&env.repo(), "sh", &[script.to_str().unwrap()]).expect(0);
    assert!(output.stdout.contains("7.0000") && output.stdout.contains("7.5000"), "{output:?}");
    assert!(env.runs().len() >= runs + 2, "it measures, it does not recite");
    before.assert_unchanged(&env);
}

#[test]
fn the_report_comes_again_from_the_store_alone() {
    let (env, _history, hunt) = hunted();
    let starts = env.starts().len();
    fs::remove_file(hunt.folder.join("report.json")).unwrap();
    let text = env.run(&["report"]).expect(0).stdout;
    assert!(text.contains("First bad commit"), "{text}");
    let json = env.run(&["report", &hunt.id(), "--format", "json"]).expect(0).stdout;
    let again: Value = serde_json::from_str(&json).unwrap();
    for key in ["schema", "hunt", "outcome", "culprit", "candidates", "account", "commits"] {
        assert_eq!(again[key], hunt.report[key], "{key}");
    }
    let file = env.path("tmp/report.md");
    let args = ["report", "--format", "md", "-o", file.to_str().unwrap()];
    let output = env.run(&args).expect(0);
    assert_eq!(output.stdout, "");
    assert!(fs::read_to_string(file).unwrap().contains("First bad commit"));
    assert_eq!(env.starts().len(), starts);
    env.run(&["report", "19990101-000000"]).expect(2).says(&["19990101-000000"]);
}

#[test]
fn status_says_how_a_hunt_stands() {
    let (env, history, hunt) = hunted();
    let output = env.run(&["status"]).expect(0);
    assert!(output.stdout.contains(&hunt.id()), "{}", output.stdout);
    assert!(output.stdout.contains(&history.commit(4)[..7]), "{}", output.stdout);
    env.run(&["status", &hunt.id()]).expect(0);
    env.run(&["status", "nothing"]).expect(2);
}

/// The journal's events of one kind.
fn events(hunt: &Hunt, kind: &str) -> Vec<Value> {
    let journal = hunt.file("journal.jsonl");
    let entries = journal.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    entries.filter(|entry| entry["event"] == kind).collect()
}

#[test]
fn the_plan_is_said_before_the_search_and_stays_in_journal_and_report() {
    let env = TestEnvironment::new();
    let mut plan = line("g g g g b b b b b");
    for label in 1..8 {
        plan = plan.with(label, "break_world = broken");
    }
    let history = plan.build(&env);
    Oracle::new(&env).write(&env);
    let stopped = env.hunt();
    assert_eq!(stopped.output.code(), Some(5), "{}", stopped.output.stderr);
    let said = "plan     8 commits, about 3 steps: 5 builds and 5 runs, about ";
    let stderr = &stopped.output.stderr;
    let (plan, target) = (stderr.find(said), stderr.find("hunting  ppl"));
    assert!(plan.is_some() && plan > target, "{stderr}");
    assert!(!stderr.contains("until about"), "{stderr}");
    let [event] = events(&stopped, "plan").try_into().unwrap();
    let figures = ["commits", "steps", "builds", "runs"].map(|key| event[key].as_u64().unwrap());
    assert_eq!(figures, [8, 3, 5, 5]);
    // The plan's time is from the mean build and run times at the endpoints.
    let mean = |kind: &str| {
        let events = events(&stopped, kind);
        let endpoints = events.iter().filter(|event| event["phase"] == "endpoint");
        let seconds: Vec<f64> = endpoints.map(|event| event["wall_s"].as_f64().unwrap()).collect();
        seconds.iter().sum::<f64>() / seconds.len() as f64
    };
    let expected = 5.0 * (mean("build") + mean("run"));
    assert!((event["seconds"].as_f64().unwrap() - expected).abs() < 1e-9, "{event}");
    env.run(&["status"]).expect(0).says(&["plan: 8 commits, about 3 steps"]);

    env.world("broken", false);
    let hunt = env.resume().names(&history, 4);
    assert_eq!(events(&hunt, "plan").len(), 1, "a resumed hunt keeps its plan");
    assert_eq!(hunt.report["plan"]["steps"], 3);
    assert!(
        hunt.file("report.md").contains("Estimated before the search: 8 commits"),
        "in the report"
    );
}

#[test]
fn a_search_of_more_than_an_hour_says_its_end_and_how_to_cut_it() {
    let env = TestEnvironment::new();
    line("g g b b").with(1, "break_world = broken").with(2, "break_world = broken").build(&env);
    Oracle::new(&env).write(&env);
    let hunt = env.hunt();
    assert_eq!(hunt.output.code(), Some(5), "{}", hunt.output.stderr);
    // The test cannot wait for hours, so it puts a long time into the plan.
    let journal = hunt.file("journal.jsonl");
    let longer = |line: &str| {
        let mut entry: Value = serde_json::from_str(line).unwrap();
        entry.as_object_mut().unwrap().remove("sum");
        if entry["event"] == "plan" {
            entry["seconds"] = 40_000.0.into();
        }
        entry.to_string() + "\n"
    };
    fs::write(hunt.folder.join("journal.jsonl"), journal.lines().map(longer).collect::<String>())
        .unwrap();
    let long = ["about 11 h 06 min, until about ", "ignore", "--first-parent", "ccache"];
    env.run(&["status"]).expect(0).says(&long);
    env.run(&["status", "--watch"]).expect(5).says(&long).says(&["note: this search takes"]);
}

#[test]
fn check_says_what_is_well_and_what_is_not() {
    let env = TestEnvironment::new();
    line("g g b b").build(&env);
    Oracle::new(&env).write(&env);
    let before = Snapshot::of(&env);
    env.run(&["check"]).expect(0);
    before.assert_unchanged(&env);
    assert!(env.starts().is_empty(), "{:?}", env.starts());

    fs::remove_file(env.path("inputs/model.bin")).unwrap();
    let output = env.run(&["check"]);
    assert!([Some(1), Some(2)].contains(&output.code()), "{output:?}");
    assert!(format!("{}{}", output.stdout, output.stderr).contains("model"), "{output:?}");

    fs::write(env.path("inputs/model.bin"), "weights\n").unwrap();
    Oracle::new(&env).build_command("no-such-compiler {src}").write(&env);
    let output = env.run(&["check"]);
    assert!([Some(1), Some(5)].contains(&output.code()), "{output:?}");
    assert!(format!("{}{}", output.stdout, output.stderr).contains("no-such-compiler"));
}

#[test]
fn check_knows_whether_a_submodule_can_be_entered() {
    let env = TestEnvironment::new();
    let declared = "[submodule \"lib\"]\n\tpath = lib\n\turl = ./nowhere\n";
    line("g b").file(1, ".gitmodules", declared).pin(1, "lib", &"1".repeat(40)).build(&env);
    for (path, said) in [
        ("lib", "this clone does not have the commits of lib"),
        ("src", "src is neither a submodule nor a folder at HEAD"),
    ] {
        let oracle = Oracle::new(&env).section(&format!("[worktree]\ndescend = \"{path}\""));
        oracle.write_to(&env.repo().join("oracle.toml"));
        env.run_in(&env.repo(), &["check"]).expect(0).says(&["warn  descend", said]);
    }
}

#[test]
fn check_warns_of_files_that_stay_pointers() {
    let env = TestEnvironment::new();
    line("g b").file(1, ".gitattributes", "*.bin filter=lfs -text\n").build(&env);
    let words = ["warn  lfs", "stay pointers of three lines", "set `lfs = true` under [worktree]"];
    Oracle::new(&env).write_to(&env.repo().join("oracle.toml"));
    env.run_in(&env.repo(), &["check"]).expect(0).says(&words);
    let fetched = Oracle::new(&env).section("[worktree]\nlfs = true");
    fetched.write_to(&env.repo().join("oracle.toml"));
    let said = env.run_in(&env.repo(), &["check"]).expect(0).stdout;
    assert!(!said.contains("lfs"), "{said}");
}

#[test]
fn check_warns_of_files_that_no_key_knows() {
    let env = TestEnvironment::new();
    line("g b").build(&env);
    let [weights, model] = ["inputs/draft.bin", "inputs/model.bin"].map(|path| env.path(path));
    fs::write(&weights, "weights\n").unwrap();
    let command = |args: &str| format!("{{build}}/engine run ppl {args}");
    let args = format!("draft={} model={}", weights.display(), model.display());
    Oracle::new(&env).ppl_command(&command(&args)).write(&env);
    let said = env.run(&["check"]).expect(0).stdout;
    let draft = format!(
        "warn  path         `{}` is named in measure.ppl.command and not in [inputs]: if it \
         changes, stored results of the old file are used again; add it to [inputs] and write \
         {{inputs.NAME}}",
        weights.display()
    );
    assert!(said.contains(&draft), "{said}");
    assert!(said.contains("is the input model, but measure.ppl.command names it"), "{said}");
    Oracle::new(&env).ppl_command(&command("draft={inputs.model}")).write(&env);
    let said = env.run(&["check"]).expect(0).stdout;
    assert!(!said.contains("measure.ppl.command"), "{said}");
}

#[test]
fn check_warns_of_a_speed_that_is_measured_in_company() {
    let env = TestEnvironment::new();
    line("g b").build(&env);
    let keys = "parser = \"regex\"\npattern = 'decode: (?<tg>[0-9.]+)'\n";
    let oracle = |keys: &str| {
        let guard = "metric = \"speed.tg\"\nmax_decrease_percent = 5";
        Oracle::new(&env).measure("speed", "speed", keys).guard(guard).write(&env);
        env.run(&["check"]).expect(0).stdout
    };
    let said = oracle(keys);
    let line = said.lines().find(|line| line.starts_with("warn")).unwrap();
    assert_eq!(
        line,
        "warn  measure      speed.tg looks like a time or a speed; `exclusive = true` in the \
         measure `speed` keeps our other builds and runs away from its runs"
    );
    let said = oracle(&format!("{keys}exclusive = true\n"));
    assert!(!said.contains("looks like a time"), "{said}");
}

#[test]
fn a_dry_run_says_the_plan_and_begins_nothing() {
    let env = TestEnvironment::new();
    line("g g g b b").build(&env);
    Oracle::new(&env).write(&env);
    let args = ["start", "--good", "v1", "--dry-run"];
    let plan = || {
        let before = Snapshot::of(&env);
        let output = env.run(&args).expect(0);
        before.assert_unchanged(&env);
        crate::bad_input::seen(&env, &output)
    };
    let said = plan();
    assert!(!env.repo().join(".git/bisect-ppl").exists(), "nothing at all is made");
    assert!(env.starts().is_empty(), "{:?}", env.starts());
    insta::assert_snapshot!(said, @r"
    exit code 0
    --- stdout
    good     317bf99e7c change 0
    bad      2ade9f763d change 4
    build    [ENGINE] build {src} {build}
    run      ppl: {build}/engine run ppl src={src} cache={cache} out={out}
    guard    ppl: at most 0.2 more than at good
    slots    [ROOT]/cache/bisect-ppl/[REPOSITORY]/slots (commits are built there)
    plan     4 commits, about 2 steps: 6 builds and 8 runs or more
    --- stderr
    hint: nothing was begun; without --dry-run the hunt begins
    ");
    let hunt = env.hunt().expect(0, "culprit");
    let said = plan();
    assert!(said.contains(" at the pace of hunt [HUNT]"), "{said}");
    assert_eq!(env.runs().len() as u64, hunt.report["totals"]["runs"].as_u64().unwrap());
    // What `start` refuses, a dry run refuses in the same words.
    let refused = |args: &[&str]| env.run(args).expect(2).stderr;
    let backwards = ["start", "--good", "HEAD", "--bad", "v1"];
    let dry: Vec<&str> = backwards.iter().copied().chain(["--dry-run"]).collect();
    assert_eq!(refused(&backwards), refused(&dry));
}

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

#[test]
fn measure_numbers_its_runs_and_tells_stored_ones() {
    let env = TestEnvironment::new();
    line("7.0 7.5").build(&env);
    Oracle::new(&env).write(&env);
    let said = |args: &[&str]| {
        let output = env.run(args).expect(0).stdout;
        let times = regex::Regex::new(r"(wall_s|peak_rss_mib) [0-9.e-]+( ± [0-9.e-]+)?").unwrap();
        let stored = regex::Regex::new(r"of \d\d:\d\d\)").unwrap();
        stored.replace_all(&times.replace_all(&output, "$1 [N]"), "of [TIME])").into_owned()
    };
    insta::assert_snapshot!(said(&["measure", "HEAD"]), @r"
    run 1 of ppl
      ppl 7.5
      ppl.peak_rss_mib [N] MiB
      ppl.wall_s [N] s
    ");
    insta::assert_snapshot!(said(&["measure", "HEAD", "--runs", "2"]), @r"
    run 1 of ppl  (stored result of [TIME])
      ppl 7.5
      ppl.peak_rss_mib [N] MiB
      ppl.wall_s [N] s
    run 2 of ppl
      ppl 7.5
      ppl.peak_rss_mib [N] MiB
      ppl.wall_s [N] s
    median of 2 runs of ppl ± noise
      ppl 7.5 ± 0
      ppl.peak_rss_mib [N] MiB
      ppl.wall_s [N] s
    ");
}

#[test]
fn measure_shows_one_evaluation() {
    let env = TestEnvironment::new();
    line("g x b").build(&env);
    Oracle::new(&env).write(&env);
    let before = Snapshot::of(&env);
    assert!(env.run(&["measure", "v1"]).expect(0).stdout.contains('7'));
    assert!(env.run(&["measure", "HEAD"]).expect(0).stdout.contains("7.5"));
    env.run(&["measure", "HEAD~1"]).expect(1).says(&["build"]);
    env.run(&["measure", "nowhere"]).expect(2).says(&["nowhere"]);
    before.assert_unchanged(&env);
    env.assert_no_survivors();
}

// ---- the oracle in a user's own bisect ----

/// A user's clone for a bisect without the driver.
fn by_hand(words: &str) -> (TestEnvironment, History, std::path::PathBuf) {
    let env = TestEnvironment::new();
    let history = line(words).build(&env);
    let clone = env.path("clone");
    env.git(&["clone", "--quiet", ".", clone.to_str().unwrap()]);
    Oracle::new(&env).write_to(&clone.join("oracle.toml"));
    (env, history, clone)
}

fn oracle_at(env: &TestEnvironment, clone: &std::path::Path, commit: &str) -> Output {
    env.git_in(clone, &["checkout", "--quiet", commit]);
    env.tool(clone, "bisect-ppl", &["oracle"])
}

#[test]
fn git_bisect_run_can_call_the_oracle_itself() {
    let (env, history, clone) = by_hand("g g x g b b b");
    env.git_in(&clone, &["bisect", "start", "main", "v1"]);
    env.tool(&clone, "git", &["bisect", "run", "bisect-ppl", "oracle"]).expect(0);
    let bad = env.git_in(&clone, &["rev-parse", "refs/bisect/bad"]);
    assert_eq!(bad.trim(), history.commit(4));
    env.assert_no_survivors();
}

#[test]
fn git_bisect_run_stops_if_the_bad_commit_breaks_no_guard() {
    let (env, history, clone) = by_hand("g g g g g g");
    env.git_in(&clone, &["bisect", "start", "main", "v1"]);
    let output = env.tool(&clone, "git", &["bisect", "run", "bisect-ppl", "oracle"]);
    assert_ne!(output.code(), Some(0), "{}", output.stdout);
    let name = &history.commit(5)[..10];
    output.says(&[
        &format!("the bad commit {name} breaks no guard (ppl 7 against 7 at the good end)"),
        "hint: choose another bad commit, or a smaller tolerance",
    ]);
    assert_eq!(env.git_in(&clone, &["rev-parse", "refs/bisect/bad"]).trim(), history.commit(5));
    env.assert_no_survivors();
}

#[test]
fn git_bisect_run_stops_if_the_bad_commit_cannot_be_measured() {
    let (env, history, clone) = by_hand("g g g g x");
    env.git_in(&clone, &["bisect", "start", "main", "v1"]);
    let output = oracle_at(&env, &clone, history.commit(2));
    stops_git(&output);
    output.says(&[
        &format!("the bad commit {} cannot be measured", &history.commit(4)[..10]),
        "if you look for this failure, let [failures] count it as bad",
    ]);
}

#[test]
fn the_ends_of_ones_own_bisect_are_told_once_and_stay() {
    let (env, history, clone) = by_hand("g g g g b b b b");
    env.git_in(&clone, &["bisect", "start", "main", "v1"]);
    let output = env.tool(&clone, "git", &["bisect", "run", "bisect-ppl", "oracle"]).expect(0);
    let [good, bad] = [0, 7].map(|label| history.commit(label)[..10].to_owned());
    let told = format!("baseline {good}; bad {bad}: ppl 7.5");
    assert_eq!(output.stderr.matches("baseline").count(), 1, "{}", output.stderr);
    output.says(&[&told]);
    // A bad value must repeat. Later steps take the ends from the store.
    assert_eq!([env.runs_of(0), env.runs_of(7)], [1, 2]);
}

#[test]
fn the_oracle_speaks_gits_language() {
    let (env, history, clone) = by_hand("g g x i b b b");
    env.git_in(&clone, &["bisect", "start", "main", "v1"]);
    oracle_at(&env, &clone, history.commit(1)).expect(0);
    oracle_at(&env, &clone, history.commit(2)).expect(125);
    oracle_at(&env, &clone, history.commit(3)).expect(125);
    oracle_at(&env, &clone, history.commit(5)).expect(1);
}

#[track_caller]
fn stops_git(output: &Output) {
    let code = output.code().expect("an exit code");
    assert!((128..=255).contains(&code), "{code}: {}", output.stderr);
}

#[test]
fn the_oracle_stops_git_where_it_cannot_judge() {
    let (env, history, clone) = by_hand("g g g b b");
    // No bisect, so no baseline.
    stops_git(&env.tool(&clone, "bisect-ppl", &["oracle"]));
    env.git_in(&clone, &["bisect", "start", "main", "v1"]);
    fs::rename(clone.join("oracle.toml"), clone.join("mine.toml")).unwrap();
    stops_git(&oracle_at(&env, &clone, history.commit(1)));
    fs::write(clone.join("oracle.toml"), "version = 7\n").unwrap();
    stops_git(&oracle_at(&env, &clone, history.commit(1)));
    Oracle::new(&env).write_to(&clone.join("oracle.toml"));
    env.world("broken", true);
    stops_git(&oracle_at(&env, &clone, history.commit(1)));
    env.world("broken", false);
    oracle_at(&env, &clone, history.commit(1)).expect(0);
}

#[test]
fn the_oracles_usage_errors_and_help_are_no_verdicts() {
    let (env, _history, clone) = by_hand("g b");
    for args in [
        &["oracle", "--help"][..],
        &["oracle", "-h"],
        &["oracle", "--colour"],
        &["oracle", "too", "many"],
        &["oracle", "--hunt"],
        &["oracle", "--version"],
    ] {
        assert_eq!(env.tool(&clone, "bisect-ppl", args).code(), Some(129), "{args:?}");
    }
    stops_git(&env.tool(&clone, "bisect-ppl", &["oracle", "--hunt", "19990101-000000"]));
    env.tool(&clone, "bisect-ppl", &["--help"]).expect(0);
    env.tool(&clone, "bisect-ppl", &["--version"]).expect(0);
}
