//! The answer of a hunt that reached a limit before its end: the commits still in question, and how
//! to continue the hunt.

use std::collections::BTreeSet;

use crate::evaluation::{CommitId, Finding, Outcome, ReachedLimit};
use crate::git::{BisectSession, Range};
use crate::search::steps_of;
use crate::store::journal::{Entry, Event, SearchEnd};
use crate::ui::{reached_limit, text};

use super::HuntError;
use super::distinct::distinct;
use super::driver::Driver;
use super::path_filter::PathFilter;

/// Runs that the hint suggests if the configured limit of runs is reached.
const MORE_RUNS: u32 = 100;

impl Driver<'_> {
    /// The finding if a limit is reached before any commit is confirmed: the commits in question.
    pub(crate) fn best_so_far(&mut self, limit: ReachedLimit) -> Result<Finding, HuntError> {
        let reached = reached_limit(&limit);
        self.limit = Some(limit);
        let history = &self.oracle.history;
        if let Some(commit) = self.unconfirmed()? {
            let summary = format!(
                "{reached}: {} is found, but not confirmed by fresh runs, and it was not checked \
                 whether its change lasts to the {} end",
                commit.short(),
                self.terms().newer()
            );
            return Ok(in_question(vec![commit], summary));
        }
        let mut range = self.searched_range()?;
        let place = self.hunt.bisect_repository();
        if self.searches == 0 && place.exists() {
            let session = BisectSession::open(history.repository(), &place, &range.new)?;
            range = session.state()?.and_then(|state| state.range()).unwrap_or(range);
        }
        let candidates = history.commits(&range)?;
        let commits = text::plural(candidates.len(), "commit");
        let steps = text::plural(steps_of(candidates.len()), "step");
        let summary = if self.endpoints_are_known()? {
            format!(
                "{reached} with {commits} still in question, if only one commit made the change; \
                 the search needs about {steps} more"
            )
        } else {
            format!(
                "{reached} before the endpoints were measured: whether there is a regression in these \
                 {commits} is not known"
            )
        };
        Ok(in_question(candidates, summary))
    }

    /// The commits between the endpoints that the hunt searches: without those that its options, or
    /// the paths of its last search, leave out.
    fn searched_range(&self) -> Result<Range, HuntError> {
        let last = self.hunt.entries_in_force()?.iter().rev().find_map(|entry| {
            let Event::Search { paths, .. } = &entry.event else { return None };
            Some(paths.clone())
        });
        let asked = self.begun.options.paths.clone();
        let paths =
            last.unwrap_or_else(|| PathFilter { asked, unread: self.unread.clone() }.specs());
        let first_parent = self.begun.options.first_parent;
        Ok(Range { first_parent, paths, ..self.whole() })
    }

    /// Whether the endpoints were measured.
    fn endpoints_are_known(&self) -> Result<bool, HuntError> {
        let is_known = |entry: &Entry| matches!(entry.event, Event::Targets { .. });
        Ok(self.hunt.entries_in_force()?.iter().any(is_known))
    }

    /// The commit that the last search named, if no confirmation rejected it.
    fn unconfirmed(&self) -> Result<Option<CommitId>, HuntError> {
        let mut named = None;
        let mut rejected = BTreeSet::new();
        let entries = self.hunt.entries_in_force()?;
        for entry in &entries {
            match &entry.event {
                // The driver searches again from the beginning, with what is known.
                Event::Begun(_) | Event::Resumed { .. } | Event::Search { .. } => named = None,
                Event::SearchEnd { end: SearchEnd::FirstBad(commit), .. } => named = Some(commit),
                Event::Contradicted { commit, .. } => drop(rejected.insert(commit)),
                _ => {}
            }
        }
        Ok(named.filter(|commit| !rejected.contains(commit)).cloned())
    }

    /// A finding that a limit cut short. A confirmed commit is then no full answer: the hunt did
    /// not check whether its change lasts to the newer end, or whether another commit causes the
    /// rest.
    pub(crate) fn cut_short(&self, finding: Finding) -> Finding {
        let Some(limit) = &self.limit else { return finding };
        let is_confirmed = finding.outcome == Outcome::Culprit || !finding.unexplained.is_empty();
        if !is_confirmed {
            return finding;
        }
        let candidates = confirmed(&finding);
        let names: Vec<&str> = candidates.iter().map(CommitId::short).collect();
        let (names, are) = match names.as_slice() {
            [only] => ((*only).to_owned(), "is"),
            many => (many.join(", "), "are"),
        };
        let newer = self.terms().newer();
        let summary = format!(
            "{}: {names} {are} confirmed; the hunt did not check whether this explains all that \
             the {newer} end shows",
            reached_limit(limit)
        );
        let outcome = Outcome::Candidates;
        Finding { outcome, summary, says_limit: true, candidates, main: None, ..finding }
    }

    /// Adds to a finding the limit that ended a part of the hunt, and how to continue.
    pub(crate) fn with_limit(&self, mut finding: Finding) -> Finding {
        finding.limit = finding.limit.or_else(|| self.limit.clone());
        let Some(limit) = finding.limit.clone() else { return finding };
        let hunt = self.hunt.id();
        let next = match &limit {
            ReachedLimit::Runs { runs } => {
                let asked = self.begun.options.limits.max_runs;
                let more = asked.unwrap_or(MORE_RUNS).min(*runs).max(1);
                format!(
                    "`bisect-ppl resume {hunt} --max-runs {more}` goes on with {more} more runs"
                )
            }
            ReachedLimit::Time { .. } | ReachedLimit::Deadline { .. } => format!(
                "`bisect-ppl resume {hunt}` goes on; --deadline or --max-hours limits it again"
            ),
            ReachedLimit::GpuTime { .. } => {
                format!("`bisect-ppl resume {hunt}` goes on; --max-gpu-hours limits it again")
            }
        };
        finding.next.insert(0, with_reason(next, &limit, finding.says_limit));
        finding
    }
}

/// The finding of a limit before any commit is confirmed. `summary`: it says that the limit is
/// reached.
fn in_question(candidates: Vec<CommitId>, summary: String) -> Finding {
    Finding { candidates, says_limit: true, ..Finding::plain(Outcome::Candidates, summary) }
}

/// What to do after a limit, with the limit if the answer does not say it (`is_told`): after the
/// confirmation, a limit only ends the tests that follow.
fn with_reason(next: String, limit: &ReachedLimit, is_told: bool) -> String {
    if is_told { next } else { format!("{}: {next}", reached_limit(limit)) }
}

/// The commits of a finding whose steps are confirmed: the named ones, and those of which it is
/// open whether the newer end still has their step.
fn confirmed(finding: &Finding) -> Vec<CommitId> {
    let named = finding.culprits.iter().map(|culprit| &culprit.info.commit);
    let open = finding.open_steps.iter().filter(|step| step.is_confirmed).map(|step| &step.commit);
    distinct(named.chain(open).cloned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::OpenStep;
    use crate::oracle::fixture::{commit, culprit};

    #[test]
    fn a_limit_that_only_ends_the_tests_after_the_confirmation_is_told() {
        let limit = ReachedLimit::GpuTime { seconds: 15 };
        let told = |finding: Finding| {
            with_reason("`resume` goes on".to_owned(), &limit, finding.says_limit)
        };
        let named = told(Finding::plain(Outcome::Culprit, "1111111111 is the first bad commit"));
        assert_eq!(named, "the budget of 0.004 GPU-hours is spent: `resume` goes on");
        let summary = "the budget of 0.004 GPU-hours is spent with 16 commits left".to_owned();
        assert_eq!(told(in_question(vec![commit('1')], summary)), "`resume` goes on");
    }

    #[test]
    fn a_hunt_cut_short_has_each_confirmed_commit_once() {
        let step = |digit, is_confirmed| OpenStep {
            commit: commit(digit),
            metric: None,
            change: None,
            is_confirmed,
        };
        let finding = Finding {
            culprits: vec![culprit('5', '4')],
            open_steps: vec![step('5', true), step('3', true), step('9', false)],
            ..Finding::plain(Outcome::Candidates, "")
        };
        assert_eq!(confirmed(&finding), ['5', '3'].map(commit));
    }
}
