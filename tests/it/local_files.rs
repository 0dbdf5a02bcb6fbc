//! Files of the user's checkout that git does not track, and that the hunt's checkouts lack.

use crate::kit::planted::{commit, put};
use crate::kit::{Hunt, TestEnvironment};

/// Reads the settings of this machine, if there are some.
const ENGINE: &str = "cd \"$(dirname \"$0\")\"\n\
     path=slow\n\
     [ -f ./.env ] && . ./.env\n\
     echo e = $(cat $path)\n";

/// Four commits. The second makes the fast path worse, which only the settings choose. `slow`: the
/// values of the other path.
fn hunt(slow: [&str; 4], more: &str) -> Hunt {
    let env = TestEnvironment::new();
    put(&env.repo().join(".gitignore"), b"oracle.toml\n.env\nnotes.txt\n");
    let text = format!(
        "version = 1\n[build]\ncommands = []\n[[measure]]\nname = \"e\"\n\
         command = \"sh {{src}}/engine\"\nparser = \"regex\"\npattern = '^e = ([0-9.]+)'\n\
         [[guard]]\nmetric = \"e\"\nmax_increase = 0.1\n{more}"
    );
    put(&env.repo().join("oracle.toml"), text.as_bytes());
    put(&env.repo().join("engine"), ENGINE.as_bytes());
    put(&env.repo().join(".env"), b"path=fast\n");
    put(&env.repo().join("notes.txt"), b"nobody reads this\n");
    for (number, slow) in slow.into_iter().enumerate() {
        put(&env.repo().join("fast"), if number == 0 { b"7.0\n" } else { b"7.5\n" });
        put(&env.repo().join("slow"), slow.as_bytes());
        put(&env.repo().join("number"), number.to_string().as_bytes());
        commit(&env, &format!("change {number}"));
        if number == 0 {
            env.git(&["tag", "v1"]);
        }
    }
    env.start(&["--good", "v1", "--bad", "main"])
}

const TOLD: &str = ".env (named in engine)";

#[test]
fn no_regression_names_the_settings_that_the_hunt_lacks() {
    let hunt = hunt(["7.0\n"; 4], "").expect(4, "no-regression");
    let output = hunt.output.says(&[TOLD, "`link = [\".env\"]` under [worktree]"]);
    assert!(!output.stdout.contains("notes.txt"), "{}", output.stdout);
}

#[test]
fn a_named_commit_has_a_note_about_them() {
    let hunt = hunt(["7.0\n", "7.0\n", "7.9\n", "7.9\n"], "").expect(0, "culprit");
    hunt.output.says(&["change 2", TOLD]);
}

#[test]
fn settings_that_the_hunt_has_are_not_told() {
    let hunt = hunt(["7.0\n"; 4], "[worktree]\nlink = [\".env\"]\n").expect(0, "culprit");
    let text = format!("{}{}", hunt.output.stdout, hunt.output.stderr);
    assert!(text.contains("change 1") && !text.contains(TOLD), "{text}");
}
