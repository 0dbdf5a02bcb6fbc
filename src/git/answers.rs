//! What git said about commits, so that it is not asked again.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::GitError;
use super::command::Call;

/// Longest answer that is remembered, bytes: a list of 1,600 commits.
const LONGEST: usize = 64 << 10;

/// The answers of git about one repository, by the arguments of the call. Copies share them. The
/// steps of a hunt ask the same questions, and a call of git costs more than the answer's use.
#[derive(Clone, Debug, Default)]
pub(super) struct Answers(Arc<Mutex<BTreeMap<Vec<OsString>, Vec<u8>>>>);

impl Answers {
    /// What the call prints. All its arguments must be of a kind that the answer never changes:
    /// full names of commits and objects, not branches. An error is not remembered.
    pub(super) fn of(&self, call: Call) -> Result<Vec<u8>, GitError> {
        let asked = call.arguments().to_vec();
        if let Some(said) = self.known().get(&asked) {
            return Ok(said.clone());
        }
        let said = call.ok()?.stdout;
        if said.len() <= LONGEST {
            self.known().insert(asked, said.clone());
        }
        Ok(said)
    }

    fn known(&self) -> MutexGuard<'_, BTreeMap<Vec<OsString>, Vec<u8>>> {
        // After a panic elsewhere, each answer is still whole.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
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
}
