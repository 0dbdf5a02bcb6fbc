//! Parses the output of llama-eval-callback and llama-debug: each tensor of a graph, with its
//! operation and shape, the outer values of its rows, and a sum.
//!
//! The output does not say what the sum covers. Until 2025-08-28 it covers the printed values (the
//! first and last three of each dimension with more than six), since then all values. The parser
//! decides by comparison: if the sum equals that of the printed values for every tensor that is not
//! printed completely, sums cover only printed values. The sums of such tensors are then not used.
//! Until 2024-05-10 all values but the first are wrong, so such output is refused.

use std::collections::{BTreeMap, BTreeSet};

use regex::Regex;

use crate::evaluation::{
    Checks, Failure, FailureKind, Metric, Reading, Resource, Unreadable, Value,
};
use crate::tensor::{PrintedHead, PrintedTensor, printed_sum};

use super::value::excerpt;
use super::word::word;

/// Names of metrics over all tensors; a tensor with such a name becomes `tensor-NAME`.
const OWN: [&str; 2] = ["tensors", "infinite"];

/// The name of a tensor without a name.
const UNNAMED: &str = "unnamed";

/// Reads one run's output.
#[derive(Debug)]
pub(super) struct EvalCallback {
    measure: String,
    /// The pattern of the tensors to read; `None` for all.
    wanted: Option<Regex>,
    tensors: Vec<PrintedTensor>,
    /// The name of the current tensor, and whether it is the last of `tensors`.
    current: Option<(String, bool)>,
    /// The first tensor with a NaN sum.
    broken: Option<String>,
}

impl EvalCallback {
    pub(super) fn new(measure: &str, wanted: Option<&Regex>) -> Self {
        Self {
            measure: measure.to_owned(),
            wanted: wanted.cloned(),
            tensors: Vec::new(),
            current: None,
            broken: None,
        }
    }

    /// Takes one line; true if it holds a part of a tensor.
    pub(super) fn line(&mut self, line: &str) -> bool {
        if let Some(head) = PrintedHead::of(line) {
            let is_wanted = self.wanted.as_ref().is_none_or(|wanted| wanted.is_match(&head.name));
            self.current = Some((head.name.clone(), is_wanted));
            self.tensors.extend(is_wanted.then(|| PrintedTensor::new(head)));
            return true;
        }
        let Some((name, is_wanted)) = &self.current else { return false };
        let line = line.trim();
        let sum = line.strip_prefix("sum = ").and_then(printed_sum);
        let is_broken = sum.is_some_and(f64::is_nan);
        if is_broken && self.broken.is_none() {
            self.broken = Some(name.clone());
        }
        let Some(tensor) = self.tensors.last_mut().filter(|_| *is_wanted) else {
            return is_broken;
        };
        match sum {
            Some(sum) => tensor.sum(sum),
            None => return tensor.row(line),
        }
        true
    }

    /// The reading of a run that ended with exit code 0.
    pub(super) fn finish(self) -> Result<Reading, Failure> {
        if let Some(name) = &self.broken {
            return Err(Failure::not_finite(&format!("the sum of tensor `{name}`"), f64::NAN));
        }
        self.has_tensors()?;
        let count = self.tensors.len();
        if count == 0 {
            let pattern = self.wanted.as_ref().map_or("", Regex::as_str);
            let what = format!("no tensor has a name that matches `{pattern}`");
            return Err(Failure::unreadable(Unreadable::NoTensor, what));
        }
        let (bytes, others): (Vec<bool>, Vec<bool>) = self
            .tensors
            .iter()
            .filter_map(PrintedTensor::has_offset_bug)
            .partition(|counts| *counts);
        if !bytes.is_empty() && bytes.len() >= others.len() {
            let what = "the printed values are wrong: llama.cpp had a bug until 2024-05-10 and \
                        printed the first value plus an offset in memory"
                .to_owned();
            return Err(Failure::unreadable(Unreadable::WrongValues, what));
        }
        self.is_complete()?;
        Ok(self.reading())
    }

    /// Checks that the output of a run that ended with exit code 0 is complete. The tensors are
    /// compared as a set, so the reading has no values.
    pub(super) fn finish_set(self) -> Result<Reading, Failure> {
        self.has_tensors()?;
        self.is_complete()?;
        Ok(Reading::default())
    }

    fn has_tensors(&self) -> Result<(), Failure> {
        if self.current.is_none() {
            let what = "no tensor in the output, as llama-eval-callback prints them".to_owned();
            return Err(Failure::unreadable(Unreadable::NoTensor, what));
        }
        Ok(())
    }

    fn is_complete(&self) -> Result<(), Failure> {
        let Some(place) = self.tensors.iter().position(|tensor| !tensor.is_complete()) else {
            return Ok(());
        };
        let name = excerpt(&self.tensors[place].head.name);
        let plural = if place == 1 { "" } else { "s" };
        let detail = format!(
            "the output ends inside tensor `{name}`, after {place} complete tensor{plural}"
        );
        Err(Failure::plain(FailureKind::Incomplete, detail))
    }

    fn reading(self) -> Reading {
        let sums_are_whole = self.tensors.iter().any(PrintedTensor::sums_more_than_it_shows);
        let names = names(&self.tensors);
        let mut values = BTreeMap::new();
        let mut own = |name: &str, number: f64| {
            values.insert(Metric::named(&self.measure, name), Value::Number(number));
        };
        for (tensor, name) in self.tensors.iter().zip(names) {
            let finite = |sum: Option<f64>| sum.filter(|sum| sum.is_finite());
            if let Some(shown) = finite(tensor.shown()) {
                own(&format!("{name}-shown"), shown);
            }
            if let Some(sum) = finite(tensor.sum).filter(|_| sums_are_whole || tensor.is_whole()) {
                own(&name, sum);
            }
        }
        let infinite = |tensor: &&PrintedTensor| tensor.sum.is_some_and(f64::is_infinite);
        own("infinite", self.tensors.iter().filter(infinite).count() as f64);
        own("tensors", self.tensors.len() as f64);
        Reading { values, checks: Some(heads(&self.tensors)), ..Reading::default() }
    }
}

/// The name of each tensor in a metric. If several tensors share a name, the operation is added,
/// and if that is equal too, a number. So a name means the same tensor in another commit's graph.
fn names(tensors: &[PrintedTensor]) -> Vec<String> {
    let plain: Vec<String> = tensors.iter().map(|tensor| plain(&tensor.head.name)).collect();
    let mut counts: BTreeMap<&str, u32> = BTreeMap::new();
    for name in &plain {
        *counts.entry(name).or_default() += 1;
    }
    let mut alike: BTreeMap<String, u32> = BTreeMap::new();
    let named = |(tensor, name): (&PrintedTensor, &String)| {
        if counts[name.as_str()] == 1 {
            return name.clone();
        }
        let name = format!("{name}-{}", tensor.head.operation);
        let count = alike.entry(name.clone()).or_default();
        *count += 1;
        if *count == 1 { name } else { format!("{name}_{count}") }
    };
    tensors.iter().zip(&plain).map(named).collect()
}

fn plain(name: &str) -> String {
    let name = word(name);
    if name.is_empty() {
        UNNAMED.to_owned()
    } else if OWN.iter().chain(&Resource::NAMES).any(|own| *own == name) {
        format!("tensor-{name}")
    } else {
        name
    }
}

/// The tensors' heads as [`Checks`], so that only graphs with the same tensors are compared.
fn heads(tensors: &[PrintedTensor]) -> Checks {
    let mut heads = BTreeSet::new();
    for tensor in tensors {
        let head = tensor.head.to_string();
        let again = (2..).map(|place| format!("{head} ({place})"));
        let free = std::iter::once(head.clone()).chain(again).find(|name| !heads.contains(name));
        heads.extend(free);
    }
    heads.into_iter().collect()
}

#[cfg(test)]
mod tests;
