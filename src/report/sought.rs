//! The words and signs of a report that depend on whether the hunt looked for a regression or a
//! fix. Other files of the report ask this one.

use crate::evaluation::{Aim, CommitId, Verdict};

use super::model::{Endpoint, Report, SearchLine};

impl Report {
    /// The older and the newer end of the range.
    pub(crate) fn ends(&self) -> [&Endpoint; 2] {
        Sought::of(self).older_and_newer([&self.good, &self.bad])
    }
}

/// What the hunt of a report looked for.
#[derive(Clone, Copy)]
pub(super) struct Sought {
    aim: Aim,
}

impl Sought {
    pub(super) fn of(report: &Report) -> Self {
        Self { aim: report.options.aim }
    }

    /// The first text for a regression, the second one for a fix.
    fn either<T>(self, regression: T, fix: T) -> T {
        if self.is_regression() { regression } else { fix }
    }

    pub(super) fn is_regression(self) -> bool {
        self.aim.is_regression()
    }

    /// The name of the wanted commit.
    pub(super) fn commit(self) -> &'static str {
        self.aim.sought()
    }

    /// The name of the wanted commit, for the beginning of a line.
    pub(super) fn title(self) -> &'static str {
        self.either("First bad commit", "First fixed commit")
    }

    /// The name of the wanted commit after the word `commit`.
    pub(super) fn one(self) -> &'static str {
        self.either("first bad one", "first fixed one")
    }

    /// The name of the newer end.
    pub(super) fn newer_end(self) -> &'static str {
        self.either("bad", "good")
    }

    /// The side of the step that fails.
    pub(super) fn failing_side(self) -> &'static str {
        self.either("it", "its parent")
    }

    /// How the metric changed.
    pub(super) fn change(self) -> &'static str {
        self.either("worse", "better")
    }

    /// How a failure rate changed.
    pub(super) fn rate_change(self) -> &'static str {
        self.either("fails more often", "fails less often")
    }

    /// Which of several parents a commit is compared with.
    pub(super) fn nearest_parent(self) -> &'static str {
        self.either("worst", "best")
    }

    /// What no parent of the wanted commit has.
    pub(super) fn lacked_by_parents(self) -> &'static str {
        self.either("shows the regression", "has the fix")
    }

    /// Label of a failure that the commit caused or ended.
    pub(super) fn failure_label(self) -> &'static str {
        self.either("Fails where its parents do not", "Works where its parents fail")
    }

    /// The same label if only the first one of several parents was measured.
    pub(super) fn failure_label_by_first_parent(self) -> &'static str {
        self.either("Fails where its first parent does not", "Works where its first parent fails")
    }

    /// What the commit does to a failure that the bad end shows.
    pub(super) fn makes_failure(self) -> &'static str {
        self.either("brings", "ends")
    }

    /// The verdicts of the older and the newer end.
    pub(super) fn verdicts(self) -> [Verdict; 2] {
        [self.aim.older(), self.aim.newer()]
    }

    /// Whether a commit with this verdict is older than the wanted one.
    pub(super) fn is_older(self, verdict: Verdict) -> bool {
        verdict == self.aim.older()
    }

    /// Turns [good, bad] into [older, newer].
    fn older_and_newer<T>(self, good_and_bad: [T; 2]) -> [T; 2] {
        self.aim.swap_if_fix(good_and_bad)
    }

    /// The older and the newer end of a search.
    pub(super) fn ends(self, search: &SearchLine) -> [&CommitId; 2] {
        self.older_and_newer([&search.good, &search.bad])
    }

    /// Turns the probability that a commit is bad into the probability that it is on the newer
    /// side, and back.
    pub(super) fn p_newer(self, p_bad: f64) -> f64 {
        self.either(p_bad, 1.0 - p_bad)
    }

    /// Turns a step in the direction of the hunt into a worsening: positive if the metric got
    /// worse.
    pub(super) fn worsening(self, step: f64) -> f64 {
        self.either(step, -step)
    }
}
