//! The account of a hunt: good → bad = the own steps found + the rest. If the rest exceeds the
//! tolerance on either side of a found commit, the hunt searches on. Pure.

use std::collections::{BTreeMap, BTreeSet};

use crate::evaluation::{Checks, CommitId, Culprit, GuardTarget, Metric, ReachedLimit, Target};
use crate::hunt::left_out::LeftOut;
use crate::hunt::range::SearchRange;
use crate::hunt::searched::Searched;
use crate::hunt::terms::SearchTerms;
use crate::hunt::why::CandidatesReason;
use crate::oracle::Observation;
use crate::ui::reached_limit;

use super::brought_fall::BroughtFall;
use super::culprit_status::{
    CulpritStatus, FoundCommit, Mend, back_to_good, beyond_good, mends_before,
};
use super::dropped_improvement::DroppedImprovement;
use super::hidden_cause::{HiddenCause, WhyHidden};
use super::lineage::Lineage;
use super::owned_mend::OwnedMend;
use super::rest::{exceeds, is_beyond_noise};
use super::step_sizes::StepSizes;

/// The results of the hunt so far.
#[derive(Debug)]
pub(crate) struct Ledger {
    pub(crate) terms: SearchTerms,
    pub(crate) targets: Vec<Target>,
    pub(crate) found: Vec<FoundCommit>,
    mends: Vec<Mend>,
    pub(super) owned_mends: Vec<OwnedMend>,
    pub(super) brought_falls: Vec<BroughtFall>,
    pub(super) hidden: Vec<HiddenCause>,
    /// Improvements that found commits take back, and that neither end has.
    pub(super) dropped: Vec<DroppedImprovement>,
    /// Found merges, each with commits of a merged branch that may have made the merge's step.
    pub(super) merged_in: Vec<(CommitId, Vec<CommitId>)>,
    /// Found commits that may have been undone: their change later leaves the tree, at least in
    /// part, or they explain too much and no measured improvement accounts for it.
    pub(crate) leaving: Vec<CommitId>,
    /// Found commits with measured commits between them and the hunt's newer end.
    pub(crate) measured_after: Vec<CommitId>,
    pub(crate) crossings: Vec<Culprit>,
    pub(crate) candidates: Vec<(Vec<CommitId>, CandidatesReason)>,
    /// The largest steps for which only candidates are known.
    pub(super) largest_open: StepSizes,
    /// Metrics that something not named may have moved more than the named commits.
    pub(super) doubted: BTreeSet<Metric>,
    /// Metrics whose unexplained rest consists of small steps.
    pub(crate) small_steps: BTreeSet<Metric>,
    /// The checks of a metric's measure that fail at the bad end and that no named commit broke.
    pub(crate) open_checks: BTreeMap<Metric, Checks>,
    /// Two found commits, each of which alone makes the step at the newer end.
    pub(super) either: Option<[CommitId; 2]>,
    pub(crate) notes: Vec<String>,
    /// Failures of other measures than the target's. Each had a search of its own.
    pub(crate) other_failures: Vec<Target>,
    /// Which of the commits contain which others. Empty until `note_lineage` fills it.
    pub(super) lineage: Lineage,
    /// Runs or builds of one commit were seen to differ.
    pub(crate) is_flaky: bool,
    /// Found commits that only a branch undid: another line of history keeps their change.
    pub(super) kept_beside: BTreeSet<CommitId>,
    /// The commits that no search tests. Empty until the hunt has searched all.
    pub(crate) left_out: LeftOut,
}

impl Ledger {
    pub(crate) fn new(targets: &[Target], terms: SearchTerms) -> Self {
        Self {
            terms,
            targets: targets.to_vec(),
            found: Vec::new(),
            mends: Vec::new(),
            owned_mends: Vec::new(),
            brought_falls: Vec::new(),
            hidden: Vec::new(),
            dropped: Vec::new(),
            merged_in: Vec::new(),
            leaving: Vec::new(),
            measured_after: Vec::new(),
            crossings: Vec::new(),
            candidates: Vec::new(),
            largest_open: StepSizes::default(),
            doubted: BTreeSet::new(),
            small_steps: BTreeSet::new(),
            open_checks: BTreeMap::new(),
            either: None,
            notes: Vec::new(),
            other_failures: Vec::new(),
            lineage: Lineage::default(),
            is_flaky: false,
            kept_beside: BTreeSet::new(),
            left_out: LeftOut::default(),
        }
    }

    /// Adds a target that gets a search of its own, after the others.
    pub(crate) fn add_target(&mut self, target: Target) {
        match target {
            Target::Guard(_) => self.targets.push(target),
            Target::Failure { .. } => self.other_failures.push(target),
        }
    }

    /// Adds a note on what is missing because a limit of the hunt is reached.
    pub(crate) fn note_limit(&mut self, missing: &str, limit: &ReachedLimit) {
        self.note(format!("{missing}: {}", reached_limit(limit)));
    }

    pub(crate) fn note(&mut self, text: impl Into<String>) {
        self.notes.push(text.into());
    }

    /// Whether nothing was found yet.
    pub(crate) fn is_empty(&self) -> bool {
        self.found.is_empty() && self.crossings.is_empty() && self.candidates.is_empty()
    }

    /// Whether the only result is that small steps crossed the threshold.
    pub(crate) fn is_gradual(&self) -> bool {
        self.found.is_empty() && self.candidates.is_empty() && !self.crossings.is_empty()
    }

    /// Replaces a found merge by the commit of its branch that made the change. `adds_own_step`:
    /// the merge made a step beside that of the branch; it stays if the branch's commit is found.
    pub(crate) fn brought_by(&mut self, merge: &CommitId, inside: &Culprit, adds_own_step: bool) {
        let inner = &inside.info.commit;
        self.notes.push(format!("{} is merged by {}", inner.short(), merge.short()));
        if self.found.iter().any(|found| found.culprit.info.commit == *inner) {
            if adds_own_step {
                return;
            }
            self.found.retain(|found| found.culprit.info.commit != *merge);
        }
        let mut found = self.found.iter_mut();
        if let Some(found) = found.find(|found| found.culprit.info.commit == *merge) {
            found.culprit = inside.clone();
        }
    }

    /// Notes that a limit ended the hunt before it knew whether the last commit's change lasts.
    /// `is_worse`: that commit is worse than the bad end, so a later commit mended at least a part.
    pub(crate) fn note_unchecked_last(&mut self, is_worse: bool, limit: &ReachedLimit) {
        self.note_limit("it was not checked whether the change lasts", limit);
        if let Some(found) = self.found.last_mut().filter(|_| is_worse) {
            found.status = CulpritStatus::Unclear;
        }
    }

    /// Records that `commit` or one of `after` may cause what the newer end shows. If several
    /// reasons are recorded for a commit, the first one counts.
    pub(crate) fn hides(&mut self, commit: &CommitId, after: &[CommitId], why: WhyHidden) {
        self.hidden.push(HiddenCause { found: commit.clone(), others: after.to_vec(), why });
    }

    /// Lowers the confidence of a found commit.
    pub(crate) fn lower_confidence(&mut self, commit: &CommitId, confidence: f64) {
        for found in self.found.iter_mut().filter(|one| one.culprit.info.commit == *commit) {
            found.culprit.confidence = found.culprit.confidence.min(confidence);
        }
    }

    /// Replaces a found commit by the candidates `among`, for the reason `why`.
    pub(crate) fn withdraw(
        &mut self,
        commit: &CommitId,
        among: &[CommitId],
        why: impl Into<CandidatesReason>,
    ) {
        let why = why.into();
        for found in self.found.iter_mut().filter(|one| one.culprit.info.commit == *commit) {
            found.among.get_or_insert_with(|| (among.to_vec(), why.clone()));
        }
    }

    /// Marks a found commit as undone by a later one.
    pub(crate) fn undone_by(&mut self, commit: &CommitId, by: &CommitId) {
        for found in self.found.iter_mut().filter(|one| one.culprit.info.commit == *commit) {
            found.status = CulpritStatus::Undone { by: by.clone(), again: false };
        }
    }

    /// Records that a found commit may have been undone. That counts if the found commits together
    /// explain too much.
    pub(crate) fn leaves(&mut self, commit: &CommitId) {
        self.leaving.push(commit.clone());
    }

    /// The first bad commits found so far, in the order they were found.
    pub(crate) fn found(&mut self) -> &mut [FoundCommit] {
        &mut self.found
    }

    /// Records a mend.
    pub(crate) fn mended(&mut self, mend: Mend) {
        // Two paths of history may pass the same mend.
        if self.mends.iter().all(|one| one.by != mend.by || one.metric != mend.metric) {
            self.mends.push(mend);
        }
    }

    /// How much worse a level is than the good end's.
    pub(crate) fn beyond_good(&self, metric: &Metric, level: f64) -> Option<f64> {
        beyond_good(&self.targets, metric, level)
    }

    /// Drops the mends of this metric at this commit: later runs show that there was none.
    pub(crate) fn refute_mends(&mut self, by: &CommitId, metric: &Metric) {
        self.mends.retain(|mend| mend.by != *by || mend.metric.as_ref() != Some(metric));
    }

    /// Drops these mends.
    pub(super) fn drop_mends(&mut self, mends: &[Mend]) {
        self.mends.retain(|mend| !mends.contains(mend));
    }

    /// The mends so far.
    pub(crate) fn mends(&self) -> &[Mend] {
        &self.mends
    }

    /// The mends of a metric that have a number.
    pub(super) fn mends_of<'l>(&'l self, metric: &'l Metric) -> impl Iterator<Item = &'l Mend> {
        let is_its = move |mend: &&Mend| mend.metric.as_ref() == Some(metric);
        self.mends.iter().filter(is_its).filter(|mend| mend.amount.is_finite())
    }

    /// The first target on this metric.
    pub(super) fn target_on(&self, metric: &Metric) -> Option<&GuardTarget> {
        Target::on(&self.targets, metric).and_then(Target::guard)
    }

    /// The first guard. The contributions to a gradual change are computed for its metric.
    pub(crate) fn first_metric(&self) -> Option<GuardTarget> {
        self.targets.iter().find_map(Target::guard).cloned()
    }

    /// Adds the candidates of a search range that stays undecided.
    pub(crate) fn enter_open(
        &mut self,
        search_range: &SearchRange,
        commits: Vec<CommitId>,
        why: CandidatesReason,
    ) {
        self.largest_open.raise(StepSizes::between_ends(&search_range.targets));
        self.candidates.push((commits, why));
    }

    /// Adds candidates: one of them made the step. `step` describes it as a step of the newest one.
    pub(crate) fn enter_span(
        &mut self,
        step: Culprit,
        commits: Vec<CommitId>,
        why: CandidatesReason,
    ) {
        let known = self.found.iter().any(|found| found.culprit.info.commit == step.info.commit);
        if !known {
            self.found.push(FoundCommit { among: Some((commits, why)), ..FoundCommit::new(step) });
        }
    }

    /// Adds the result of a search; returns further ranges to search.
    pub(crate) fn enter(
        &mut self,
        search_range: &SearchRange,
        searched: Searched,
        bad: &Observation,
    ) -> Vec<SearchRange> {
        let (found, seen) = match searched {
            Searched::Candidates(commits, why) => {
                self.enter_open(search_range, commits, why);
                return Vec::new();
            }
            Searched::Untestable(commits) => {
                self.enter_open(search_range, commits, CandidatesReason::Untestable);
                return Vec::new();
            }
            Searched::Nothing(why)
            | Searched::Unchanged(why)
            | Searched::BuildsDisagree(why)
            | Searched::DirectModeMatters(why)
            | Searched::HomeMatters(why) => {
                self.notes.push(why);
                return Vec::new();
            }
            Searched::ChecksVary(checks) => {
                self.notes.push(checks.to_string());
                return Vec::new();
            }
            Searched::MachineChanged(change) => {
                self.notes.push(change.text);
                return Vec::new();
            }
            Searched::Culprit(culprit, seen) => {
                if let Some(mend) = back_to_good(&culprit, &self.targets, self.terms) {
                    self.mended(mend);
                    let [_, to_bad] = search_range.parts_around(&culprit);
                    return to_bad
                        .and_then(|part| self.towards_bad(part, &seen, bad))
                        .into_iter()
                        .collect();
                }
                self.mends.extend(mends_before(search_range, &culprit, &self.targets));
                let is_known =
                    |found: &FoundCommit| found.culprit.info.commit == culprit.info.commit;
                match self.found.iter_mut().find(|found| is_known(found)) {
                    None => self.found.push(FoundCommit::new((*culprit).clone())),
                    // Another search found the same commit by another metric.
                    Some(known) => known.add_effects(&culprit),
                }
                (culprit, seen)
            }
            Searched::Gradual(culprit, seen) => {
                self.crossings.push((*culprit).clone());
                (culprit, seen)
            }
        };
        let mut next = Vec::new();
        let [to_good, to_bad] = search_range.parts_around(&found);
        next.extend(to_good.and_then(|part| Self::towards_good(part, &found)));
        next.extend(to_bad.and_then(|part| self.towards_bad(part, &seen, bad)));
        next
    }

    /// The range between the bad side of the found step and the bad end (`part`), if the rest there
    /// exceeds the tolerance. Its baseline is the level of the step's bad side. `seen`: the runs of
    /// that side; `bad`: the runs of the hunt's bad end.
    fn towards_bad(
        &mut self,
        part: SearchRange,
        seen: &Observation,
        bad: &Observation,
    ) -> Option<SearchRange> {
        let [from, end] = part.good_and_bad();
        let mut targets = Vec::new();
        for target in &part.targets {
            let Target::Guard(target) = target else { continue };
            let metric = &target.guard.metric;
            // Failure rates have no account. Values that differ from run to run have none either.
            if target.is_rate() || (target.noise.is_none() && !seen.has_level(metric, target.limit))
            {
                continue;
            }
            let Some(level) = seen.level(metric) else {
                self.notes.push(format!(
                    "{} has no value of {metric}, so the hunt did not look for changes {} it",
                    from.short(),
                    part.terms.beyond()
                ));
                continue;
            };
            let rest = GuardTarget { baseline: level, ..target.clone() };
            if !exceeds(&rest) {
                continue;
            }
            let own = seen.numbers(metric);
            // The search range may end at a parent of which only the level is known: count one run.
            let runs = if *end == bad.commit { bad.numbers(metric).len() } else { 1 };
            if is_beyond_noise(&rest, own.len(), runs) {
                targets.push(Target::Guard(rest));
            } else {
                self.notes.push(format!(
                    "any further change of {metric} {} {} is lost in its noise",
                    part.terms.beyond(),
                    from.short()
                ));
            }
        }
        (!targets.is_empty()).then_some(SearchRange { targets, ..part })
    }

    /// The range from the good end to the good side of the found step (`part`), if the rest there
    /// exceeds the tolerance. That happens only in noise: a level between good and bad may pass as
    /// good there.
    fn towards_good(part: SearchRange, found: &Culprit) -> Option<SearchRange> {
        let mut targets = Vec::new();
        for target in &part.targets {
            let Target::Guard(target) = target else { continue };
            // A failure rate has no level between good and bad.
            if target.noise.is_none_or(|noise| noise.kind.is_rate()) {
                continue;
            }
            let Some(effect) = found.effect_on(&target.guard.metric) else { continue };
            let [level, _] = part.terms.levels(effect);
            let rest = GuardTarget { bad: level.clone(), ..target.clone() };
            let runs = target.noise.map_or(1, |noise| noise.runs);
            if exceeds(&rest) && is_beyond_noise(&rest, runs, 2) {
                targets.push(Target::Guard(rest));
            }
        }
        (!targets.is_empty()).then_some(SearchRange { targets, ..part })
    }
}

#[cfg(test)]
mod tests;
