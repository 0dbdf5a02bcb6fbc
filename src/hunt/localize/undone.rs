//! If no test tells whether an endpoint needs a named commit's change, measures the commits that
//! touch the files of that change. Such a commit may undo the change by hand, and another commit
//! may do the same again.

use crate::evaluation::{
    Backport, Cause, CommitId, Effect, Finding, Outcome, Revert, Target, Verdict,
};
use crate::git::Change;
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::hunt::outcome::replaced::are_specific;

use super::joint::cause_of;
use super::left::EndWithoutChange;
use super::open_change::{OpenChange, WhyOpen};

/// Maximum number of measured commits that keep the lines of the change.
const MOST_LOOKS: usize = 6;
/// So many of them are measured even if many other commits rewrite these lines.
const LEAST_LOOKS: usize = 2;
/// Maximum number of measured commits that rewrite the lines of the change, or move its submodule.
const MOST_REWRITES: usize = 24;

/// What the commits after named ones show.
#[derive(Default)]
pub(crate) struct LaterCommits {
    /// A named commit, and a later commit at which its change has no effect any more.
    pub(crate) undone: Option<(CommitId, CommitId)>,
    /// Named commits that a later one may have undone.
    pub(crate) open: Vec<OpenChange>,
}

/// The commits that are measured to see whether one of them undid a change, oldest first.
struct Places {
    measured: Vec<CommitId>,
    /// How many commits that rewrite the change's lines are not measured.
    left_out: usize,
}

impl Driver<'_> {
    /// Looks for a later commit at which the main first bad commit's change has no effect any more.
    /// Does so once for each found commit, and only in one of these cases:
    /// - The revert does not apply to the newer end, or cannot be judged there.
    /// - The bad end stays bad without the parts that make the step; the rest was not removed.
    /// - No part of the change can be judged, and its lines were rewritten.
    /// - In a hunt for a fix, the revert changes nothing at the newer end.
    pub(crate) fn undone_by_hand(&mut self, finding: &Finding) -> Result<LaterCommits, HuntError> {
        let Some(cause) = unsettled(finding, |cause| match &cause.revert {
            Some(Revert::Conflict(_) | Revert::Unknown) => true,
            Some(Revert::StillBad) => cause.in_part,
            // For a regression (no backport), `unless_contradicted` withdraws such an answer.
            Some(Revert::Absent) => cause.backport.is_some(),
            // Parts of the change could not be judged.
            None => !self.is_flaky && cause.end.is_without_answer(),
            _ => false,
        }) else {
            return Ok(LaterCommits::default());
        };
        if self.undone.contains_key(&cause.commit) || self.limit.is_some() {
            return Ok(LaterCommits::default());
        }
        let paths = paths_of(cause);
        if cause.revert.is_none() {
            // No patch was made, so nothing but the text shows whether the change is still there.
            let [_, newer] = self.begun.ends();
            let history = &self.oracle.history;
            let change = history.change_in(&cause.parent, &cause.commit, &paths)?;
            if history.keeps_lines(newer, &change) {
                return Ok(LaterCommits::default());
            }
        }
        self.look_after(&cause.commit, &cause.parent, &paths, None)
    }

    /// The same for several named commits, if no test of the newer end without all of them gave a
    /// verdict: takes each of them out of that end alone. Where this does not tell either, looks
    /// for a later commit at which the level goes back by the commit's step.
    pub(crate) fn undone_beside(&mut self, finding: &Finding) -> Result<LaterCommits, HuntError> {
        let mut later = LaterCommits::default();
        if !self.lacks_a_joint_verdict(finding)? {
            return Ok(later);
        }
        for culprit in &finding.culprits {
            let commit = &culprit.info.commit;
            let without = self.newer_end_without(culprit)?;
            if without == EndWithoutChange::LosesTheStep {
                continue;
            }
            let no_effect = OpenChange { commit: commit.clone(), why: WhyOpen::NoEffect };
            // A later commit undid this one, so the search went on. It named this commit again.
            if self.undone.contains_key(commit) {
                let is_idle = without == EndWithoutChange::ShowsTheSame;
                later.open.extend(is_idle.then_some(no_effect));
                continue;
            }
            let paths = cause_of(finding, commit).map(paths_of).unwrap_or_default();
            let step = culprit.effects.first();
            let one = self.look_after(commit, &culprit.parent, &paths, step)?;
            if one.undone.is_some() {
                return Ok(one);
            }
            let is_idle = without == EndWithoutChange::ShowsTheSame
                && one.open.is_empty()
                && self.is_rework_harmless(culprit)?;
            later.open.extend(one.open);
            later.open.extend(is_idle.then_some(no_effect));
        }
        Ok(later)
    }

    /// Whether several commits are named, and no test of the newer end without all of them gave a
    /// verdict, although runs repeat.
    fn lacks_a_joint_verdict(&self, finding: &Finding) -> Result<bool, HuntError> {
        let is_open = match finding.joint_revert.as_ref().map(|joint| &joint.revert) {
            None | Some(Revert::Conflict(_) | Revert::Unknown | Revert::Stopped(_)) => true,
            Some(_) => false,
        };
        let (targets, _) = self.sought()?;
        Ok(is_open
            && finding.culprits.len() > 1
            && self.main_to_explain(finding).is_some()
            && self.terms().explains_levels()
            && self.limit.is_none()
            && self.values_repeat(&targets))
    }

    /// In a hunt for a fix: looks for an earlier commit that is good already. Does so only if the
    /// fix does not apply to the bad end, or if the bad end has it already.
    pub(super) fn fixed_before(
        &mut self,
        finding: &Finding,
    ) -> Result<Option<CommitId>, HuntError> {
        let Some(cause) = unsettled(finding, |cause| {
            matches!(cause.backport, Some(Backport::Conflict(_) | Backport::Present))
        }) else {
            return Ok(None);
        };
        let targets = self.targets_of_looks()?;
        if targets.is_empty() {
            return Ok(None);
        }
        let [older, _] = self.begun.ends().map(CommitId::clone);
        let history = &self.oracle.history;
        let change = history.change_in(&cause.parent, &cause.commit, &paths_of(cause))?;
        let mut places = Vec::new();
        for one in history.touching(&older, &cause.parent, &change)? {
            for parent in history.parents(&one)? {
                if parent != older && history.is_ancestor(&older, &parent)? {
                    places.push(parent);
                }
            }
        }
        for place in &spread(places, MOST_LOOKS) {
            if self.repeatedly_judged(Verdict::Good, place, &targets)? {
                return Ok(Some(place.clone()));
            }
        }
        Ok(None)
    }

    /// Looks for a commit after `commit` at which its change in files with these paths has no
    /// effect any more: this later commit has the older end's verdict. With a step: the level goes
    /// back there by more than half of the step. Measures each commit that rewrites the lines of
    /// the change (at most [`MOST_REWRITES`]), since each of them may undo it.
    fn look_after(
        &mut self,
        commit: &CommitId,
        parent: &CommitId,
        paths: &[&str],
        step: Option<&Effect>,
    ) -> Result<LaterCommits, HuntError> {
        let targets = self.targets_of_looks()?;
        if targets.is_empty() {
            return Ok(LaterCommits::default());
        }
        let change = self.oracle.history.change_in(parent, commit, paths)?;
        let Places { measured, left_out } = self.places_after(commit, &change)?;
        for place in &measured {
            let is_undone = match self.is_undone_at(place, step, &targets) {
                Err(HuntError::Limit(limit)) => {
                    let why = WhyOpen::Limit(limit.clone());
                    self.limit = Some(limit);
                    let open = vec![OpenChange { commit: commit.clone(), why }];
                    return Ok(LaterCommits { open, ..LaterCommits::default() });
                }
                other => other?,
            };
            if is_undone {
                let undone = Some((commit.clone(), place.clone()));
                return Ok(LaterCommits { undone, ..LaterCommits::default() });
            }
        }
        let is_open = left_out > 0 && !self.is_one_result(commit, &targets)?;
        let why = WhyOpen::NotMeasured(left_out);
        let open = is_open.then(|| OpenChange { commit: commit.clone(), why });
        Ok(LaterCommits { open: open.into_iter().collect(), ..LaterCommits::default() })
    }

    /// The commits to measure after a named one.
    fn places_after(&self, commit: &CommitId, change: &Change) -> Result<Places, HuntError> {
        let [_, newer] = self.begun.ends();
        let history = &self.oracle.history;
        let mut touching = history.touching(commit, newer, change)?;
        touching.retain(|one| one != newer);
        if touching.len() <= MOST_LOOKS {
            return Ok(Places { measured: touching, left_out: 0 });
        }
        let keeps = |one: &CommitId| history.keeps_lines(one, change);
        let (kept, rewrites): (Vec<_>, Vec<_>) = touching.iter().cloned().partition(keeps);
        let left_out = rewrites.len().saturating_sub(MOST_REWRITES);
        let most_kept = MOST_LOOKS.saturating_sub(rewrites.len()).max(LEAST_LOOKS);
        let chosen = [spread(rewrites, MOST_REWRITES), spread(kept, most_kept)].concat();
        touching.retain(|one| chosen.contains(one));
        Ok(Places { measured: touching, left_out })
    }

    /// Whether a change has no effect any more at a later commit.
    fn is_undone_at(
        &mut self,
        place: &CommitId,
        step: Option<&Effect>,
        targets: &[Target],
    ) -> Result<bool, HuntError> {
        if let Some(step) = step {
            let Some(before) = self.oracle.history.parents(place)?.into_iter().next() else {
                return Ok(false);
            };
            return self.goes_back(Some(step), &before, place, targets);
        }
        self.repeatedly_judged(self.terms().older(), place, targets)
    }

    /// Whether a commit has this verdict, also when it is measured again.
    fn repeatedly_judged(
        &mut self,
        verdict: Verdict,
        place: &CommitId,
        targets: &[Target],
    ) -> Result<bool, HuntError> {
        Ok(self.judge(place, targets)?.verdict == verdict
            && self.repeats_as(verdict, place, targets)?.is_some())
    }

    /// The hunt's targets that a few runs of one commit decide.
    fn targets_of_looks(&self) -> Result<Vec<Target>, HuntError> {
        let (targets, _) = self.sought()?;
        Ok(self.judged_alone(&targets))
    }

    /// Whether the commit and the newer end show the same, bit for bit or with the same message,
    /// and another cause would hardly show that.
    fn is_one_result(&mut self, commit: &CommitId, targets: &[Target]) -> Result<bool, HuntError> {
        let [_, newer] = self.begun.ends().map(CommitId::clone);
        let is_failure = targets.iter().any(|target| target.failure().is_some());
        Ok(are_specific(targets) && (is_failure || self.same_levels(targets, commit, &newer)?))
    }
}

/// The paths of the files that have a part of the cause. An empty list stands for all files of the
/// change.
fn paths_of(cause: &Cause) -> Vec<&str> {
    let parts = cause.sets.iter().flat_map(|set| &set.parts);
    parts.map(|part| part.path.as_str()).collect()
}

/// The cause of the found commit, if the finding names a commit and `is_open` holds.
fn unsettled(finding: &Finding, is_open: impl Fn(&Cause) -> bool) -> Option<&Cause> {
    let cause = finding.cause.as_ref()?;
    (finding.outcome == Outcome::Culprit && is_open(cause)).then_some(cause)
}

/// At most `most` of these commits (two or more), evenly spread, with the first and the last.
fn spread(commits: Vec<CommitId>, most: usize) -> Vec<CommitId> {
    if commits.len() <= most {
        return commits;
    }
    let place = |number: usize| number * (commits.len() - 1) / (most - 1);
    (0..most).map(|number| commits[place(number)].clone()).collect()
}

/// Turns the finding into candidates if `at`, an earlier commit, is good already: the fix is one of
/// the commits up to it.
pub(super) fn earlier_fix(
    finding: Finding,
    at: &CommitId,
    bad: &CommitId,
    candidates: Vec<CommitId>,
) -> Finding {
    let fix = match candidates.as_slice() {
        [only] => only.short().to_owned(),
        several => format!("one of {} earlier commits", several.len()),
    };
    let summary = format!(
        "{} was good before {}: the fix that the bad end needs is {fix}",
        at.short(),
        finding.culprit().map_or("", |culprit| culprit.info.commit.short()),
    );
    let next = format!(
        "`bisect-ppl start --find-fix --bad {} --good {}` searches these commits",
        bad.short(),
        at.short()
    );
    Finding {
        candidates,
        next: vec![next],
        cause: finding.cause,
        ..Finding::plain(Outcome::Candidates, summary)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle::fixture::commit;

    #[test]
    fn few_commits_are_measured_and_the_first_and_last_are_among_them() {
        let all: Vec<CommitId> = "0123456789abc".chars().map(commit).collect();
        let chosen = spread(all.clone(), MOST_LOOKS);
        assert_eq!(chosen.len(), MOST_LOOKS);
        assert_eq!((chosen.first(), chosen.last()), (all.first(), all.last()));
        assert_eq!(spread(all[..3].to_vec(), MOST_LOOKS), all[..3]);
        assert_eq!(spread(all.clone(), LEAST_LOOKS), [all[0].clone(), all[12].clone()]);
    }
}
