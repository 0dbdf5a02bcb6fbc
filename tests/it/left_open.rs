//! Hunts in which a named commit is not all that the bad end shows, and nothing can be measured
//! where the rest was made; and steps of exactly the tolerance.

use crate::kit::planted::{commit, put};
use crate::kit::shell_engine::{
    NUMBER, among_notes, hunt, hunt_by, is_candidate, notes, put_engine, subjects,
};
use crate::kit::{Hunt, TestEnvironment};

/// `made` among commits that crash.
fn untested<'a>(made: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
    let mut all = vec![("broken", "1")];
    all.extend_from_slice(made);
    all.push(("broken", ""));
    all
}

/// `x`, and then these commits where nothing can be measured.
fn behind_x<'a>(
    made: &[(&'a str, &'a str)],
    later: &[(&'a str, &'a str)],
) -> Vec<(&'a str, &'a str)> {
    let start = [("start", "0")].into_iter().chain(notes(3)).chain([("x", "1")]).chain(notes(4));
    let behind = untested(made).into_iter().chain(notes(4)).chain(later.iter().copied());
    start.chain(behind).chain(notes(2)).collect()
}

/// The answer of a hunt whose rest is open: the named commits, and more candidates than these.
fn named_beside_candidates(hunt: Hunt) -> Vec<String> {
    let hunt = hunt.expect(3, "candidates");
    let named = subjects(&hunt);
    let candidates = hunt.report["candidates"].as_array().unwrap().len();
    assert!(candidates > named.len(), "{}", hunt.output.stdout);
    named
}

/// `y` makes a step of this size among commits that crash, after one of 3 by `x`.
fn a_step_of(second: u32) {
    let engine = format!(
        "[ -f broken ] && exit 7\n\
         v=60; [ -f x ] && v=$((v+3)); [ -f y ] && v=$((v+{second})); echo e = $v"
    );
    let env = TestEnvironment::new();
    let keys = [NUMBER, "metric = \"e\"\nmax_increase = 1"];
    let hunt = hunt(&env, &engine, keys, &behind_x(&[("y", "1")], &[]));
    assert_eq!(named_beside_candidates(hunt), ["x"]);
}

#[test]
fn a_step_among_untestable_commits_is_not_explained_by_the_one_before() {
    a_step_of(3);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_smaller_step_among_untestable_commits_is_not_explained_by_the_one_before_either() {
    a_step_of(2);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn what_untestable_commits_made_again_after_a_mend_is_not_explained() {
    // `m` takes a part of the step of `x` back, and `y` makes as much again.
    let engine = "[ -f broken ] && exit 7\n\
                  v=60; [ -f x ] && v=$((v+5)); [ -f m ] && v=$((v-3))\n\
                  [ -f y ] && v=$((v+3)); echo e = $v";
    let env = TestEnvironment::new();
    let start = [("start", "0"), ("x", "1")].into_iter().chain(notes(3)).chain([("m", "1")]);
    let behind = notes(3).chain(untested(&[("y", "1")])).chain(notes(4));
    let commits: Vec<_> = start.chain(behind).collect();
    let keys = [NUMBER, "metric = \"e\"\nmax_increase = 1"];
    let hunt = hunt(&env, engine, keys, &commits);
    assert!(named_beside_candidates(hunt).iter().all(|named| named == "x"));
}

/// One commit makes the engine slower, and the other one its answers worse.
fn two_guards([slower, worse]: [&str; 2]) {
    // In numbers, the fall of `tg` is far larger than the rise of `ppl`.
    let engine = format!(
        "[ -f broken ] && exit 7\n\
         p=6.0; t=100; [ -f {slower} ] && t=80; [ -f {worse} ] && p=6.5; echo ppl $p tg $t"
    );
    let measure = "parser = \"regex\"\npattern = '^ppl (?<ppl>[0-9.]+) tg (?<tg>[0-9.]+)'";
    let guards = "metric = \"e.ppl\"\nmax_increase = 0.1\n\
                  [[guard]]\nmetric = \"e.tg\"\nmax_decrease = 5";
    let env = TestEnvironment::new();
    let hunt = hunt(&env, &engine, [measure, guards], &behind_x(&[("y", "1")], &[]));
    assert_eq!(named_beside_candidates(hunt), ["x"]);
}

#[test]
fn a_guard_with_candidates_takes_nothing_back_from_another_guard() {
    two_guards(["x", "y"]);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn the_other_guard_with_candidates_takes_nothing_back_either() {
    two_guards(["y", "x"]);
}

#[test]
fn a_guard_is_searched_although_another_one_has_only_candidates() {
    // `m` takes nearly all of the huge step of `x` back, so `x` may have hidden another step.
    let engine = "p=6.0; t=3; [ -f x ] && p=1006; [ -f m ] && p=6.6; [ -f y ] && t=4\n\
                  echo ppl $p loss $t";
    let measure = "parser = \"regex\"\npattern = '^ppl (?<ppl>[0-9.]+) loss (?<loss>[0-9.]+)'";
    let guards = "metric = \"e.ppl\"\nmax_increase = 0.1\n\
                  [[guard]]\nmetric = \"e.loss\"\nmax_increase = 0.1";
    let env = TestEnvironment::new();
    let commits = among_notes(&[("x", "wide"), ("m", "clamped"), ("y", "smooth")]);
    let hunt = hunt(&env, engine, [measure, guards], &commits);
    let notes = hunt.report["notes"].to_string();
    assert!(notes.contains("but e.ppl is still worse"), "{notes}");
    assert_eq!(named_beside_candidates(hunt), ["y"]);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_smaller_step_behind_untestable_commits_undoes_nothing() {
    // Among the commits that crash, `x` is removed and `z` makes as large a step again.
    let engine = "[ -f broken ] && exit 7\n\
                  v=60; [ -f x ] && v=$((v+10)); [ -f z ] && v=$((v+10))\n\
                  [ -f b ] && v=$((v+3)); echo e = $v";
    let env = TestEnvironment::new();
    let commits = behind_x(&[("z", "1"), ("x", "")], &[("b", "1")]);
    let keys = [NUMBER, "metric = \"e\"\nmax_increase = 1"];
    let hunt = hunt(&env, engine, keys, &commits);
    assert!(named_beside_candidates(hunt).iter().all(|named| named != "x"));
}

#[test]
fn commits_on_separate_lines_that_explain_too_much_are_not_all_named() {
    // `a` is on the main line. Commits after it crash, and one of them, `m`, takes its step back.
    // `b` is on a branch and makes the bad end's step.
    let engine = "[ -f broken ] && exit 7\n\
                  v=60; [ -f a ] && v=$((v+5)); [ -f m ] && v=$((v-5))\n\
                  [ -f b ] && v=$((v+10)); echo e = $v";
    let env = TestEnvironment::new();
    let step = |file: &str| {
        put(&env.repo().join(file), b"1");
        commit(&env, file);
    };
    put_engine(&env, engine);
    step("start");
    env.git(&["tag", "v1"]);
    step("notes");
    env.git(&["branch", "side"]);
    for file in ["a", "after", "more", "broken", "m"] {
        step(file);
    }
    env.git(&["checkout", "--quiet", "side"]);
    for file in ["s", "b", "t"] {
        step(file);
    }
    env.git(&["checkout", "--quiet", "-"]);
    env.git(&["merge", "--quiet", "--no-ff", "-m", "merge", "side"]);
    std::fs::remove_file(env.repo().join("broken")).unwrap();
    commit(&env, "mended");
    step("end");
    let hunt = hunt_by(&env, [NUMBER, "metric = \"e\"\nmax_increase = 1"]);
    assert_ne!(hunt.output.code(), Some(4), "{}", hunt.output.stdout);
    assert!(subjects(&hunt).iter().all(|named| named != "a"), "{}", hunt.output.stdout);
}

#[test]
fn a_step_of_exactly_the_tolerance_is_allowed_whatever_the_baseline_is() {
    // 1.1 - 1.0 is rounded up, and 7.1 - 7.0 is rounded down.
    for [from, to] in [["1.0", "1.1"], ["7.0", "7.1"]] {
        let engine = format!("[ -f x ] && echo e = {to} || echo e = {from}");
        let env = TestEnvironment::new();
        let keys = [NUMBER, "metric = \"e\"\nmax_increase = 0.1"];
        let hunt = hunt(&env, &engine, keys, &among_notes(&[("x", "1")]));
        hunt.expect(4, "no-regression");
    }
}

/// Hunts where a step was taken back before two commits made steps of other sizes.
fn mended_before_a_named_commit(env: &TestEnvironment) {
    // `m` takes the step of `a` back, and then `c` and `d` make steps of other sizes.
    let engine = "v=62513; [ -f a ] && v=$((v + 8000)); [ -f m ] && v=$((v - 8000))\n\
                  [ -f c ] && v=$((v + 6313)); [ -f d ] && v=$((v + 5000)); echo e = $v";
    let commits = [
        [("start", "0")].to_vec(),
        notes(5).collect(),
        [("a", "1")].to_vec(),
        notes(8).collect(),
        [("other", "1"), ("m", "1"), ("other", "2"), ("c", "1"), ("d", "1")].to_vec(),
        notes(8).collect(),
    ]
    .concat();
    let hunt = hunt(env, engine, [NUMBER, "metric = \"e\"\nmax_increase = 1000"], &commits);
    assert_eq!(subjects(&hunt.expect(0, "culprit")), ["c", "d"]);
}

#[test]
fn a_step_that_was_mended_before_a_named_commit_does_not_explain_the_rest() {
    mended_before_a_named_commit(&TestEnvironment::new());
}

#[test]
#[ignore = "long: scripts/test --long"]
fn with_localisation_a_step_that_was_mended_before_a_named_commit_does_not_explain_the_rest() {
    mended_before_a_named_commit(&TestEnvironment::localizing());
}

#[test]
fn no_regression_mentions_a_crash_that_does_not_count() {
    let env = TestEnvironment::new();
    let crashed = env.path("crashed").display().to_string();
    let engine =
        format!("[ -f x ] && [ ! -e '{crashed}' ] && touch '{crashed}' && exit 134\necho e = 6");
    let keys = [NUMBER, "metric = \"e\"\nmax_increase = 0.1"];
    let hunt = hunt(&env, &engine, keys, &among_notes(&[("x", "1")]));
    // As many runs as exclude a rate of one in five.
    let told = ["e failed in 1 of 31 runs of bad", "a failure rate of 20 % or more is excluded"];
    hunt.expect(4, "no-regression").output.says(&told);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn no_regression_counts_crashes_that_come_again() {
    let env = TestEnvironment::new();
    let runs = env.path("runs").display().to_string();
    // The first and the tenth run of the bad end crash.
    let engine = format!(
        "[ -f x ] && echo >> '{runs}' && case $(wc -l < '{runs}') in 1|10) exit 134;; esac\n\
         echo e = 6"
    );
    let keys = [NUMBER, "metric = \"e\"\nmax_increase = 0.1"];
    let hunt = hunt(&env, &engine, keys, &among_notes(&[("x", "1")]));
    // Two failures take more runs to exclude a rate of one in five.
    let told = ["e failed in 2 of 39 runs of bad", "a failure rate of 20 % or more is excluded"];
    hunt.expect(4, "no-regression").output.says(&told);
}

#[test]
fn an_earlier_commit_may_have_broken_what_only_a_later_recipe_measures() {
    // `z` breaks the new path, and `has_new` makes the hunt measure it. `x` breaks the old one.
    let engine = "f=x; [ \"$1\" = new ] && f=z; [ -f $f ] && echo e = 7.5 || echo e = 7";
    let guard = "metric = \"e\"\nmax_increase = 0.1\n[[override]]\nwhen.exists = \"has_new\"\n\
                 measure.e.command = \"sh {src}/engine.sh new\"";
    let env = TestEnvironment::localizing();
    let commits = among_notes(&[("z", "1"), ("x", "1"), ("has_new", "1")]);
    let hunt = hunt(&env, engine, [NUMBER, guard], &commits).expect(3, "candidates");
    assert!(is_candidate(&env, &hunt, "z"), "{}", hunt.output.stdout);
    hunt.output.says(&["by another recipe of oracle.toml: another commit may do this too"]);
}
