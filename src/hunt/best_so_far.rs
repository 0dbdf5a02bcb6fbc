//! The answer of a hunt that reached a limit before its end: the commits that are still in question,
//! and how the hunt goes on.

use std::collections::BTreeSet;

use crate::evaluation::{CommitId, Finding, Outcome, ReachedLimit};
use crate::git::BisectSession;
use crate::search::steps_of;
use crate::store::journal::{Event, SearchEnd};
use crate::ui::{reached_limit, text};

use super::HuntError;
use super::driver::Driver;

/// Runs that the hint suggests if the limit of the configuration is reached.
const MORE_RUNS: u32 = 100;

impl Driver<'_> {
    /// The finding if a limit is reached before any commit is confirmed: the commits in question.
    pub(crate) fn best_so_far(&mut self, limit: ReachedLimit) -> Result<Finding, HuntError> {
        let reached = reached_limit(&limit);
        self.limit = Some(limit);
        let history = &self.oracle.history;
        if let Some(commit) = self.unconfirmed()? {
            let summary =
                format!("{reached}: {} is found, but not confirmed by fresh runs", commit.short());
            let candidates = vec![commit];
            return Ok(Finding { candidates, ..Finding::plain(Outcome::Candidates, summary) });
        }
        let mut range = self.whole();
        let place = self.hunt.bisect_repository();
        if self.searches == 0 && place.exists() {
            let session = BisectSession::open(history.repository(), &place, &range.new)?;
            range = session.state()?.and_then(|state| state.range()).unwrap_or(range);
        }
        let candidates = history.commits(&range)?;
        let commits = text::plural(candidates.len(), "commit");
        let steps = text::plural(steps_of(candidates.len()), "step");
        let summary = format!(
            "{reached} with {commits} still in question; the search needs about {steps} more"
        );
        Ok(Finding { candidates, ..Finding::plain(Outcome::Candidates, summary) })
    }

    /// The commit that the only search so far named, if its confirmation neither held nor failed.
    fn unconfirmed(&self) -> Result<Option<CommitId>, HuntError> {
        let mut named = None;
        let mut rejected = BTreeSet::new();
        for entry in self.hunt.entries()? {
            match entry.event {
                // The driver searches again from the beginning, with what is known.
                Event::Begun(_) | Event::Resumed { .. } | Event::Search { .. } => named = None,
                Event::SearchEnd { end: SearchEnd::FirstBad(commit), .. } => named = Some(commit),
                Event::Contradicted { commit, .. } => drop(rejected.insert(commit)),
                _ => {}
            }
        }
        Ok(named.filter(|commit| !rejected.contains(commit)))
    }

    /// Adds to a finding the limit that ended a part of the hunt, and how to go on.
    pub(crate) fn with_limit(&self, mut finding: Finding) -> Finding {
        finding.limit = finding.limit.or_else(|| self.limit.clone());
        let hunt = self.hunt.id();
        let next = match &finding.limit {
            None => return finding,
            Some(ReachedLimit::Runs { runs }) => {
                let asked = self.begun.options.limits.max_runs;
                let more = asked.unwrap_or(MORE_RUNS).min(*runs).max(1);
                format!(
                    "`bisect-ppl resume {hunt} --max-runs {more}` goes on with {more} more runs"
                )
            }
            Some(ReachedLimit::Time { .. } | ReachedLimit::Deadline { .. }) => format!(
                "`bisect-ppl resume {hunt}` goes on; --deadline or --max-hours limits it again"
            ),
        };
        finding.next.insert(0, next);
        finding
    }
}
