use crate::evaluation::Aim;
use crate::report::tests::fixture::{Hunt, culprit, found, id};
use crate::report::words;

use super::*;

/// The sentence about a merge with these files of its own, in a hunt with this aim.
fn said(own: &[&str], aim: Aim) -> Option<String> {
    let mut merge = culprit("Merge branch 'kv'", "src/kv.c");
    merge.parents = vec![id('a'), id('b')];
    merge.own_files = Some(own.iter().map(|path| (*path).to_owned()).collect());
    let mut hunt = Hunt::at_search();
    hunt.end(found(merge));
    let mut report = hunt.report();
    report.options.aim = aim;
    in_words(&report, report.culprit.as_ref()?)
}

#[test]
fn the_files_of_a_merges_own_resolution_are_named() {
    let regression = said(&["src/kv.c", "Makefile"], Aim::Regression).unwrap();
    let expected = "none of its 2 parents shows the regression; it differs from all of them in \
                    src/kv.c, Makefile: `git show dddddddddd` shows these lines";
    assert_eq!(regression, expected);
    let many = said(&["a", "b", "c", "d", "e", "f"], Aim::Fix).unwrap();
    let expected = "none of its 2 parents has the fix; it differs from all of them in a, b, c, d, \
                    and 2 more: `git show dddddddddd` shows these lines";
    assert_eq!(many, expected);
}

#[test]
fn a_merge_without_lines_of_its_own_is_told_from_one_with() {
    let expected = "none of its 2 parents shows the regression, and each of its lines is in one of \
                    them: what the branches do together makes the step";
    assert_eq!(said(&[], Aim::Regression).unwrap(), expected);
}

/// What the report says of a first bad merge with these parents and these changes of its own, after a
/// hunt with `--first-parent`.
fn said_of_first_parent(parents: &str, own: Option<&str>, aim: Aim) -> Option<String> {
    let mut merge = culprit("Merge branch 'kv'", "src/kv.c");
    merge.parents = parents.chars().map(id).collect();
    merge.own_files = own.map(|path| vec![path.to_owned()]);
    let mut hunt = Hunt::at_search();
    hunt.end(found(merge));
    let mut report = hunt.report();
    report.options.aim = aim;
    report.options.first_parent = true;
    in_words(&report, report.culprit.as_ref()?)
}

#[test]
fn of_parents_that_were_not_measured_nothing_is_said() {
    let plain = said_of_first_parent("ca", None, Aim::Regression).unwrap();
    let expected = "with --first-parent the merged branch was not searched; `bisect-ppl start \
                    --good cccccccccc --bad dddddddddd` searches it";
    assert_eq!(plain, expected);
    let own = said_of_first_parent("ca", Some("src/kv.c"), Aim::Fix).unwrap();
    let expected = "with --first-parent the merged branch was not searched; `bisect-ppl start \
                    --find-fix --bad cccccccccc --good dddddddddd` searches it; the merge differs \
                    from all parents in src/kv.c: `git show dddddddddd` shows these lines";
    assert_eq!(own, expected);
    let octopus = said_of_first_parent("cab", None, Aim::Regression).unwrap();
    assert!(octopus.starts_with("with --first-parent the merged branches were not"), "{octopus}");
    assert!(octopus.ends_with("searches them"), "{octopus}");
    assert_eq!(said_of_first_parent("c", None, Aim::Regression), None);
}

#[test]
fn only_a_merge_is_compared_with_its_first_parent_alone() {
    let mut hunt = Hunt::at_search();
    hunt.end(found(culprit("Merge branch 'kv'", "src/kv.c")));
    let mut report = hunt.report();
    let mut first = report.culprit.clone().unwrap();
    let told = |report: &Report, first: &FirstBad| {
        (words::fails(report, first), words::which_parent(report, first))
    };
    report.options.first_parent = true;
    assert_eq!(told(&report, &first), ("Fails where its parents do not", String::new()));
    first.parents.push(id('a'));
    let expected = ("Fails where its first parent does not", " (the first of 2)".to_owned());
    assert_eq!(told(&report, &first), expected);
    report.options.first_parent = false;
    let expected = ("Fails where its parents do not", " (the worst of 2)".to_owned());
    assert_eq!(told(&report, &first), expected);
}

#[test]
fn a_commit_with_one_parent_has_no_such_sentence() {
    let mut hunt = Hunt::at_search();
    hunt.end(found(culprit("kv: pad the cache", "src/kv.c")));
    let report = hunt.report();
    assert_eq!(in_words(&report, report.culprit.as_ref().unwrap()), None);
}
