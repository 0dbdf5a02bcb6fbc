//! Searches a range again if verdicts of one commit contradict each other, as its runs or builds
//! differ. Each run then counts as one vote, and a posterior over the commits weighs the votes.

use std::collections::{BTreeMap, BTreeSet};

use crate::evaluation::{CommitId, GuardTarget, Noise, NoiseKind, Target, Verdict};
use crate::git::{History, Range};
use crate::hunt::HuntError;
use crate::hunt::confirm::verdict_counts::VerdictCounts;
use crate::hunt::driver::Driver;
use crate::hunt::range::SearchRange;
use crate::hunt::run_verdicts::all_are;
use crate::hunt::searched::Searched;
use crate::hunt::strategy::SearchStrategy;
use crate::oracle::measures_of;
use crate::search::{MOST_MIXED_RUNS, runs_to_tell_absence};
use crate::store::journal::Event;

use super::open_commits::all_open_reason;
use super::posterior::posterior;
use super::sampler::Sampler;

/// Number of runs after which a commit counts as one of the older side, if a failure is sought or
/// runs of one commit differ: one run without the failure does not prove much.
const RUNS_OF_OLDER: usize = 3;

impl Driver<'_> {
    /// Searches the range again by how often each commit breaks its guard, unless only named checks
    /// vary that can be left out. `None` if no guard is a target.
    pub(crate) fn search_by_rates(
        &mut self,
        search_range: &SearchRange,
        strategy: &SearchStrategy,
        why: &str,
    ) -> Result<Option<Searched>, HuntError> {
        if let Some(checks) = self.chance_checks()? {
            return Ok(Some(Searched::ChecksVary(checks)));
        }
        self.is_flaky = true;
        let Some(target) = strategy.targets.iter().find_map(rated) else { return Ok(None) };
        let text = format!(
            "runs of {} do not repeat after all ({why}): from now on each run counts as one vote",
            target.guard.metric
        );
        self.oracle.recorder.event(Event::Note { text })?;
        self.check_home_again(&search_range.targets)?;
        let mut sampler = Sampler::default();
        sampler.is_rebuilt = self.builds_differ(&search_range.targets)?;
        match self.ends(search_range, &target, &mut sampler)? {
            Err(Searched::Nothing(why) | Searched::Unchanged(why)) => {
                self.without_ends(search_range, &why).map(Some)
            }
            Err(other) => Ok(Some(other)),
            Ok((target, ends)) => {
                if let Some(end) = self.flaky_end(search_range, &target.guard.metric, &ends)? {
                    let why = format!(
                        "runs of {}, an end of the range, differ from each other",
                        end.short()
                    );
                    return self.without_ends(search_range, &why).map(Some);
                }
                posterior(self, search_range, &target, ends, sampler).map(Some)
            }
        }
    }

    /// The candidates if the ends of the range do not tell failure rates. Claims were rejected
    /// before, and a few runs may have chosen these ends, so the commits of the whole hunt are
    /// candidates.
    fn without_ends(
        &mut self,
        search_range: &SearchRange,
        why: &str,
    ) -> Result<Searched, HuntError> {
        let open = self.all_open(search_range)?;
        let why = all_open_reason(why, &[], &open);
        Ok(Searched::Candidates(open, why.into()))
    }

    /// Whether all runs of the range's newer end, old and fresh, are on the older side. A claim that
    /// this refutes does not show that runs differ: that end was only taken for one on the newer
    /// side.
    pub(crate) fn is_older_in_all_runs(
        &mut self,
        search_range: &SearchRange,
        targets: &[Target],
    ) -> Result<bool, HuntError> {
        let seen = self.known_runs(&search_range.newer, &measures_of(targets))?;
        let recipe = self.oracle.recipes.at(&search_range.newer)?;
        Ok(all_are(search_range.terms.older(), &seen, targets, &recipe))
    }

    /// Whether builds are known to differ, or not known to repeat. Then only runs of different
    /// builds are independent votes.
    pub(crate) fn builds_differ(&mut self, targets: &[Target]) -> Result<bool, HuntError> {
        let judged = self.judged()?;
        Ok(self.known_to_repeat(targets, judged)? != Some(true))
    }

    /// The commits still in question after the last verdicts: those after the older side's commits,
    /// up to the first commit on the newer side. A commit of a branch that forks off before the
    /// older end is no such limit, unless the branch is known to start on the older side: what the
    /// commit shows may come from before the fork.
    pub(crate) fn open_range(
        &mut self,
        search_range: &SearchRange,
    ) -> Result<Vec<CommitId>, HuntError> {
        let history = &self.oracle.history;
        let [older, newer] = search_range.ends();
        let verdicts = self.last_verdicts()?;
        let mut last = newer.clone();
        for commit in history.commits(&Range::between(older, newer))? {
            if verdicts.get(&commit).is_some_and(|verdict| search_range.is_newer(*verdict))
                && history.is_ancestor(&commit, &last)?
                && forks_on_older_side(history, search_range, &verdicts, &commit)?
            {
                last = commit;
            }
        }
        self.open_up_to(search_range, &last)
    }

    /// The commits after the older side's commits, up to `last`.
    fn open_up_to(
        &mut self,
        search_range: &SearchRange,
        last: &CommitId,
    ) -> Result<Vec<CommitId>, HuntError> {
        let failing = self.failing(search_range)?;
        let fewest = self.runs_of_older(search_range)?;
        let history = &self.oracle.history;
        let open = history.commits(&Range::between(&search_range.older, last))?;
        let verdicts = self.last_verdicts()?;
        let runs = self.runs_judged()?;
        let mut first = vec![search_range.older.clone()];
        for commit in &open {
            let is_older = verdicts.get(commit).is_some_and(|one| search_range.is_older(*one));
            if !is_older || runs.get(commit).is_none_or(|runs| *runs < fewest) {
                continue;
            }
            let mut is_after_failure = false;
            for one in &failing {
                is_after_failure = is_after_failure || history.is_ancestor(one, commit)?;
            }
            if !is_after_failure && history.is_ancestor(commit, last)? {
                first.push(commit.clone());
            }
        }
        let left = Range { old: first, ..Range::between(&search_range.older, last) };
        let left = history.commits(&left)?;
        Ok(if left.is_empty() { open } else { left })
    }

    /// How many runs of one verdict show that a commit is on the older side. If the sought failure
    /// comes and goes where it shows, a few runs without it are no rarity there: then as many as tell
    /// that it is gone.
    fn runs_of_older(&mut self, search_range: &SearchRange) -> Result<usize, HuntError> {
        if !seeks_failure(search_range) {
            return Ok(if self.is_flaky { RUNS_OF_OLDER } else { 1 });
        }
        let [failed, worked] = self.runs_of_failing(search_range)?;
        if failed == 0 || worked == 0 {
            return Ok(RUNS_OF_OLDER);
        }
        let confidence = self.oracle.recipes.config.statistics.confidence;
        let wanted = runs_to_tell_absence(failed, failed + worked, confidence, MOST_MIXED_RUNS);
        Ok(wanted.max(RUNS_OF_OLDER))
    }

    /// How many runs failed, and how many worked, at the commits that showed the sought failure.
    fn runs_of_failing(&mut self, search_range: &SearchRange) -> Result<[usize; 2], HuntError> {
        let targets = &search_range.targets;
        let measures = measures_of(targets);
        let mut failing: BTreeSet<CommitId> = self.failing(search_range)?.into_iter().collect();
        if !failing.is_empty() {
            failing.insert(self.begun.bad.commit.clone());
        }
        let mut sum = [0, 0];
        for commit in failing {
            let known = self.known_runs(&commit, &measures)?;
            let recipe = self.oracle.recipes.at(&commit)?;
            let counts = VerdictCounts::of(&known, targets, &recipe);
            sum[0] += counts.runs_with(Verdict::Bad);
            sum[1] += counts.runs_with(Verdict::Good);
        }
        Ok(sum)
    }

    /// The judged commits that showed the sought failure in any run: no good commit shows it by
    /// chance, since the good end never fails. Empty if no failure is sought, if the good end failed
    /// too, and in a hunt for a fix.
    fn failing(&mut self, search_range: &SearchRange) -> Result<Vec<CommitId>, HuntError> {
        if !seeks_failure(search_range) || !search_range.explains_levels() {
            return Ok(Vec::new());
        }
        let targets = &search_range.targets;
        let measures = measures_of(targets);
        let mut failing = self.judged_as(Verdict::Bad)?;
        for commit in self.judged()?.into_iter().chain([self.begun.good.commit.clone()]) {
            let known = self.known_runs(&commit, &measures)?;
            let recipe = self.oracle.recipes.at(&commit)?;
            if VerdictCounts::of(&known, targets, &recipe).runs_with(Verdict::Bad) > 0 {
                failing.insert(commit);
            }
        }
        if failing.contains(&self.begun.good.commit) {
            return Ok(Vec::new());
        }
        Ok(failing.into_iter().collect())
    }

    /// The commits that were judged so at any time.
    fn judged_as(&self, verdict: Verdict) -> Result<BTreeSet<CommitId>, HuntError> {
        let mut commits = BTreeSet::new();
        for entry in &self.hunt.entries_in_force()? {
            if let Event::Judged(judged) = &entry.event
                && judged.judgement.verdict == verdict
            {
                commits.insert(judged.commit.clone());
            }
        }
        Ok(commits)
    }

    /// For each judged commit, the largest number of runs behind one verdict.
    fn runs_judged(&self) -> Result<BTreeMap<CommitId, usize>, HuntError> {
        let mut runs: BTreeMap<CommitId, usize> = BTreeMap::new();
        for entry in &self.hunt.entries_in_force()? {
            if let Event::Judged(judged) = &entry.event {
                let most = runs.entry(judged.commit.clone()).or_default();
                *most = judged.attempts.len().max(*most);
            }
        }
        Ok(runs)
    }
}

/// Whether a commit contains the older end, or is on a branch that is known to start on the older
/// side. True if the newer end does not contain the older one either: then all branches start
/// before the older end.
fn forks_on_older_side(
    history: &History,
    search_range: &SearchRange,
    verdicts: &BTreeMap<CommitId, Verdict>,
    commit: &CommitId,
) -> Result<bool, HuntError> {
    let [older, newer] = search_range.ends();
    if history.is_ancestor(older, commit)? || !history.is_ancestor(older, newer)? {
        return Ok(true);
    }
    let is_older =
        |base: &CommitId| verdicts.get(base).is_some_and(|one| search_range.is_older(*one));
    let bases = history.merge_bases(older, commit)?;
    Ok(!bases.is_empty() && bases.iter().all(is_older))
}

fn seeks_failure(search_range: &SearchRange) -> bool {
    search_range.targets.iter().any(|target| matches!(target, Target::Failure { .. }))
}

/// The target, judged by how often runs break it; `None` for a failure.
pub(crate) fn rated(target: &Target) -> Option<GuardTarget> {
    let Target::Guard(target) = target else { return None };
    let kind = if target.failure.is_some() { NoiseKind::Fails } else { NoiseKind::Breaks };
    let error = target.noise.map_or(0.001, |noise| noise.error);
    let noise = Noise { kind, good: 0.0, bad: 1.0, sd: 0.0, runs: 0, paired: false, error };
    Some(GuardTarget { noise: Some(noise), ..target.clone() })
}
