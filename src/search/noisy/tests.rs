use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, StandardNormal};
use rand_pcg::Pcg64Mcg;

use super::super::fixture::levels;
use super::claims::MOST_REJECTED;
use super::*;

mod drift;
mod forecast;
mod lead;
mod whole;

/// A fake engine with normal noise about the level of good and of each commit.
struct Engine {
    levels: Vec<f64>,
    random: Pcg64Mcg,
}

impl Engine {
    fn new(levels: Vec<f64>, seed: u64) -> Self {
        Self { levels, random: Pcg64Mcg::seed_from_u64(seed) }
    }

    fn run(&mut self, place: MeasuredCommit) -> f64 {
        let noise: f64 = StandardNormal.sample(&mut self.random);
        noise + if let MeasuredCommit::Commit(commit) = place { self.levels[commit] } else { 0.0 }
    }
}

/// Settings from `n` runs of each endpoint, alternately 1 above and 1 below the level.
fn settings(commits: usize, step: f64, n: usize) -> Settings {
    let about = |level: f64, period: usize| -> Vec<f64> {
        (0..n)
            .map(|i| if (i / period).is_multiple_of(2) { level - 1.0 } else { level + 1.0 })
            .collect()
    };
    let found = Calibration { levels: levels(0.0, step, 1.0), paired: false, runs: n };
    Settings {
        prior: vec![1.0; commits],
        untestable: vec![false; commits],
        good: about(0.0, 1),
        bad: about(step, 2),
        scale: Scale::Levels(found),
        drift: DriftPrior::Never,
        price_of_build: 1.0,
        stored: Vec::new(),
        built: Vec::new(),
    }
}

fn paired(mut settings: Settings) -> Settings {
    let Scale::Levels(found) = &mut settings.scale else { panic!() };
    found.paired = true;
    found.levels.sd = 2.0_f64.sqrt();
    settings
}

/// How a search ended.
#[derive(Clone, Debug, PartialEq)]
enum End {
    Held(Candidate),
    Stopped(EndReason),
}

struct Transcript {
    end: End,
    asked: Vec<Vec<MeasuredCommit>>,
    claims: Vec<Candidate>,
}

/// Drives the search to its end; panics if it asks for a forbidden place or for too many runs.
fn drive(
    search: &mut Noisy<'_>,
    mut run: impl FnMut(MeasuredCommit) -> f64,
    mut is_broken: impl FnMut(usize) -> bool,
    mut holds: impl FnMut(&Candidate) -> Result<(), Vec<(MeasuredCommit, f64)>>,
) -> Transcript {
    let mut told =
        Transcript { end: End::Stopped(EndReason::Exhausted), asked: vec![], claims: vec![] };
    // Runs, a calibration after a drift, untestable commits, and rejections.
    let most = 2 * MOST_RUNS + 2 * 60 + search.graph.len() + MOST_REJECTED + 1;
    for _ in 0..most {
        let advice = search.advise();
        assert_eq!(search.advise(), advice, "asked twice, it asks for the same");
        match advice {
            Advice::Measure(places) => {
                assert!(!places.is_empty() && places.len() <= 2);
                for place in &places {
                    let MeasuredCommit::Commit(commit) = place else { continue };
                    assert!(!search.untestable[*commit], "{commit} cannot be measured");
                }
                let broken = places.iter().find_map(|place| match place {
                    MeasuredCommit::Commit(commit) if is_broken(*commit) => Some(*commit),
                    _ => None,
                });
                if let Some(commit) = broken {
                    search.untestable(commit);
                } else {
                    let samples: Vec<f64> = places.iter().map(|place| run(*place)).collect();
                    search.add_samples(&samples);
                }
                told.asked.push(places);
            }
            Advice::Confirm(candidate) => {
                assert!(!search.untestable[candidate.commit]);
                assert!(candidate.span.contains(&candidate.commit));
                assert!(candidate.span.is_sorted() && !candidate.against.is_empty());
                for place in &candidate.against {
                    let MeasuredCommit::Commit(commit) = place else { continue };
                    assert!(!search.untestable[*commit] && !candidate.span.contains(commit));
                }
                told.claims.push(candidate.clone());
                match holds(&candidate) {
                    Ok(()) => {
                        told.end = End::Held(candidate);
                        return told;
                    }
                    Err(fresh) => search.rejected(&fresh),
                }
            }
            Advice::Stop(answer) => {
                told.end = End::Stopped(answer);
                return told;
            }
        }
    }
    panic!("it does not end: {:?}", told.asked.last());
}

/// Searches for a step of 4 at `culprit`, with every claim confirmed; returns the candidate.
fn find(graph: &Graph, culprit: usize, settings: Settings) -> Candidate {
    let step: Vec<f64> = (0..graph.len()).map(|i| if i == culprit { 4.0 } else { 0.0 }).collect();
    let mut engine = Engine::new(graph.contained(&step), 1);
    let mut search = Noisy::new(graph, settings);
    match drive(&mut search, |place| engine.run(place), |_| false, |_| Ok(())).end {
        End::Held(candidate) => candidate,
        End::Stopped(answer) => panic!("{answer:?}"),
    }
}

#[test]
fn a_range_of_one_commit_is_confirmed_at_once() {
    let graph = Graph::line(1);
    let mut search = Noisy::new(&graph, settings(1, 4.0, 4));
    let told = drive(&mut search, |_| unreachable!(), |_| false, |_| Ok(()));
    let candidate =
        Candidate { commit: 0, against: vec![MeasuredCommit::Good], span: vec![0], mass: 1.0 };
    assert_eq!(told.end, End::Held(candidate));
}

#[test]
fn a_range_of_two() {
    let graph = Graph::line(2);
    let found = [0, 1].map(|culprit| find(&graph, culprit, settings(2, 4.0, 4)));
    assert_eq!(found.clone().map(|found| found.commit), [0, 1]);
    assert_eq!(
        found.map(|found| found.against),
        [[MeasuredCommit::Good], [MeasuredCommit::Commit(0)]]
    );
}

#[test]
fn every_place_of_a_line_and_of_a_merge() {
    let line = Graph::line(20);
    // 0 ─ 1 ─ 3 ─ 5, and 2, a branch with its own root.
    let merges = Graph::new(&[vec![], vec![0], vec![], vec![1, 2], vec![2], vec![3, 4]]);
    for graph in [line, merges] {
        for culprit in 0..graph.len() {
            for of in [settings(graph.len(), 4.0, 8), paired(settings(graph.len(), 4.0, 8))] {
                let found = find(&graph, culprit, of);
                assert_eq!((found.commit, found.span), (culprit, vec![culprit]));
                let parents: Vec<MeasuredCommit> =
                    graph.parents(culprit).map(MeasuredCommit::Commit).collect();
                let against = if parents.is_empty() { vec![MeasuredCommit::Good] } else { parents };
                assert_eq!(found.against, against);
            }
        }
    }
}

#[test]
fn a_first_bad_commit_among_untestable_ones_gives_a_span() {
    let graph = Graph::line(10);
    let with = |untestable: &[usize]| {
        let mut settings = settings(10, 4.0, 4);
        for &commit in untestable {
            settings.untestable[commit] = true;
        }
        settings
    };
    let found = find(&graph, 5, with(&[4, 5]));
    assert_eq!((found.commit, found.span), (6, vec![4, 5, 6]));
    assert_eq!(found.against, [MeasuredCommit::Commit(3)]);
    // Untestable commits elsewhere: the span is one commit.
    let found = find(&graph, 5, with(&[3, 6]));
    assert_eq!((found.commit, found.span), (5, vec![5]));
    // Untestable commits at the beginning: compared with the good endpoint.
    let found = find(&graph, 0, with(&[0, 1]));
    assert_eq!((found.commit, found.span), (2, vec![0, 1, 2]));
    assert_eq!(found.against, [MeasuredCommit::Good]);
    // Only the endpoint is testable.
    let found = find(&graph, 7, with(&[0, 1, 2, 3, 4, 5, 6, 7, 8]));
    assert_eq!(
        (found.commit, found.span.len(), found.against),
        (9, 10, vec![MeasuredCommit::Good])
    );
}

#[test]
fn what_turns_out_not_to_build_is_passed_over() {
    let graph = Graph::line(10);
    let levels = (0..10).map(|i| if i < 5 { 0.0 } else { 4.0 }).collect();
    let mut engine = Engine::new(levels, 2);
    let mut search = Noisy::new(&graph, settings(10, 4.0, 4));
    let told =
        drive(&mut search, |p| engine.run(p), |commit| commit == 4 || commit == 5, |_| Ok(()));
    let End::Held(found) = told.end else { panic!("{:?}", told.end) };
    assert_eq!((found.commit, found.span), (6, vec![4, 5, 6]));
    for broken in [4, 5] {
        assert!(
            told.asked
                .iter()
                .filter(|places| places.contains(&MeasuredCommit::Commit(broken)))
                .count()
                <= 1
        );
    }
}

#[test]
fn a_commit_that_cannot_be_it_is_measured_but_never_named() {
    let graph = Graph::line(10);
    let mut settings = settings(10, 4.0, 4);
    for commit in [0, 1, 2, 4, 5, 8] {
        settings.prior[commit] = 0.0;
    }
    let found = find(&graph, 6, settings.clone());
    assert_eq!((found.commit, found.against), (6, vec![MeasuredCommit::Commit(5)]));
    // A testable commit with prior 0 stands for an untestable one with prior above 0.
    settings.untestable[7] = true;
    let found = find(&graph, 7, settings.clone());
    assert_eq!((found.commit, found.span), (8, vec![7, 8]));
    // Prior 0 everywhere: no commit explains the endpoints.
    settings.prior = vec![0.0; 10];
    assert_eq!(Noisy::new(&graph, settings).advise(), Advice::Stop(EndReason::Unexplained));
}

/// Advice stays the same until it is answered, however often it is asked for.
#[test]
fn asking_again_changes_nothing() {
    let graph = Graph::line(50);
    let levels: Vec<f64> = (0..50).map(|i| if i < 30 { 0.0 } else { 1.5 }).collect();
    let hunt = |times: usize| {
        let mut engine = Engine::new(levels.clone(), 9);
        let mut search = Noisy::new(&graph, settings(50, 1.5, 8));
        let mut asked = Vec::new();
        loop {
            for _ in 1..times {
                search.advise();
            }
            match search.advise() {
                Advice::Measure(places) => {
                    let samples: Vec<f64> = places.iter().map(|place| engine.run(*place)).collect();
                    search.add_samples(&samples);
                    asked.push(places);
                }
                end => return (asked, end, search.levels()),
            }
        }
    };
    assert_eq!(hunt(1), hunt(5));
}

#[test]
fn it_stays_while_the_built_commit_tells_enough() {
    let graph = Graph::line(128);
    let with_price = |price_of_build| Settings { price_of_build, ..settings(128, 1.5, 12) };
    let builds = |settings| {
        let mut total = 0;
        for seed in 0..20 {
            let levels = (0..128).map(|i| if i < 90 { 0.0 } else { 1.5 }).collect();
            let mut engine = Engine::new(levels, seed);
            let mut search = Noisy::new(&graph, Settings::clone(&settings));
            let told = drive(&mut search, |place| engine.run(place), |_| false, |_| Ok(()));
            let mut places: Vec<MeasuredCommit> = told.asked.into_iter().flatten().collect();
            places.dedup();
            total += places.len();
        }
        total
    };
    let (dear, cheap) = (builds(with_price(50.0)), builds(with_price(0.01)));
    assert!(3 * dear < 2 * cheap, "{dear} builds where they are dear, {cheap} where not");
}

/// Of nearly equal splits, the one that costs no build is taken, unless another costs nothing.
#[test]
fn a_commit_that_is_built_is_taken_before_its_equals() {
    let graph = Graph::line(128);
    let with_build = |commit: usize| {
        let mut built = vec![false; 128];
        built[commit] = true;
        Settings { built, ..settings(128, 3.0, 8) }
    };
    let first = |settings: Settings| match Noisy::new(&graph, settings).advise() {
        Advice::Measure(places) => places,
        other => panic!("{other:?}"),
    };
    assert_eq!(first(with_build(55)), [MeasuredCommit::Commit(55)]);
    assert_eq!(first(with_build(30)), first(settings(128, 3.0, 8)), "it tells too little");
    let mut stored = vec![0; 128];
    stored[57] = 2;
    assert_eq!(first(Settings { stored, ..with_build(58) }), [MeasuredCommit::Commit(57)]);
}

/// Of nearly equal splits, the one that costs nothing is taken, as long as it has stored runs.
#[test]
fn a_commit_with_stored_runs_is_taken_before_its_equals() {
    let graph = Graph::line(128);
    let with_stored = |commit: usize| {
        let mut stored = vec![0; 128];
        stored[commit] = 2;
        Settings { stored, ..settings(128, 3.0, 8) }
    };
    let first = |settings: Settings| match Noisy::new(&graph, settings).advise() {
        Advice::Measure(places) => places,
        other => panic!("{other:?}"),
    };
    let middle = first(settings(128, 3.0, 8));
    assert_eq!(first(with_stored(55)), [MeasuredCommit::Commit(55)]);
    // It tells too little, or its runs are no use, since samples are differences.
    assert_eq!(first(with_stored(30)), middle);
    assert_eq!(first(paired(with_stored(55))), first(paired(settings(128, 3.0, 8))));
    // With both stored runs taken it is a commit like others.
    let mut search = Noisy::new(&graph, with_stored(55));
    let mut asked = Vec::new();
    for _ in 0..3 {
        let Advice::Measure(places) = search.advise() else { panic!("a search in its beginning") };
        // Halfway between the levels, so that no side becomes likelier.
        search.add_samples(&[1.5]);
        asked.extend(places);
    }
    let at = MeasuredCommit::Commit(55);
    assert_eq!(asked[..2], [at, at]);
}

#[test]
fn three_rejections_are_enough() {
    let graph = Graph::line(12);
    for of in [settings(12, 4.0, 6), paired(settings(12, 4.0, 6))] {
        let levels: Vec<f64> = (0..12).map(|i| if i < 6 { 0.0 } else { 4.0 }).collect();
        let mut engine = Engine::new(levels, 4);
        let mut search = Noisy::new(&graph, of);
        let told = drive(&mut search, |place| engine.run(place), |_| false, |_| Err(vec![]));
        assert_eq!(told.end, End::Stopped(EndReason::Rejected));
        assert_eq!(told.claims.len(), 3);
    }
}

/// Fresh runs that reject a candidate lead the search to another commit.
#[test]
fn fresh_runs_count() {
    let graph = Graph::line(4);
    let mut search = Noisy::new(&graph, settings(4, 4.0, 4));
    // Two outliers at commit 1, which is good.
    let mut wild = 2;
    let run = |place| match place {
        MeasuredCommit::Commit(1) if wild > 0 => {
            wild -= 1;
            4.0
        }
        MeasuredCommit::Commit(commit) if commit >= 2 => 4.0,
        _ => 0.0,
    };
    let fresh: Vec<(MeasuredCommit, f64)> = (0..6)
        .flat_map(|_| [(MeasuredCommit::Commit(0), 0.0), (MeasuredCommit::Commit(1), 0.0)])
        .collect();
    let holds =
        |candidate: &Candidate| if candidate.commit == 1 { Err(fresh.clone()) } else { Ok(()) };
    let told = drive(&mut search, run, |_| false, holds);
    let commits: Vec<usize> = told.claims.iter().map(|claim| claim.commit).collect();
    assert_eq!(commits, [1, 2]);
    assert!(search.runs() >= 8 + 12);
}

#[test]
fn runs_come_to_an_end() {
    let graph = Graph::line(8);
    // Successive runs alternate between the levels.
    for (of, most) in [(settings(8, 0.2, 60), 600), (paired(settings(8, 0.2, 60)), 1200)] {
        let mut search = Noisy::new(&graph, of);
        let mut turn = false;
        let run = |_| {
            turn = !turn;
            if turn { 0.0 } else { 0.2 }
        };
        let told = drive(&mut search, run, |_| false, |_| Err(vec![]));
        assert!(matches!(told.end, End::Stopped(EndReason::OutOfRuns | EndReason::Exhausted)));
        assert!(search.runs() <= most + 2, "{} runs", search.runs());
    }
}

#[test]
fn a_value_that_is_not_finite_counts_only_as_a_run() {
    let graph = Graph::line(8);
    for of in [
        settings(8, 4.0, 4),
        paired(settings(8, 4.0, 6)),
        Settings { drift: DriftPrior::Likely, ..settings(8, 4.0, 4) },
    ] {
        for x in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let mut search = Noisy::new(&graph, of.clone());
            let before = search.samples().len();
            let told = drive(&mut search, |_| x, |_| false, |_| panic!("nothing was measured"));
            assert_eq!(told.end, End::Stopped(EndReason::OutOfRuns));
            assert_eq!(search.samples().len(), before);
        }
    }
}

#[test]
fn rates_find_their_commit() {
    let graph = Graph::line(64);
    let ends = [vec![0.0; 8], vec![1.0; 8]];
    let rates = Rates::of(&ends[0], &ends[1]);
    let [good, bad] = ends;
    for culprit in [0, 17, 62, 63] {
        let of = Settings {
            good: good.clone(),
            bad: bad.clone(),
            scale: Scale::Rates(rates),
            ..settings(64, 1.0, 8)
        };
        let mut random = Pcg64Mcg::seed_from_u64(culprit as u64);
        // Good fails once in twenty runs, bad passes once in twenty.
        let mut run = |place| {
            let is_bad = place >= MeasuredCommit::Commit(culprit);
            let is_odd = random.random::<f64>() < 0.05;
            f64::from(u8::from(is_bad != is_odd))
        };
        let mut search = Noisy::new(&graph, of);
        assert_eq!((search.levels(), search.rates()), (None, Some(rates)));
        let told = drive(&mut search, &mut run, |_| false, |_| Ok(()));
        let End::Held(found) = told.end else { panic!("{:?}", told.end) };
        assert_eq!(found.commit, culprit);
    }
}
