//! A span of untestable commits of which one made a step: a later commit may have taken the step
//! back, and another one made it again. The search goes on after such a commit.

use crate::evaluation::CommitId;
use crate::hunt::HuntError;
use crate::hunt::outcome::answer::names;
use crate::hunt::range::SearchRange;
use crate::hunt::search::open_commits::all_open_reason;
use crate::hunt::searched::Searched;
use crate::hunt::strategy::SearchStrategy;
use crate::search::Noisy;
use crate::store::journal::Event;
use crate::ui::reached_limit;

use super::Search;

impl Search<'_, '_> {
    /// The result of a search that confirmed the step of a span: its commits, unless fresh runs
    /// show that the step was taken back. Then `later` is the range in which the search goes on.
    /// With failure rates, all commits that the runs do not exclude if these contradict a single
    /// change.
    pub(super) fn confirmed_span(
        &mut self,
        noisy: &Noisy<'_>,
        strategy: &SearchStrategy,
        span: Vec<CommitId>,
        number: usize,
    ) -> Result<Searched, HuntError> {
        let mut why = "fresh runs show a step across these commits, but only the newest can be \
                       tested; other commits of the range may have made a part of the change"
            .to_owned();
        match self.range_after_span(noisy, strategy, &span, number) {
            Err(HuntError::Limit(limit)) => {
                why = format!(
                    "{why}; it was not checked whether a later commit took the step back: {}",
                    reached_limit(&limit)
                );
                self.driver.limit = Some(limit);
            }
            later => self.later = later?,
        }
        let open = match noisy.rates() {
            Some(_) if self.later.is_none() => self.driver.open_if_contradicted(self.range)?,
            _ => None,
        };
        Ok(match open {
            Some(open) => {
                let why = all_open_reason(&why, &span, &open);
                Searched::Candidates(open, why.into())
            }
            None => Searched::Candidates(span, why.into()),
        })
    }

    /// The range that begins at a commit after a span whose tree lacks the own change of one of the
    /// span's commits, if fresh runs show that it has the older end's result: a later commit causes
    /// what the newer end shows.
    fn range_after_span(
        &mut self,
        noisy: &Noisy<'_>,
        strategy: &SearchStrategy,
        span: &[CommitId],
        number: usize,
    ) -> Result<Option<SearchRange>, HuntError> {
        let newest = span.last().expect("a span has commits");
        for place in self.driver.without_a_change_of(self.range, span, newest)? {
            if self.driver.is_aside(&place, self.range)?
                || !self.shows_step(
                    noisy,
                    strategy,
                    newest,
                    std::slice::from_ref(&place),
                    number,
                )?
            {
                continue;
            }
            let text = format!(
                "one of {} made a step, but it is gone at {}: a later commit causes what {} shows",
                names(span),
                place.short(),
                self.range.newer.short(),
            );
            self.driver.oracle.recorder.event(Event::Note { text })?;
            return Ok(Some(SearchRange { older: place, ..self.range.clone() }));
        }
        Ok(None)
    }
}
