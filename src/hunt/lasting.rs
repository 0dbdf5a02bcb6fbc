//! Whether what a found commit did lasts to the newer end: a change that was undone on the way
//! is not the reason for what the end shows, and the hunt goes on behind it.

use std::collections::BTreeSet;

use crate::evaluation::{
    Aim, CommitId, Culprit, GuardTarget, Noise, Phase, Target, Value, Verdict,
};
use crate::oracle::{Observation, Request};

use super::HuntError;
use super::account::{Ledger, Stretch};
use super::driver::Driver;
use super::fresh::verdict_of_run;
use super::standing::{Around, Mend, Standing};

/// Commits at most that are run to see whether a change lasts.
const MOST_LOOKS: usize = 2;
/// Runs that must all say that a change did not last.
const RUNS_TO_BE_SURE: usize = 4;
/// Commits at most that a mask hides and that are named one by one.
const MOST_HIDDEN: usize = 200;

/// A first bad commit that was just found.
pub(super) struct Step<'a> {
    pub(super) stretch: &'a Stretch,
    pub(super) culprit: &'a Culprit,
    /// What was measured on the bad side of its step.
    pub(super) seen: &'a Observation,
}

/// A commit after a found one where the guard is kept again.
struct Better {
    /// The last commit before it that is as the found one, with what it measures.
    before: Option<Observation>,
    seen: Observation,
}

impl Driver<'_> {
    /// Looks whether the step lasts; enters what it finds, and returns what is to be searched
    /// besides.
    pub(super) fn look_whether_it_lasts(
        &mut self,
        ledger: &mut Ledger,
        step: &Step<'_>,
    ) -> Result<Vec<Stretch>, HuntError> {
        let mut next = self.on_other_branches(step)?;
        if let Some((earlier, mend)) = self.landed_before(step)? {
            ledger.mended(mend);
            next.push(earlier);
        }
        let [_, newer] = step.stretch.ends();
        let chain = self.chain(&step.culprit.info.commit, newer)?;
        if step.stretch.aim == Aim::Regression
            && let Some(target) = excess(step)
        {
            if let Some(better) = self.first_better(&chain, &target)? {
                next.extend(self.enter_better(ledger, step, better, true)?);
            } else {
                ledger.note(format!(
                    "what {} broke was made good later, where could not be told",
                    step.culprit.info.commit.short()
                ));
            }
            return Ok(next);
        }
        if let Some(seen) = self.look_behind(step, &chain)? {
            next.extend(self.enter_better(ledger, step, Better { before: None, seen }, false)?);
        }
        Ok(next)
    }

    /// What follows from a commit after the found one that is better again.
    fn enter_better(
        &mut self,
        ledger: &mut Ledger,
        step: &Step<'_>,
        better: Better,
        by_level: bool,
    ) -> Result<Vec<Stretch>, HuntError> {
        let Step { stretch, culprit, seen } = *step;
        let mut next = Vec::new();
        let by = better.seen.commit.clone();
        let mut targets = Vec::new();
        let mut mend =
            Mend { by: by.clone(), metric: None, amount: f64::INFINITY, left: 0.0, limit: 0.0 };
        for target in &stretch.targets {
            let Target::Guard(guarded) = target else {
                targets.push(target.clone());
                continue;
            };
            let metric = &guarded.guard.metric;
            let Some(level) = better.seen.level(metric) else { continue };
            let to = level.number();
            let rest = GuardTarget { baseline: level.clone(), ..guarded.clone() };
            if mend.metric.is_none() {
                mend.metric = Some(metric.clone());
                mend.limit = guarded.limit;
                mend.left = to.and_then(|to| ledger.beyond_good(metric, to)).unwrap_or(0.0);
                let top = better.before.as_ref().unwrap_or(seen).level(metric);
                let top = top.and_then(|level| level.number());
                mend.amount = worsening(guarded, to, top).unwrap_or(f64::INFINITY);
            }
            if breaks(&rest) {
                targets.push(Target::Guard(rest));
            }
            next.extend(hidden_rise(stretch, guarded, culprit, seen, better.before.as_ref()));
        }
        if by_level || mend.metric.is_none() || mend.left <= mend.limit {
            ledger.mended(mend);
        }
        if !targets.is_empty() {
            let beyond = match stretch.aim {
                Aim::Regression => Stretch { good: by, targets, ..stretch.clone() },
                Aim::Fix => Stretch { bad: by, ..stretch.clone() },
            };
            next.push(beyond);
        }
        Ok(next)
    }

    /// The first commit on the chain that is as good as the bad end, by halves: the found commit
    /// is worse than that, the chain's last is not.
    fn first_better(
        &mut self,
        chain: &[CommitId],
        target: &GuardTarget,
    ) -> Result<Option<Better>, HuntError> {
        let targets = [Target::Guard(target.clone())];
        let (mut low, mut high) = (0, chain.len().saturating_sub(1));
        let (mut before, mut seen) = (None, None);
        let mut untestable = BTreeSet::new();
        while high > low {
            let middle = low + (high - low) / 2;
            // The nearest one that can be measured.
            let mut open: Vec<usize> = (low..high).filter(|i| !untestable.contains(i)).collect();
            open.sort_by_key(|i| i.abs_diff(middle));
            let Some(&at) = open.first() else { break };
            let phase = Phase::Search;
            let (judgement, observation) = self.oracle.settle(&chain[at], &targets, phase, None)?;
            match judgement.verdict {
                Verdict::Good => (high, seen) = (at, Some(observation)),
                Verdict::Bad => (low, before) = (at + 1, Some(observation)),
                Verdict::Skip | Verdict::Unknown => {
                    untestable.insert(at);
                }
            }
        }
        if seen.is_none()
            && let Some(last) = chain.last()
        {
            let phase = Phase::Search;
            let (judgement, observation) = self.oracle.settle(last, &targets, phase, None)?;
            seen = (judgement.verdict == Verdict::Good).then_some(observation);
        }
        Ok(seen.map(|seen| Better { before, seen }))
    }

    /// A commit behind the found one that is as the older end again: where the change is gone
    /// from the text, and where nothing says that it lasts, in the middle of what was not
    /// measured.
    fn look_behind(
        &mut self,
        step: &Step<'_>,
        chain: &[CommitId],
    ) -> Result<Option<Observation>, HuntError> {
        let stretch = step.stretch;
        let [_, newer] = stretch.ends();
        let mut reverted = self.reverted(step)?.into_iter();
        let is_plain = self.is_plainly_the_same(step)?;
        for _ in 0..MOST_LOOKS {
            let commit = match reverted.next() {
                Some(commit) => commit,
                None if is_plain => break,
                None => match self.least_known(chain)? {
                    Some(commit) => commit,
                    None => break,
                },
            };
            if commit == *newer {
                continue;
            }
            let number = self.stretches.saturating_sub(1);
            let judgement = self.judge(&commit, &stretch.targets, number)?;
            if judgement.verdict == stretch.aim.older()
                && let Some(seen) = self.is_surely_older(stretch, &commit)?
            {
                return Ok(Some(seen));
            }
        }
        Ok(None)
    }

    /// What was measured at a commit that was judged as the older end is, if more runs say the
    /// same: one run may be a stray, and would take the blame from the commit that was found.
    fn is_surely_older(
        &mut self,
        stretch: &Stretch,
        commit: &CommitId,
    ) -> Result<Option<Observation>, HuntError> {
        let measures = crate::oracle::measures_of(&stretch.targets);
        let look = Request::look(commit, &measures, Phase::Search);
        let is_noisy =
            |target: &Target| matches!(target, Target::Guard(target) if target.noise.is_some());
        let runs = if stretch.targets.iter().any(is_noisy) { 0 } else { RUNS_TO_BE_SURE };
        let seen = self.oracle.evaluate(Request { runs, ..look })?;
        let recipe = self.oracle.recipe(commit)?;
        let older = stretch.aim.older();
        let count = seen.samples.values().map(Vec::len).min().unwrap_or(0);
        let is_older = |run| verdict_of_run(&seen, run, &stretch.targets, &recipe).verdict == older;
        let holds = runs == 0 || (0..count).all(is_older);
        Ok(holds.then_some(seen))
    }

    /// Where the change of the found commit went out of the tree, by its text, oldest first.
    fn reverted(&mut self, step: &Step<'_>) -> Result<Vec<CommitId>, HuntError> {
        let history = &self.oracle.history;
        let [_, newer] = step.stretch.ends();
        let found = &step.culprit.info.commit;
        let change = history.change(&step.culprit.parent, found)?;
        let mut gone = Vec::new();
        let mut was_there = true;
        for commit in history.touching(found, newer, &change)? {
            let is_there = history.carries(&commit, &change) != Some(false);
            if was_there && !is_there {
                gone.push(commit);
            }
            was_there = is_there;
        }
        Ok(gone)
    }

    /// Whether the found commit shows the very same as the newer end: figures bit for bit, or a
    /// failure that says what it is. Then no other cause is likely to be behind the end's.
    fn is_plainly_the_same(&mut self, step: &Step<'_>) -> Result<bool, HuntError> {
        let stretch = step.stretch;
        let measures = crate::oracle::measures_of(&stretch.targets);
        let phase = Phase::Search;
        let [_, newer] = stretch.ends();
        let look = Request::look(newer, &measures, phase);
        let end = self.oracle.evaluate(look)?;
        let look = Request::look(&step.culprit.info.commit, &measures, phase);
        let own = self.oracle.evaluate(look)?;
        let is_same = |target: &Target| match target {
            Target::Failure { failure, .. } => failure.is_telling(),
            Target::Guard(target) => {
                let metric = &target.guard.metric;
                let bits = |seen: &Observation| seen.readings(&metric.measure).next().cloned();
                target.noise.is_none()
                    && own.level(metric).is_some()
                    && own.level(metric) == end.level(metric)
                    && bits(&own).zip(bits(&end)).is_some_and(|(a, b)| a.same_bits(&b))
            }
        };
        Ok(stretch.targets.iter().any(is_same))
    }

    /// The middle of the longest part of the chain in which nothing was measured.
    fn least_known(&self, chain: &[CommitId]) -> Result<Option<CommitId>, HuntError> {
        let judged = self.judged()?;
        let mut longest = 0..0;
        let mut from = 0;
        for (place, commit) in chain.iter().enumerate() {
            if judged.contains(commit) || place + 1 == chain.len() {
                if place - from > longest.len() {
                    longest = from..place;
                }
                from = place + 1;
            }
        }
        let middle = longest.start + longest.len() / 2;
        Ok((!longest.is_empty()).then(|| chain[middle].clone()))
    }

    /// The commits after `older` up to `newer`, oldest first, along one way that leads from the
    /// one to the other: first parents where they do.
    pub(super) fn chain(
        &self,
        older: &CommitId,
        newer: &CommitId,
    ) -> Result<Vec<CommitId>, HuntError> {
        let history = &self.oracle.history;
        let descendants: BTreeSet<CommitId> =
            history.descending(older, newer)?.into_iter().collect();
        let mut chain = Vec::new();
        let mut at = newer.clone();
        while at != *older && descendants.contains(&at) {
            let parents = history.parents(&at)?;
            chain.push(at);
            let leads = |one: &CommitId| one == older || descendants.contains(one);
            let Some(parent) = parents.into_iter().find(leads) else { break };
            at = parent;
        }
        chain.reverse();
        Ok(chain)
    }

    /// Where the same change was in the tree before the found commit brought it (back): a stretch
    /// up to there, and that it was undone.
    fn landed_before(&mut self, step: &Step<'_>) -> Result<Option<(Stretch, Mend)>, HuntError> {
        let Step { stretch, culprit, .. } = step;
        let [older, _] = stretch.ends();
        let parent = &culprit.parent;
        if stretch.aim != Aim::Regression || parent == older {
            return Ok(None);
        }
        let history = &self.oracle.history;
        let change = history.change(parent, &culprit.info.commit)?;
        let touching = history.touching(older, parent, &change)?;
        let landed = |commit: &&CommitId| {
            history.carries(commit, &change) == Some(true) && *commit != parent
        };
        if history.carries(older, &change) != Some(false) {
            return Ok(None);
        }
        let Some(commit) = touching.iter().find(landed).cloned() else { return Ok(None) };
        let number = self.stretches.saturating_sub(1);
        if self.judge(&commit, &stretch.targets, number)?.verdict != stretch.aim.newer() {
            return Ok(None);
        }
        let effect = culprit.effects.first();
        let mend = Mend {
            by: parent.clone(),
            metric: effect.map(|effect| effect.metric.clone()),
            amount: effect.and_then(|effect| effect.own_step).unwrap_or(f64::INFINITY),
            left: 0.0,
            limit: effect.map_or(0.0, |effect| effect.limit),
        };
        Ok(Some((Stretch { bad: commit, ..(*stretch).clone() }, mend)))
    }

    /// Branches that do not have the found commit and carry its change all the same, as after a
    /// cherry-pick: each is searched by itself.
    fn on_other_branches(&mut self, step: &Step<'_>) -> Result<Vec<Stretch>, HuntError> {
        let Step { stretch, culprit, .. } = step;
        if stretch.aim != Aim::Regression {
            return Ok(Vec::new());
        }
        let found = &culprit.info.commit;
        let change = self.oracle.history.change(&culprit.parent, found)?;
        let mut next = Vec::new();
        for tip in self.tips_without(stretch, found)?.into_iter().take(MOST_LOOKS) {
            if self.oracle.history.carries(&tip, &change) != Some(true) {
                continue;
            }
            let number = self.stretches.saturating_sub(1);
            if self.judge(&tip, &stretch.targets, number)?.verdict == stretch.aim.newer() {
                next.push(Stretch { bad: tip, ..(*stretch).clone() });
            }
        }
        Ok(next)
    }

    /// The newest commits of the stretch that do not descend from the found one and are not its
    /// ancestors, as parents of merges that brought both together.
    fn tips_without(
        &self,
        stretch: &Stretch,
        found: &CommitId,
    ) -> Result<Vec<CommitId>, HuntError> {
        let history = &self.oracle.history;
        let [older, newer] = stretch.ends();
        let with: BTreeSet<CommitId> = history.descending(found, newer)?.into_iter().collect();
        let range = crate::git::Range::between(older, newer);
        let inside: BTreeSet<CommitId> = history.commits(&range)?.into_iter().collect();
        let mut tips = Vec::new();
        for merge in &with {
            for parent in history.parents(merge)? {
                let is_other = parent != *found && !with.contains(&parent);
                if is_other
                    && inside.contains(&parent)
                    && !tips.contains(&parent)
                    && !history.is_ancestor(&parent, found)?
                {
                    tips.push(parent);
                }
            }
        }
        Ok(tips)
    }

    /// Settles what every improvement on the way makes of the commits that were found.
    pub(super) fn settle_account(&mut self, ledger: &mut Ledger) -> Result<(), HuntError> {
        let mends = ledger.mends().to_vec();
        // From the beginning, since a commit that was found later may be what was undone.
        for found in ledger.found() {
            found.standing = Standing::Stands;
        }
        for mend in mends {
            let mut around = Vec::new();
            for found in ledger.found().iter().map(|found| found.culprit.clone()) {
                around.push(self.around(&found, &mend)?);
            }
            ledger.settle(&mend, &around);
        }
        let newer = self.begun.ends()[1].clone();
        let has_answer = ledger.has_answer();
        for found in ledger.found() {
            let Standing::Undone { again, .. } = &mut found.standing else { continue };
            let culprit = &found.culprit;
            let change = self.oracle.history.change(&culprit.parent, &culprit.info.commit)?;
            *again = has_answer && self.oracle.history.carries(&newer, &change) == Some(true);
        }
        Ok(())
    }

    fn around(&self, found: &Culprit, mend: &Mend) -> Result<Around, HuntError> {
        let history = &self.oracle.history;
        let commit = &found.info.commit;
        if !history.is_ancestor(commit, &mend.by)? {
            return Ok(Around::default());
        }
        let change = history.change(&found.parent, commit)?;
        let mut hidden = self.chain(commit, &mend.by)?;
        hidden.truncate(MOST_HIDDEN);
        Ok(Around { is_before: true, carried: history.carries(&mend.by, &change), hidden })
    }
}

/// The first target of which the found commit is further beyond the good end than the bad end
/// is, by more than the limit: judged against the bad end's level.
pub(super) fn excess(step: &Step<'_>) -> Option<GuardTarget> {
    step.stretch.targets.iter().find_map(|target| {
        let Target::Guard(target) = target else { return None };
        if target.noise.is_some_and(|noise| noise.kind.is_rate()) {
            return None;
        }
        let end = target.bad.number().filter(|end| end.is_finite())?;
        let own = step.seen.level(&target.guard.metric).and_then(|level| level.number());
        let own = own.filter(|own| own.is_finite());
        let limit = target.limit.max(0.0);
        let beyond = own.map_or(f64::INFINITY, |own| target.guard.worsening(end, own));
        (beyond > limit + doubt(target, step.seen)).then(|| turned_to(target, end, own))
    })
}

/// Two standard errors of the difference between two levels, in the metric's unit.
fn doubt(target: &GuardTarget, seen: &Observation) -> f64 {
    let Some(noise) = target.noise else { return 0.0 };
    let runs = seen.numbers(&target.guard.metric).len().max(1) as f64;
    let error = 2.0 * noise.sd * (1.0 / runs + 1.0 / noise.runs.max(1) as f64).sqrt();
    let Some(bad) = target.bad.number() else { return 0.0 };
    let scale = target.orientation();
    (scale.metric(scale.oriented(bad) + error) - bad).abs()
}

/// The target with the bad end's level for the good one, and the found commit's for the bad one.
fn turned_to(target: &GuardTarget, end: f64, own: Option<f64>) -> GuardTarget {
    let scale = target.orientation();
    let noise = target.noise.map(|noise| {
        let good = scale.oriented(end);
        let far = own.map_or(good + 10.0 * noise.sd, |own| scale.oriented(own));
        Noise { good, bad: far, paired: false, ..noise }
    });
    GuardTarget {
        baseline: Value::Number(end),
        bad: Value::Number(own.unwrap_or(f64::INFINITY)),
        noise,
        threshold: None,
        ..target.clone()
    }
}

/// A rise between the found commit and the last one before it was made good: searched by
/// itself.
fn hidden_rise(
    stretch: &Stretch,
    target: &GuardTarget,
    culprit: &Culprit,
    seen: &Observation,
    before: Option<&Observation>,
) -> Option<Stretch> {
    let before = before?;
    let level = seen.level(&target.guard.metric)?;
    let last = before.level(&target.guard.metric)?;
    let inner = GuardTarget { baseline: level, bad: last, ..target.clone() };
    let is_rise = inner.baseline.number().zip(inner.bad.number()).is_some();
    (is_rise && breaks(&inner)).then(|| Stretch {
        good: culprit.info.commit.clone(),
        bad: before.commit.clone(),
        targets: vec![Target::Guard(inner)],
        ..stretch.clone()
    })
}

fn worsening(target: &GuardTarget, from: Option<f64>, to: Option<f64>) -> Option<f64> {
    Some(target.guard.worsening(from?, to?)).filter(|x| x.is_finite())
}

/// Whether the bad level still breaks the guard against the baseline.
fn breaks(target: &GuardTarget) -> bool {
    match (target.baseline.number(), target.bad.number()) {
        (Some(a), Some(b)) => target.guard.worsening(a, b) > target.limit.max(0.0),
        _ => target.baseline != target.bad,
    }
}
