//! Runs read a pointer of Git LFS, which the hunt's checkouts keep where the user has the file.

use crate::kit::planted::{commit, put};
use crate::kit::{Hunt, TestEnvironment};

const POINTER: &str = "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n";
/// Fails if its table is a pointer.
const STRICT: &str = "cd \"$(dirname \"$0\")\"\n\
     if grep -q ^version table.bin; then echo bad magic >&2; exit 1; fi\n\
     cat base table.bin | awk '{s += $1} END {print \"e = \" s}'\n";
/// Takes a default if its table is a pointer.
const LENIENT: &str = "cd \"$(dirname \"$0\")\"\n\
     grep -q ^version table.bin || cat table.bin > /dev/null\n\
     awk '{print \"e = \" $1}' base\n";

/// Has another value if its table is a pointer.
const SWITCHED: &str = "cd \"$(dirname \"$0\")\"\n\
     if grep -q ^version table.bin; then echo e = 7.5; else echo e = 7.0; fi\n";

/// Five commits, with the table of each; an empty text is no table. The third makes the engine
/// worse.
fn history(engine: &str, tables: [&str; 5]) -> TestEnvironment {
    let env = TestEnvironment::new();
    put(&env.repo().join(".gitignore"), b"oracle.toml\n");
    let text = "version = 1\n[build]\ncommands = []\n[[measure]]\nname = \"e\"\n\
                command = \"sh {src}/engine\"\nparser = \"regex\"\npattern = '^e = ([0-9.]+)'\n\
                [[guard]]\nmetric = \"e\"\nmax_increase = 0.1\n";
    put(&env.repo().join("oracle.toml"), text.as_bytes());
    put(&env.repo().join("engine"), engine.as_bytes());
    for (number, table) in tables.into_iter().enumerate() {
        put(&env.repo().join("base"), if number < 2 { b"7.0\n" } else { b"7.5\n" });
        if !table.is_empty() {
            put(&env.repo().join("table.bin"), table.as_bytes());
        }
        put(&env.repo().join("number"), number.to_string().as_bytes());
        commit(&env, &format!("change {number}"));
        if number == 0 {
            env.git(&["tag", "v1"]);
        }
    }
    env
}

fn hunt(env: &TestEnvironment) -> Hunt {
    env.start(&["--good", "v1", "--bad", "main"])
}

#[test]
fn the_commit_that_moves_a_file_into_lfs_is_not_the_regression() {
    let env = history(STRICT, ["0\n", "0\n", "0\n", POINTER, POINTER]);
    let hunt = hunt(&env).expect(4, "endpoint-unmeasurable");
    hunt.output.says(&["runs of the bad endpoint read table.bin", "set `lfs = true`"]);
}

#[test]
fn an_end_that_fails_on_a_pointer_is_told() {
    let other = POINTER.replace("size 1", "size 2");
    let env = history(STRICT, [&other, &other, &other, POINTER, POINTER]);
    let hunt = hunt(&env).expect(4, "endpoint-unmeasurable");
    hunt.output.says(&["runs of the good endpoint read table.bin", "set `lfs = true`"]);
}

#[test]
fn a_pointer_that_all_have_changes_nothing() {
    let env = history(LENIENT, [POINTER; 5]);
    hunt(&env).expect(0, "culprit").output.says(&["change 2"]);
}

#[test]
fn a_pointer_counts_if_the_users_checkout_has_the_file() {
    let env = history(LENIENT, [POINTER; 5]);
    env.git(&["update-index", "--assume-unchanged", "table.bin"]);
    put(&env.repo().join("table.bin"), b"0\n");
    let hunt = hunt(&env).expect(4, "endpoint-unmeasurable");
    hunt.output.says(&["read table.bin", "set `lfs = true`"]);
}

#[test]
fn commits_with_a_pointer_are_untestable() {
    // The first pointer alone brings a crash, and the third change the step.
    let env = history(STRICT, ["0\n", POINTER, POINTER, "0\n", "0\n"]);
    let hunt = hunt(&env).expect(3, "candidates");
    hunt.output.says(&["change 1", "change 2", "change 3"]);
}

#[test]
fn a_new_pointer_that_the_users_checkout_has_too_changes_nothing() {
    let env = history(LENIENT, ["", "", "", POINTER, POINTER]);
    hunt(&env).expect(0, "culprit").output.says(&["change 2"]);
}

#[test]
fn a_failure_beside_a_new_pointer_may_be_the_pointers() {
    let env = history(STRICT, ["", "", "", POINTER, POINTER]);
    let hunt = hunt(&env).expect(4, "endpoint-unmeasurable");
    hunt.output.says(&["runs of the bad endpoint read table.bin", "set `lfs = true`"]);
}

#[test]
fn a_commit_whose_new_pointer_the_runs_read_is_a_doubt() {
    let env = history(SWITCHED, ["", "", "", POINTER, POINTER]);
    let hunt = hunt(&env).expect(0, "culprit");
    let culprit = &hunt.report["culprit"];
    assert_eq!(culprit["subject"], "change 3");
    assert_eq!(culprit["pointer"], "table.bin");
    assert!(culprit["confidence"].as_f64().unwrap() <= 0.98, "{culprit}");
    hunt.output.says(&["a build or a run may have read the pointer"]);
}
