//! The claims of a search in noise: a commit, or a span of which only the newest can be tested, is
//! confirmed with fresh runs.

use std::collections::BTreeMap;

use crate::evaluation::{CommitId, Phase, Target};
use crate::hunt::HuntError;
use crate::hunt::claim::{Claim, ConfirmationOutcome};
use crate::hunt::confirm::lost_runs::without_lost_runs;
use crate::hunt::confirm::uneven::Count;
use crate::hunt::samples::{is_spread, samples};
use crate::hunt::searched::Searched;
use crate::hunt::strategy::SearchStrategy;
use crate::oracle::Request;
use crate::search::{Candidate, Levels, MeasuredCommit, Noisy, Step};

use super::Search;

impl<'d> Search<'d, '_> {
    /// The strategy with the search's estimate of the levels, and the step to confirm.
    fn with_levels(&self, strategy: &SearchStrategy, noisy: &Noisy<'_>) -> (SearchStrategy, Step) {
        let mut strategy = strategy.clone();
        let [Target::Guard(target)] = strategy.targets.as_mut_slice() else {
            unreachable!("a search in noise goes by one target")
        };
        let known = target.noise.as_mut().expect("a search in noise");
        if let Some(levels) = self.levels(noisy) {
            (known.good, known.bad, known.sd) = (levels.good, levels.bad, levels.sd);
            known.paired = noisy.is_paired();
        }
        let step = match (noisy.levels(), noisy.rates()) {
            (Some(turned), _) => Step::between(&turned, noisy.calibrated_step(), noisy.is_paired()),
            (None, rates) => Step::Rates(rates.expect("a search has levels or rates")),
        };
        (strategy, step)
    }

    /// The search's current estimate of the levels of good and bad.
    pub(super) fn levels(&self, noisy: &Noisy<'_>) -> Option<Levels> {
        Some(self.orientation.levels(noisy.levels()?, noisy.is_paired()))
    }

    fn claim_of<'a>(
        &self,
        commit: &'a CommitId,
        targets: &'a [Target],
        strategy: &'a SearchStrategy,
        step: Step,
        search_number: usize,
    ) -> Claim<'a>
    where
        'd: 'a,
    {
        let step = Some(step);
        Claim { targets, step, ..Claim::of(self.range, commit, strategy, search_number) }
    }

    /// Confirms the step that a commit and the untestable commits before it make together, with
    /// fresh runs of the commit and of `candidate.against`. False if the search must continue.
    pub(super) fn claim_span(
        &mut self,
        noisy: &mut Noisy<'_>,
        strategy: &SearchStrategy,
        candidate: &Candidate,
        number: usize,
    ) -> Result<bool, HuntError> {
        let commit = self.commits[candidate.commit].clone();
        let against: Vec<CommitId> =
            candidate.against.iter().map(|place| self.commit_of(*place)).collect();
        if self.shows_step(noisy, strategy, &commit, &against, number)? {
            return Ok(true);
        }
        let fresh = self.fresh(&commit, &against)?;
        let has_values = |one: &CommitId| {
            let mut places = fresh.iter().map(|(place, _)| *place);
            places.any(|place| self.commit_of(place) == *one)
        };
        // Without a pair of values, nothing shows that there is no step.
        let why = if has_values(&commit) && against.iter().any(has_values) {
            "its fresh runs do not differ from those of the commits before it"
        } else {
            "fresh runs of it, or of the commits before it, gave no values to compare"
        };
        self.driver.contradicted(&commit, why)?;
        noisy.rejected(&fresh);
        self.forget_verdicts();
        Ok(false)
    }

    /// Whether fresh runs show that a commit has the newer end's result, and that the others have
    /// the older end's.
    pub(super) fn shows_step(
        &mut self,
        noisy: &Noisy<'_>,
        strategy: &SearchStrategy,
        commit: &CommitId,
        others: &[CommitId],
        number: usize,
    ) -> Result<bool, HuntError> {
        let (strategy, step) = self.with_levels(strategy, noisy);
        let claim = self.claim_of(commit, &strategy.targets, &strategy, step, number);
        self.driver.confirm_span(claim, others)
    }

    /// Confirms a commit with fresh runs; `None` if the search must continue.
    pub(super) fn claim(
        &mut self,
        noisy: &mut Noisy<'_>,
        strategy: &SearchStrategy,
        commit: &CommitId,
        number: usize,
    ) -> Result<Option<Searched>, HuntError> {
        if let Some(open) = self.uneven(noisy, commit, &[])? {
            return Ok(Some(open));
        }
        let (strategy, step) = self.with_levels(strategy, noisy);
        let targets = &self.range.targets;
        let claim = self.claim_of(commit, targets, &strategy, step, number);
        let outcome = self.driver.confirm(claim)?;
        let is_rejection = outcome.is_rejection();
        let why = match outcome {
            ConfirmationOutcome::Culprit(culprit, seen) => {
                let parents = self.driver.oracle.history.parents(commit)?;
                let fresh = self.fresh(commit, &parents)?;
                if let Some(open) = self.uneven(noisy, commit, &fresh)? {
                    return Ok(Some(open));
                }
                // The search and these fresh runs may have had different home folders.
                if let Some(searched) = self.home_matters(noisy, &strategy, number)? {
                    let why = "its fresh runs had another home folder than the search";
                    self.driver.contradicted(commit, why)?;
                    return Ok(Some(searched));
                }
                return Ok(Some(Searched::Culprit(culprit, seen)));
            }
            ConfirmationOutcome::Small(culprit, seen) => {
                if let Some((open, why)) = self.without_one_level(std::slice::from_ref(commit))? {
                    self.driver.contradicted(commit, &why)?;
                    return Ok(Some(Searched::Candidates(open, why.into())));
                }
                return Ok(Some(Searched::Gradual(culprit, seen)));
            }
            ConfirmationOutcome::HomeMatters(why) => {
                return Ok(Some(Searched::HomeMatters(why)));
            }
            ConfirmationOutcome::Undecidable(commits, why) => {
                self.driver.contradicted(commit, &why.to_string())?;
                return Ok(Some(Searched::Candidates(commits, why)));
            }
            ConfirmationOutcome::ParentAlready(parent, why) => {
                self.aside = self.driver.side_branch(self.range, commit, &parent)?;
                if self.aside.is_some() {
                    self.driver.contradicted(commit, &why)?;
                    return Ok(Some(Searched::Nothing(why)));
                }
                self.rejected.push((commit.clone(), why.clone()));
                why
            }
            ConfirmationOutcome::NotReproduced(why) => {
                self.rejected.push((commit.clone(), why.clone()));
                why
            }
            ConfirmationOutcome::Undecided(why) => why,
        };
        self.driver.contradicted(commit, &why)?;
        // If fresh runs only do not decide, builds of earlier hunts did not mislead the search.
        if is_rejection && let Some(change) = self.driver.earlier_builds_mislead(targets, &why)? {
            return Ok(Some(Searched::MachineChanged(change)));
        }
        let again = self.driver.why_begin_again(commit, self.range, is_rejection, &why)?;
        if again.is_some() {
            return Ok(again);
        }
        let parents = self.driver.oracle.history.parents(commit)?;
        let fresh = self.fresh(commit, &parents)?;
        noisy.rejected(&fresh);
        self.forget_verdicts();
        Ok(None)
    }

    /// After rejected claims, before the search ends: measures the first one again with the user's
    /// home folder. If it holds there alone, that folder makes the difference. A later claim that
    /// holds does not show that the folder is harmless: it also rests on the fresh runs of earlier
    /// claims, which had an empty one.
    pub(super) fn home_matters(
        &mut self,
        noisy: &Noisy<'_>,
        strategy: &SearchStrategy,
        number: usize,
    ) -> Result<Option<Searched>, HuntError> {
        let Some((commit, why)) = self.rejected.first().cloned() else { return Ok(None) };
        let (strategy, step) = self.with_levels(strategy, noisy);
        let targets = &self.range.targets;
        let claim = self.claim_of(&commit, targets, &strategy, step, number);
        let holds = self.driver.holds_only_with_user_home(claim)?;
        let why = format!("{} is not confirmed: {why}", commit.short());
        Ok(holds.then_some(Searched::HomeMatters(why)))
    }

    /// The candidates if commits on one side of `commit` fail at different rates.
    fn uneven(
        &mut self,
        noisy: &Noisy<'_>,
        commit: &CommitId,
        fresh: &[(MeasuredCommit, f64)],
    ) -> Result<Option<Searched>, HuntError> {
        if noisy.rates().is_none() {
            return Ok(None);
        }
        // The runs of the ends are among the search's samples.
        let mut counts: BTreeMap<CommitId, Count> = BTreeMap::new();
        for (place, sample) in noisy.samples().iter().chain(fresh) {
            counts.entry(self.commit_of(*place)).or_default().add(*sample);
        }
        let Some((open, why)) = self.driver.uneven(self.range, commit, &counts)? else {
            return Ok(None);
        };
        self.driver.contradicted(commit, &why)?;
        Ok(Some(Searched::Candidates(open, why.into())))
    }

    /// The confirmation's samples of a commit and of the commits it was compared with. The search
    /// has not used them yet.
    fn fresh(
        &mut self,
        commit: &CommitId,
        parents: &[CommitId],
    ) -> Result<Vec<(MeasuredCommit, f64)>, HuntError> {
        let measures = [self.target.guard.metric.measure.clone()];
        let mut fresh = Vec::new();
        for one in parents.iter().chain([commit]) {
            let place = match self.commits.iter().position(|known| known == one) {
                Some(place) => MeasuredCommit::Commit(place),
                None if one == self.range.ends()[0] => MeasuredCommit::Good,
                None => continue,
            };
            let look = Request::look(one, &measures, Phase::Confirm);
            let seen = self.driver.oracle.evaluate(look)?;
            let config = &self.driver.oracle.recipes.config;
            // Repeats are compared with a commit's first run, which must stay in its place.
            let seen = if is_spread(&self.target) {
                seen
            } else {
                without_lost_runs(seen, &self.target, config)
            };
            let xs = samples(&seen, &self.target, config).unwrap_or_default();
            let runs = seen.of(&measures[0]).iter().map(|sample| sample.attempt.clone());
            // Repeats are compared with a commit's first run, so that run is no sample.
            let told = runs.skip(usize::from(is_spread(&self.target)));
            for (attempt, x) in told.zip(xs) {
                if self.sampler.used.insert(attempt) {
                    fresh.push((place, self.orientation.sample(x)));
                }
            }
        }
        Ok(fresh)
    }
}
