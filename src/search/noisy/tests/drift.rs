//! Tests of paired samples, and of the drift that leads to pairs.

use super::super::super::fixture::assert_close;
use super::*;

#[test]
fn a_paired_search_drops_the_samples_of_a_rejected_candidate() {
    let graph = Graph::line(4);
    let mut search = Noisy::new(&graph, paired(settings(4, 4.0, 6)));
    let Advice::Measure(places) = search.advise() else { panic!() };
    assert_eq!(places.len(), 2);
    let told = drive(
        &mut search,
        |place| if matches!(place, MeasuredCommit::Commit(1..)) { 4.0 } else { 0.0 },
        |_| false,
        |_| Err(vec![(MeasuredCommit::Commit(0), 0.0), (MeasuredCommit::Commit(1), 4.0)]),
    );
    // Both commits are measured again before the next claim.
    let at =
        |commit| told.asked.iter().filter(|p| p.contains(&MeasuredCommit::Commit(commit))).count();
    assert!(at(0) >= 3 && at(1) >= 3, "{:?}", told.asked);
    assert!(search.samples().iter().all(|(place, _)| *place == MeasuredCommit::Commit(3)));
}

#[test]
fn pairs_take_turns() {
    let graph = Graph::line(64);
    let mut search = Noisy::new(&graph, paired(settings(64, 1.0, 8)));
    let mut is_good_first = Vec::new();
    for _ in 0..6 {
        let Advice::Measure(places) = search.advise() else { panic!() };
        is_good_first.push(places[0] == MeasuredCommit::Good);
        // The difference counts, whichever place ran first.
        let samples = places.iter().map(|p| if *p == MeasuredCommit::Good { 100.0 } else { 100.5 });
        search.add_samples(&samples.collect::<Vec<_>>());
        assert_close(search.samples().last().unwrap().1, 0.5);
    }
    assert_eq!(is_good_first, [true, false, true, false, true, false]);
}

#[test]
fn a_drift_leads_to_pairs() {
    let graph = Graph::line(64);
    let drifting = Settings { drift: DriftPrior::Likely, ..settings(64, 3.0, 4) };
    let mut search = Noisy::new(&graph, drifting.clone());
    let mut engine = Engine::new((0..64).map(|i| if i < 20 { 0.0 } else { 3.0 }).collect(), 3);
    // After eight runs of commits, the good endpoint runs again.
    for _ in 0..8 {
        let Advice::Measure(places) = search.advise() else { panic!() };
        assert!(!places.contains(&MeasuredCommit::Good));
        search.add_samples(&[1.5 + f64::from(u8::from(search.runs().is_multiple_of(2)))]);
    }
    assert_eq!(search.advise(), Advice::Measure(vec![MeasuredCommit::Good]));
    // Without a drift, the search goes on and checks again eight runs later.
    let mut quiet = search.clone();
    quiet.add_samples(&[0.0]);
    let Advice::Measure(places) = quiet.advise() else { panic!() };
    assert!(!places.contains(&MeasuredCommit::Good) && !quiet.is_paired());
    // With a drift: six pairs of the endpoints, and only pairs from then on.
    let mut machine = 50.0;
    search.add_samples(&[machine]);
    let mut run = |place| {
        machine += 1.0;
        machine + engine.run(place)
    };
    for round in 0..6 {
        let Advice::Measure(places) = search.advise() else { panic!() };
        let order = endpoint_order(round);
        let expected = order
            .map(|is_good| if is_good { MeasuredCommit::Good } else { MeasuredCommit::Commit(63) });
        assert_eq!(places, expected);
        let samples: Vec<f64> = places.into_iter().map(&mut run).collect();
        search.add_samples(&samples);
    }
    let told = drive(&mut search, run, |_| false, |_| Ok(()));
    assert!(search.is_paired());
    assert_close(search.levels().unwrap().good, 0.0);
    assert!(
        search.samples().iter().all(|(place, x)| *place != MeasuredCommit::Good && x.abs() < 20.0)
    );
    let End::Held(found) = told.end else { panic!("{:?}", told.end) };
    assert_eq!(found.commit, 20);
}

#[test]
fn a_search_ends_if_pairs_show_no_difference() {
    let graph = Graph::line(64);
    let mut search =
        Noisy::new(&graph, Settings { drift: DriftPrior::Likely, ..settings(64, 3.0, 4) });
    let mut engine = Engine::new(vec![0.0; 64], 3);
    let mut looks = 0;
    let run = |place| {
        if place == MeasuredCommit::Good {
            looks += 1;
        }
        engine.run(place) + if looks == 1 { 50.0 } else { 0.0 }
    };
    let told = drive(&mut search, run, |_| false, |_| Ok(()));
    assert_eq!(told.end, End::Stopped(EndReason::Drifted));
}
