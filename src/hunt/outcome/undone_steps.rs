//! The found commits whose step a later commit undid: what the answer says about them. Pure.

use std::collections::BTreeSet;

use crate::evaluation::{CommitId, Culprit, UndoneStep};
use crate::ui::text;

use super::account::Ledger;
use super::answer::step_sentence;
use super::culprit_status::{CulpritStatus, FoundCommit};

impl Ledger {
    /// The steps that are undone at the newer end, in order of history. Not those of commits whose
    /// change landed again: these are named. `self.found` is in order of history.
    pub(super) fn undone_steps(&self) -> Vec<UndoneStep> {
        let mut steps: Vec<UndoneStep> = Vec::new();
        for (index, found) in self.found.iter().enumerate() {
            let CulpritStatus::Undone { by, again: false } = &found.status else { continue };
            let commit = &found.culprit.info.commit;
            let is_named = self.named().any(|named| named.info.commit == *commit);
            if is_named || steps.iter().any(|step| step.commit == *commit) {
                continue;
            }
            steps.push(UndoneStep {
                commit: commit.clone(),
                change: change(&found.culprit),
                undone_by: by.clone(),
                made_again_by: made_again_by(&found.culprit, &self.found[index + 1..]),
            });
        }
        steps
    }

    /// Notes each found commit whose step was undone, and by which commit.
    pub(super) fn note_what_was_undone(&mut self) {
        for (index, FoundCommit { culprit, status, .. }) in self.found.iter().enumerate() {
            let CulpritStatus::Undone { by, again } = status else { continue };
            let then = if *again && self.kept_beside.contains(&culprit.info.commit) {
                " on a branch; another line of history kept the change".to_owned()
            } else if *again {
                ", and applied again later".to_owned()
            } else {
                let again = made_again_by(culprit, &self.found[index + 1..]);
                let words = |by: CommitId| format!("; {} makes the same step again", by.short());
                again.map(words).unwrap_or_default()
            };
            let commit = culprit.info.commit.short();
            let made = match step_sentence(culprit, self.terms) {
                Some(step) => format!("{commit} made a step: {step}"),
                None => format!("{commit} made a step"),
            };
            self.notes.push(format!("{made}; undone by {} at the latest{then}", by.short()));
        }
    }
}

/// What a commit changed, in a few words: `ppl 7 → 7.5`, or how it fails.
fn change(culprit: &Culprit) -> String {
    match (culprit.effects.first(), &culprit.failure) {
        (Some(effect), _) => {
            format!("{} {}", effect.metric, text::values(&effect.parent, &effect.commit))
        }
        (None, Some(failure)) => failure.kind.to_string(),
        (None, None) => String::new(),
    }
}

/// The first of these later commits that makes exactly the same step, or the same failure, in a
/// file that both change, and that stands.
fn made_again_by(culprit: &Culprit, later: &[FoundCommit]) -> Option<CommitId> {
    let touched: BTreeSet<&str> = culprit.files.iter().map(|file| file.path.as_str()).collect();
    let makes_it = |found: &&FoundCommit| {
        let other = &found.culprit;
        let shares_file = other.files.iter().any(|file| touched.contains(file.path.as_str()));
        let is_same = match (culprit.effects.first(), &culprit.failure) {
            (Some(effect), _) => other.effect_on(&effect.metric).is_some_and(|again| {
                again.parent == effect.parent && again.commit == effect.commit
            }),
            (None, Some(failure)) => {
                other.failure.as_ref().is_some_and(|again| again.is_same_failure(failure))
            }
            (None, None) => false,
        };
        let is_other = other.info.commit != culprit.info.commit;
        is_other && found.stands() && shares_file && is_same
    };
    later.iter().find(makes_it).map(|found| found.culprit.info.commit.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::{Aim, FileRole, GuardForm, Target, TouchedFile};
    use crate::hunt::terms::SearchTerms;
    use crate::oracle::fixture::{commit, culprit, effect, target};

    /// A commit that changes `file` and makes a step from 7 to `level`.
    fn found(name: char, parent: char, file: &str, level: f64) -> FoundCommit {
        let touched = TouchedFile {
            path: file.to_owned(),
            path_b64: None,
            added: Some(1),
            removed: Some(0),
            role: FileRole::Unknown,
        };
        let mut one = culprit(name, parent);
        (one.effects, one.files) = (vec![effect(7.0, level, 0.1)], vec![touched]);
        FoundCommit::new(one)
    }

    /// A ledger with a step of `3` that `5` undid, and these later commits.
    fn with_later(later: Vec<FoundCommit>) -> Ledger {
        let targets = [Target::Guard(target(GuardForm::MaxIncrease(0.1), 7.0, 7.5))];
        let mut ledger = Ledger::new(&targets, SearchTerms::of(Aim::Regression));
        let mut first = found('3', '2', "a.c", 7.5);
        first.status = CulpritStatus::Undone { by: commit('5'), again: false };
        ledger.found = vec![first];
        ledger.found.extend(later);
        ledger
    }

    #[test]
    fn a_step_that_was_undone_and_made_again_names_all_three_commits() {
        let mut ledger = with_later(vec![found('7', '6', "a.c", 7.5)]);
        let step = UndoneStep {
            commit: commit('3'),
            change: "ppl 7 → 7.5".to_owned(),
            undone_by: commit('5'),
            made_again_by: Some(commit('7')),
        };
        assert_eq!(ledger.undone_steps(), [step]);
        ledger.note_what_was_undone();
        let [note] = ledger.notes.as_slice() else { panic!("{:?}", ledger.notes) };
        assert!(note.starts_with("3333333333 made a step: ppl 7 → 7.5"), "{note}");
        let end = "; undone by 5555555555 at the latest; 7777777777 makes the same step again";
        assert!(note.ends_with(end), "{note}");
    }

    #[test]
    fn another_step_or_file_does_not_make_the_step_again() {
        for other in [found('7', '6', "a.c", 7.3), found('7', '6', "b.c", 7.5)] {
            let ledger = with_later(vec![other]);
            assert_eq!(ledger.undone_steps()[0].made_again_by, None);
        }
    }

    #[test]
    fn a_step_that_landed_again_is_no_undone_step() {
        let mut ledger = with_later(Vec::new());
        ledger.found[0].status = CulpritStatus::Undone { by: commit('5'), again: true };
        assert!(ledger.undone_steps().is_empty());
        ledger.note_what_was_undone();
        assert!(ledger.notes[0].ends_with("at the latest, and applied again later"));
    }
}
