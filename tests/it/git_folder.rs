//! Engines that keep tables in the git folder that all worktrees share, or in that of their own
//! checkout.

use crate::kit::shell_engine::{NUMBER, among_notes, hunt, subjects};
use crate::kit::{Hunt, TestEnvironment};

const GUARD: &str = "metric = \"e\"\nmax_increase = 0.1";

/// A hunt with an engine that stores tuned kernels, one file for each version, in the folder that the
/// command `folder` prints. One commit makes the kernels worse, and a later one changes only the
/// version.
fn tuned_in(env: &TestEnvironment, folder: &str) -> Hunt {
    let engine = format!(
        "K=\"$({folder})\"; V=$(cat version 2>/dev/null || echo 1); mkdir -p \"$K\"\n\
         [ -f \"$K/$V\" ] || {{ cat kernel 2>/dev/null || echo 7; }} > \"$K/$V\"\n\
         echo \"e = $(cat \"$K/$V\")\"\n"
    );
    let commits = among_notes(&[("kernel", "7.5\n"), ("version", "2\n")]);
    hunt(env, &engine, [NUMBER, GUARD], &commits)
}

/// Fails unless the hunt has the note, and each named commit the doubt.
#[track_caller]
fn is_doubted(hunt: &Hunt) {
    let notes = hunt.report["notes"].to_string();
    let said = "in the repository's git folder changed during a run of e at ";
    assert!(notes.contains(said), "{notes}");
    assert!(notes.contains("let it keep such files in {build} or {out}"), "{notes}");
    for culprit in hunt.report["culprits"].as_array().unwrap() {
        assert!(culprit["confidence"].as_f64().unwrap() <= 0.98, "{culprit}");
        let doubt = &culprit["git_folder_doubt"];
        assert_eq!(doubt["during"]["run"], "e", "{culprit}");
        assert!(doubt["paths"][0].as_str().unwrap().starts_with("tuned/"), "{culprit}");
        let words: Vec<&str> = hunt.output.stdout.split_whitespace().collect();
        let words = words.join(" ");
        assert!(words.contains("a value may come from another commit's file"), "{words}");
    }
}

#[test]
fn tables_in_the_common_git_folder_leave_a_doubt() {
    let env = TestEnvironment::new();
    let folder = "echo \"$(git rev-parse --git-common-dir)/tuned\"";
    is_doubted(&tuned_in(&env, folder));
    // The runs of a further hunt come from the store.
    is_doubted(&env.hunt());
}

#[test]
fn tables_in_the_git_folder_of_the_checkout_reach_no_other_commit() {
    let env = TestEnvironment::new();
    let hunt = tuned_in(&env, "git rev-parse --git-path tuned").expect(0, "culprit");
    assert_eq!(subjects(&hunt), ["kernel"]);
    let culprit = &hunt.report["culprit"];
    assert_eq!(culprit["git_folder_doubt"], serde_json::Value::Null);
}
