//! Whether two commits run the same files, as far as their runs tell.

use crate::evaluation::{CommitId, GuardTarget, Loaded};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::oracle::Sample;

impl Driver<'_> {
    /// Whether runs of both commits are known to have loaded the same files.
    pub(super) fn load_same_files(
        &mut self,
        one: &CommitId,
        other: &CommitId,
        target: &GuardTarget,
    ) -> Result<bool, HuntError> {
        let measures = [target.guard.metric.measure.clone()];
        let one = self.known_runs(one, &measures)?;
        let other = self.known_runs(other, &measures)?;
        Ok(have_same_files(one.of(&measures[0]), other.of(&measures[0])))
    }
}

/// Whether a run of one commit loaded the same files as a run of the other one, as far as known.
fn have_same_files(one: &[Sample], other: &[Sample]) -> bool {
    let is_known = |before: &Loaded| {
        let mut after = other.iter().filter_map(known_files);
        after.any(|after| after.unlike(before).is_empty())
    };
    one.iter().filter_map(known_files).any(is_known)
}

/// What a run loaded; `None` if that is not known, or if it loaded nothing of its commit.
fn known_files(run: &Sample) -> Option<&Loaded> {
    run.loaded.as_ref().filter(|loaded| !loaded.own.is_empty())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::oracle::fixture::ppl;

    /// A run that loaded a program with this digest.
    fn run(digest: &str) -> Sample {
        let own = BTreeMap::from([("build/ppl".to_owned(), digest.to_owned())]);
        Sample { loaded: Some(Loaded { own, ..Loaded::default() }), ..ppl(7.0) }
    }

    #[test]
    fn commits_with_a_run_of_the_same_files_are_the_same_program() {
        assert!(have_same_files(&[run("1"), run("2")], &[run("2")]));
        assert!(!have_same_files(&[run("1")], &[run("2")]));
    }

    #[test]
    fn runs_without_a_record_of_files_tell_nothing() {
        let nothing = Sample { loaded: Some(Loaded::default()), ..ppl(7.0) };
        assert!(!have_same_files(&[ppl(7.0)], &[ppl(7.0)]));
        assert!(!have_same_files(std::slice::from_ref(&nothing), std::slice::from_ref(&nothing)));
    }
}
