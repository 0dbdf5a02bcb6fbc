//! Turns an answer into candidates if nothing tells whether a named commit's change lasts. Pure.

use crate::evaluation::{CommitId, Finding, Metric, Outcome, ReachedLimit, Unexplained};
use crate::hunt::commit_order::CommitOrder;
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
    /// The newer end keeps its whole step without it, and the named commits explain too much.
    TooMuch,
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
    /// No test of the newer end tells, and lines that it added are there in a file with another
    /// name.
    InOtherFile,
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
                "without {commit} the {end} end keeps most of the step: another commit makes it too"
            ),
            WhyOpen::TooMuch => format!(
                "the {end} end keeps the whole step without {commit}, and the confirmed steps \
                 together exceed the whole change: another commit makes what the {end} end shows"
            ),
            WhyOpen::LaterLines => format!(
                "{commit} has no effect at the {end} end without the later edits of its lines: \
                 another commit makes what the {end} end shows"
            ),
            WhyOpen::KeepsAPart => format!(
                "with the lines as they were before {commit} the {end} end keeps a part of the \
                 step: another commit makes it too"
            ),
            WhyOpen::FileGone => format!(
                "no test of the {end} end tells whether it still needs {commit}, and a file of its \
                 change is gone there: one later commit may have undone it in another file, and \
                 another may have done the same again"
            ),
            WhyOpen::InOtherFile => format!(
                "no test of the {end} end tells whether it still needs {commit}: a file that it \
                 added is gone there, and its lines are in a file with another name; one later \
                 commit may have undone it, and another may have done the same again"
            ),
            WhyOpen::GoneAt(at) => format!(
                "the step of {commit} is gone at {}: another commit makes what the {end} end shows",
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

/// The finding as candidates: these commits, all that are not before each of them, and those of a
/// branch that shows the step too; if the named commits explain too much, these too. `order`: the
/// commits of the hunt. `end`: the newer end, for people. `is_other_recipe`: that end has another
/// recipe than a named commit, so any commit may make what it shows.
pub(super) fn with_open_changes(
    finding: Finding,
    open: &[OpenChange],
    order: &CommitOrder,
    end: &str,
    is_other_recipe: bool,
) -> Finding {
    let why: Vec<String> = distinct(open.iter().map(|one| one.in_words(end)));
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
    let are_too_many = open.iter().any(|one| one.why == WhyOpen::TooMuch);
    let is_named = |commit: &CommitId| {
        are_too_many && finding.culprits.iter().any(|culprit| culprit.info.commit == *commit)
    };
    let from = order.not_before(open.iter().map(|one| &one.commit));
    let is_candidate = |commit: &&CommitId| {
        is_other_recipe || from.contains(commit) || is_of_branch(commit) || is_named(commit)
    };
    let candidates = order.commits().iter().filter(is_candidate);
    let measure = "`bisect-ppl measure COMMIT` measures one of these commits";
    let limit = open.iter().find_map(|one| match &one.why {
        WhyOpen::Limit(limit) => Some(limit.clone()),
        WhyOpen::NotMeasured(_)
        | WhyOpen::NotJudged(_)
        | WhyOpen::OfBranch(_)
        | WhyOpen::NoEffect
        | WhyOpen::TooMuch
        | WhyOpen::LaterLines
        | WhyOpen::KeepsAPart
        | WhyOpen::FileGone
        | WhyOpen::InOtherFile
        | WhyOpen::GoneAt(_) => None,
    });
    Finding {
        outcome: Outcome::Candidates,
        summary: format!("{}; but {}", finding.summary, why.join("; ")),
        candidates: candidates.cloned().collect(),
        main: None,
        unexplained,
        says_limit: finding.says_limit || limit.is_some(),
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
        let order = CommitOrder::line("23456");
        // The bad end may be measured in another way than 5: then an earlier commit counts there.
        let other = with_open_changes(finding.clone(), &open, &order, "bad", true);
        assert_eq!(other.candidates, order.commits());
        let told = with_open_changes(finding, &open, &order, "bad", false);
        assert_eq!((told.outcome, told.main), (Outcome::Candidates, None));
        assert_eq!(told.candidates, [commit('5'), commit('6')]);
        assert_eq!(told.unexplained, [Unexplained::Metric(Metric::of("ppl"))]);
        assert!(told.summary.contains("did not measure 7 later commits"));
    }

    #[test]
    fn the_other_commits_that_explain_too_much_are_candidates_too() {
        let named = ['3', '5'].map(|digit| fixture::culprit(digit, '1')).to_vec();
        let plain = Finding::plain(Outcome::Culprit, "3 is the first bad commit");
        let finding = Finding { culprits: named, main: Some(0), ..plain };
        let candidates = |why| {
            let open = [OpenChange { commit: commit('5'), why }];
            let order = CommitOrder::line("23456");
            with_open_changes(finding.clone(), &open, &order, "bad", false).candidates
        };
        assert_eq!(candidates(WhyOpen::TooMuch), ['3', '5', '6'].map(commit));
        assert_eq!(candidates(WhyOpen::NoEffect), ['5', '6'].map(commit));
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
        let told = with_open_changes(finding, &open, &CommitOrder::line("234567"), "bad", false);
        assert_eq!(told.candidates, "34567".chars().map(commit).collect::<Vec<_>>());
        assert!(told.summary.contains("which does not contain 5555"), "{}", told.summary);
    }
}
