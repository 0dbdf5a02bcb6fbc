//! Searches a range in noise: measures the commit that the posterior asks for, then updates the
//! posterior.
//!
//! On resume, the state is rebuilt by replaying the stored samples in the same order.

use std::collections::{BTreeMap, BTreeSet};

use crate::evaluation::{CommitId, GuardTarget, Judgement, Phase, SkipReason, Target, Verdict};
use crate::hunt::HuntError;
use crate::hunt::claim::{Claim, ConfirmationOutcome};
use crate::hunt::confirm::uneven::Count;
use crate::hunt::driver::Driver;
use crate::hunt::orientation::SearchOrientation;
use crate::hunt::range::{ExcludedBranch, SearchRange};
use crate::hunt::samples::{is_spread, samples};
use crate::hunt::searched::Searched;
use crate::hunt::strategy::SearchStrategy;
use crate::hunt::strategy::drift_prior;
use crate::hunt::verdict::{VerdictContext, write_down};
use crate::oracle::{Request, RunSample};
use crate::search::{
    Advice, Calibration, Candidate, EndReason, Graph, Levels, MeasuredCommit, Noisy, Rates, Scale,
    Settings, Step,
};
use crate::store::journal::{CommitPosterior, Event, PosteriorSnapshot, SearchEnd, SearchMethod};
use crate::ui::{reached_limit, text};

use super::opening::open_search;
use super::sampler::Sampler;

/// Share of the posterior that the reported smallest set holds.
const SHARE: f64 = 0.95;
/// P(bad) above which a commit is bad, and P(good) above which it is good.
const SURE: f64 = 0.95;
/// Unmeasured commits below this probability of being the first bad one are not journaled.
const NEGLIGIBLE: f64 = 1e-6;

/// A search in noise over one range.
struct Search<'d, 'h> {
    driver: &'d mut Driver<'h>,
    range: &'d SearchRange,
    target: GuardTarget,
    /// How samples are converted for the search.
    orientation: SearchOrientation,
    /// The commits of the range, oldest first. The last one is the newer end.
    commits: Vec<CommitId>,
    sampler: Sampler,
    /// The last verdicts in the journal, by index in `commits`.
    verdicts: BTreeMap<usize, Verdict>,
    /// Failure counts of the older and the newer end. For a fix, passes are counted as failures.
    ends: [Count; 2],
    /// A side branch to set aside. If there is one, the search begins again without the branch.
    aside: Option<ExcludedBranch>,
}

/// Searches the range. `ends`: the samples of its good and bad end, just measured.
pub(crate) fn posterior(
    driver: &mut Driver<'_>,
    search_range: &SearchRange,
    target: &GuardTarget,
    ends: [Vec<f64>; 2],
    mut sampler: Sampler,
) -> Result<Searched, HuntError> {
    let strategy = SearchStrategy {
        targets: vec![Target::Guard(target.clone())],
        method: SearchMethod::Posterior,
    };
    let range = open_search(driver, search_range, &strategy)?;
    let number = driver.searches;
    driver.searches += 1;
    let whole = crate::git::Range { paths: Vec::new(), ..range.clone() };
    let mut lineage = driver.oracle.history.lineage(&whole)?;
    if !search_range.aside.is_empty() {
        let mut kept = Vec::new();
        for one in lineage {
            if !driver.is_aside(&one.commit, search_range)? {
                kept.push(one);
            }
        }
        lineage = kept;
    }
    let places: BTreeMap<&CommitId, usize> =
        lineage.iter().enumerate().map(|(place, one)| (&one.commit, place)).collect();
    let followed = if range.first_parent { 1 } else { usize::MAX };
    let parents: Vec<Vec<usize>> = lineage
        .iter()
        .map(|one| {
            one.parents.iter().take(followed).filter_map(|p| places.get(p).copied()).collect()
        })
        .collect();
    let graph = Graph::new(&parents);
    let untestable: Vec<bool> =
        lineage.iter().map(|one| driver.begun.options.skip.contains(&one.commit)).collect();
    let prior = if range.paths.is_empty() {
        vec![1.0; lineage.len()]
    } else {
        let touching: BTreeSet<CommitId> =
            driver.oracle.history.commits(&range)?.into_iter().collect();
        let weight = |commit: &CommitId| f64::from(u8::from(touching.contains(commit)));
        lineage.iter().map(|one| weight(&one.commit)).collect()
    };
    let orientation = SearchOrientation::of(search_range.aim, target);
    let turned = |samples: Vec<f64>| -> Vec<f64> {
        samples.into_iter().map(|x| orientation.sample(x)).collect()
    };
    let ends_again = ends.clone();
    let [good, bad] = search_range.aim.swap_if_fix(ends).map(turned);
    let counted = [&good, &bad].map(|samples| samples.iter().copied().collect::<Count>());
    let settings = Settings {
        prior,
        untestable,
        good,
        bad,
        scale: scale_of(target, orientation),
        drift: drift_prior(target),
        price_of_build: driver.price_of_build(&target.guard.metric.measure)?,
    };
    let commits = lineage.into_iter().map(|one| one.commit).collect();
    let mut noisy = Noisy::new(&graph, settings);
    let verdicts = BTreeMap::new();
    let target = target.clone();
    sampler.reference = Some(search_range.ends()[0].clone());
    let (aside, again) = (None, ends_again);
    let ends = counted;
    let mut search = Search {
        driver,
        range: search_range,
        target,
        orientation,
        commits,
        sampler,
        verdicts,
        ends,
        aside,
    };
    let searched = search.run(&mut noisy, &strategy, number);
    if let Some(aside) = search.aside.take() {
        let mut narrower = search_range.clone();
        narrower.aside.push(aside);
        let (target, driver) = (search.target.clone(), search.driver);
        return posterior(driver, &narrower, &target, again, Sampler::default());
    }
    if let Err(HuntError::Limit(limit)) = searched {
        search.driver.limit = Some(limit.clone());
        return search.undecided(&noisy, number, &reached_limit(&limit));
    }
    searched
}

fn scale_of(target: &GuardTarget, orientation: SearchOrientation) -> Scale {
    let noise = target.noise.expect("a search in noise");
    match target.levels() {
        Some(levels) => Scale::Levels(Calibration {
            levels: orientation.levels(levels, noise.paired),
            paired: noise.paired,
            runs: noise.runs,
        }),
        None => Scale::Rates(orientation.rates(Rates { good: noise.good, bad: noise.bad })),
    }
}

impl<'d> Search<'d, '_> {
    fn run(
        &mut self,
        noisy: &mut Noisy<'_>,
        strategy: &SearchStrategy,
        number: usize,
    ) -> Result<Searched, HuntError> {
        loop {
            match noisy.advise() {
                Advice::Measure(places) => self.measure(noisy, &places, number)?,
                Advice::Confirm(candidate) => {
                    self.write_verdicts(noisy, number)?;
                    self.write_posterior(noisy, number)?;
                    let span: Vec<CommitId> =
                        candidate.span.iter().map(|&one| self.commits[one].clone()).collect();
                    let commit = self.commits[candidate.commit].clone();
                    let end = match span.as_slice() {
                        [_] => SearchEnd::FirstBad(commit.clone()),
                        _ => SearchEnd::Candidates(span.clone()),
                    };
                    let event = Event::SearchEnd { search_number: number, end };
                    self.driver.oracle.recorder.event(event)?;
                    if span.len() > 1 {
                        if self.claim_span(noisy, strategy, &candidate, number)? {
                            let why = "one of these made the change, but only the newest can be \
                                       tested";
                            return Ok(Searched::Candidates(span, why.into()));
                        }
                        continue;
                    }
                    if let Some(searched) = self.claim(noisy, strategy, &commit, number)? {
                        return Ok(searched);
                    }
                }
                Advice::Stop(answer) => {
                    return self.undecided(noisy, number, in_words(&answer));
                }
            }
        }
    }

    fn commit_of(&self, place: MeasuredCommit) -> CommitId {
        match place {
            // The search calls the older end good, even in a hunt for a fix.
            MeasuredCommit::Good => self.range.ends()[0].clone(),
            MeasuredCommit::Commit(one) => self.commits[one].clone(),
        }
    }

    /// Measures one run at each place and gives the samples to the search.
    fn measure(
        &mut self,
        noisy: &mut Noisy<'_>,
        places: &[MeasuredCommit],
        number: usize,
    ) -> Result<(), HuntError> {
        let mut taken = Vec::new();
        for &place in places {
            let commit = self.commit_of(place);
            self.sampler.is_paired = noisy.is_paired();
            match self.sampler.take(self.driver, &commit, &self.target)? {
                RunSample::Sample(x) => taken.push(self.orientation.sample(x)),
                RunSample::Untestable(skip, reason) => {
                    let MeasuredCommit::Commit(one) = place else {
                        return Err(HuntError::Environment(format!(
                            "{}, an end of the search range, can no longer be measured: {reason}",
                            commit.short()
                        )));
                    };
                    noisy.untestable(one);
                    return self.write_skip(&commit, skip, reason, number);
                }
            }
        }
        noisy.add_samples(&taken);
        self.write_verdicts(noisy, number)
    }

    fn write_skip(
        &mut self,
        commit: &CommitId,
        skip: SkipReason,
        reason: String,
        number: usize,
    ) -> Result<(), HuntError> {
        let verdict = Verdict::Skip;
        let judgement = Judgement { verdict, skip: Some(skip), reason, broken: Vec::new() };
        self.write(commit, &judgement, number)
    }

    fn write(
        &mut self,
        commit: &CommitId,
        judgement: &Judgement,
        search_number: usize,
    ) -> Result<(), HuntError> {
        let measures = [self.target.guard.metric.measure.clone()];
        let phase = Phase::Search;
        let seen = self.driver.oracle.evaluate(Request::look(commit, &measures, phase))?;
        write_down(
            &mut self.driver.oracle,
            &seen,
            judgement,
            VerdictContext { search_number, phase, left: None },
        )
    }

    /// Writes each changed verdict of a measured commit to the journal, even a change to unknown.
    fn write_verdicts(&mut self, noisy: &Noisy<'_>, number: usize) -> Result<(), HuntError> {
        let Some(belief) = noisy.belief() else { return Ok(()) };
        let mut measured: Vec<usize> = noisy
            .samples()
            .iter()
            .filter_map(|(place, _)| match place {
                MeasuredCommit::Commit(one) => Some(*one),
                MeasuredCommit::Good => None,
            })
            .collect();
        measured.sort_unstable();
        measured.dedup();
        measured.retain(|&one| one + 1 < self.commits.len());
        for one in measured {
            let bad = self.orientation.p_bad(belief.bad[one]);
            let verdict = match bad {
                bad if bad > SURE => Verdict::Bad,
                bad if bad < 1.0 - SURE => Verdict::Good,
                _ => Verdict::Unknown,
            };
            let before = self.verdicts.get(&one).copied().unwrap_or(Verdict::Unknown);
            if verdict == before {
                continue;
            }
            self.verdicts.insert(one, verdict);
            let metric = &self.target.guard.metric;
            let runs =
                noisy.samples().iter().filter(|(p, _)| *p == MeasuredCommit::Commit(one)).count();
            let reason = format!(
                "bad with a probability of {bad:.4}: {metric}, {}",
                text::plural(runs, "sample")
            );
            let broken = if verdict == Verdict::Bad { vec![metric.clone()] } else { Vec::new() };
            let commit = self.commits[one].clone();
            self.write(&commit, &Judgement { verdict, skip: None, reason, broken }, number)?;
        }
        Ok(())
    }

    /// Writes the current posterior to the journal; returns the smallest set.
    fn write_posterior(
        &mut self,
        noisy: &Noisy<'_>,
        number: usize,
    ) -> Result<Vec<CommitId>, HuntError> {
        let Some(belief) = noisy.belief() else { return Ok(Vec::new()) };
        let count = |one: usize| {
            noisy.samples().iter().filter(|(p, _)| *p == MeasuredCommit::Commit(one)).count()
        };
        let commits = (0..self.commits.len())
            .filter(|&one| belief.first[one] > NEGLIGIBLE || count(one) > 0)
            .map(|one| CommitPosterior {
                commit: self.commits[one].clone(),
                first: belief.first[one],
                bad: self.orientation.p_bad(belief.bad[one]),
                samples: count(one),
            })
            .collect();
        let smallest_set: Vec<CommitId> =
            belief.smallest_set(SHARE).into_iter().map(|one| self.commits[one].clone()).collect();
        let mut known = self.target.noise.expect("a search in noise");
        if let Some(Levels { good, bad, sd }) = self.levels(noisy) {
            (known.good, known.bad, known.sd, known.paired) = (good, bad, sd, noisy.is_paired());
        }
        let event = PosteriorSnapshot {
            search_number: number,
            metric: self.target.guard.metric.clone(),
            noise: known,
            runs: noisy.runs(),
            commits,
            smallest_set: smallest_set.clone(),
        };
        self.driver.oracle.recorder.event(Event::Weighed(Box::new(event)))?;
        Ok(smallest_set)
    }

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
    fn levels(&self, noisy: &Noisy<'_>) -> Option<Levels> {
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
        let (ends, aim) = (self.range.ends(), self.range.aim);
        let (step, aside) = (Some(step), self.range.aside.as_slice());
        Claim { commit, targets, strategy, step, search_number, ends, aim, aside }
    }

    /// Confirms the step that a commit and the untestable commits before it make together, with
    /// fresh runs of the commit and of `candidate.against`. False if the search must continue.
    fn claim_span(
        &mut self,
        noisy: &mut Noisy<'_>,
        strategy: &SearchStrategy,
        candidate: &Candidate,
        number: usize,
    ) -> Result<bool, HuntError> {
        let commit = self.commits[candidate.commit].clone();
        let (strategy, step) = self.with_levels(strategy, noisy);
        let targets = &strategy.targets;
        let claim = self.claim_of(&commit, targets, &strategy, step, number);
        let against: Vec<CommitId> =
            candidate.against.iter().map(|place| self.commit_of(*place)).collect();
        if self.driver.confirm_span(claim, &against)? {
            return Ok(true);
        }
        let why = "its fresh runs do not differ from those of the commits before it";
        self.driver.contradicted(&commit, why)?;
        let fresh = self.fresh(&commit, &against)?;
        noisy.rejected(&fresh);
        self.verdicts.clear();
        Ok(false)
    }

    /// Confirms a commit with fresh runs; `None` if the search must continue.
    fn claim(
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
        let why = match self.driver.confirm(claim)? {
            ConfirmationOutcome::Culprit(culprit, seen) => {
                let parents = self.driver.oracle.history.parents(commit)?;
                let fresh = self.fresh(commit, &parents)?;
                if let Some(open) = self.uneven(noisy, commit, &fresh)? {
                    return Ok(Some(open));
                }
                return Ok(Some(Searched::Culprit(culprit, seen)));
            }
            ConfirmationOutcome::Small(culprit, seen) => {
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
                why
            }
            ConfirmationOutcome::Undecided(why) | ConfirmationOutcome::NotReproduced(why) => why,
        };
        self.driver.contradicted(commit, &why)?;
        let parents = self.driver.oracle.history.parents(commit)?;
        let fresh = self.fresh(commit, &parents)?;
        noisy.rejected(&fresh);
        // The confirmation wrote other verdicts, so the search must write its own again.
        self.verdicts.clear();
        Ok(None)
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
        let ends = self.range.ends().map(CommitId::clone);
        let mut counts: BTreeMap<CommitId, Count> = ends.into_iter().zip(self.ends).collect();
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
            let xs = samples(&seen, &self.target, &self.driver.oracle.recipes.config)
                .unwrap_or_default();
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

    /// Ends a search without an answer: the candidates are the smallest set. `why`: the reason.
    fn undecided(
        &mut self,
        noisy: &Noisy<'_>,
        number: usize,
        why: &str,
    ) -> Result<Searched, HuntError> {
        let set = self.write_posterior(noisy, number)?;
        let set = if set.is_empty() { self.commits.clone() } else { set };
        let end = SearchEnd::Candidates(set.clone());
        self.driver.oracle.recorder.event(Event::SearchEnd { search_number: number, end })?;
        let why = format!("{why}; these hold {:.0} % of the posterior", 100.0 * SHARE);
        Ok(Searched::Candidates(set, why.into()))
    }
}

fn in_words(answer: &EndReason) -> &'static str {
    match answer {
        EndReason::Exhausted => "further runs of any commit would not help",
        EndReason::Rejected => {
            "fresh runs rejected three claimed commits in a row; several small changes may make up \
             the step"
        }
        EndReason::OutOfRuns => "the search reached its limit of runs",
        EndReason::Drifted => "the machine drifted, and paired runs of the endpoints do not differ",
        EndReason::Unexplained => "no commit separates better from worse commits",
    }
}
