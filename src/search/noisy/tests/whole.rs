//! Tests of whole searches, from the first advice to the last.

use std::cell::RefCell;

use proptest::prelude::*;

use super::super::super::fixture::{graph, histories};
use super::super::super::{FreshPairs, Side, Step};
use super::*;

/// A whole search, with samples in units of 2ᶦ and shifted by whole units, so that no rounding
/// matters. Returns the places it asked for, and the commit it named.
fn hunt(
    culprit: usize,
    step: f64,
    scale: f64,
    shift: f64,
    of: &Settings,
) -> (Vec<Vec<MeasuredCommit>>, End) {
    let commits = of.prior.len();
    let graph = Graph::line(commits);
    let levels = (0..commits).map(|i| if i < culprit { 0.0 } else { step }).collect();
    let mut engine = Engine::new(levels, culprit as u64);
    // Rounded, so that a shift loses no digits.
    let mut run = move |place| (engine.run(place) * 1024.0).round() / 1024.0 * scale + shift;
    let good: Vec<f64> = (0..24).map(|_| run(MeasuredCommit::Good)).collect();
    let bad: Vec<f64> = (0..24).map(|_| run(MeasuredCommit::Commit(commits - 1))).collect();
    let rule = CalibrationSettings {
        tolerance: 0.0,
        drift: DriftPrior::Never,
        paired: matches!(of.scale, Scale::Levels(Calibration { paired: true, .. })),
    };
    let Ok(found) = calibrate(&good, &bad, rule) else {
        return (vec![], End::Stopped(EndReason::Drifted));
    };
    let settings = Settings { good, bad, scale: Scale::Levels(found), ..of.clone() };
    let mut search = Noisy::new(&graph, settings);
    let run = RefCell::new(run);
    let paired = rule.paired;
    let told = drive(
        &mut search,
        |p| run.borrow_mut()(p),
        |_| false,
        |candidate| {
            let step = Step::between(&found.levels, found.levels.step(), paired);
            let mut claim = FreshPairs::new(step, 0.99);
            let mut fresh = Vec::new();
            while claim.verdict().is_none() && !claim.is_exhausted() {
                let pair = [candidate.against[0], MeasuredCommit::Commit(candidate.commit)];
                let [a, b] = pair.map(|place| run.borrow_mut()(place));
                claim.add(a, b);
                fresh.extend([(pair[0], a), (pair[1], b)]);
            }
            if claim.verdict() == Some(Side::Bad) { Ok(()) } else { Err(fresh) }
        },
    );
    (told.asked, told.end)
}

#[test]
fn neither_unit_nor_origin_change_a_hunt() {
    for of in [settings(300, 1.0, 4), paired(settings(300, 1.0, 4))] {
        for culprit in [0, 33, 150, 299] {
            let (asked, end) = hunt(culprit, 1.5, 1.0, 0.0, &of);
            assert!(asked.len() >= 8, "{end:?}");
            for (scale, shift) in [(4.0, 0.0), (0.125, 0.0), (1.0, 8.0), (16.0, -4.0)] {
                let there = hunt(culprit, 1.5, scale, shift, &of);
                assert_eq!(there.0, asked, "{culprit} times {scale} plus {shift}");
                match (&there.1, &end) {
                    (End::Held(a), End::Held(b)) => {
                        assert_eq!((a.commit, &a.span), (b.commit, &b.span));
                    }
                    (a, b) => assert_eq!(a, b),
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// For any samples, the search ends and asks for no forbidden place.
    #[test]
    fn it_ends_whatever_it_is_told(
        (parents, prior, mut untestable, broken) in histories(24).prop_flat_map(|parents| {
            let size = parents.len();
            let weight = prop_oneof![Just(0.0), Just(1.0), 0.01..9.0_f64];
            let some = || prop::collection::vec(prop::bool::weighted(0.3), size);
            (Just(parents), prop::collection::vec(weight, size), some(), some())
        }),
        replies in prop::collection::vec(prop_oneof![4 => -3.0..9.0_f64, 1 => any::<f64>(), 1 => Just(4.0)], 1..40),
        holds in prop::collection::vec(any::<bool>(), 1..4),
        kind in 0..4,
    ) {
        let graph = graph(&parents);
        let size = parents.len();
        untestable[size - 1] = false;
        let mut of = Settings { prior, untestable, drift: if kind == 1 { DriftPrior::Likely } else { DriftPrior::Never }, ..settings(size, 4.0, 6) };
        if kind == 2 {
            of = paired(of);
        }
        if kind == 3 {
            let ends = [vec![0.0; 6], vec![1.0; 6]];
            of.scale = Scale::Rates(Rates::of(&ends[0], &ends[1]));
            [of.good, of.bad] = ends;
        }
        let mut search = Noisy::new(&graph, of);
        let mut next = replies.iter().cycle();
        let reply = || if kind == 3 { f64::from(u8::from(*next.next().unwrap() > 2.0)) } else { *next.next().unwrap() };
        let reply = RefCell::new(reply);
        let mut holds = holds.iter().cycle();
        drive(
            &mut search,
            |_| reply.borrow_mut()(),
            |commit| broken[commit] && commit != size - 1,
            |candidate| {
                let own = MeasuredCommit::Commit(candidate.commit);
                let places = candidate.against.iter().chain([&own]).copied().collect::<Vec<_>>();
                let fresh = (0..3).flat_map(|_| places.clone()).map(|place| (place, reply.borrow_mut()())).collect();
                if *holds.next().unwrap() { Ok(()) } else { Err(fresh) }
            },
        );
    }
}
