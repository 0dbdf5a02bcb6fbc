use crate::evaluation::Aim;
use crate::report::tests::fixture::{Hunt, culprit, found, id};

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

#[test]
fn a_commit_with_one_parent_has_no_such_sentence() {
    let mut hunt = Hunt::at_search();
    hunt.end(found(culprit("kv: pad the cache", "src/kv.c")));
    let report = hunt.report();
    assert_eq!(in_words(&report, report.culprit.as_ref().unwrap()), None);
}
