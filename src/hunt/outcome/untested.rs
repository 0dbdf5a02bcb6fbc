//! What a hunt without the tests of a change (`--no-localize`) may claim. Nothing shows there that
//! the newer end needs a named commit: if another commit easily gives the same result, a commit
//! that was not measured may have undone the change, and the next one made the same again.

use crate::evaluation::{CommitId, Culprit, Finding, GuardTarget, Outcome, Target, Value};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;

/// Maximum confidence in a commit whose change may have been undone and made again. The number is a
/// convention: nobody knows how often that happens between two measured commits.
const MOST_CERTAIN: f64 = 0.98;

/// Two causes easily give the same number if it has at most this many decimals.
const FEW_DECIMALS: i32 = 3;

impl Driver<'_> {
    /// Lowers the confidence in the named commits whose change was not tested, and whose result
    /// another commit easily gives, if later commits were not measured.
    pub(crate) fn lower_if_untested(&self, mut finding: Finding) -> Result<Finding, HuntError> {
        if self.begun.options.localize
            || finding.outcome != Outcome::Culprit
            || !self.terms().explains_levels()
        {
            return Ok(finding);
        }
        let (targets, _) = self.sought()?;
        let measured = self.measured()?;
        let [_, newer] = self.begun.ends();
        for culprit in &mut finding.culprits {
            if !targets.iter().any(|target| culprit.breaks(target) && is_easily_made(target)) {
                continue;
            }
            let later = self.oracle.history.descending(&culprit.info.commit, newer)?;
            let is_open = |one: &&CommitId| *one != newer && !measured.contains(*one);
            lower(culprit, later.iter().filter(is_open).count());
        }
        Ok(finding)
    }
}

/// Lowers the confidence in a commit if so many later commits were not measured.
fn lower(culprit: &mut Culprit, unmeasured: usize) {
    if unmeasured > 0 {
        culprit.confidence = culprit.confidence.min(MOST_CERTAIN);
        culprit.unmeasured_after = Some(unmeasured);
    }
}

/// Whether two causes easily give the target's result: a failure that gives no reason, or a metric
/// that repeats with a fact or a number of few digits.
fn is_easily_made(target: &Target) -> bool {
    match target {
        Target::Failure { failure, .. } => !failure.is_telling(),
        Target::Guard(target) => target.noise.is_none() && has_few_digits(target),
    }
}

fn has_few_digits(target: &GuardTarget) -> bool {
    let is_short = |value: &Value| {
        value.number().is_none_or(|x| {
            let shifted = x * 10_f64.powi(FEW_DECIMALS);
            !x.is_finite() || (shifted - shifted.round()).abs() < 1e-6
        })
    };
    is_short(&target.baseline) && is_short(&target.bad)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::{FailureKind, GuardForm};
    use crate::oracle::fixture::{culprit, fails_alike, noisy, target, unchanged};

    #[test]
    fn counts_facts_and_short_numbers_are_easily_made_again() {
        let up = GuardForm::MaxIncrease(0.1);
        let is_easy = |good, bad| is_easily_made(&Target::Guard(target(up, good, bad)));
        assert!(is_easy(0.0, 1.0) && is_easy(0.25, 0.375) && is_easy(6.55, f64::NAN));
        assert!(!is_easy(6.2134, 7.5) && !is_easy(6.25, 7.4981));
        assert!(is_easily_made(&Target::Guard(unchanged("384", "128"))));
        assert!(!is_easily_made(&Target::Guard(noisy(up, 6.0, 7.0))));
        assert!(is_easily_made(&fails_alike(None, FailureKind::Crash, "signal 11")));
    }

    #[test]
    fn the_confidence_falls_only_if_a_later_commit_was_not_measured() {
        let mut found = Culprit { confidence: 0.995, ..culprit('5', '4') };
        lower(&mut found, 0);
        assert_eq!((found.confidence, found.unmeasured_after), (0.995, None));
        lower(&mut found, 3);
        assert_eq!((found.confidence, found.unmeasured_after), (MOST_CERTAIN, Some(3)));
    }
}
