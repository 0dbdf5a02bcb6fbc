use super::*;
use crate::evaluation::{GuardForm, Metric, NoiseKind, Resources, Value};
use crate::oracle::Sample;
use crate::oracle::fixture::{
    at, failed, failure, guard, launch, ppl, reading, seen, target, unbuildable,
};

const UP: GuardForm = GuardForm::MaxIncrease(0.5);

fn chosen(good: &Observation, bad: &Observation, guards: &[Guard]) -> Chosen {
    choose(good, bad, guards, &EndpointPolicy::default())
        .unwrap_or_else(|finding| panic!("{}", finding.summary))
}

fn ended(good: &Observation, bad: &Observation, guards: &[Guard]) -> (Outcome, String) {
    let finding = choose(good, bad, guards, &EndpointPolicy::default()).unwrap_err();
    (finding.outcome, finding.summary)
}

#[test]
fn what_repeats_is_judged_by_the_limit_alone() {
    let chosen = chosen(&at('1', &[6.0; 2]), &at('2', &[7.0; 2]), &[guard(UP)]);
    assert_eq!(chosen.steadiness, SearchMethod::BitIdentical);
    assert_eq!(chosen.targets, [Target::Guard(target(UP, 6.0, 7.0))]);
    assert!(chosen.others.is_empty());
}

#[test]
fn what_varies_is_judged_between_the_levels_that_the_ends_measure() {
    let good = at('1', &[6.0, 6.1, 6.2, 6.1]);
    let bad = at('2', &[7.0, 7.1, 7.2, 7.1]);
    let chosen = chosen(&good, &bad, &[guard(UP)]);
    assert_eq!(chosen.steadiness, SearchMethod::Sequential);
    let [Target::Guard(target)] = chosen.targets.as_slice() else { panic!("{chosen:?}") };
    assert!((target.threshold.unwrap() - 6.6).abs() < 1e-9);
    let noise = target.noise.unwrap();
    assert!((noise.good - 6.1).abs() < 1e-9 && (noise.bad - 7.1).abs() < 1e-9, "{noise:?}");
    assert_eq!((noise.runs, noise.paired), (4, false));
}

#[test]
fn a_speed_is_compared_by_ratios() {
    let speed = guard(GuardForm::MaxDecreasePercent(5.0));
    let good = at('1', &[200.0, 201.0, 199.0, 200.0]);
    let bad = at('2', &[150.0, 151.0, 149.0, 150.0]);
    let chosen = chosen(&good, &bad, &[speed]);
    let [Target::Guard(target)] = chosen.targets.as_slice() else { panic!("{chosen:?}") };
    let noise = target.noise.unwrap();
    assert_eq!(noise.kind, NoiseKind::Log);
    assert!((noise.bad - noise.good - (200.0_f64 / 150.0).ln()).abs() < 1e-3, "{noise:?}");
    // Git cannot choose: the machine may drift, and git's verdicts would need fixed levels.
    assert_eq!(chosen.steadiness, SearchMethod::Posterior);
}

#[test]
fn in_noise_the_tolerance_is_a_percentage_of_the_level_that_the_target_has() {
    // The median of the good runs is 100.5, their level in noise is more.
    let good = at('1', &[100.0, 101.0, 99.0, 108.0]);
    let bad = at('2', &[50.0, 50.5, 49.5, 50.0]);
    let chosen = chosen(&good, &bad, &[guard(GuardForm::MaxDecreasePercent(4.0))]);
    let [Target::Guard(target)] = chosen.targets.as_slice() else { panic!("{chosen:?}") };
    let level = target.baseline.number().unwrap();
    assert!(level > 100.6, "{level}");
    assert!((target.limit - 0.04 * level).abs() < 1e-9, "{} of {level}", target.limit);
}

#[test]
fn targets_that_repeat_decide_the_method_if_others_vary() {
    let with_speed = |digit, ppl: f64, speeds: [f64; 4]| {
        let run = |x| reading([(Metric::of("speed"), Value::Number(x))]);
        let mut all = at(digit, &[ppl; 4]);
        all.samples.insert("speed".to_owned(), speeds.map(run).to_vec());
        all
    };
    let speed = Guard { metric: Metric::of("speed"), form: GuardForm::MaxDecrease(5.0) };
    let good = with_speed('1', 6.0, [100.0, 101.0, 102.0, 101.0]);
    let bad = with_speed('2', 7.0, [50.0, 51.0, 52.0, 51.0]);
    let chosen = chosen(&good, &bad, &[guard(UP), speed]);
    assert_eq!(chosen.steadiness, SearchMethod::BitIdentical);
    let noisy: Vec<bool> = chosen.targets.iter().map(Target::is_noisy).collect();
    assert_eq!(noisy, [false, true]);
}

#[test]
fn values_that_nearly_always_repeat_are_not_noise() {
    let stray = [6.0, 6.0, 9.0, 6.0, 6.0];
    let chosen = chosen(&at('1', &stray), &at('2', &[7.0; 5]), &[guard(UP)]);
    assert_eq!(chosen.targets, [Target::Guard(target(UP, 6.0, 7.0))]);
    assert_eq!(chosen.steadiness, SearchMethod::BitIdentical);
}

#[test]
fn runs_that_overlap_ask_for_more_until_that_is_futile() {
    let guard = guard(UP);
    let looked = |runs: usize| {
        // The endpoints do not move together.
        let around = |level: f64, period: usize| -> Vec<f64> {
            (0..runs)
                .map(|i| level + if (i / period).is_multiple_of(2) { 3.0 } else { -3.0 })
                .collect()
        };
        let (good, bad) = (around(6.0, 1), around(6.9, 2));
        look(&at('1', &good), &at('2', &bad), &guard, &EndpointPolicy::default())
    };
    assert!(matches!(looked(4), GuardCheck::More));
    assert!(matches!(looked(11), GuardCheck::More));
    assert!(matches!(looked(60), GuardCheck::TooNoisy(_) | GuardCheck::NotBroken(_)));
}

#[test]
fn noise_that_hides_a_step_says_what_it_would_take() {
    // A step of 0.8 in noise with a standard deviation of 1.3.
    let around = |level: f64, pattern: [f64; 4]| -> Vec<f64> {
        (0..60).map(|i| level + pattern[i % 4]).collect()
    };
    let good = around(6.0, [1.6, -1.6, 0.8, -0.8]);
    let bad = around(6.8, [0.8, 1.6, -0.8, -1.6]);
    let (outcome, said) = ended(&at('1', &good), &at('2', &bad), &[guard(UP)]);
    assert_eq!(outcome, Outcome::NoiseTooLarge);
    assert!(said.contains("runs of each endpoint would tell"), "{said}");
    assert!(said.contains("tolerance 0.5), 99 % CI "), "{said}");
}

#[test]
fn the_time_of_a_flaky_test_is_a_level() {
    let policy = EndpointPolicy {
        pass_fail: [Metric::of("smoke")].into(),
        error: 0.001,
        ..EndpointPolicy::default()
    };
    let seconds = Metric::named("smoke", "wall_s");
    let guard = [Guard { metric: seconds, form: GuardForm::MaxIncreasePercent(10.0) }];
    let took = |digit, seconds: [f64; 4]| {
        let code = reading([(Metric::of("smoke"), Value::Number(0.0))]);
        seen(
            digit,
            "smoke",
            seconds
                .map(|wall_s| Sample { used: Resources { wall_s, ..code.used }, ..code.clone() }),
        )
    };
    let (good, bad) = (took('1', [1.0, 1.01, 0.99, 1.0]), took('2', [2.0, 2.02, 1.98, 2.0]));
    let chosen = choose(&good, &bad, &guard, &policy).unwrap();
    let [Target::Guard(target)] = chosen.targets.as_slice() else { panic!("{chosen:?}") };
    assert_eq!(target.noise.unwrap().kind, NoiseKind::Log);
}

#[test]
fn a_flaky_test_is_hunted_by_how_often_it_fails() {
    let policy = EndpointPolicy {
        pass_fail: [Metric::of("smoke")].into(),
        error: 0.001,
        ..EndpointPolicy::default()
    };
    let guard = [Guard { metric: Metric::of("smoke"), form: GuardForm::Max(0.0) }];
    let code = |x| reading([(Metric::of("smoke"), Value::Number(x))]);
    let good = seen('1', "smoke", [0.0; 12].map(code));
    let bad =
        seen('2', "smoke", [1.0, 0.0, 1.0, 1.0, 0.0, 1.0, 1.0, 1.0, 0.0, 1.0, 1.0, 1.0].map(code));
    let chosen = choose(&good, &bad, &guard, &policy).unwrap();
    let [Target::Guard(target)] = chosen.targets.as_slice() else { panic!("{chosen:?}") };
    let noise = target.noise.unwrap();
    assert_eq!((noise.kind, chosen.steadiness), (NoiseKind::Breaks, SearchMethod::Posterior));
    assert!(noise.good < 0.15 && noise.bad > 0.5, "{noise:?}");
}

#[test]
fn a_speed_that_falls_back_now_and_then_is_hunted_by_how_often_it_does() {
    let speed = [guard(GuardForm::MaxDecreasePercent(4.0))];
    let fast = |run: usize| 40.0 + 0.1 * (run % 5) as f64;
    let runs = |digit, is_slow: fn(usize) -> bool| {
        let speeds = (0..12).map(|run| if is_slow(run) { fast(run) - 32.0 } else { fast(run) });
        at(digit, &speeds.collect::<Vec<_>>())
    };
    let (good, bad) = (runs('1', |_| false), runs('2', |run| run % 4 != 1));
    let chosen = chosen(&good, &bad, &speed);
    let [Target::Guard(target)] = chosen.targets.as_slice() else { panic!("{chosen:?}") };
    let noise = target.noise.unwrap();
    assert_eq!((noise.kind, chosen.steadiness), (NoiseKind::Breaks, SearchMethod::Posterior));
    assert!(noise.good < 0.15 && noise.bad > 0.5, "{noise:?}");
}

#[test]
fn a_test_that_fails_now_and_then_at_the_good_end_is_not_out_of_bounds_there() {
    fn runs(digit: char, code: fn(usize) -> f64) -> Observation {
        let run = |at| reading([(Metric::of("smoke"), Value::Number(code(at)))]);
        seen(digit, "smoke", (0..20).map(run))
    }
    let policy = EndpointPolicy {
        pass_fail: [Metric::of("smoke")].into(),
        error: 0.001,
        ..EndpointPolicy::default()
    };
    let guard = [Guard { metric: Metric::of("smoke"), form: GuardForm::Max(0.0) }];
    let sometimes = runs('1', |run| f64::from(u8::from(run % 2 == 0)));
    let chosen = choose(&sometimes, &runs('2', |_| 1.0), &guard, &policy).unwrap();
    let [Target::Guard(target)] = chosen.targets.as_slice() else { panic!("{chosen:?}") };
    let noise = target.noise.unwrap();
    assert!(noise.good < 0.7 && noise.bad > 0.9, "{noise:?}");
    // If it fails always, no commit of the range did that.
    let finding = choose(&runs('1', |_| 1.0), &runs('2', |_| 1.0), &guard, &policy).unwrap_err();
    assert!(finding.summary.contains("out of its bounds"), "{}", finding.summary);
}

#[test]
fn without_a_regression_figure_and_tolerance_are_told() {
    let (outcome, said) = ended(&at('1', &[6.0; 2]), &at('2', &[6.25; 2]), &[guard(UP)]);
    assert_eq!(outcome, Outcome::NoRegression);
    assert!(said.contains("ppl 6 → 6.25 (+0.25, tolerance 0.5)"), "{said}");
    // An improvement is no regression either, with and without noise.
    assert_eq!(ended(&at('1', &[7.0; 2]), &at('2', &[6.0; 2]), &[guard(UP)]).0, outcome);
    assert_eq!(
        ended(&at('1', &[7.0, 7.1, 7.0, 7.1]), &at('2', &[6.0, 6.1, 6.0, 6.1]), &[guard(UP)]).0,
        outcome
    );
}

#[test]
fn in_noise_it_is_told_what_the_runs_exclude() {
    let good = at('1', &[6.0, 6.01, 6.02, 5.99]);
    let (outcome, said) = ended(&good, &at('2', &[6.01, 6.0, 6.02, 6.03]), &[guard(UP)]);
    assert_eq!(outcome, Outcome::NoRegression);
    assert!(said.contains("none of 4 runs of bad is worse"), "{said}");
    assert!(said.contains("if they are less than 68 % of the runs"), "{said}");
}

#[test]
fn ends_are_swapped_only_if_bad_is_better_by_more_than_the_noise() {
    let swapped = |good: &[f64], bad: &[f64]| {
        let (outcome, said) = ended(&at('1', good), &at('2', bad), &[guard(UP)]);
        assert_eq!(outcome, Outcome::NoRegression);
        said.contains("were they swapped?")
    };
    assert!(swapped(&[7.0; 2], &[6.0; 2]));
    assert!(swapped(&[7.0, 7.1, 7.02, 7.12], &[6.0, 6.1, 6.02, 6.12]));
    // The level is better by 0.62, but the 99 % interval reaches 0.29 on the worse side.
    assert!(!swapped(&[5.7, 6.3, 5.7, 6.3], &[5.08, 5.08, 5.68, 5.68]));
}

#[test]
fn a_guard_that_holds_decides_nothing() {
    let wide = guard(GuardForm::MaxIncrease(5.0));
    let chosen = chosen(&at('1', &[6.0; 2]), &at('2', &[7.0; 2]), &[wide.clone(), guard(UP)]);
    assert_eq!(chosen.targets.len(), 1);
    assert_eq!(chosen.others.len(), 1);
    assert_eq!(chosen.others[0].guard, wide);
    assert_eq!(chosen.others[0].bad, Some(Value::Number(7.0)));
}

#[test]
fn bounds_that_the_good_end_breaks_already_show_no_regression() {
    for (form, good, bad) in [(GuardForm::Max(5.0), 6.0, 7.0), (GuardForm::Min(9.0), 8.0, 7.0)] {
        let (outcome, said) = ended(&at('1', &[good; 2]), &at('2', &[bad; 2]), &[guard(form)]);
        assert_eq!(outcome, Outcome::NoRegression);
        assert!(said.contains("at the good end already"), "{said}");
    }
}

#[test]
fn a_fact_is_hunted_where_it_repeats() {
    let facts = |digit, facts: [&str; 2]| seen(digit, "launch", facts.map(launch));
    let guard = [Guard { metric: Metric::of("launch"), form: GuardForm::Unchanged }];
    let chosen = chosen(&facts('1', ["x", "x"]), &facts('2', ["y", "y"]), &guard);
    assert_eq!(chosen.steadiness, SearchMethod::BitIdentical);
    let (outcome, said) = ended(&facts('1', ["x", "x"]), &facts('2', ["x", "x"]), &guard);
    assert_eq!(outcome, Outcome::NoRegression);
    assert!(said.contains("launch is unchanged (x)"), "{said}");
    let (outcome, said) = ended(&facts('1', ["x", "x"]), &facts('2', ["x", "y"]), &guard);
    assert_eq!(outcome, Outcome::NoiseTooLarge);
    assert!(said.contains("launch does not repeat from run to run"), "{said}");
}

#[test]
fn a_metric_that_nothing_yields_shows_no_regression() {
    let missing = Guard { metric: Metric::named("ppl", "peak_rss_mib"), form: UP };
    let (outcome, said) = ended(&at('1', &[6.0; 2]), &at('2', &[7.0; 2]), &[missing]);
    assert_eq!(outcome, Outcome::NoRegression);
    assert!(said.contains("did not yield ppl.peak_rss_mib"), "{said}");
}

#[test]
fn a_failure_at_the_bad_end_alone_is_what_is_hunted() {
    for kind in [FailureKind::Crash, FailureKind::Timeout, FailureKind::Nan] {
        let bad = seen('2', "ppl", [failed(kind, "x"), failed(kind, "x")]);
        let chosen = chosen(&at('1', &[6.0; 2]), &bad, &[guard(UP)]);
        let measure = Some("ppl".to_owned());
        assert_eq!(
            chosen.targets,
            [Target::Failure { measure, failure: failure(kind, "x"), checks: None }]
        );
        assert_eq!(chosen.steadiness, SearchMethod::BitIdentical);
    }
    let chosen = chosen(&at('1', &[6.0; 2]), &unbuildable('2', "exit code 2"), &[guard(UP)]);
    assert!(matches!(chosen.targets[..], [Target::Failure { measure: None, .. }]));
}

#[test]
fn a_failure_that_differs_from_run_to_run_cannot_be_hunted() {
    let good = at('1', &[6.0; 2]);
    let crash = |signature: &str| failed(FailureKind::Crash, signature);
    let bad = [crash("signal 11"), crash("signal 6")];
    let (outcome, said) = ended(&good, &seen('2', "ppl", bad), &[guard(UP)]);
    assert_eq!(outcome, Outcome::EndpointUnmeasurable);
    assert!(said.contains("of 2 runs of ppl, not always alike"), "{said}");
}

#[test]
fn a_failure_that_comes_and_goes_is_hunted_by_its_rate() {
    let good = at('1', &[6.0; 20]);
    let bad = |value: f64| {
        let run = |place| if place % 2 == 0 { failed(FailureKind::Nan, "x") } else { ppl(value) };
        seen('2', "ppl", (0..20).map(run))
    };
    let guards = [guard(UP), guard(GuardForm::Max(9.0))];
    let chosen_for = |value| chosen(&good, &bad(value), &guards);
    let found = chosen_for(6.0);
    let [Target::Guard(target)] = &found.targets[..] else { panic!("{:?}", found.targets) };
    assert_eq!(target.failure, Some(Box::new(failure(FailureKind::Nan, "x"))));
    assert_eq!(found.steadiness, SearchMethod::Posterior);
    // The failure is one target, however many guards its measure has.
    let others = |found: &Chosen| found.others.iter().map(|one| one.guard.form).collect::<Vec<_>>();
    assert_eq!(others(&found), [GuardForm::Max(9.0)]);
    // The other runs break the first guard too; this is told, and not searched for.
    let found = chosen_for(7.0);
    assert_eq!((found.targets.len(), others(&found)), (1, vec![UP, GuardForm::Max(9.0)]));
}

#[test]
fn failures_that_say_nothing_of_the_commit_cannot_be_hunted() {
    let good = at('1', &[6.0; 2]);
    for kind in [FailureKind::Incomplete, FailureKind::Unreadable, FailureKind::Require] {
        let bad = seen('2', "ppl", [failed(kind, "x"), failed(kind, "x")]);
        assert_eq!(ended(&good, &bad, &[guard(UP)]).0, Outcome::EndpointUnmeasurable);
    }
    let starved = || Sample { starved: true, ..failed(FailureKind::Crash, "signal 9") };
    let bad = seen('2', "ppl", [starved(), starved()]);
    assert_eq!(ended(&good, &bad, &[guard(UP)]).0, Outcome::EndpointUnmeasurable);
    let bad = Observation { build_starved: true, ..unbuildable('2', "signal 9") };
    assert_eq!(ended(&good, &bad, &[guard(UP)]).0, Outcome::EndpointUnmeasurable);
}

#[test]
fn a_good_end_that_fails_ends_the_hunt_whatever_the_bad_one_does() {
    let crash = || failed(FailureKind::Crash, "signal 11");
    for good in [seen('1', "ppl", [ppl(6.0), crash()]), unbuildable('1', "exit code 2")] {
        for bad in [at('2', &[7.0; 2]), seen('2', "ppl", [crash(), crash()])] {
            let (outcome, said) = ended(&good, &bad, &[guard(UP)]);
            assert_eq!(outcome, Outcome::EndpointUnmeasurable);
            assert!(said.contains("the good endpoint cannot be measured"), "{said}");
            assert!(!said.contains("both"), "{said}");
        }
    }
}

#[test]
fn what_fails_at_both_ends_is_a_mistake_of_the_configuration() {
    let crash = |signature| vec![failed(FailureKind::Crash, signature); 2];
    let end = |name, signature| seen(name, "ppl", crash(signature));
    let (_, alike) = ended(&end('1', "exit code 2"), &end('2', "exit code 2"), &[guard(UP)]);
    assert!(alike.contains("both endpoints fail alike, so the command"), "{alike}");
    let (_, other) = ended(&end('1', "exit code 2"), &end('2', "exit code 3"), &[guard(UP)]);
    assert!(other.contains("both endpoints fail, so the command"), "{other}");
}

#[test]
fn by_hand_every_guard_is_a_target_against_the_good_commit() {
    let guards = [guard(UP), guard(GuardForm::MaxIncreasePercent(10.0))];
    let targets = all_guards_as_targets(&at('1', &[6.0]), &guards, &[]).unwrap();
    let limits: Vec<f64> = targets
        .iter()
        .map(|target| match target {
            Target::Guard(target) => target.limit,
            Target::Failure { .. } => f64::NAN,
        })
        .collect();
    assert_eq!(limits, [0.5, 0.6]);
    assert!(all_guards_as_targets(&unbuildable('1', "exit code 2"), &guards, &[]).is_err());
    assert!(all_guards_as_targets(&at('1', &[]), &guards, &[]).is_err());
}

#[test]
fn a_measure_that_nothing_guards_decides_nothing() {
    let crash = |mut seen: Observation| {
        seen.samples.insert("extra".to_owned(), vec![failed(FailureKind::Crash, "exit code 1"); 2]);
        seen
    };
    let (good, bad) = (crash(at('1', &[6.0; 2])), crash(at('2', &[7.0; 2])));
    assert_eq!(chosen(&good, &bad, &[guard(UP)]).targets, [Target::Guard(target(UP, 6.0, 7.0))]);
}

#[test]
fn endpoints_that_read_different_texts_are_not_compared() {
    let with_chunks = |digit, count: usize| {
        let mut seen = at(digit, &[if digit == '1' { 6.0 } else { 7.0 }; 2]);
        for sample in seen.samples.get_mut("ppl").unwrap() {
            sample.result.as_mut().unwrap().chunks = vec![6.0; count];
        }
        seen
    };
    let (good, bad) = (with_chunks('1', 4), with_chunks('2', 5));
    let (outcome, said) = ended(&good, &bad, &[guard(UP)]);
    assert_eq!(outcome, Outcome::EndpointUnmeasurable);
    assert!(said.contains("ppl read 5 chunks there, and 4 chunks at the good endpoint"), "{said}");
    let same = chosen(&good, &with_chunks('2', 4), &[guard(UP)]);
    let [Target::Guard(target)] = same.targets.as_slice() else { panic!("{same:?}") };
    assert_eq!(target.text.map(|text| text.chunks), Some(4));

    let mut torn = with_chunks('2', 4);
    torn.samples.get_mut("ppl").unwrap()[1].result.as_mut().unwrap().chunks.pop();
    let (outcome, said) = ended(&good, &torn, &[guard(UP)]);
    assert_eq!(outcome, Outcome::EndpointUnmeasurable);
    assert!(said.contains("different amounts of text: 4 chunks, then 3 chunks"), "{said}");
}
