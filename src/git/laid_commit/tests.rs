use std::fs;
use std::path::Path;

use super::*;
use crate::git::command::Call;
use crate::git::tests::{Fixture, git_in, write};
use crate::git::{CheckoutSpec, Layer, OverlayBuilder, OverlayResult, Worktree};

/// What git says about changed files in a checkout, with the exit codes.
fn changes(top: &Path) -> Vec<(i32, String)> {
    let calls: [&[&str]; 6] = [
        &["diff", "--quiet"],
        &["diff", "--quiet", "HEAD"],
        &["diff", "--quiet", "--cached"],
        &["diff-index", "--quiet", "HEAD"],
        &["status", "--porcelain"],
        &["describe", "--tags", "--dirty", "--match", "v1", "--abbrev=0"],
    ];
    let said = calls.map(|args| {
        let output = Call::new(top).args(args).run().unwrap();
        (output.code, output.line())
    });
    said.to_vec()
}

fn clean() -> Vec<(i32, String)> {
    ["", "", "", "", "", "v1"].map(|line| (0, line.to_owned())).to_vec()
}

/// The tree of `to` over the commit `at`.
fn laid(builder: &OverlayBuilder, at: &CommitId, to: &CommitId) -> LaidTree {
    let layer = Layer::Files { from: to.clone(), paths: vec!["src/**".to_owned()] };
    match builder.apply_layers(at, &[layer]).unwrap() {
        OverlayResult::Tree(tree) => tree,
        refused @ OverlayResult::Refused(_) => panic!("{refused:?}"),
    }
}

fn spec(commit: &CommitId, laid: Option<LaidTree>) -> CheckoutSpec {
    CheckoutSpec { commit: commit.clone(), laid, submodules: true, lfs: false }
}

/// A tagged commit, and one that edits a file, deletes a file, adds a file and changes `other`.
fn fixture() -> (Fixture, [CommitId; 2]) {
    let fixture = Fixture::new();
    let files = [("src/edited", "1"), ("src/deleted", "1"), ("other", "1")];
    let first = fixture.commit("first\n\nwith a text", &files);
    fixture.git(&["tag", "v1"]);
    fs::remove_file(fixture.user().join("src/deleted")).unwrap();
    let files = [("src/edited", "2"), ("src/new/added", "2"), ("other", "2")];
    let second = fixture.commit("second", &files);
    (fixture, [first, second])
}

#[test]
fn a_modified_tree_looks_clean_to_git_and_changes_of_a_build_do_not() {
    let (fixture, [first, second]) = fixture();
    let builder = OverlayBuilder::new(&fixture.repository(), &fixture.beside("pending"));
    let path = fixture.beside("slot");
    let mut worktree = Worktree::add_detached(&fixture.repository(), &path, &first).unwrap();
    for (at, to) in [(&first, &second), (&second, &first)] {
        worktree.check_out(spec(at, Some(laid(&builder, at, to)))).unwrap();
        assert_eq!(changes(&path), clean());
        assert_eq!(git_in(&path, &["rev-parse", "HEAD~"]), at.as_str());
        let about = ["log", "-1", "--format=%an %ae %ad %cn %ce %cd %B"];
        let of_commit = [about.as_slice(), &[at.as_str()]].concat();
        assert_eq!(git_in(&path, &about), git_in(&path, &of_commit));
        // A build still finds its own changes, and they are undone.
        write(&path.join("src/edited"), "the build's");
        assert_ne!(changes(&path), clean());
        assert!(worktree.reset().unwrap(), "a tracked file was written");
        assert_eq!(changes(&path), clean());
        // The objects are whole: git reads all of them, in the checkout and in a collection.
        git_in(&path, &["archive", "--output=/dev/null", "HEAD"]);
        fixture.git(&["gc", "--quiet", "--prune=now"]);
        fixture.git(&["fsck", "--strict"]);
        assert_eq!(changes(&path), clean());
    }
    // Nothing of it is left for the next commit.
    worktree.check_out(spec(&second, None)).unwrap();
    assert_eq!(changes(&path), clean());
    assert_eq!(git_in(&path, &["rev-parse", "HEAD"]), second.as_str());
    assert_eq!(git_in(&path, &["ls-files", "-v"]), "H other\nH src/edited\nH src/new/added");
    worktree.remove().unwrap();
    let unreachable = fixture.git(&["log", "--all", "--format=%H"]);
    assert_eq!(unreachable.lines().count(), 2, "no reference leads to our commits");
}

#[test]
fn a_tree_of_the_commits_own_needs_no_other_commit() {
    let (fixture, [first, _]) = fixture();
    let repository = fixture.repository();
    let builder = OverlayBuilder::new(&repository, &fixture.beside("pending"));
    let own = laid(&builder, &first, &first);
    assert_eq!(own.committed(&repository, &first).unwrap(), first);
}

#[test]
fn the_name_of_the_commit_depends_on_its_content_alone() {
    let (fixture, [first, second]) = fixture();
    let repository = fixture.repository();
    let name = |folder: &str| {
        let builder = OverlayBuilder::new(&repository, &fixture.beside(folder));
        laid(&builder, &first, &second).committed(&repository, &first).unwrap()
    };
    assert_eq!(name("one"), name("another"));
}

#[test]
fn a_signature_stays_behind() {
    let commit: CommitId = "1".repeat(40).parse().unwrap();
    let below = b"tree 0\nparent 2\nauthor A <a> 1 +0000\ncommitter B <b> 2 +0000\n\
        gpgsig -----BEGIN\n more\n -----END\nencoding latin1\n\nsubject\n\nauthor \xe4\n";
    let expected = format!(
        "tree 3\nparent {commit}\nauthor A <a> 1 +0000\ncommitter B <b> 2 +0000\n\
         encoding latin1\n\nsubject\n\nauthor "
    );
    let expected = [expected.as_bytes(), b"\xe4\n"].concat();
    assert_eq!(child(below, &commit, "3"), expected);
}
