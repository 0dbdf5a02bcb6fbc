//! What the answer must not name: a step that one of several commits made, and a found commit that
//! another commit may have undone or replaced. Pure.

use crate::evaluation::{Account, CommitId};
use crate::hunt::distinct::distinct;

use super::account::Ledger;
use super::answer::culprit_sentence;
use super::culprit_status::{CulpritStatus, FoundCommit};
use super::step_sizes::StepSizes;

/// Maximum number of commits that a note names.
const MOST_NAMED: usize = 5;

impl Ledger {
    /// Records that one of these commits of a merged branch may have made the merge's step, because
    /// the branch cannot be measured by itself.
    pub(crate) fn may_be_merged_in(&mut self, merge: &CommitId, branch: Vec<CommitId>) {
        self.merged_in.push((merge.clone(), branch));
    }

    /// Replaces each found merge by candidates if commits of its branches may have made its step:
    /// the merge and these commits. No removal tells them apart, since it takes the changes of the
    /// branch out with the merge's own.
    pub(crate) fn withdraw_merges(&mut self) {
        let merged_in = std::mem::take(&mut self.merged_in);
        for (merge, _) in &merged_in {
            let branches = merged_in.iter().filter(|(one, _)| one == merge);
            let commits = branches.flat_map(|(_, branch)| branch).chain([merge]);
            let why = format!(
                "{} merges a branch of which not all commits can be measured by themselves",
                merge.short()
            );
            self.withdraw(merge, &distinct(commits.cloned()), why);
        }
    }

    /// Turns each step with several possible commits into candidates, or a note if it was undone.
    pub(super) fn open_spans(&mut self) {
        let (spans, found) = std::mem::take(&mut self.found)
            .into_iter()
            .partition::<Vec<_>, _>(|found| found.among.is_some());
        self.found = found;
        for FoundCommit { culprit, status, among } in spans {
            let Some((mut commits, why)) = among else { continue };
            let commit = &culprit.info.commit;
            let by = match &status {
                CulpritStatus::Undone { by, .. } => Some(by.clone()),
                CulpritStatus::Hides { among, .. } => {
                    commits.extend(among.iter().filter(|one| *one != commit).cloned());
                    None
                }
                CulpritStatus::Stands | CulpritStatus::Unclear => {
                    let hidden = self.hidden.iter().filter(|(one, _)| one == commit);
                    let after: Vec<CommitId> =
                        hidden.flat_map(|(_, after)| after.iter().cloned()).collect();
                    commits.extend(after);
                    None
                }
            };
            if let Some(by) = by {
                let names: Vec<&str> =
                    commits.iter().take(MOST_NAMED).map(CommitId::short).collect();
                let more = if commits.len() > MOST_NAMED { ", …" } else { "" };
                self.notes.push(format!(
                    "an earlier change, made by one of {} commits ({}{more}), was undone by {} at \
                     the latest",
                    commits.len(),
                    names.join(", "),
                    by.short()
                ));
                continue;
            }
            self.largest_open.raise(StepSizes::at_most(&culprit));
            self.candidates.push((commits, why));
        }
    }

    /// If several steps together explain more than the whole change, the found commits that may
    /// have been undone become unclear.
    pub(super) fn doubt_what_is_too_much(&mut self) {
        if !self.explains_too_much() {
            return;
        }
        for found in self.found.iter_mut().filter(|found| found.stands()) {
            if self.leaving.contains(&found.culprit.info.commit) {
                found.status = CulpritStatus::Unclear;
            }
        }
    }

    /// Whether several steps together explain more than the whole change, and one of them may have
    /// been undone.
    pub(super) fn explains_too_much(&self) -> bool {
        let stand = self.found.iter().filter(|found| found.stands()).count();
        stand >= 2 && !self.leaving.is_empty() && self.accounts().iter().any(Account::is_exceeded)
    }

    /// Turns unclear commits into candidates. A metric is doubted if its largest open step is
    /// larger than its largest step by a named commit. A commit stays named if it moves a metric
    /// that is not doubted.
    pub(super) fn doubt(&mut self) {
        self.settle_hidden();
        let mut clearest = StepSizes::default();
        for culprit in self.named() {
            clearest.raise(StepSizes::at_least(culprit));
        }
        let mut unclear = Vec::new();
        let mut doubts = Vec::new();
        let mut open = self.largest_open.clone();
        for FoundCommit { culprit, status, .. } in &self.found {
            match status {
                CulpritStatus::Unclear => {
                    open.raise(StepSizes::at_most(culprit));
                    unclear.push(culprit.info.commit.clone());
                }
                CulpritStatus::Hides { among, left } => {
                    let commit = culprit.info.commit.short();
                    let why = if left.is_finite() {
                        format!(
                            "{commit} made the metric far worse than it is at the end, and was \
                             undone later; until then no other change was visible"
                        )
                    } else {
                        format!(
                            "{commit} shows the result first, but its change is gone at the end: \
                             one of these commits caused it again"
                        )
                    };
                    open.raise(StepSizes::at_most(culprit).each_of(*left));
                    doubts.push((among.clone(), why));
                }
                CulpritStatus::Stands | CulpritStatus::Undone { .. } => {}
            }
        }
        if !unclear.is_empty() {
            let why = "a later commit undid one of them, and the numbers fit each";
            self.candidates.insert(0, (unclear, why.into()));
        }
        self.candidates.extend(doubts.into_iter().map(|(among, why)| (among, why.into())));
        open.keep_larger_than(&clearest);
        for found in &mut self.found {
            // The step is confirmed, but does not explain the bad end.
            if found.stands() && StepSizes::at_most(&found.culprit).are_all_in(&open) {
                self.notes.push(culprit_sentence(&found.culprit, self.terms));
                found.status = CulpritStatus::Unclear;
            }
        }
        self.doubted = open.into_metrics();
    }

    /// Decides about each found commit whose result another commit may cause at the newer end. The
    /// doubted commit was undone if one of the others is a found commit, and the found commits
    /// explain the newer end without the doubted one. Otherwise the doubted commit and the others
    /// are candidates.
    fn settle_hidden(&mut self) {
        for (commit, others) in std::mem::take(&mut self.hidden) {
            let is_doubted =
                |found: &FoundCommit| found.stands() && found.culprit.info.commit == commit;
            let Some(place) = self.found.iter().position(is_doubted) else { continue };
            let by = self
                .standing_culprits()
                .map(|culprit| &culprit.info.commit)
                .find(|one| others.contains(one))
                .filter(|_| self.is_explained_without(&self.found[place].culprit));
            let status = if let Some(by) = by.cloned() {
                CulpritStatus::Undone { by, again: false }
            } else {
                let among = [commit].into_iter().chain(others).collect();
                CulpritStatus::Hides { among, left: f64::INFINITY }
            };
            self.found[place].status = status;
        }
    }
}

#[cfg(test)]
mod tests;
