//! Searches a range in noise: measures the commit that the posterior asks for, then updates the
//! posterior.
//!
//! On resume, the state is rebuilt by replaying the stored samples in the same order.

mod claims;
mod journal;
mod mended_span;
mod next_commits;
mod two_levels;

use std::collections::BTreeMap;

use crate::evaluation::{CommitId, GuardTarget, Target, Verdict};
use crate::hunt::HuntError;
use crate::hunt::ahead::in_noise::OtherSlots;
use crate::hunt::driver::Driver;
use crate::hunt::orientation::SearchOrientation;
use crate::hunt::range::{ExcludedBranch, SearchRange};
use crate::hunt::searched::Searched;
use crate::hunt::strategy::SearchStrategy;
use crate::hunt::strategy::drift_prior;
use crate::oracle::RunSample;
use crate::search::{
    Advice, Calibration, EndReason, Graph, MeasuredCommit, Noisy, Rates, Scale, Settings,
};
use crate::store::journal::{Event, SearchEnd, SearchMethod};
use crate::ui::reached_limit;

use super::open_commits::all_open_reason;
use super::opening::open_search;
use super::sampler::Sampler;

/// Share of the posterior that the reported smallest set holds.
const SHARE: f64 = 0.95;

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
    /// The slots that work at the next commits.
    others: OtherSlots,
    /// The last verdicts in the journal, by index in `commits`.
    verdicts: BTreeMap<usize, Verdict>,
    /// The claims that fresh runs contradict, and why. The first one rests on the fewest fresh runs.
    rejected: Vec<(CommitId, String)>,
    /// A side branch to set aside. If there is one, the search begins again without the branch.
    aside: Option<ExcludedBranch>,
    /// The range in which the search goes on, as the step that it confirmed was taken back.
    later: Option<SearchRange>,
}

/// Searches the range. `ends`: the samples of its older and newer end, just measured.
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
    if driver.work_ahead(target, sampler.is_rebuilt, false).is_none() {
        driver.tell_one_slot_in_noise()?;
    }
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
    let prior = driver.prior(&lineage, &range)?;
    let orientation = search_range.terms.orientation(target);
    let turned = |samples: Vec<f64>| -> Vec<f64> {
        samples.into_iter().map(|x| orientation.sample(x)).collect()
    };
    let ends_again = ends.clone();
    let [good, bad] = ends.map(turned);
    let settings = Settings {
        prior,
        untestable,
        good,
        bad,
        scale: scale_of(target, orientation),
        drift: drift_prior(target),
        price_of_build: driver.price_of_build(&target.guard.metric.measure)?,
        stored: driver.stored_runs(&lineage, target)?,
        built: driver.built_commits(&lineage)?,
    };
    let commits = lineage.into_iter().map(|one| one.commit).collect();
    let mut noisy = Noisy::new(&graph, settings);
    let verdicts = BTreeMap::new();
    let target = target.clone();
    sampler.reference = Some(search_range.ends()[0].clone());
    let (aside, again) = (None, ends_again);
    let mut search = Search {
        driver,
        range: search_range,
        target,
        orientation,
        commits,
        sampler,
        others: OtherSlots::default(),
        verdicts,
        rejected: Vec::new(),
        aside,
        later: None,
    };
    let searched = search.run(&mut noisy, &strategy, number);
    let ended = search.others.end();
    let searched = searched.and_then(|searched| ended.map(|()| searched));
    if let Some(aside) = search.aside.take() {
        let mut narrower = search_range.clone();
        narrower.aside.push(aside);
        let (target, driver) = (search.target.clone(), search.driver);
        return posterior(driver, &narrower, &target, again, Sampler::default());
    }
    if let Some(later) = search.later.take() {
        return go_on(search.driver, &later, &search.target, search.sampler.is_rebuilt);
    }
    if let Err(HuntError::Limit(limit)) = searched {
        search.driver.limit = Some(limit.clone());
        return search.undecided(&noisy, number, &reached_limit(&limit));
    }
    searched
}

/// Goes on in a range after a step that was taken back. Its commits are candidates if it cannot be
/// searched: its older end has the older side's result, and its newer end has not.
fn go_on(
    driver: &mut Driver<'_>,
    later: &SearchRange,
    target: &GuardTarget,
    is_rebuilt: bool,
) -> Result<Searched, HuntError> {
    let mut sampler = Sampler::default();
    sampler.is_rebuilt = is_rebuilt;
    let why = match driver.ends(later, target, &mut sampler) {
        Ok(Ok((target, ends))) => return posterior(driver, later, &target, ends, sampler),
        Ok(Err(Searched::Nothing(why) | Searched::Unchanged(why))) => why,
        Ok(Err(other)) => return Ok(other),
        Err(HuntError::Limit(limit)) => {
            let why = reached_limit(&limit);
            driver.limit = Some(limit);
            why
        }
        Err(other) => return Err(other),
    };
    let range = crate::git::Range::between(&later.older, &later.newer);
    let open = driver.oracle.history.commits(&range)?;
    Ok(Searched::Candidates(open, why.into()))
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

impl Search<'_, '_> {
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
                    // Other slots stay idle while the confirmation runs: their work could change
                    // its values.
                    self.others.end()?;
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
                            return self.confirmed_span(noisy, strategy, span, number);
                        }
                        continue;
                    }
                    if let Some(searched) = self.claim(noisy, strategy, &commit, number)? {
                        return Ok(searched);
                    }
                }
                Advice::Stop(answer) => {
                    if answer == EndReason::Rejected
                        && let Some(searched) = self.home_matters(noisy, strategy, number)?
                    {
                        return Ok(searched);
                    }
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
        self.sampler.is_paired = noisy.is_paired();
        self.driver.has_drifted |= noisy.is_paired();
        self.work_ahead(noisy, places)?;
        let mut taken = Vec::new();
        for &place in places {
            let commit = self.commit_of(place);
            let _reserved = self.reserve(&commit)?;
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
                    return self.write_skip(one, skip, reason, number);
                }
            }
        }
        noisy.add_samples(&taken);
        self.write_verdicts(noisy, number)
    }

    /// Ends a search without an answer: the candidates are the smallest set. With failure rates, if
    /// something contradicts a single change, they are all commits that the runs do not exclude.
    /// `why`: the reason.
    fn undecided(
        &mut self,
        noisy: &Noisy<'_>,
        number: usize,
        why: &str,
    ) -> Result<Searched, HuntError> {
        let set = self.write_posterior(noisy, number)?;
        let set = if set.is_empty() { self.commits.clone() } else { set };
        let open = match noisy.rates() {
            Some(_) => self.driver.open_if_contradicted(self.range)?,
            None => None,
        };
        let grouped = self.without_one_level(&set)?;
        let (open, why) = if let Some((open, grouped)) = grouped {
            (open, format!("{why}; {grouped}"))
        } else if let Some(open) = open {
            let why = all_open_reason(why, &set, &open);
            (open, why)
        } else if let [only] = set.as_slice()
            && self.rejected.iter().any(|(commit, _)| commit == only)
        {
            let why = format!(
                "{why}; the posterior leaves only {}, which fresh runs rejected, so every commit of \
                 the range may be the first",
                only.short()
            );
            (self.commits.clone(), why)
        } else {
            let why = format!(
                "{why}; these hold {:.0} % of the posterior, if one commit made the whole change",
                100.0 * SHARE
            );
            (set, why)
        };
        let end = SearchEnd::Candidates(open.clone());
        self.driver.oracle.recorder.event(Event::SearchEnd { search_number: number, end })?;
        Ok(Searched::Candidates(open, why.into()))
    }
}

fn in_words(answer: &EndReason) -> &'static str {
    match answer {
        EndReason::Exhausted => {
            "each commit in doubt has had its maximum of runs, or cannot be tested"
        }
        EndReason::Rejected => {
            "fresh runs rejected three claimed commits in a row; several small changes may make up \
             the step"
        }
        EndReason::OutOfRuns => "the search reached its limit of runs",
        EndReason::Drifted => "the machine drifted, and paired runs of the endpoints do not differ",
        EndReason::Unexplained => "no commit separates better from worse commits",
    }
}
