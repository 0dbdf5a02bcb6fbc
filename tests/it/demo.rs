//! Real hunts with the bundled engine, from an empty folder to a named commit.

use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::kit::{Output, TestEnvironment, in_path};

/// Time for a dozen builds and dozens of runs of a real engine, while other tests use the same
/// cores. A run of the bench takes one second, but took 25 seconds beside eight busy loops on two
/// cores.
const PATIENCE: Duration = Duration::from_mins(30);

/// An environment for a demo. If ccache is installed, `cc` is ccache and all demos share one cache:
/// most of their files are the same.
fn environment() -> TestEnvironment {
    let env = TestEnvironment::new();
    let Some(ccache) = in_path("ccache") else { return env };
    let shared = Path::new(env!("CARGO_TARGET_TMPDIR")).join("demos");
    let programs = shared.join("programs");
    std::fs::create_dir_all(&programs).unwrap();
    let compiler = programs.join("cc");
    // Another demo may have made it.
    if let Err(error) = symlink(ccache, &compiler) {
        assert!(compiler.exists(), "{error}");
    }
    let objects = shared.join("cache").display().to_string();
    env.with_programs_of(&programs).with_variable("CCACHE_DIR", &objects)
}

fn hunt(env: &TestEnvironment, scenario: &str) -> Output {
    let args = ["demo", "--scenario", scenario, "--dir", "engine"];
    env.spawn_product(&args).wait_within(PATIENCE)
}

/// The commit with the regression, as the scenario's file says.
fn planted(scenario: &str) -> String {
    let file = format!("{}/demo/scenarios/{scenario}.toml", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(file).unwrap();
    let line = text.lines().find(|line| line.starts_with("expect")).unwrap();
    line.split('"').nth(1).unwrap().to_owned()
}

/// The hunt ends with the planted commit and says this of the cause inside it.
fn names_the_planted_commit(scenario: &str, cause: &[&str]) -> Output {
    names_it_as(scenario, "First bad commit: ", cause)
}

fn names_it_as(scenario: &str, title: &str, cause: &[&str]) -> Output {
    let env = environment();
    let output = hunt(&env, scenario).expect(0);
    let first = output.stdout.lines().next().unwrap();
    let found = first.strip_prefix(title).unwrap_or_else(|| panic!("{output:?}"));
    assert!(found.starts_with(&planted(scenario)), "{output:?}");
    let engine = env.repo().join("engine");
    assert_eq!(env.git_in(&engine, &["status", "--porcelain"]), "");
    assert_eq!(env.git_in(&engine, &["worktree", "list"]).lines().count(), 1);
    env.assert_no_survivors();
    output.says(cause)
}

const HEALS: &str = "Revert: reverting it heals the bad end";

#[test]
fn repack_the_default() {
    names_the_planted_commit(
        "repack",
        &[
            "In short: hunk 2 of 4 in src/model.c with src/packed.c and ",
            "; first different tensor blk1.ffn_down (max |Δ| 7.9",
            "; only where d_in % 4 ≠ 0; reverting it heals the bad end",
            "Cause: hunk 2 of 4 in src/model.c makes the step",
            HEALS,
            "Shapes: only where d_in % 4 ≠ 0: shows in 3 of 3 such cells, in 0 of 4 others",
            // The width of the second layer is 171.
            "First different tensor: blk1.ffn_down (max |Δ| 7.9",
            "its input blk1.ffn_act is within its tolerance",
            "It looks like: feed-forward part",
            "It looks like: one layer: ",
        ],
    );
}

#[test]
#[ignore = "long: scripts/test --long"]
fn rope_where_every_kernel_passes_its_own_check() {
    names_the_planted_commit(
        "rope",
        &[
            "In short: src/rope.c alone; first different tensor blk0.q_rope (max |Δ| 10",
            "; kernel passes, forward fails; reverting it heals the bad end",
            "Cause: src/rope.c alone makes the step",
            HEALS,
            "Levels: kernel passes, forward fails (ppl 5.4",
            "First different tensor: blk0.q_rope (max |Δ| 10",
            "It looks like: rotary embedding: blk0.q before it is clean; blk0.q_rope and blk0.k_rope",
        ],
    );
}

#[test]
#[ignore = "long: scripts/test --long"]
fn fused_where_each_layer_alone_keeps_the_limit() {
    // The hunk does not build without the rest of the change.
    names_the_planted_commit(
        "fused",
        &[
            "Cause: hunk 2 of 2 in src/forward.c makes the step",
            "First different tensor: blk0.attn_residual (max |Δ| 0.13",
            "It looks like: residual: blk0.attn, embd before it are clean",
            "It looks like: slow growth: RMS of Δ is 0.172 of the RMS in layer 0",
        ],
    );
}

#[test]
#[ignore = "long: scripts/test --long"]
fn quant_with_four_bits_where_more_belong() {
    names_the_planted_commit(
        "quant",
        &[
            "Cause: hunk 2 of 3 in src/model.c makes the step",
            HEALS,
            "First different tensor: blk0.q (max |Δ| 2.3",
            "It looks like: projection: blk0.attn_norm before it is clean",
        ],
    );
}

#[test]
#[ignore = "long: scripts/test --long"]
fn crash_a_failure_is_the_target() {
    let title = "First bad commit (it crashes; no metric compared): ";
    let cause = "Cause: hunk 2 of 2 in src/model.c makes the step";
    names_it_as("crash", title, &[cause, HEALS, "Shapes: only where length > 256: "]);
}

/// A loop keeps one core busy, and other tests use the other cores. The hunt works for two reasons.
/// The bench repeats steps of two milliseconds, and some steps are undisturbed on any machine (see
/// demo/README.md for measurements). And the hunt treats the values as noisy.
#[test]
#[ignore = "long: scripts/test --long"]
fn launch_a_speed_on_a_busy_machine() {
    let is_done = Arc::new(AtomicBool::new(false));
    let seen = is_done.clone();
    let load = std::thread::spawn(move || {
        while !seen.load(Ordering::Relaxed) {
            std::hint::spin_loop();
        }
    });
    let output = names_the_planted_commit("launch", &["Fact: launch: 384,1,1 → 128,1,1"]);
    is_done.store(true, Ordering::Relaxed);
    load.join().unwrap();
    // Where a run has no undisturbed step, noise is too large to judge parts of the change.
    let causes = [
        "Cause: src/threadpool.h alone makes the step",
        "Cause: not looked for inside the commit: runs vary too much to judge parts",
    ];
    let is_told = causes.iter().any(|cause| output.stdout.contains(cause));
    assert!(is_told, "{}", output.stdout);
}

#[test]
fn a_scenario_that_is_not_there_is_refused_with_those_that_are() {
    let env = TestEnvironment::new();
    let output = hunt(&env, "no-such").expect(2);
    assert!(output.stderr.contains("crash, fused, launch, quant, repack, rope"), "{output:?}");
}

#[test]
fn a_folder_with_something_in_it_is_left_alone() {
    let env = TestEnvironment::new();
    let engine = env.repo().join("engine");
    std::fs::create_dir(&engine).unwrap();
    std::fs::write(engine.join("mine"), "x").unwrap();
    hunt(&env, "repack").expect(2).says(&["is not empty", "--dir"]);
    assert_eq!(std::fs::read_dir(&engine).unwrap().count(), 1);
}
