use super::*;
use crate::git::tests::Fixture;

#[test]
fn quoted_pathspecs_are_read_back() {
    assert_eq!(paths(""), [""; 0]);
    assert_eq!(paths(" '--'\n"), [""; 0]);
    assert_eq!(paths(" '--' '.' ':(exclude)it'\\''s d'\\!'x'\n"), [".", ":(exclude)it's d!x"]);
}

#[test]
fn without_a_session_there_is_no_state() {
    let (fixture, _) = Fixture::line(1);
    assert_eq!(fixture.repository().bisect_state_here().unwrap(), None);
}

#[test]
fn the_users_session_is_read_with_their_words() {
    let (fixture, commits) = Fixture::line(6);
    fixture.git(&["bisect", "start", "--term-old", "fast", "--term-new", "slow"]);
    let state = || fixture.repository().bisect_state_here().unwrap().unwrap();
    assert_eq!((state().range(), state().current), (None, Some(commits[5].clone())));
    fixture.git(&["bisect", "slow"]);
    fixture.git(&["bisect", "fast", "HEAD~5"]);
    assert_eq!(state().terms, ("fast".to_owned(), "slow".to_owned()));
    assert_eq!(state().range(), Some(Range::between(&commits[0], &commits[5])));
    assert_eq!(state().current, Some(fixture.head()));
    assert_eq!(state().end, None);
    fixture.git(&["bisect", "run", "sh", "-c", "[ $(cat n) -lt 4 ]"]);
    assert_eq!(state().end, Some(End::FirstBad(commits[3].clone())));
}

#[test]
fn marks_are_read_from_files_as_git_reads_them() {
    let (fixture, commits) = Fixture::line(9);
    fixture.git(&["bisect", "start", "--no-checkout", "HEAD", "HEAD~8"]);
    for (word, commit) in [("skip", 4), ("good", 2), ("skip", 5), ("good", 1), ("bad", 7)] {
        fixture.git(&["bisect", word, commits[commit].as_str()]);
    }
    let git_dir = fixture.user().join(".git");
    let state = || BisectState::read(&git_dir).unwrap().unwrap();
    let from_files = state();
    assert_eq!((from_files.old.len(), from_files.skipped.len()), (3, 2));
    assert_eq!(from_files.new.as_ref(), Some(&commits[7]));
    fs::write(git_dir.join("refs/bisect/bad.lock"), "").unwrap();
    assert_eq!(marks_in_files(&git_dir).unwrap().len(), 6);
    fs::remove_file(git_dir.join("refs/bisect/bad.lock")).unwrap();
    // Git reads what is not a plain file with a commit.
    fixture.git(&["symbolic-ref", "refs/bisect/skip-z", "refs/heads/main"]);
    assert_eq!(marks_in_files(&git_dir), None);
    assert_eq!(state().skipped.last(), Some(&commits[8]));
    fixture.git(&["update-ref", "--no-deref", "-d", "refs/bisect/skip-z"]);
    fixture.git(&["pack-refs", "--all"]);
    assert_eq!(marks_in_files(&git_dir), None);
    assert_eq!(state(), from_files);
}
