//! What the answer must not name: a step that one of several commits made, and a found commit that
//! another commit may have undone or replaced. Pure.

use crate::evaluation::{Account, CommitId};
use crate::hunt::distinct::distinct;
use crate::hunt::left_out::LeftOut;
use crate::hunt::open_doubt::MOST_CERTAIN;
use crate::ui::text;

use super::account::Ledger;
use super::answer::step_sentence;
use super::culprit_status::{CulpritStatus, FoundCommit, Mend};
use super::hidden_cause::HiddenCause;
use super::owned_mend::are_all_left;
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
        for FoundCommit { culprit, status, among, .. } in spans {
            let Some((mut commits, why)) = among else { continue };
            let commit = &culprit.info.commit;
            let by = match &status {
                CulpritStatus::Undone { by, .. } => Some(by.clone()),
                CulpritStatus::Hides { among, .. } => {
                    commits.extend(among.iter().filter(|one| *one != commit).cloned());
                    None
                }
                CulpritStatus::Stands | CulpritStatus::Unclear => {
                    let hidden = self.hidden.iter().filter(|one| one.found == *commit);
                    let after: Vec<CommitId> =
                        hidden.flat_map(|one| one.others.iter().cloned()).collect();
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
    /// have been undone become unclear. Not if mends in the lines of these commits account for it.
    pub(super) fn doubt_what_is_too_much(&mut self) {
        if !self.explains_too_much() || self.is_left_by_owned_mends() {
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

    /// Whether a part of each step is left, although several steps together explain too much: mends
    /// in the lines of single found commits took back the rest. Each standing commit that may have
    /// been undone must be such a commit.
    fn is_left_by_owned_mends(&self) -> bool {
        let is_left = |account: &Account| {
            let is_its = |mend: &&Mend| mend.metric.as_ref() == Some(&account.metric);
            let mends: Vec<&Mend> = self.mends().iter().filter(is_its).collect();
            are_all_left(account, &self.found, &mends, &self.owned_mends)
        };
        let accounts = self.accounts();
        let mut standing = self.standing_culprits().map(|culprit| &culprit.info.commit);
        let is_owner = |commit: &CommitId| self.owned_mends.iter().any(|one| one.owner == *commit);
        accounts.iter().filter(|account| account.is_exceeded()).all(is_left)
            && standing.all(|commit| !self.leaving.contains(commit) || is_owner(commit))
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
        let (mut hiding, mut hidden, mut worse) = (Vec::new(), Vec::new(), Vec::new());
        let mut open = self.largest_open.clone();
        for FoundCommit { culprit, status, .. } in &self.found {
            match status {
                CulpritStatus::Unclear => {
                    open.raise(StepSizes::at_most(culprit));
                    unclear.push(culprit.info.commit.clone());
                }
                CulpritStatus::Hides { among, left, why, .. } => {
                    open.raise(StepSizes::at_most(culprit).each_of(*left));
                    if let Some(why) = why {
                        let why = why.in_words(&culprit.info.commit, self.terms);
                        doubts.push((among.clone(), why));
                    } else {
                        hiding.push(culprit.info.commit.clone());
                        hidden.extend(among.iter().cloned());
                        worse.extend(culprit.effects.iter().map(|one| one.metric.to_string()));
                    }
                }
                CulpritStatus::Stands | CulpritStatus::Undone { .. } => {}
            }
        }
        if !unclear.is_empty() {
            let why = if unclear.len() == 1 {
                "its step is confirmed, but a later commit may have undone it"
            } else {
                "the numbers fit each: a later commit undid one of them, or several make the same \
                 step"
            };
            let alone = "a later improvement may have undone its step, or another one";
            let why = if unclear.len() == 1 { alone } else { why };
            self.candidates.insert(0, (unclear, why.into()));
        }
        if !hiding.is_empty() {
            // One question about all of them: what makes the rest that is left at the end?
            let hiding = distinct(hiding);
            let worse = distinct(worse);
            let (are, them) = if worse.len() > 1 { ("are", "them") } else { ("is", "it") };
            let metrics =
                if worse.is_empty() { "the metric".to_owned() } else { text::joined(worse) };
            let why = format!(
                "later commits undid most or all of what {} changed, but {metrics} {are} still \
                 worse than at the good end: a part of that is left, or another of these commits \
                 made {them} worse unseen",
                text::joined(hiding.iter().map(|commit| commit.short().to_owned()).collect())
            );
            doubts.insert(0, (distinct(hiding.into_iter().chain(hidden)), why));
        }
        self.candidates.extend(doubts.into_iter().map(|(among, why)| (among, why.into())));
        open.keep_larger_than(&clearest);
        for found in &mut self.found {
            // The step is confirmed, but does not explain the bad end.
            if found.stands() && StepSizes::at_most(&found.culprit).are_all_in(&open) {
                let step = step_sentence(&found.culprit, self.terms).unwrap_or_default();
                let why = format!("its step is confirmed, but a larger one is open: {step}");
                self.candidates.push((vec![found.culprit.info.commit.clone()], why.into()));
                found.status = CulpritStatus::Unclear;
            }
        }
        self.doubted = open.into_metrics();
    }

    /// A mend undid a found commit, and the commit may have hidden another one. If the standing
    /// commits explain the newer end exactly, nothing hidden is left there: marks it as undone.
    pub(super) fn settle_what_hides_nothing(&mut self) {
        for place in 0..self.found.len() {
            let found = &self.found[place];
            let CulpritStatus::Hides { undone_by: Some(by), .. } = &found.status else { continue };
            let by = by.clone();
            if self.is_explained_exactly_without(&found.culprit) {
                self.found[place].status = CulpritStatus::Undone { by, again: false };
            }
        }
    }

    /// Lowers the confidence in each named commit whose step a later one may have undone.
    pub(super) fn lower_if_perhaps_mended(&mut self) {
        let named = self.found.iter().filter(|found| found.is_named());
        let mended = named.filter_map(|found| {
            Some([found.culprit.info.commit.clone(), found.perhaps_mended_by.clone()?])
        });
        for [commit, by] in mended.collect::<Vec<_>>() {
            self.may_be_undone_by(&commit, &by);
        }
    }

    /// Lowers the confidence in a found commit whose step `by` may have undone.
    pub(super) fn may_be_undone_by(&mut self, commit: &CommitId, by: &CommitId) {
        self.lower_confidence(commit, MOST_CERTAIN);
        let is_its = |found: &&mut FoundCommit| found.culprit.info.commit == *commit;
        for found in self.found.iter_mut().filter(is_its) {
            found.culprit.doubts.perhaps_mended_by = Some(by.clone());
        }
    }

    /// Decides about each found commit whose result another commit may cause at the newer end. The
    /// doubted commit was undone if one of the others is a found commit, and the found commits
    /// explain the newer end without the doubted one. Otherwise the doubted commit and the others
    /// are candidates.
    fn settle_hidden(&mut self) {
        for HiddenCause { found: commit, others, why } in std::mem::take(&mut self.hidden) {
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
                CulpritStatus::Hides { among, left: f64::INFINITY, undone_by: None, why: Some(why) }
            };
            self.found[place].status = status;
        }
    }

    /// Takes the commits that no search tests off the candidates. Not if one of them is a found
    /// commit or the commit of a mend: then the path filter hides commits that matter.
    pub(super) fn leave_out_untested(&mut self) {
        let found = self.found.iter().map(|found| &found.culprit.info.commit);
        let crossings = self.crossings.iter().map(|crossing| &crossing.info.commit);
        let mended = self.mends().iter().map(|mend| &mend.by);
        if self.left_out.has_any(found.chain(crossings).chain(mended)) {
            self.left_out = LeftOut::default();
        }
        let mut is_shorter = false;
        for (commits, _) in &mut self.candidates {
            let kept = self.left_out.without(commits);
            is_shorter |= kept.len() < commits.len();
            *commits = kept;
        }
        if is_shorter {
            self.notes.push(self.left_out.note());
        }
    }
}

#[cfg(test)]
mod tests;
