//! Other methods, for comparison: one run a commit, a majority of three, five runs and a t-test,
//! and a Bayesian bisect on passes and failures.

use bisect_ppl::search::{Classes, Evidence, Likelihood, MeasuredCommit, likeliest};

use super::ours::Ending;
use super::world::World;

/// Maximum number of runs of the Bayesian bisect.
const MOST_RUNS: usize = 600;

/// How another method judges a commit.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Method {
    /// The majority of this many runs. A run is bad if it exceeds the good level by more than half
    /// of the true step.
    Majority(usize),
    /// Welch's t-test of five runs against five of the good endpoint, at 0.5 %.
    Welch,
    /// A Beta–Bernoulli posterior, until one commit has a probability of 0.99. A run is bad by the
    /// same rule.
    Beliefs,
}

/// A hunt along a line by another method. The method is told the size of the step.
pub(crate) fn hunt(world: &mut World, method: Method, step: f64) -> Ending {
    match method {
        Method::Majority(runs) => {
            let base: Vec<f64> = (0..runs).map(|_| world.run(MeasuredCommit::Good)).collect();
            let bar = median(base) + step / 2.0;
            halve(world, |world, commit| {
                let above =
                    (0..runs).filter(|_| world.run(MeasuredCommit::Commit(commit)) > bar).count();
                2 * above > runs
            })
        }
        Method::Welch => {
            let base: Vec<f64> = (0..5).map(|_| world.run(MeasuredCommit::Good)).collect();
            halve(world, |world, commit| {
                let own: Vec<f64> =
                    (0..5).map(|_| world.run(MeasuredCommit::Commit(commit))).collect();
                welch(&base, &own) > 3.355
            })
        }
        Method::Beliefs => beliefs(world, step / 2.0),
    }
}

fn median(mut x: Vec<f64>) -> f64 {
    x.sort_by(f64::total_cmp);
    x[x.len() / 2]
}

fn welch(a: &[f64], b: &[f64]) -> f64 {
    let mean = |x: &[f64]| x.iter().sum::<f64>() / x.len() as f64;
    let error = |x: &[f64]| {
        let centre = mean(x);
        let n = x.len() as f64;
        x.iter().map(|x| (x - centre).powi(2)).sum::<f64>() / (n - 1.0) / n
    };
    (mean(b) - mean(a)) / (error(a) + error(b)).sqrt()
}

/// Bisects a line. If a commit does not build, tests the nearest one that does.
fn halve(world: &mut World, mut is_bad: impl FnMut(&mut World, usize) -> bool) -> Ending {
    // `low` follows the last known good commit; `high` is the first known bad one.
    let (mut low, mut high) = (0, world.graph.len() - 1);
    let mut skipped = vec![false; world.graph.len()];
    loop {
        let middle = usize::midpoint(low, high);
        let open = (low..high).filter(|&commit| !skipped[commit]);
        let Some(commit) = open.min_by_key(|commit| commit.abs_diff(middle)) else { break };
        if !world.builds(MeasuredCommit::Commit(commit)) {
            skipped[commit] = true;
        } else if is_bad(world, commit) {
            high = commit;
        } else {
            low = commit + 1;
        }
    }
    if low == high { Ending::Named(high) } else { Ending::OneOf((low..=high).collect()) }
}

fn beliefs(world: &mut World, bar: f64) -> Ending {
    let graph = world.graph.clone();
    let tip = graph.len() - 1;
    let mut classes = Classes::new(vec![1.0; graph.len()]);
    let mut seen: Vec<Evidence> = Vec::new();
    let mut good = Evidence::default();
    let mut untestable = vec![false; graph.len()];
    let mut commit = tip;
    good.add(f64::from(u8::from(world.run(MeasuredCommit::Good) > bar)));
    for _ in 0..MOST_RUNS {
        let x = f64::from(u8::from(world.run(MeasuredCommit::Commit(commit)) > bar));
        let place = classes.place(&graph, commit);
        seen.resize(seen.len().max(place + 1), Evidence::default());
        seen[place].add(x);
        let Some(belief) = classes.belief(&graph, &Likelihood::PassFail, good, &seen) else {
            commit = tip;
            good.add(f64::from(u8::from(world.run(MeasuredCommit::Good) > bar)));
            continue;
        };
        let best = likeliest(&belief).expect("there are commits");
        if belief.first[best] >= 0.99 {
            return Ending::Named(best);
        }
        loop {
            let open = (0..=tip).filter(|&one| !untestable[one]);
            let distance = |one: &usize| (belief.bad[*one] - 0.5).abs();
            let next = open.min_by(|a, b| distance(a).total_cmp(&distance(b)));
            commit = next.expect("the bad endpoint builds");
            if world.builds(MeasuredCommit::Commit(commit)) {
                break;
            }
            untestable[commit] = true;
        }
    }
    Ending::Undecided
}
