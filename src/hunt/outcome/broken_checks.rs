//! Compares which checks of a test suite fail. The number of failed checks may stay the same while
//! one check is repaired and another one breaks.

use crate::evaluation::{Checks, CommitId, Culprit, Target};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::hunt::range::SearchRange;
use crate::oracle::Observation;

use super::account::Ledger;
use super::hidden_cause::WhyHidden;

impl Driver<'_> {
    /// Marks each named commit as hiding later ones if the output names checks that it broke, and
    /// none of them fails at the newer end; adds to the ledger the checks that no named commit
    /// broke.
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
                ledger.hides(found, &self.chain(found, newer)?, WhyHidden::Repaired);
            }
        }
        self.enter_open_checks(ledger, whole)
    }

    /// Adds to the ledger the checks that fail in every run of the bad end, in no run of the good
    /// end, and that no named commit broke. A check that fails by chance shows no commit.
    fn enter_open_checks(
        &mut self,
        ledger: &mut Ledger,
        whole: &SearchRange,
    ) -> Result<(), HuntError> {
        let [good, bad] = whole.good_and_bad().map(CommitId::clone);
        let culprits: Vec<Culprit> = ledger.named().cloned().collect();
        if culprits.is_empty() {
            return Ok(());
        }
        for target in &whole.targets {
            let Target::Guard(target) = target else { continue };
            let metric = &target.guard.metric;
            let measure = &metric.measure;
            let [_, known] = self.always_and_ever_failed(&good, measure)?;
            let [always, _] = self.always_and_ever_failed(&bad, measure)?;
            let mut open = always.without(&known);
            for culprit in &culprits {
                open = open.without(&self.broken_by(culprit, measure)?);
            }
            if !open.is_empty() {
                ledger.open_checks.insert(metric.clone(), open);
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
            let broken = self.broken_by(culprit, measure)?;
            let [_, end] = self.always_and_ever_failed(newer, measure)?;
            if broken.is_empty() || end.is_empty() {
                continue;
            }
            if broken.overlap(&end) {
                return Ok(false);
            }
            is_other = true;
        }
        Ok(is_other)
    }

    /// The checks that a found commit broke: they fail in each of its runs, and not in each run of
    /// its parent.
    pub(super) fn broken_by(
        &mut self,
        culprit: &Culprit,
        measure: &str,
    ) -> Result<Checks, HuntError> {
        let [before, _] = self.always_and_ever_failed(&culprit.parent, measure)?;
        let [after, _] = self.always_and_ever_failed(&culprit.info.commit, measure)?;
        Ok(after.without(&before))
    }

    /// See [`crate::oracle::Observation::always_and_ever_failed`].
    fn always_and_ever_failed(
        &mut self,
        commit: &CommitId,
        measure: &str,
    ) -> Result<[Checks; 2], HuntError> {
        let seen = self.known_runs(commit, &[measure.to_owned()])?;
        Ok(seen.always_and_ever_failed(measure))
    }
}

impl Ledger {
    /// Drops the open checks that pass in these runs of the newer end without the named commits:
    /// there, they fail because of these commits. For example, a test that a named commit broke was
    /// renamed later.
    pub(super) fn close_checks(&mut self, without: &Observation) {
        self.open_checks.retain(|metric, open| {
            let measure = &metric.measure;
            let ran = without.checks(measure).cloned().unwrap_or_default();
            *open = open.without(&ran.without(&without.failed_checks(measure)));
            !open.is_empty()
        });
    }

    /// Notes the checks that stay open.
    pub(crate) fn note_open_checks(&mut self) {
        let notes = self.open_checks.iter().map(|(metric, open)| {
            format!(
                "{}: no named commit broke these checks, which fail at the bad end: {}",
                metric.measure,
                open.names()
            )
        });
        self.notes.extend(notes);
    }
}
