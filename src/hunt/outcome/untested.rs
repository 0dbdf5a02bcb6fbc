//! What a hunt without the tests of a change (`--no-localize`) may claim. Nothing shows there that
//! the newer end needs a named commit: a commit that was not measured may have undone the change,
//! and the next one made the same again. Equal values with many digits do not exclude this: the
//! same cause gives the same digits.

use crate::evaluation::{CommitId, Culprit, Finding, Outcome};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;

/// Maximum confidence in a commit whose change may have been undone and made again. The number is a
/// convention: nobody knows how often that happens between two measured commits.
const MOST_CERTAIN: f64 = 0.98;

impl Driver<'_> {
    /// Lowers the confidence in the named commits whose change was not tested, if later commits
    /// were not measured.
    pub(crate) fn lower_if_untested(&self, mut finding: Finding) -> Result<Finding, HuntError> {
        if self.begun.options.localize
            || finding.outcome != Outcome::Culprit
            || !self.terms().explains_levels()
        {
            return Ok(finding);
        }
        let measured = self.measured()?;
        let [_, newer] = self.begun.ends();
        for culprit in &mut finding.culprits {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle::fixture::culprit;

    #[test]
    fn the_confidence_falls_only_if_a_later_commit_was_not_measured() {
        let mut found = Culprit { confidence: 0.995, ..culprit('5', '4') };
        lower(&mut found, 0);
        assert_eq!((found.confidence, found.unmeasured_after), (0.995, None));
        lower(&mut found, 3);
        assert_eq!((found.confidence, found.unmeasured_after), (MOST_CERTAIN, Some(3)));
    }
}
