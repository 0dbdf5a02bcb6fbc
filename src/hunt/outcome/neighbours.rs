//! In noise, checks whether the neighbours of a found commit show its step, too. A search in noise
//! measures few commits, and one commit alone may look like a step: the next one undid the change,
//! or the code has another layout at this one commit.

use crate::evaluation::{CommitId, Culprit, GuardTarget, Neighbours, Phase, Target, Value};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::hunt::range::SearchRange;
use crate::hunt::samples::samples;
use crate::hunt::strategy::SearchStrategy;
use crate::oracle::{Request, measures_of};
use crate::store::journal::Event;

use super::account::Ledger;
use super::lack::{AtNeighbour, Lack};
use super::range_after_mend::goes_on_from;

/// Maximum number of commits that are tried on one side of a found commit. The next one is tried if
/// a commit cannot be measured, or runs the same files as the commit beside it.
const MOST_TRIED: usize = 4;
/// Maximum number of runs of the other commit, beside the known runs of the reference.
const MOST_RUNS_OF_OTHER: usize = 24;
/// Maximum number of these runs for each run of the reference. Further runs of the other commit
/// alone show little; new runs of both commits show more.
const MOST_FOR_EACH: usize = 4;
/// Maximum number of runs of both commits in turn.
const MOST_PAIRS: usize = 24;

/// A range to search, because the step of a found commit is gone at the next one.
pub(super) struct GoneAtNext {
    pub(super) range: SearchRange,
    /// Only a part of the step is gone: the found commit may still count.
    pub(super) in_part: bool,
}

impl Driver<'_> {
    /// In noise: if the step of a found commit is gone at the next commit, or more than the
    /// tolerance of it, records a mend there and returns the range from there to the newer end. If
    /// the runs do not tell, withdraws the found commit: a later one may cause what the newer end
    /// shows. A next commit that runs the same files as the found one tells nothing of the found
    /// commit's layout: the one after it is tried too.
    pub(super) fn leave_if_gone_at_next(
        &mut self,
        ledger: &mut Ledger,
        search_range: &SearchRange,
        culprit: &Culprit,
    ) -> Result<Option<GoneAtNext>, HuntError> {
        let strategy = SearchStrategy::of(&search_range.targets, self.begun.options.search);
        let Some(target) = strategy.noisy().filter(|target| !target.is_rate()) else {
            return Ok(None);
        };
        let Some(size) = oriented_step(culprit, target) else { return Ok(None) };
        let found = &culprit.info.commit;
        let [_, newer] = search_range.ends();
        let chain = self.chain(found, newer)?;
        let mut later = self.read_by_builds(found, &chain)?;
        // If builds read nothing of all this, any next commit runs the found one's program.
        let is_next_the_end = later.first().or(chain.first()).is_none_or(|next| next == newer);
        later.retain(|one| one != newer);
        let mut gone = None;
        self.begin_neighbours(found, Neighbours::Later, later.len())?;
        for next in later.iter().take(MOST_TRIED) {
            match self.at_neighbour_on(Neighbours::Later, [found, next], target, size)? {
                Some(AtNeighbour::Most) if !self.load_same_files(found, next, target)? => break,
                None | Some(AtNeighbour::Most) => {}
                Some(AtNeighbour::Part)
                    if !self.lacks_the_tolerance(search_range, [found, next], target)? =>
                {
                    break;
                }
                Some(shown @ (AtNeighbour::Nothing | AtNeighbour::Part)) => {
                    let in_part = matches!(shown, AtNeighbour::Part);
                    ledger.note(note(culprit, next, target, in_part));
                    let measures = measures_of(&search_range.targets);
                    let before = self.known_runs(found, &measures)?;
                    let seen = self.known_runs(next, &measures)?;
                    let range = goes_on_from(ledger, search_range, &seen, &before);
                    gone = Some(GoneAtNext { range, in_part });
                    if in_part {
                        break;
                    }
                    return Ok(gone);
                }
                Some(AtNeighbour::Unclear) => {
                    let why = format!(
                        "in noise it is not clear whether the step of {} lasts to the next commit, \
                         {}",
                        found.short(),
                        next.short()
                    );
                    let among = [std::slice::from_ref(found), chain.as_slice()].concat();
                    ledger.withdraw(found, &among, why);
                    return Ok(None);
                }
            }
        }
        if !is_next_the_end {
            self.withdraw_if_parent_stands_out(ledger, search_range, culprit, target, size)?;
        }
        Ok(gone)
    }

    /// Whether the next commit takes more than the tolerance of a found commit's step back, by all
    /// known runs of both commits. A commit that takes less back is no mend.
    fn lacks_the_tolerance(
        &mut self,
        search_range: &SearchRange,
        [found, next]: [&CommitId; 2],
        target: &GuardTarget,
    ) -> Result<bool, HuntError> {
        let metric = &target.guard.metric;
        let found = self.mean_level(found, metric, 0)?;
        let levels = found.zip(self.mean_level(next, metric, 0)?);
        let lost = levels
            .map(|(found, next)| search_range.terms.step(&target.guard, next.value, found.value));
        Ok(lost.is_some_and(|lost| lost > target.limit.max(0.0)))
    }

    /// If the metric depends on speed, withdraws a found commit whose parent alone is better than
    /// the commits around it, perhaps by another layout of its code: an earlier commit may have
    /// made the step. The found commit stays if the commit before the parent has at least half of
    /// the parent's advantage, or is nearer to the older end's level than to the newer end's, or if
    /// a known mend explains the parent's level. Passes over commits that run the parent's files.
    /// `size`: the step on the oriented scale.
    fn withdraw_if_parent_stands_out(
        &mut self,
        ledger: &mut Ledger,
        search_range: &SearchRange,
        culprit: &Culprit,
        target: &GuardTarget,
        size: f64,
    ) -> Result<(), HuntError> {
        if !search_range.explains_levels() || !target.guard.depends_on_speed() {
            return Ok(());
        }
        let (found, parent) = (&culprit.info.commit, &culprit.parent);
        let older = &search_range.older;
        let mut among = self.chain(older, parent)?;
        // The last of these is the parent, or has the code that the parent runs.
        let read = self.read_by_builds(older, &among)?;
        let code = read.last().unwrap_or(parent);
        if self.is_parent_a_mend(ledger, culprit, target, code)? {
            return Ok(());
        }
        let mut is_unknown = false;
        self.begin_neighbours(parent, Neighbours::Earlier, read.len().saturating_sub(1))?;
        for earlier in read.iter().rev().skip(1).take(MOST_TRIED) {
            match self.at_neighbour_on(Neighbours::Earlier, [parent, earlier], target, -size)? {
                None => is_unknown = true,
                Some(AtNeighbour::Most) => {
                    if !self.load_same_files(parent, earlier, target)? {
                        return Ok(());
                    }
                }
                Some(AtNeighbour::Part | AtNeighbour::Nothing | AtNeighbour::Unclear) => {
                    if !self.is_near_older_end(search_range, earlier, target)? {
                        let why = format!(
                            "{} alone is better than the commits before and after it, perhaps \
                             because its code lies elsewhere in memory: an earlier commit may have \
                             made the step",
                            parent.short()
                        );
                        among.push(found.clone());
                        ledger.withdraw(found, &among, why);
                    }
                    return Ok(());
                }
            }
        }
        if is_unknown {
            ledger.note(format!(
                "the commits before {} cannot be measured, so nothing tells whether {} alone is \
                 better than its neighbours",
                parent.short(),
                parent.short()
            ));
        }
        Ok(())
    }

    /// Whether a commit's level is nearer to the older end's than to the newer end's, by new runs
    /// of the commit and the older end in turn. If a commit before the parent is near the older
    /// end, the parent is an improvement that the found commit took back. False if the runs do not
    /// tell.
    fn is_near_older_end(
        &mut self,
        search_range: &SearchRange,
        commit: &CommitId,
        target: &GuardTarget,
    ) -> Result<bool, HuntError> {
        let scale = target.orientation();
        let levels = [&target.baseline, &target.bad].map(Value::number);
        let [Some(good), Some(bad)] = levels else { return Ok(false) };
        let size = scale.oriented(bad) - scale.oriented(good);
        if !(size.is_finite() && size > 0.0) {
            return Ok(false);
        }
        let shown = self.at_neighbour_in_turn(commit, &search_range.older, target, size)?;
        Ok(matches!(shown, Some(AtNeighbour::Most)))
    }

    /// As [`Self::at_neighbour`], with an entry in the journal. `side`: where the other commit is.
    fn at_neighbour_on(
        &mut self,
        side: Neighbours,
        [reference, other]: [&CommitId; 2],
        target: &GuardTarget,
        height: f64,
    ) -> Result<Option<AtNeighbour>, HuntError> {
        let shown = self.at_neighbour(reference, other, target, height)?;
        let subject = self.oracle.history.info(other)?.subject;
        let (commit, of) = (other.clone(), reference.clone());
        self.oracle.recorder.event(Event::Neighbour { commit, subject, of, side })?;
        Ok(shown)
    }

    /// Tells that neighbours of a commit are measured, if there are any.
    fn begin_neighbours(
        &mut self,
        of: &CommitId,
        side: Neighbours,
        commits: usize,
    ) -> Result<(), HuntError> {
        if commits == 0 {
            return Ok(());
        }
        let (of, most) = (of.clone(), commits.min(MOST_TRIED));
        Ok(self.oracle.recorder.event(Event::Neighbours { of, side, most })?)
    }

    /// What another commit shows of the reference's level; `None` if it cannot be measured. `size`:
    /// how far the reference is above the other side of the found commit's step, on the oriented
    /// scale.
    fn at_neighbour(
        &mut self,
        reference: &CommitId,
        other: &CommitId,
        target: &GuardTarget,
        size: f64,
    ) -> Result<Option<AtNeighbour>, HuntError> {
        match self.at_first_look(reference, other, target, size)? {
            Some(AtNeighbour::Part | AtNeighbour::Nothing | AtNeighbour::Unclear) => {
                self.at_neighbour_in_turn(reference, other, target, size)
            }
            shown => Ok(shown),
        }
    }

    /// As [`Self::at_neighbour`], by the known runs of the reference and a few of the other commit.
    /// One run is enough of a commit that runs the reference's files and probably shows its level.
    fn at_first_look(
        &mut self,
        reference: &CommitId,
        other: &CommitId,
        target: &GuardTarget,
        size: f64,
    ) -> Result<Option<AtNeighbour>, HuntError> {
        let noise = target.noise.expect("a search in noise");
        if noise.paired {
            // On a drifting machine, only runs beside each other can be compared.
            return Ok(Some(AtNeighbour::Unclear));
        }
        let Some(own) = self.oriented_runs(reference, target, 0)? else { return Ok(None) };
        let mut runs = 1;
        loop {
            let Some(theirs) = self.oriented_runs(other, target, runs)? else { return Ok(None) };
            let lack = Lack::of_levels([&own, &theirs], noise.sd, size);
            if let Some(shown) = AtNeighbour::of(lack, runs >= MOST_RUNS_OF_OTHER) {
                return Ok(Some(shown));
            }
            if runs == 1
                && lack.is_probably_small()
                && self.load_same_files(reference, other, target)?
            {
                return Ok(Some(AtNeighbour::Most));
            }
            if runs >= MOST_FOR_EACH * own.len() {
                return Ok(Some(AtNeighbour::Unclear));
            }
            runs = MOST_RUNS_OF_OTHER.min(2 * runs);
        }
    }

    /// As [`Self::at_neighbour`], by new runs of both commits in turn: the machine may have changed
    /// since the reference was measured. Each run has a build of its own, unless builds of the
    /// commit are known to give the same files.
    fn at_neighbour_in_turn(
        &mut self,
        reference: &CommitId,
        other: &CommitId,
        target: &GuardTarget,
        size: f64,
    ) -> Result<Option<AtNeighbour>, HuntError> {
        let noise = target.noise.expect("a search in noise");
        let sd = noise.sd_of_difference();
        let mut differences = Vec::new();
        loop {
            let Some(own) = self.one_more_run(reference, target)? else { return Ok(None) };
            let Some(theirs) = self.one_more_run(other, target)? else { return Ok(None) };
            differences.push(own - theirs);
            let Some(lack) = Lack::of_pairs(&differences, sd, size) else { continue };
            if let Some(shown) = AtNeighbour::of(lack, differences.len() >= MOST_PAIRS) {
                return Ok(Some(shown));
            }
        }
    }

    /// One more run of a commit, on the oriented scale; `None` if it gives no number.
    pub(super) fn one_more_run(
        &mut self,
        commit: &CommitId,
        target: &GuardTarget,
    ) -> Result<Option<f64>, HuntError> {
        let targets = [Target::Guard(target.clone())];
        let measures = measures_of(&targets);
        let rebuild = self.known_to_repeat(&targets, [commit.clone()])? != Some(true);
        let known = self.known_runs(commit, &measures)?;
        let runs = known.of(&target.guard.metric.measure).len() + 1;
        let look = Request::look(commit, &measures, Phase::Search);
        let seen = self.oracle.evaluate(Request { runs, rebuild, ..look })?;
        let all = samples(&seen, target, &self.oracle.recipes.config).ok();
        Ok(all.and_then(|all| all.last().copied()).filter(|run| run.is_finite()))
    }

    /// At least so many runs of a commit, on the oriented scale; `None` if they give no numbers.
    pub(super) fn oriented_runs(
        &mut self,
        commit: &CommitId,
        target: &GuardTarget,
        runs: usize,
    ) -> Result<Option<Vec<f64>>, HuntError> {
        let measures = [target.guard.metric.measure.clone()];
        let look = Request::look(commit, &measures, Phase::Search);
        let seen = self.oracle.evaluate(Request { runs, ..look })?;
        let all = samples(&seen, target, &self.oracle.recipes.config).ok();
        Ok(all.filter(|all| !all.is_empty() && all.iter().all(|run| run.is_finite())))
    }
}

/// The own step of a found commit on the oriented scale. `None` without one.
pub(crate) fn oriented_step(culprit: &Culprit, target: &GuardTarget) -> Option<f64> {
    let effect = culprit.effect_on(&target.guard.metric)?;
    let scale = target.orientation();
    let [parent, commit] = [&effect.parent, &effect.commit].map(Value::number);
    let size = scale.oriented(commit?) - scale.oriented(parent?);
    (size.is_finite() && size.abs() > 0.0).then_some(size)
}

fn note(culprit: &Culprit, next: &CommitId, target: &GuardTarget, in_part: bool) -> String {
    let layout = if target.guard.depends_on_speed() {
        " (a commit may shift the speed by moving code in memory)"
    } else {
        ""
    };
    let gone = if in_part { "a part" } else { "most" };
    format!(
        "the step of {} does not last: {gone} of it is gone at the next commit, {}{layout}",
        culprit.info.commit.short(),
        next.short(),
    )
}
