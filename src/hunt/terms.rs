//! The terms of a search: which of good and bad is the older side, and which is the newer one.
//! A search works with older and newer. Only this file translates them to good and bad. Pure.

use crate::evaluation::{Aim, CommitId, Effect, Guard, GuardTarget, Value, Verdict};
use crate::git::Range;

use super::orientation::SearchOrientation;

/// What good and bad mean for a search, as `git bisect terms` says it for a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SearchTerms {
    aim: Aim,
}

/// The step between a commit and one of its parents, with its good and its bad side.
pub(crate) struct NearestStep<'a, T> {
    /// Which of the parents this is.
    pub(crate) parent: usize,
    /// The good side.
    pub(crate) good: &'a T,
    /// The bad side: the commit, or the parent in a hunt for a fix.
    pub(crate) bad: &'a T,
}

impl SearchTerms {
    pub(crate) fn of(aim: Aim) -> Self {
        Self { aim }
    }

    /// Whether the hunt looks for a regression or a fix.
    pub(crate) fn aim(self) -> Aim {
        self.aim
    }

    /// Whether the hunt explains the whole change from good to bad: after a found commit it
    /// measures the levels up to the newer end, searches other branches, and looks into merges. A
    /// hunt for a fix does not.
    pub(crate) fn explains_levels(self) -> bool {
        self.aim.is_regression()
    }

    /// The verdict of the older end, and of the parents of the wanted commit.
    pub(crate) fn older(self) -> Verdict {
        self.aim.older()
    }

    /// The verdict of the newer end, and of the wanted commit.
    pub(crate) fn newer(self) -> Verdict {
        self.aim.newer()
    }

    /// Whether a commit with this verdict is on the older side. False for an untestable commit.
    pub(crate) fn is_older(self, verdict: Verdict) -> bool {
        verdict == self.older()
    }

    /// Whether a commit with this verdict is on the newer side. False for an untestable commit.
    pub(crate) fn is_newer(self, verdict: Verdict) -> bool {
        verdict == self.newer()
    }

    /// Turns [older, newer] into [good, bad].
    pub(crate) fn good_and_bad<T>(self, older_and_newer: [T; 2]) -> [T; 2] {
        self.aim.swap_if_fix(older_and_newer)
    }

    /// Turns [good, bad] into [older, newer].
    pub(crate) fn older_and_newer<T>(self, good_and_bad: [T; 2]) -> [T; 2] {
        self.aim.swap_if_fix(good_and_bad)
    }

    /// The change from the older to the newer value, in the metric's unit. Positive if it has the
    /// direction that the search looks for.
    pub(crate) fn step(self, guard: &Guard, older: f64, newer: f64) -> f64 {
        let [good, bad] = self.good_and_bad([older, newer]);
        guard.worsening(good, bad)
    }

    /// The level on the good side of a commit's step, and the level on the bad side.
    pub(crate) fn levels(self, effect: &Effect) -> [&Value; 2] {
        self.good_and_bad([&effect.parent, &effect.commit])
    }

    /// Turns a list in the order of history into the order from the good end to the bad end.
    pub(crate) fn good_side_first<T>(self, mut older_first: Vec<T>) -> Vec<T> {
        if self.aim == Aim::Fix {
            older_first.reverse();
        }
        older_first
    }

    /// The step to a commit from the parent with which it is compared: the worst one in a hunt for
    /// a regression, the best one in a hunt for a fix. Of equal parents the first, because people
    /// usually compare a merge with it. `badness`: larger is worse. Parents without a value do not
    /// count, unless no parent has one: then the first is taken. `None` if there is no parent.
    pub(crate) fn nearest_step<'a, T>(
        self,
        parents: &'a [T],
        commit: &'a T,
        badness: impl Fn(&T) -> Option<f64>,
    ) -> Option<NearestStep<'a, T>> {
        let measured = parents.iter().enumerate().rev();
        let measured = measured.filter_map(|(place, one)| Some((badness(one)?, place)));
        let nearest = measured.max_by(|(a, _), (b, _)| {
            let [less, more] = self.good_and_bad([a, b]);
            less.total_cmp(more)
        });
        let parent = nearest.map_or(0, |(_, place)| place);
        let [good, bad] = self.good_and_bad([parents.get(parent)?, commit]);
        Some(NearestStep { parent, good, bad })
    }

    /// The commits between a good and a bad end.
    pub(crate) fn range_between(self, good: &CommitId, bad: &CommitId) -> Range {
        let [older, newer] = self.older_and_newer([good, bad]);
        Range::between(older, newer)
    }

    /// The target's level at the newer end.
    pub(crate) fn newer_level(self, target: &GuardTarget) -> &Value {
        let [_, newer] = self.older_and_newer([&target.baseline, &target.bad]);
        newer
    }

    /// The orientation of this target's samples.
    pub(crate) fn orientation(self, target: &GuardTarget) -> SearchOrientation {
        SearchOrientation::of(self.aim, target)
    }

    /// What the wanted commit is called, for people: "first bad commit".
    pub(crate) fn sought(self) -> &'static str {
        self.aim.sought()
    }

    /// The side of the step that is bad, for people.
    pub(crate) fn bad_side(self) -> &'static str {
        self.good_and_bad(["its parent", "it"])[1]
    }

    /// Where the bad end lies, seen from a commit of the range, for people.
    pub(crate) fn beyond(self) -> &'static str {
        self.good_and_bad(["before", "after"])[1]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::{GuardForm, Metric};
    use crate::oracle::fixture::target;

    const BOTH: [Aim; 2] = [Aim::Regression, Aim::Fix];

    #[test]
    fn a_verdict_is_on_the_side_of_the_end_that_has_it() {
        for terms in BOTH.map(SearchTerms::of) {
            assert!(terms.is_older(terms.older()) && terms.is_newer(terms.newer()));
            assert!(!terms.is_older(terms.newer()) && !terms.is_newer(terms.older()));
            for untestable in [Verdict::Skip, Verdict::Unknown] {
                assert!(!terms.is_older(untestable) && !terms.is_newer(untestable));
            }
            assert_eq!(terms.good_and_bad(terms.older_and_newer(["good", "bad"])), ["good", "bad"]);
            assert_eq!(terms.explains_levels(), terms.older() == Verdict::Good);
        }
    }

    #[test]
    fn the_nearest_parent_of_a_fix_is_the_best_one() {
        let parents = [Some(2.0), None, Some(1.0), Some(2.0), Some(1.0)];
        let commit = Some(9.0);
        let nearest = |aim, parents| {
            let step = SearchTerms::of(aim).nearest_step(parents, &commit, |one| *one)?;
            Some((step.parent, *step.good, *step.bad))
        };
        let [regression, fix] = BOTH.map(|aim| nearest(aim, parents.as_slice()));
        assert_eq!(regression, Some((0, Some(2.0), commit)));
        assert_eq!(fix, Some((2, commit, Some(1.0))));
        // The first parent if none has a value.
        assert_eq!(nearest(Aim::Fix, &parents[1..2]), Some((0, commit, None)));
        assert_eq!(nearest(Aim::Fix, &[]), None);
    }

    #[test]
    fn bad_is_where_the_aim_puts_it() {
        let told = BOTH.map(SearchTerms::of).map(|terms| (terms.bad_side(), terms.beyond()));
        assert_eq!(told, [("it", "after"), ("its parent", "before")]);
        let path = BOTH.map(|aim| SearchTerms::of(aim).good_side_first(vec!["old", "new"]));
        assert_eq!(path, [["old", "new"], ["new", "old"]]);
    }

    #[test]
    fn a_step_in_the_direction_of_the_search_is_positive() {
        let guard = target(GuardForm::MaxIncrease(0.5), 1.0, 3.0).guard;
        let [regression, fix] = BOTH.map(|aim| SearchTerms::of(aim).step(&guard, 1.0, 3.0));
        assert!((regression - 2.0).abs() < 1e-12 && (fix + 2.0).abs() < 1e-12);
    }

    #[test]
    fn the_good_side_of_a_fix_is_the_commit() {
        let effect = Effect {
            metric: Metric::of("ppl"),
            parent: Value::Number(3.0),
            commit: Value::Number(1.0),
            own_step: Some(2.0),
            interval: None,
            limit: 0.5,
            runs: None,
            over_text: None,
        };
        assert_eq!(SearchTerms::of(Aim::Fix).levels(&effect), [&effect.commit, &effect.parent]);
    }
}
