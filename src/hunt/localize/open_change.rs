//! Turns an answer into candidates if nothing tells whether a named commit's change lasts. Pure.

use crate::evaluation::{CommitId, Finding, Metric, Outcome, ReachedLimit, Unexplained};
use crate::hunt::distinct::distinct;
use crate::ui::{reached_limit, text};

/// A named commit that a later one may have undone.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct OpenChange {
    pub(crate) commit: CommitId,
    pub(crate) why: WhyOpen,
}

/// Why nothing tells whether the newer end needs a named commit.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum WhyOpen {
    /// So many later commits that may have undone it were not measured.
    NotMeasured(usize),
    /// The newer end keeps most of its step without it.
    NoEffect,
    /// So many later commits that edited its lines, which are gone there, cannot be judged.
    NotJudged(usize),
    /// Its lines are gone at a merge, and a parent of the merge shows its step without it.
    OfBranch(BranchStep),
    /// Its lines have no effect at the newer end if the later edits of these lines are left out.
    LaterLines,
    /// The newer end keeps a part of its step with the lines as they were before it.
    KeepsAPart,
    /// No test of the newer end tells, and a file of its change is gone there under all its names.
    FileGone,
    /// Its step is gone at this later commit.
    GoneAt(CommitId),
    /// A limit of the hunt was reached before all later commits were measured.
    Limit(ReachedLimit),
}

/// A branch without a named commit that shows the commit's step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct BranchStep {
    /// The merge that brings in the branch, and that lacks the lines of the named commit.
    pub(crate) merge: CommitId,
    /// The merge's parent that shows the step.
    pub(crate) branch: CommitId,
    /// The commits up to that parent that are not before the named commit.
    pub(crate) commits: Vec<CommitId>,
}

impl OpenChange {
    /// The reason in words. `end`: the newer end, for people.
    fn in_words(&self, end: &str) -> String {
        let commit = self.commit.short();
        match &self.why {
            WhyOpen::NotMeasured(number) => format!(
                "no test of the {end} end tells whether it still needs {commit}, and the hunt did \
                 not measure {} with changes of its files: one may have undone it, and another may \
                 have done the same again",
                text::plural(*number, "later commit"),
            ),
            WhyOpen::NotJudged(number) => format!(
                "no test of the {end} end tells whether it still needs {commit}, whose lines are \
                 gone there, and {} that edited these lines cannot be judged: one may have undone \
                 it, and another may have done the same again",
                text::plural(*number, "later commit"),
            ),
            WhyOpen::OfBranch(BranchStep { merge, branch, .. }) => format!(
                "the lines of {commit} are gone at the merge {}, and its parent {}, which does \
                 not contain {commit}, shows the step too: a commit of that branch may make what \
                 the {end} end shows",
                merge.short(),
                branch.short()
            ),
            WhyOpen::NoEffect => format!(
                "without {commit} the {end} end keeps most of the step: a later commit makes it too"
            ),
            WhyOpen::LaterLines => format!(
                "{commit} has no effect at the {end} end without the later edits of its lines: a \
                 later commit makes what the {end} end shows"
            ),
            WhyOpen::KeepsAPart => format!(
                "with the lines as they were before {commit} the {end} end keeps a part of the \
                 step: a later commit makes it too"
            ),
            WhyOpen::FileGone => format!(
                "no test of the {end} end tells whether it still needs {commit}, and a file of its \
                 change is gone there: one later commit may have undone it in another file, and \
                 another may have done the same again"
            ),
            WhyOpen::GoneAt(at) => format!(
                "the step of {commit} is gone at {}: a later commit makes what the {end} end shows",
                at.short()
            ),
            WhyOpen::Limit(limit) => format!(
                "no test of the {end} end tells whether it still needs {commit}, and the hunt did \
                 not measure all later commits that change its files: {}",
                reached_limit(limit),
            ),
        }
    }
}

/// The finding as candidates: the first of these commits, all later ones, and those of a branch
/// that shows the step too. `history`: the commits of the hunt, oldest first. `end`: the newer end,
/// for people.
pub(super) fn with_open_changes(
    finding: Finding,
    open: &[OpenChange],
    history: &[CommitId],
    end: &str,
) -> Finding {
    let place = |one: &OpenChange| history.iter().position(|commit| *commit == one.commit);
    let first = open.iter().filter_map(place).min().unwrap_or_default();
    let why: Vec<String> = open.iter().map(|one| one.in_words(end)).collect();
    let is_open = |commit: &CommitId| open.iter().any(|one| one.commit == *commit);
    let doubted = finding.culprits.iter().filter(|culprit| is_open(&culprit.info.commit));
    let effects = doubted.flat_map(|culprit| &culprit.effects);
    let metrics: Vec<&Metric> = distinct(effects.map(|effect| &effect.metric));
    let mut unexplained: Vec<Unexplained> =
        metrics.into_iter().cloned().map(Unexplained::Metric).collect();
    if unexplained.is_empty() {
        unexplained.push(Unexplained::OwnFailure);
    }
    let is_of_branch = |commit: &CommitId| {
        let mut steps = open.iter().filter_map(|one| match &one.why {
            WhyOpen::OfBranch(step) => Some(step),
            _ => None,
        });
        steps.any(|step| step.commits.contains(commit))
    };
    // The commits of a branch may come before the named one in the list.
    let all = history.iter().enumerate();
    let candidates = all.filter(|(place, commit)| *place >= first || is_of_branch(commit));
    let measure = "`bisect-ppl measure COMMIT` measures one of these commits";
    let limit = open.iter().find_map(|one| match &one.why {
        WhyOpen::Limit(limit) => Some(limit.clone()),
        WhyOpen::NotMeasured(_)
        | WhyOpen::NotJudged(_)
        | WhyOpen::OfBranch(_)
        | WhyOpen::NoEffect
        | WhyOpen::LaterLines
        | WhyOpen::KeepsAPart
        | WhyOpen::FileGone
        | WhyOpen::GoneAt(_) => None,
    });
    Finding {
        outcome: Outcome::Candidates,
        summary: format!("{}; but {}", finding.summary, why.join("; ")),
        candidates: candidates.map(|(_, commit)| commit.clone()).collect(),
        main: None,
        unexplained,
        limit: limit.or(finding.limit),
        next: [vec![measure.to_owned()], finding.next].concat(),
        ..finding
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::Culprit;
    use crate::oracle::fixture::{self, commit, effect};

    #[test]
    fn an_open_change_and_all_later_commits_are_candidates() {
        let culprit = |digit| Culprit {
            effects: vec![effect(6.0, 7.0, 0.5)],
            ..fixture::culprit(digit, '1')
        };
        let finding = Finding {
            culprits: vec![culprit('3'), culprit('5')],
            main: Some(0),
            ..Finding::plain(Outcome::Culprit, "3 is the first bad commit")
        };
        let open = [OpenChange { commit: commit('5'), why: WhyOpen::NotMeasured(7) }];
        let history: Vec<CommitId> = "23456".chars().map(commit).collect();
        let told = with_open_changes(finding, &open, &history, "bad");
        assert_eq!((told.outcome, told.main), (Outcome::Candidates, None));
        assert_eq!(told.candidates, [commit('5'), commit('6')]);
        assert_eq!(told.unexplained, [Unexplained::Metric(Metric::of("ppl"))]);
        assert!(told.summary.contains("did not measure 7 later commits"));
    }

    #[test]
    fn the_commits_of_a_branch_that_shows_the_step_are_candidates() {
        let finding = Finding {
            culprits: vec![fixture::culprit('5', '1')],
            main: Some(0),
            ..Finding::plain(Outcome::Culprit, "5 is the first bad commit")
        };
        // The branch forks off before the range.
        let commits = "a34".chars().map(commit).collect();
        let step = BranchStep { merge: commit('6'), branch: commit('4'), commits };
        let open = [OpenChange { commit: commit('5'), why: WhyOpen::OfBranch(step) }];
        let history: Vec<CommitId> = "234567".chars().map(commit).collect();
        let told = with_open_changes(finding, &open, &history, "bad");
        assert_eq!(told.candidates, "34567".chars().map(commit).collect::<Vec<_>>());
        assert!(told.summary.contains("which does not contain 5555"), "{}", told.summary);
    }
}
