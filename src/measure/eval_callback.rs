//! What llama-eval-callback prints: each tensor that a graph computes, with its operation and
//! shape, the outer values of its rows, and a sum. llama-debug prints the same.
//!
//! What the sum means, its output does not say. Until 2025-08-28 it was that of the values shown
//! (the first and last three of each dimension that has more than six), since then it is that of
//! all. It is told by the figures: where they agree to the last digit for every tensor that is
//! not shown whole, the sums are of what is shown, and no value is made of them. Until 2024-05-10
//! all values but the first were wrong, and nothing is.

use std::collections::{BTreeMap, BTreeSet};

use regex::Regex;

use crate::evaluation::{Checks, Failure, FailureKind, Metric, Reading, Value};

use super::value::{excerpt, parse_number, unreadable};
use super::word::word;

mod tensor;

use tensor::{Head, Tensor};

/// Names of figures over all tensors; a tensor that is called so is called `tensor-NAME`.
const OWN: [&str; 4] = ["tensors", "infinite", "wall_s", "peak_rss_mib"];

/// What a tensor without a name is called.
const UNNAMED: &str = "unnamed";

/// Reads one run's output.
#[derive(Debug)]
pub(super) struct EvalCallback {
    measure: String,
    /// Which tensors are looked at.
    wanted: Option<Regex>,
    tensors: Vec<Tensor>,
    /// The name of the tensor whose lines come now, and whether it is the last of `tensors`.
    current: Option<(String, bool)>,
    /// The first tensor that adds up to no number.
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

    /// Takes one line; true when something was read from it.
    pub(super) fn line(&mut self, line: &str) -> bool {
        if let Some(head) = Head::of(line) {
            let is_wanted = self.wanted.as_ref().is_none_or(|wanted| wanted.is_match(&head.name));
            self.current = Some((head.name.clone(), is_wanted));
            self.tensors.extend(is_wanted.then(|| Tensor::new(head)));
            return true;
        }
        let Some((name, is_wanted)) = &self.current else { return false };
        let line = line.trim();
        let sum = line.strip_prefix("sum = ").and_then(sum_of);
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

    /// What a run that ended with exit code 0 says.
    pub(super) fn finish(self) -> Result<Reading, Failure> {
        if let Some(name) = &self.broken {
            return Err(Failure::not_finite(&format!("the sum of tensor `{name}`"), f64::NAN));
        }
        if self.current.is_none() {
            let what = "no tensor in the output, as llama-eval-callback prints them".to_owned();
            return Err(unreadable("no tensor", what));
        }
        let count = self.tensors.len();
        if count == 0 {
            let pattern = self.wanted.as_ref().map_or("", Regex::as_str);
            let what = format!("no tensor has a name that matches `{pattern}`");
            return Err(unreadable("no tensor", what));
        }
        let (bytes, others): (Vec<bool>, Vec<bool>) =
            self.tensors.iter().filter_map(Tensor::counts_bytes).partition(|counts| *counts);
        if !bytes.is_empty() && bytes.len() >= others.len() {
            let what = "the values are the first one plus distances in memory, as llama.cpp \
                        printed them until 2024-05-10"
                .to_owned();
            return Err(unreadable("wrong values", what));
        }
        if let Some(place) = self.tensors.iter().position(|tensor| !tensor.is_complete()) {
            let name = excerpt(&self.tensors[place].head.name);
            let detail = format!("the output of tensor `{name}` is cut, {place} are whole before");
            return Err(Failure::new(FailureKind::Incomplete, "", detail));
        }
        Ok(self.reading())
    }

    fn reading(self) -> Reading {
        let sums_are_whole = self.tensors.iter().any(Tensor::sums_more_than_it_shows);
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
        let infinite = |tensor: &&Tensor| tensor.sum.is_some_and(f64::is_infinite);
        own("infinite", self.tensors.iter().filter(infinite).count() as f64);
        own("tensors", self.tensors.len() as f64);
        Reading { values, checks: Some(heads(&self.tensors)), ..Reading::default() }
    }
}

/// What each tensor is called in a metric. One of several of a name is called by its operation
/// as well, and where that is the same too by its place among those: so no name stands for one
/// tensor here and for another one in another commit's graph.
fn names(tensors: &[Tensor]) -> Vec<String> {
    let plain: Vec<String> = tensors.iter().map(|tensor| plain(&tensor.head.name)).collect();
    let mut counts: BTreeMap<&str, u32> = BTreeMap::new();
    for name in &plain {
        *counts.entry(name).or_default() += 1;
    }
    let mut alike: BTreeMap<String, u32> = BTreeMap::new();
    let named = |(tensor, name): (&Tensor, &String)| {
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

/// With six decimals, as it is printed; what is cut has fewer.
fn sum_of(text: &str) -> Option<f64> {
    let is_whole = text.split_once('.').is_some_and(|(_, decimals)| decimals.len() == 6);
    parse_number(text).filter(|sum| is_whole || !sum.is_finite())
}

fn plain(name: &str) -> String {
    let name = word(name);
    if name.is_empty() {
        UNNAMED.to_owned()
    } else if OWN.contains(&name.as_str()) {
        format!("tensor-{name}")
    } else {
        name
    }
}

/// The tensors as what ran: where two graphs have the same, their figures can be compared.
fn heads(tensors: &[Tensor]) -> Checks {
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
