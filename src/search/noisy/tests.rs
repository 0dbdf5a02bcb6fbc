use rand::{RngExt, SeedableRng};
use rand_distr::{Distribution, StandardNormal};
use rand_pcg::Pcg64Mcg;

use super::super::fixture::levels;
use super::*;

mod drift;
mod whole;

/// Normal runs about a level at good and one at each commit.
struct Engine {
    levels: Vec<f64>,
    random: Pcg64Mcg,
}

impl Engine {
    fn new(levels: Vec<f64>, seed: u64) -> Self {
        Self { levels, random: Pcg64Mcg::seed_from_u64(seed) }
    }

    fn run(&mut self, place: Place) -> f64 {
        let noise: f64 = StandardNormal.sample(&mut self.random);
        noise + if let Place::Commit(commit) = place { self.levels[commit] } else { 0.0 }
    }
}

/// A search from `n` runs of each endpoint that stray by 1 in turn.
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
        may_drift: false,
        price_of_build: 1.0,
    }
}

fn paired(mut settings: Settings) -> Settings {
    let Scale::Levels(found) = &mut settings.scale else { panic!() };
    found.paired = true;
    found.levels.sd = 2.0_f64.sqrt();
    settings
}

/// What a search came to.
#[derive(Clone, Debug, PartialEq)]
enum End {
    Held(Candidate),
    Stopped(Answer),
}

struct Told {
    end: End,
    asked: Vec<Vec<Place>>,
    claims: Vec<Candidate>,
}

/// Goes on until the search ends; panics where it asks for what it must not, or for too much.
fn drive(
    search: &mut Noisy<'_>,
    mut run: impl FnMut(Place) -> f64,
    mut is_broken: impl FnMut(usize) -> bool,
    mut holds: impl FnMut(&Candidate) -> Result<(), Vec<(Place, f64)>>,
) -> Told {
    let mut told = Told { end: End::Stopped(Answer::Exhausted), asked: vec![], claims: vec![] };
    // Runs, a calibration after a drift, commits that do not build, and rejections.
    let most = 2 * MOST_RUNS + 2 * 60 + search.graph.len() + MOST_REJECTED + 1;
    for _ in 0..most {
        let advice = search.advise();
        assert_eq!(search.advise(), advice, "asked twice, it asks for the same");
        match advice {
            Advice::Measure(places) => {
                assert!(!places.is_empty() && places.len() <= 2);
                for place in &places {
                    let Place::Commit(commit) = place else { continue };
                    assert!(!search.untestable[*commit], "{commit} cannot be measured");
                }
                let broken = places.iter().find_map(|place| match place {
                    Place::Commit(commit) if is_broken(*commit) => Some(*commit),
                    _ => None,
                });
                if let Some(commit) = broken {
                    search.untestable(commit);
                } else {
                    let samples: Vec<f64> = places.iter().map(|place| run(*place)).collect();
                    search.told(&samples);
                }
                told.asked.push(places);
            }
            Advice::Confirm(candidate) => {
                assert!(!search.untestable[candidate.commit]);
                assert!(candidate.span.contains(&candidate.commit));
                assert!(candidate.span.is_sorted() && !candidate.against.is_empty());
                for place in &candidate.against {
                    let Place::Commit(commit) = place else { continue };
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

/// A hunt for a step of 4 at `culprit`, where what is claimed holds; how it ended.
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
    let candidate = Candidate { commit: 0, against: vec![Place::Good], span: vec![0], mass: 1.0 };
    assert_eq!(told.end, End::Held(candidate));
}

#[test]
fn a_range_of_two() {
    let graph = Graph::line(2);
    let found = [0, 1].map(|culprit| find(&graph, culprit, settings(2, 4.0, 4)));
    assert_eq!(found.clone().map(|found| found.commit), [0, 1]);
    assert_eq!(found.map(|found| found.against), [[Place::Good], [Place::Commit(0)]]);
}

#[test]
fn every_place_of_a_line_and_of_a_merge() {
    let line = Graph::line(20);
    // 0 ─ 1 ─ 3 ─ 5, and 2 beside: a branch of its own root.
    let merges = Graph::new(&[vec![], vec![0], vec![], vec![1, 2], vec![2], vec![3, 4]]);
    for graph in [line, merges] {
        for culprit in 0..graph.len() {
            for of in [settings(graph.len(), 4.0, 8), paired(settings(graph.len(), 4.0, 8))] {
                let found = find(&graph, culprit, of);
                assert_eq!((found.commit, found.span), (culprit, vec![culprit]));
                let parents: Vec<Place> = graph.parents(culprit).map(Place::Commit).collect();
                let against = if parents.is_empty() { vec![Place::Good] } else { parents };
                assert_eq!(found.against, against);
            }
        }
    }
}

#[test]
fn what_hides_among_commits_that_cannot_be_measured() {
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
    assert_eq!(found.against, [Place::Commit(3)]);
    // Beside it: nothing hides.
    let found = find(&graph, 5, with(&[3, 6]));
    assert_eq!((found.commit, found.span), (5, vec![5]));
    // The beginning: against the good endpoint.
    let found = find(&graph, 0, with(&[0, 1]));
    assert_eq!((found.commit, found.span), (2, vec![0, 1, 2]));
    assert_eq!(found.against, [Place::Good]);
    // Nothing but the endpoint can be measured.
    let found = find(&graph, 7, with(&[0, 1, 2, 3, 4, 5, 6, 7, 8]));
    assert_eq!((found.commit, found.span.len(), found.against), (9, 10, vec![Place::Good]));
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
            told.asked.iter().filter(|places| places.contains(&Place::Commit(broken))).count() <= 1
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
    assert_eq!((found.commit, found.against), (6, vec![Place::Commit(5)]));
    // One that cannot be it stands before one that can and does not build.
    settings.untestable[7] = true;
    let found = find(&graph, 7, settings.clone());
    assert_eq!((found.commit, found.span), (8, vec![7, 8]));
    // None can be it: nothing explains what the endpoints show.
    settings.prior = vec![0.0; 10];
    assert_eq!(Noisy::new(&graph, settings).advise(), Advice::Stop(Answer::Unexplained));
}

/// An answer is kept until it is used; what it says does not depend on how often it is asked.
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
                    search.told(&samples);
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
            let mut places: Vec<Place> = told.asked.into_iter().flatten().collect();
            places.dedup();
            total += places.len();
        }
        total
    };
    let (dear, cheap) = (builds(with_price(50.0)), builds(with_price(0.01)));
    assert!(3 * dear < 2 * cheap, "{dear} builds where they are dear, {cheap} where not");
}

#[test]
fn three_rejections_are_enough() {
    let graph = Graph::line(12);
    for of in [settings(12, 4.0, 6), paired(settings(12, 4.0, 6))] {
        let levels: Vec<f64> = (0..12).map(|i| if i < 6 { 0.0 } else { 4.0 }).collect();
        let mut engine = Engine::new(levels, 4);
        let mut search = Noisy::new(&graph, of);
        let told = drive(&mut search, |place| engine.run(place), |_| false, |_| Err(vec![]));
        assert_eq!(told.end, End::Stopped(Answer::Rejected));
        assert_eq!(told.claims.len(), 3);
    }
}

/// Fresh runs have the last word: where a candidate's did not hold, they lead elsewhere.
#[test]
fn fresh_runs_count() {
    let graph = Graph::line(4);
    let mut search = Noisy::new(&graph, settings(4, 4.0, 4));
    // Two wild runs at 1, which is good.
    let mut wild = 2;
    let run = |place| match place {
        Place::Commit(1) if wild > 0 => {
            wild -= 1;
            4.0
        }
        Place::Commit(commit) if commit >= 2 => 4.0,
        _ => 0.0,
    };
    let fresh: Vec<(Place, f64)> =
        (0..6).flat_map(|_| [(Place::Commit(0), 0.0), (Place::Commit(1), 0.0)]).collect();
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
    // Nothing ever holds still: a commit jumps between the levels run by run.
    for (of, most) in [(settings(8, 0.2, 60), 600), (paired(settings(8, 0.2, 60)), 1200)] {
        let mut search = Noisy::new(&graph, of);
        let mut turn = false;
        let run = |_| {
            turn = !turn;
            if turn { 0.0 } else { 0.2 }
        };
        let told = drive(&mut search, run, |_| false, |_| Err(vec![]));
        assert!(matches!(told.end, End::Stopped(Answer::OutOfRuns | Answer::Exhausted)));
        assert!(search.runs() <= most + 2, "{} runs", search.runs());
    }
}

#[test]
fn what_is_no_number_is_a_run_that_says_nothing() {
    let graph = Graph::line(8);
    for of in [
        settings(8, 4.0, 4),
        paired(settings(8, 4.0, 6)),
        Settings { may_drift: true, ..settings(8, 4.0, 4) },
    ] {
        for x in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let mut search = Noisy::new(&graph, of.clone());
            let before = search.samples().len();
            let told = drive(&mut search, |_| x, |_| false, |_| panic!("nothing was measured"));
            assert_eq!(told.end, End::Stopped(Answer::OutOfRuns));
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
            let is_bad = place >= Place::Commit(culprit);
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
