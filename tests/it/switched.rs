//! Hunts in which a commit adds a path of the engine, or sets a flag, and later commits switch it
//! off and on again.

use crate::kit::planted::{commit, put};
use crate::kit::shell_engine::{NUMBER, begin, commit_notes, hunt_by, put_engine, step, subjects};
use crate::kit::{Hunt, TestEnvironment};

/// An engine with a path that a file adds, and that later files switch off and on. The engine's own
/// text never has the name of the option.
const SWITCHED: &str = "p=0; on=1; for word in $(cat ?.conf); do case $word in path) p=1;; \
                        off) on=0;; on) on=1;; esac; done; echo e = $((5 + p * on))";

/// The first commits of a history with this engine, up to `x`, which adds the path.
fn begin_switched(env: &TestEnvironment) {
    put(&env.repo().join("0.conf"), b"base\n");
    begin(env, SWITCHED);
    commit_notes(env, 3);
    step(env, "x", "1.conf", "ENG_FP16 path\n");
}

#[test]
fn what_other_files_switch_off_and_on_by_its_name_is_named_where_it_is_on_again() {
    let env = TestEnvironment::new();
    begin_switched(&env);
    commit_notes(&env, 14);
    step(&env, "m", "2.conf", "ENG_FP16 off\n");
    step(&env, "z", "3.conf", "ENG_FP16 on\n");
    commit_notes(&env, 3);
    let hunt = hunt_by(&env, [NUMBER, "metric = \"e\"\nmax_increase = 0"]).expect(0, "culprit");
    assert_eq!(subjects(&hunt), ["z"]);
}

#[test]
fn what_is_switched_off_and_on_without_its_name_is_seen_in_the_longest_unmeasured_part() {
    let env = TestEnvironment::new();
    begin_switched(&env);
    commit_notes(&env, 14);
    step(&env, "m", "2.conf", "off\n");
    commit_notes(&env, 6);
    step(&env, "z", "3.conf", "on\n");
    commit_notes(&env, 3);
    let hunt = hunt_by(&env, [NUMBER, "metric = \"e\"\nmax_increase = 0"]).expect(0, "culprit");
    assert_eq!(subjects(&hunt), ["z"]);
}

/// The later commits change the found commit's own files: a line of a new one, and a line that it
/// put into an old one. The line that switches the path on again is another one than before.
#[test]
fn what_is_switched_off_and_on_in_its_own_file_is_named_where_it_is_on_again() {
    let env = TestEnvironment::new();
    begin(&env, "p=0; on=1; [ -f new.conf ] && . ./new.conf; echo e = $((5 + p * on))");
    commit_notes(&env, 3);
    step(&env, "x", "new.conf", "# path\np=1\n");
    commit_notes(&env, 3);
    step(&env, "m", "new.conf", "# path\np=1\non=0\n");
    commit_notes(&env, 3);
    step(&env, "z", "new.conf", "# path\np=1\n# tuned\n");
    commit_notes(&env, 14);
    let hunt = hunt_by(&env, [NUMBER, "metric = \"e\"\nmax_increase = 0"]).expect(0, "culprit");
    assert_eq!(subjects(&hunt), ["z"]);
}

/// A commit begins to use a file that was there before. Later commits mend this file, and break it
/// again with other text. `ending`: what the engine adds to the name that the commit writes.
#[track_caller]
fn is_named_where_it_breaks_again(ending: &str) {
    let env = TestEnvironment::new();
    let which = |name: &str| format!("{}\n", name.strip_suffix(ending).unwrap());
    put(&env.repo().join("slow.cfg"), b"p=0\n");
    put(&env.repo().join("fast.cfg"), b"p=1\n");
    put(&env.repo().join("which"), which("slow.cfg").as_bytes());
    begin(&env, &format!("p=0; on=1; . ./$(cat which){ending}; echo e = $((5 + p * on))"));
    commit_notes(&env, 3);
    step(&env, "x", "which", &which("fast.cfg"));
    commit_notes(&env, 3);
    step(&env, "m", "fast.cfg", "p=1\non=0\n");
    commit_notes(&env, 3);
    step(&env, "z", "fast.cfg", "p=1\n# tuned\n");
    commit_notes(&env, 14);
    let hunt = hunt_by(&env, [NUMBER, "metric = \"e\"\nmax_increase = 0"]).expect(0, "culprit");
    assert_eq!(subjects(&hunt), ["z"]);
}

#[test]
fn what_is_mended_and_broken_again_in_a_file_that_comes_into_use_is_named_where_it_breaks_again() {
    is_named_where_it_breaks_again("");
}

/// No line names the file: only the runs tell that the commit begins to use it.
#[test]
fn what_is_mended_and_broken_again_in_a_file_that_only_runs_show_is_named_where_it_breaks_again() {
    is_named_where_it_breaks_again(".cfg");
}

/// The first commits of a history in which `x` begins to use `fast.cfg`, which no line names. `edit`:
/// what `x` makes of that file.
fn begin_fast(env: &TestEnvironment, edit: &str) {
    put(&env.repo().join("slow.cfg"), b"p=0\n");
    put(&env.repo().join("fast.cfg"), b"p=1\n");
    put(&env.repo().join("which"), b"slow\n");
    begin(env, "p=0; on=1; . ./$(cat which).cfg; echo e = $((5 + p * on))");
    commit_notes(env, 3);
    put(&env.repo().join("fast.cfg"), edit.as_bytes());
    step(env, "x", "which", "fast\n");
    commit_notes(env, 3);
}

#[test]
fn a_file_that_comes_into_use_may_be_edited_by_the_same_commit() {
    let env = TestEnvironment::new();
    begin_fast(&env, "# the fast path\np=1\n");
    step(&env, "m", "fast.cfg", "# the fast path\np=1\non=0\n");
    commit_notes(&env, 3);
    step(&env, "z", "fast.cfg", "# the fast path\np=1\n# tuned\n");
    commit_notes(&env, 14);
    let hunt = hunt_by(&env, [NUMBER, "metric = \"e\"\nmax_increase = 0"]).expect(0, "culprit");
    assert_eq!(subjects(&hunt), ["z"]);
}

#[test]
fn a_file_that_comes_into_use_is_followed_to_its_next_name() {
    let env = TestEnvironment::new();
    begin_fast(&env, "p=1\n");
    std::fs::rename(env.repo().join("fast.cfg"), env.repo().join("quick.cfg")).unwrap();
    step(&env, "n", "which", "quick\n");
    commit_notes(&env, 3);
    step(&env, "m", "quick.cfg", "p=1\non=0\n");
    commit_notes(&env, 3);
    step(&env, "z", "quick.cfg", "p=1\n# tuned\n");
    commit_notes(&env, 14);
    let hunt = hunt_by(&env, [NUMBER, "metric = \"e\"\nmax_increase = 0"]).expect(0, "culprit");
    assert_eq!(subjects(&hunt), ["z"]);
}

/// `n` lets the file that came into use read another one, without effect. `m` mends that one, and `z`
/// breaks it again.
#[test]
fn a_file_that_comes_into_use_by_way_of_another_one_is_followed_too() {
    let env = TestEnvironment::new();
    put(&env.repo().join("tile.cfg"), b"on=1\n");
    begin_fast(&env, "p=1\n");
    step(&env, "n", "fast.cfg", "p=1\n. ./tile.cfg\n");
    commit_notes(&env, 3);
    step(&env, "m", "tile.cfg", "on=0\n");
    commit_notes(&env, 3);
    step(&env, "z", "tile.cfg", "on=01\n");
    commit_notes(&env, 14);
    let hunt = hunt_by(&env, [NUMBER, "metric = \"e\"\nmax_increase = 0"]).expect(0, "culprit");
    assert_eq!(subjects(&hunt), ["z"]);
}

#[test]
fn what_is_switched_off_and_on_in_a_line_of_an_old_file_is_named_where_it_is_on_again() {
    let env = TestEnvironment::new();
    put(&env.repo().join("old.conf"), b"# settings\n");
    begin(&env, "fast_on=0; . ./old.conf; [ -f path ] || fast_on=0; echo e = $((5 + fast_on))");
    commit_notes(&env, 3);
    put(&env.repo().join("path"), b"1");
    step(&env, "x", "old.conf", "# settings\nfast_on=1\n");
    commit_notes(&env, 3);
    step(&env, "m", "old.conf", "# settings\nfast_on=0\n");
    commit_notes(&env, 3);
    step(&env, "z", "old.conf", "# settings\nfast_on=1 # tuned\n");
    commit_notes(&env, 14);
    let hunt = hunt_by(&env, [NUMBER, "metric = \"e\"\nmax_increase = 0"]).expect(0, "culprit");
    assert_eq!(subjects(&hunt), ["z"]);
}

/// One commit tunes the path by its name and lets each run fail, which the next commit mends.
#[test]
fn a_commit_that_uses_a_new_name_and_cannot_be_judged_leaves_a_doubt() {
    let env = TestEnvironment::new();
    put(&env.repo().join("0.conf"), b"base\n");
    begin(&env, &format!("[ -f crash ] && exit 3; {SWITCHED}"));
    commit_notes(&env, 3);
    step(&env, "x", "1.conf", "ENG_FP16 path\n");
    commit_notes(&env, 6);
    put(&env.repo().join("crash"), b"1");
    step(&env, "tuned", "2.conf", "ENG_FP16 tuned\n");
    std::fs::remove_file(env.repo().join("crash")).unwrap();
    commit_notes(&env, 7);
    let hunt = hunt_by(&env, [NUMBER, "metric = \"e\"\nmax_increase = 0"]).expect(0, "culprit");
    assert_eq!(subjects(&hunt), ["x"]);
    let culprit = &hunt.report["culprits"][0];
    assert_eq!(culprit["untold_namings"], 1, "{culprit}");
    assert!(culprit["confidence"].as_f64().unwrap() <= 0.98, "{culprit}");
}

#[test]
fn commits_that_use_a_new_name_without_effect_leave_no_doubt() {
    let env = TestEnvironment::new();
    begin_switched(&env);
    for number in 4..7 {
        step(&env, "other", "a.conf", &format!("{number}\n"));
        step(&env, "tuned", &format!("{number}.conf"), "ENG_FP16 tuned\n");
    }
    step(&env, "last", "a.conf", "last\n");
    let hunt = hunt_by(&env, [NUMBER, "metric = \"e\"\nmax_increase = 0"]).expect(0, "culprit");
    assert_eq!(subjects(&hunt), ["x"]);
    assert!(hunt.report["culprits"][0]["confidence"].as_f64().unwrap() > 0.98);
}

/// An engine that reads its files as settings, and later ones override earlier ones. The fused path
/// is worse, and the portable mode never takes it.
const FLAGGED: &str = "fused=false; portable=no; e=5\n\
                       for file in ./?.conf; do . $file; done\n\
                       [ $fused = true ] && [ $portable = no ] && e=7; echo e = $e";

/// The first commits of a history with this engine, up to `x`, which sets a flag that exists.
fn begin_flagged(env: &TestEnvironment) {
    put(&env.repo().join("0.conf"), b"fused=false\n");
    begin(env, FLAGGED);
    commit_notes(env, 3);
    step(env, "x", "0.conf", "fused=true\n");
}

fn hunt_flagged(env: &TestEnvironment) -> Hunt {
    hunt_by(env, [NUMBER, "metric = \"e\"\nmax_increase = 0"]).expect(0, "culprit")
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_flag_that_another_file_overrides_for_a_while_is_named_where_it_counts_again() {
    let env = TestEnvironment::new();
    begin_flagged(&env);
    commit_notes(&env, 14);
    step(&env, "m", "1.conf", "fused=false\n");
    step(&env, "z", "1.conf", "# nothing left\n");
    commit_notes(&env, 3);
    assert_eq!(subjects(&hunt_flagged(&env)), ["z"]);
}

/// Only the commit that overrides the flag has its name: another one makes the engine ignore that
/// file.
#[test]
fn the_only_commit_that_names_a_flag_is_measured() {
    let env = TestEnvironment::new();
    begin_flagged(&env);
    commit_notes(&env, 14);
    step(&env, "m", "1.conf", "fused=false\n");
    step(&env, "note", "notes", "m\n");
    put_engine(&env, &FLAGGED.replace("?.conf", "0.conf"));
    commit(&env, "z");
    commit_notes(&env, 3);
    assert_eq!(subjects(&hunt_flagged(&env)), ["z"]);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_flag_that_counts_for_nothing_for_a_while_is_seen_in_the_longest_unmeasured_part() {
    let env = TestEnvironment::new();
    begin_flagged(&env);
    commit_notes(&env, 30);
    step(&env, "m", "1.conf", "portable=yes\n");
    commit_notes(&env, 3);
    step(&env, "z", "1.conf", "portable=no\n");
    commit_notes(&env, 19);
    assert_eq!(subjects(&hunt_flagged(&env)), ["z"]);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_flag_that_other_files_use_without_effect_leaves_no_doubt() {
    let env = TestEnvironment::localizing();
    begin_flagged(&env);
    for number in 4..7 {
        step(&env, "other", "notes", &format!("{number}\n"));
        step(&env, "tuned", &format!("{number}.conf"), "fused=$fused\n");
    }
    step(&env, "last", "notes", "last\n");
    let hunt = hunt_flagged(&env);
    assert_eq!(subjects(&hunt), ["x"]);
    assert!(hunt.report["culprits"][0]["confidence"].as_f64().unwrap() > 0.98);
}
