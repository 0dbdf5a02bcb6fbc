//! Real hunts in random histories: the planted commit is named or among the candidates, whatever
//! the shape.
//!
//! `HUNTS=300 cargo test --all-features --test it properties::` tries more of them.

use std::collections::{BTreeSet, HashSet};
use std::convert::Infallible;

use proptest::prelude::*;
use scm_bisect::basic::{BasicSourceControlGraph, BasicStrategy, BasicStrategyKind};
use scm_bisect::search::{Search, Status};

use crate::kit::{History, Hunt, Oracle, TestEnvironment, graph};

/// The guard's tolerance, in hundredths like all levels here.
const LIMIT: u32 = 20;
const GOOD: u32 = 700;
const BAD: u32 = 750;
/// The most by which a value may exceed its level. It varies by run or by commit.
const WAVER: u32 = 9;

fn config() -> ProptestConfig {
    let given = std::env::var("HUNTS").ok().and_then(|hunts| hunts.parse().ok());
    ProptestConfig {
        cases: given.unwrap_or(4),
        max_shrink_iters: 40,
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// Commits by number, parents first, each parent smaller than its child.
#[derive(Clone, Debug)]
struct World {
    parents: Vec<Vec<usize>>,
    /// The commit that adds the step; all its descendants are bad too.
    planted: usize,
    good: usize,
    bad: usize,
    unbuildable: BTreeSet<usize>,
    /// What the n-th run of a commit prints.
    values: Vec<Vec<u32>>,
}

impl World {
    fn is_ancestor(&self, old: usize, new: usize) -> bool {
        old == new || self.parents[new].iter().any(|parent| self.is_ancestor(old, *parent))
    }

    fn is_built(&self, commit: usize) -> bool {
        !self.unbuildable.contains(&commit)
    }

    /// Best common ancestors of the endpoints.
    fn merge_bases(&self) -> Vec<usize> {
        let is_common =
            |one: &usize| self.is_ancestor(*one, self.good) && self.is_ancestor(*one, self.bad);
        let common: Vec<usize> = (0..self.parents.len()).filter(is_common).collect();
        let is_best = |one: &usize| {
            !common.iter().any(|other| other != one && self.is_ancestor(*one, *other))
        };
        common.iter().copied().filter(|one| is_best(one)).collect()
    }

    fn level(&self, commit: usize) -> u32 {
        let mut values = self.values[commit].clone();
        values.sort_unstable();
        values[values.len() / 2]
    }

    fn is_bad(&self, commit: usize) -> bool {
        self.level(commit) > self.level(self.good) + LIMIT
    }

    /// First bad commits by definition: bad, no bad parent, and a step of their own.
    fn first_bad(&self) -> Vec<usize> {
        let own_step = |one: usize| {
            let worst = self.parents[one].iter().map(|parent| self.level(*parent)).max();
            self.level(one).saturating_sub(worst.unwrap_or_default())
        };
        let is_between =
            |one: usize| self.is_ancestor(one, self.bad) && !self.is_ancestor(one, self.good);
        let is_first = |one: &usize| {
            is_between(*one)
                && self.is_bad(*one)
                && self.parents[*one].iter().all(|parent| !self.is_bad(*parent))
                && own_step(*one) > LIMIT / 2
        };
        (0..self.parents.len()).filter(is_first).collect()
    }

    /// Whether the planted commit and its parents all build.
    fn is_decidable(&self) -> bool {
        let parents = &self.parents[self.planted];
        self.is_built(self.planted)
            && !parents.is_empty()
            && parents.iter().all(|parent| self.is_built(*parent))
    }

    fn hunt(&self) -> (TestEnvironment, History, Hunt) {
        let commits: Vec<String> = (0..self.parents.len()).map(|one| self.commit(one)).collect();
        let commits: Vec<&str> = commits.iter().map(String::as_str).collect();
        let mut plan = graph(&commits);
        for (one, values) in self.values.iter().enumerate() {
            let words: Vec<String> =
                values.iter().map(|value| format!("{:.2}", f64::from(*value) / 100.0)).collect();
            plan = plan.with(one, &format!("ppl = {}", words.join(" ")));
        }
        let env = TestEnvironment::new();
        let history = plan.build(&env);
        Oracle::new(&env).write(&env);
        let [good, bad] = [self.good, self.bad].map(|end| history.commit(end).to_owned());
        let hunt = env.start(&["--good", &good, "--bad", &bad]);
        (env, history, hunt)
    }

    fn commit(&self, one: usize) -> String {
        let parents: Vec<String> = self.parents[one].iter().map(usize::to_string).collect();
        let word = if self.is_built(one) { "g" } else { "x" };
        format!("{one} < {}: {word}", parents.join(" "))
    }
}

/// The commits that a hunt named, and whether they are culprits, not candidates.
fn named(history: &History, hunt: &Hunt) -> (bool, BTreeSet<usize>) {
    let numbers = |labels: Vec<String>| labels.iter().map(|label| label.parse().unwrap()).collect();
    match hunt.output.code() {
        Some(0) => (true, numbers(hunt.culprits(history))),
        Some(3) => (false, numbers(hunt.candidates(history))),
        code => panic!("{code:?}: {}", hunt.output.stderr),
    }
}

/// Random input for one commit: its parents, whether it builds, how its values vary.
#[derive(Clone, Debug)]
struct Seed {
    first: prop::sample::Index,
    second: Option<prop::sample::Index>,
    is_root: bool,
    is_built: bool,
    wavers: Vec<u32>,
}

fn seed(wavers: impl Strategy<Value = Vec<u32>>) -> impl Strategy<Value = Seed> {
    let index = any::<prop::sample::Index>;
    let second = prop::option::weighted(0.35, index());
    let (is_root, is_built) = (prop::bool::weighted(0.05), prop::bool::weighted(0.8));
    (index(), second, is_root, is_built, wavers).prop_map(
        |(first, second, is_root, is_built, wavers)| Seed {
            first,
            second,
            is_root,
            is_built,
            wavers,
        },
    )
}

fn seeds(length: std::ops::Range<usize>) -> impl Strategy<Value = Vec<Seed>> {
    let steady = prop::collection::vec(0..=WAVER, 1);
    let noisy = prop::collection::vec(0..=WAVER, 7);
    prop_oneof![
        3 => prop::collection::vec(seed(steady), length.clone()),
        1 => prop::collection::vec(seed(noisy), length),
    ]
}

fn values(seeds: &[Seed], is_bad: impl Fn(usize) -> bool) -> Vec<Vec<u32>> {
    let of = |(one, seed): (usize, &Seed)| {
        let level = if is_bad(one) { BAD } else { GOOD };
        seed.wavers.iter().map(|off| level + off).collect()
    };
    seeds.iter().enumerate().map(of).collect()
}

/// A world of any shape: merges, several roots, endpoints on different branches.
fn world() -> impl Strategy<Value = World> {
    let index = any::<prop::sample::Index>;
    (seeds(3..14), index(), index(), index()).prop_filter_map(
        "good and bad need a common ancestor",
        |(seeds, planted, good, bad)| {
            let mut parents: Vec<Vec<usize>> = Vec::new();
            for (one, seed) in seeds.iter().enumerate() {
                let chosen = if one == 0 || seed.is_root {
                    BTreeSet::new()
                } else {
                    // Mostly the previous commit, or most commits are side branches.
                    let first = if seed.wavers[0] > 2 { one - 1 } else { seed.first.index(one) };
                    seed.second.iter().map(|second| second.index(one)).chain([first]).collect()
                };
                parents.push(chosen.into_iter().rev().collect());
            }
            let planted = 1 + planted.index(parents.len() - 1);
            let mut world = World {
                parents,
                planted,
                good: 0,
                bad: 0,
                unbuildable: BTreeSet::new(),
                values: Vec::new(),
            };
            let all = 0..seeds.len();
            let (after, others): (Vec<usize>, Vec<usize>) =
                all.clone().partition(|one| world.is_ancestor(planted, *one));
            (world.good, world.bad) = (*good.get(&others), *bad.get(&after));
            world.values = values(&seeds, |one| world.is_ancestor(planted, one));
            world.unbuildable = all
                .filter(|one| !seeds[*one].is_built && *one != world.good && *one != world.bad)
                .collect();
            (!world.merge_bases().is_empty()).then_some(world)
        },
    )
}

fn a_line() -> impl Strategy<Value = World> {
    (seeds(3..24), any::<prop::sample::Index>()).prop_map(|(seeds, planted)| {
        let last = seeds.len() - 1;
        let planted = 1 + planted.index(last);
        World {
            parents: (0..=last).map(|one| one.checked_sub(1).into_iter().collect()).collect(),
            planted,
            good: 0,
            bad: last,
            unbuildable: (1..last).filter(|one| !seeds[*one].is_built).collect(),
            values: values(&seeds, |one| one >= planted),
        }
    })
}

impl BasicSourceControlGraph for World {
    type Node = usize;
    type Error = Infallible;

    fn ancestors(&self, node: usize) -> Result<HashSet<usize>, Infallible> {
        Ok((0..self.parents.len()).filter(|one| self.is_ancestor(*one, node)).collect())
    }

    fn descendants(&self, node: usize) -> Result<HashSet<usize>, Infallible> {
        Ok((0..self.parents.len()).filter(|one| self.is_ancestor(node, *one)).collect())
    }
}

/// The candidates of another library for bisection, which gets the right verdict on each commit.
fn second_opinion(world: &World) -> BTreeSet<usize> {
    let mut search = Search::new(world.clone(), 0..world.parents.len());
    let strategy = BasicStrategy::new(BasicStrategyKind::Binary);
    search.notify(world.good, Status::Success).unwrap();
    search.notify(world.bad, Status::Failure).unwrap();
    loop {
        let next = search.search(&strategy).unwrap().next_to_search.next();
        let Some(one) = next.transpose().unwrap() else { break };
        let status = match (world.is_built(one), world.is_bad(one)) {
            (false, _) => Status::Indeterminate,
            (true, true) => Status::Failure,
            (true, false) => Status::Success,
        };
        search.notify(one, status).unwrap();
    }
    let bounds = search.search(&strategy).unwrap().bounds;
    let below = |ends: HashSet<usize>| world.ancestors_all(ends).unwrap();
    let (bad, good) = (below(bounds.failure), below(bounds.success));
    bad.difference(&good).copied().collect()
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn the_commit_that_did_it_is_named_or_among_the_candidates(world in world()) {
        prop_assert_eq!(world.first_bad(), [world.planted]);
        let (env, history, hunt) = world.hunt();
        env.assert_no_survivors();
        if hunt.output.code() == Some(4) {
            let bases = world.merge_bases();
            prop_assert!(bases.iter().any(|base| !world.is_built(*base)), "{}", hunt.output.stderr);
            return Ok(());
        }
        let (is_sure, said) = named(&history, &hunt);
        prop_assert!(said.contains(&world.planted), "{said:?}\n{}", hunt.output.stderr);
        let testable = said.iter().filter(|one| world.is_built(**one)).count();
        prop_assert!(testable <= 1, "{said:?}: two that could have been told apart");
        if world.is_decidable() {
            prop_assert!(is_sure && said.len() == 1, "{said:?}\n{}", hunt.output.stderr);
        }
    }

    #[test]
    #[ignore = "long: scripts/test --long"]
    fn on_a_line_another_search_says_the_same(world in a_line()) {
        let (_env, history, hunt) = world.hunt();
        let (is_sure, said) = named(&history, &hunt);
        let theirs = second_opinion(&world);
        prop_assert_eq!(&said, &theirs, "{}", hunt.output.stderr);
        prop_assert_eq!(is_sure, theirs.len() == 1);
    }
}
