//! Searches that read only the beginning of the text, and the time they saved.

use std::collections::{BTreeMap, HashSet};

use crate::evaluation::{CommitId, Phase};
use crate::store::journal::{Entry, Event, RunDone};
use crate::ui::text;

use super::model::{Report, SearchLine};

/// Follows the searches of a hunt.
#[derive(Default)]
pub(super) struct SearchFollower<'a> {
    last: Option<Search<'a>>,
}

#[derive(Clone, Copy)]
struct Search<'a> {
    number: usize,
    good: &'a CommitId,
    bad: &'a CommitId,
    chunks: Option<u32>,
}

impl<'a> SearchFollower<'a> {
    /// Takes the next event. If the event starts a second search of the same range with the full
    /// text, returns the number of the search on the short text, whose verdicts did not hold.
    pub(super) fn see(&mut self, event: &'a Event) -> Option<usize> {
        let Event::Search { search_number: number, good, bad, chunks, .. } = event else {
            return None;
        };
        let next = Search { number: *number, good, bad, chunks: *chunks };
        let last = self.last.replace(next)?;
        let is_again = last.chunks.is_some()
            && next.chunks.is_none()
            && (last.good, last.bad) == (next.good, next.bad);
        is_again.then_some(last.number)
    }

    /// The number of the search for this run, if the run read a short text.
    fn of(&self, run: &RunDone) -> Option<usize> {
        let search = self.last.filter(|_| run.phase == Phase::Search)?;
        let chunks = usize::try_from(search.chunks?).ok()?;
        (run.text?.chunks == chunks).then_some(search.number)
    }
}

/// Seconds that short texts saved: for each run on a short text, the mean duration of full runs
/// minus its own. A run of a search whose result did not hold saved nothing, so its whole duration
/// is subtracted. `None` if no run read a short text.
pub(super) fn saved(entries: &[Entry]) -> Option<f64> {
    let mut searches = SearchFollower::default();
    let (mut counted, mut in_vain) = (HashSet::new(), HashSet::new());
    let mut whole: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    let mut short = Vec::new();
    for entry in entries {
        in_vain.extend(searches.see(&entry.event));
        let Event::Run(run) = &entry.event else { continue };
        if run.reused || !counted.insert(&run.attempt) {
            continue;
        }
        let is_whole =
            run.failure.is_none() && matches!(run.phase, Phase::Endpoint | Phase::Confirm);
        if let Some(number) = searches.of(run) {
            short.push((number, run));
        } else if is_whole {
            whole.entry(&run.measure).or_default().push(run.wall_s);
        }
    }
    let saved = short.iter().map(|(number, run)| {
        let known = whole.get(run.measure.as_str()).filter(|_| !in_vain.contains(number));
        known.map_or(0.0, |seconds| mean(seconds)) - run.wall_s
    });
    (!short.is_empty()).then(|| saved.sum())
}

/// The mean of at least one duration.
fn mean(seconds: &[f64]) -> f64 {
    seconds.iter().sum::<f64>() / seconds.len() as f64
}

/// A sentence about the short text and the saved time.
pub(super) fn in_words(report: &Report) -> Option<String> {
    let is_short = |search: &&SearchLine| search.chunks.is_some();
    let short = report.searches.iter().find(is_short)?;
    let chunks = text::plural(usize::try_from(short.chunks?).ok()?, "chunk");
    let is_again = |search: &SearchLine| {
        search.chunks.is_none() && (&search.good, &search.bad) == (&short.good, &short.bad)
    };
    let read = format!("The search read the first {chunks} of the text at each commit");
    Some(match report.totals.saved_s {
        _ if report.searches.iter().any(is_again) => {
            format!("{read} at first; that did not hold, so the full text decided.")
        }
        Some(saved) if saved > 0.0 => {
            format!("{read}, which saved about {}.", text::seconds(saved))
        }
        _ => format!("{read}."),
    })
}
