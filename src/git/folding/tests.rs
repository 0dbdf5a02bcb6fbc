use super::*;
use crate::git::tests::Fixture;

fn twins(paths: &[&str]) -> Option<[String; 2]> {
    let mut names = Names::default();
    let found = paths.iter().try_for_each(|path| names.add(path.as_bytes()));
    match found {
        Ok(()) => None,
        Err(GitError::CheckoutImpossible(CheckoutImpossible::FoldedCase(names))) => {
            Some(names.map(|name| name.display().to_string()))
        }
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn names_that_differ_only_in_case_are_found_in_every_part_of_a_path() {
    let pair = |a: &str, b: &str| Some([a.to_owned(), b.to_owned()]);
    assert_eq!(twins(&["Makefile", "a/makefile", "a/b"]), None);
    assert_eq!(twins(&["Makefile", "x", "makefile"]), pair("Makefile", "makefile"));
    assert_eq!(twins(&["a/Q4/x", "a/q4/y"]), pair("a/Q4", "a/q4"));
    assert_eq!(twins(&["Src", "src/a"]), pair("Src", "src"));
    assert_eq!(twins(&["É", "é"]), pair("É", "é"));
    // A final sigma is the same letter.
    assert_eq!(twins(&["ΟΔΟΣ", "οδοσ"]), pair("ΟΔΟΣ", "οδοσ"));
    assert_eq!(twins(&["straße", "STRASSE"]), None);
}

#[test]
fn a_commit_is_checked_for_names_that_differ_only_in_case() {
    let fixture = Fixture::new();
    let one = fixture.commit("one", &[("a/makefile", ""), ("b/Makefile", "")]);
    let two = fixture.commit("two", &[("a/Makefile", "")]);
    let history = fixture.history();
    history.check_names(&one).unwrap();
    let error = history.check_names(&two).unwrap_err();
    assert!(
        matches!(&error, GitError::CheckoutImpossible(CheckoutImpossible::FoldedCase(_))),
        "{error}"
    );
    assert!(error.hint().unwrap().contains("[worktree]"));
    assert!(!folds_case(&fixture.beside("")).unwrap(), "tests run on a disk that folds case");
}
