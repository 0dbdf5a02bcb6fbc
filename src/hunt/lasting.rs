//! Whether what a found commit did lasts to the newer end: a change that was undone on the way
//! is not the reason for what the end shows, and the hunt goes on behind it.

use std::collections::BTreeSet;

use crate::evaluation::{Aim, CommitId, Culprit, GuardTarget, Phase, Target};
use crate::git::Absence;
use crate::oracle::{Observation, Request};
use crate::search::Carried;

use super::HuntError;
use super::account::{Ledger, Stretch};
use super::driver::Driver;
use super::effect::typical;
use super::fresh::verdict_of_run;
use super::standing::{Around, Mend, Standing};

/// How often it is looked at most whether a change lasts.
const MOST_LOOKS: usize = 2;
/// The same where the text says that it does not.
const MOST_ABSENCES: usize = 3;
/// Runs that must all say that a change did not last.
const RUNS_TO_BE_SURE: usize = 4;
/// Commits at most that a mask hides and that are named one by one.
const MOST_HIDDEN: usize = 200;

/// Where a change may not have lasted.
struct Suspect {
    /// The last commit before.
    before: CommitId,
    /// Commits that would show it.
    places: Vec<CommitId>,
    /// There the change is gone from the tree.
    is_absence: bool,
}

/// A first bad commit that was just found.
pub(super) struct Step<'a> {
    pub(super) stretch: &'a Stretch,
    pub(super) culprit: &'a Culprit,
    /// What was measured on the bad side of its step.
    pub(super) seen: &'a Observation,
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
        next.extend(self.look_past(ledger, step)?);
        Ok(next)
    }

    /// Looks at the levels after the step, or where those tell nothing at commits behind it.
    pub(super) fn look_past(
        &mut self,
        ledger: &mut Ledger,
        step: &Step<'_>,
    ) -> Result<Vec<Stretch>, HuntError> {
        let levels = match step.stretch.aim {
            Aim::Regression => self.follow_levels(ledger, step, None)?,
            Aim::Fix => None,
        };
        let mut next = Vec::new();
        let tell_nothing = levels.as_ref().is_none_or(Vec::is_empty);
        next.extend(levels.unwrap_or_default());
        if step.stretch.targets.iter().any(drifts) {
            return Ok(next);
        }
        if tell_nothing {
            next.extend(self.look_behind(ledger, step)?);
        }
        Ok(next)
    }

    /// Looks behind each found commit whose change goes out of the tree, at least in part, on the
    /// way to the hunt's newer end: in the part of the history in which it was found it may have
    /// lasted. Returns what is to be searched besides; `looked_at` are the commits that this was
    /// done for.
    pub(super) fn look_whether_all_last(
        &mut self,
        ledger: &mut Ledger,
        whole: &Stretch,
        looked_at: &mut BTreeSet<CommitId>,
    ) -> Result<Vec<Stretch>, HuntError> {
        let [_, newer] = whole.ends();
        let measures = crate::oracle::measures_of(&whole.targets);
        let standing = ledger.found().iter().filter(|found| found.stands());
        let culprits: Vec<Culprit> = standing.map(|found| found.culprit.clone()).collect();
        let mut next = Vec::new();
        for culprit in culprits {
            let found = &culprit.info.commit;
            if found == newer || !looked_at.insert(found.clone()) {
                continue;
            }
            let history = &self.oracle.history;
            let change = history.change(&culprit.parent, found)?;
            let is_kept = history.where_it_is_gone(found, newer, &change)?.is_empty();
            if is_kept && !history.is_gone_in_part(newer, &change) {
                continue;
            }
            // One that crosses no limit of the hunt's own was found between other ends.
            let number = self.stretches.saturating_sub(1);
            if self.judge(found, &whole.targets, number)?.verdict != whole.aim.newer() {
                continue;
            }
            let seen = self.oracle.evaluate(Request::look(found, &measures, Phase::Search))?;
            let step = Step { stretch: whole, culprit: &culprit, seen: &seen };
            if whole.targets.iter().any(drifts) {
                let chain = self.chain(found, newer)?;
                self.doubt_what_is_gone(ledger, &step, &chain)?;
                continue;
            }
            ledger.leaves(found);
            match self.look_behind(ledger, &step) {
                Err(HuntError::Budget(runs)) => {
                    let chain = self.chain(found, newer)?;
                    self.doubt_what_is_gone(ledger, &step, &chain)?;
                    ledger.doubt_last(is_beyond_the_end(&step), runs);
                }
                more => next.extend(more?),
            }
        }
        self.settle_account(ledger)?;
        Ok(next)
    }

    /// Looks at commits behind the found one: where the change is gone from the text, and where
    /// nothing says that it lasts, in the middle of what was not measured.
    fn look_behind(
        &mut self,
        ledger: &mut Ledger,
        step: &Step<'_>,
    ) -> Result<Vec<Stretch>, HuntError> {
        let stretch = step.stretch;
        let [_, newer] = stretch.ends();
        let chain = self.chain(&step.culprit.info.commit, newer)?;
        let found = &step.culprit.info.commit;
        let suspects = self.suspects(step)?;
        let absences = suspects.iter().filter(|suspect| suspect.is_absence).count();
        // Places where the change goes and nothing else changes.
        let mut idle = 0;
        let mut suspects = suspects.into_iter();
        let mut next = Vec::new();
        let is_plain = self.is_plainly_the_same(step)?;
        let looks = absences.clamp(MOST_LOOKS, MOST_ABSENCES);
        for _ in 0..looks {
            let suspect = match suspects.next() {
                Some(suspect) => suspect,
                None if is_plain => break,
                None => match self.least_known(&chain)? {
                    Some(commit) => {
                        let (before, places) = (found.clone(), vec![commit]);
                        Suspect { before, places, is_absence: false }
                    }
                    None => break,
                },
            };
            if let Some(seen) = self.first_older(stretch, found, &suspect)? {
                return Ok(vec![goes_on_from(ledger, stretch, &seen, step.seen)]);
            }
            let Suspect { before, places, is_absence } = suspect;
            let at = places.into_iter().next().expect("a suspect has a place");
            if is_absence && self.same_levels(&stretch.targets, &before, &at)? {
                idle += 1;
                continue;
            }
            // The metric is as bad there: it may be another's doing.
            if stretch.aim == Aim::Regression {
                let via = if before == *found { &at } else { &before };
                next.extend(self.follow_levels(ledger, step, Some(via))?.unwrap_or_default());
            }
        }
        if absences == 0 || idle < absences {
            self.doubt_what_is_gone(ledger, step, &chain)?;
        }
        Ok(next)
    }

    /// What was measured at the suspect's place, or right before it, if that is surely as the
    /// older end is.
    fn first_older(
        &mut self,
        stretch: &Stretch,
        found: &CommitId,
        suspect: &Suspect,
    ) -> Result<Option<Observation>, HuntError> {
        let [_, newer] = stretch.ends();
        let number = self.stretches.saturating_sub(1);
        let places = suspect.places.iter().chain([&suspect.before]);
        for place in places.filter(|one| *one != newer && *one != found) {
            let judgement = self.judge(place, &stretch.targets, number)?;
            if judgement.verdict == stretch.aim.older()
                && let Some(seen) = self.is_surely_older(stretch, place)?
            {
                return Ok(Some(seen));
            }
        }
        Ok(None)
    }

    /// Where the change was reverted by the newer end, which is as bad all the same, or is gone
    /// and what the end shows does not tell where that comes from, another commit did it again.
    fn doubt_what_is_gone(
        &mut self,
        ledger: &mut Ledger,
        step: &Step<'_>,
        chain: &[CommitId],
    ) -> Result<(), HuntError> {
        let history = &self.oracle.history;
        let [_, newer] = step.stretch.ends();
        let found = &step.culprit.info.commit;
        if found == newer {
            return Ok(());
        }
        let change = history.change(&step.culprit.parent, found)?;
        let is_gone = history.is_gone_in_part(newer, &change);
        if history.is_restored(newer, &change)
            || (is_gone && !tells_by_itself(step.stretch))
            || self.breaks_otherwise(step)?
        {
            ledger.hides(found, chain);
        }
        Ok(())
    }

    /// Whether the guard is broken now and then, and by another value at the newer end than at the
    /// found commit: then something changed it since.
    fn breaks_otherwise(&mut self, step: &Step<'_>) -> Result<bool, HuntError> {
        let [_, newer] = step.stretch.ends();
        let found = &step.culprit.info.commit;
        for target in &step.stretch.targets {
            let Target::Guard(target) = target else { continue };
            if step.stretch.aim == Aim::Fix
                || target.noise.is_none_or(|noise| !noise.kind.is_rate())
            {
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
        let is_noisy = stretch.targets.iter().any(is_noisy);
        let seen = if is_noisy {
            self.oracle.evaluate(look)?
        } else {
            self.seen_often(commit, &stretch.targets)?
        };
        let recipe = self.oracle.recipe(commit)?;
        let older = stretch.aim.older();
        let count = seen.samples.values().map(Vec::len).min().unwrap_or(0);
        let is_older = |run| verdict_of_run(&seen, run, &stretch.targets, &recipe).verdict == older;
        let holds = is_noisy || (0..count).all(is_older);
        Ok(holds.then_some(seen))
    }

    /// What enough runs of a commit say to rest on it: of two builds that gave the very same files,
    /// else each of a build of its own.
    pub(super) fn seen_often(
        &mut self,
        commit: &CommitId,
        targets: &[Target],
    ) -> Result<Observation, HuntError> {
        let measures = crate::oracle::measures_of(targets);
        let look = Request::look(commit, &measures, Phase::Search);
        let mut seen = self.oracle.evaluate(look)?;
        while seen.samples.values().any(|samples| samples.len() < RUNS_TO_BE_SURE) {
            let least = seen.samples.values().map(Vec::len).min().unwrap_or(0);
            let rebuild = self.known_to_repeat(targets, [commit.clone()])? != Some(true);
            let runs = if rebuild { least + 1 } else { RUNS_TO_BE_SURE };
            seen = self.oracle.evaluate(Request { runs, rebuild, ..look })?;
        }
        Ok(seen)
    }

    /// Where to look whether the change lasts: where it is out of the tree on every way to the
    /// newer end, the latest first, and what was landed and reverted meanwhile.
    fn suspects(&mut self, step: &Step<'_>) -> Result<Vec<Suspect>, HuntError> {
        let history = &self.oracle.history;
        let [_, newer] = step.stretch.ends();
        let found = &step.culprit.info.commit;
        let change = history.change(&step.culprit.parent, found)?;
        let mut suspects = Vec::new();
        for Absence { before, commits } in history.where_it_is_gone(found, newer, &change)? {
            let mut places = vec![commits[0].clone()];
            // Where it came back, the last commit without it may be the one that can be tested.
            if !commits.contains(newer) {
                places.extend(commits.last().filter(|last| **last != commits[0]).cloned());
                places.extend(commits.get(commits.len() / 2).cloned());
            }
            suspects.push(Suspect { before, places, is_absence: true });
        }
        suspects.reverse();
        for commit in history.reverted_later(found, newer)? {
            if let Some(before) = history.parents(&commit)?.into_iter().next() {
                suspects.push(Suspect { before, places: vec![commit], is_absence: false });
            }
        }
        Ok(suspects)
    }

    /// Whether the found commit shows the very same as the newer end: figures bit for bit, or a
    /// failure that says what it is. Then no other cause is likely to be behind the end's.
    fn is_plainly_the_same(&mut self, step: &Step<'_>) -> Result<bool, HuntError> {
        let [_, newer] = step.stretch.ends();
        let targets = &step.stretch.targets;
        let is_telling = |target: &Target| match target {
            Target::Failure { failure, .. } => failure.is_telling(),
            Target::Guard(_) => false,
        };
        Ok(targets.iter().any(is_telling)
            || self.same_levels(targets, &step.culprit.info.commit, newer)?)
    }

    /// Whether a metric that repeats has the very same figures at both commits.
    fn same_levels(
        &mut self,
        targets: &[Target],
        one: &CommitId,
        other: &CommitId,
    ) -> Result<bool, HuntError> {
        let measures = crate::oracle::measures_of(targets);
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
        let landed =
            |commit: &&CommitId| history.carries_mostly(commit, &change) && *commit != parent;
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
            if !self.oracle.history.carries_mostly(&tip, &change) {
                continue;
            }
            let number = self.stretches.saturating_sub(1);
            let mut is_bad_from_the_start = false;
            for base in self.oracle.history.merge_bases(stretch.ends()[0], &tip)? {
                let judgement = self.judge(&base, &stretch.targets, number)?;
                is_bad_from_the_start |= judgement.verdict == stretch.aim.newer();
            }
            if is_bad_from_the_start {
                continue;
            }
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
        let history = self.oracle.history.commits(&self.whole())?;
        let mut mends = ledger.mends().to_vec();
        // What one leaves rests on those before it.
        mends.sort_by_key(|mend| history.iter().position(|commit| *commit == mend.by));
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
            let Standing::Undone { again, by } = &mut found.standing else { continue };
            let culprit = &found.culprit;
            let history = &self.oracle.history;
            let change = history.change(&culprit.parent, &culprit.info.commit)?;
            let is_gone = history.carries(by, &change) == Some(false);
            *again = has_answer && is_gone && history.carries_mostly(&newer, &change);
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
        let carried = match history.carries(&mend.by, &change) {
            Some(false) => Carried::Gone,
            Some(true) if history.is_gone_in_part(&mend.by, &change) => Carried::InPart,
            Some(true) => Carried::Whole,
            None => Carried::Unknown,
        };
        let is_reworked = history.is_reworked(&mend.by, &change);
        Ok(Around { is_before: true, carried, is_reworked, hidden })
    }
}

/// Whether the machine may move the metric from one hour to the next: then a single commit cannot
/// be looked at by itself.
fn drifts(target: &Target) -> bool {
    matches!(target, Target::Guard(target) if target.noise.is_some() && target.may_drift())
}

/// Whether the found commit is worse than the end of its stretch by more than the limit, so that
/// it was made good in part at least.
pub(super) fn is_beyond_the_end(step: &Step<'_>) -> bool {
    step.stretch.targets.iter().any(|target| {
        let Target::Guard(target) = target else { return false };
        let own = step.seen.level(&target.guard.metric).and_then(|level| level.number());
        let beyond =
            target.bad.number().zip(own).map(|(end, own)| target.guard.worsening(end, own));
        beyond.is_some_and(|beyond| beyond > target.limit.max(0.0))
    })
}

/// Whether what is hunted is a level, or a failure that says what it is: something that an
/// unrelated change would hardly show alike.
fn tells_by_itself(stretch: &Stretch) -> bool {
    stretch.targets.iter().any(|target| match target {
        Target::Failure { failure, .. } => failure.is_telling(),
        Target::Guard(target) => {
            let is_rate = target.noise.is_some_and(|noise| noise.kind.is_rate());
            !is_rate && target.bad.number().is_some_and(|bad| bad.fract().abs() > f64::EPSILON)
        }
    })
}

/// What follows from a commit behind the found one that is as the older end again.
fn goes_on_from(
    ledger: &mut Ledger,
    stretch: &Stretch,
    seen: &Observation,
    before: &Observation,
) -> Stretch {
    let by = seen.commit.clone();
    let mut mend =
        Mend { by: by.clone(), metric: None, amount: f64::INFINITY, left: 0.0, limit: 0.0 };
    let mut targets = Vec::new();
    for target in &stretch.targets {
        let Target::Guard(guarded) = target else {
            targets.push(target.clone());
            continue;
        };
        let metric = &guarded.guard.metric;
        let Some(level) = seen.level(metric) else { continue };
        if mend.metric.is_none() {
            mend.metric = Some(metric.clone());
            mend.limit = guarded.limit;
            let [here, there] = [seen, before].map(|seen| seen.level(metric)?.number());
            mend.left = here.and_then(|x| ledger.beyond_good(metric, x)).unwrap_or(0.0);
            let amount = here.zip(there).map(|(here, there)| guarded.guard.worsening(here, there));
            mend.amount = amount.filter(|x| x.is_finite()).unwrap_or(f64::INFINITY);
        }
        let rest = GuardTarget { baseline: level, ..guarded.clone() };
        targets.push(Target::Guard(rest));
    }
    ledger.mended(mend);
    match stretch.aim {
        Aim::Regression => Stretch { good: by, targets, ..stretch.clone() },
        Aim::Fix => Stretch { bad: by, ..stretch.clone() },
    }
}
