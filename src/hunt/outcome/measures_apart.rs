//! A search that only some measures cannot decide. If one measure fails at the commits in question
//! and another one has values there, each is searched alone: the failure of one says nothing about
//! the guards of the other.

use crate::evaluation::{CommitId, Target};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::hunt::range::SearchRange;
use crate::oracle::{Observation, measures_of};

impl Driver<'_> {
    /// The search range once for each measure of its targets, if one of these untestable commits
    /// has values of a measure. Empty if there is only one measure, or if none has a value there.
    /// `commits`: the newest of them may be testable.
    pub(crate) fn ranges_of_each_measure(
        &mut self,
        search_range: &SearchRange,
        commits: &[CommitId],
    ) -> Result<Vec<SearchRange>, HuntError> {
        let measures = measures_of(&search_range.targets);
        if measures.len() < 2 {
            return Ok(Vec::new());
        }
        let mut seen = Vec::new();
        for commit in commits {
            seen.push(self.known_runs(commit, &measures)?);
        }
        if !is_measured_in_part(&seen, &measures) {
            return Ok(Vec::new());
        }
        let alone = |measure: &String| SearchRange {
            targets: of_measure(&search_range.targets, measure),
            ..search_range.clone()
        };
        Ok(measures.iter().map(alone).collect())
    }
}

/// Whether one of these commits has values of some of the measures and failed runs of others.
fn is_measured_in_part(seen: &[Observation], measures: &[String]) -> bool {
    seen.iter().any(|one| {
        let has_values = |measure: &String| one.readings(measure).next().is_some();
        let lacks_values = |measure: &String| !one.of(measure).is_empty() && !has_values(measure);
        measures.iter().any(has_values) && measures.iter().any(lacks_values)
    })
}

/// The targets of one measure.
fn of_measure(targets: &[Target], measure: &str) -> Vec<Target> {
    let is_its = |target: &&Target| measures_of(std::slice::from_ref(*target)) == [measure];
    targets.iter().filter(is_its).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::{FailureKind, GuardForm};
    use crate::oracle::fixture::{at, failed, seen, target, unchanged};

    #[test]
    fn each_measure_is_searched_alone_where_only_one_fails() {
        let measures = ["ppl", "speed"].map(str::to_owned);
        let crash = || seen('5', "ppl", [failed(FailureKind::Crash, "signal")]);
        let mut in_part = crash();
        in_part.samples.extend([("speed".to_owned(), at('5', &[3.0]).samples["ppl"].clone())]);
        assert!(is_measured_in_part(&[crash(), in_part], &measures));
        assert!(!is_measured_in_part(&[crash()], &measures));
        // The other measure was not run there.
        assert!(!is_measured_in_part(&[at('5', &[7.0])], &measures));
    }

    #[test]
    fn a_range_of_one_measure_has_its_targets() {
        let ppl = Target::Guard(target(GuardForm::MaxIncrease(0.1), 7.0, 7.5));
        let targets = [ppl.clone(), Target::Guard(unchanged("384", "128"))];
        assert_eq!(of_measure(&targets, "ppl"), [ppl]);
    }
}
