use std::fs;

use crate::evaluation::CommitId;
use crate::git::tests::{Fixture, git_in, listing, write};
use crate::git::{
    CheckoutSpec, Conflicts, GitError, History, Layer, MergedTree, OverlayBuilder, OverlayResult,
    Worktree,
};

/// Commit 0 has no bench and no fix; 1 has a bench of two files; 2 has another bench.
fn fixture() -> (Fixture, [CommitId; 3]) {
    let fixture = Fixture::new();
    let old = fixture.commit("old", &[("src/a", "1\n"), ("bench/old", "x")]);
    let bench = fixture.commit("bench", &[("bench/run", "one"), ("bench/in/put", "p")]);
    fs::remove_file(fixture.user().join("bench/old")).unwrap();
    let new = fixture.commit("new", &[("bench/run", "two"), ("src/a", "2\n")]);
    (fixture, [old, bench, new])
}

fn overlay_builder(fixture: &Fixture) -> OverlayBuilder {
    OverlayBuilder::new(&fixture.repository(), &fixture.beside("pending: here"))
}

fn files(from: &CommitId, path: &str) -> Layer {
    Layer::Files { from: from.clone(), paths: vec![path.to_owned()] }
}

fn patch(fixture: &Fixture, text: &str) -> Layer {
    let file = fixture.beside("fix.diff");
    fs::write(&file, text).unwrap();
    Layer::Patch { name: "fix.diff".to_owned(), digest: text.to_owned(), file }
}

const ONE_TO_THREE: &str = "--- a/src/a\n+++ b/src/a\n@@ -1 +1 @@\n-1\n+3\n";

#[test]
fn a_folder_becomes_exactly_the_other_revisions_and_the_users_repository_stays_as_it_was() {
    let (fixture, [old, _, new]) = fixture();
    let before = fixture.snapshot();
    let overlay_builder = overlay_builder(&fixture);
    let laid = overlay_builder.apply_layers(&old, &[files(&new, "bench/**")]).unwrap();
    let path = fixture.beside("slot");
    let mut worktree = Worktree::add_detached(&fixture.repository(), &path, &old).unwrap();
    let checkout_spec = CheckoutSpec {
        commit: old.clone(),
        laid: laid.tree().cloned(),
        submodules: true,
        lfs: false,
    };
    worktree.check_out(checkout_spec.clone()).unwrap();
    let expected = ["bench/in/put", "bench/run", "src/a"];
    assert_eq!(listing(&path), expected);
    assert_eq!(fs::read_to_string(path.join("bench/run")).unwrap(), "two");
    assert_eq!(fs::read_to_string(path.join("src/a")).unwrap(), "1\n");
    // A build's changes to these files are undone; untracked files stay.
    write(&path.join("bench/run"), "scribbled");
    write(&path.join("bench/old"), "built");
    fs::remove_file(path.join("bench/in/put")).unwrap();
    let again = Worktree::with_checkout(&fixture.repository(), &path, checkout_spec).unwrap();
    again.reset().unwrap();
    assert_eq!(fs::read_to_string(path.join("bench/run")).unwrap(), "two");
    assert_eq!(listing(&path), ["bench/in/put", "bench/old", "bench/run", "src/a"]);
    // HEAD is on top of the commit, and has these files.
    assert_eq!(git_in(&path, &["rev-parse", "HEAD~"]), old.as_str());
    assert_eq!(git_in(&path, &["ls-tree", "-r", "--name-only", "HEAD"]), expected.join("\n"));
    // And back to a commit's own tree.
    worktree.checkout(&old, true).unwrap();
    assert_eq!(listing(&path), ["bench/old", "src/a"]);
    worktree.remove().unwrap();
    assert_eq!(fixture.snapshot(), before);
}

#[test]
fn modified_trees_with_the_same_content_have_the_same_name() {
    let (fixture, [old, bench, new]) = fixture();
    let overlay_builder = overlay_builder(&fixture);
    let id = |commit, layers: &[Layer]| overlay_builder.apply_layers(commit, layers).unwrap().id();
    let of = |history: &History, commit| history.tree_id(commit).unwrap();
    let history = fixture.history();
    assert_eq!(id(&new, &[files(&new, "bench/**")]), of(&history, &new));
    assert_eq!(id(&old, &[files(&new, "**")]), of(&history, &new));
    assert_ne!(id(&old, &[files(&bench, "bench/**")]), id(&old, &[files(&new, "bench/**")]));
    // Files that the older revision lacks are gone.
    assert_eq!(id(&new, &[files(&bench, "**")]), of(&history, &bench));
}

#[test]
fn a_pin_is_exchanged_below_everything_else() {
    let (fixture, [old, ..]) = fixture();
    let overlay_builder = overlay_builder(&fixture);
    let pin =
        |digit: &str| Layer::Pin { path: "lib".into(), to: digit.repeat(40).parse().unwrap() };
    let id = |layers: &[Layer]| overlay_builder.apply_layers(&old, layers).unwrap().id();
    assert_ne!(id(&[pin("1")]), id(&[pin("2")]));
    // The tree equals that of a commit with this pin.
    fixture.git(&["checkout", "--quiet", "--detach", old.as_str()]);
    let entry = format!("160000,{},lib", "1".repeat(40));
    fixture.git(&["update-index", "--add", "--cacheinfo", &entry]);
    fixture.git(&["commit", "--quiet", "-m", "pinned"]);
    let tree = fixture.git(&["rev-parse", "HEAD^{tree}"]);
    let pinned: CommitId = fixture.git(&["rev-parse", "HEAD"]).trim().parse().unwrap();
    assert_eq!(overlay_builder.apply_layers(&pinned, &[pin("1")]).unwrap().id(), tree.trim());
    assert_eq!(id(&[pin("1")]), tree.trim());
    fixture.git(&["checkout", "--quiet", "--force", "main"]);
}

#[test]
fn a_patch_is_applied_passed_over_or_refused() {
    let (fixture, [old, bench, new]) = fixture();
    let overlay_builder = overlay_builder(&fixture);
    let fix = patch(&fixture, ONE_TO_THREE);
    let done = fixture.commit("the same by hand", &[("src/a", "3\n")]);
    let history = fixture.history();
    assert_eq!(
        overlay_builder.apply_layers(&done, std::slice::from_ref(&fix)).unwrap().id(),
        history.tree_id(&done).unwrap()
    );
    let OverlayResult::Tree(fixed) =
        overlay_builder.apply_layers(&old, std::slice::from_ref(&fix)).unwrap()
    else {
        panic!()
    };
    assert_ne!(fixed.id(), history.tree_id(&old).unwrap());
    let OverlayResult::Refused(refusal) =
        overlay_builder.apply_layers(&new, std::slice::from_ref(&fix)).unwrap()
    else {
        panic!()
    };
    assert_eq!(refusal.what, crate::git::OverlayFailureCause::Patch("fix.diff".to_owned()));
    assert!(refusal.said.contains("src/a"), "{}", refusal.said);
    // Another tree or another patch gives another refusal.
    let other = patch(&fixture, &ONE_TO_THREE.replace("+3", "+4"));
    let of_other = overlay_builder.apply_layers(&new, &[other]).unwrap().id();
    assert_ne!(of_other, refusal.id());
    // Files of other revisions are applied on top of a patch.
    let bench = files(&bench, "src/**");
    assert_eq!(
        overlay_builder.apply_layers(&old, &[fix, bench]).unwrap().id(),
        history.tree_id(&old).unwrap()
    );
}

#[test]
fn what_a_commit_changes_can_be_applied_elsewhere() {
    let (fixture, [old, ..]) = fixture();
    let binary = fixture.beside("user repo/blob");
    fs::write(&binary, [0, 159, 146, 150]).unwrap();
    let brings = fixture.commit("binary", &[]);
    let history = fixture.history();
    let diff = history.as_patch(&brings).unwrap();
    history.check_patch("it", &diff).unwrap();
    let file = fixture.beside("it.diff");
    fs::write(&file, diff).unwrap();
    let layer = Layer::Patch { name: "it".to_owned(), digest: String::new(), file };
    let laid = overlay_builder(&fixture).apply_layers(&old, &[layer]).unwrap();
    assert!(laid.tree().is_some(), "{laid:?}");
    assert!(!history.as_patch(&old).unwrap().is_empty(), "a first commit brings all it has");
    for (bytes, said) in [(&b"hello\n"[..], "No valid patches"), (b"", "No valid patches")] {
        let error = history.check_patch("x.diff", bytes).unwrap_err();
        assert!(matches!(&error, GitError::NotAPatch { .. }) && error.is_usage());
        assert!(error.to_string().contains(said), "{error}");
    }
}

#[test]
fn a_patch_of_code_that_repeats_itself_is_applied_at_its_own_place() {
    let fixture = Fixture::new();
    let block = |value: &str| format!("begin\n1\n2\n3\n{value}\n4\n5\n6\nend\n");
    let text = |values: [&str; 2]| values.map(block).concat();
    let commit = |values| fixture.commit("blocks", &[("a.c", text(values).as_str())]);
    let good = commit(["old", "old"]);
    let bad = commit(["new", "old"]);
    let other = commit(["old", "new"]);
    let revert = fixture.git(&["diff", "--full-index", bad.as_str(), good.as_str()]);
    let tree = |commit: &CommitId| {
        fixture.git(&["rev-parse", &format!("{commit}^{{tree}}")]).trim().to_owned()
    };
    // In `other`, the second block has the text that the patch replaces in the first one.
    for (at, expected) in [(&bad, &good), (&good, &good), (&other, &other)] {
        let layers = [patch(&fixture, &format!("{revert}\n"))];
        let laid = overlay_builder(&fixture).apply_layers(at, &layers).unwrap();
        let laid = laid.tree().map_or_else(|| tree(at), |tree| tree.id().to_owned());
        assert_eq!(laid, tree(expected), "{at}");
    }
}

#[test]
fn a_change_comes_out_under_a_later_name_and_in_place_of_lines_that_were_edited_later() {
    let fixture = Fixture::new();
    let text = |line: &str| format!("1\n2\n3\n{line}\n4\n5\n6\n");
    let parent = fixture.commit("parent", &[("a", &text("old"))]);
    let found = fixture.commit("found", &[("a", &text("new"))]);
    fixture.git(&["mv", "a", "b"]);
    let renamed = fixture.commit("renamed", &[]);
    let edited = fixture.commit("edited", &[("b", &text("new\nnewer"))]);
    let without = fixture.commit("without", &[("b", &text("old"))]);
    let history = fixture.history();
    let builder = overlay_builder(&fixture);
    builder.apply_layers(&edited, &[]).unwrap();
    let tree = |commit: &CommitId| history.tree_id(commit).unwrap();
    let merged = |end: &CommitId, conflicts| {
        builder.merged(&tree(end), &[[tree(&found), tree(&parent)]], conflicts).unwrap()
    };
    assert_eq!(merged(&renamed, Conflicts::Stay), MergedTree::Tree(tree(&without)));
    assert_eq!(merged(&edited, Conflicts::Stay), MergedTree::Conflict);
    assert_eq!(merged(&edited, Conflicts::Replaced), MergedTree::Tree(tree(&without)));
    // Removed and added again, the change leaves its own lines there, without the later ones.
    let [with, before] = [tree(&found), tree(&parent)];
    let changes = [[with.clone(), before.clone()], [before, with]];
    let own = builder.merged(&tree(&edited), &changes, Conflicts::Replaced).unwrap();
    assert_eq!(own, MergedTree::Tree(tree(&renamed)));
}

#[test]
fn an_added_file_that_was_edited_later_comes_out_only_with_the_edits() {
    let fixture = Fixture::new();
    let text = |line: &str| format!("1\n2\n3\n{line}\n4\n5\n6\n");
    let parent = fixture.commit("parent", &[("a", "a\n")]);
    let found = fixture.commit("found", &[("b", &text("bad"))]);
    let end = fixture.commit("edited", &[("b", &text("good"))]);
    let history = fixture.history();
    let builder = overlay_builder(&fixture);
    builder.apply_layers(&end, &[]).unwrap();
    let tree = |commit: &CommitId| history.tree_id(commit).unwrap();
    let [with, before] = [tree(&found), tree(&parent)];
    let removal = [[with.clone(), before.clone()]];
    let merged = |end: &CommitId, changes: &[[String; 2]], conflicts| {
        builder.merged(&tree(end), changes, conflicts).unwrap()
    };
    assert_eq!(merged(&end, &removal, Conflicts::Stay), MergedTree::Conflict);
    assert_eq!(merged(&end, &removal, Conflicts::LinesReplaced), MergedTree::Conflict);
    let without = MergedTree::Tree(before.clone());
    assert_eq!(merged(&end, &removal, Conflicts::Replaced), without);
    // Removed and added again, the file is as it was added.
    let changes = [[with.clone(), before.clone()], [before.clone(), with.clone()]];
    assert_eq!(merged(&end, &changes, Conflicts::Replaced), MergedTree::Tree(with.clone()));
    // A file that the tree deleted and that the merged change edits stays a conflict.
    let edit = [[with, tree(&end)]];
    assert_eq!(merged(&parent, &edit, Conflicts::Replaced), MergedTree::Conflict);
}

#[test]
fn a_merge_driver_of_the_commits_is_not_used() {
    // `union` keeps the line that the removal takes out, beside the edited neighbours.
    let fixture = Fixture::new();
    let parent =
        fixture.commit("parent", &[(".gitattributes", "* merge=union\n"), ("a", "1\n3\n")]);
    let found = fixture.commit("found", &[("a", "1\n2\n3\n")]);
    let end = fixture.commit("end", &[("a", "1!\n2\n3!\n")]);
    let history = fixture.history();
    let builder = overlay_builder(&fixture);
    builder.apply_layers(&end, &[]).unwrap();
    let tree = |commit: &CommitId| history.tree_id(commit).unwrap();
    let removal = [tree(&found), tree(&parent)];
    let text = builder.difference(&removal[0], &removal[1]).unwrap();
    let removed = patch(&fixture, &String::from_utf8(text).unwrap());
    let laid = builder.apply_layers(&end, &[removed]).unwrap();
    assert!(matches!(laid, OverlayResult::Refused(_)), "{laid:?}");
    let merged = builder.merged(&tree(&end), &[removal], Conflicts::Stay).unwrap();
    assert_eq!(merged, MergedTree::Conflict);
}

#[test]
fn a_merge_that_lacks_a_file_is_no_conflict() {
    let fixture = Fixture::new();
    let text = |line: &str| format!("1\n2\n3\n{line}\n4\n5\n6\n");
    let parent = fixture.commit("parent", &[("a", &text("old"))]);
    let found = fixture.commit("found", &[("a", &text("new"))]);
    let end = fixture.commit("end", &[("a", &format!("0\n{}", text("new")))]);
    let history = fixture.history();
    let builder = overlay_builder(&fixture);
    builder.apply_layers(&end, &[]).unwrap();
    let tree = |commit: &CommitId| history.tree_id(commit).unwrap();
    let change = [[tree(&found), tree(&parent)]];
    let merged = || builder.merged(&tree(&end), &change, Conflicts::Stay).unwrap();
    assert!(matches!(merged(), MergedTree::Tree(_)));
    let blob = fixture.git(&["rev-parse", &format!("{end}:a")]);
    let (folder, file) = blob.trim().split_at(2);
    let object = fixture.user().join(".git/objects").join(folder).join(file);
    fs::remove_file(object).unwrap();
    match merged() {
        MergedTree::Failed(why) => assert!(why.contains("lacks a file of the merge"), "{why}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_cannot_be_laid_is_refused_by_name() {
    let (fixture, [old, ..]) = fixture();
    let history = fixture.history();
    history.check_layer(&old, &["bench/**".to_owned(), "src/?".to_owned()]).unwrap();
    let error = history.check_layer(&old, &["bench/**".to_owned(), "*.c".to_owned()]).unwrap_err();
    assert!(matches!(&error, GitError::NothingToLay { path, .. } if path == "*.c"), "{error}");
    assert!(error.is_usage() && error.hint().unwrap().contains("ls-tree"));
}

impl OverlayResult {
    /// The tree, unless the layers do not fit.
    pub(crate) fn tree(&self) -> Option<&crate::git::LaidTree> {
        match self {
            Self::Tree(tree) => Some(tree),
            Self::Refused(_) => None,
        }
    }
}
