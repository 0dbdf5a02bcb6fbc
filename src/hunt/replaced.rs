//! Whether another commit took the place of the found one: its change is gone, and the newer end
//! shows the same all the same.

use crate::evaluation::{Aim, CommitId, Phase, Target};
use crate::git::Change;
use crate::oracle::{Observation, Request, measures_of};

use super::HuntError;
use super::account::{Ledger, SearchRange};
use super::driver::Driver;
use super::effect::typical;
use super::lasting::Step;

impl Driver<'_> {
    /// Where the change was reverted by the newer end, which is as bad all the same, or is gone
    /// and what the end shows does not tell where that comes from, another commit did it again.
    pub(super) fn doubt_what_is_gone(
        &mut self,
        ledger: &mut Ledger,
        step: &Step<'_>,
        chain: &[CommitId],
    ) -> Result<(), HuntError> {
        let history = &self.oracle.history;
        let [_, newer] = step.search_range.ends();
        let found = &step.culprit.info.commit;
        if found == newer {
            return Ok(());
        }
        let change = history.change(&step.culprit.parent, found)?;
        let is_gone = history.is_gone_in_part(newer, &change);
        if history.is_restored(newer, &change)
            || (is_gone && !tells_by_itself(step.search_range))
            || self.breaks_otherwise(step)?
        {
            ledger.hides(found, chain);
        }
        Ok(())
    }

    /// Where the change was out of the tree for a while, and nothing can be measured there: withdraws
    /// the found commit in favour of it or the commit that brought the change back. `places`: the
    /// first and the last commit without it, and one between them.
    pub(super) fn withdraw_if_masked(
        &mut self,
        ledger: &mut Ledger,
        step: &Step<'_>,
        places: &[CommitId],
        change: &Change,
    ) -> Result<bool, HuntError> {
        let [_, newer] = step.search_range.ends();
        let found = &step.culprit.info.commit;
        let history = &self.oracle.history;
        let [first, last] = [places.first(), places.get(1).or(places.first())];
        let Some((first, last)) = first.zip(last) else { return Ok(false) };
        if !history.is_restored(first, change) || !history.carries_mostly(newer, change) {
            return Ok(false);
        }
        let measures = measures_of(&step.search_range.targets);
        for place in places {
            let look = Request::look(place, &measures, Phase::Search);
            let seen = self.oracle.evaluate(look)?;
            let has_level = |target: &Target| match target {
                Target::Guard(target) => seen.level(&target.guard.metric).is_some(),
                Target::Failure { .. } => true,
            };
            if step.search_range.targets.iter().any(has_level) {
                return Ok(false);
            }
        }
        let Some(back) = self.chain(last, newer)?.into_iter().next() else { return Ok(false) };
        let why = format!(
            "{} puts the change of {} back, which was gone from {} on, and no commit without it can \
             be measured",
            back.short(),
            found.short(),
            first.short(),
        );
        ledger.withdraw(found, &[found.clone(), back], &why);
        Ok(true)
    }

    /// Whether the guard is broken now and then, and by another value at the newer end than at the
    /// found commit: then something changed it since.
    fn breaks_otherwise(&mut self, step: &Step<'_>) -> Result<bool, HuntError> {
        let [_, newer] = step.search_range.ends();
        let found = &step.culprit.info.commit;
        for target in &step.search_range.targets {
            let Target::Guard(target) = target else { continue };
            if step.search_range.aim == Aim::Fix || !target.is_rate() {
                continue;
            }
            let measures = [target.guard.metric.measure.clone()];
            let mut shown = |one: &CommitId| -> Result<Option<f64>, HuntError> {
                let look = Request::look(one, &measures, Phase::Search);
                let seen = self.oracle.evaluate(look)?;
                Ok(typical(&seen, target, true, &self.oracle.config))
            };
            if let (Some(own), Some(end)) = (shown(found)?, shown(newer)?)
                && target.guard.worsening(end, own).abs() > target.limit.max(0.0)
            {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether the found commit shows the very same as the newer end: figures bit for bit, or a
    /// failure that says what it is. Then no other cause is likely to be behind the end's.
    pub(super) fn is_plainly_the_same(&mut self, step: &Step<'_>) -> Result<bool, HuntError> {
        let [_, newer] = step.search_range.ends();
        let targets = &step.search_range.targets;
        let is_telling = |target: &Target| match target {
            Target::Failure { failure, .. } => failure.is_telling(),
            Target::Guard(_) => false,
        };
        Ok(targets.iter().any(is_telling)
            || self.same_levels(targets, &step.culprit.info.commit, newer)?)
    }

    /// Whether a metric that repeats has the very same figures at both commits.
    pub(super) fn same_levels(
        &mut self,
        targets: &[Target],
        one: &CommitId,
        other: &CommitId,
    ) -> Result<bool, HuntError> {
        let measures = measures_of(targets);
        let one = self.oracle.evaluate(Request::look(one, &measures, Phase::Search))?;
        let other = self.oracle.evaluate(Request::look(other, &measures, Phase::Search))?;
        let is_same = |target: &Target| {
            let Target::Guard(target) = target else { return false };
            let metric = &target.guard.metric;
            let bits = |seen: &Observation| seen.readings(&metric.measure).next().cloned();
            target.noise.is_none()
                && one.level(metric).is_some()
                && one.level(metric) == other.level(metric)
                && bits(&one).zip(bits(&other)).is_some_and(|(a, b)| a.same_bits(&b))
        };
        Ok(targets.iter().any(is_same))
    }
}

/// Whether what is hunted is a level, or a failure that says what it is: something that an
/// unrelated change would hardly show alike.
fn tells_by_itself(search_range: &SearchRange) -> bool {
    search_range.targets.iter().any(|target| match target {
        Target::Failure { failure, .. } => failure.is_telling(),
        Target::Guard(target) => {
            !target.is_rate()
                && target.bad.number().is_some_and(|bad| bad.fract().abs() > f64::EPSILON)
        }
    })
}
