//! Compares two dumps row by row, on several threads and in bounded memory.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::evaluation::{LogitsGuard, LogitsLimits};

use super::comparison::Comparison;
use super::dtype::Encoding;
use super::dump::Dump;
use super::error::DumpError;
use super::exact::{self, Row, log_sum_exp};
use super::figures::Figures;
use super::quantile::Quantile;
use super::single;

/// Bytes of a file that a thread reads at once, if a row is not longer: they stay in the cache.
const BLOCK: usize = 256 << 10;

/// Bytes of the buffers of all threads together. With longer rows there are fewer threads.
const BUFFERS: usize = 128 << 20;

/// The file is divided into at most this many parts, and sums are added part by part. So the number
/// of threads has no effect on the figures.
const PARTS: usize = 1024;

/// llama.cpp stores no log-probability that is further than this below the row's largest.
const FLOOR: f64 = 16.0;

/// How to compare.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Threads, at least 1.
    pub threads: usize,
    /// The guard whose limits define [`super::Extreme::first`].
    pub guard: Option<LogitsGuard>,
}

/// Compares a base and a candidate. `is_stopped` is asked before each block of rows.
///
/// # Errors
/// If the shapes or the tokens differ, if reading fails, or if the user stops it.
pub fn compare(
    base: &Dump,
    candidate: &Dump,
    settings: &Settings,
    is_stopped: &(dyn Fn() -> bool + Sync),
) -> Result<Comparison, DumpError> {
    check_shapes(base, candidate)?;
    base.same_tokens(candidate)?;
    let job = Job::new([base, candidate], settings, is_stopped);
    let parts = job.rows.div_ceil(job.rows_of_part);
    let threads = settings.threads.clamp(1, job.most_threads().min(parts));
    let results: Vec<Part> = std::thread::scope(|scope| {
        let others: Vec<_> = (1..threads).map(|_| scope.spawn(|| job.work())).collect();
        let mine = job.work();
        let join = |other: std::thread::ScopedJoinHandle<'_, _>| {
            other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        };
        let all: Vec<Result<Vec<Part>, DumpError>> =
            std::iter::once(mine).chain(others.into_iter().map(join)).collect();
        let mut parts = Vec::new();
        for one in all {
            parts.extend(one?);
        }
        Ok(parts)
    })?;
    Ok(job.sum(results))
}

fn check_shapes(base: &Dump, candidate: &Dump) -> Result<(), DumpError> {
    let cure = "dump the logits of the same tokens with the same model";
    let [a, b] = [base, candidate].map(Dump::length);
    if a != b {
        return Err(DumpError::mismatch(
            format!("rows have {a} and {b} values (the vocabulary)"),
            cure,
        ));
    }
    let [a, b] = [base, candidate].map(Dump::rows);
    if a != b {
        return Err(DumpError::mismatch(format!("they have {a} and {b} positions"), cure));
    }
    Ok(())
}

/// The result of a part of the rows.
#[derive(Debug, Default)]
struct Part {
    first: usize,
    figures: Figures,
    first_bits: Option<(usize, usize)>,
}

/// What the threads share.
struct Job<'a> {
    dumps: [&'a Dump; 2],
    limits: LogitsLimits,
    is_stopped: &'a (dyn Fn() -> bool + Sync),
    rows: usize,
    length: usize,
    rows_of_part: usize,
    rows_of_block: usize,
    /// The next part that no thread has taken.
    next: AtomicUsize,
    /// A thread failed, so the others end.
    has_failed: AtomicBool,
    divergences: Mutex<Quantile>,
}

/// The buffers of a thread.
struct Buffers {
    stored: [Vec<u8>; 2],
    single: [Vec<f32>; 2],
    /// Empty until a row needs them.
    double: [Vec<f64>; 2],
    divergences: Vec<f64>,
}

impl<'a> Job<'a> {
    fn new(
        dumps: [&'a Dump; 2],
        settings: &Settings,
        is_stopped: &'a (dyn Fn() -> bool + Sync),
    ) -> Self {
        let (rows, length) = (dumps[0].rows(), dumps[0].length());
        let largest = dumps.map(Dump::row_bytes).into_iter().max().unwrap_or(1);
        let rows_of_block = (BLOCK / largest).clamp(1, rows);
        Self {
            dumps,
            limits: settings.guard.map(LogitsGuard::limits).unwrap_or_default(),
            is_stopped,
            rows,
            length,
            // Whole blocks, so that only the last block of the file is short.
            rows_of_part: rows.div_ceil(PARTS).next_multiple_of(rows_of_block),
            rows_of_block,
            next: AtomicUsize::new(0),
            has_failed: AtomicBool::new(false),
            divergences: Mutex::default(),
        }
    }

    /// The most threads whose buffers fit into [`BUFFERS`]; at least 1.
    fn most_threads(&self) -> usize {
        let stored: usize =
            self.dumps.iter().map(|dump| dump.row_bytes() * self.rows_of_block).sum();
        let decoded = 2 * self.length * (size_of::<f32>() + size_of::<f64>());
        (BUFFERS / (stored + decoded + self.rows_of_block * size_of::<f64>())).max(1)
    }

    /// Compares parts until none is left.
    fn work(&self) -> Result<Vec<Part>, DumpError> {
        let stored = self.dumps.map(|dump| vec![0; dump.row_bytes() * self.rows_of_block]);
        let single = [vec![0.0; self.length], vec![0.0; self.length]];
        let double = [Vec::new(), Vec::new()];
        let mut buffers = Buffers { stored, single, double, divergences: Vec::new() };
        let mut done = Vec::new();
        loop {
            let first = self.next.fetch_add(1, Ordering::Relaxed).saturating_mul(self.rows_of_part);
            if first >= self.rows {
                return Ok(done);
            }
            let part = self.part(first, &mut buffers);
            self.has_failed.fetch_or(part.is_err(), Ordering::Relaxed);
            done.push(part?);
        }
    }

    fn part(&self, first: usize, buffers: &mut Buffers) -> Result<Part, DumpError> {
        let mut part = Part { first, ..Part::default() };
        let end = (first + self.rows_of_part).min(self.rows);
        let mut at = first;
        while at < end {
            if (self.is_stopped)() {
                return Err(DumpError::Stopped);
            }
            if self.has_failed.load(Ordering::Relaxed) {
                break;
            }
            let rows = self.rows_of_block.min(end - at);
            for (dump, stored) in self.dumps.iter().zip(&mut buffers.stored) {
                dump.read_rows(at, &mut stored[..rows * dump.row_bytes()])?;
            }
            for row in 0..rows {
                self.row(at, row, buffers, &mut part);
            }
            let mut all =
                self.divergences.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            all.add(&buffers.divergences);
            buffers.divergences.clear();
            at += rows;
        }
        Ok(part)
    }

    /// Compares one row of a block that begins at row `at`.
    fn row(&self, at: usize, row: usize, buffers: &mut Buffers, part: &mut Part) {
        let Buffers { stored, single, double, divergences } = buffers;
        let position = at + row;
        let stored: [&[u8]; 2] = std::array::from_fn(|side| {
            let bytes = self.dumps[side].row_bytes();
            &stored[side][row * bytes..][..bytes]
        });
        let encodings = self.dumps.map(Dump::encoding);
        if encodings[0] == encodings[1] && part.first_bits.is_none() {
            let index = first_bits(encodings[0], self.length, stored);
            part.first_bits = index.map(|index| (position, index));
        }
        if !encodings.contains(&Encoding::F64) {
            for side in 0..2 {
                encodings[side].decode(stored[side], &mut single[side]);
                if self.are_mixed() && encodings[side] != Encoding::LogProb16 {
                    to_log_probabilities(&mut single[side]);
                }
            }
            let [a, b] = &*single;
            if let Some(figures) = single::figures(a, b) {
                let values = |index: usize| [f64::from(a[index]), f64::from(b[index])];
                part.figures.add(position, self.length, &figures, &self.limits, values);
                divergences.push(figures.kl);
                return;
            }
        }
        for side in 0..2 {
            double[side].resize(self.length, 0.0);
            if encodings.contains(&Encoding::F64) {
                encodings[side].decode_exactly(stored[side], &mut double[side], &mut single[side]);
                if self.are_mixed() && encodings[side] != Encoding::LogProb16 {
                    to_exact_log_probabilities(&mut double[side]);
                }
            } else {
                for (double, single) in double[side].iter_mut().zip(&single[side]) {
                    *double = f64::from(*single);
                }
            }
        }
        let [a, b] = &*double;
        match exact::figures(a, b) {
            Row::Figures(figures, masked) => {
                part.figures.masked += masked as u64;
                let values = |index: usize| [a[index], b[index]];
                part.figures.add(position, self.length, &figures, &self.limits, values);
                divergences.push(figures.kl);
            }
            Row::NonFinite(found) => part.figures.add_non_finite(position, &found),
        }
    }

    /// Whether one file holds log-probabilities and the other logits.
    fn are_mixed(&self) -> bool {
        let is_log = self.dumps.map(|dump| dump.encoding() == Encoding::LogProb16);
        is_log[0] != is_log[1]
    }

    fn sum(self, mut parts: Vec<Part>) -> Comparison {
        parts.sort_by_key(|part| part.first);
        let mut figures = Figures::default();
        for part in &parts {
            figures.merge(&part.figures);
        }
        let encodings = self.dumps.map(Dump::encoding);
        let mut divergences =
            self.divergences.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
        Comparison {
            positions: self.rows,
            vocab: self.length,
            figures,
            p99_kl: divergences.nearest_rank(99),
            encodings,
            first_bits: parts.iter().find_map(|part| part.first_bits),
        }
    }
}

/// The index of the first value with different bits; 0 if the headers of the rows differ.
fn first_bits(encoding: Encoding, length: usize, rows: [&[u8]; 2]) -> Option<usize> {
    let end = encoding.row_header() + length * encoding.size();
    let [a, b] = rows.map(|row| &row[..end]);
    if a == b {
        return None;
    }
    let byte = a.iter().zip(b).position(|(a, b)| a != b)?;
    Some(byte.saturating_sub(encoding.row_header()) / encoding.size())
}

/// Turns logits into log-probabilities, with llama.cpp's floor. A row with a NaN or +∞ stays.
fn to_log_probabilities(row: &mut [f32]) {
    let mut exact: Vec<f64> = row.iter().map(|value| f64::from(*value)).collect();
    to_exact_log_probabilities(&mut exact);
    for (value, exact) in row.iter_mut().zip(exact) {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "the other file has fewer bits than f32"
        )]
        let rounded = exact as f32;
        *value = rounded;
    }
}

/// [`to_log_probabilities`] in f64.
fn to_exact_log_probabilities(row: &mut [f64]) {
    let largest = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let log_sum = log_sum_exp(row, largest);
    if !log_sum.is_finite() {
        return;
    }
    for value in row {
        *value = value.max(largest - FLOOR) - log_sum;
    }
}

#[cfg(test)]
mod tests;
