//! The posterior: each commit's probability of being the first bad one, given the samples.

use std::collections::BTreeMap;

use super::evidence::Evidence;
use super::graph::Graph;
use super::likelihood::Likelihood;

/// P(bad) leaves out commits whose total probability is below this.
const NEGLIGIBLE: f64 = 1e-7;

/// The commits of a range in classes. The commits of one class are ancestors of the same measured
/// commits, and have the same likelihood.
#[derive(Clone, Debug, PartialEq)]
pub struct Classes {
    /// Each commit's class.
    of: Vec<u32>,
    /// All classes.
    all: Vec<Class>,
    /// The measured commits, in order of their first measurement.
    measured: Vec<usize>,
    prior: Vec<f64>,
}

#[derive(Clone, Debug, PartialEq)]
struct Class {
    within: Vec<bool>,
    prior: f64,
}

/// A posterior over the first bad commit.
#[derive(Clone, Debug, PartialEq)]
pub struct Belief {
    /// For each commit, the probability that it is the first bad one.
    pub first: Vec<f64>,
    /// For each commit, the probability that it is bad: that it contains the first bad one.
    pub bad: Vec<f64>,
}

impl Classes {
    /// Starts without measurements. `prior`: weights of the commits (0: not the first bad one).
    pub fn new(prior: Vec<f64>) -> Self {
        let sum = prior.iter().sum();
        let all = Class { within: Vec::new(), prior: sum };
        Self { of: vec![0; prior.len()], all: vec![all], measured: Vec::new(), prior }
    }

    /// The index of a commit among the measured ones. A new commit splits the classes.
    pub fn place(&mut self, graph: &Graph, commit: usize) -> usize {
        if let Some(place) = self.measured.iter().position(|one| *one == commit) {
            return place;
        }
        let ancestors = graph.ancestors(commit);
        let mut split: BTreeMap<(u32, bool), u32> = BTreeMap::new();
        let mut classes: Vec<Class> = Vec::new();
        for (one, class) in self.of.iter_mut().enumerate() {
            let is_within = ancestors.contains(one);
            let old = *class;
            *class = *split.entry((old, is_within)).or_insert_with(|| {
                let mut within = self.all[old as usize].within.clone();
                within.push(is_within);
                classes.push(Class { within, prior: 0.0 });
                u32::try_from(classes.len() - 1).expect("fewer classes than commits")
            });
            classes[*class as usize].prior += self.prior[one];
        }
        self.all = classes;
        self.measured.push(commit);
        self.measured.len() - 1
    }

    /// The posterior, from the evidence at the good endpoint and at each measured commit (in the
    /// order of [`Self::place`]). `None` if no commit explains the samples: no commit has
    /// descendants that are worse than the rest.
    pub fn belief(
        &self,
        graph: &Graph,
        likelihood: &Likelihood,
        good: Evidence,
        measured: &[Evidence],
    ) -> Option<Belief> {
        let good = good.plus(likelihood.pinned());
        let total = measured.iter().fold(good, |sum, one| sum.plus(*one));
        let weigh = |class: &Class| {
            let within = class.within.iter().zip(measured).filter(|(within, _)| **within);
            let right = within.fold(Evidence::default(), |sum, (_, one)| sum.plus(*one));
            (class.prior > 0.0).then(|| likelihood.ln(total.minus(right), right)).flatten()
        };
        let logs: Vec<Option<f64>> = self.all.iter().map(weigh).collect();
        let highest = logs.iter().flatten().copied().reduce(f64::max)?;
        let odds: Vec<f64> =
            logs.iter().map(|ln| ln.map_or(0.0, |ln| (ln - highest).exp())).collect();
        let sum: f64 = odds.iter().zip(&self.all).map(|(odds, class)| odds * class.prior).sum();
        let each = |one: usize| odds[self.of[one] as usize] * self.prior[one] / sum;
        let first: Vec<f64> = (0..self.of.len()).map(each).collect();
        let bad = graph.contained(&without_negligible(&first));
        Some(Belief { first, bad })
    }
}

/// Sets negligible weights to 0. A search soon has few likely commits, and then only these are
/// propagated through merges.
fn without_negligible(weights: &[f64]) -> Vec<f64> {
    let bar = NEGLIGIBLE / weights.len() as f64;
    weights.iter().map(|w| if *w >= bar { *w } else { 0.0 }).collect()
}

impl Belief {
    /// The smallest set of commits with this share of the posterior, the most likely first.
    pub fn smallest_set(&self, share: f64) -> Vec<usize> {
        let mut order: Vec<usize> =
            (0..self.first.len()).filter(|&i| self.first[i] > 0.0).collect();
        order.sort_by(|&a, &b| self.first[b].total_cmp(&self.first[a]).then(a.cmp(&b)));
        let mut held = 0.0;
        let mut set = Vec::new();
        for commit in order {
            set.push(commit);
            held += self.first[commit];
            if held >= share {
                break;
            }
        }
        set
    }

    /// The information from measuring a commit: the entropy of P(bad) in bits, from 0 (known) to
    /// 1 (good and bad equally likely).
    pub(crate) fn binary_entropy(&self, commit: usize) -> f64 {
        let p = self.bad[commit].clamp(0.0, 1.0);
        let part = |p: f64| if p > 0.0 { -p * p.log2() } else { 0.0 };
        part(p) + part(1.0 - p)
    }
}

/// A testable commit with the untestable commits before it, back to the nearest testable ancestors.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct UntestableSpan {
    /// The testable commit.
    pub(super) commit: usize,
    /// The testable commit and the untestable commits before it, oldest first.
    pub(super) span: Vec<usize>,
    /// The nearest testable ancestors; empty if all are outside the range.
    pub(super) frontier: Vec<usize>,
    /// The span's share of the posterior.
    pub(super) mass: f64,
}

/// The testable commit whose span has the largest share of the posterior.
pub(super) fn largest_untestable_span(
    graph: &Graph,
    belief: &Belief,
    untestable: &[bool],
) -> Option<UntestableSpan> {
    let mut seen = vec![usize::MAX; graph.len()];
    // Untestable commits are rare, so most spans are a single commit.
    let mut mass = |commit: usize| {
        if graph.parents(commit).any(|parent| untestable[parent]) {
            untestable_span(graph, belief, untestable, commit, &mut seen).mass
        } else {
            belief.first[commit]
        }
    };
    let mut best: Option<(usize, f64)> = None;
    for commit in (0..graph.len()).filter(|&commit| !untestable[commit]) {
        let mass = mass(commit);
        if best.is_none_or(|(_, highest)| mass > highest) {
            best = Some((commit, mass));
        }
    }
    let (commit, _) = best?;
    seen.fill(usize::MAX);
    Some(untestable_span(graph, belief, untestable, commit, &mut seen))
}

/// The most likely commit.
pub fn likeliest(belief: &Belief) -> Option<usize> {
    (0..belief.first.len())
        .max_by(|&a, &b| belief.first[a].total_cmp(&belief.first[b]).then(b.cmp(&a)))
}

/// The span of a commit; `seen`: for each commit, the last span that visited it.
fn untestable_span(
    graph: &Graph,
    belief: &Belief,
    untestable: &[bool],
    commit: usize,
    seen: &mut [usize],
) -> UntestableSpan {
    let mut span = vec![commit];
    let mut frontier = Vec::new();
    let mut next = 0;
    while let Some(&one) = span.get(next) {
        next += 1;
        for parent in graph.parents(one) {
            if std::mem::replace(&mut seen[parent], commit) != commit {
                let list = if untestable[parent] { &mut span } else { &mut frontier };
                list.push(parent);
            }
        }
    }
    span.sort_unstable();
    frontier.sort_unstable();
    let mass = span.iter().map(|&one| belief.first[one]).sum();
    UntestableSpan { commit, span, frontier, mass }
}

#[cfg(test)]
mod tests;
