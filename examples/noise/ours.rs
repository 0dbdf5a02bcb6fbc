//! Simulates a hunt with the program's own functions; only the runs are made up.

use bisect_ppl::search::{
    Advice, Calibration, CalibrationError, CalibrationSettings, Candidate, DriftPrior, FreshPairs,
    Graph, MeasuredCommit, Noisy, Repeat, Scale, Settings, Side, Step, calibrate, endpoint_order,
    most_runs, repeat, sequential,
};

use super::world::{Purpose, World};

/// How a hunt ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Ending {
    /// One commit, confirmed.
    Named(usize),
    /// One of these commits; no measurement can tell them apart.
    OneOf(Vec<usize>),
    /// No answer.
    Undecided,
    /// The endpoints do not differ, or not beyond their noise.
    Nothing,
}

/// The requested confidence: the program's default.
const CONFIDENCE: f64 = 0.99;

/// A whole hunt. The tolerance is on the oriented scale.
pub(crate) fn hunt(world: &mut World, tolerance: f64, may_drift: bool) -> Ending {
    let tip = MeasuredCommit::Commit(world.graph.len() - 1);
    world.builds(tip);
    world.purpose = Purpose::Endpoints;
    let mut ends: [Vec<f64>; 2] = [Vec::new(), Vec::new()];
    let drift = if may_drift { DriftPrior::Likely } else { DriftPrior::Unlikely };
    let rule = CalibrationSettings { tolerance, drift, paired: false };
    let found = loop {
        for is_good in endpoint_order(ends[0].len().max(ends[1].len())) {
            let place = if is_good { MeasuredCommit::Good } else { tip };
            ends[usize::from(!is_good)].push(world.run(place));
        }
        let [good, bad] = &ends;
        if let Some(values) = repeating(good, bad) {
            if values.1 - values.0 <= tolerance {
                return Ending::Nothing;
            }
            world.purpose = Purpose::Search;
            return exact(world, values);
        }
        match calibrate(good, bad, rule) {
            Ok(found) => break found,
            Err(CalibrationError::More) => {}
            Err(_) => return Ending::Nothing,
        }
    };
    world.purpose = Purpose::Search;
    if found.is_clearly_separated()
        && !may_drift
        && let Some(ending) = with_git(world, &found, tolerance)
    {
        return ending;
    }
    let [good, bad] = ends;
    posterior(world, &found, good, bad, tolerance, drift)
}

/// The values of both endpoints, if both repeat.
fn repeating(good: &[f64], bad: &[f64]) -> Option<(f64, f64)> {
    let settled = |runs: &[f64]| match repeat(runs, |_| false) {
        Repeat::Settled(place) => Some(runs[place]),
        _ => None,
    };
    let is_time = (2..=5).contains(&good.len());
    is_time.then(|| Some((settled(good)?, settled(bad)?))).flatten()
}

/// The commit that git would test next: the one that best halves the commits left.
fn halving(graph: &Graph, left: &[bool], untestable: &[bool]) -> Option<usize> {
    let weights: Vec<f64> = left.iter().map(|is_left| f64::from(u8::from(*is_left))).collect();
    let total: f64 = weights.iter().sum();
    let within = graph.contained(&weights);
    let distance = |commit: &usize| (within[*commit] - total / 2.0).abs();
    (0..graph.len())
        .filter(|&commit| left[commit] && !untestable[commit] && within[commit] < total)
        .min_by(|a, b| distance(a).total_cmp(&distance(b)))
}

/// Searches as git does: the first bad commit, the candidates, whether any verdict was `None`.
fn bisect(
    world: &mut World,
    mut verdict: impl FnMut(&mut World, usize) -> Option<Side>,
) -> (usize, Vec<usize>, bool) {
    let graph = world.graph.clone();
    let mut left = vec![true; graph.len()];
    let mut first = graph.len() - 1;
    let mut untestable = vec![false; graph.len()];
    let mut is_unsteady = false;
    while let Some(commit) = halving(&graph, &left, &untestable) {
        if !world.builds(MeasuredCommit::Commit(commit)) {
            untestable[commit] = true;
            continue;
        }
        let Some(side) = verdict(world, commit) else {
            untestable[commit] = true;
            is_unsteady = true;
            continue;
        };
        let within = graph.ancestors(commit);
        if side == Side::Bad {
            first = commit;
        }
        for (one, is_left) in left.iter_mut().enumerate() {
            *is_left &= within.contains(one) == (side == Side::Bad);
        }
    }
    let span = (0..graph.len()).filter(|&one| left[one] || one == first).collect();
    (first, span, is_unsteady)
}

/// A hunt in which all runs, or nearly all, repeat bit for bit.
fn exact(world: &mut World, (good, bad): (f64, f64)) -> Ending {
    let middle = f64::midpoint(good, bad);
    let side = |x: f64| if x > middle { Side::Bad } else { Side::Good };
    let mut known: Vec<f64> = vec![good, bad];
    let (first, span, is_unsteady) = bisect(world, |world, commit| {
        let x = settled(world, MeasuredCommit::Commit(commit), &known)?;
        known.push(x);
        Some(side(x))
    });
    let parents = frontier(world, &span, first);
    // The confirmation: fresh runs of the commit and its parents.
    world.purpose = Purpose::Confirmation;
    let mut is_at = |place: MeasuredCommit, wanted: Side| {
        settled(world, place, &known).map(side) == Some(wanted)
    };
    let holds = !is_unsteady && is_at(MeasuredCommit::Commit(first), Side::Bad);
    if holds && parents.into_iter().all(|parent| is_at(parent, Side::Good)) {
        answer(first, span)
    } else {
        Ending::Undecided
    }
}

/// The value of a place: the first that another run gave before, in the hunt or at this place;
/// `None` if no value repeats.
fn settled(world: &mut World, place: MeasuredCommit, known: &[f64]) -> Option<f64> {
    let mut runs = vec![world.run(place)];
    loop {
        match repeat(&runs, |x| known.contains(x)) {
            Repeat::Settled(at) => return Some(runs[at]),
            Repeat::More(_) => runs.push(world.run(place)),
            Repeat::Never => return None,
        }
    }
}

fn answer(commit: usize, span: Vec<usize>) -> Ending {
    if span.len() == 1 { Ending::Named(commit) } else { Ending::OneOf(span) }
}

/// The nearest ancestors outside the span.
fn frontier(world: &World, span: &[usize], commit: usize) -> Vec<MeasuredCommit> {
    let mut places = Vec::new();
    for &one in span.iter().chain([&commit]) {
        let parents: Vec<usize> = world.graph.parents(one).collect();
        if parents.is_empty() {
            places.push(MeasuredCommit::Good);
        }
        places
            .extend(parents.into_iter().filter(|p| !span.contains(p)).map(MeasuredCommit::Commit));
    }
    places.sort_unstable();
    places.dedup();
    places
}

/// A sequential search, for levels well apart: git chooses, and each commit is run until decided.
/// `None` if the claim is not confirmed; a posterior search then follows.
fn with_git(world: &mut World, found: &Calibration, tolerance: f64) -> Option<Ending> {
    let steps = (world.graph.len() as f64).log2().ceil().max(1.0);
    let error = (1.0 - CONFIDENCE) / steps;
    let most = most_runs(&found.levels);
    let (first, span, is_unsteady) = bisect(world, |world, commit| {
        let mut runs = Vec::new();
        loop {
            runs.push(world.run(MeasuredCommit::Commit(commit)));
            let side = sequential(&runs, &found.levels, error);
            if side.is_some() || runs.len() >= most {
                return side;
            }
        }
    });
    world.first_claim.get_or_insert_with(|| span.clone());
    let against = frontier(world, &span, first);
    let step = Step::between(&found.levels, found.levels.step(), false);
    let (holds, _) = confirm(world, first, &against, step, tolerance);
    (holds && !is_unsteady).then(|| answer(first, span))
}

/// Makes fresh runs in turn until the step is confirmed or rejected. Returns the runs too.
fn confirm(
    world: &mut World,
    commit: usize,
    against: &[MeasuredCommit],
    step: Step,
    tolerance: f64,
) -> (bool, Vec<(MeasuredCommit, f64)>) {
    world.purpose = Purpose::Confirmation;
    let claim = FreshPairs::new(step, CONFIDENCE).with_smallest_step(tolerance);
    let mut claims = vec![claim; against.len()];
    let mut fresh = Vec::new();
    let mut places: Vec<MeasuredCommit> =
        against.iter().copied().chain([MeasuredCommit::Commit(commit)]).collect();
    loop {
        let round: Vec<(MeasuredCommit, f64)> = places.iter().map(|&p| (p, world.run(p))).collect();
        let of = |place: MeasuredCommit| round.iter().find(|(p, _)| *p == place).expect("it ran").1;
        for (claim, &parent) in claims.iter_mut().zip(against) {
            claim.add(of(parent), of(MeasuredCommit::Commit(commit)));
        }
        fresh.extend(round);
        places.reverse();
        let is_out = |claim: &FreshPairs| {
            claim.verdict() == Some(Side::Good)
                || (claim.verdict().is_none() && claim.is_exhausted())
        };
        if claims.iter().any(is_out) {
            world.purpose = Purpose::Search;
            return (false, fresh);
        }
        if claims.iter().all(|claim| claim.verdict() == Some(Side::Bad)) {
            return (true, fresh);
        }
    }
}

fn posterior(
    world: &mut World,
    found: &Calibration,
    good: Vec<f64>,
    bad: Vec<f64>,
    tolerance: f64,
    drift: DriftPrior,
) -> Ending {
    let graph = world.graph.clone();
    let settings = Settings {
        prior: world.prior.clone(),
        untestable: vec![false; graph.len()],
        good,
        bad,
        scale: Scale::Levels(*found),
        drift,
        price_of_build: 1.0,
        stored: Vec::new(),
        built: Vec::new(),
    };
    let mut search = Noisy::new(&graph, settings);
    loop {
        match search.advise() {
            Advice::Measure(places) => {
                let broken = places.iter().find(|place| !world.builds(**place));
                if let Some(MeasuredCommit::Commit(commit)) = broken {
                    search.untestable(*commit);
                } else {
                    let samples: Vec<f64> = places.iter().map(|p| world.run(*p)).collect();
                    search.add_samples(&samples);
                }
            }
            Advice::Confirm(Candidate { commit, against, span, .. }) => {
                let levels = search.levels().expect("a search between levels");
                let step = Step::between(&levels, search.calibrated_step(), search.is_paired());
                world.first_claim.get_or_insert_with(|| span.clone());
                let (holds, fresh) = confirm(world, commit, &against, step, tolerance);
                if holds {
                    return answer(commit, span);
                }
                search.rejected(&fresh);
            }
            Advice::Stop(_) => return Ending::Undecided,
        }
    }
}
