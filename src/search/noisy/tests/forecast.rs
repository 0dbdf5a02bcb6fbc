//! Tests of what a search would ask for next.

use super::super::forecast::Forecast;
use super::*;

/// Drives a search in which each run gives its side's level, and checks each forecast against what
/// the search asks for. Returns how many commits it asked for.
fn check_forecasts(step: f64, culprit: usize) -> usize {
    let graph = Graph::line(64);
    let mut search = Noisy::new(&graph, settings(64, step, 6));
    let mut asked: Vec<usize> = Vec::new();
    let (mut forecast, mut runs, mut promised) = (Vec::new(), 0, 0);
    while let Advice::Measure(places) = search.advise() {
        let [MeasuredCommit::Commit(commit)] = places[..] else { panic!("{places:?}") };
        if asked.last() != Some(&commit) {
            assert!(runs >= promised, "{runs} runs in place of {promised}: {asked:?}");
            if !asked.is_empty() {
                let known = forecast.iter().find(|next: &&Forecast| next.commit == commit);
                let known = known.unwrap_or_else(|| panic!("{commit} is not in {forecast:?}"));
                (runs, promised) = (0, known.runs);
            }
            forecast = search.forecast(6, |_| false);
            assert!(forecast.len() <= 6 && forecast.iter().all(|next| next.commit != commit));
            asked.push(commit);
        }
        runs += 1;
        let levels = search.levels().unwrap();
        search.add_samples(&[if commit < culprit { levels.good } else { levels.bad }]);
    }
    asked.len()
}

#[test]
fn a_forecast_has_the_next_commit_and_no_run_too_many() {
    for culprit in [5, 20, 50] {
        for step in [2.5, 4.0] {
            assert!(check_forecasts(step, culprit) > 3, "{culprit} {step}");
        }
    }
}

#[test]
fn both_answers_are_followed_and_what_is_done_is_passed_over() {
    let graph = Graph::line(64);
    let mut search = Noisy::new(&graph, settings(64, 4.0, 6));
    let Advice::Measure(places) = search.advise() else { panic!() };
    let [MeasuredCommit::Commit(middle)] = places[..] else { panic!("{places:?}") };
    let of = |found: Vec<Forecast>| -> Vec<usize> {
        found.into_iter().map(|next| next.commit).collect()
    };
    let both = of(search.forecast(2, |_| false));
    assert!(both.iter().any(|one| *one < middle) && both.iter().any(|one| *one > middle));
    let next = of(search.forecast(1, |one| one == both[0]));
    assert!(next.len() == 1 && next != both[..1], "{next:?} after {both:?}");
    assert_eq!(search.advise(), Advice::Measure(places), "the search itself has not moved");
}
