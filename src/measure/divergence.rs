//! Parses llama-perplexity's output with `--kl-divergence`, of any version: a table with a row for
//! each chunk, and since 2024-01-23 statistics below the table.
//!
//! Until 2024-04-30 the statistics cover only the divergence, with labels such as `Average:` or
//! `KLD_99 :`. Perplexity and the share of equal first choices then come from the last row of the
//! table. Shares are in percent, as newer versions print them.

use std::collections::BTreeMap;

use crate::evaluation::{Failure, FailureKind, Metric, Reading, Unreadable, parse_number};

use super::value::{finite, reading};

/// Labels without blanks, and the names of their metrics.
const LABELS: [(&str, &str); 34] = [
    ("MeanPPL(Q)", "ppl"),
    ("MeanPPL(base)", "ppl_base"),
    ("Cor(ln(PPL(Q)),ln(PPL(base)))", "ppl_correlation"),
    ("Meanln(PPL(Q)/PPL(base))", "mean_ln_ppl_ratio"),
    ("MeanPPL(Q)/PPL(base)", "mean_ppl_ratio"),
    ("MeanPPL(Q)-PPL(base)", "mean_ppl_diff"),
    ("MeanKLD", "mean_kld"),
    ("MaximumKLD", "max_kld"),
    ("99.9%KLD", "kld_99_9"),
    ("99.0%KLD", "kld_99"),
    ("95.0%KLD", "kld_95"),
    ("90.0%KLD", "kld_90"),
    ("MedianKLD", "median_kld"),
    ("10.0%KLD", "kld_10"),
    ("5.0%KLD", "kld_5"),
    ("1.0%KLD", "kld_1"),
    ("0.1%KLD", "kld_0_1"),
    ("MinimumKLD", "min_kld"),
    ("MeanΔp", "mean_dp"),
    ("MaximumΔp", "max_dp"),
    ("99.9%Δp", "dp_99_9"),
    ("99.0%Δp", "dp_99"),
    ("95.0%Δp", "dp_95"),
    ("90.0%Δp", "dp_90"),
    ("75.0%Δp", "dp_75"),
    ("MedianΔp", "median_dp"),
    ("25.0%Δp", "dp_25"),
    ("10.0%Δp", "dp_10"),
    ("5.0%Δp", "dp_5"),
    ("1.0%Δp", "dp_1"),
    ("0.1%Δp", "dp_0_1"),
    ("MinimumΔp", "min_dp"),
    ("RMSΔp", "rms_dp"),
    ("Sametopp", "same_top_p"),
];

/// The labels until 2024-04-30, below a heading.
const OLD_LABELS: [(&str, &str); 10] = [
    ("Average", "mean_kld"),
    ("Median", "median_kld"),
    ("Maximum", "max_kld"),
    ("KLD_99", "kld_99"),
    ("KLD_95", "kld_95"),
    ("KLD_90", "kld_90"),
    ("Minimum", "min_kld"),
    ("KLD_01", "kld_1"),
    ("KLD_05", "kld_5"),
    ("KLD_10", "kld_10"),
];

/// Reads one run's output.
#[derive(Debug)]
pub(super) struct Divergence {
    measure: String,
    announced: Option<usize>,
    context: Option<u32>,
    /// Whether the heading of the table was read.
    in_table: bool,
    rows: Vec<Row>,
    /// Whether the heading of the old statistics was read.
    is_old: bool,
    figures: BTreeMap<&'static str, f64>,
}

/// A row of the table: cumulative values up to this chunk.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Row {
    ppl: f64,
    ln_ratio: f64,
    kld: f64,
    /// In percent, if printed.
    same_top: Option<f64>,
}

impl Divergence {
    pub(super) fn new(measure: &str) -> Self {
        Self {
            measure: measure.to_owned(),
            announced: None,
            context: None,
            in_table: false,
            rows: Vec::new(),
            is_old: false,
            figures: BTreeMap::new(),
        }
    }

    /// Takes one line; true if it holds a value or a heading.
    pub(super) fn line(&mut self, line: &str) -> bool {
        let line = line.trim();
        // This line exists since 2026-02.
        if let Some((_, rest)) = line.split_once("computing over ") {
            let tokens = rest.split_once("n_ctx=").and_then(|(_, n)| n.split(',').next());
            self.announced = rest.split(' ').next().and_then(|count| count.parse().ok());
            self.context = tokens.and_then(|n| n.parse().ok());
            return true;
        }
        if line.starts_with("chunk ") && line.contains("PPL") {
            self.in_table = true;
            return true;
        }
        if line.starts_with("===== KL-divergence statistics") {
            self.is_old = true;
            return true;
        }
        self.row(line) || self.figure(line)
    }

    fn row(&mut self, line: &str) -> bool {
        let Some((index, row)) = row(line).filter(|_| self.in_table) else { return false };
        // Chunks come in order, and 1 begins another pass.
        if index == 1 {
            self.rows.clear();
        } else if index != self.rows.len() + 1 {
            return false;
        }
        self.rows.push(row);
        true
    }

    fn figure(&mut self, line: &str) -> bool {
        let Some((label, text)) = line.split_once(':') else { return false };
        let label: String = label.chars().filter(|c| !c.is_whitespace()).collect();
        let old = OLD_LABELS.iter().filter(|_| self.is_old);
        let known = LABELS.iter().chain(old).find(|(known, _)| *known == label);
        let is_end = |c: char| c.is_whitespace() || c == '%' || c == '±';
        let number = text.trim().split(is_end).next().and_then(parse_number);
        let (Some((_, name)), Some(number)) = (known, number) else { return false };
        self.figures.insert(name, number);
        true
    }

    /// The reading of a run that ended with exit code 0.
    pub(super) fn finish(mut self) -> Result<Reading, Failure> {
        if !self.in_table && self.figures.is_empty() && self.announced.is_none() {
            let detail = "no table of chunks and no `KLD:` in the output".to_owned();
            return Err(Failure::unreadable(Unreadable::NoDivergence, detail));
        }
        if let Some((place, number)) = self.broken() {
            return Err(Failure::not_finite(&place, number));
        }
        // The metric of the output's last line.
        let last = if self.is_old { "kld_10" } else { "same_top_p" };
        let has_statistics = self.figures.contains_key(last);
        let is_cut = self.announced.is_some_and(|announced| self.rows.len() < announced);
        if is_cut || !has_statistics {
            return Err(self.incomplete(has_statistics));
        }
        if let Some(row) = self.rows.last().filter(|_| self.is_old) {
            self.figures.insert("ppl", row.ppl);
            self.figures.insert("mean_ln_ppl_ratio", row.ln_ratio);
            self.figures.extend(row.same_top.map(|share| ("same_top_p", share)));
        }
        let values = self.figures.into_iter().map(|(name, number)| {
            let metric = Metric::named(&self.measure, name);
            let value = finite(&metric, number);
            (metric, value)
        });
        Ok(Reading {
            chunks: self.rows.iter().map(|row| row.kld).collect(),
            context: self.context,
            ..reading(values)?
        })
    }

    /// The first number that is not finite, and its place; uncertainties may be NaN.
    fn broken(&self) -> Option<(String, f64)> {
        let in_rows = self.rows.iter().zip(1..).find_map(|(row, chunk)| {
            let columns = [("PPL", row.ppl), ("ln(PPL ratio)", row.ln_ratio), ("KLD", row.kld)];
            let (what, number) = columns.into_iter().find(|(_, number)| !number.is_finite())?;
            Some((format!("{what} after chunk {chunk}"), number))
        });
        let figures = || {
            let (name, number) = self.figures.iter().find(|(_, number)| !number.is_finite())?;
            Some((Metric::named(&self.measure, name).to_string(), *number))
        };
        in_rows.or_else(figures)
    }

    fn incomplete(&self, has_statistics: bool) -> Failure {
        let read = self.rows.len();
        let chunks = match self.announced {
            Some(announced) => format!("{read} of {announced} chunks"),
            None => format!("{read} chunks"),
        };
        // llama-perplexity also prints no statistics for fewer than 100 tokens.
        let statistics =
            if has_statistics { "" } else { ", the statistics are missing or incomplete" };
        Failure::plain(FailureKind::Incomplete, format!("{chunks}{statistics}"))
    }
}

/// Parses `3 17.08 ± 0.44 0.0018 ± 0.0002 0.0069 ± 0.0001 1.2 ± 0.1 % 93.9 ± 0.3 %`. Until
/// 2024-04-30 the perplexity has no uncertainty, the fourth column is missing, and the last column
/// is a fraction of 1. The oldest versions do not print the last column.
fn row(line: &str) -> Option<(usize, Row)> {
    let mut words = line.split_whitespace().filter(|word| !matches!(*word, "±" | "%"));
    let index = words.next()?.parse().ok()?;
    let numbers: Vec<f64> = words.map(parse_number).collect::<Option<_>>()?;
    let row = match *numbers.as_slice() {
        [ppl, _, ln_ratio, _, kld, _, _, _, same_top, _] => {
            Row { ppl, ln_ratio, kld, same_top: Some(same_top) }
        }
        [ppl, ln_ratio, _, kld, _, share, _] => {
            // Five decimals of a fraction are three of a percentage.
            let same_top = Some((share * 1e5).round() / 1e3);
            Row { ppl, ln_ratio, kld, same_top }
        }
        [ppl, ln_ratio, _, kld, _] => Row { ppl, ln_ratio, kld, same_top: None },
        _ => return None,
    };
    Some((index, row))
}

#[cfg(test)]
mod tests;
