//! Whether a test of the endpoints contradicts the answer. Pure.
//!
//! Only an answer with a single commit can be contradicted. There are two cases. The commit's change
//! is taken out of the newer end, and the end shows the same as before, or the change is not there:
//! then a later commit has the same effect. Or a fix is applied to the bad end, and it stays bad:
//! then an earlier commit is part of the fix.

use crate::evaluation::{
    Aim, Backport, Cause, CauseEnd, CommitId, Culprit, Finding, Outcome, Revert, Target, Trial,
    TrialOf, Unexplained,
};
use crate::hunt::terms::SearchTerms;

/// The largest difference of two levels that counts as the same, as a share of the tolerance.
const SAME: f64 = 0.5;

/// The metric or failure that the answer leaves unexplained; `None` if nothing contradicts the answer.
pub(super) fn found(finding: &Finding, cause: &Cause, targets: &[Target]) -> Option<Unexplained> {
    // With several commits, a revert of one leaves the steps of the others.
    let [culprit] = finding.culprits.as_slice() else { return None };
    let is_all = matches!(cause.end, CauseEnd::Complete | CauseEnd::Budget);
    let same = |trial| shows_the_same(trial, culprit, targets);
    let is_same = match &cause.revert {
        Some(Revert::StillBad | Revert::StillGood) => same(cause.reverted()),
        Some(Revert::Absent) => true,
        _ => cause.backport == Some(Backport::StillBad) && same(cause.backported()),
    };
    let metric = culprit.effects.first().map(|effect| effect.metric.clone());
    let whole = metric.map_or(Unexplained::OwnFailure, Unexplained::Metric);
    (finding.outcome == Outcome::Culprit && is_all && is_same).then_some(whole)
}

/// Whether the patch of this trial changed nothing: the endpoint has its own level, or its own
/// failure.
fn shows_the_same(trial: Option<&Trial>, culprit: &Culprit, targets: &[Target]) -> bool {
    let Some(trial) = trial else { return false };
    let Some(effect) = culprit.effects.first() else {
        // A failure is judged bad only if it is the bad end's own.
        return culprit.failure.is_some();
    };
    let Some(level) = trial.levels.get(&effect.metric) else { return false };
    targets.iter().any(|target| match target {
        Target::Guard(target) if target.guard.metric == effect.metric => {
            let is_good_end = trial.of == TrialOf::Unfixed;
            let own = if is_good_end { &target.baseline } else { &target.bad };
            match (level.number(), own.number()) {
                (Some(level), Some(own)) => (level - own).abs() <= SAME * target.limit.max(0.0),
                _ => level == own,
            }
        }
        _ => false,
    })
}

/// Turns the finding into candidates: the confirmed commit and all later ones. If the bad end stays
/// bad with a fix, the candidates are the fix and all earlier ones. `history`: the commits of the
/// hunt, oldest first.
pub(super) fn incomplete(
    finding: Finding,
    unexplained: Unexplained,
    history: &[CommitId],
    terms: SearchTerms,
) -> Finding {
    let named = finding.culprits.iter().map(|culprit| &culprit.info.commit);
    let first = named.filter_map(|commit| history.iter().position(|one| one == commit)).min();
    let first = first.unwrap_or_default();
    let revert = finding.cause.as_ref().and_then(|cause| cause.revert.as_ref());
    let is_later = matches!(revert, Some(Revert::StillBad | Revert::StillGood | Revert::Absent));
    let (candidates, why, next) = match (terms.aim(), is_later) {
        (Aim::Regression, _) => (
            &history[first..],
            "without it the bad end still shows the same: a later commit does this too",
            "a hunt with revert.patch as a [[patch]] in oracle.toml looks for the later commit",
        ),
        (Aim::Fix, true) => (
            &history[first..],
            "without it the good end is still good: a later commit fixes this too",
            "`start --find-fix --no-localize` names the first fix without this test",
        ),
        (Aim::Fix, false) => (
            &history[..(first + 1).min(history.len())],
            "with it the bad end still shows the same: an earlier commit is needed too",
            "`start --find-fix` with an earlier good commit looks for the earlier one",
        ),
    };
    let candidates = candidates.to_vec();
    let summary = format!("{}; but {why}", finding.summary);
    Finding {
        outcome: Outcome::Candidates,
        summary,
        candidates,
        main: None,
        unexplained: vec![unexplained],
        next: [vec![next.to_owned()], finding.next].concat(),
        ..finding
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::evaluation::{GuardForm, Metric, Shows, Value};
    use crate::oracle::fixture::{self, commit, effect, target};

    fn culprit(digit: char) -> Culprit {
        Culprit { effects: vec![effect(6.0, 7.0, 0.5)], ..fixture::culprit(digit, '1') }
    }

    /// What the revert of this commit contradicts, if the bad end without it has this level.
    fn contradicted(level: f64, end: CauseEnd, culprits: &[char]) -> Option<Unexplained> {
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
            backport: None,
        };
        let target = Target::Guard(target(GuardForm::MaxIncrease(0.5), 6.0, 7.0));
        found(&finding, &cause, &[target])
    }

    #[test]
    fn an_end_that_stays_the_same_without_the_commit_has_another_one() {
        let ppl = Some(Unexplained::Metric(Metric::of("ppl")));
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
        let open = incomplete(
            named,
            Unexplained::Metric(Metric::of("ppl")),
            &history,
            SearchTerms::of(Aim::Regression),
        );
        assert_eq!((open.outcome, open.main), (Outcome::Candidates, None));
        assert_eq!(open.candidates, [commit('5'), commit('6')]);
        assert_eq!(open.culprits.len(), 1);
    }
}
