//! Revisions that name nothing or no commit, and endpoints without a range between them.

use super::{plain, refused};
use crate::kit::{Oracle, Snapshot, TestEnvironment, line};

fn start(env: &TestEnvironment, good: &str, bad: &str) -> String {
    refused(env, &["start", "--good", good, "--bad", bad])
}

#[test]
fn a_name_that_nothing_has() {
    let env = plain("g g b b");
    insta::assert_snapshot!(start(&env, "v9.9", "HEAD"), @r"
    exit code 2
    error: unknown revision `v9.9`
    hint: check the spelling; if it is a tag or a branch of the remote: git fetch --tags, then `git rev-parse v9.9`
    ");
    insta::assert_snapshot!(start(&env, "v1", "nowhere"), @r"
    exit code 2
    error: unknown revision `nowhere`
    hint: check the spelling; if it is a tag or a branch of the remote: git fetch --tags, then `git rev-parse nowhere`
    ");
    insta::assert_snapshot!(refused(&env, &["start", "--good", "v1", "--skip", "nothing"]), @r"
    exit code 2
    error: unknown revision `nothing`
    hint: check the spelling; if it is a tag or a branch of the remote: git fetch --tags, then `git rev-parse nothing`
    ");
    insta::assert_snapshot!(refused(&env, &["measure", "nowhere"]), @r"
    exit code 2
    error: unknown revision `nowhere`
    hint: check the spelling; if it is a tag or a branch of the remote: git fetch --tags, then `git rev-parse nowhere`
    ");
}

#[test]
fn a_commit_that_is_not_in_a_shallow_clone() {
    let env = plain("g g b b");
    let clone = env.path("clone");
    let url = format!("file://{}", env.repo().display());
    env.git(&["clone", "--quiet", "--depth=1", &url, clone.to_str().unwrap()]);
    let config = env.repo().join("oracle.toml");
    let args = ["start", "--good", "v1", "--config", config.to_str().unwrap()];
    insta::assert_snapshot!(super::refused_with(&env, &clone, &args, &[]), @r"
    exit code 2
    error: unknown revision `v1`
    hint: this clone is shallow; fetch the rest: git fetch --unshallow --tags
    ");
}

#[test]
fn a_short_name_that_several_commits_have() {
    let env = TestEnvironment::new();
    line(&"g ".repeat(700)).build(&env);
    Oracle::new(&env).write(&env);
    let all = env.git(&["rev-list", "main"]);
    let mut short: Vec<&str> = all.lines().map(|name| &name[..4]).collect();
    short.sort_unstable();
    let twice = short.windows(2).find(|pair| pair[0] == pair[1]).expect("as birthdays go");
    let said = start(&env, twice[0], "HEAD").replace(twice[0], "[SHORT]");
    let said = regex::Regex::new(r"\[SHORT\][0-9a-f]{6}").unwrap().replace_all(&said, "[COMMIT]");
    insta::assert_snapshot!(said, @r"
    exit code 2
    error: `[SHORT]` is ambiguous; it matches the commits [COMMIT], [COMMIT]
    hint: use more digits of the commit name
    ");
}

#[test]
fn a_tag_of_something_that_is_no_commit() {
    let env = plain("g g b b");
    env.git(&["tag", "a-tree", "HEAD^{tree}"]);
    env.git(&["tag", "-m", "annotated", "a-blob", "HEAD:version"]);
    insta::assert_snapshot!(start(&env, "a-tree", "HEAD"), @r"
    exit code 2
    error: `a-tree` names a tree, not a commit
    hint: name a commit, or a branch or a tag that leads to one
    ");
    insta::assert_snapshot!(start(&env, "v1", "a-blob"), @r"
    exit code 2
    error: `a-blob` names a blob, not a commit
    hint: name a commit, or a branch or a tag that leads to one
    ");
}

#[test]
fn endpoints_that_span_no_history() {
    let env = plain("g g b b");
    insta::assert_snapshot!(start(&env, "HEAD", "v1"), @r"
    exit code 2
    error: good (db6955cd27) is a descendant of bad (317bf99e7c): the endpoints are reversed
    hint: swap --good and --bad, or hunt the commit that mended something with --find-fix
    ");
    insta::assert_snapshot!(start(&env, "main", "HEAD"), @r"
    exit code 2
    error: good and bad are the same commit, db6955cd27683b28e1b537b7efc61a98289c9c7c
    hint: name two different commits for --good and --bad
    ");
    let paths = ["start", "--good", "v1", "--", "no/such/path"];
    insta::assert_snapshot!(refused(&env, &paths), @r"
    exit code 2
    error: no commit between good and bad touches no/such/path
    hint: widen the paths, or leave them out
    ");
    let ignored = Oracle::new(&env).build("ignore = [\"**\"]");
    ignored.write(&env);
    insta::assert_snapshot!(start(&env, "v1", "HEAD"), @r"
    exit code 2
    error: [build] ignore and paths of oracle.toml leave out every commit between good and bad
    hint: choose ends that are further apart; or, if the measured program reads a file that they leave out, correct [build] ignore or paths
    ");
    Oracle::new(&env).write(&env);
    env.git(&["checkout", "--quiet", "--orphan", "other"]);
    env.git(&["commit", "--quiet", "-m", "another beginning"]);
    insta::assert_snapshot!(start(&env, "v1", "other"), @r"
    exit code 2
    error: good (317bf99e7c) and bad (69c2713cfd) have no common ancestor: there is no path between them
    hint: name two commits of one history; in a shallow clone, `git fetch --unshallow` first
    ");
}

#[test]
fn endpoints_within_the_tolerance_end_the_hunt_with_both_figures() {
    let env = plain("7.0 7.5 7.5 7.125");
    let before = Snapshot::of(&env);
    let hunt = env.hunt().expect(4, "no-regression");
    hunt.output.says(&["0.125", "0.2"]);
    assert_eq!(env.runs().len(), 8, "only the endpoints ran");
    before.assert_unchanged(&env);
}

#[test]
fn endpoints_the_wrong_way_round_in_measure_are_no_regression() {
    let env = plain("7.5 7.5 7.0 7.0");
    env.hunt().expect(4, "no-regression").output.says(&["-0.5"]);
}

#[test]
fn a_dependency_to_enter_that_is_none() {
    let env = plain("g g b b");
    Oracle::new(&env).section("[worktree]\ndescend = \"third_party/lib\"").write(&env);
    insta::assert_snapshot!(start(&env, "v1", "HEAD"), @r"
    exit code 2
    error: third_party/lib is neither a submodule nor a folder, at good or at bad
    hint: correct `descend` under [worktree] to the path of a submodule, or of a folder that holds another project's sources, or leave it out
    ");
}
