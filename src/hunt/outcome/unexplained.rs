//! What the bad end shows and the confirmed commits do not explain. If there is anything, the
//! answer is not complete. Pure.

use crate::evaluation::{
    Account, CommitId, Culprit, Effect, Failure, GuardTarget, Metric, Target, Unexplained, Value,
    exceeds_limit,
};
use crate::hunt::commit_order::CommitOrder;
use crate::hunt::confirm::effect::NORMAL_95;
use crate::hunt::distinct::distinct;
use crate::hunt::range::SearchRange;

use super::account::Ledger;
use super::culprit_status::{CulpritStatus, FoundCommit, Mend};
use super::partial_mends::EXACT;

/// How many standard errors a rest must exceed its tolerance by.
pub(super) const SURE: f64 = 2.0;

impl Ledger {
    /// The range to search for guards that the bad end breaks and whose metrics no found commit
    /// moves. If no commit stands, a metric with a found step is not searched again: its candidates
    /// are known. `None` if there are no such guards, or if nothing is found at all. `whole`: the
    /// hunt's own range.
    pub(crate) fn range_of_unmoved(&self, whole: &SearchRange) -> Option<SearchRange> {
        let has_answer = self.has_answer();
        let has_step = |metric: &Metric| {
            self.found.iter().any(|found| found.culprit.effect_on(metric).is_some())
        };
        let is_unmoved = |target: &&Target| match target {
            Target::Guard(target) => {
                let metric = &target.guard.metric;
                !self.is_moved(metric) && (has_answer || !has_step(metric))
            }
            Target::Failure { .. } => false,
        };
        let targets: Vec<Target> = whole.targets.iter().filter(is_unmoved).cloned().collect();
        (!self.is_empty() && !targets.is_empty()).then(|| SearchRange { targets, ..whole.clone() })
    }

    /// What the found commits do not explain: metrics that none of them moves, or whose rest
    /// exceeds the tolerance beyond the noise, and measures that fail. A step for which only
    /// candidates are known is not explained: one of them is the commit that the user needs.
    pub(crate) fn unexplained(&self, accounts: &[Account]) -> Vec<Unexplained> {
        let metrics = self.unexplained_metrics(accounts).into_iter();
        let mut found: Vec<Unexplained> = metrics.map(Unexplained::Metric).collect();
        for target in self.targets.iter().chain(&self.other_failures) {
            let Target::Failure { measure, failure, .. } = target else { continue };
            let is_its = |culprit: &Culprit| {
                culprit.failure.as_ref().is_some_and(|own| own.is_same_failure(failure))
            };
            if !self.standing_culprits().any(is_its) {
                found.push(measure.clone().map_or(Unexplained::Build, Unexplained::Measure));
            }
        }
        found
    }

    /// The commits among which the cause of the unexplained metrics is; empty if a search left
    /// candidates. These are all commits of the hunt. If a found commit moved the metric and does
    /// not stand any more, the commits before it are left out. Metrics that a named commit moves do
    /// not count.
    pub(super) fn in_question(
        &self,
        unexplained: &[Unexplained],
        order: &CommitOrder,
    ) -> Vec<CommitId> {
        if !self.candidates.is_empty() {
            return Vec::new();
        }
        let mut all = Vec::new();
        for one in unexplained {
            let Unexplained::Metric(metric) = one else { continue };
            if self.is_moved(metric) {
                continue;
            }
            let moves = |found: &&FoundCommit| found.culprit.effect_on(metric).is_some();
            let undone = self.found.iter().find(moves);
            all.extend(order.not_before(undone.map(|found| &found.culprit.info.commit)));
        }
        distinct(all)
    }

    fn unexplained_metrics(&self, accounts: &[Account]) -> Vec<Metric> {
        let mut metrics: Vec<Metric> = Vec::new();
        for target in &self.targets {
            let Target::Guard(target) = target else { continue };
            let metric = &target.guard.metric;
            let account = accounts.iter().find(|account| account.metric == *metric);
            let is_left = account.is_some_and(|it| {
                let has_candidates = self.largest_open.moves(metric);
                // What a mend took away, a step with candidates may have added again.
                let again = if has_candidates { self.unattributed_mends(metric) } else { 0.0 };
                let rest = it.rest - self.masked(target) + again;
                // A rest that is larger than a named step must not count as within the tolerance.
                let tolerated = it.limit.max(0.0).min(self.smallest_step(metric));
                let most = tolerated + SURE * self.error_of_rest(target);
                // If only small steps lie around the found commits, no single commit made the rest.
                let is_slow = self.small_steps.contains(metric);
                let levels = target.levels_at_ends();
                let rises =
                    has_candidates || exceeds_limit(self.largest_rise(target), most, levels);
                exceeds_limit(rest, most, levels) && rises && !is_slow
            });
            let is_open = is_left
                || self.is_chain_open(target)
                || self.open_checks.contains_key(metric)
                || self.doubted.contains(metric)
                || !self.is_moved_by_named(metric);
            if is_open && !metrics.contains(metric) {
                metrics.push(metric.clone());
            }
        }
        metrics
    }

    /// The sum of the undone steps that the parent of a standing commit still had, and that this
    /// commit may have undone itself. The commit's own step is measured against that parent, so it
    /// is too small by this sum.
    pub(super) fn masked(&self, target: &GuardTarget) -> f64 {
        let metric = &target.guard.metric;
        let above_good = |effect: &Effect| {
            let [level, _] = self.terms.levels(effect);
            let levels = target.baseline.number().zip(level.number());
            levels.map_or(0.0, |(good, level)| target.guard.worsening(good, level))
        };
        let is_masked = |undone: &FoundCommit, step: f64| {
            self.standing_culprits().any(|culprit| {
                let height = culprit.effect_on(metric).map(above_good);
                height.is_some_and(|height| height >= step / 2.0)
                    && self.may_take_back(culprit, undone, metric)
            })
        };
        let steps = self.found.iter().filter_map(|found| {
            let step = found.culprit.effect_on(metric)?.own_step?;
            is_masked(found, step).then_some(step)
        });
        steps.fold(0.0, |sum, step| sum + step)
    }

    /// Whether `culprit` may have undone the step of `undone`, an earlier commit. The parent of
    /// `culprit` must have the step. The step must be gone at a commit that contains `culprit` or
    /// that `culprit` merges. No measured fall after `culprit` may have taken the step away. The
    /// level of the parent alone does not show this: another commit may have made that level.
    fn may_take_back(&self, culprit: &Culprit, undone: &FoundCommit, metric: &Metric) -> bool {
        let CulpritStatus::Undone { by, .. } = &undone.status else { return false };
        let commit = &culprit.info.commit;
        let mut falls = self.mends_of(metric).filter(|mend| mend.by == *by);
        let is_later = |mend: &Mend| {
            mend.before.as_ref().is_some_and(|before| self.lineage.contains(before, commit))
        };
        self.lineage.contains(&culprit.parent, &undone.culprit.info.commit)
            && !self.lineage.contains(&culprit.parent, by)
            && (self.lineage.contains(by, commit) || self.lineage.contains(commit, by))
            && !falls.any(is_later)
    }

    /// How much better mends made the metric, beyond the steps that they undid.
    fn unattributed_mends(&self, metric: &Metric) -> f64 {
        let mended = self.mends_of(metric).fold(0.0, |sum, mend| sum + mend.amount);
        let undone = self.undone_sizes(metric).fold(0.0, |sum, step| sum + step);
        f64::max(mended - undone, 0.0)
    }

    /// The own steps of the undone commits.
    fn undone_sizes(&self, metric: &Metric) -> impl Iterator<Item = f64> {
        let is_undone = |found: &&FoundCommit| matches!(found.status, CulpritStatus::Undone { .. });
        let undone = self.found.iter().filter(is_undone).map(|found| &found.culprit);
        undone.filter_map(move |culprit| culprit.effect_on(metric)?.own_step)
    }

    /// The smallest own step of the standing commits; infinite if none has a number.
    fn smallest_step(&self, metric: &Metric) -> f64 {
        let steps = self.standing_effects(metric).filter_map(|effect| effect.own_step);
        steps.map(f64::abs).fold(f64::INFINITY, f64::min)
    }

    /// Whether the steps of the standing commits do not lead from the good end's fact to the bad
    /// end's. Facts have no numbers to add up.
    fn is_chain_open(&self, target: &GuardTarget) -> bool {
        let (Value::Fact(_), Value::Fact(_)) = (&target.baseline, &target.bad) else {
            return false;
        };
        let metric = &target.guard.metric;
        let effects = self.standing_effects(metric);
        let mut steps: Vec<[&Value; 2]> = effects.map(|effect| self.terms.levels(effect)).collect();
        let mut at = &target.baseline;
        while at != &target.bad {
            let Some(place) = steps.iter().position(|[from, _]| *from == at) else { return true };
            [_, at] = steps.swap_remove(place);
        }
        false
    }

    /// The largest rise between two neighbours of: the good end, the standing commits, the bad end.
    fn largest_rise(&self, target: &GuardTarget) -> f64 {
        let steps = self.standing_effects(&target.guard.metric);
        let steps = steps.map(|effect| self.terms.levels(effect)).collect();
        let steps = self.terms.good_side_first(steps);
        let mut from = &target.baseline;
        let mut largest = f64::NEG_INFINITY;
        for [good_side, bad_side] in steps.into_iter().chain([[&target.bad, &target.bad]]) {
            if let (Some(before), Some(now)) = (from.number(), good_side.number()) {
                largest = largest.max(target.guard.worsening(before, now));
            }
            from = bad_side;
        }
        largest
    }

    pub(super) fn standing_culprits(&self) -> impl Iterator<Item = &Culprit> {
        self.found.iter().filter(|found| found.stands()).map(|found| &found.culprit)
    }

    /// Those that move a metric.
    pub(super) fn standing_on(&self, metric: &Metric) -> Vec<Culprit> {
        let standing = self.standing_culprits();
        standing.filter(|one| one.effect_on(metric).is_some()).cloned().collect()
    }

    fn standing_effects<'l>(&'l self, metric: &'l Metric) -> impl Iterator<Item = &'l Effect> {
        self.standing_culprits().filter_map(move |culprit| culprit.effect_on(metric))
    }

    /// Whether a found commit, or one of the candidates for a step, moves the metric.
    fn is_moved(&self, metric: &Metric) -> bool {
        let is_open = |found: &FoundCommit| {
            found.among.is_some() && found.culprit.effect_on(metric).is_some()
        };
        self.is_moved_by_named(metric)
            || self.largest_open.moves(metric)
            || self.found.iter().any(is_open)
    }

    /// Whether a found commit that stands, or small steps, move the metric.
    fn is_moved_by_named(&self, metric: &Metric) -> bool {
        self.standing_effects(metric).next().is_some() || self.has_ramp(metric)
    }

    /// Whether the other standing commits explain what the newer end shows of all that this commit
    /// moved: then the commit may have been undone.
    pub(super) fn is_explained_without(&self, culprit: &Culprit) -> bool {
        let others: Vec<&Culprit> = self
            .standing_culprits()
            .filter(|other| other.info.commit != culprit.info.commit)
            .collect();
        let is_its_failure = |failure: &Failure| {
            let mut failures = others.iter().filter_map(|other| other.failure.as_ref());
            failures.any(|other| other.is_same_failure(failure))
        };
        culprit.failure.as_ref().is_none_or(is_its_failure)
            && culprit.effects.iter().all(|effect| self.do_explain(&others, &effect.metric))
    }

    /// Whether the other standing commits add up to what the bad end shows of each metric that this
    /// commit moved, to a thousandth. Only where levels repeat.
    pub(super) fn is_explained_exactly_without(&self, culprit: &Culprit) -> bool {
        let is_other = |found: &&FoundCommit| {
            let is_same = found.culprit.info.commit == culprit.info.commit;
            found.stands() && found.among.is_none() && !is_same
        };
        let is_exact = |effect: &Effect| {
            let target = self.target_on(&effect.metric).filter(|target| target.noise.is_none());
            let total = target.and_then(|target| {
                let (good, bad) = target.baseline.number().zip(target.bad.number())?;
                Some(target.guard.worsening(good, bad))
            });
            let others = self.found.iter().filter(is_other);
            let steps =
                others.filter_map(|other| other.culprit.effect_on(&effect.metric)?.own_step);
            let sum = steps.fold(0.0, |sum, step| sum + step);
            total.is_some_and(|total| (total - sum).abs() <= EXACT * total.abs())
        };
        culprit.failure.is_none()
            && !culprit.effects.is_empty()
            && culprit.effects.iter().all(is_exact)
    }

    /// Whether these commits explain what the bad end shows of a metric. A failure rate has no
    /// steps to add up: one commit that moves it is enough.
    fn do_explain(&self, culprits: &[&Culprit], metric: &Metric) -> bool {
        let Some(target) = self.target_on(metric) else { return false };
        let mut effects = culprits.iter().filter_map(|culprit| culprit.effect_on(metric));
        let ends = target.baseline.number().zip(target.bad.number());
        match ends.filter(|_| !target.is_rate()) {
            Some((good, bad)) => {
                let steps = effects.filter_map(|effect| effect.own_step);
                let rest = target.guard.worsening(good, bad) - steps.fold(0.0, |sum, x| sum + x);
                let most = target.limit.max(0.0) + SURE * self.error_of_rest(target);
                !exceeds_limit(rest, most, [good, bad])
            }
            None if target.is_rate() => effects.next().is_some(),
            None => effects.any(|effect| *self.terms.levels(effect)[1] == target.bad),
        }
    }

    /// Whether small steps of the metric add up to a larger change somewhere. The answer mentions
    /// this beside the commits.
    pub(super) fn has_ramp(&self, metric: &Metric) -> bool {
        self.small_steps.contains(metric)
            || self.crossings.iter().any(|crossing| crossing.effect_on(metric).is_some())
    }

    /// The standard error of the rest, in the metric's unit: that of both ends and of each step.
    pub(super) fn error_of_rest(&self, target: &GuardTarget) -> f64 {
        let Some(noise) = target.noise else { return 0.0 };
        let limit = target.oriented_limit();
        // Over a distance as short as the tolerance, the noise's scale is nearly linear.
        let unit = if limit > 0.0 { target.limit / limit } else { 1.0 };
        let sides = if noise.paired { 1.0 } else { 2.0 };
        let ends = unit * noise.sd * (sides / noise.runs.max(1) as f64).sqrt();
        let steps = self.standing_effects(&target.guard.metric).map(error_of_step);
        steps.map(|error| error * error).fold(ends * ends, |sum, x| sum + x).sqrt()
    }
}

/// The standard error of an own step, in the metric's unit; 0 if it is not known.
pub(super) fn error_of_step(effect: &Effect) -> f64 {
    effect.interval.map_or(0.0, |[low, high]| (high - low) / (2.0 * NORMAL_95))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::{Aim, GuardForm};
    use crate::hunt::outcome::lineage::Lineage;
    use crate::hunt::terms::SearchTerms;
    use crate::oracle::fixture::{commit, culprit, effect, target};

    /// What is masked if 3 made `ppl` 0.8 worse and was undone by `by`, and 7 with its parent 6
    /// stands. `pairs`: which of the commits contain which others.
    fn masked(by: char, pairs: &[&str], fall_after: Option<char>) -> f64 {
        let sought = target(GuardForm::MaxIncrease(0.1), 6.0, 7.1);
        let terms = SearchTerms::of(Aim::Regression);
        let mut ledger = Ledger::new(&[Target::Guard(sought.clone())], terms);
        let found = |digit, parent, step| {
            FoundCommit::new(Culprit { effects: vec![step], ..culprit(digit, parent) })
        };
        ledger.found.push(FoundCommit {
            status: CulpritStatus::Undone { by: commit(by), again: false },
            ..found('3', '2', effect(6.0, 6.8, 0.1))
        });
        ledger.found.push(found('7', '6', effect(6.6, 7.1, 0.1)));
        if fall_after.is_some() {
            ledger.mended(Mend {
                by: commit(by),
                before: fall_after.map(commit),
                metric: Some(Metric::of("ppl")),
                amount: 0.8,
                left: 0.0,
                limit: 0.1,
                repeats: true,
            });
        }
        let pair = |pair: &&str| {
            let digits: Vec<char> = pair.chars().collect();
            [commit(digits[0]), commit(digits[1])]
        };
        ledger.lineage = Lineage::of(pairs.iter().map(pair));
        ledger.masked(&sought)
    }

    #[test]
    fn a_commit_masks_only_a_step_that_it_may_have_undone_itself() {
        assert!((masked('7', &["63", "73"], None) - 0.8).abs() < 1e-9);
        assert!((masked('8', &["63", "73", "83", "87"], None) - 0.8).abs() < 1e-9);
        // 7 merges a branch on which the step was undone.
        assert!((masked('5', &["63", "73", "75"], None) - 0.8).abs() < 1e-9);
        // 5 undid the step before 6, the parent of 7; another commit made 6 worse.
        assert!(masked('5', &["53", "63", "65", "73", "75"], None).abs() < 1e-9);
        // 6, the parent of 7, never had the step.
        assert!(masked('8', &["83", "87"], None).abs() < 1e-9);
        // A measured fall took the step away later.
        assert!(masked('9', &["63", "73", "83", "87", "93", "97"], Some('8')).abs() < 1e-9);
    }
}
