//! Finds out whether another commit causes what the newer end shows, if the found commit's change
//! is gone there.

use crate::evaluation::{CommitId, GuardTarget, Metric, Reading, Target, exceeds_limit};
use crate::git::Change;
use crate::hunt::HuntError;
use crate::hunt::confirm::effect::typical;
use crate::hunt::driver::Driver;
use crate::hunt::range::SearchRange;
use crate::oracle::{Observation, measures_of};

use super::account::Ledger;
use super::culprit_status::FoundCommit;
use super::found_step::FoundStep;
use super::hidden_cause::WhyHidden;

impl Driver<'_> {
    /// Marks the found commit as hiding later ones if another commit may cause what the newer end
    /// shows. `chain`: the commits after the found one.
    ///
    /// Another commit may be the cause if
    /// - the newer end lacks the change and has one of its files as before the change,
    /// - a part of the change is gone and the target cannot tell two causes apart, or
    /// - the newer end breaks the guard with another value than the found commit.
    pub(crate) fn doubt_what_is_gone(
        &mut self,
        ledger: &mut Ledger,
        step: &FoundStep<'_>,
        chain: &[CommitId],
    ) -> Result<(), HuntError> {
        let history = &self.oracle.history;
        let [_, newer] = step.search_range.ends();
        let found = &step.culprit.info.commit;
        if found == newer {
            return Ok(());
        }
        let change = history.change_until(&step.culprit.parent, found, newer)?;
        let is_gone = history.is_gone_in_part(newer, &change);
        if history.is_restored(newer, &change)
            || (is_gone && !are_specific(&step.search_range.targets))
        {
            ledger.hides(found, &self.beside_or_after(found, newer)?, WhyHidden::GoneAtEnd);
        } else if self.breaks_otherwise(step, chain)? {
            ledger.hides(found, &self.beside_or_after(found, newer)?, WhyHidden::OtherValue);
        }
        Ok(())
    }

    /// If the change was out of the tree for a while and no commit there can be measured, withdraws
    /// the found commit: this commit or the one that brought the change back is the first bad one.
    /// `places`: the first and the last commit without the change, and one between them.
    pub(crate) fn withdraw_if_masked(
        &mut self,
        ledger: &mut Ledger,
        step: &FoundStep<'_>,
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
            let seen = self.known_runs(place, &measures)?;
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
            "{} puts the change of {} back, which was gone from {} on; no commit without that \
             change can be measured",
            back.short(),
            found.short(),
            first.short(),
        );
        ledger.withdraw(found, &[found.clone(), back], why);
        Ok(true)
    }

    /// Withdraws the found commit if a later commit restores files of its change, or takes its
    /// lines out and alters other files, and the level moves there by no more than the tolerance.
    /// The later commit may have removed the step and made another one of about the same size.
    /// `ends`: the later commit's parent, and that commit.
    pub(crate) fn withdraw_if_replaced(
        &mut self,
        ledger: &mut Ledger,
        step: &FoundStep<'_>,
        ends: [&CommitId; 2],
        change: &Change,
    ) -> Result<bool, HuntError> {
        let [before, by] = ends;
        let found = &step.culprit.info.commit;
        let history = &self.oracle.history;
        let puts_back = history.restores_file(before, by, change);
        let takes_out = puts_back || history.replaces_elsewhere(before, by, change)?;
        if !takes_out || !history.parents(by)?.contains(before) {
            return Ok(false);
        }
        let measures = measures_of(&step.search_range.targets);
        let mut levels = Vec::new();
        for one in ends {
            levels.push(self.known_runs(one, &measures)?);
        }
        let [from, to] = &levels[..] else { unreachable!("two commits were looked up") };
        let moves_little = |target: &Target| {
            let Target::Guard(target) = target else { return false };
            let metric = &target.guard.metric;
            let level = |seen: &Observation| seen.level(metric).and_then(|level| level.number());
            let repeats =
                target.noise.is_none() && from.has_majority(metric) && to.has_majority(metric);
            let levels = level(from).zip(level(to));
            repeats
                && levels.is_some_and(|(from, to)| {
                    let change = target.guard.worsening(from, to).abs();
                    change > 0.0 && !exceeds_limit(change, target.limit.max(0.0), [from, to])
                })
        };
        if !step.search_range.targets.iter().any(moves_little) {
            return Ok(false);
        }
        let (name, own) = (by.short(), found.short());
        let does = if puts_back {
            format!("puts files of {own} back")
        } else {
            format!("takes the lines of {own} out")
        };
        let why = format!(
            "{name} {does}, but the level changes there by at most the tolerance: {name} may have \
             made another step of about the size of {own}'s",
        );
        ledger.withdraw(found, &[found.clone(), by.clone()], why);
        Ok(true)
    }

    /// Withdraws the found commit if another found commit takes its lines out of the tree and
    /// alters other files: the other commit's step is what that commit made minus what it undid,
    /// and no measurement separates the two. Not if the other commit puts a file back byte for
    /// byte: then it undid that file's part of the change. `ends`: the other commit's parent, and
    /// the other commit.
    pub(crate) fn withdraw_if_mixed(
        &self,
        ledger: &mut Ledger,
        found: &CommitId,
        ends: [&CommitId; 2],
        change: &Change,
    ) -> Result<bool, HuntError> {
        let [before, by] = ends;
        let is_by = |other: &FoundCommit| other.culprit.info.commit == *by && other.stands();
        let history = &self.oracle.history;
        if !ledger.found().iter().any(is_by)
            || history.restores_file(before, by, change)
            || !history.replaces_elsewhere(before, by, change)?
        {
            return Ok(false);
        }
        let why = format!(
            "{0} takes the lines of {1} out and makes a step itself, so it is not known how much \
             of the step of {1} is left",
            by.short(),
            found.short(),
        );
        ledger.withdraw(found, &[found.clone(), by.clone()], why);
        Ok(true)
    }

    /// Whether a guard is broken in only some runs, and with another value at a later commit than at
    /// the found one. Then a later commit changed the metric, and another one may have changed it
    /// back. `chain`: the commits after the found one; those without runs say nothing.
    fn breaks_otherwise(
        &mut self,
        step: &FoundStep<'_>,
        chain: &[CommitId],
    ) -> Result<bool, HuntError> {
        let [_, newer] = step.search_range.ends();
        let found = &step.culprit.info.commit;
        let known = self.measured()?;
        let later = || chain.iter().filter(|one| known.contains(*one)).chain([newer]);
        for target in &step.search_range.targets {
            let Target::Guard(target) = target else { continue };
            if !step.search_range.explains_levels() || !target.is_rate() {
                continue;
            }
            let measures = [target.guard.metric.measure.clone()];
            let mut shown = |one: &CommitId| -> Result<Option<f64>, HuntError> {
                let seen = self.known_runs(one, &measures)?;
                Ok(typical(&seen, target, true, &self.oracle.recipes.config))
            };
            let Some(own) = shown(found)? else { continue };
            for one in later() {
                let Some(now) = shown(one)? else { continue };
                let moved = target.guard.worsening(now, own).abs();
                if exceeds_limit(moved, target.limit.max(0.0), [now, own]) {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// Whether two causes easily give the same result: the target is a failure, or a metric that
    /// repeats and whose measure gives only facts and whole numbers at the newer end.
    pub(crate) fn has_plain_result(
        &mut self,
        search_range: &SearchRange,
    ) -> Result<bool, HuntError> {
        let [_, newer] = search_range.ends();
        let seen = self.known_runs(newer, &measures_of(&search_range.targets))?;
        let config = &self.oracle.recipes.config;
        Ok(search_range.targets.iter().any(|target| match target {
            Target::Failure { .. } => true,
            Target::Guard(target) => {
                target.failure.is_some()
                    || config.passes_or_fails(&target.guard.metric)
                    || has_plain_values(target, &seen)
            }
        }))
    }

    /// Whether the found commit and the newer end are bit-identical, or the target is a failure
    /// with a specific message. Then another cause is very unlikely. A measure that gives only
    /// facts and whole numbers does not count: two causes easily give the same values.
    pub(crate) fn is_same_result(&mut self, step: &FoundStep<'_>) -> Result<bool, HuntError> {
        let [_, newer] = step.search_range.ends();
        let targets = &step.search_range.targets;
        let is_telling = |target: &Target| match target {
            Target::Failure { failure, .. } => failure.is_telling(),
            Target::Guard(_) => false,
        };
        let seen = self.known_runs(newer, &measures_of(targets))?;
        let is_exact = |target: &&Target| match target {
            Target::Failure { .. } => false,
            Target::Guard(target) => !has_plain_values(target, &seen),
        };
        let exact: Vec<Target> = targets.iter().filter(is_exact).cloned().collect();
        Ok(targets.iter().any(is_telling)
            || self.same_levels(&exact, &step.culprit.info.commit, newer)?)
    }

    /// Whether a metric that repeats has two different levels at two commits.
    pub(crate) fn differ_in_a_level(
        &mut self,
        targets: &[Target],
        one: &CommitId,
        other: &CommitId,
    ) -> Result<bool, HuntError> {
        self.any_repeating(targets, [one, other], |metric, [one, other]| {
            one.level(metric).zip(other.level(metric)).is_some_and(|(one, other)| one != other)
        })
    }

    /// Whether a metric that repeats is bit-identical at both commits.
    pub(crate) fn same_levels(
        &mut self,
        targets: &[Target],
        one: &CommitId,
        other: &CommitId,
    ) -> Result<bool, HuntError> {
        self.any_repeating(targets, [one, other], |metric, [one, other]| {
            let bits = |seen: &Observation| seen.readings(&metric.measure).next().cloned();
            one.level(metric).is_some()
                && one.level(metric) == other.level(metric)
                && bits(one).zip(bits(other)).is_some_and(|(a, b)| a.same_bits(&b))
        })
    }

    /// Whether `is_so` is true of a metric that repeats and of the known runs of two commits.
    fn any_repeating(
        &mut self,
        targets: &[Target],
        commits: [&CommitId; 2],
        is_so: impl Fn(&Metric, [&Observation; 2]) -> bool,
    ) -> Result<bool, HuntError> {
        let measures = measures_of(targets);
        let one = self.known_runs(commits[0], &measures)?;
        let other = self.known_runs(commits[1], &measures)?;
        let mut guards = targets.iter().filter_map(Target::guard);
        Ok(guards
            .any(|target| target.noise.is_none() && is_so(&target.guard.metric, [&one, &other])))
    }
}

/// Whether a metric repeats, and its measure gave only facts and whole numbers in these runs.
fn has_plain_values(target: &GuardTarget, seen: &Observation) -> bool {
    target.noise.is_none() && seen.readings(&target.guard.metric.measure).all(Reading::is_plain)
}

/// Whether one of these targets is a failure with a specific message or a level that is no whole
/// number. An unrelated commit would hardly cause the same.
pub(crate) fn are_specific(targets: &[Target]) -> bool {
    targets.iter().any(|target| match target {
        Target::Failure { failure, .. } => failure.is_telling(),
        Target::Guard(target) => {
            !target.is_rate()
                && target.bad.number().is_some_and(|bad| bad.fract().abs() > f64::EPSILON)
        }
    })
}
