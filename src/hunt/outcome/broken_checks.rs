//! Compares which checks of a test suite fail. A number of failed checks may stay the same while one
//! check is repaired and another one breaks.

use crate::evaluation::{Checks, CommitId, Culprit, Phase, Reading, Target};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::hunt::range::SearchRange;
use crate::oracle::Request;

use super::account::Ledger;

impl Driver<'_> {
    /// Marks each named commit as hiding later ones if checks that it broke are named by the output,
    /// and none of them fails at the newer end; notes the checks that nobody broke.
    pub(crate) fn doubt_repaired_checks(
        &mut self,
        ledger: &mut Ledger,
        whole: &SearchRange,
    ) -> Result<(), HuntError> {
        let [_, newer] = whole.ends();
        // A test that fails by chance says nothing of a commit.
        if !whole.explains_levels() || self.is_flaky {
            return Ok(());
        }
        for culprit in ledger.named().cloned().collect::<Vec<_>>() {
            let found = &culprit.info.commit;
            if found != newer && self.breaks_other_checks(&culprit, newer)? {
                ledger.hides(found, &self.chain(found, newer)?);
            }
        }
        self.note_open_checks(ledger, whole)
    }

    /// Notes the checks that pass at the good end, fail at the bad end, and that no named commit
    /// broke.
    fn note_open_checks(
        &mut self,
        ledger: &mut Ledger,
        whole: &SearchRange,
    ) -> Result<(), HuntError> {
        let [good, bad] = whole.good_and_bad().map(CommitId::clone);
        let culprits: Vec<Culprit> = ledger.named().cloned().collect();
        for target in &whole.targets {
            let Target::Guard(target) = target else { continue };
            let metric = &target.guard.metric;
            let measure = &metric.measure;
            let at_good = self.failed_checks(&good, measure)?;
            let mut open = self.failed_checks(&bad, measure)?.without(&at_good);
            for culprit in &culprits {
                let before = self.failed_checks(&culprit.parent, measure)?;
                let broken = self.failed_checks(&culprit.info.commit, measure)?.without(&before);
                open = open.without(&broken);
            }
            if !open.is_empty() && !culprits.is_empty() {
                ledger.note(format!(
                    "{measure}: no named commit broke these checks, which fail at the bad end: {}",
                    open.names()
                ));
                ledger.open_checks.insert(metric.clone());
            }
        }
        Ok(())
    }

    /// Whether the output names checks that this commit broke, and none of them fails at `newer`.
    fn breaks_other_checks(
        &mut self,
        culprit: &Culprit,
        newer: &CommitId,
    ) -> Result<bool, HuntError> {
        let mut is_other = false;
        for effect in &culprit.effects {
            let measure = &effect.metric.measure;
            let sides = [&culprit.parent, &culprit.info.commit, newer];
            let mut failed = Vec::new();
            for commit in sides {
                failed.push(self.failed_checks(commit, measure)?);
            }
            let [before, after, end] = failed.as_slice() else { continue };
            let broken = after.without(before);
            if broken.is_empty() || end.is_empty() {
                continue;
            }
            if broken.overlap(end) {
                return Ok(false);
            }
            is_other = true;
        }
        Ok(is_other)
    }

    /// The checks that failed in the last run of a measure, if its output names them.
    fn failed_checks(&mut self, commit: &CommitId, measure: &str) -> Result<Checks, HuntError> {
        let measures = [measure.to_owned()];
        let seen = self.oracle.evaluate(Request::look(commit, &measures, Phase::Search))?;
        let last: Option<&Reading> = seen.readings(measure).last();
        Ok(last.map(|reading| reading.failed.clone()).unwrap_or_default())
    }
}
