//! Searches one range after another, until the steps found explain the newer end or a limit is
//! reached. Each result may add ranges to the queue.

use std::collections::{BTreeSet, VecDeque};

use crate::evaluation::{CommitId, Culprit, Finding, ReachedLimit, Target};
use crate::git::Range;
use crate::hunt::commit_order::CommitOrder;
use crate::hunt::outcome::account::Ledger;
use crate::hunt::outcome::found_step::{FoundStep, is_beyond_the_end};
use crate::hunt::search::short_text;
use crate::oracle::Observation;

use super::HuntError;
use super::driver::Driver;
use super::path_filter::PathFilter;
use super::range::SearchRange;
use super::searched::Searched;
use super::strategy::SearchStrategy;

/// Maximum number of searches in one hunt.
const MOST_SEARCHES: usize = 16;
/// Maximum number of nested merges that are followed to the commit that they bring in.
const MOST_MERGES: usize = 4;

/// Whether a target has a finite number at the bad end.
fn has_levels(target: &Target) -> bool {
    matches!(target, Target::Guard(target) if target.bad.number().is_some_and(f64::is_finite))
}

/// What tells two searches apart: their ends and the metrics that they are about.
fn key(search_range: &SearchRange) -> (CommitId, CommitId, Vec<String>) {
    let name = |target: &Target| match target {
        Target::Guard(target) => target.guard.metric.to_string(),
        Target::Failure { measure, .. } => format!("{measure:?} fails"),
    };
    let names = search_range.targets.iter().map(name).collect();
    (search_range.older.clone(), search_range.newer.clone(), names)
}

impl Driver<'_> {
    /// Measures the endpoints, searches range after range, and closes the account.
    pub(super) fn run(&mut self) -> Result<Finding, HuntError> {
        self.added_targets.clear();
        let endpoints = match self.endpoints()? {
            Ok(endpoints) => endpoints,
            Err(finding) => return Ok(*finding),
        };
        self.unread = self.leave_out_unread()?;
        self.announce(&endpoints.chosen.targets)?;
        let strategy = SearchStrategy::of(&endpoints.chosen.targets, self.begun.options.search);
        self.short = short_text::choose(&endpoints, &strategy, &self.oracle.recipes.config);
        let mut ledger = Ledger::new(&endpoints.chosen.targets, self.terms());
        let whole = self.whole_search_range(endpoints.chosen.targets.clone());
        let mut search_ranges = VecDeque::from([whole.clone()]);
        let mut searched_before = BTreeSet::new();
        let (mut looked_at, mut looked_behind) = (BTreeSet::new(), BTreeSet::new());
        let mut claims = Vec::new();
        let mut beside = endpoints.chosen.beside.clone();
        let (mut compared, mut compared_falls) = (BTreeSet::new(), BTreeSet::new());
        loop {
            let Some(search_range) = search_ranges.pop_front() else {
                let more = self.look_whether_all_last(&mut ledger, &whole, &mut looked_at);
                let Some(more) = self.unless_limited(&mut ledger, more)? else { break };
                search_ranges.extend(more);
                if self.begun.options.first_only && ledger.has_answer() {
                    break;
                }
                if search_ranges.is_empty() && !self.begun.options.first_only {
                    let unmoved = ledger.range_of_unmoved(&whole);
                    let unmoved = unmoved.filter(|range| !searched_before.contains(&key(range)));
                    let more = match unmoved {
                        None => self.range_of_beside(&mut ledger, &whole, &mut beside),
                        more => Ok(more),
                    };
                    let Some(more) = self.unless_limited(&mut ledger, more)? else { break };
                    search_ranges.extend(more);
                }
                if search_ranges.is_empty() {
                    let more = self.find_missed_falls(&mut ledger, &whole, &mut compared_falls);
                    let Some(more) = self.unless_limited(&mut ledger, more)? else { break };
                    search_ranges.extend(more);
                }
                if search_ranges.is_empty() {
                    let more = self.ranges_between_named(&ledger, &whole, &mut compared);
                    let Some(more) = self.unless_limited(&mut ledger, more)? else { break };
                    search_ranges.extend(more);
                }
                if search_ranges.is_empty() {
                    let behind = &mut looked_behind;
                    let more = self.look_again(&mut ledger, &whole, &mut looked_at, behind);
                    let Some(more) = self.unless_limited(&mut ledger, more)? else { break };
                    search_ranges.extend(more);
                }
                if search_ranges.is_empty() {
                    break;
                }
                continue;
            };
            // The same search range may be queued twice.
            if !searched_before.insert(key(&search_range)) {
                continue;
            }
            if self.searches >= MOST_SEARCHES {
                ledger.note(format!(
                    "stopped after {MOST_SEARCHES} searches: part of the change is not explained"
                ));
                break;
            }
            let searched = super::search::search(self, search_range.clone());
            let Some(searched) = self.unless_limited(&mut ledger, searched)? else { break };
            let searched = match self.unless_begun_again(&search_range, searched)? {
                Ok(searched) => searched,
                Err(finding) => return Ok(finding),
            };
            if let Searched::Culprit(culprit, _) = &searched {
                claims.push((culprit.info.commit.clone(), search_range.clone()));
            }
            let bad = &endpoints.bad;
            let more = self.go_on(&mut ledger, &search_range, searched, bad, &mut claims);
            let Some(more) = self.unless_limited(&mut ledger, more)? else { break };
            search_ranges.extend(more);
            if self.begun.options.first_only && ledger.has_answer() {
                search_ranges.clear();
            }
        }
        self.correct(&mut ledger, &whole, &claims)?;
        self.added_targets = ledger.added_targets(&whole);
        let contributions = self.contributions_if_gradual(&endpoints, &mut ledger)?;
        let range = self.whole();
        let order = CommitOrder::of(self.oracle.history.lineage(&range)?);
        ledger.is_flaky = self.was_seen_to_differ(&whole.targets)?;
        // A check may have varied for the first time after the searches.
        if ledger.is_flaky
            && !self.is_flaky
            && let Some(checks) = self.chance_checks()?
        {
            self.leave_out_checks(&checks)?;
            return self.run_again();
        }
        ledger.left_out = self.left_out()?;
        Ok(ledger.close(contributions, &order, self.begun.options.first_only))
    }

    /// Looks for what the searches missed: first at commits that the newer end needs although they
    /// do not stand, then around improvements that found commits only take back, then behind
    /// commits that may have hidden others. Returns further ranges to search. `looked_at`,
    /// `looked_behind`: the commits already checked.
    fn look_again(
        &mut self,
        ledger: &mut Ledger,
        whole: &SearchRange,
        looked_at: &mut BTreeSet<CommitId>,
        looked_behind: &mut BTreeSet<CommitId>,
    ) -> Result<Vec<SearchRange>, HuntError> {
        let more = self.look_whether_needed_last(ledger, whole, looked_at)?;
        if !more.is_empty() {
            return Ok(more);
        }
        let more = self.look_behind_improvements(ledger, whole)?;
        if !more.is_empty() {
            return Ok(more);
        }
        self.look_behind_hidden(ledger, whole, looked_behind)
    }

    /// Corrects the ledger once nothing is left to search. If a limit ends that, the commits found
    /// so far stay: they become candidates.
    fn correct(
        &mut self,
        ledger: &mut Ledger,
        whole: &SearchRange,
        claims: &[(CommitId, SearchRange)],
    ) -> Result<(), HuntError> {
        match self.make_corrections(ledger, whole, claims) {
            Err(HuntError::Limit(limit)) if !ledger.is_empty() => {
                ledger.note_limit("not all checks of the answer were made", &limit);
                self.limit = Some(limit);
                self.note_lineage(ledger)?;
            }
            corrected => corrected?,
        }
        self.settle_unclear_by_text(ledger, whole)
    }

    /// Corrects the ledger: merges of branches that cannot be measured by themselves, steps that the
    /// noise of all runs may explain, fixes that only mend a later break, commits that only take an
    /// improvement back, what the named commits leave open, what the newer end does not show, what
    /// rests on runs that differ, and steps that may be offsets of single commits.
    fn make_corrections(
        &mut self,
        ledger: &mut Ledger,
        whole: &SearchRange,
        claims: &[(CommitId, SearchRange)],
    ) -> Result<(), HuntError> {
        ledger.withdraw_merges();
        self.refresh_levels(ledger)?;
        self.withdraw_what_noise_may_explain(ledger, claims)?;
        self.settle_mended_breaks(ledger)?;
        self.settle_dropped_improvements(ledger, whole)?;
        self.withdraw_what_is_put_back(ledger, whole)?;
        self.doubt_what_the_end_lacks(ledger, whole)?;
        self.doubt_what_the_end_does_not_show(ledger, whole)?;
        self.doubt_repaired_checks(ledger, whole)?;
        self.withdraw_returned_checks(ledger, whole)?;
        self.doubt_separate_lines(ledger, whole)?;
        self.doubt_one_line(ledger, whole)?;
        self.settle_by_removal(ledger, whole)?;
        ledger.note_open_checks();
        self.doubt_before_spans(ledger, whole)?;
        if self.is_flaky {
            self.recheck(ledger, claims)?;
            self.withdraw_unequal_rates(ledger, claims)?;
        }
        self.compare_rates_with_ends(ledger, claims)?;
        self.withdraw_what_may_be_offsets(ledger, claims)?;
        self.note_lineage(ledger)?;
        self.note_values_between(ledger, whole)?;
        self.note_small_steps(ledger, whole)?;
        self.tell_what_follows_spans(ledger, whole)
    }

    /// The search range between the hunt's own ends. If an earlier commit is known to be fixed, the
    /// range ends there.
    fn whole_search_range(&self, targets: Vec<Target>) -> SearchRange {
        let [older, newer] = self.begun.ends().map(CommitId::clone);
        let newer = self.earlier_good.as_ref().map_or(newer, |earlier| earlier.at.clone());
        SearchRange {
            older,
            newer,
            terms: self.terms(),
            targets,
            paths: PathFilter {
                asked: self.begun.options.paths.clone(),
                unread: self.unread.clone(),
            },
            aside: Vec::new(),
        }
    }

    /// `None` if a limit ends the hunt. Confirmed commits stay; only the rest was not searched.
    fn unless_limited<T>(
        &mut self,
        ledger: &mut Ledger,
        result: Result<T, HuntError>,
    ) -> Result<Option<T>, HuntError> {
        if ledger.is_empty() { result.map(Some) } else { self.unless_limit(ledger, result) }
    }

    /// The same, also if nothing was found yet.
    pub(crate) fn unless_limit<T>(
        &mut self,
        ledger: &mut Ledger,
        result: Result<T, HuntError>,
    ) -> Result<Option<T>, HuntError> {
        match result {
            Err(HuntError::Limit(limit)) => {
                self.leave_open(ledger, limit);
                Ok(None)
            }
            other => other.map(Some),
        }
    }

    /// Notes that a limit ended the hunt. Confirmed commits stay.
    pub(crate) fn leave_open(&mut self, ledger: &mut Ledger, limit: ReachedLimit) {
        ledger.note_limit("part of the change is not explained", &limit);
        self.limit = Some(limit);
    }

    /// Adds the result of a search to the ledger; returns further ranges to search.
    fn go_on(
        &mut self,
        ledger: &mut Ledger,
        search_range: &SearchRange,
        searched: Searched,
        bad: &Observation,
        claims: &mut Vec<(CommitId, SearchRange)>,
    ) -> Result<Vec<SearchRange>, HuntError> {
        if let Searched::Untestable(commits) = searched {
            let alone = self.ranges_of_each_measure(search_range, &commits);
            let Some(alone) = self.unless_limit(ledger, alone)? else { return Ok(Vec::new()) };
            if !alone.is_empty() {
                return Ok(alone);
            }
            return self.look_behind_span(ledger, search_range, commits, claims);
        }
        let (found, crossing) = match &searched {
            Searched::Culprit(culprit, seen) => (Some((culprit.clone(), seen.clone())), None),
            Searched::Gradual(crossing, _) => (None, Some(crossing.clone())),
            _ => (None, None),
        };
        if matches!(searched, Searched::Unchanged(_)) && search_range.explains_levels() {
            self.doubt_mends_at(ledger, search_range)?;
        }
        if let Some((culprit, _)) = &found {
            for mend in self.mends_before_made_again(ledger, search_range, culprit)? {
                ledger.mended(mend);
            }
        }
        let parts = ledger.enter(search_range, searched, bad);
        let parts = self.begin_at_forks(parts);
        let mut next = self.unless_limit(ledger, parts)?.unwrap_or_default();
        if let Some(crossing) = crossing.as_ref().filter(|_| search_range.explains_levels()) {
            next.extend(self.find_dip(search_range, crossing)?);
        }
        let Some((culprit, seen)) = &found else { return Ok(next) };
        if search_range.explains_levels() {
            // Drop the range after the commit: levels measured inside it give better ranges than
            // the end's level alone.
            let after = |one: &SearchRange| one.older == culprit.info.commit;
            next.retain(|one| !after(one) || !one.targets.iter().all(has_levels));
        }
        let moved = search_range.moved_by(culprit);
        let step = FoundStep { search_range: &moved, culprit, seen };
        let looked = self.check_persistence(ledger, &step).and_then(|more| {
            if search_range.explains_levels() && !self.begun.options.first_parent {
                self.follow_into_merges(ledger, search_range, culprit, claims)?;
            }
            Ok(more)
        });
        match looked {
            Err(HuntError::Limit(limit)) => {
                ledger.note_unchecked_last(is_beyond_the_end(&step), &limit);
                self.limit = Some(limit);
            }
            more => next.extend(more?),
        }
        self.settle_account(ledger)?;
        Ok(next)
    }

    /// Replaces a found merge by the commit of its branch that made the change, unless the merge
    /// made a step of its own beside the branch's.
    fn follow_into_merges(
        &mut self,
        ledger: &mut Ledger,
        search_range: &SearchRange,
        culprit: &Culprit,
        claims: &mut Vec<(CommitId, SearchRange)>,
    ) -> Result<(), HuntError> {
        let mut search_range = search_range.clone();
        let mut merge = self.judged_on_the_line(culprit.clone())?;
        for _ in 0..MOST_MERGES {
            let Some(inner) = self.inside_merge(ledger, &search_range, &merge)? else { break };
            let inside = match super::search::search(self, inner.clone())? {
                Searched::Culprit(inside, _) => inside,
                Searched::Candidates(mut branch, _) | Searched::Untestable(mut branch) => {
                    // The list may have commits outside the branch, but the step is the branch's.
                    let range = Range::between(&inner.older, &inner.newer);
                    let within = self.oracle.history.commits(&range)?;
                    branch.retain(|one| within.contains(one));
                    ledger.may_be_merged_in(&merge.info.commit, branch);
                    break;
                }
                Searched::ChecksVary(_) => {
                    let range = Range::between(&inner.older, &inner.newer);
                    let branch = self.oracle.history.commits(&range)?;
                    ledger.may_be_merged_in(&merge.info.commit, branch);
                    break;
                }
                _ => break,
            };
            // If the merge's parent already contains the commit, the merge does not bring it in. If
            // the good end contains it, it cannot be the difference between the ends.
            let history = &self.oracle.history;
            if history.is_ancestor(&inside.info.commit, &merge.parent)?
                || history.is_ancestor(&inside.info.commit, &self.begun.good.commit)?
            {
                break;
            }
            let adds_own_step = self.adds_own_step(&merge, &inner)?;
            ledger.brought_by(&merge.info.commit, &inside, adds_own_step);
            claims.push((inside.info.commit.clone(), inner.clone()));
            (search_range, merge) = (inner, *inside);
        }
        Ok(())
    }

    /// The merge, compared with a parent that contains the good end. A branch that forked off
    /// before the good end lacks changes that the good end has.
    fn judged_on_the_line(&self, merge: Culprit) -> Result<Culprit, HuntError> {
        let history = &self.oracle.history;
        let good = &self.begun.good.commit;
        if history.is_ancestor(good, &merge.parent)? {
            return Ok(merge);
        }
        for parent in history.parents(&merge.info.commit)? {
            if history.is_ancestor(good, &parent)? {
                return Ok(Culprit { parent, ..merge });
            }
        }
        Ok(merge)
    }
}
