//! Follows the levels from a found commit to the newer end of its search range. Where the levels
//! get worse (a rise), another commit made a step. Where they get better (a fall), there is a mend.

use std::collections::BTreeSet;

use crate::evaluation::{CommitId, GuardTarget, Phase, Target, Verdict, exceeds_limit};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::hunt::range::SearchRange;
use crate::hunt::run_verdicts::{RUNS_TO_SKIP, is_surely_untestable};
use crate::oracle::{Observation, Request, measures_of};

use super::account::Ledger;
use super::brought_fall::BroughtFall;
use super::culprit_status::Mend;
use super::found_step::FoundStep;
use super::level::{Level, against, has_levels, is_worse, join, level_of, part};
use super::mean_level::MeanLevel;
use super::mixed_runs::IsBetter;
use super::partial_mends::EXACT;

/// In noise: runs of each commit that is compared to find where the level falls.
const RUNS_IN_NOISE: usize = 5;
/// In noise: a fall must exceed the tolerance by this many standard errors.
const SURE_IN_NOISE: f64 = 3.0;

/// Maximum number of paths that are followed beside the first-parent path.
const MOST_WAYS: usize = 2;

/// A fall of the level: the last worse commit and the first better one.
struct LevelFall {
    before: Level,
    after: Level,
}

impl Driver<'_> {
    /// Follows the levels after a found commit: adds mends to the ledger, returns a search range
    /// for each rise. Follows the path through `via` if there is one, else all paths of
    /// `ways`. `None` if the search range has no levels.
    pub(crate) fn follow_levels(
        &mut self,
        ledger: &mut Ledger,
        step: &FoundStep<'_>,
        via: Option<&CommitId>,
    ) -> Result<Option<Vec<SearchRange>>, HuntError> {
        let mut next: Vec<SearchRange> = Vec::new();
        let mut metrics = BTreeSet::new();
        for target in &step.search_range.targets {
            let Target::Guard(target) = target else { continue };
            if !has_levels(target, step) {
                continue;
            }
            if metrics.insert(target.guard.metric.clone()) {
                let ways = match via {
                    Some(via) => vec![Some(via.clone())],
                    None => self.ways(step, target)?,
                };
                self.follow_ways(ledger, step, target, ways, &mut next)?;
            }
        }
        Ok((!metrics.is_empty()).then_some(next))
    }

    /// Adds the mends after a found commit to the ledger: measurements that the hunt made since
    /// then may show them. Returns a range for each rise. Most of them were searched when the
    /// commit was found.
    pub(crate) fn note_later_mends(
        &mut self,
        ledger: &mut Ledger,
        step: &FoundStep<'_>,
    ) -> Result<Vec<SearchRange>, HuntError> {
        let mut rises = Vec::new();
        for target in &step.search_range.targets {
            let Target::Guard(target) = target else { continue };
            if has_levels(target, step) {
                let ways = self.ways(step, target)?;
                self.follow_ways(ledger, step, target, ways, &mut rises)?;
            }
        }
        Ok(rises)
    }

    /// Follows the levels along these paths; adds a search range to `next` for each rise.
    fn follow_ways(
        &mut self,
        ledger: &mut Ledger,
        step: &FoundStep<'_>,
        target: &GuardTarget,
        ways: Vec<Option<CommitId>>,
        next: &mut Vec<SearchRange>,
    ) -> Result<(), HuntError> {
        for via in ways {
            let levels = self.levels_after(step, target, via.as_ref())?;
            for pair in levels.windows(2) {
                self.follow(ledger, step.search_range, target, pair, next)?;
            }
        }
        Ok(())
    }

    /// The paths to follow: `None` for the first-parent path, and for each path beside it a
    /// measured commit with another level.
    fn ways(
        &mut self,
        step: &FoundStep<'_>,
        target: &GuardTarget,
    ) -> Result<Vec<Option<CommitId>>, HuntError> {
        let [_, newer] = step.search_range.ends();
        let found = &step.culprit.info.commit;
        let chain: BTreeSet<CommitId> = self.chain(found, newer)?.into_iter().collect();
        let own = level_of(step.seen, found, target);
        let judged = self.judged()?;
        let mut ways = vec![None];
        for commit in self.oracle.history.descending(found, newer)? {
            if !judged.contains(&commit) || chain.contains(&commit) || ways.len() > MOST_WAYS {
                continue;
            }
            let level = self.level_at(&commit, target)?;
            if level.value.is_finite()
                && (is_worse(target, &own, &level) || is_worse(target, &level, &own))
            {
                ways.push(Some(commit));
            }
        }
        Ok(ways)
    }

    /// The measured levels from the found commit to the end of its search range, along one path.
    fn levels_after(
        &mut self,
        step: &FoundStep<'_>,
        target: &GuardTarget,
        via: Option<&CommitId>,
    ) -> Result<Vec<Level>, HuntError> {
        let [_, newer] = step.search_range.ends();
        let found = &step.culprit.info.commit;
        let metric = &target.guard.metric;
        let mut levels = vec![level_of(step.seen, found, target)];
        let known = self.measured()?;
        let chain = match via {
            Some(via) => [self.chain(found, via)?, self.chain(via, newer)?].concat(),
            None => self.chain(found, newer)?,
        };
        // A commit that could not be judged (other checks, for example) has no level to compare.
        let verdicts = self.last_verdicts()?;
        let has_level = |commit: &&CommitId| {
            known.contains(*commit) && verdicts.get(*commit) != Some(&Verdict::Skip)
        };
        for commit in chain.iter().filter(has_level).filter(|commit| *commit != newer) {
            let seen = self.known_runs(commit, std::slice::from_ref(&metric.measure))?;
            if seen.level(metric).is_some() {
                levels.push(level_of(&seen, commit, target));
            }
        }
        if found != newer {
            let value = target.bad.number().unwrap_or(f64::INFINITY);
            levels.push(Level { commit: newer.clone(), value });
        }
        Ok(levels)
    }

    /// If the level rises within the pair, adds a search range to `next`; if it falls, a mend.
    fn follow(
        &mut self,
        ledger: &mut Ledger,
        search_range: &SearchRange,
        target: &GuardTarget,
        pair: &[Level],
        next: &mut Vec<SearchRange>,
    ) -> Result<(), HuntError> {
        let [from, to] = pair else { return Ok(()) };
        if is_worse(target, from, to) {
            join(next, part(search_range, target, from, to));
        } else if is_worse(target, to, from) {
            match self.is_surely_better(search_range, target, from, to)? {
                IsBetter::Yes => self.note_fall(ledger, search_range, target, [from, to], next)?,
                IsBetter::Open => self.note_perhaps_mended(ledger, target, [from, to])?,
                IsBetter::No => {}
            }
        }
        Ok(())
    }

    /// Finds the commit at which the level falls between these two, and adds a mend there. Follows
    /// the levels on both sides of it: a level may rise and fall more than once.
    pub(super) fn note_fall(
        &mut self,
        ledger: &mut Ledger,
        search_range: &SearchRange,
        target: &GuardTarget,
        [from, to]: [&Level; 2],
        next: &mut Vec<SearchRange>,
    ) -> Result<(), HuntError> {
        let Some(better) = self.first_better(from, to, target)? else { return Ok(()) };
        let LevelFall { before, after } = better;
        let mut parts = Vec::new();
        if let Some([base, tip]) = self.fall_on_branch(&before, &after, target)? {
            self.note_fall_of_merge(ledger, target, [&before, &after], [&base, &tip])?;
            parts.extend([[from.clone(), before], [base, tip], [after, to.clone()]]);
        } else {
            let amount = target.guard.worsening(after.value, before.value);
            add_mend(ledger, target, [&before, &after], amount);
            parts.extend([[from.clone(), before], [after, to.clone()]]);
        }
        for pair in parts {
            self.follow(ledger, search_range, target, &pair, next)?;
        }
        Ok(())
    }

    /// If a merge's level falls by more than its branch's, adds the merge's own fall to the ledger
    /// as a mend; if by exactly as much, notes that the merge brings that fall in. Only where
    /// levels repeat, and if the branch has one base: after criss-cross merges the fall from a base
    /// to the tip may be a part of both sides.
    fn note_fall_of_merge(
        &self,
        ledger: &mut Ledger,
        target: &GuardTarget,
        [before, merge]: [&Level; 2],
        [base, tip]: [&Level; 2],
    ) -> Result<(), HuntError> {
        let bases = self.oracle.history.merge_bases(&before.commit, &tip.commit)?;
        let fall = |from: &Level, to: &Level| target.guard.worsening(to.value, from.value);
        let amount = fall(before, merge);
        let own = amount - fall(base, tip);
        let repeats = target.noise.is_none() && !self.is_flaky;
        if !repeats || bases.len() != 1 || !own.is_finite() {
            return Ok(());
        }
        if exceeds_limit(own, target.limit.max(0.0), [before.value, merge.value]) {
            add_mend(ledger, target, [before, merge], own);
        } else if own.abs() <= EXACT * amount {
            ledger.brought_falls.push(BroughtFall {
                metric: target.guard.metric.clone(),
                before: before.commit.clone(),
                merge: merge.commit.clone(),
                tip: tip.commit.clone(),
                amount,
            });
        }
        Ok(())
    }

    /// If a merge's level falls because it merges a branch with a mend: the branch's base, and its
    /// tip, which is no worse than the merge. The branch may fall further and rise again before its
    /// tip, so the step that explains the merge may lie there. After criss-cross merges there are
    /// several bases, and only one may have the level before the mend.
    fn fall_on_branch(
        &mut self,
        before: &Level,
        merge: &Level,
        target: &GuardTarget,
    ) -> Result<Option<[Level; 2]>, HuntError> {
        let parents = self.oracle.history.parents(&merge.commit)?;
        let Some(line) = self.parent_like(&before.commit, &parents)? else { return Ok(None) };
        for parent in parents.iter().filter(|parent| **parent != line) {
            let targets = [Target::Guard(target.clone())];
            for base in self.oracle.history.merge_bases(&before.commit, parent)? {
                for one in [parent, &base] {
                    self.judge(one, &targets)?;
                }
                let [from, tip] = [self.level_at(&base, target)?, self.level_at(parent, target)?];
                if base != *parent
                    && !is_worse(target, merge, &tip)
                    && is_worse(target, &tip, &from)
                {
                    return Ok(Some([from, tip]));
                }
            }
        }
        Ok(None)
    }

    /// Whether the later commit is still better after more runs of it; in noise, of both commits. A
    /// single stray run must not clear the found commit, nor hide a mend.
    fn is_surely_better(
        &mut self,
        search_range: &SearchRange,
        target: &GuardTarget,
        from: &Level,
        to: &Level,
    ) -> Result<IsBetter, HuntError> {
        let metric = &target.guard.metric;
        let limit = target.limit.max(0.0);
        if target.noise.is_some() {
            let worse = self.mean_level(&from.commit, metric, RUNS_IN_NOISE)?;
            let Some(worse) = worse else { return Ok(IsBetter::Yes) };
            let better = self.mean_level(&to.commit, metric, RUNS_IN_NOISE)?;
            let Some(better) = better else { return Ok(IsBetter::Yes) };
            let error = MeanLevel::error(target, [worse, better], SURE_IN_NOISE);
            let fall = target.guard.worsening(better.value, worse.value);
            return Ok(if fall > limit + error { IsBetter::Yes } else { IsBetter::No });
        }
        let [_, newer] = search_range.ends();
        if to.commit == *newer {
            return Ok(IsBetter::Yes);
        }
        let targets = [Target::Guard(target.clone())];
        let are_better = |seen: &Observation| {
            let numbers = seen.numbers(metric);
            numbers.iter().all(|x| target.guard.is_worse_by(*x, from.value, limit))
        };
        let older = search_range.terms.older();
        if self.measure_repeatedly(older, &to.commit, &targets, are_better)?.is_some() {
            return Ok(IsBetter::Yes);
        }
        self.is_mostly_better(&to.commit, target, from.value, older)
    }

    /// Bisects one path to find the fall from the level of `from` to that of `to`. Passes over
    /// commits that change nothing that builds read: each has the level of the one before it.
    fn first_better(
        &mut self,
        from: &Level,
        to: &Level,
        target: &GuardTarget,
    ) -> Result<Option<LevelFall>, HuntError> {
        let path = self.chain(&from.commit, &to.commit)?;
        let mut chain = self.read_by_builds(&from.commit, &path)?;
        // The level of `to` is known, whatever it changes.
        if chain.last() != Some(&to.commit) {
            chain.push(to.commit.clone());
        }
        let targets = [Target::Guard(against(target, to, from))];
        let (mut low, mut high) = (0, chain.len().saturating_sub(1));
        let (mut before, mut after) = (from.clone(), to.clone());
        let mut untestable = BTreeSet::new();
        while high > low {
            let middle = low + (high - low) / 2;
            // The nearest commit that can be measured.
            let open = (low..high).filter(|place| !untestable.contains(place));
            let Some(at) = open.min_by_key(|place| place.abs_diff(middle)) else { break };
            if target.noise.is_some() {
                // A single stray run would put the fall at the wrong commit.
                self.measure_in_noise(&chain[at], &targets)?;
            } else if self.is_flaky {
                // A single stray build would do the same.
                let older = self.terms().older();
                self.measure_repeatedly(older, &chain[at], &targets, |_| true)?;
            }
            self.compared.insert(chain[at].clone());
            let (judgement, seen) =
                self.oracle.judge_until_decided(&chain[at], &targets, Phase::Search, None)?;
            match judgement.verdict {
                Verdict::Good => (high, after) = (at, level_of(&seen, &chain[at], target)),
                Verdict::Bad => (low, before) = (at + 1, level_of(&seen, &chain[at], target)),
                Verdict::Skip | Verdict::Unknown => {
                    untestable.insert(at);
                }
            }
        }
        Ok((after.commit != before.commit).then_some(LevelFall { before, after }))
    }

    /// Makes [`RUNS_IN_NOISE`] runs of a commit, or two if both give no value for one reason.
    fn measure_in_noise(&mut self, commit: &CommitId, targets: &[Target]) -> Result<(), HuntError> {
        let recipe = self.oracle.recipes.at(commit)?;
        let measures = measures_of(targets);
        let look = Request::look(commit, &measures, Phase::Search);
        let first = self.oracle.evaluate(Request { runs: RUNS_TO_SKIP, ..look })?;
        if !is_surely_untestable(&first, targets, &recipe) {
            self.oracle.evaluate(Request { runs: RUNS_IN_NOISE, ..look })?;
        }
        Ok(())
    }

    pub(super) fn level_at(
        &mut self,
        commit: &CommitId,
        target: &GuardTarget,
    ) -> Result<Level, HuntError> {
        let seen = self.known_runs(commit, std::slice::from_ref(&target.guard.metric.measure))?;
        Ok(level_of(&seen, commit, target))
    }
}

/// Adds a mend to the ledger. `levels`: those of the last worse commit and of the first better one.
/// `amount`: how much of the fall between them the better commit made itself.
fn add_mend(ledger: &mut Ledger, target: &GuardTarget, levels: [&Level; 2], amount: f64) {
    let [before, after] = levels;
    let metric = &target.guard.metric;
    ledger.mended(Mend {
        by: after.commit.clone(),
        before: Some(before.commit.clone()),
        metric: Some(metric.clone()),
        amount,
        left: ledger.beyond_good(metric, after.value).unwrap_or(0.0),
        limit: target.limit,
        repeats: target.noise.is_none(),
    });
}
