//! Searches one range: `git bisect run` or the posterior names a commit, and the confirmation tests
//! the claim. If a claim fails, the search goes on with the confirmation's runs.

mod direct_mode;
mod earlier_builds;
pub(crate) mod flaky;
pub(crate) mod git_bisect;
mod open_commits;
pub(crate) mod opening;
pub(crate) mod posterior;
pub(crate) mod prior;
pub(crate) mod range_ends;
mod rate_sides;
mod related_ends;
pub(crate) mod replay;
pub(crate) mod sampler;
pub(crate) mod short_text;
pub(crate) mod side_branches;
pub(crate) mod stored_runs;

use crate::evaluation::{CommitId, Culprit, Target};
use crate::git::Range;
use crate::search::Step;
use crate::store::journal::{Event, SearchBy, SearchEnd, SearchMethod};

use super::HuntError;
use super::claim::{Claim, ConfirmationOutcome};
use super::distinct::distinct;
use super::driver::Driver;
use super::machine_change::MachineChange;
use super::path_filter::PathFilter;
use super::range::SearchRange;
use super::searched::Searched;
use super::strategy::SearchStrategy;
use super::why::CandidatesReason;
use git_bisect::{BisectEnd, bisect};
use posterior::posterior;
use sampler::Sampler;

/// Maximum number of failed claims before a search by git ends with candidates.
const MOST_ROUNDS: usize = 3;

/// Number of failed claims after which the range is searched by failure rates.
const MOST_REFUTED: usize = 2;

/// Maximum number of side branches that one search sets aside.
const MOST_ASIDES: usize = 8;
/// Maximum number of times that a search goes on at a parent that is bad already. Each time the
/// range gets smaller.
const MOST_PARENTS: usize = 12;

/// Maximum number of paths in a note.
const MOST_NAMED: usize = 5;

/// Searches a range until a confirmation holds or the search gives up.
pub(crate) fn search(
    driver: &mut Driver<'_>,
    search_range: SearchRange,
) -> Result<Searched, HuntError> {
    if let Some(why) = driver.why_unrelated(&search_range)? {
        return Ok(Searched::Nothing(why));
    }
    let strategy = SearchStrategy::of(&search_range.targets, driver.begun.options.search);
    let Some(target) = strategy.noisy().cloned() else {
        return with_git(driver, search_range, &strategy);
    };
    let mut sampler = Sampler::default();
    let (target, ends) = match driver.ends(&search_range, &target, &mut sampler)? {
        Ok(ends) => ends,
        Err(nothing) => return Ok(nothing),
    };
    // The levels of this range's ends may need another search method.
    let strategy =
        SearchStrategy::of(&[Target::Guard(target.clone())], driver.begun.options.search);
    if strategy.method == SearchMethod::Sequential {
        let is_git_only = driver.begun.options.search == SearchBy::GitBisect;
        match with_git(driver, search_range.clone(), &strategy)? {
            // One or two runs a commit were not enough: the posterior uses all runs together.
            Searched::Candidates(..) | Searched::Untestable(_) | Searched::BuildsDisagree(_)
                if !is_git_only => {}
            found => return Ok(found),
        }
    }
    let searched = posterior(driver, &search_range, &target, ends, sampler)?;
    if search_range.paths.is_empty() || !matches!(searched, Searched::Candidates(..)) {
        return Ok(searched);
    }
    // The path filter may exclude the first bad commit. The wider search reuses all runs.
    let wider = SearchRange { paths: PathFilter::default(), ..search_range.clone() };
    let searched = search(driver, wider)?;
    if let Searched::Culprit(culprit, _) | Searched::Gradual(culprit, _) = &searched {
        driver.name_what_was_hidden(culprit, &search_range.paths)?;
    }
    Ok(searched)
}

/// The end of a search whose newer end is on the older side in all runs, so that there is no step
/// to find. `None` in noise, and if a run of the newer end is not on the older side.
fn without_a_step(
    driver: &mut Driver<'_>,
    search_range: &SearchRange,
    strategy: &SearchStrategy,
) -> Result<Option<Searched>, HuntError> {
    if strategy.noisy().is_some()
        || !driver.is_older_in_all_runs(search_range, &strategy.targets)?
    {
        return Ok(None);
    }
    let (commit, newer) = (search_range.newer.short(), search_range.terms.newer());
    let why =
        format!("no run of {commit} is {newer}, so a range that ends there has no step to find");
    Ok(Some(Searched::Nothing(why)))
}

/// Lets git choose the commits.
fn with_git(
    driver: &mut Driver<'_>,
    mut search_range: SearchRange,
    strategy: &SearchStrategy,
) -> Result<Searched, HuntError> {
    if let Some(searched) = short_text::search(driver, &search_range, strategy)? {
        return Ok(searched);
    }
    let mut dropped = PathFilter::default();
    let step = expected_step(&search_range, strategy);
    let is_git_only = driver.begun.options.search == SearchBy::GitBisect;
    let most = if strategy.noisy().is_some() && !is_git_only { 1 } else { MOST_ROUNDS };
    let (mut round, mut asides, mut parents) = (0, 0, 0);
    let mut last_word = String::new();
    while round < most {
        let number = driver.searches;
        let end = match bisect(driver, &search_range, strategy)? {
            BisectEnd::Answer(end) => end,
            BisectEnd::MachineChanged(change) => return Ok(Searched::MachineChanged(change)),
        };
        driver.searches += 1;
        let commit = match end {
            SearchEnd::Candidates(commits) => return Ok(Searched::Untestable(commits)),
            SearchEnd::FirstBad(commit) => commit,
        };
        let claim = Claim { step, ..Claim::of(&search_range, &commit, strategy, number) };
        let outcome = driver.confirm(claim)?;
        let is_certain = strategy.noisy().is_none() || outcome.is_rejection();
        let is_about_runs = driver.is_about_runs(&outcome, &search_range, number)?;
        if let Some(why) = outcome.contradiction() {
            driver.contradicted(&commit, why)?;
            if let Some(change) = driver.change_behind(why, &search_range, is_about_runs)? {
                return Ok(Searched::MachineChanged(change));
            }
        }
        match outcome {
            ConfirmationOutcome::Culprit(culprit, seen) => {
                driver.name_what_was_hidden(&culprit, filter_of(&search_range, &dropped))?;
                return Ok(Searched::Culprit(culprit, seen));
            }
            ConfirmationOutcome::Small(culprit, seen) => {
                driver.name_what_was_hidden(&culprit, filter_of(&search_range, &dropped))?;
                return Ok(Searched::Gradual(culprit, seen));
            }
            ConfirmationOutcome::Undecidable(commits, why) => {
                driver.contradicted(&commit, &why.to_string())?;
                return driver.with_inferred(&search_range, &commit, commits, why, number);
            }
            ConfirmationOutcome::ParentAlready(parent, why) => {
                if asides < MOST_ASIDES
                    && let Some(aside) =
                        driver.branch_without_fix(&search_range, &commit, &parent)?
                {
                    search_range.aside.push(aside);
                    asides += 1;
                    continue;
                }
                let narrowed = driver.narrowed_to(&search_range, &parent)?;
                match narrowed.filter(|_| parents < MOST_PARENTS) {
                    Some(mut narrowed) if !is_about_runs => {
                        // The path filter excluded the first bad commit, or git inferred the
                        // verdict.
                        if !narrowed.paths.is_empty() {
                            dropped = std::mem::take(&mut narrowed.paths);
                        }
                        search_range = narrowed;
                        parents += 1;
                        continue;
                    }
                    None if !driver.is_newer_by_chance(&search_range, &parent)? => {
                        let why = format!("the search named {}, but {why}", commit.short());
                        let open = driver.open_range(&search_range)?;
                        return Ok(Searched::Candidates(open, why.into()));
                    }
                    _ => last_word = why,
                }
            }
            ConfirmationOutcome::HomeMatters(why) => return Ok(Searched::HomeMatters(why)),
            ConfirmationOutcome::NotReproduced(why) => {
                if commit == search_range.newer
                    && let Some(searched) = without_a_step(driver, &search_range, strategy)?
                {
                    return Ok(searched);
                }
                last_word = why;
            }
            ConfirmationOutcome::Undecided(why) => {
                last_word = why;
                // Searching again does not help if runs of one commit differ.
                round = most;
            }
        }
        let again = driver.why_begin_again(&commit, &search_range, is_certain, &last_word)?;
        if let Some(again) = again {
            return Ok(again);
        }
        round += 1;
        if strategy.noisy().is_none()
            && round >= MOST_REFUTED
            && let Some(searched) = driver.search_by_rates(&search_range, strategy, &last_word)?
        {
            return Ok(searched);
        }
    }
    driver.contradictory(&search_range, &last_word)
}

/// In noise, the step between the levels of the range's ends.
fn expected_step(search_range: &SearchRange, strategy: &SearchStrategy) -> Option<Step> {
    let target = strategy.noisy()?;
    let is_paired = target.noise?.paired;
    let levels = search_range.terms.orientation(target).levels(target.levels()?, is_paired);
    Some(Step::between(&levels, levels.step(), is_paired))
}

/// The path filter with which a search began, even if the search dropped it later.
fn filter_of<'a>(search_range: &'a SearchRange, dropped: &'a PathFilter) -> &'a PathFilter {
    if dropped.is_empty() { &search_range.paths } else { dropped }
}

impl Driver<'_> {
    /// The change since earlier runs or builds that a contradicted claim shows. `is_about_runs`:
    /// whether fresh runs contradict runs, not verdicts that git inferred.
    fn change_behind(
        &mut self,
        contradiction: &str,
        range: &SearchRange,
        is_about_runs: bool,
    ) -> Result<Option<MachineChange>, HuntError> {
        match self.earlier_builds_mislead(&range.targets, contradiction)? {
            None if is_about_runs => self.machine_change(),
            change => Ok(change),
        }
    }

    /// What explains a claim that fresh runs contradict, if the hunt must begin again for it: how
    /// commits were built, or a change of the machine. `is_certain`: whether the fresh runs reject
    /// the claim. In noise they may decide nothing, and then they say nothing about a cache.
    fn why_begin_again(
        &mut self,
        commit: &CommitId,
        range: &SearchRange,
        is_certain: bool,
        contradiction: &str,
    ) -> Result<Option<Searched>, HuntError> {
        let why = || format!("{} is not confirmed: {contradiction}", commit.short());
        if self.oracle.recipes.config.build.mode.keeps_files() {
            return Ok(Some(Searched::BuildsDisagree(why())));
        }
        if is_certain && self.direct_mode_matters(commit, range)? {
            return Ok(Some(Searched::DirectModeMatters(why())));
        }
        Ok(self.outside_changed(commit, &range.targets)?.map(Searched::MachineChanged))
    }

    /// If the path filter excludes the commit, notes which paths the filter lacks.
    pub(crate) fn name_what_was_hidden(
        &mut self,
        culprit: &Culprit,
        filter: &PathFilter,
    ) -> Result<(), HuntError> {
        let touches = |filter: &PathFilter| -> Result<bool, HuntError> {
            let paths = filter.specs();
            let is_all = paths.is_empty();
            let old = culprit.parents.clone();
            let new = culprit.info.commit.clone();
            let touching = Range { old, new, first_parent: false, paths };
            Ok(is_all || self.oracle.history.count(&touching)? > 0)
        };
        if touches(filter)? {
            return Ok(());
        }
        let named: Vec<&str> =
            culprit.files.iter().take(MOST_NAMED).map(|file| file.path.as_str()).collect();
        let more = culprit.files.len().saturating_sub(named.len());
        let files =
            named.join(", ") + &if more > 0 { format!(", and {more} more") } else { String::new() };
        let commit = culprit.info.commit.short();
        let text = if touches(&filter.asked_alone())? {
            format!(
                "{commit} was left out at first, because the endpoints' builds did not record that \
                 they read the files that it changes: {files}. `unread = \"build\"` in [build] \
                 makes a search build all commits"
            )
        } else {
            format!(
                "the path filter ({}) hid {commit}, so the search dropped the filter; the filter \
                 lacks these files of that commit: {files}",
                filter.asked.join(" "),
            )
        };
        Ok(self.oracle.recorder.event(Event::Note { text })?)
    }

    /// The part of the range that ends at this parent of a claimed commit. If the older end is no
    /// ancestor of the parent, the part begins at a merge base of the two; `None` if a merge base
    /// is not on the older side.
    fn narrowed_to(
        &mut self,
        search_range: &SearchRange,
        parent: &CommitId,
    ) -> Result<Option<SearchRange>, HuntError> {
        let [old, _] = search_range.ends();
        let history = &self.oracle.history;
        if history.is_ancestor(old, parent)? {
            return Ok(Some(search_range.clone().up_to(parent.clone())));
        }
        let bases = history.merge_bases(old, parent)?;
        let Some(first) = bases.first().filter(|_| !bases.contains(parent)) else {
            return Ok(None);
        };
        for base in &bases {
            let judgement = self.judge(base, &search_range.targets)?;
            if !search_range.is_older(judgement.verdict) {
                return Ok(None);
            }
        }
        let branch =
            SearchRange { older: first.clone(), aside: Vec::new(), ..search_range.clone() };
        Ok(Some(branch.up_to(parent.clone())))
    }

    /// Whether fresh runs that contradict a claim also contradict runs of the search. If the search
    /// never measured the parent, they only contradict what git inferred.
    fn is_about_runs(
        &self,
        outcome: &ConfirmationOutcome,
        search_range: &SearchRange,
        number: usize,
    ) -> Result<bool, HuntError> {
        let ConfirmationOutcome::ParentAlready(parent, _) = outcome else { return Ok(true) };
        let [old, _] = search_range.ends();
        Ok(parent == old || self.has_verdict(parent, search_range.terms.older(), number)?)
    }

    /// The candidates of a claim that cannot be decided. If one of them is a parent whose verdict
    /// git inferred, the first bad commit may be another one: then all open commits too.
    fn with_inferred(
        &mut self,
        search_range: &SearchRange,
        commit: &CommitId,
        candidates: Vec<CommitId>,
        why: CandidatesReason,
        number: usize,
    ) -> Result<Searched, HuntError> {
        if matches!(why, CandidatesReason::RecipeChanged(_) | CandidatesReason::RulerChanged { .. })
        {
            // Verdicts of the search decide nothing here: each is that of one recipe or ruler.
            return Ok(Searched::Candidates(candidates, why));
        }
        let [old, _] = search_range.ends();
        let mut is_inferred = false;
        for parent in candidates.iter().filter(|one| *one != commit && *one != old) {
            let is_measured = self.has_verdict(parent, search_range.terms.older(), number)?;
            is_inferred = is_inferred || !is_measured;
        }
        if !is_inferred {
            return Ok(Searched::Candidates(candidates, why));
        }
        let why = format!("the search named {}, but {why}", commit.short());
        let all = distinct(self.open_range(search_range)?.into_iter().chain(candidates));
        Ok(Searched::Candidates(all, why.into()))
    }

    pub(crate) fn contradicted(
        &mut self,
        commit: &CommitId,
        reason: &str,
    ) -> Result<(), HuntError> {
        let event = Event::Contradicted { commit: commit.clone(), reason: reason.to_owned() };
        Ok(self.oracle.recorder.event(event)?)
    }
}
