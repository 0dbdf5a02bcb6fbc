//! Programs that ask git whether files were changed, and then behave in another way. The tests of
//! parts and of the ends must not look changed to them.

use crate::kit::shell_engine::{NUMBER, hunt, make, names_or_leaves_open, notes, subjects};
use crate::kit::{Hunt, TestEnvironment};

const GUARD: &str = "metric = \"e\"\nmax_increase = 0.1";

/// `x` makes the step, `m` switches it off in another file, and `z` makes it again. The first half
/// of the search sees `x` only.
fn commits() -> Vec<(&'static str, &'static str)> {
    let steps = [("m", "1"), ("z", "1")];
    let before = [("start", "0")].into_iter().chain(notes(2)).chain([("x", "1")]);
    before.chain(notes(12)).chain(steps).chain(notes(2)).collect()
}

/// Sets `v` to the value of the commit, or to that of the good end if git says that files changed.
fn value(asks: &str) -> String {
    format!(
        "v=7\n[ -f x ] && [ ! -f m ] && v=7.5\n[ -f z ] && v=7.5\n\
         {asks} || v=7\n"
    )
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_run_that_asks_git_for_changed_files_shows_the_bad_end_without_a_commit() {
    for asks in
        ["[ -z \"$(git status --porcelain --untracked-files=no)\" ]", "git diff --quiet HEAD"]
    {
        let env = TestEnvironment::localizing();
        let engine = format!("{}echo e = $v\n", value(asks));
        let hunt = hunt(&env, &engine, [NUMBER, GUARD], &commits());
        names_or_leaves_open(&env, &hunt, &["z"]);
    }
}

#[test]
fn a_build_that_asks_git_for_its_version_shows_the_bad_end_without_a_commit() {
    let env = TestEnvironment::localizing();
    let asks = "! git describe --always --dirty | grep -q dirty";
    names_or_leaves_open(&env, &hunt_of_build(&env, &value(asks), &commits()), &["z"]);
}

/// A hunt whose build runs this script, which sets `v`, and makes an engine that prints `v`.
fn hunt_of_build(env: &TestEnvironment, script: &str, commits: &[(&str, &str)]) -> Hunt {
    make_with_build(env, script, commits);
    env.hunt()
}

/// Makes the repository and the configuration of such a hunt.
fn make_with_build(env: &TestEnvironment, script: &str, commits: &[(&str, &str)]) {
    let engine = format!(
        "{script}printf '#!/bin/sh\\necho e = %s\\n' $v > \"$1/engine\"\nchmod +x \"$1/engine\"\n"
    );
    make(env, &engine, commits);
    let oracle = format!(
        "version = 1\n[build]\ncommands = [\"sh {{src}}/engine.sh {{build}}\"]\n[[measure]]\n\
         name = \"e\"\ncommand = \"{{build}}/engine\"\n{NUMBER}\n[[guard]]\n{GUARD}\n"
    );
    std::fs::write(env.repo().join("oracle.toml"), oracle).unwrap();
}

/// Makes the script of the build a `[[prepare]]` step.
fn prepare_instead_of_build(env: &TestEnvironment) {
    let path = env.repo().join("oracle.toml");
    let build = "[build]\ncommands = [\"sh {src}/engine.sh {build}\"]\n";
    let step = "[[prepare]]\nname = \"p\"\ncommand = \"sh {src}/engine.sh {prepare.p}\"\n";
    let oracle = std::fs::read_to_string(&path).unwrap();
    let oracle = oracle.replace(build, step).replace("{build}/engine", "{prepare.p}/engine");
    std::fs::write(path, oracle).unwrap();
}

/// Fails if a commit is named without the doubt that removals say nothing, unless it is the right
/// one, `z`.
#[track_caller]
fn is_in_doubt_or_right(env: &TestEnvironment, hunt: &Hunt) {
    let culprits = hunt.report["culprits"].as_array().unwrap();
    let is_doubted = |one: &serde_json::Value| {
        one["reference_doubt"] == true && one["confidence"].as_f64().unwrap() <= 0.98
    };
    if hunt.report["outcome"] == "culprit" && culprits.iter().all(is_doubted) {
        let words: Vec<&str> = hunt.output.stdout.split_whitespace().collect();
        let said = "the build or run asks git about branches or tags";
        assert!(words.join(" ").contains(said), "{}", hunt.output.stdout);
    } else {
        names_or_leaves_open(env, hunt, &["z"]);
    }
}

/// The name of a modified tree's HEAD is on no branch, so each removal seems to heal the bad end.
#[test]
#[ignore = "long: scripts/test --long"]
fn a_build_or_run_that_asks_whether_head_is_on_a_branch_does_not_trust_removals() {
    let asks = "git for-each-ref --contains HEAD | grep -q .";
    for is_build in [true, false] {
        let env = TestEnvironment::localizing();
        let hunt = if is_build {
            hunt_of_build(&env, &value(asks), &commits())
        } else {
            hunt(&env, &format!("{}echo e = $v\n", value(asks)), [NUMBER, GUARD], &commits())
        };
        is_in_doubt_or_right(&env, &hunt);
    }
}

/// Questions that no list of dangerous commands has, or that git does not write down.
#[test]
fn a_way_to_ask_that_git_does_not_write_down_does_not_make_removals_count() {
    let hidden = "env -u GIT_TRACE2_EVENT git for-each-ref --contains HEAD | grep -q .";
    let env = TestEnvironment::localizing();
    is_in_doubt_or_right(&env, &hunt_of_build(&env, &value(hidden), &commits()));
}

#[test]
#[ignore = "long: scripts/test --long"]
fn other_ways_to_ask_whether_head_is_on_a_branch_do_not_make_removals_count() {
    let lists = "git rev-list main | grep -q \"$(git rev-parse HEAD)\"";
    let base = "[ \"$(git merge-base HEAD main)\" = \"$(git rev-parse HEAD)\" ]";
    for asks in [lists, base] {
        let env = TestEnvironment::localizing();
        let hunt = hunt_of_build(&env, &value(asks), &commits());
        is_in_doubt_or_right(&env, &hunt);
    }
    let env = TestEnvironment::localizing();
    make_with_build(&env, &value("git for-each-ref --contains HEAD | grep -q ."), &commits());
    prepare_instead_of_build(&env);
    is_in_doubt_or_right(&env, &env.hunt());
}

/// Only a build at a tag shows the step of `z`. The bad end has a tag, and its own commit changes
/// nothing.
#[test]
fn a_step_that_a_tag_at_the_bad_end_makes_is_in_doubt() {
    let script = "v=7\ncase \"$(git describe --tags)\" in *-g*) ;; *) [ -f z ] && v=7.5 ;; esac\n";
    let before = [("start", "0")].into_iter().chain(notes(2)).chain([("z", "1")]);
    let commits: Vec<_> = before.chain(notes(3)).chain([("release", "2")]).collect();
    let env = TestEnvironment::localizing();
    make_with_build(&env, script, &commits);
    env.git(&["tag", "v2"]);
    is_in_doubt_or_right(&env, &env.hunt());
}

/// The name of the commit changes each value a little.
#[test]
fn values_that_may_follow_from_the_commits_name_are_in_doubt() {
    let script = "b=7\n[ -f x ] && b=7.5\nn=$(git rev-parse HEAD | cksum | cut -d ' ' -f 1)\n\
                  v=$(awk \"BEGIN { printf \\\"%.9f\\\", $b + ($n % 1000000) / 100000000 }\")\n";
    let before = [("start", "0")].into_iter().chain(notes(2)).chain([("x", "1")]);
    let commits: Vec<_> = before.chain(notes(4)).collect();
    let env = TestEnvironment::localizing();
    let hunt = hunt_of_build(&env, script, &commits);
    assert_eq!(subjects(&hunt), ["x"], "{}", hunt.output.stdout);
    let culprit = &hunt.report["culprits"][0];
    assert_eq!(culprit["name_doubt"], true, "{culprit}");
    assert!(culprit["confidence"].as_f64().unwrap() <= 0.98, "{culprit}");
}

#[test]
fn a_question_for_branches_that_changes_nothing_lowers_no_confidence() {
    let env = TestEnvironment::localizing();
    let script =
        "git name-rev HEAD > \"$1/name\"\ngit rev-parse HEAD > /dev/null\nv=7\n[ -f x ] && v=7.5\n";
    let before = [("start", "0")].into_iter().chain(notes(2)).chain([("x", "1")]);
    let commits: Vec<_> = before.chain(notes(4)).collect();
    let hunt = hunt_of_build(&env, script, &commits);
    assert_eq!(subjects(&hunt), ["x"], "{}", hunt.output.stdout);
    let culprit = &hunt.report["culprits"][0];
    assert!(culprit["confidence"].as_f64().unwrap() > 0.98, "{culprit}");
    assert_eq!(culprit["reference_doubt"], serde_json::Value::Null);
    assert_eq!(culprit["name_doubt"], serde_json::Value::Null);
    assert_eq!(hunt.report["cause"]["revert"], "heals", "{}", hunt.report["cause"]);
}
