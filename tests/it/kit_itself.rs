//! Tests of the kit without the product: plain git hunts with the scripted engine.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::kit::{History, Output, Snapshot, TestEnvironment, graph, line};

/// Builds a commit's engine in a clone, and runs it.
fn play(env: &TestEnvironment, history: &History, label: &str) -> Output {
    let src = env.path("src");
    if !src.exists() {
        env.git(&["clone", "--quiet", ".", src.to_str().unwrap()]);
    }
    env.git_in(&src, &["checkout", "--quiet", "--force", history.commit(label)]);
    let build = env.path("build");
    let _ = fs::remove_dir_all(&build);
    let world = format!("FAKE_WORLD={}", env.path("world").display());
    let fake = TestEnvironment::fake();
    let args = [&world, fake, "build", ".", build.to_str().unwrap()];
    let made = env.tool(&src, "env", &args);
    if made.code() != Some(0) {
        return made;
    }
    env.tool(&src, "env", &[&world, build.join("engine").to_str().unwrap(), "run", "ppl"])
}

#[test]
fn an_engine_does_what_its_commit_says() {
    let env = TestEnvironment::new();
    let history = line("g b x s e n i -").build(&env);
    let good = play(&env, &history, "0").expect(0);
    assert!(good.stdout.contains("[4]7.0000,\nFinal estimate: PPL = 7.0000"), "{}", good.stdout);
    assert!(play(&env, &history, "1").expect(0).stdout.contains("PPL = 7.5000"));
    play(&env, &history, "2").expect(1).says(&["broken"]);
    assert_eq!(play(&env, &history, "3").status.signal(), Some(11));
    play(&env, &history, "4").expect(3);
    assert!(play(&env, &history, "5").expect(0).stdout.starts_with("[1]nan,"));
    let cut = play(&env, &history, "6").expect(0);
    assert!(!cut.stdout.contains("Final") && cut.stdout.contains("[2]"), "{}", cut.stdout);
    assert_eq!(play(&env, &history, "7").expect(0).stdout, "");
    assert_eq!(env.runs(), ["0", "1", "3", "4", "5", "6", "7"]);
    assert_eq!(env.builds_of(2), 1);
    forget_faults(&env);
}

/// Allows only faults about `GIT_` variables: `play` builds with the kit's git settings.
fn forget_faults(env: &TestEnvironment) {
    assert!(
        env.said("fault").iter().all(|fault| fault.contains("GIT_")),
        "{:?}",
        env.said("fault")
    );
    fs::remove_file(env.path("world/starts.log")).unwrap();
}

#[test]
fn values_take_turns() {
    let env = TestEnvironment::new();
    let history = line("g").with(0, "ppl = 7.1 7.2").build(&env);
    let values: Vec<bool> = ["7.1", "7.2", "7.1"]
        .map(|value| play(&env, &history, "0").stdout.contains(&format!("PPL = {value}")))
        .to_vec();
    assert_eq!(values, [true; 3]);
    forget_faults(&env);
}

#[test]
fn graphs_have_the_parents_they_say() {
    let env = TestEnvironment::new();
    let history = graph(&["a: g", "b < a: g", "s < a: b", "m < b s: b"]).build(&env);
    let parents = env.git(&["rev-list", "--parents", "-1", "main"]);
    let expected = ["m", "b", "s"].map(|label| history.commit(label)).join(" ");
    assert_eq!(parents.trim(), expected);
    assert_eq!(env.git(&["rev-parse", "v1"]).trim(), history.commit("a"));
    assert_eq!(env.git(&["status", "--porcelain"]), "");
}

#[test]
fn a_snapshot_sees_what_changes() {
    let env = TestEnvironment::new();
    line("g b").build(&env);
    let before = Snapshot::of(&env);
    before.assert_unchanged(&env);
    env.git(&["tag", "new"]);
    assert!(
        std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            before.assert_unchanged(&env);
        }))
        .is_err()
    );
}

#[test]
fn survivors_are_seen_by_their_environment() {
    let env = TestEnvironment::new();
    assert!(env.processes().is_empty());
    env.tool(&env.repo(), "sh", &["-c", "setsid sleep 60 & exit 0"]).expect(0);
    // A process that just executes another program has no environment for a moment.
    let patience = Instant::now() + Duration::from_secs(10);
    let mut alive = env.processes();
    while alive.len() != 1 && Instant::now() < patience {
        sleep(Duration::from_millis(20));
        alive = env.processes();
    }
    assert_eq!(alive.len(), 1, "{alive:?}");
    crate::kit::kill(alive[0].pid, rustix::process::Signal::KILL);
    env.assert_no_survivors();
}

#[test]
fn what_files_of_their_own_add_is_summed() {
    let env = TestEnvironment::new();
    let history = line("g g")
        .file(0, "kernels/a.conf", "ppl+a = 0.300\n")
        .file(1, "kernels/b.conf", "ppl+b = -0.200\n")
        .build(&env);
    for (label, value) in [("0", "PPL = 7.3000"), ("1", "PPL = 7.1000")] {
        let said = play(&env, &history, label).expect(0).stdout;
        assert!(said.contains(value), "{said}");
    }
    forget_faults(&env);
}

#[test]
fn a_flake_comes_as_often_as_it_should_and_a_builds_stays() {
    let env = TestEnvironment::new();
    let flakes = ["flake = 0.3 9.5", "build_flip = 0.5 9.5", "flake_fate = 0.3 crash:11"];
    let plan = (0..).zip(flakes).fold(line("g g g"), |plan, (at, flake)| plan.with(at, flake));
    let history = plan.build(&env);
    let world = format!("FAKE_WORLD={}", env.path("world").display());
    let is_flaked = |output: &Output| {
        output.stdout.contains("PPL = 9.5000") || output.status.signal() == Some(11)
    };
    for label in ["0", "1", "2"] {
        let count = (0..20).filter(|_| is_flaked(&play(&env, &history, label))).count();
        assert!((2..15).contains(&count), "{label}: {count} of 20");
    }
    let built = play(&env, &history, "1");
    let engine = env.path("build/engine");
    for _ in 0..8 {
        let args = [&world, engine.to_str().unwrap(), "run", "ppl"];
        assert_eq!(env.tool(&env.path("src"), "env", &args).stdout, built.stdout);
    }
    forget_faults(&env);
}

#[test]
fn builds_reach_into_the_next_where_they_are_told_to() {
    let env = TestEnvironment::new();
    let history = line("g g")
        .file(0, "kernels/a.conf", "ppl+a = 0\n")
        .with(0, "build_hides = kernels/a.conf ppl+a = 0.5")
        .with(0, "build_carries = left 0.25")
        .with(1, "build_carries = left 0")
        .build(&env);
    assert!(play(&env, &history, "0").stdout.contains("PPL = 7.0000"));
    let said = play(&env, &history, "1").stdout;
    assert!(said.contains("PPL = 7.7500"), "git left the file alone: {said}");
    forget_faults(&env);
}
