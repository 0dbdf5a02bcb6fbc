//! In noise, tests whether the newer end needs a named commit: fresh runs of that end and of the
//! same end without the commit's change, in turn, as in a confirmation. If nothing tells, later
//! commits are measured, or the confidence stays below what counts as certain.

use crate::config::Config;
use crate::evaluation::{Cause, CommitId, Culprit, Finding, GuardTarget, Phase, Revert, Target};
use crate::git::{Conflicts, History};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::hunt::open_doubt::lower_confidence;
use crate::hunt::samples::samples;
use crate::oracle::{Request, Sample};
use crate::search::{FreshPairs, Side, Step};

use super::change::Change;
use super::end_need::EndNeed;
use super::lost_step::may_lose;
use super::noisy_steps::noisy_steps;
use super::open_change::{OpenChange, WhyOpen};
use super::patched::Patched;
use super::reversal::AddedFiles;
use super::step;

/// Maximum number of pairs of votes, if runs of one commit were seen to differ only during the
/// search. If 40 % of the bad end's runs flake, 25 pairs decide on average, and 60 in 95 of 100
/// simulated tests.
const MOST_VOTES: usize = 60;

impl Driver<'_> {
    /// The only named commit, if the newer end does not need it: fresh pairs reject one of its
    /// steps between that end without its change and that end, or a later commit lacks this step.
    /// Only in noise, and only for steps that no other test took out of that end. If nothing tells,
    /// lowers the confidence in the commit and notes that.
    pub(crate) fn idle_in_noise(
        &mut self,
        finding: &mut Finding,
    ) -> Result<Option<OpenChange>, HuntError> {
        let Some(culprit) = self.main_to_explain(finding).cloned() else { return Ok(None) };
        let is_tested = finding.cause.as_ref().is_some_and(has_told);
        if finding.culprits.len() > 1 {
            return Ok(None);
        }
        let told = self.end_in_noise(&culprit, &finding.culprits, is_tested, &mut 0)?;
        let (targets, _) = self.sought()?;
        let revert = finding.cause.as_ref().and_then(|cause| cause.revert.as_ref());
        let told = told.unless_void(revert.filter(|_| !self.values_repeat(&targets)));
        Ok(self.open_unless_needed(finding, &culprit, told))
    }

    /// The same for several named commits, each taken out alone: a later commit may have undone any
    /// of them, and another one may have made its step again. The end without all of them does not
    /// tell: in noise its verdict only says to which end it is nearer.
    pub(crate) fn idle_beside_in_noise(
        &mut self,
        finding: &mut Finding,
    ) -> Result<Vec<OpenChange>, HuntError> {
        let mut open = Vec::new();
        if finding.culprits.len() < 2 || self.main_to_explain(finding).is_none() {
            return Ok(open);
        }
        let (targets, _) = self.sought()?;
        let repeats = self.values_repeat(&targets);
        let mut rounds = 0;
        let named = finding.culprits.clone();
        for culprit in &named {
            let told = self.end_in_noise(culprit, &named, false, &mut rounds)?;
            let joint = finding.joint_revert.as_ref().filter(|_| !repeats);
            let told = told.unless_void(joint.map(|joint| &joint.revert));
            open.extend(self.open_unless_needed(finding, culprit, told));
        }
        Ok(open)
    }

    /// The named commit, if the newer end does not need it. If nothing tells, lowers the confidence
    /// in the commit and notes that.
    pub(super) fn open_unless_needed(
        &self,
        finding: &mut Finding,
        culprit: &Culprit,
        told: EndNeed,
    ) -> Option<OpenChange> {
        let commit = &culprit.info.commit;
        let why = match told {
            EndNeed::Needed => return None,
            EndNeed::Idle => WhyOpen::NoEffect,
            EndNeed::LaterLines => WhyOpen::LaterLines,
            EndNeed::KeepsAPart => WhyOpen::KeepsAPart,
            EndNeed::InOtherFile => WhyOpen::InOtherFile,
            EndNeed::GoneAt(at) => WhyOpen::GoneAt(at),
            EndNeed::OfBranch(step) => WhyOpen::OfBranch(step),
            EndNeed::LinesNeeded | EndNeed::Open => {
                let own = finding.culprits.iter_mut().filter(|one| one.info.commit == *commit);
                own.for_each(lower_confidence);
                finding.notes.push(untold(&told, commit, &self.terms().newer().to_string()));
                return None;
            }
        };
        Some(OpenChange { commit: commit.clone(), why })
    }

    /// Compares the newer end with the same end without a named commit's change, in noise and for
    /// failure rates. If that does not decide, measures later commits. The end must need the commit
    /// for each of its steps: a later commit may have taken one back and left the others. `named`:
    /// all named commits. `rounds`: those of the tests so far; this test adds its own. `is_tested`:
    /// another test took the change out of the end, and judged the targets that a few runs decide.
    fn end_in_noise(
        &mut self,
        culprit: &Culprit,
        named: &[Culprit],
        is_tested: bool,
        rounds: &mut usize,
    ) -> Result<EndNeed, HuntError> {
        let [_, end] = self.begun.ends().map(CommitId::clone);
        if !self.terms().explains_levels() || culprit.info.commit == end {
            return Ok(EndNeed::Needed);
        }
        let is_untested = !is_tested
            && !self.needed_at_end.contains(&culprit.info.commit)
            && self.common_recipe(culprit)?.is_some();
        if is_untested && self.added_files(culprit, None)? == AddedFiles::InOtherFile {
            return Ok(EndNeed::InOtherFile);
        }
        let (mut targets, _) = self.sought()?;
        if self.is_flaky {
            // The targets are those of an engine that repeats, so a few runs do not tell.
            targets = self.voted_targets(culprit, named, &targets)?;
            if targets.is_empty() {
                return Ok(EndNeed::Open);
            }
        }
        let by = self.begun.options.search;
        if is_tested {
            targets.retain(|target| !step::is_judged_alone(target, by));
        }
        let first = culprit.effects.first().map(|effect| &effect.metric);
        // A failure rate may take hundreds of runs, and votes are few.
        let is_cheap = |target: &GuardTarget| {
            !target.is_rate() || self.is_flaky || first == Some(&target.guard.metric)
        };
        let mut steps = noisy_steps(culprit, &targets);
        steps.retain(|(target, _)| is_cheap(target));
        let is_tested_here = !steps.is_empty();
        let before = *rounds;
        let mut told = EndNeed::Needed;
        for tested in steps {
            // Runs that show one metric without the change show the others too.
            let mut own = before;
            let one = self.end_for_step(&end, culprit, named, tested, &mut own);
            *rounds = own.max(*rounds);
            match one {
                Err(HuntError::Limit(limit)) => {
                    self.limit = Some(limit);
                    return Ok(EndNeed::Open);
                }
                // The commit is found: a machine fault must not lose the answer, nor make it
                // certain.
                Err(error) if !self.must_end(&error) => told = EndNeed::Open,
                Err(error) => return Err(error),
                Ok(EndNeed::LinesNeeded) if told == EndNeed::Needed => told = EndNeed::LinesNeeded,
                Ok(EndNeed::Needed | EndNeed::LinesNeeded) => {}
                Ok(EndNeed::Open) => told = EndNeed::Open,
                Ok(one) => return Ok(one),
            }
        }
        if is_tested_here && told == EndNeed::Needed {
            self.needed_at_end.insert(culprit.info.commit.clone());
        }
        Ok(told)
    }

    /// The same for one step: first by fresh pairs, then by later commits.
    fn end_for_step(
        &mut self,
        end: &CommitId,
        culprit: &Culprit,
        named: &[Culprit],
        tested: (&GuardTarget, Step),
        rounds: &mut usize,
    ) -> Result<EndNeed, HuntError> {
        match self.end_without_commit(end, culprit, tested, rounds)? {
            // A single verdict of a commit whose runs differ tells little.
            told @ (EndNeed::LinesNeeded | EndNeed::Open) if !self.is_flaky => {
                self.step_at_later_commits(culprit, named, tested.0, &told)
            }
            told => Ok(told),
        }
    }

    /// What fresh pairs say of the newer end without a named commit's change. `tested`: the target,
    /// and the step that the pairs test.
    fn end_without_commit(
        &mut self,
        end: &CommitId,
        culprit: &Culprit,
        tested: (&GuardTarget, Step),
        rounds: &mut usize,
    ) -> Result<EndNeed, HuntError> {
        if self.limit.is_some() || self.common_recipe(culprit)?.is_none() {
            return Ok(EndNeed::Open);
        }
        self.announce_end_without(std::slice::from_ref(culprit))?;
        let history = History::open(self.oracle.history.repository())?;
        let change = Change::of(&history, &culprit.parent, culprit)?;
        match self.end_without(end, culprit, &change, tested.0)? {
            Patched::Done { recipe, .. } => {
                Ok(EndNeed::of(self.pairs_of_end(end, &recipe, tested, rounds)?))
            }
            Patched::Same => Ok(EndNeed::Idle),
            Patched::Conflict(_) => self.end_in_conflict(end, culprit, &change, tested, rounds),
        }
    }

    /// The same if the change does not come out, because later commits edited its lines. The end
    /// needs the commit if it loses the step without the files that come out. If not, it is tested
    /// with all lines as they were before the change.
    fn end_in_conflict(
        &mut self,
        end: &CommitId,
        culprit: &Culprit,
        change: &Change<'_>,
        tested: (&GuardTarget, Step),
        rounds: &mut usize,
    ) -> Result<EndNeed, HuntError> {
        if let Some(recipe) = self.end_without_clean_files(end, culprit, change)?
            && self.pairs_of_end(end, &recipe, tested, rounds)? == Some(Side::Bad)
        {
            return Ok(EndNeed::Needed);
        }
        let is_elsewhere = self.added_files(culprit, None)?.are_elsewhere();
        let untold = if is_elsewhere { EndNeed::InOtherFile } else { EndNeed::Open };
        let patched = self.patched_without(end, culprit, change, &[], Conflicts::Replaced)?;
        let recipe = match patched {
            Patched::Done { recipe, .. } => recipe,
            Patched::Same => return Ok(EndNeed::Idle),
            Patched::Conflict(_) => return Ok(untold),
        };
        let before = *rounds;
        Ok(match self.pairs_of_end(end, &recipe, tested, rounds)? {
            Some(Side::Good) => EndNeed::Idle,
            // This stays open anyway, and more tests would take very many runs.
            Some(Side::Bad) if self.is_flaky || tested.0.is_rate() => EndNeed::LinesNeeded,
            Some(Side::Bad) => {
                let old_lines = (&*recipe, *rounds - before);
                self.own_lines_in_noise(end, culprit, change, tested, old_lines)?
            }
            None => untold,
        })
    }

    /// `Bad` if the end has the step and the end with this recipe does not; `Good` if both have it
    /// or both lack it. `None` if the pairs do not decide, if they differ by another amount than the
    /// step (see [`may_lose`]), or if a run cannot be judged. `rounds`:
    /// how many runs of the end other tests used; adds those of this test.
    fn pairs_of_end(
        &mut self,
        end: &CommitId,
        without: &Config,
        tested: (&GuardTarget, Step),
        rounds: &mut usize,
    ) -> Result<Option<Side>, HuntError> {
        let own = self.oracle.recipes.at(end)?;
        let recipes = [(without, 0), (&own, *rounds)];
        self.pairs_of_recipes(end, recipes, tested, rounds)
    }

    /// The same for two recipes of the end: the first is the one without the change. Each comes
    /// with the number of its runs that other tests used.
    pub(super) fn pairs_of_recipes(
        &mut self,
        end: &CommitId,
        [without, with]: [(&Config, usize); 2],
        (target, step): (&GuardTarget, Step),
        rounds: &mut usize,
    ) -> Result<Option<Side>, HuntError> {
        let before = *rounds;
        let wanted = self.wanted_confidence(self.is_flaky)?;
        let orientation = self.terms().orientation(target);
        // Runs of one build are no independent votes if builds differ.
        let rebuild = self.is_flaky && self.builds_differ(&[Target::Guard(target.clone())])?;
        let votes = if self.is_flaky { self.end_votes(target)? } else { None };
        for round in 1.. {
            let mut runs_of = |(recipe, skipped): (&Config, usize)| {
                self.runs_of_test(end, recipe, target, [skipped, round], rebuild)
            };
            // In turn: each round reverses the order.
            let (without, with) = if round % 2 == 1 {
                let without = runs_of(without)?;
                (without, runs_of(with)?)
            } else {
                let with = runs_of(with)?;
                (runs_of(without)?, with)
            };
            *rounds = before + round;
            let (Some(without), Some(with)) = (without, with) else { return Ok(None) };
            // The votes of the end in this test tell its rate, too.
            let step = match &votes {
                Some(votes) => votes.cautious_rates(&with).map(Step::Rates),
                None => Some(step),
            };
            let mut is_exhausted = self.is_flaky && round >= MOST_VOTES;
            if let Some(step) = step {
                let mut pairs = FreshPairs::new(step, wanted);
                let mut losses = Vec::new();
                for (without, with) in without.iter().zip(&with) {
                    let [without, with] = [without, with].map(|x| orientation.sample(*x));
                    pairs.add(without, with);
                    losses.push(with - without);
                }
                if let Some(side) = pairs.verdict() {
                    return Ok(may_lose(step, &losses).then_some(side));
                }
                is_exhausted |= pairs.is_exhausted();
            }
            if is_exhausted {
                break;
            }
        }
        Ok(None)
    }

    /// The samples of `runs` runs that were made for tests of an endpoint, after the first `before`
    /// ones; makes those that are missing, with a new build for each call if `rebuild`. `None` if
    /// one of them cannot be judged.
    fn runs_of_test(
        &mut self,
        end: &CommitId,
        recipe: &Config,
        target: &GuardTarget,
        [before, runs]: [usize; 2],
        rebuild: bool,
    ) -> Result<Option<Vec<f64>>, HuntError> {
        let measures = [target.guard.metric.measure.clone()];
        let look = Request::look(end, &measures, Phase::Localize);
        let look = Request { recipe: Some(recipe), rebuild, ..look };
        let hunt = self.oracle.recorder.hunt().map(str::to_owned);
        let is_own = |sample: &Sample| sample.phase == Phase::Localize && sample.hunt == hunt;
        let known = self.oracle.evaluate(look)?;
        // The runs of searches and of other hunts do not count: they were not made in turn.
        let others = known.of(&measures[0]).iter().filter(|sample| !is_own(sample)).count();
        let mut seen = self.oracle.evaluate(Request { runs: others + before + runs, ..look })?;
        for samples in seen.samples.values_mut() {
            samples.retain(is_own);
            // A resumed hunt knows the runs of later rounds already.
            samples.truncate(before + runs);
            samples.drain(..before.min(samples.len()));
        }
        Ok(samples(&seen, target, recipe).ok())
    }
}

/// The note that no test tells whether the newer end (`newer`: `bad` or `good`) needs a commit. If
/// the end loses the step with the lines as they were before the commit, the note says why that
/// does not tell.
fn untold(told: &EndNeed, commit: &CommitId, newer: &str) -> String {
    let commit = commit.short();
    let plain = format!("no test of the {newer} end tells whether it still needs {commit}");
    if *told != EndNeed::LinesNeeded {
        return plain;
    }
    format!(
        "{plain} itself: that end loses the step with the lines as they were before {commit}, but \
         then it may also lack what later commits made of these lines"
    )
}

/// Whether the test of the newer end without a commit's change tells whether that end needs the
/// commit. If it stays bad without some parts, the rest of the change may make the step.
pub(super) fn has_told(cause: &Cause) -> bool {
    match &cause.revert {
        None => false,
        Some(Revert::StillBad) => !cause.in_part,
        Some(revert) => revert.tells_need(),
    }
}

#[cfg(test)]
mod tests;
