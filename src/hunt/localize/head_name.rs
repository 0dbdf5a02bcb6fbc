//! Whether the commit's name alone may make the values: a program may use the name as a seed or a
//! salt. Then each commit shows another value, and the first commit whose value is beyond the
//! tolerance is blamed by chance.
//!
//! No test is needed: if the name made the values, hardly any two commits would show the same one.
//! In an ordinary hunt some commits do, so its confidence stays as it is.

use std::collections::BTreeSet;

use crate::evaluation::{CommitId, Finding, GitQuestion, Outcome, Target, Value};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::hunt::open_doubt::lower_confidence;
use crate::oracle::{Observation, measures_of};

impl Driver<'_> {
    /// The finding, with less confidence in its commits if builds or runs ask for the commit's name
    /// and every measured commit shows another value, where runs repeat bit for bit.
    pub(crate) fn lower_if_values_follow_names(
        &mut self,
        mut finding: Finding,
    ) -> Result<Finding, HuntError> {
        let (targets, _) = self.sought()?;
        if finding.outcome != Outcome::Culprit || !self.values_repeat(&targets) {
            return Ok(finding);
        }
        // The commits are found: a fault of the machine must not lose the answer.
        let seen = self.seen_if_names_matter(&targets);
        let seen = self.unless_faulty(seen)?;
        let named = finding.culprits.len();
        for culprit in &mut finding.culprits {
            let mut metrics = culprit.effects.iter().map(|effect| &effect.metric);
            let is_doubtful = !culprit.effects.is_empty()
                && metrics.all(|metric| {
                    let levels = seen.iter().filter_map(|seen| seen.level(metric));
                    all_differ(&levels.collect::<Vec<_>>(), named)
                });
            if is_doubtful {
                lower_confidence(culprit);
                culprit.doubts.name_doubt = true;
            }
        }
        Ok(finding)
    }

    /// The runs of all measured commits; empty if the newer end does not ask for its name.
    fn seen_if_names_matter(&mut self, targets: &[Target]) -> Result<Vec<Observation>, HuntError> {
        let [older, newer] = self.begun.ends().map(CommitId::clone);
        let asked = self.oracle.asked_git(&newer, targets)?;
        if !asked.contains(&GitQuestion::Name) && !asked.contains(&GitQuestion::Unseen) {
            return Ok(Vec::new());
        }
        let mut commits = self.measured()?;
        commits.extend([older, newer]);
        let measures = measures_of(targets);
        let mut seen = Vec::new();
        for commit in &commits {
            seen.push(self.known_runs(commit, &measures)?);
        }
        // Commits with the same files share their runs, whatever their names are.
        let mut counted = BTreeSet::new();
        seen.retain(|one| {
            let mut attempts = one.samples.values().flatten().map(|sample| sample.attempt.clone());
            attempts.next().is_none_or(|first| counted.insert(first))
        });
        Ok(seen)
    }
}

/// Whether all these levels differ although there are more of them than `named` steps make.
fn all_differ(levels: &[Value], named: usize) -> bool {
    let is_first = |(at, level): (usize, &Value)| !levels[..at].contains(level);
    levels.len() > named + 1 && levels.iter().enumerate().all(is_first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_follow_names_if_there_are_more_of_them_than_steps_and_no_two_are_equal() {
        let differ = |levels: &[f64], named| {
            let levels: Vec<Value> = levels.iter().copied().map(Value::Number).collect();
            all_differ(&levels, named)
        };
        assert!(differ(&[7.0, 7.01, 7.5], 1));
        assert!(!differ(&[7.0, 7.5], 1), "one step makes two levels");
        assert!(!differ(&[7.0, 7.2, 7.5], 2), "two steps make three");
        assert!(!differ(&[7.0, 7.5, 7.0, 7.5], 1));
        assert!(differ(&[7.0, 7.2, 7.21, 7.5], 2));
        assert!(!differ(&[], 1));
    }
}
