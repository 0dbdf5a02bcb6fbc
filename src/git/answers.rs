//! What git said about commits and objects, so that it is not asked again.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ffi::OsString;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::GitError;
use super::command::Call;

/// Longest answer that is remembered, bytes: a long source file, or a list of 25,000 commits.
const LONGEST: usize = 1 << 20;
/// Maximum length of all remembered answers together, bytes. Later answers are not remembered.
const LONGEST_TOGETHER: usize = 64 << 20;

/// The answers of git about one repository, by the arguments of the call. Copies share them. The
/// steps of a hunt ask the same questions, and a call of git costs more than the answer's use.
#[derive(Clone, Debug, Default)]
pub(super) struct Answers(Arc<Mutex<Known>>);

/// The remembered answers.
#[derive(Debug, Default)]
struct Known {
    /// By the arguments of the call.
    answers: BTreeMap<Vec<OsString>, Vec<u8>>,
    /// Length of all answers together, bytes.
    bytes: usize,
}

impl Answers {
    /// What the call prints. All its arguments must be of a kind that the answer never changes:
    /// full names of commits and objects, not branches. The call must read nothing from stdin. An
    /// error is not remembered. An answer longer than what the call keeps is an error, also if it
    /// is known.
    pub(super) fn of(&self, call: Call) -> Result<Vec<u8>, GitError> {
        let asked = call.arguments().to_vec();
        if let Some(said) = self.known().answers.get(&asked).filter(|said| call.keeps(said)) {
            return Ok(said.clone());
        }
        let said = call.ok()?.stdout;
        self.known().remember(asked, &said);
        Ok(said)
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        // After a panic elsewhere, each answer is still whole.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Known {
    fn remember(&mut self, asked: Vec<OsString>, said: &[u8]) {
        let bytes = self.bytes + said.len();
        if said.len() > LONGEST || bytes > LONGEST_TOGETHER {
            return;
        }
        if let Entry::Vacant(place) = self.answers.entry(asked) {
            place.insert(said.to_vec());
            self.bytes = bytes;
        }
    }
}

/// What is remembered makes no difference between two values.
impl PartialEq for Answers {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Eq for Answers {}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::tests::Fixture;

    #[test]
    fn git_is_asked_once_and_again_after_an_error() {
        let (fixture, commits) = Fixture::line(2);
        let (git, away) = (fixture.user().join(".git"), fixture.beside("away"));
        let answers = Answers::default();
        let ask = |commit: &str| {
            answers.clone().of(Call::on(&git).args(["rev-list", "--count", commit, "--"]))
        };
        assert!(ask(&"0".repeat(40)).is_err());
        assert_eq!(ask(commits[1].as_str()).unwrap(), b"2\n");
        std::fs::rename(&git, &away).unwrap();
        std::fs::create_dir(&git).unwrap();
        assert_eq!(ask(commits[1].as_str()).unwrap(), b"2\n", "the repository was not asked");
        assert!(ask(commits[0].as_str()).is_err());
        std::fs::remove_dir(&git).unwrap();
        std::fs::rename(&away, &git).unwrap();
        assert_eq!(ask(commits[0].as_str()).unwrap(), b"1\n");
    }

    #[test]
    fn a_known_answer_that_the_call_would_not_keep_is_an_error_as_before() {
        let (fixture, commits) = Fixture::line(2);
        let git = fixture.user().join(".git");
        let answers = Answers::default();
        let ask = |most| {
            answers.of(Call::on(&git).args(["rev-list", commits[1].as_str(), "--"]).capture(most))
        };
        let whole = ask(82).unwrap();
        assert_eq!(whole.len(), 82);
        assert!(matches!(ask(81), Err(GitError::Unreadable { .. })));
        assert_eq!(ask(82).unwrap(), whole);
    }

    #[test]
    fn long_answers_and_more_than_the_total_are_not_remembered() {
        let mut known = Known::default();
        let name = |number: usize| vec![OsString::from(number.to_string())];
        known.remember(name(0), &vec![0; LONGEST + 1]);
        assert!(known.answers.is_empty());
        known.remember(name(0), b"first");
        known.remember(name(0), b"second");
        assert_eq!((known.answers[&name(0)].as_slice(), known.bytes), (&b"first"[..], 5));
        known.bytes = LONGEST_TOGETHER - 6;
        known.remember(name(1), b"seventh");
        known.remember(name(2), b"sixth.");
        assert_eq!(known.answers.keys().collect::<Vec<_>>(), [&name(0), &name(2)]);
    }
}
