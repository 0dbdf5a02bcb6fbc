//! Opens a search: chooses its targets and writes its entry in the journal.

use crate::evaluation::Target;
use crate::git::Range;
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::hunt::range::SearchRange;
use crate::hunt::strategy::SearchStrategy;
use crate::oracle::SoughtFailures;
use crate::store::journal::{Begun, Event};

/// Writes the start of a search to the journal; returns git's range.
pub(crate) fn open_search(
    driver: &mut Driver<'_>,
    search_range: &SearchRange,
    strategy: &SearchStrategy,
) -> Result<Range, HuntError> {
    let [old, new] = search_range.ends();
    let range = Range {
        old: [old]
            .into_iter()
            .chain(search_range.aside.iter().flat_map(|aside| &aside.tips))
            .cloned()
            .collect(),
        new: new.clone(),
        first_parent: driver.begun.options.first_parent,
        paths: search_range.paths.specs(),
    };
    let (targets, chunks) = sought(driver, strategy);
    let [good, bad] = search_range.good_and_bad().map(Clone::clone);
    driver.oracle.recorder.event(Event::Search {
        search_number: driver.searches,
        good,
        bad,
        commits: driver.oracle.history.count(&range)?,
        targets,
        paths: search_range.paths.specs(),
        method: Some(strategy.method),
        chunks,
        clean: driver.is_clean,
    })?;
    let entries = driver.hunt.entries()?;
    let Begun { good, bad, .. } = &driver.begun;
    driver.oracle.stored.sought = SoughtFailures::of(&entries, [&good.commit, &bad.commit]);
    Ok(range)
}

/// The targets of a search, and how many chunks of the text its runs read (`None`: all).
pub(crate) fn sought(driver: &Driver<'_>, strategy: &SearchStrategy) -> (Vec<Target>, Option<u32>) {
    match &driver.short {
        Some(short) => (short.targets.clone(), Some(short.chunks)),
        None => (strategy.targets.clone(), None),
    }
}
