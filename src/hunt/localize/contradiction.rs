//! Whether the test of a revert contradicts the answer: without the only commit that is named, the
//! bad end still shows the same, or the bad end does not have its change. Then another commit shows
//! it too. Pure.

use crate::evaluation::{
    Aim, Cause, CauseEnd, CommitId, Culprit, Finding, Outcome, Revert, Target,
};

/// How far the reverted end may be from the bad end to show the same, as a share of the tolerance.
const SAME: f64 = 0.5;

/// What of the bad end is then not explained; `None` if nothing contradicts the answer.
pub(super) fn found(finding: &Finding, cause: &Cause, targets: &[Target]) -> Option<Vec<String>> {
    // With several commits, a revert of one leaves the steps of the others.
    let [culprit] = finding.culprits.as_slice() else { return None };
    let is_all = matches!(cause.end, CauseEnd::Complete | CauseEnd::Budget);
    let is_same = match &cause.revert {
        Some(Revert::StillBad) => shows_the_same(cause, culprit, targets),
        Some(Revert::Absent) => true,
        _ => false,
    };
    let whole =
        culprit.effects.first().map_or("its failure".to_owned(), |it| it.metric.to_string());
    (finding.outcome == Outcome::Culprit && is_all && is_same).then(|| vec![whole])
}

/// Whether the bad end without the cause has the bad end's level, or fails in its way.
fn shows_the_same(cause: &Cause, culprit: &Culprit, targets: &[Target]) -> bool {
    let Some(effect) = culprit.effects.first() else {
        // A failure is judged bad only if it is the bad end's own.
        return culprit.failure.is_some();
    };
    let level = cause.reverted().and_then(|trial| trial.levels.get(&effect.metric));
    let Some(level) = level else { return false };
    targets.iter().any(|target| match target {
        Target::Guard(target) if target.guard.metric == effect.metric => {
            match (level.number(), target.bad.number()) {
                (Some(level), Some(bad)) => (level - bad).abs() <= SAME * target.limit.max(0.0),
                _ => *level == target.bad,
            }
        }
        _ => false,
    })
}

/// The finding as candidates: the confirmed commit, and all later ones. `history`: the commits of
/// the hunt, oldest first.
pub(super) fn incomplete(
    finding: Finding,
    unexplained: Vec<String>,
    history: &[CommitId],
    aim: Aim,
) -> Finding {
    let named = finding.culprits.iter().map(|culprit| &culprit.info.commit);
    let first = named.filter_map(|commit| history.iter().position(|one| one == commit)).min();
    let candidates = history[first.unwrap_or_default()..].to_vec();
    let [end, _] = aim.swap_if_fix(["bad end", "good end"]);
    let summary = format!(
        "{}; but without it the {end} still shows the same: a later commit does this too",
        finding.summary
    );
    let next = "a hunt with revert.patch as a [[patch]] in oracle.toml looks for the later commit";
    Finding {
        outcome: Outcome::Candidates,
        summary,
        candidates,
        main: None,
        unexplained,
        next: [vec![next.to_owned()], finding.next].concat(),
        ..finding
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::evaluation::{GuardForm, Metric, Shows, Trial, TrialOf, Value};
    use crate::oracle::fixture::{self, commit, effect, target};

    fn culprit(digit: char) -> Culprit {
        Culprit { effects: vec![effect(6.0, 7.0, 0.5)], ..fixture::culprit(digit, '1') }
    }

    /// What the revert of this commit contradicts, if the bad end without it has this level.
    fn contradicted(level: f64, end: CauseEnd, culprits: &[char]) -> Option<Vec<String>> {
        let finding = Finding {
            culprits: culprits.iter().copied().map(culprit).collect(),
            main: Some(0),
            ..Finding::plain(Outcome::Culprit, "5 is the first bad commit")
        };
        let reverted = Trial {
            of: TrialOf::Reverted,
            parts: Vec::new(),
            shows: Shows::Difference,
            reason: String::new(),
            failure: None,
            levels: BTreeMap::from([(Metric::of("ppl"), Value::Number(level))]),
            attempts: Vec::new(),
        };
        let cause = Cause {
            commit: commit('5'),
            parent: commit('4'),
            sets: Vec::new(),
            end,
            dependents: Vec::new(),
            trials: vec![reverted],
            without: None,
            roles: BTreeMap::new(),
            revert: Some(Revert::StillBad),
        };
        let target = Target::Guard(target(GuardForm::MaxIncrease(0.5), 6.0, 7.0));
        found(&finding, &cause, &[target])
    }

    #[test]
    fn an_end_that_stays_the_same_without_the_commit_has_another_one() {
        let ppl = Some(vec!["ppl".to_owned()]);
        assert_eq!(contradicted(7.0, CauseEnd::Complete, &['5']), ppl);
        // Later code may depend on the commit: the end is bad in another way.
        assert_eq!(contradicted(900.0, CauseEnd::Complete, &['5']), None);
        // Not all of the commit was taken out, or another one is named too.
        assert_eq!(contradicted(7.0, CauseEnd::RestUnknown, &['5']), None);
        assert_eq!(contradicted(7.0, CauseEnd::Complete, &['5', '9']), None);
    }

    #[test]
    fn the_later_commits_are_candidates_then() {
        let history: Vec<CommitId> = "23456".chars().map(commit).collect();
        let named = Finding {
            culprits: vec![culprit('5')],
            main: Some(0),
            ..Finding::plain(Outcome::Culprit, "5 is the first bad commit")
        };
        let open = incomplete(named, vec!["ppl".to_owned()], &history, Aim::Regression);
        assert_eq!((open.outcome, open.main), (Outcome::Candidates, None));
        assert_eq!(open.candidates, [commit('5'), commit('6')]);
        assert_eq!(open.culprits.len(), 1);
    }
}
