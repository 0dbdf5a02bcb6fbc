use proptest::prelude::*;

use super::*;
use crate::evaluation::{Aim, FailureKind, GuardForm, Noise, NoiseKind};
use crate::oracle::fixture::{at, config, failed, launch, noisy, seen, target, unchanged};

const UP: GuardForm = GuardForm::MaxIncrease(0.5);
const DOWN: GuardForm = GuardForm::MaxDecrease(0.5);

fn own(
    commit: &Observation,
    parents: &[Observation],
    target: GuardTarget,
) -> (Option<Effect>, usize) {
    let (mut effects, worst) = effects(
        commit,
        parents,
        &[Target::Guard(target)],
        &config(""),
        SearchTerms::of(Aim::Regression),
    );
    (effects.pop(), worst)
}

#[test]
fn the_step_is_measured_against_the_worst_parent() {
    let parents = [at('b', &[6.1]), at('c', &[6.4]), at('d', &[6.2])];
    let (effect, worst) = own(&at('a', &[7.0]), &parents, target(UP, 6.0, 7.0));
    let effect = effect.unwrap();
    assert_eq!(worst, 1);
    assert_eq!(effect.parent, Value::Number(6.4));
    assert!((effect.own_step.unwrap() - 0.6).abs() < 1e-12);
    // If less is worse, the lowest parent is the worst.
    let (effect, worst) = own(&at('a', &[5.0]), &parents, target(DOWN, 7.0, 5.0));
    assert_eq!(worst, 0);
    assert!((effect.unwrap().own_step.unwrap() - 1.1).abs() < 1e-12);
}

#[test]
fn a_fix_is_measured_against_the_best_parent_and_better_is_positive() {
    let parents = [at('b', &[7.1]), at('c', &[6.8]), at('d', &[7.4])];
    let targets = [Target::Guard(target(UP, 6.0, 7.4))];
    let (effects, best) =
        effects(&at('a', &[6.0]), &parents, &targets, &config(""), SearchTerms::of(Aim::Fix));
    assert_eq!((best, &effects[0].parent), (1, &Value::Number(6.8)));
    assert!((effects[0].own_step.unwrap() - 0.8).abs() < 1e-12);
    assert!(is_large(&effects[0]));
}

#[test]
fn of_equal_parents_the_first_is_the_worst() {
    let parents = [at('b', &[6.0]), at('c', &[6.0])];
    assert_eq!(own(&at('a', &[7.0]), &parents, target(UP, 6.0, 7.0)).1, 0);
}

#[test]
fn a_step_to_the_better_is_negative_and_blames_nobody() {
    let (effect, _) = own(&at('a', &[6.0]), &[at('b', &[7.0])], target(UP, 6.0, 7.0));
    let effect = effect.unwrap();
    assert_eq!(effect.own_step, Some(-1.0));
    assert!(!is_large(&effect));
}

#[test]
fn the_interval_spans_all_pairs_of_runs() {
    let (commit, parent) = (at('a', &[3.0, 4.0, 3.5]), at('b', &[1.0, 1.5]));
    let (effect, _) = own(&commit, &[parent], target(UP, 1.0, 4.0));
    let effect = effect.unwrap();
    assert_eq!(effect.interval, Some([1.5, 3.0]));
    assert_eq!(effect.own_step, Some(3.5 - 1.25));
}

#[test]
fn a_fact_has_no_step_and_is_large_when_it_changed() {
    let of = |commit: &str, parent: &str| {
        let commit = seen('a', "launch", [launch(commit)]);
        let parent = seen('b', "launch", [launch(parent)]);
        own(&commit, &[parent], unchanged("x", "y")).0.unwrap()
    };
    let changed = of("y", "x");
    assert_eq!((changed.own_step, changed.interval), (None, None));
    assert!(is_large(&changed));
    assert!(!is_large(&of("y", "y")));
}

#[test]
fn the_worst_parent_of_a_fact_is_the_one_that_changed_it() {
    let parents = ["x", "z"].map(|text| seen('b', "launch", [launch(text)]));
    let (effect, worst) = own(&seen('a', "launch", [launch("y")]), &parents, unchanged("x", "y"));
    assert_eq!((worst, effect.unwrap().parent), (1, Value::Fact("z".to_owned())));
}

#[test]
fn what_was_not_measured_has_no_effect() {
    let crashed = seen('b', "ppl", [failed(FailureKind::Crash, "signal 11")]);
    let target = target(UP, 6.0, 7.0);
    assert_eq!(own(&at('a', &[7.0]), std::slice::from_ref(&crashed), target.clone()).0, None);
    assert_eq!(own(&crashed, &[at('b', &[7.0])], target).0, None);
    assert_eq!(own(&at('a', &[7.0]), &[], self::target(UP, 6.0, 7.0)).0, None);
}

#[test]
fn exactly_half_the_limit_is_not_blamed() {
    let of =
        |commit: f64| own(&at('a', &[commit]), &[at('b', &[6.0])], target(UP, 6.0, 7.0)).0.unwrap();
    assert!(!is_large(&of(6.25)));
    assert!(!is_large(&of(6.25_f64.next_up())), "a rounding error");
    assert!(is_large(&of(6.2501)));
}

#[test]
fn effects_are_ordered_by_their_size_in_limits() {
    // A step of 0.6 weighs more with a tolerance of 0.5 than of 5. A changed fact outweighs both.
    let wide = target(GuardForm::MaxIncrease(5.0), 6.0, 6.6);
    let narrow = target(UP, 6.0, 6.6);
    let fact = unchanged("x", "y");
    let commit = |ppl: Observation, text: &str| Observation {
        samples: [ppl.samples, seen('a', "launch", [launch(text)]).samples]
            .into_iter()
            .flatten()
            .collect(),
        ..ppl
    };
    let (own, parent) = (commit(at('a', &[6.6]), "y"), commit(at('b', &[6.0]), "x"));
    let targets = [Target::Guard(wide), Target::Guard(narrow), Target::Guard(fact)];
    let (effects, _) =
        effects(&own, &[parent], &targets, &config(""), SearchTerms::of(Aim::Regression));
    let limits: Vec<f64> = effects.iter().map(|effect| effect.limit).collect();
    assert_eq!(limits, [0.0, 0.5, 5.0]);
    assert_eq!(effects[0].metric.measure, "launch");
}

#[test]
fn in_noise_the_interval_is_that_of_the_measured_noise() {
    // A standard deviation of 0.3 and four runs a side, whose median varies as the mean of
    // 1 + 3 · 2/π = 2.91 runs: 1.96 · 0.3 · √(2/2.91).
    let target = Target::Guard(noisy(GuardForm::MaxIncrease(0.5), 6.0, 9.0));
    let (effects, _) = effects(
        &at('2', &[9.0; 4]),
        &[at('1', &[6.0; 4])],
        &[target],
        &config(""),
        SearchTerms::of(Aim::Regression),
    );
    let [low, high] = effects[0].interval.unwrap();
    assert!((low - 2.5125).abs() < 1e-3 && (high - 3.4875).abs() < 1e-3, "{low} {high}");
}

#[test]
fn a_disturbed_run_moves_neither_the_step_nor_its_interval() {
    // The means differ by 16.4, the medians by 12.3.
    let (commit, parent) = (at('2', &[87.7, 75.4, 87.7]), at('1', &[100.0, 100.0, 100.0]));
    let mut slower = noisy(GuardForm::MaxDecrease(4.0), 100.0, 87.7);
    slower.noise = slower.noise.map(|noise| Noise { sd: 1.0, ..noise });
    let effect = own(&commit, &[parent], slower).0.unwrap();
    let (step, [low, high]) = (effect.own_step.unwrap(), effect.interval.unwrap());
    assert!((step - 12.3).abs() < 1e-9, "{step}");
    assert!((f64::midpoint(low, high) - 12.3).abs() < 1e-9, "{low} {high}");
}

#[test]
fn of_a_flaky_metric_the_rates_are_told() {
    let mut flaky = target(GuardForm::Max(0.0), 0.0, 0.0);
    flaky.noise = Some(Noise {
        kind: NoiseKind::Breaks,
        good: 0.1,
        bad: 0.6,
        sd: 0.0,
        runs: 12,
        paired: false,
        error: 0.001,
    });
    let commit = at('2', &[1.0, 0.0, 1.0]);
    let parents = [at('1', &[0.0; 3]), at('3', &[0.0, 1.0, 0.0])];
    let (effects, worst) = effects(
        &commit,
        &parents,
        &[Target::Guard(flaky)],
        &config(""),
        SearchTerms::of(Aim::Regression),
    );
    assert_eq!(worst, 1);
    assert_eq!(effects[0].commit, Value::Fact("fails in 2 of 3 runs".to_owned()));
    assert_eq!(effects[0].parent, Value::Fact("fails in 1 of 3 runs".to_owned()));
    assert!(is_large(&effects[0]));
}

#[test]
fn a_number_beyond_its_tolerance_is_bad_and_a_test_fails() {
    let told = |form| {
        let mut flaky = target(form, 0.0, 1.0);
        flaky.noise = Some(Noise {
            kind: NoiseKind::Breaks,
            good: 0.1,
            bad: 0.6,
            sd: 0.0,
            runs: 12,
            paired: false,
            error: 0.001,
        });
        own(&at('2', &[1.0, 0.0, 1.0]), &[at('1', &[0.0; 3])], flaky).0.unwrap().commit
    };
    assert_eq!(told(UP), Value::Fact("is bad in 2 of 3 runs".to_owned()));
    assert_eq!(told(GuardForm::Max(0.0)), Value::Fact("fails in 2 of 3 runs".to_owned()));
}

proptest! {
    #[test]
    fn a_shift_moves_no_step(
        commit in prop::collection::vec(-200_i32..200, 1..6),
        parents in prop::collection::vec(prop::collection::vec(-200_i32..200, 1..6), 1..4),
        shift in -1000_i32..1000,
        is_up: bool,
    ) {
        // Eighths, so that no median is rounded.
        let of = |shift: i32| {
            let real = |values: &[i32]| -> Vec<f64> {
                values.iter().map(|x| f64::from(x + shift) / 8.0).collect()
            };
            let parents: Vec<_> = parents.iter().map(|p| at('b', &real(p))).collect();
            let zero = f64::from(shift) / 8.0;
            let form = if is_up { UP } else { DOWN };
            let (effect, worst) = own(&at('a', &real(&commit)), &parents, target(form, zero, zero));
            let effect = effect.unwrap();
            (effect.own_step, effect.interval, is_large(&effect), worst)
        };
        prop_assert_eq!(of(0), of(shift));
    }

    #[test]
    fn the_step_lies_within_its_interval_and_no_parent_is_worse(
        commit in prop::collection::vec(-200_i32..200, 1..6),
        parents in prop::collection::vec(prop::collection::vec(-200_i32..200, 1..6), 1..4),
    ) {
        let real = |values: &[i32]| values.iter().map(|x| f64::from(*x) / 8.0).collect::<Vec<_>>();
        let seen: Vec<_> = parents.iter().map(|p| at('b', &real(p))).collect();
        let (effect, worst) = own(&at('a', &real(&commit)), &seen, target(UP, 0.0, 0.0));
        let effect = effect.unwrap();
        let (step, [low, high]) = (effect.own_step.unwrap(), effect.interval.unwrap());
        prop_assert!(low <= step && step <= high, "{low} {step} {high}");
        let level = |seen: &Observation| seen.level(&effect.metric).unwrap().number().unwrap();
        prop_assert!(seen.iter().all(|parent| level(parent) <= level(&seen[worst])));
    }

    #[test]
    fn in_noise_too_the_step_is_that_of_the_levels_and_lies_within_its_interval(
        commit in prop::collection::vec(1.0..200.0_f64, 1..8),
        parent in prop::collection::vec(1.0..200.0_f64, 1..8),
        sd in prop_oneof![Just(0.0), 1e-6..0.5_f64],
        [is_up, is_log, paired, is_fix] in any::<[bool; 4]>(),
    ) {
        let form = match (is_up, is_log) {
            (true, false) => UP,
            (false, false) => DOWN,
            (true, true) => GuardForm::MaxIncreasePercent(4.0),
            (false, true) => GuardForm::MaxDecreasePercent(4.0),
        };
        let kind = if is_log { NoiseKind::Log } else { NoiseKind::Plain };
        let mut target = noisy(form, 100.0, 90.0);
        target.noise = target.noise.map(|noise| Noise { kind, sd, paired, ..noise });
        let terms = SearchTerms::of(if is_fix { Aim::Fix } else { Aim::Regression });
        let guard = target.guard.clone();
        let (effects, _) = effects(
            &at('2', &commit),
            &[at('1', &parent)],
            &[Target::Guard(target)],
            &config(""),
            terms,
        );
        let effect = &effects[0];
        let (step, [low, high]) = (effect.own_step.unwrap(), effect.interval.unwrap());
        prop_assert!(low <= step && step <= high, "{low} {step} {high}");
        let levels = [&effect.parent, &effect.commit].map(|level| level.number().unwrap());
        prop_assert_eq!(Some(step), Some(terms.step(&guard, levels[0], levels[1])));
        // Without noise, the interval is the step itself.
        prop_assert!(sd > 0.0 || high - low <= 1e-9 * (1.0 + step.abs()));
    }
}

#[test]
fn in_noise_an_effect_says_how_many_runs_gave_it() {
    let (commit, parents) = (at('a', &[7.0, 7.1, 7.2]), [at('b', &[6.0, 6.1])]);
    assert_eq!(own(&commit, &parents, noisy(UP, 6.0, 7.0)).0.unwrap().runs, Some([2, 3]));
    assert_eq!(own(&commit, &parents, target(UP, 6.0, 7.0)).0.unwrap().runs, None);
}
