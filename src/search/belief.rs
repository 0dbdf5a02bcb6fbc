//! How likely each commit is the first bad one, given what was measured where.

use std::collections::BTreeMap;

use super::evidence::{Evidence, Likelihood};
use super::graph::Graph;

/// The mass of commits that no longer matter, all together.
const NEGLIGIBLE: f64 = 1e-7;

/// The commits of a range, sorted by which measured commits contain them: what no measurement
/// tells apart is one class, with one likelihood.
#[derive(Clone, Debug, PartialEq)]
pub struct Classes {
    /// Each commit's class.
    of: Vec<u32>,
    /// Each class: which of the measured commits contain it, and its share of the prior.
    all: Vec<Class>,
    /// The measured commits, in the order they came.
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
    /// For each commit the probability that it is the first bad one.
    pub first: Vec<f64>,
    /// For each commit the probability that it is bad: that it contains the first bad one.
    pub bad: Vec<f64>,
}

impl Classes {
    /// Nothing is measured yet; `prior` weighs the commits (0: cannot be it).
    pub fn new(prior: Vec<f64>) -> Self {
        let sum = prior.iter().sum();
        let all = Class { within: Vec::new(), prior: sum };
        Self { of: vec![0; prior.len()], all: vec![all], measured: Vec::new(), prior }
    }

    /// The place of a commit among the measured ones; its first measurement splits the classes.
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

    /// The posterior, from what was measured at the good endpoint and at each measured commit
    /// (in the order of their places). `None` where no commit explains it: nowhere are the
    /// commits with it worse than those without.
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

/// The weights with those struck out that together weigh nothing: a search soon has few
/// commits left, and only these need to be looked for in every merge.
fn without_negligible(weights: &[f64]) -> Vec<f64> {
    let bar = NEGLIGIBLE / weights.len() as f64;
    weights.iter().map(|w| if *w >= bar { *w } else { 0.0 }).collect()
}

impl Belief {
    /// The smallest set of commits that holds this share of the posterior, the likeliest first.
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

    /// What measuring a commit can tell: 1 where it is as likely good as bad, 0 where that is
    /// known; bits, by the entropy of P(bad).
    pub fn openness(&self, commit: usize) -> f64 {
        let p = self.bad[commit].clamp(0.0, 1.0);
        let part = |p: f64| if p > 0.0 { -p * p.log2() } else { 0.0 };
        part(p) + part(1.0 - p)
    }
}

/// A commit that can be measured, with everything that hides behind it: the commits that
/// cannot, up to the nearest ancestors that can.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct UntestableSpan {
    /// The commit that can be measured.
    pub(super) commit: usize,
    /// It and those behind it, oldest first.
    pub(super) span: Vec<usize>,
    /// The nearest ancestors that can be measured; none where that is the good side.
    pub(super) frontier: Vec<usize>,
    /// What the span holds of the posterior.
    pub(super) mass: f64,
}

/// The commit that can be measured which holds, with what hides behind it, the most of the
/// posterior.
pub(super) fn hideout(
    graph: &Graph,
    belief: &Belief,
    untestable: &[bool],
) -> Option<UntestableSpan> {
    let mut seen = vec![usize::MAX; graph.len()];
    // Commits that cannot be measured are few, as a rule: most commits hide nothing.
    let mut mass = |commit: usize| {
        if graph.parents(commit).any(|parent| untestable[parent]) {
            behind(graph, belief, untestable, commit, &mut seen).mass
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
    Some(behind(graph, belief, untestable, commit, &mut seen))
}

/// The likeliest commit.
pub fn likeliest(belief: &Belief) -> Option<usize> {
    (0..belief.first.len())
        .max_by(|&a, &b| belief.first[a].total_cmp(&belief.first[b]).then(b.cmp(&a)))
}

/// What hides behind a commit; `seen` says for which commit each was last met.
fn behind(
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
