//! If no test tells whether an endpoint needs a named commit's change, measures the commits that
//! touch the files of that change. Such a commit may undo the change by hand, and another commit
//! may do the same again. If many commits touch these files, the newer end is first tested with the
//! lines of the change as they were before, whatever later commits made of them.

use crate::evaluation::{
    Cause, CommitId, Culprit, Finding, Metric, Outcome, Revert, Target, Verdict,
};
use crate::git::{Change, HeldLines};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::hunt::outcome::replaced::are_specific;
use crate::hunt::undone_effects::{UndoneEffects, with_lasting_effects};

use super::joint::{cause_of, has_joint_verdict};
use super::left::EndWithoutChange;
use super::open_change::{OpenChange, WhyOpen};
use super::pin_moves::moves_a_pin;
use super::places::Places;
use super::reversal::AddedFiles;

/// What the commits after named ones show.
#[derive(Default)]
pub(crate) struct LaterCommits {
    /// A later commit at which a named commit's change, or one of its effects, is gone.
    pub(crate) undone: Option<UndoneEffects>,
    /// Named commits that a later one may have undone.
    pub(crate) open: Vec<OpenChange>,
    /// The later commits that edit the lines of the change, if the newer end needs these lines as
    /// far as that tells: it still has them, it loses the step with the lines as they were before,
    /// and the step does not go back at any of these commits.
    kept_through: Option<Vec<CommitId>>,
}

/// How many commits explain the newer end.
#[derive(Clone, Copy, PartialEq, Eq)]
enum NamedCommits {
    /// One: a commit without its change has the older end's verdict.
    One,
    /// Several: a verdict is that of all their steps together, so only levels tell.
    Several,
}

impl Driver<'_> {
    /// Looks for a later commit at which the main first bad commit's change has no effect any more.
    /// Does not look if the search ended at an earlier fixed commit: a later commit broke the same
    /// again. Does so once for each effect of a found commit, and only in one of these cases:
    /// - The revert does not apply to the newer end, cannot be judged there, moves another guard, or
    ///   makes this end like neither end.
    /// - The bad end stays bad without the parts that make the step; the rest was not removed.
    /// - No part of the change can be judged, and its lines were rewritten.
    /// - In a hunt for a fix, the revert changes nothing at the newer end.
    /// - The pin of a submodule at the newer end has nothing of the move that is the cause.
    /// - The move of a submodule's pin was taken out of the submodule's files at a later pin. Even
    ///   if this heals the end, the step may have been gone before the pin moved again.
    pub(crate) fn undone_by_hand(&mut self, finding: &Finding) -> Result<LaterCommits, HuntError> {
        let Some(cause) = unsettled(finding, |cause| match &cause.revert {
            Some(_) if cause.is_reverted_in_submodule() => true,
            Some(Revert::Conflict(_) | Revert::Unknown | Revert::Unlike) => true,
            Some(revert) if revert.moves_another_guard() => true,
            Some(Revert::StillBad) => cause.in_part,
            // For a regression (no backport), `unless_contradicted` withdraws such an answer. But
            // if a pin moved again, the step may have been gone before.
            Some(Revert::Absent) => cause.backport.is_some() || moves_a_pin(cause),
            // Parts of the change could not be judged.
            None => !self.is_flaky && cause.end.is_without_answer(),
            _ => false,
        }) else {
            return Ok(LaterCommits::default());
        };
        let culprit = finding.culprits.iter().find(|one| one.info.commit == cause.commit);
        let is_asked = self.limit.is_none() && self.earlier_good.is_none();
        let Some(culprit) = culprit.filter(|_| is_asked) else {
            return Ok(LaterCommits::default());
        };
        let Some(lasting) = with_lasting_effects(culprit, &self.undone) else {
            return Ok(LaterCommits::default());
        };
        let targets = self.targets_of_looks()?;
        if targets.is_empty() {
            return Ok(LaterCommits::default());
        }
        let of_effects = cause_of_effects(culprit, Some(cause));
        let paths = of_effects.map(paths_of).unwrap_or_default();
        if cause.revert.is_none() {
            // No patch was made, so nothing but the text shows whether the change is still there.
            let [_, newer] = self.begun.ends();
            let history = &self.oracle.history;
            let change = history.change_in(&cause.parent, &cause.commit, &paths)?;
            if history.keeps_lines(newer, &change) {
                return Ok(LaterCommits::default());
            }
        }
        let is_inside = cause.is_reverted_in_submodule();
        let conflicts =
            !is_inside && matches!(cause.revert, Some(Revert::Conflict(_) | Revert::StillBad));
        let change = self.followed_change(&lasting, &paths)?;
        let end = if conflicts && self.is_touched_often(&cause.commit, &change)? {
            self.newer_end_with_old_lines(&lasting, of_effects, finding.culprits.len() == 1)?
        } else {
            EndWithoutChange::Unknown
        };
        // Without a whole file, the end also lacks what later commits added to it.
        let is_lost_with_more = end == EndWithoutChange::LosesTheStep
            && self.added_files(&lasting, of_effects)? != AddedFiles::AsAdded;
        let end = if is_lost_with_more { EndWithoutChange::Unknown } else { end };
        let held = self.held_lines(&cause.commit, &change)?;
        let later = self.look_after(&lasting, &change, &held, NamedCommits::One, end, &targets)?;
        if is_inside {
            // The test of the end says whether it needs the change, so nothing stays open.
            return Ok(LaterCommits { undone: later.undone, ..LaterCommits::default() });
        }
        self.with_step_of_branch(later, &lasting, &held, finding, &targets)
    }

    /// The same for several named commits, if no test of the newer end without all of them gave a
    /// verdict: takes each of them out of that end alone, if need be with what later commits made
    /// of its lines. Looks for a later commit at which the level goes back by the commit's step. If
    /// a commit comes out only with what later ones made of its lines, tests the lines themselves.
    /// If that test does not tell, lowers the confidence in the commit.
    pub(crate) fn undone_beside(
        &mut self,
        finding: &mut Finding,
    ) -> Result<LaterCommits, HuntError> {
        let mut later = LaterCommits::default();
        if !self.lacks_a_joint_verdict(finding)? {
            return Ok(later);
        }
        let targets = self.targets_of_looks()?;
        if targets.is_empty() {
            return Ok(later);
        }
        let named = finding.culprits.clone();
        for culprit in &named {
            let commit = &culprit.info.commit;
            let without = self.each_effect_without(culprit)?;
            let is_lost = |one: &EndWithoutChange| *one == EndWithoutChange::LosesTheStep;
            if !without.is_empty() && without.iter().all(is_lost) {
                continue;
            }
            // Another commit makes an effect that the end has without this commit too.
            let is_made_elsewhere = without.contains(&EndWithoutChange::ShowsTheSame);
            let no_effect = OpenChange { commit: commit.clone(), why: WhyOpen::NoEffect };
            let Some(lasting) = with_lasting_effects(culprit, &self.undone) else {
                // Later commits undid this one, so the search went on. It named this commit again.
                later.open.extend(is_made_elsewhere.then_some(no_effect));
                continue;
            };
            let of_effects = cause_of_effects(culprit, cause_of(finding, commit));
            let end = self.newer_end_with_old_lines(&lasting, of_effects, false)?;
            let paths = of_effects.map(paths_of).unwrap_or_default();
            let change = self.followed_change(&lasting, &paths)?;
            let held = self.held_lines(commit, &change)?;
            let several = NamedCommits::Several;
            let one = self.look_after(&lasting, &change, &held, several, end, &targets)?;
            let one = self.with_step_of_branch(one, &lasting, &held, finding, &targets)?;
            if one.undone.is_some() {
                return Ok(one);
            }
            // The search named an effect again that a later commit undid.
            let is_named_again = lasting.effects.len() < culprit.effects.len();
            let is_idle = one.open.is_empty()
                && match end {
                    // This test removed what later commits made of the change too.
                    EndWithoutChange::ShowsTheSame => true,
                    EndWithoutChange::LosesTheStep => is_made_elsewhere && is_named_again,
                    EndWithoutChange::KeepsAPart | EndWithoutChange::Unknown => {
                        is_made_elsewhere && (is_named_again || self.is_rework_harmless(culprit)?)
                    }
                };
            let is_settled = is_idle || !one.open.is_empty();
            let is_asked = end == EndWithoutChange::LosesTheStep && !is_settled;
            let is_elsewhere = end == EndWithoutChange::Unknown
                && !is_settled
                && self.added_files(&lasting, of_effects)?.are_elsewhere();
            let in_other_file = OpenChange { commit: commit.clone(), why: WhyOpen::InOtherFile };
            later.open.extend(one.open);
            later.open.extend(is_idle.then_some(no_effect));
            later.open.extend(is_elsewhere.then_some(in_other_file));
            if is_asked {
                let edits = one.kept_through.as_deref();
                let told = self.own_lines_beside(&lasting, of_effects, &named, edits, &targets);
                let told = self.open_after_fault(told)?;
                later.open.extend(self.open_unless_needed(finding, culprit, told));
            }
        }
        Ok(later)
    }

    /// Whether several commits are named, and no test of the newer end without all of them gave a
    /// verdict, although runs repeat.
    fn lacks_a_joint_verdict(&self, finding: &Finding) -> Result<bool, HuntError> {
        let (targets, _) = self.sought()?;
        Ok(!has_joint_verdict(finding)
            && finding.culprits.len() > 1
            && self.main_to_explain(finding).is_some()
            && self.terms().explains_levels()
            && self.limit.is_none()
            && self.values_repeat(&targets))
    }

    /// Looks for a commit after `culprit` at which `change` has no effect any more, or at which one
    /// of its effects is gone: the later commit has the older end's verdict. If other commits were
    /// found too, it is enough that the level goes back there by more than half of the step.
    /// `change`: followed to the newer end. `held`: the commits that hold its lines. `end`: what
    /// the newer end shows with the lines as they were before the change.
    fn look_after(
        &mut self,
        culprit: &Culprit,
        change: &Change,
        held: &HeldLines,
        named: NamedCommits,
        end: EndWithoutChange,
        targets: &[Target],
    ) -> Result<LaterCommits, HuntError> {
        let commit = &culprit.info.commit;
        let [_, newer] = self.begun.ends();
        let is_lost = self.oracle.history.is_lost(newer, change);
        let is_held = held.are_in(newer);
        let is_one_result = self.is_one_result(culprit)?;
        let Places { measured, left_out } =
            self.places_after(commit, change, end, is_one_result)?;
        let before_moves = match named {
            NamedCommits::One => self.before_later_moves(culprit, change)?,
            NamedCommits::Several => Vec::new(),
        };
        let places = [measured.as_slice(), before_moves.as_slice()].concat();
        for (number, place) in places.iter().enumerate() {
            let gone = match self.gone_at_first(&places[number..], culprit, named, targets) {
                Err(HuntError::Limit(limit)) => {
                    let why = WhyOpen::Limit(limit.clone());
                    self.limit = Some(limit);
                    let open = vec![OpenChange { commit: commit.clone(), why }];
                    return Ok(LaterCommits { open, ..LaterCommits::default() });
                }
                other => other?,
            };
            if let Some(metrics) = gone {
                let (found, at) = (commit.clone(), place.clone());
                let is_in_part = metrics.len() < culprit.effects.len() || self.has_undone(commit);
                let undone = Some(UndoneEffects { found, at, metrics, is_in_part });
                return Ok(LaterCommits { undone, ..LaterCommits::default() });
            }
        }
        let unjudged =
            if is_held { 0 } else { self.unjudged_edits(&measured, change, held, targets)? };
        // The lines are still there, and no later edit of them lacks the step, so the lost step is
        // not that of such an edit.
        let is_kept = end == EndWithoutChange::LosesTheStep && is_held && left_out == 0;
        if is_kept && named == NamedCommits::One {
            self.needed_at_end.insert(commit.clone());
        }
        let is_made_again =
            matches!(end, EndWithoutChange::ShowsTheSame | EndWithoutChange::KeepsAPart);
        let why = if left_out > 0 && (is_made_again || !is_one_result) {
            Some(WhyOpen::NotMeasured(left_out))
        } else if unjudged > 0 && (is_made_again || !is_one_result) {
            Some(WhyOpen::NotJudged(unjudged))
        } else {
            match end {
                EndWithoutChange::KeepsAPart => Some(WhyOpen::KeepsAPart),
                EndWithoutChange::Unknown if is_lost => Some(WhyOpen::FileGone),
                _ => None,
            }
        };
        let open = why.map(|why| OpenChange { commit: commit.clone(), why }).into_iter().collect();
        Ok(LaterCommits { undone: None, open, kept_through: is_kept.then_some(measured) })
    }

    /// The metrics of the commit's effects that are gone at the first of these later commits; empty
    /// if the failure is gone. `None` if nothing is gone there. The other commits are those that the
    /// hunt looks at then.
    fn gone_at_first(
        &mut self,
        places: &[CommitId],
        culprit: &Culprit,
        named: NamedCommits,
        targets: &[Target],
    ) -> Result<Option<Vec<Metric>>, HuntError> {
        let Some(place) = places.first() else { return Ok(None) };
        let effects = &culprit.effects;
        let mut gone = Vec::new();
        if named == NamedCommits::Several && !effects.is_empty() {
            let Some(before) = self.oracle.history.parents(place)?.into_iter().next() else {
                return Ok(None);
            };
            self.judge_beside(&self.with_first_parents(places)?, targets)?;
            for effect in effects {
                if self.goes_back(std::slice::from_ref(effect), &before, place, targets)? {
                    gone.push(effect.metric.clone());
                }
            }
            return Ok((!gone.is_empty()).then_some(gone));
        }
        let older = self.terms().older();
        // Guards that another commit breaks say nothing about a failure.
        let failures: Vec<Target> =
            targets.iter().filter(|target| target.failure().is_some()).cloned().collect();
        let is_failure = effects.is_empty() && !failures.is_empty();
        let targets = if is_failure { failures.as_slice() } else { targets };
        self.judge_beside(places, targets)?;
        if self.repeatedly_judged(older, place, targets)? {
            return Ok(Some(effects.iter().map(|effect| effect.metric.clone()).collect()));
        }
        if !self.has_several_effects(culprit) {
            return Ok(None);
        }
        for target in targets {
            let Some(metric) = target.guard().map(|target| &target.guard.metric) else { continue };
            let own = std::slice::from_ref(target);
            if culprit.effect_on(metric).is_some()
                && self.is_older_alone(place, target)?
                && self.repeats_as(older, place, own)?.is_some()
            {
                gone.push(metric.clone());
            }
        }
        Ok((!gone.is_empty()).then_some(gone))
    }

    /// Each of these commits, followed by its first parent.
    fn with_first_parents(&self, commits: &[CommitId]) -> Result<Vec<CommitId>, HuntError> {
        let mut all = Vec::new();
        for commit in commits {
            all.push(commit.clone());
            all.extend(self.oracle.history.parents(commit)?.into_iter().next());
        }
        Ok(all)
    }

    /// Whether a commit has several effects, or had others that later commits undid.
    fn has_several_effects(&self, culprit: &Culprit) -> bool {
        culprit.effects.len() > 1 || self.has_undone(&culprit.info.commit)
    }

    /// Whether an effect of this commit is known to be gone at a later one.
    fn has_undone(&self, found: &CommitId) -> bool {
        self.undone.iter().any(|one| one.found == *found)
    }

    /// Whether a commit has this verdict, also when it is measured again.
    pub(super) fn repeatedly_judged(
        &mut self,
        verdict: Verdict,
        place: &CommitId,
        targets: &[Target],
    ) -> Result<bool, HuntError> {
        Ok(self.judge(place, targets)?.verdict == verdict
            && self.repeats_as(verdict, place, targets)?.is_some())
    }

    /// The hunt's targets that a few runs of one commit decide.
    pub(super) fn targets_of_looks(&self) -> Result<Vec<Target>, HuntError> {
        let (targets, _) = self.sought()?;
        Ok(self.judged_alone(&targets))
    }

    /// Whether the commit and the newer end show the same, bit for bit or with the same message,
    /// and another cause would hardly show that. Each effect of the commit must say so itself: one
    /// that repeats tells nothing of the others.
    pub(super) fn is_one_result(&mut self, culprit: &Culprit) -> Result<bool, HuntError> {
        let [_, newer] = self.begun.ends().map(CommitId::clone);
        let targets = self.targets_of(culprit)?;
        if targets.is_empty() || targets.len() < culprit.effects.len() {
            return Ok(false);
        }
        for target in &targets {
            let own = std::slice::from_ref(target);
            let is_same = target.failure().is_some()
                || self.same_levels(own, &culprit.info.commit, &newer)?;
            if !is_same || !are_specific(own) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

/// The paths of the files that have a part of the cause. An empty list stands for all files of the
/// change.
pub(super) fn paths_of(cause: &Cause) -> Vec<&str> {
    let parts = cause.sets.iter().flat_map(|set| &set.parts);
    parts.map(|part| part.path.as_str()).collect()
}

/// The cause, if it is the cause of all effects of the commit. A cause is known only for the
/// largest effect, so this is `None` if the commit has several. `culprit`: with all of its effects,
/// also those that later commits undid.
pub(super) fn cause_of_effects<'c>(
    culprit: &Culprit,
    cause: Option<&'c Cause>,
) -> Option<&'c Cause> {
    cause.filter(|_| culprit.effects.len() < 2)
}

/// The cause of the found commit, if the finding names a commit and `is_open` holds.
pub(super) fn unsettled(finding: &Finding, is_open: impl Fn(&Cause) -> bool) -> Option<&Cause> {
    let cause = finding.cause.as_ref()?;
    (finding.outcome == Outcome::Culprit && is_open(cause)).then_some(cause)
}
