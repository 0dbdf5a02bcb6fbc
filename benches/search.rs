//! How long a search over 100,000 commits takes to choose one, on a line and with a fifth merges.
//!
//! `cargo bench --bench search`. Targets: 1 s for the first commit, and 50 ms for the next one if
//! 3,000 candidates or fewer are left.

#[path = "../examples/noise/world.rs"]
#[expect(dead_code, reason = "shared with an example that uses all of it")]
mod world;

use std::hint::black_box;

use bisect_ppl::search::{
    Advice, CalibrationSettings, DriftPrior, Graph, MeasuredCommit, Noisy, Scale, Settings,
    calibrate,
};
use criterion::{BatchSize, Criterion, criterion_group, criterion_main};
use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;
use world::{Change, Family, World, merged};

const COMMITS: usize = 100_000;
/// The benchmark of the next commit begins when 95 % of the posterior is on at most this many
/// commits.
const LEFT: usize = 3_000;

fn search(criterion: &mut Criterion) {
    let random = || Pcg64Mcg::seed_from_u64(1);
    let histories = [("line", Graph::line(COMMITS)), ("merges", merged(COMMITS, &mut random()))];
    for (name, graph) in histories {
        let mut world = World::new(graph.clone(), Change::Step(3.0), Family::NORMAL, random());
        let first = begin(&graph, &mut world);
        let next = narrowed(first.clone(), &mut world);
        for (which, state) in [("first", first), ("next", next)] {
            criterion.bench_function(&format!("{which} commit, {name}"), |bencher| {
                bencher.iter_batched(
                    || state.clone(),
                    |mut search| black_box(search.advise()),
                    BatchSize::LargeInput,
                );
            });
        }
    }
}

/// A search that has measured its endpoints.
fn begin<'a>(graph: &'a Graph, world: &mut World) -> Noisy<'a> {
    let tip = MeasuredCommit::Commit(graph.len() - 1);
    let mut ends =
        [MeasuredCommit::Good, tip].map(|place| (0..16).map(|_| world.run(place)).collect());
    let [good, bad]: &mut [Vec<f64>; 2] = &mut ends;
    let rule = CalibrationSettings { tolerance: 1.0, drift: DriftPrior::Never, paired: false };
    let found = calibrate(good, bad, rule).expect("the endpoints lie apart");
    let settings = Settings {
        prior: vec![1.0; graph.len()],
        untestable: vec![false; graph.len()],
        good: std::mem::take(good),
        bad: std::mem::take(bad),
        scale: Scale::Levels(found),
        drift: DriftPrior::Never,
        price_of_build: 1.0,
        stored: Vec::new(),
        built: Vec::new(),
    };
    Noisy::new(graph, settings)
}

/// The same search with at most [`LEFT`] candidates. Its last samples are not yet weighed.
fn narrowed<'a>(mut search: Noisy<'a>, world: &mut World) -> Noisy<'a> {
    loop {
        let Advice::Measure(places) = search.advise() else {
            panic!("it was to be looked at before it ends");
        };
        let samples: Vec<f64> = places.iter().map(|place| world.run(*place)).collect();
        search.add_samples(&samples);
        let mut thinking = search.clone();
        thinking.advise();
        if thinking.belief().is_some_and(|belief| belief.smallest_set(0.95).len() <= LEFT) {
            return search;
        }
    }
}

criterion_group!(benches, search);
criterion_main!(benches);
