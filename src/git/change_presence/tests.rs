use super::*;
use crate::git::tests::Fixture;

/// Writes `first`, then each of `texts` into `a.c`. Returns for each of `texts` whether it carries
/// the change from `first` to `texts[0]`.
fn carried(first: &str, texts: &[&str]) -> Vec<Option<bool>> {
    let fixture = Fixture::new();
    let parent = fixture.commit("first", &[("a.c", first), ("n", "0")]);
    let commits: Vec<CommitId> = (1..)
        .zip(texts)
        .map(|(n, text)| fixture.commit("next", &[("a.c", text), ("n", &n.to_string())]))
        .collect();
    let history = History::open(&fixture.repository()).unwrap();
    let change = history.change(&parent, &commits[0]).unwrap();
    commits.iter().map(|commit| history.contains_change(commit, &change)).collect()
}

#[test]
fn a_revert_takes_a_change_away_and_landing_it_again_brings_it_back() {
    let told = carried("slow();\n", &["fast();\n", "slow();\n", "fast();\n", "fast();\nmore();\n"]);
    assert_eq!(told, [Some(true), Some(false), Some(true), Some(true)]);
}

#[test]
fn a_change_among_others_is_known_by_its_lines() {
    let old = "begin();\nslow();\nend();\n";
    let new = "begin();\nfast();\nend();\n";
    let told = carried(old, &[new, "begin();\nfast();\nelse();\n", "begin();\nslow();\nelse();\n"]);
    assert_eq!(told, [Some(true), Some(true), Some(false)]);
}

#[test]
fn a_revert_restores_a_file_that_other_commits_edited_too() {
    let fixture = Fixture::new();
    let parent = fixture.commit("first", &[("a.c", "begin();\nslow();\nend();\n")]);
    let found = fixture.commit("found", &[("a.c", "begin();\nfast();\nend();\n")]);
    let texts = ["begin();\nslow();\nother();\n", "begin();\nquick();\nother();\n"];
    let [reverted, replaced] = texts.map(|text| fixture.commit("next", &[("a.c", text)]));
    let history = History::open(&fixture.repository()).unwrap();
    let change = history.change(&parent, &found).unwrap();
    let told = |commit: &CommitId| {
        [history.is_restored(commit, &change), history.is_reworked(commit, &change)]
    };
    assert_eq!([told(&reverted), told(&replaced)], [[true, false], [false, true]]);
    assert_eq!([&reverted, &replaced].map(|it| history.put_back(it, &change).len()), [1, 0]);
}

#[test]
fn lines_that_were_only_removed_may_come_back() {
    let told =
        carried("check();\nrun();\n", &["run();\n", "run();\nmore();\n", "check();\nx();\n"]);
    assert_eq!(told, [Some(true), Some(true), Some(false)]);
}

#[test]
fn only_commits_that_touch_its_files_are_looked_at() {
    let fixture = Fixture::new();
    let parent = fixture.commit("first", &[("a.c", "slow();\n")]);
    let found = fixture.commit("found", &[("a.c", "fast();\n")]);
    fixture.commit("other", &[("b.c", "x\n")]);
    let revert = fixture.commit("revert", &[("a.c", "slow();\n")]);
    let last = fixture.commit("other", &[("b.c", "y\n")]);
    let history = History::open(&fixture.repository()).unwrap();
    let change = history.change(&parent, &found).unwrap();
    assert_eq!(history.touching(&found, &last, &change).unwrap(), [revert]);
}

#[test]
fn a_file_that_moved_is_still_there() {
    let fixture = Fixture::new();
    let parent = fixture.commit("first", &[("src/b.c", "copied();\n")]);
    let found =
        fixture.commit("found", &[("src/a.c", "fast();\ntable();\n"), ("c.c", "copied();\n")]);
    let history = History::open(&fixture.repository()).unwrap();
    let change = history.change(&parent, &found).unwrap();
    let [of_a, of_c] = ["src/a.c", "c.c"].map(|path| change.in_file(path));
    let carried = |at: &CommitId| [&of_a, &of_c].map(|change| history.contains_change(at, change));
    let [a, b] = [("src/a.c", "fast();\ntable();\n"), ("src/b.c", "copied();\n")];
    let at = |files: &[(&str, &str)]| {
        fixture.git(&["rm", "-rq", "."]);
        fixture.commit("next", files)
    };
    let renamed = at(&[b, ("src/quick.c", a.1)]);
    assert_eq!(carried(&renamed), [Some(true), Some(false)], "`b.c` was there before");
    assert!(!history.is_restored(&renamed, &of_a) && history.is_restored(&renamed, &of_c));
    let moved = at(&[b, ("lib/a.c", "fast();\nwide();\n")]);
    assert_eq!(carried(&moved), [Some(true), Some(false)]);
    let removed = at(&[b, ("lib/a.c", "slow();\n")]);
    assert_eq!(carried(&removed), [Some(false), Some(false)]);
}

#[test]
fn a_commit_that_rewrites_its_lines_does_not_keep_them() {
    let fixture = Fixture::new();
    let text = |line: &str, end: &str| format!("begin();\n{line}\n{end}\n");
    let commit = |line: &str, end: &str| fixture.commit("next", &[("a.c", &text(line, end))]);
    let parent = commit("slow();", "end();");
    let found = commit("fast();", "end();");
    let elsewhere = commit("fast();", "finish();");
    let rewritten = commit("fast(4);", "finish();");
    let both = commit("fast();", "slow();");
    let history = History::open(&fixture.repository()).unwrap();
    let change = history.change(&parent, &found).unwrap();
    let kept = [&found, &elsewhere, &rewritten, &both, &parent];
    let kept = kept.map(|commit| history.keeps_lines(commit, &change));
    assert_eq!(kept, [true, true, false, false, false]);
}

#[test]
fn a_commit_that_edits_the_lines_of_a_change_is_told_from_one_that_edits_other_lines() {
    let fixture = Fixture::new();
    let text = |line: &str, end: &str| {
        let rest = "one();\ntwo();\nthree();\nfour();\nfive();\nsix();\nseven();\neight();";
        format!("begin();\n{line}\n{rest}\n{end}\n")
    };
    let commit = |line: &str, end: &str| fixture.commit("next", &[("a.c", &text(line, end))]);
    let parent = commit("slow();", "end();");
    let found = commit("fast();", "end();");
    let elsewhere = commit("fast();", "last();");
    let tidied = commit("fast(); // measured", "last();");
    let later = commit("fast(); // measured", "finish();");
    let mended = commit("slow(); // for now", "finish();");
    let beside = commit("slow(); // for now\nzero();", "finish();");
    fixture.git(&["mv", "a.c", "b.c"]);
    let renamed = fixture.commit("renamed", &[]);
    let put = |line: &str, end: &str| fixture.commit("next", &[("b.c", &text(line, end))]);
    let under_the_new_name = put("slow(); // for now\nzero();", "done();");
    let again = put("fast(); // again\nzero();", "done();");
    let all =
        [&elsewhere, &tidied, &later, &mended, &beside, &renamed, &under_the_new_name, &again];
    let all = all.map(CommitId::clone);
    let history = History::open(&fixture.repository()).unwrap();
    let change = history.change_until(&parent, &found, &again).unwrap();
    let editing = history.editing(&all, &change).unwrap();
    assert_eq!(editing, [tidied, mended, beside, again]);
}

#[test]
fn each_commit_that_touches_a_new_file_may_edit_the_change() {
    let fixture = Fixture::new();
    let parent = fixture.commit("first", &[("n", "0")]);
    let found = fixture.commit("found", &[("a.c", "fast();\nend();\n")]);
    let other = fixture.commit("other", &[("n", "1")]);
    let later = fixture.commit("later", &[("a.c", "fast();\nlast();\n")]);
    let history = History::open(&fixture.repository()).unwrap();
    let change = history.change(&parent, &found).unwrap();
    let editing = history.editing(&[other, later.clone()], &change).unwrap();
    assert_eq!(editing, [later]);
}

#[test]
fn the_whole_change_has_each_of_its_files() {
    let fixture = Fixture::new();
    let number = MOST_FILES + 1;
    let named = |text: &str| -> Vec<(String, String)> {
        (0..number).map(|n| (format!("{n:04}.c"), format!("{text}({n});\n"))).collect()
    };
    let commit = |text: &str| {
        let files = named(text);
        let files: Vec<_> = files.iter().map(|(path, text)| (&**path, &**text)).collect();
        fixture.commit("next", &files)
    };
    let (parent, found) = (commit("slow"), commit("fast"));
    let last = fixture.commit("next", &[("0400.c", "slow(400);\n")]);
    let history = History::open(&fixture.repository()).unwrap();
    let whole = history.whole_change(&parent, &found).unwrap();
    assert_eq!(history.contains_change(&last, &whole.in_file("0400.c")), Some(false));
    let cut = history.change(&parent, &found).unwrap();
    assert_eq!(history.contains_change(&last, &cut.in_file("0400.c")), Some(true));
}

#[test]
fn a_merge_that_takes_the_other_sides_file_drops_a_change() {
    let fixture = Fixture::new();
    let parent = fixture.commit("first", &[("a.c", "slow();\n")]);
    fixture.git(&["branch", "side"]);
    let found = fixture.commit("found", &[("a.c", "fast();\nwide();\n")]);
    fixture.git(&["checkout", "--quiet", "side"]);
    fixture.commit("side", &[("a.c", "slow();\nother();\n")]);
    let merge = |text: &str| {
        fixture.git(&["checkout", "--quiet", "--detach", found.as_str()]);
        fixture.git(&["merge", "--quiet", "--no-commit", "--strategy", "ours", "side"]);
        fixture.commit("merge", &[("a.c", text)])
    };
    let [kept, dropped, rewritten] =
        ["fast();\nwide();\n", "slow();\nother();\n", "quick();\nbroad();\n"].map(merge);
    let history = History::open(&fixture.repository()).unwrap();
    let change = history.change(&parent, &found).unwrap();
    let drops = |at: &CommitId| history.drops_change(&found, at, &change).unwrap();
    assert!(!drops(&kept) && drops(&dropped) && !drops(&rewritten));
}

#[test]
fn a_change_is_kept_beside_its_revert_only_if_a_line_of_history_avoids_the_revert() {
    let fixture = Fixture::new();
    let parent = fixture.commit("first", &[("a.c", "slow();\n")]);
    let found = fixture.commit("found", &[("a.c", "fast();\nwide();\n")]);
    let revert = fixture.commit("revert", &[("a.c", "slow();\n")]);
    let again = fixture.commit("again", &[("a.c", "fast();\nwide();\n")]);
    fixture.git(&["branch", "side"]);
    let merge = |text: &str| {
        fixture.git(&["checkout", "--quiet", "--detach", found.as_str()]);
        fixture.commit("other", &[("b.c", "x\n")]);
        fixture.git(&["merge", "--quiet", "--no-commit", "--strategy", "ours", "side"]);
        fixture.commit("merge", &[("a.c", text)])
    };
    let [kept, dropped] = ["fast();\nwide();\n", "slow();\n"].map(merge);
    let history = History::open(&fixture.repository()).unwrap();
    let change = history.change(&parent, &found).unwrap();
    let is_kept = |newer| history.is_kept_beside(&revert, [&found, newer], &change).unwrap();
    assert!(is_kept(&kept) && !is_kept(&again) && !is_kept(&dropped));
}

#[test]
fn a_commit_that_alters_other_files_may_make_a_change_again() {
    let fixture = Fixture::new();
    let parent = fixture.commit("first", &[("a.c", "slow();\n")]);
    let found = fixture.commit("found", &[("a.c", "fast();\nwide();\n")]);
    let rewritten = fixture.commit("next", &[("a.c", "quick();\nbroad();\n")]);
    fixture.git(&["checkout", "--quiet", "--detach", found.as_str()]);
    let replaced = fixture.commit("next", &[("a.c", "other();\n"), ("b.c", "slow too();\n")]);
    let history = History::open(&fixture.repository()).unwrap();
    let change = history.change(&parent, &found).unwrap();
    let is_made_again = |at: &CommitId| history.replaces_elsewhere(&found, at, &change).unwrap();
    assert!(!is_made_again(&rewritten) && is_made_again(&replaced) && !is_made_again(&found));
}

#[test]
fn a_commit_that_moves_the_lines_to_another_file_keeps_a_change() {
    let fixture = Fixture::new();
    let parent = fixture.commit("first", &[("a.c", "slow();\nrest();\n"), ("b.c", "other();\n")]);
    let found = fixture.commit("found", &[("a.c", "fast();\nrest();\n")]);
    let after = |a: &str, b: &str| {
        fixture.git(&["checkout", "--quiet", "--detach", found.as_str()]);
        fixture.commit("next", &[("a.c", a), ("b.c", b)])
    };
    let moved = after("rest();\n", "other();\nfast();\n");
    let written_again = after("rest();\n", "other();\nquick();\n");
    let put_back = after("slow();\nrest();\nmore();\n", "other();\nfast();\n");
    let history = History::open(&fixture.repository()).unwrap();
    let change = history.change(&parent, &found).unwrap();
    let replaces = |at: &CommitId| history.replaces_elsewhere(&found, at, &change).unwrap();
    assert!(!replaces(&moved) && replaces(&written_again) && replaces(&put_back));
}

#[test]
fn a_change_of_layout_alone_is_seen_to_go_and_to_come_back() {
    let around = |head: &str, text: &str| format!("{head}\nfar();\nbegin();\n{text}end();\n");
    for (old, new) in [
        ("  s *= 1.1;\n", "    s *= 1.1;\n"),
        ("step();\nnext();\n", "next();\nstep();\n"),
        ("step();\nnext();\n", "step();\nnext();\nstep();\n"),
        ("n=4\n", "n=2\n"),
    ] {
        let landed = around("v1", new);
        let hot = around("v2 of it", new);
        let reverted = around("v3 of it", old);
        let told = carried(&around("v1", old), &[&landed, &hot, &reverted, &hot]);
        assert_eq!(told, [Some(true), Some(true), Some(false), Some(true)], "{old}{new}");
    }
}

#[test]
fn a_revert_on_the_main_line_counts_although_a_branch_keeps_the_change() {
    let fixture = Fixture::new();
    let parent = fixture.commit("first", &[("a.c", "slow();\n")]);
    let found = fixture.commit("found", &[("a.c", "fast();\n")]);
    fixture.git(&["checkout", "--quiet", "-b", "side"]);
    fixture.commit("side", &[("b.c", "other();\n")]);
    fixture.git(&["checkout", "--quiet", "--detach", found.as_str()]);
    let revert = fixture.commit("revert", &[("a.c", "slow();\n")]);
    let again = fixture.commit("again", &[("a.c", "fast();\nmore();\n")]);
    let merge = |text: &str| {
        fixture.git(&["checkout", "--quiet", "--detach", again.as_str()]);
        fixture.git(&["merge", "--quiet", "--no-commit", "--strategy", "ours", "side"]);
        fixture.commit("merge", &[("a.c", text)])
    };
    let [of_main_line, of_side] = ["fast();\nmore();\n", "fast();\n"].map(merge);
    let history = History::open(&fixture.repository()).unwrap();
    let change = history.change(&parent, &found).unwrap();
    let absences = |newer: &CommitId| {
        let absences = history.commits_without_change(&found, newer, &change).unwrap();
        absences.into_iter().map(|one| (one.before, one.commits)).collect::<Vec<_>>()
    };
    assert_eq!(absences(&of_main_line), [(found.clone(), vec![revert])]);
    assert!(absences(&of_side).is_empty());
}

#[test]
fn a_tree_of_short_lines_may_lack_a_change() {
    let absences = |texts: [&str; 3]| {
        let fixture = Fixture::new();
        let parent = fixture.commit("first", &[("other.c", "other();\n")]);
        let [found, _, next] = texts.map(|text| fixture.commit("step", &[("value", text)]));
        let history = History::open(&fixture.repository()).unwrap();
        let change = history.change(&parent, &found).unwrap();
        assert!(history.commits_without_change(&found, &next, &change).unwrap().is_empty());
        let perhaps = history.commits_perhaps_without_change(&found, &next, &change).unwrap();
        perhaps.into_iter().map(|one| one.commits.len()).collect::<Vec<_>>()
    };
    assert_eq!(absences(["30000\n", "0\n", "1\n"]), [2]);
    assert_eq!(absences(["1\n", "0\n", "1\n"]), [1]);
    assert!(absences(["30000\n", "30000\n40000\n", "20000\n30000\n"]).is_empty());
}
