use super::*;
use crate::git::tests::{Fixture, git_in, range};

#[test]
fn names_of_all_kinds_lead_to_the_commit() {
    let (fixture, commits) = Fixture::line(3);
    fixture.git(&["tag", "-a", "v1", "-m", "one", "HEAD~1"]);
    fixture.git(&["tag", "-a", "v1-again", "-m", "a tag of a tag", "v1"]);
    let history = fixture.history();
    for (rev, expected) in [
        ("HEAD", 2),
        ("main", 2),
        ("HEAD~2", 0),
        ("v1", 1),
        ("v1-again", 1),
        (":/step 1", 0),
        (&commits[1].as_str()[..8], 1),
        (commits[0].as_str(), 0),
    ] {
        assert_eq!(history.resolve(rev).unwrap(), commits[expected], "{rev}");
    }
}

#[test]
fn an_unknown_name_is_named_with_a_cure() {
    let (fixture, _) = Fixture::line(1);
    let history = fixture.history();
    for rev in ["v9", "", "--all", "0123456789012345678901234567890123456789"] {
        let error = history.resolve(rev).unwrap_err();
        assert!(matches!(&error, GitError::UnknownRevision { rev: r, .. } if r == rev), "{rev}");
        assert!(error.hint().unwrap().contains("git fetch --tags"));
    }
    let error = history.resolve("HEAD:n").unwrap_err();
    assert_eq!(error.to_string(), "`HEAD:n` names a blob, not a commit");
    let absent = "0123456789012345678901234567890123456789".parse().unwrap();
    assert!(matches!(history.info(&absent), Err(GitError::UnknownCommit { .. })));
}

#[test]
fn a_commit_that_git_removed_is_gone_for_a_history_from_before() {
    let (fixture, _) = Fixture::line(1);
    fixture.git(&["checkout", "--quiet", "-b", "side"]);
    let side = fixture.commit("side", &[("side", "")]);
    fixture.git(&["checkout", "--quiet", "main"]);
    fixture.git(&["repack", "-a", "-d", "--quiet"]);
    let history = fixture.history();
    history.info(&side).unwrap();
    assert!(history.find_gone([&side]).is_none());
    fixture.git(&["branch", "--quiet", "-D", "side"]);
    fixture.git(&["reflog", "expire", "--expire=now", "--expire-unreachable=now", "--all"]);
    fixture.git(&["gc", "--quiet", "--prune=now"]);
    assert!(matches!(history.find_gone([&side]), Some(GitError::Gone { .. })));
}

#[test]
fn the_graph_is_read_as_it_is() {
    let (fixture, line) = Fixture::line(2);
    fixture.git(&["checkout", "--quiet", "-b", "side", "HEAD~1"]);
    let side = fixture.commit("side", &[("side", "")]);
    fixture.git(&["checkout", "--quiet", "main"]);
    fixture.git(&["merge", "--quiet", "--no-ff", "-m", "merge", "side"]);
    let merge = fixture.head();
    let last = fixture.commit("last", &[("n", "9")]);
    fixture.git(&["checkout", "--quiet", "--orphan", "alone"]);
    let alone = fixture.commit("alone", &[]);

    let history = fixture.history();
    assert_eq!(history.parents(&merge).unwrap(), [line[1].clone(), side.clone()]);
    assert!(history.info(&line[0]).unwrap().is_root && !history.info(&side).unwrap().is_root);
    assert!(history.is_ancestor(&side, &last).unwrap());
    assert!(history.is_ancestor(&last, &last).unwrap());
    assert!(!history.is_ancestor(&last, &side).unwrap());
    assert_eq!(history.merge_bases(&line[1], &side).unwrap(), [line[0].clone()]);
    assert_eq!(history.merge_bases(&alone, &last).unwrap(), []);

    let whole = range(&line[0], &last);
    assert_eq!(history.count(&whole).unwrap(), 4);
    let commits = history.commits(&whole).unwrap();
    let lineage = history.lineage(&whole).unwrap();
    assert!(lineage.iter().map(|one| &one.commit).eq(&commits));
    let merged = lineage.iter().find(|one| one.commit == merge).unwrap();
    assert_eq!(merged.parents, [line[1].clone(), side.clone()]);
    assert_eq!(commits[2..], [merge.clone(), last.clone()]);
    assert_eq!(
        history.first_parent_path(&line[0], &last).unwrap(),
        [line[1].clone(), merge.clone(), last.clone()]
    );
    let side_only = Range { paths: vec![":(top,glob)si*".to_owned()], ..whole.clone() };
    assert_eq!(history.commits(&side_only).unwrap(), [side]);
    let without = Range { paths: vec![".".to_owned(), ":(exclude)n".to_owned()], ..whole };
    assert_eq!(history.count(&without).unwrap(), 1);
}

#[test]
fn a_change_that_was_picked_to_both_sides_is_known_on_each() {
    let (fixture, line) = Fixture::line(2);
    fixture.git(&["checkout", "--quiet", "-b", "release", "HEAD"]);
    let fix = fixture.commit("fix", &[("fixed", "1")]);
    let own = fixture.commit("release only", &[("release", "1")]);
    fixture.git(&["checkout", "--quiet", "main"]);
    fixture.commit("main only", &[("other", "1")]);
    let same = fixture.commit("the fix again", &[("fixed", "1")]);
    let last = fixture.commit("last", &[("other", "2")]);
    let history = fixture.history();
    assert_eq!(history.on_both_sides(&own, &last).unwrap(), [same]);
    assert_eq!(history.on_both_sides(&last, &own).unwrap(), [fix]);
    assert_eq!(history.on_both_sides(&line[0], &last).unwrap(), []);
}

#[test]
fn a_side_branch_that_a_merge_drops_touches_its_paths_too() {
    let (fixture, line) = Fixture::line(2);
    fixture.git(&["checkout", "--quiet", "-b", "side", "HEAD~1"]);
    let side = fixture.commit("side", &[("side", "")]);
    let docs = fixture.commit("docs", &[("docs", "")]);
    fixture.git(&["checkout", "--quiet", "main"]);
    fixture.git(&["merge", "--quiet", "--no-ff", "--strategy=ours", "-m", "merge", "side"]);
    let last = fixture.commit("last", &[("n", "9")]);

    let history = fixture.history();
    let paths = vec![":(top)".to_owned(), ":(top,glob,exclude)docs".to_owned()];
    let filtered = Range { paths, ..range(&line[0], &last) };
    assert!(!history.commits(&filtered).unwrap().contains(&side));
    let touching = history.commits_touching(&filtered).unwrap();
    assert!([&side, &line[1], &last].iter().all(|commit| touching.contains(commit)));
    assert!(!touching.contains(&docs));
}

#[test]
fn a_commit_says_who_when_and_what() {
    let (fixture, commits) = Fixture::line(1);
    let info = fixture.history().info(&commits[0]).unwrap();
    assert_eq!(info.subject, "step 1");
    assert_eq!(info.author, "Ada <ada@example.org>");
    assert_eq!(info.date, "2024-05-06T07:08:09+05:30");
    assert_eq!(info.tree, fixture.git(&["rev-parse", "HEAD^{tree}"]));
    assert_eq!(info.tree, fixture.history().tree_id(&commits[0]).unwrap());
}

#[test]
fn text_that_is_no_utf8_is_shown_lossily_and_kept() {
    let fixture = Fixture::new();
    let message = fixture.beside("message");
    std::fs::write(&message, b"caf\xe9 \xff\n\nbody").unwrap();
    let path = message.to_str().unwrap();
    // Without this setting, git converts the bytes from Latin-1.
    fixture.git(&["config", "i18n.commitEncoding", "x-unknown"]);
    fixture.git(&["commit", "--quiet", "--allow-empty", "--cleanup=verbatim", "-F", path]);
    let history = fixture.history();
    assert_eq!(history.info(&fixture.head()).unwrap().subject, "caf\u{fffd} \u{fffd}");
    assert_eq!(history.commit(&fixture.head()).unwrap().subject, b"caf\xe9 \xff");
}

#[test]
fn the_edge_of_a_shallow_clone_is_no_root() {
    let (fixture, commits) = Fixture::line(4);
    let url = format!("file://{}", fixture.user().display());
    git_in(&fixture.beside(""), &["clone", "--quiet", "--depth=2", &url, "shallow"]);
    let repository = Repository::discover(&fixture.beside("shallow")).unwrap();
    let history = History::open(&repository).unwrap();
    let edge = history.info(&commits[2]).unwrap();
    assert!(edge.parents.is_empty() && !edge.is_root);
    let error = history.resolve(commits[0].as_str()).unwrap_err();
    assert!(error.hint().unwrap().contains("--unshallow"), "{error}");
}

#[test]
fn partial_clones_and_worktree_configuration_are_read() {
    let (fixture, commits) = Fixture::line(4);
    fixture.git(&["config", "uploadpack.allowFilter", "true"]);
    fixture.git(&["config", "uploadpack.allowAnySHA1InWant", "true"]);
    let url = format!("file://{}", fixture.user().display());
    let args = ["clone", "--quiet", "--no-checkout", "--filter=tree:0", &url, "partial"];
    git_in(&fixture.beside(""), &args);
    let partial = fixture.beside("partial");
    git_in(&partial, &["config", "extensions.worktreeConfig", "true"]);
    let history = History::open(&Repository::discover(&partial).unwrap()).unwrap();
    assert_eq!(history.parents(&commits[3]).unwrap(), [commits[2].clone()]);
    // Git fetches trees and blobs that the clone left out when they are needed.
    assert!(history.file_contains(&commits[1], "n", "2").unwrap());
    let changes = history.diff_files(Some(&commits[1]), &commits[2]).unwrap();
    assert_eq!((changes[0].added, changes[0].removed), (Some(1), Some(1)));
}
