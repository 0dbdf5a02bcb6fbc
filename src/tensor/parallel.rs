//! Jobs on several threads.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use super::difference::Buffers;
use super::error::DumpError;

/// Does jobs on several threads; the results are in the order of the jobs.
pub(super) fn in_parallel<T: Send>(
    jobs: usize,
    threads: usize,
    work: &(dyn Fn(usize, &mut Buffers) -> Result<T, DumpError> + Sync),
) -> Result<Vec<T>, DumpError> {
    let next = AtomicUsize::new(0);
    let has_failed = AtomicBool::new(false);
    let results: Mutex<Vec<(usize, Result<T, DumpError>)>> = Mutex::default();
    let run = || {
        let mut buffers = Buffers::default();
        loop {
            let place = next.fetch_add(1, Ordering::Relaxed);
            if place >= jobs || has_failed.load(Ordering::Relaxed) {
                return;
            }
            let result = work(place, &mut buffers);
            has_failed.fetch_or(result.is_err(), Ordering::Relaxed);
            results.lock().unwrap_or_else(PoisonError::into_inner).push((place, result));
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads.clamp(1, jobs.max(1)) {
            scope.spawn(run);
        }
        run();
    });
    let mut results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    results.sort_by_key(|(place, _)| *place);
    results.into_iter().map(|(_, result)| result).collect()
}
