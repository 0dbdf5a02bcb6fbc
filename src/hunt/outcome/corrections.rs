//! Corrects what the hunt found earlier: later runs may refute a mend, and a later found commit may
//! restore files that a found commit changed.

use std::collections::BTreeSet;

use crate::evaluation::{Account, Basis, CommitId, Culprit, Effect, Metric, Target, Value};
use crate::git::CommitsWithoutChange;
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::hunt::range::SearchRange;
use crate::oracle::measures_of;
use crate::stats;

use super::account::Ledger;
use super::culprit_status::{CulpritStatus, Mend};
use super::hidden_cause::WhyHidden;
use super::lineage::Lineage;
use super::mean_level::{MOST_RUNS, MeanLevel, has_varying_levels};

/// In noise: the bad end must be worse than the good side of a named step by this many standard
/// errors.
const SURE_OF_END: f64 = 2.0;
/// Maximum number of files of a change that are looked at, of those that are as before the change
/// again.
const MOST_PUT_BACK: usize = 400;

/// What the newer end shows of a found commit's step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EndShows {
    Step,
    /// It is surely better than the commit's parent.
    Better,
    /// The runs do not tell.
    Open,
}

impl Driver<'_> {
    /// Drops mends that later runs refute: the metric is worse than at the good end, and does not
    /// change between the commit of the mend and the hunt's newer end. A mend rests on few runs;
    /// the search after it made more runs of its commit.
    pub(crate) fn doubt_mends_at(
        &mut self,
        ledger: &mut Ledger,
        search_range: &SearchRange,
    ) -> Result<(), HuntError> {
        let [mended, newer] = search_range.ends();
        if newer != self.begun.ends()[1] {
            return Ok(());
        }
        for target in &search_range.targets {
            let Target::Guard(target) = target else { continue };
            let metric = &target.guard.metric;
            let seen = self.known_runs(mended, std::slice::from_ref(&metric.measure))?;
            let level = if target.noise.is_some_and(|noise| !noise.kind.is_rate()) {
                stats::winsorised_mean(&seen.numbers(metric))
            } else {
                // A mean would lie between two values that alternate.
                seen.level(metric).and_then(|level| level.number())
            };
            let left = level.and_then(|level| ledger.beyond_good(metric, level));
            if left.is_some_and(|left| left > target.limit) {
                ledger.refute_mends(mended, metric);
            }
        }
        self.settle_account(ledger)
    }

    /// Marks each named commit as hiding later ones if the hunt's newer end has a file as it was
    /// before that commit, and what is left of the change may be innocent.
    pub(crate) fn doubt_what_the_end_lacks(
        &mut self,
        ledger: &mut Ledger,
        whole: &SearchRange,
    ) -> Result<(), HuntError> {
        for culprit in ledger.named().cloned().collect::<Vec<_>>() {
            if let Some(until) = self.may_be_made_again(ledger, whole, &culprit)? {
                let found = &culprit.info.commit;
                ledger.hides(found, &self.chain(found, &until)?, WhyHidden::PutBack);
            }
        }
        Ok(())
    }

    /// In noise, gives the account the levels of all runs of both ends. The first levels rest on
    /// the few runs of the calibration; the search has made more.
    pub(crate) fn refresh_levels(&mut self, ledger: &mut Ledger) -> Result<(), HuntError> {
        let ends = [&self.begun.good.commit, &self.begun.bad.commit].map(CommitId::clone);
        for target in &mut ledger.targets {
            let Target::Guard(target) = target else { continue };
            let varies = has_varying_levels(target);
            let Some(noise) = target.noise.as_mut().filter(|_| varies) else { continue };
            let metric = &target.guard.metric;
            let [good, bad] = &ends;
            let good = self.mean_level(good, metric, 0)?;
            let Some((good, bad)) = good.zip(self.mean_level(bad, metric, 0)?) else { continue };
            let runs = good.runs.min(bad.runs);
            if runs > noise.runs {
                noise.runs = runs;
                target.baseline = Value::Number(good.value);
                target.bad = Value::Number(bad.value);
            }
        }
        Ok(())
    }

    /// In noise, marks each named commit as hiding later ones if the hunt's newer end is not
    /// clearly worse than the commit's parent: then a later commit may have undone the step, and
    /// the noise may have hidden that.
    pub(crate) fn doubt_what_the_end_does_not_show(
        &mut self,
        ledger: &mut Ledger,
        whole: &SearchRange,
    ) -> Result<(), HuntError> {
        let [_, newer] = whole.ends();
        if !whole.explains_levels() {
            return Ok(());
        }
        for culprit in ledger.named().cloned().collect::<Vec<_>>() {
            let found = &culprit.info.commit;
            if found == newer {
                continue;
            }
            let why = match self.does_end_show(ledger, &culprit, whole) {
                Err(HuntError::Limit(limit)) => {
                    ledger.note_limit("it was not checked whether the change lasts", &limit);
                    self.limit = Some(limit);
                    WhyHidden::NotCompared
                }
                shown => match shown? {
                    EndShows::Step => continue,
                    EndShows::Better => WhyHidden::BetterThanParent,
                    EndShows::Open => WhyHidden::LostInNoise,
                },
            };
            ledger.hides(found, &self.chain(found, newer)?, why);
        }
        Ok(())
    }

    /// Whether the newer end is clearly worse than the parent of a found commit, in each metric
    /// whose levels vary and can be compared from commit to commit. Steps of the parent that were
    /// undone later do not count. Nor does what makes the parent worse only because its branch
    /// forked off before the older end got better ([`Self::excess_at_fork`]). Runs both until that
    /// is clear, but not more often than [`MOST_RUNS`].
    fn does_end_show(
        &mut self,
        ledger: &mut Ledger,
        culprit: &Culprit,
        whole: &SearchRange,
    ) -> Result<EndShows, HuntError> {
        let [_, newer] = whole.ends();
        for target in &whole.targets {
            let Target::Guard(target) = target else { continue };
            let metric = &target.guard.metric;
            if !has_varying_levels(target) || culprit.effect_on(metric).is_none() {
                continue;
            }
            let undone = self.undone_later(ledger, culprit, metric)?;
            let excess = self.excess_at_fork(&culprit.parent, whole, target)?;
            let mut runs = 0;
            loop {
                // A commit without a number has no level to compare.
                let parent = self.mean_level(&culprit.parent, metric, runs)?;
                let Some(parent) = parent else { return Ok(EndShows::Step) };
                let end = self.mean_level(newer, metric, runs)?;
                let Some(end) = end else { return Ok(EndShows::Step) };
                let error = MeanLevel::error(target, [parent, end], SURE_OF_END);
                let worse = target.guard.worsening(parent.value, end.value);
                if worse + undone + excess.size > error.hypot(excess.error) {
                    break;
                }
                if runs >= MOST_RUNS {
                    let is_better = worse < -error;
                    return Ok(if is_better { EndShows::Better } else { EndShows::Open });
                }
                runs = MOST_RUNS.min(2 * runs.max(parent.runs.min(end.runs)));
            }
        }
        Ok(EndShows::Step)
    }

    /// The sum of the steps that the parent of a found commit has, and that were undone after it.
    /// The newer end lost them.
    fn undone_later(
        &self,
        ledger: &mut Ledger,
        culprit: &Culprit,
        metric: &Metric,
    ) -> Result<f64, HuntError> {
        let history = &self.oracle.history;
        let mut sum = 0.0;
        for found in ledger.found() {
            let CulpritStatus::Undone { by, again: false } = &found.status else { continue };
            let step = found.culprit.effect_on(metric).and_then(|effect| effect.own_step);
            if history.is_ancestor(&found.culprit.info.commit, &culprit.parent)?
                && !history.is_ancestor(by, &culprit.parent)?
            {
                sum += step.unwrap_or(0.0).max(0.0);
            }
        }
        Ok(sum)
    }

    /// Gives the ledger what its answer needs to know of the history: which of the found commits,
    /// the commits that undid them and the last worse commits before mends contain which others.
    pub(crate) fn note_lineage(&self, ledger: &mut Ledger) -> Result<(), HuntError> {
        // A single found commit undid no other.
        if ledger.found.len() < 2 {
            return Ok(());
        }
        let (mut older, mut newer) = (BTreeSet::new(), BTreeSet::new());
        for found in &ledger.found {
            older.insert(found.culprit.info.commit.clone());
            newer.insert(found.culprit.parent.clone());
            if let CulpritStatus::Undone { by, .. } = &found.status {
                older.insert(by.clone());
            }
        }
        newer.extend(older.iter().cloned());
        newer.extend(ledger.mends().iter().filter_map(|mend| mend.before.clone()));
        let mut pairs = Vec::new();
        for commit in &newer {
            for one in &older {
                if self.oracle.history.is_ancestor(one, commit)? {
                    pairs.push([commit.clone(), one.clone()]);
                }
            }
        }
        ledger.lineage = Lineage::of(pairs);
        Ok(())
    }

    /// The last commit that may have made the step of `culprit` again; `None` if none may have. The
    /// newer end must have a file as it was before the change, and one of these must hold:
    ///
    /// - No file there has the change.
    /// - In noise, the found commits explain more than the whole change, so something was mended.
    /// - In noise, the commit that put the file back is not bad.
    /// - The commit that put the file back takes most of the step back.
    /// - The commit that put the file back altered other files too. It may have removed the step
    ///   and made another one.
    /// - Runs of one commit differ, and no mend was seen where the change is gone.
    ///
    /// If values repeat, `None` too if the newer end loses the step without the rest of the change:
    /// the commit then still makes it.
    fn may_be_made_again(
        &mut self,
        ledger: &Ledger,
        whole: &SearchRange,
        culprit: &Culprit,
    ) -> Result<Option<CommitId>, HuntError> {
        let [_, newer] = whole.ends();
        let found = &culprit.info.commit;
        let change = self.oracle.history.whole_change_until(&culprit.parent, found, newer)?;
        let is_gone = self.oracle.history.contains_change(newer, &change) == Some(false);
        // In noise, enough runs of each commit were made to see a mend, but not whose step it
        // mends.
        let in_noise = whole.targets.iter().any(Target::is_noisy);
        let varies = self.is_flaky || (culprit.basis != Basis::BitExact && !in_noise);
        let put_back = self.oracle.history.put_back(newer, &change);
        for part in put_back.into_iter().take(MOST_PUT_BACK) {
            let history = &self.oracle.history;
            let absence = history.commits_without_change(found, newer, &part)?.pop();
            let is_replaced = match &absence {
                // A failure's message tells its cause; a level does not.
                Some(CommitsWithoutChange { before, commits })
                    if culprit.failure.is_none() && varies =>
                {
                    let is_there = |mend: &Mend| commits.contains(&mend.by);
                    !ledger.mends().iter().any(is_there)
                        || self.goes_back(&culprit.effects, before, &commits[0], &whole.targets)?
                }
                Some(_) if in_noise && ledger.accounts().iter().any(Account::is_exceeded) => true,
                Some(CommitsWithoutChange { before, commits }) if culprit.failure.is_none() => {
                    let back = &commits[0];
                    history.alters_other_files(before, back, &change)?
                        || (in_noise && !whole.is_newer(self.judge(back, &whole.targets)?.verdict))
                        || self.goes_back(&culprit.effects, before, back, &whole.targets)?
                }
                _ => false,
            };
            if !is_gone && !is_replaced {
                continue;
            }
            if !is_gone && !varies && self.rest_makes_the_step(culprit)? {
                return Ok(None);
            }
            return Ok(Some(match absence.as_ref().map(|absence| &absence.commits[0]) {
                Some(back) if self.same_levels(&whole.targets, found, back)? => back.clone(),
                _ => newer.clone(),
            }));
        }
        Ok(None)
    }

    /// Whether one of these effects goes back from `before` to `back`: a level by more than half of
    /// its step, a fact to that of the found commit's parent. Measures both.
    pub(crate) fn goes_back(
        &mut self,
        effects: &[Effect],
        before: &CommitId,
        back: &CommitId,
        targets: &[Target],
    ) -> Result<bool, HuntError> {
        if effects.is_empty() {
            return Ok(false);
        }
        let measures = measures_of(targets);
        self.judge(before, targets)?;
        let before = self.known_runs(before, &measures)?;
        self.judge(back, targets)?;
        let back = self.known_runs(back, &measures)?;
        Ok(effects.iter().any(|effect| {
            let levels = before.level(&effect.metric).zip(back.level(&effect.metric));
            levels.is_some_and(|(before, back)| is_back(effect, [before, back]))
        }))
    }

    /// Withdraws a found commit if a later found commit restores some of its files. The later
    /// commit also made something worse, and no measurement separates the two effects. If nothing
    /// of the change is left at the newer end, it was undone.
    pub(crate) fn withdraw_what_is_put_back(
        &mut self,
        ledger: &mut Ledger,
        whole: &SearchRange,
    ) -> Result<(), HuntError> {
        let history = &self.oracle.history;
        let culprits: Vec<Culprit> = ledger.standing_culprits().cloned().collect();
        for earlier in &culprits {
            let commit = &earlier.info.commit;
            for later in &culprits {
                let by = &later.info.commit;
                if by == commit || !history.is_ancestor(commit, by)? {
                    continue;
                }
                let change = history.change_until(&earlier.parent, commit, by)?;
                if !history.restores_file(&later.parent, by, &change) {
                    continue;
                }
                let change = history.change_until(&earlier.parent, commit, &whole.newer)?;
                if history.is_restored(&whole.newer, &change) {
                    ledger.undone_by(commit, by);
                    continue;
                }
                let why = format!(
                    "{} puts files of {} back, so it is not known how much of the latter's step is \
                     left at the {} end",
                    by.short(),
                    commit.short(),
                    whole.terms.newer(),
                );
                ledger.withdraw(commit, std::slice::from_ref(commit), why);
            }
        }
        Ok(())
    }
}

/// Whether an effect is gone after a change from one level to another.
fn is_back(effect: &Effect, [before, back]: [Value; 2]) -> bool {
    let step = effect.parent.number().zip(effect.commit.number());
    match (step, before.number().zip(back.number())) {
        (Some((parent, found)), Some((before, back))) => (before - back) / (found - parent) > 0.5,
        (None, None) => before != back && back == effect.parent,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle::fixture::effect;

    #[test]
    fn a_level_goes_back_by_half_of_its_step_and_a_fact_to_the_parents() {
        let number = |levels: [f64; 2]| is_back(&effect(6.0, 7.0, 0.1), levels.map(Value::Number));
        assert!(number([7.5, 6.5]) && !number([7.5, 7.2]) && !number([6.0, 7.0]));
        let fact = |text: &str| Value::Fact(text.to_owned());
        let launch = Effect { parent: fact("384"), commit: fact("128"), ..effect(0.0, 0.0, 0.0) };
        let goes = |levels: [&str; 2]| is_back(&launch, levels.map(fact));
        assert!(goes(["128", "384"]) && goes(["64", "384"]));
        assert!(!goes(["384", "384"]) && !goes(["128", "64"]) && !goes(["384", "128"]));
        // A level without a number is no fact.
        assert!(!is_back(&effect(6.0, 7.0, 0.1), [fact("128"), fact("384")]));
    }
}
