//! Parses llama-perplexity's output, of any version.
//!
//! The parser looks for three things anywhere in a line, since prefixes and line breaks differ
//! between versions:
//! - `[1]17.1041,[2]16.9,…` on stdout: the cumulative perplexity after each chunk;
//! - `calculating perplexity over 24 chunks, n_ctx=512`: the number of chunks, and since 2024-03
//!   the tokens in each chunk; with `--ppl-stride` since 2026-02 `computing over 24 chunks`;
//! - `Final estimate: PPL = 17.0805 +/- 0.44526`, on stdout before September 2024, since then
//!   on stderr.
//!
//! Two kinds of runs never print an estimate: runs with `--ppl-stride`, which print `Calculation
//! chunk = 640`, and programs from before 2023-08-25, which do not print the tokens in a chunk. In
//! these runs, once all announced chunks are there, the last chunk's value is the estimate: both
//! are the same number.
//!
//! Small automata read byte by byte, so the result does not depend on how lines are cut into
//! pieces.

use crate::evaluation::{Failure, FailureKind, Metric, Reading, Stream, Unreadable, parse_number};

use super::value::finite;

mod scan;

use scan::{Figure, Items};

/// Two texts, since a fork of llama.cpp writes `Final estimate: PPL over 24 chunks for n_ctx=512 =
/// 17.0805`.
const ESTIMATE: &[&[u8]] = &[b"Final estimate: PPL", b" = "];
const ANNOUNCED: [&[&[u8]]; 2] = [&[b"calculating perplexity over "], &[b"computing over "]];
const CONTEXT: [&[&[u8]]; 2] =
    [&[b"calculating perplexity over ", b"n_ctx="], &[b"computing over ", b"n_ctx="]];
/// Only a strided run prints this.
const STRIDED: &[&[u8]] = &[b"Calculation chunk = "];
/// Printed in place of the estimate if its standard deviation cannot be computed.
const NO_DEVIATION: &[&[u8]] = &[b"Unexpected negative standard deviation of log(prob)"];

/// Reads one run's output.
#[derive(Debug)]
pub(super) struct Perplexity {
    items: Items,
    out: Figures,
    err: Figures,
    found: ParsedLines,
}

/// The texts to look for on one stream.
#[derive(Debug)]
struct Figures {
    estimate: Figure,
    announced: [Figure; 2],
    context: [Figure; 2],
    strided: Figure,
    no_deviation: Figure,
    /// The last estimate on this stream.
    last: Option<f64>,
}

#[derive(Debug, Default)]
struct ParsedLines {
    chunks: Vec<f64>,
    announced: Option<usize>,
    context: Option<u32>,
    /// The final estimate, after both streams ended.
    estimate: Option<f64>,
    no_deviation: bool,
    strided: bool,
    /// The first number that is not finite, and its place. Later finite numbers do not clear it:
    /// cumulative perplexity never recovers from NaN, so later finite numbers belong to another
    /// pass.
    broken: Option<(String, f64)>,
}

impl Perplexity {
    pub(super) fn new() -> Self {
        Self {
            items: Items::default(),
            out: Figures::new(),
            err: Figures::new(),
            found: ParsedLines::default(),
        }
    }

    /// Takes a line or a piece of a line; true if it holds a value or a part of one.
    pub(super) fn feed(&mut self, stream: Stream, bytes: &[u8], whole: bool) -> bool {
        let Self { items, out, err, found } = self;
        let (figures, mut items) = match stream {
            Stream::Out | Stream::File => (out, Some(items)),
            Stream::Err => (err, None),
        };
        let is_open = |figures: &Figures, items: &Option<&mut Items>| {
            figures.is_open() || items.as_ref().is_some_and(|items| items.is_open())
        };
        let mut keep = is_open(figures, &items);
        for byte in bytes.iter().copied().chain(whole.then_some(b'\n')) {
            if let Some((index, text)) = items.as_mut().and_then(|items| items.push(byte)) {
                keep |= found.chunk(index, &text);
            }
            keep |= figures.push(byte, found);
        }
        keep | is_open(figures, &items)
    }

    /// Whether a chunk was read, and the progress for people.
    pub(super) fn progress(&self) -> (bool, String) {
        (!self.found.chunks.is_empty(), self.found.progress())
    }

    /// The reading of a run that ended with exit code 0.
    pub(super) fn finish(mut self, measure: &str) -> Result<Reading, Failure> {
        // The output may end without a line break.
        for stream in [Stream::Out, Stream::Err] {
            self.feed(stream, b"", true);
        }
        self.found.into_reading(&Metric::of(measure), self.out.last, self.err.last)
    }
}

impl Figures {
    fn new() -> Self {
        Self {
            estimate: Figure::new(ESTIMATE),
            announced: ANNOUNCED.map(Figure::new),
            context: CONTEXT.map(Figure::new),
            strided: Figure::new(STRIDED),
            no_deviation: Figure::new(NO_DEVIATION),
            last: None,
        }
    }

    fn is_open(&self) -> bool {
        let alone = [&self.estimate, &self.strided, &self.no_deviation];
        alone.into_iter().chain(&self.announced).chain(&self.context).any(Figure::is_open)
    }

    fn push(&mut self, byte: u8, found: &mut ParsedLines) -> bool {
        let mut keep = false;
        if let Some(number) = self.estimate.push(byte).and_then(|text| parse_number(&text)) {
            found.note(number, || "the final estimate".to_owned());
            self.last = Some(number);
            keep = true;
        }
        for announced in &mut self.announced {
            if let Some(count) = announced.push(byte).and_then(|text| text.parse().ok()) {
                found.announced = Some(count);
                keep = true;
            }
        }
        for context in &mut self.context {
            if let Some(tokens) = context.push(byte).and_then(|text| text.parse().ok()) {
                found.context = Some(tokens);
                keep = true;
            }
        }
        if self.strided.push(byte).is_some() {
            found.strided = true;
            keep = true;
        }
        if self.no_deviation.push(byte).is_some() {
            found.no_deviation = true;
            keep = true;
        }
        keep
    }
}

impl ParsedLines {
    /// Takes `[index]text,`; false if it is not the next chunk. Chunks come in order, so an index
    /// out of order is other text in brackets, and 1 begins another pass.
    fn chunk(&mut self, index: usize, text: &str) -> bool {
        let Some(number) = parse_number(text) else { return false };
        if index == 1 {
            self.chunks.clear();
        } else if index != self.chunks.len() + 1 {
            return false;
        }
        self.note(number, || format!("chunk {index}"));
        self.chunks.push(number);
        true
    }

    fn note(&mut self, number: f64, place: impl FnOnce() -> String) {
        if !number.is_finite() && self.broken.is_none() {
            self.broken = Some((place(), number));
        }
    }

    /// `out` and `err`: the last estimate on either stream.
    fn into_reading(
        mut self,
        metric: &Metric,
        out: Option<f64>,
        err: Option<f64>,
    ) -> Result<Reading, Failure> {
        if let Some((place, number)) = self.broken {
            return Err(Failure::not_finite(&place, number));
        }
        // The order of two streams is random, so if their estimates differ, neither counts.
        if let (Some(out), Some(err)) = (out, err)
            && out.to_bits() != err.to_bits()
        {
            return Err(Failure::unreadable(
                Unreadable::TwoPerplexities,
                format!("the final estimate is {out} on stdout and {err} on stderr"),
            ));
        }
        self.estimate = out.or(err);
        if self.chunks.is_empty() && self.estimate.is_none() && self.announced.is_none() {
            return Err(Failure::unreadable(
                Unreadable::NoPerplexity,
                "no chunk and no `Final estimate: PPL` in the output".to_owned(),
            ));
        }
        match self.value() {
            Some(value) => Ok(Reading {
                values: [(metric.clone(), finite(metric, value)?)].into(),
                chunks: self.chunks,
                context: self.context,
                ..Reading::default()
            }),
            None => Err(self.incomplete()),
        }
    }

    /// The run's perplexity, if the run was complete.
    fn value(&self) -> Option<f64> {
        let missing = self.announced.is_some_and(|announced| self.chunks.len() < announced);
        if missing {
            return None;
        }
        let ends_without_estimate = self.strided || self.context.is_none() || self.no_deviation;
        // If all logits are equal (zeros, for example), the engine prints an error message and no
        // estimate. The last chunk's value is the same number, and a commit that breaks the logits
        // so badly must not count as untestable.
        let last = self.chunks.last().filter(|_| ends_without_estimate && self.announced.is_some());
        self.estimate.or(last.copied())
    }

    /// How many chunks were read, for people.
    fn progress(&self) -> String {
        let read = self.chunks.len();
        match self.announced {
            Some(announced) => format!("{read} of {announced} chunks"),
            None => format!("{read} chunks"),
        }
    }

    fn incomplete(&self) -> Failure {
        let chunks = self.progress();
        let estimate = if self.estimate.is_some() { "" } else { ", no final estimate" };
        Failure::plain(FailureKind::Incomplete, format!("{chunks}{estimate}"))
    }
}

#[cfg(test)]
mod tests;
