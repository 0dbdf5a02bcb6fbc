use proptest::prelude::*;

use super::*;
use crate::evaluation::{Guard, GuardForm, NeededChecks, PrintedUnits};
use crate::oracle::fixture::{
    at, checks, commit, config, failed, fails_alike, launch, noisy, ppl, reading, seen, target,
    unbuildable, unchanged,
};

mod failures;
mod forms;

fn guarded(target: GuardTarget) -> [Target; 1] {
    [Target::Guard(target)]
}

/// Treats every value as known, so that one run settles a verdict.
fn decide(seen: &Observation, targets: &[Target]) -> Decision {
    judge(seen, targets, &|_, _| true, &config(""))
}

fn settled(decision: Decision) -> Judgement {
    match decision {
        Decision::Settled(judgement) => judgement,
        Decision::More(count) => panic!("{count} runs are wanted"),
    }
}

/// The verdict on one run with this value; the baseline is 100.
fn one(form: GuardForm, value: f64) -> Verdict {
    let targets = guarded(target(form, 100.0, 200.0));
    settled(decide(&at('a', &[value]), &targets)).verdict
}

/// The decision on these runs between levels at 1 and 3, ten standard deviations apart.
fn runs(samples: Vec<Sample>) -> Decision {
    let targets = guarded(noisy(GuardForm::MaxIncrease(0.5), 1.0, 3.0));
    decide(&seen('a', "ppl", samples), &targets)
}

fn skipped(decision: Decision) -> SkipReason {
    let judgement = settled(decision);
    assert_eq!(judgement.verdict, Verdict::Skip, "{}", judgement.reason);
    judgement.skip.unwrap()
}

#[test]
fn each_form_is_good_at_its_limit_and_bad_beyond() {
    for (form, limit, beyond, better) in [
        (GuardForm::MaxIncrease(5.0), 105.0, 105.001, 1.0),
        (GuardForm::MaxIncreasePercent(5.0), 105.0, 105.001, 1.0),
        (GuardForm::MaxDecrease(5.0), 95.0, 94.999, 900.0),
        (GuardForm::MaxDecreasePercent(5.0), 95.0, 94.999, 900.0),
        (GuardForm::Max(120.0), 120.0, 120.001, 1.0),
        (GuardForm::Min(80.0), 80.0, 79.999, 900.0),
    ] {
        assert_eq!(one(form, limit), Verdict::Good, "{form:?} at its limit");
        assert_eq!(one(form, beyond), Verdict::Bad, "{form:?} beyond it");
        assert_eq!(one(form, better), Verdict::Good, "{form:?} on the better side");
    }
    assert_eq!(one(GuardForm::Unchanged, 100.0), Verdict::Good);
    assert_eq!(one(GuardForm::Unchanged, 100.0_f64.next_up()), Verdict::Bad);
}

#[test]
fn a_fact_is_bad_when_it_changed() {
    let targets = guarded(unchanged("256,1", "512,1"));
    let judged = |text: &str| settled(decide(&seen('a', "launch", [launch(text)]), &targets));
    assert_eq!(judged("256,1").verdict, Verdict::Good);
    assert_eq!(judged("512,1").verdict, Verdict::Bad);
    // A third value is a change too, like the bad endpoint's value.
    let third = judged("64,4");
    assert_eq!(third.verdict, Verdict::Bad);
    assert_eq!(third.broken, [Metric::of("launch")]);
    assert!(third.reason.contains("64,4") && third.reason.contains("256,1"), "{}", third.reason);
}

#[test]
fn the_limit_is_the_good_ends_also_where_the_baseline_moved() {
    // The tolerance is 5 % of 100, although the account moved the baseline to 200.
    let moved = GuardTarget {
        baseline: Value::Number(200.0),
        ..target(GuardForm::MaxIncreasePercent(5.0), 100.0, 300.0)
    };
    let judged = |x| settled(decide(&at('a', &[x]), &guarded(moved.clone()))).verdict;
    assert_eq!(judged(205.0), Verdict::Good);
    assert_eq!(judged(205.5), Verdict::Bad);
}

#[test]
fn what_is_no_number_is_never_good() {
    for x in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        let form = GuardForm::MaxIncrease(0.5);
        assert_eq!(one(form, x), Verdict::Bad, "{x}");
        assert_eq!(one(GuardForm::MaxDecrease(0.5), x), Verdict::Bad, "{x}");
        // The same in noise.
        let targets = guarded(noisy(form, 1.0, 3.0));
        assert_eq!(settled(decide(&at('a', &[x; 3]), &targets)).verdict, Verdict::Bad, "{x}");
    }
}

#[test]
fn a_failure_counts_as_the_configuration_says() {
    let targets = guarded(target(GuardForm::MaxIncrease(0.5), 1.0, 3.0));
    for (kind, key, by_default) in [
        (FailureKind::Crash, "crash", Verdict::Skip),
        (FailureKind::Timeout, "timeout", Verdict::Skip),
        (FailureKind::Nan, "nan", Verdict::Bad),
        (FailureKind::Unreadable, "unreadable", Verdict::Skip),
    ] {
        let seen = seen('a', "ppl", [failed(kind, "x")]);
        let verdict = |config| settled(judge(&seen, &targets, &|_, _| true, &config)).verdict;
        assert_eq!(verdict(config("")), by_default, "{key}");
        for (policy, expected) in [("skip", Verdict::Skip), ("bad", Verdict::Bad)] {
            let config = config(&format!("[failures]\n{key} = \"{policy}\"\n"));
            assert_eq!(verdict(config), expected, "{key} = {policy}");
        }
    }
    let seen = unbuildable('a', "exit code 2");
    let verdict = |config| settled(judge(&seen, &targets, &|_, _| true, &config)).verdict;
    assert_eq!(verdict(config("")), Verdict::Skip);
    assert_eq!(verdict(config("[failures]\nbuild = \"bad\"\n")), Verdict::Bad);
}

#[test]
fn what_is_incomplete_or_lacks_a_requirement_is_never_bad() {
    let all = "[failures]\nbuild = \"bad\"\ncrash = \"bad\"\nnan = \"bad\"\ntimeout = \"bad\"\n\
               unreadable = \"bad\"\n";
    let guard = Target::Guard(target(GuardForm::MaxIncrease(0.5), 1.0, 3.0));
    let crash = fails_alike(Some("ppl"), FailureKind::Crash, "signal 11");
    for (kind, why) in [
        (FailureKind::Incomplete, SkipReason::Incomplete),
        (FailureKind::Require, SkipReason::Require),
    ] {
        let seen = seen('a', "ppl", [failed(kind, "x")]);
        for target in [&guard, &crash] {
            let decision = judge(&seen, std::slice::from_ref(target), &|_, _| true, &config(all));
            assert_eq!(skipped(decision), why);
        }
    }
}

#[test]
fn where_a_failure_is_hunted_only_its_like_is_bad() {
    let targets = [fails_alike(Some("ppl"), FailureKind::Crash, "signal 11")];
    let judged = |sample| decide(&seen('a', "ppl", [sample]), &targets);
    assert_eq!(settled(judged(failed(FailureKind::Crash, "signal 11"))).verdict, Verdict::Bad);
    assert_eq!(settled(judged(ppl(900.0))).verdict, Verdict::Good);
    assert_eq!(skipped(judged(failed(FailureKind::Crash, "signal 6"))), SkipReason::Crash);
    // Even if the configuration calls NaN bad, because it is another defect.
    assert_eq!(skipped(judged(failed(FailureKind::Nan, ""))), SkipReason::Nan);
    let unbuildable = unbuildable('a', "exit code 2");
    assert_eq!(skipped(decide(&unbuildable, &targets)), SkipReason::Build);
}

#[test]
fn where_a_build_failure_is_hunted_building_is_good() {
    let targets = [fails_alike(None, FailureKind::Build, "exit code 2")];
    let verdict = |seen: &Observation| settled(decide(seen, &targets)).verdict;
    assert_eq!(verdict(&at('a', &[])), Verdict::Good);
    assert_eq!(verdict(&unbuildable('a', "exit code 2")), Verdict::Bad);
    assert_eq!(verdict(&unbuildable('a', "timed out")), Verdict::Skip);
}

#[test]
fn a_failure_for_lack_of_a_resource_is_untestable_for_every_target() {
    let starved = Sample { starved: true, ..failed(FailureKind::Crash, "signal 9") };
    let all_bad = config("[failures]\ncrash = \"bad\"\nbuild = \"bad\"\n");
    let guard = Target::Guard(target(GuardForm::MaxIncrease(0.5), 1.0, 3.0));
    let same = fails_alike(Some("ppl"), FailureKind::Crash, "signal 9");
    for target in [guard.clone(), same] {
        let seen = seen('a', "ppl", [starved.clone()]);
        assert_eq!(skipped(judge(&seen, &[target], &|_, _| true, &all_bad)), SkipReason::Resource);
    }
    let mut build = Observation { build_starved: true, ..unbuildable('a', "signal 9") };
    let targets = [guard];
    let skip = |build: &Observation| skipped(judge(build, &targets, &|_, _| true, &all_bad));
    assert_eq!(skip(&build), SkipReason::Resource);
    build.build_failure.as_mut().unwrap().kind = FailureKind::Checkout;
    assert_eq!(skip(&build), SkipReason::Checkout);
}

#[test]
fn a_value_seen_before_needs_one_run_and_a_new_one_repeats_first() {
    let steady = guarded(target(GuardForm::MaxIncrease(0.5), 1.0, 3.0));
    let unseen = |values: &[f64]| judge(&at('a', values), &steady, &|_, _| false, &config(""));
    assert_eq!(unseen(&[]), Decision::More(1));
    // The endpoints' values are known, and so are values of other commits.
    assert_eq!(settled(unseen(&[1.0])).verdict, Verdict::Good);
    assert_eq!(settled(unseen(&[3.0])).verdict, Verdict::Bad);
    assert_eq!(settled(decide(&at('a', &[2.0]), &steady)).verdict, Verdict::Bad);
    assert_eq!(unseen(&[2.0]), Decision::More(2));
    assert_eq!(settled(unseen(&[2.0, 2.0])).verdict, Verdict::Bad);
}

#[test]
fn one_stray_among_runs_that_repeat_decides_nothing() {
    let steady = guarded(target(GuardForm::MaxIncrease(0.5), 1.0, 3.0));
    let unseen = |values: &[f64]| judge(&at('a', values), &steady, &|_, _| false, &config(""));
    assert_eq!(unseen(&[9.0]), Decision::More(2));
    assert_eq!(settled(unseen(&[9.0, 1.0])).verdict, Verdict::Good);
    assert_eq!(unseen(&[9.0, 1.1]), Decision::More(3));
    assert_eq!(settled(unseen(&[9.0, 1.1, 1.1])).verdict, Verdict::Good);
    assert_eq!(skipped(unseen(&[9.0, 1.1, 8.0, 7.0, 6.0])), SkipReason::Unsteady);
    // Last digits that never repeat, far from the threshold.
    let last_digits = |level: f64| [1.0, 2.0, 3.0, 4.0, 5.0].map(|i| level + 1e-8 * i);
    assert_eq!(unseen(&last_digits(1.2)[..4]), Decision::More(5));
    assert_eq!(settled(unseen(&last_digits(1.2))).verdict, Verdict::Good);
    assert_eq!(settled(unseen(&last_digits(2.0))).verdict, Verdict::Bad);
    assert_eq!(skipped(unseen(&last_digits(1.5))), SkipReason::Unsteady);
    // Far from the threshold, but the values differ by more than a tenth of the tolerance: no
    // level.
    let apart = [9.0, 9.1, 9.2, 9.3, 9.4];
    assert_eq!(skipped(unseen(&apart)), SkipReason::Unsteady);
}

#[test]
fn in_noise_runs_are_taken_until_one_level_is_beyond_doubt() {
    let of = |values: &[f64]| runs(values.iter().copied().map(ppl).collect());
    assert_eq!(of(&[]), Decision::More(1));
    assert_eq!(settled(of(&[1.1])).verdict, Verdict::Good);
    assert_eq!(settled(of(&[2.9])).verdict, Verdict::Bad);
    // Nearly midway between levels 10σ apart: little evidence per run.
    assert_eq!(of(&[2.05]), Decision::More(2));
    assert_eq!(settled(of(&[2.05, 2.05, 2.05, 3.0])).verdict, Verdict::Bad);
    assert_eq!(skipped(of(&[2.0; 12])), SkipReason::Unsteady);
    assert!(matches!(of(&[2.0; 11]), Decision::More(12)));
}

#[test]
fn a_run_that_fails_in_noise_makes_the_commit_untestable() {
    let crash = || failed(FailureKind::Crash, "signal 11");
    assert_eq!(skipped(runs(vec![ppl(2.0), crash()])), SkipReason::Crash);
    // NaN is bad, with the largest weight that one run can have.
    assert_eq!(settled(runs(vec![failed(FailureKind::Nan, "")])).verdict, Verdict::Bad);
}

#[test]
fn rates_of_failure_take_many_runs() {
    let mut flaky = target(GuardForm::Max(0.0), 0.0, 0.0);
    flaky.noise = Some(Noise {
        kind: crate::evaluation::NoiseKind::Breaks,
        good: 0.05,
        bad: 0.5,
        sd: 0.0,
        runs: 20,
        paired: false,
        error: 0.001,
    });
    let targets = guarded(flaky);
    let of = |values: &[f64]| decide(&at('a', values), &targets);
    assert_eq!(of(&[0.0; 5]), Decision::More(6));
    assert_eq!(settled(of(&[0.0; 11])).verdict, Verdict::Good);
    assert_eq!(of(&[1.0, 1.0]), Decision::More(3));
    assert_eq!(settled(of(&[1.0, 0.0, 1.0, 1.0, 1.0])).verdict, Verdict::Bad);
}

#[test]
fn bad_wins_over_untestable_and_untestable_over_good() {
    let quality = Target::Guard(target(GuardForm::MaxIncrease(0.5), 1.0, 3.0));
    let guard = Guard { metric: Metric::of("speed"), form: GuardForm::MaxDecrease(5.0) };
    let [good, bad] = [100.0, 50.0].map(Value::Number);
    let speed = Target::Guard(GuardTarget::between(&guard, good, bad, None));
    let judged = |ppl_run: Sample, speed_run: Sample| {
        let mut seen = seen('a', "ppl", [ppl_run]);
        seen.samples.insert("speed".to_owned(), vec![speed_run]);
        let targets = [quality.clone(), speed.clone()];
        let forth = settled(decide(&seen, &targets));
        let [a, b] = targets;
        let back = settled(decide(&seen, &[b, a]));
        assert_eq!(forth.verdict, back.verdict);
        forth
    };
    let fast = |x| reading([(Metric::of("speed"), Value::Number(x))]);
    let crash = || failed(FailureKind::Crash, "signal 11");
    assert_eq!(judged(ppl(1.0), fast(100.0)).verdict, Verdict::Good);
    assert_eq!(judged(crash(), fast(100.0)).verdict, Verdict::Skip);
    assert_eq!(judged(ppl(1.0), crash()).verdict, Verdict::Skip);
    assert_eq!(judged(crash(), fast(50.0)).verdict, Verdict::Bad);
    assert_eq!(judged(ppl(3.0), crash()).verdict, Verdict::Bad);
    let both = judged(ppl(3.0), fast(50.0));
    assert_eq!(both.broken, [Metric::of("ppl"), Metric::of("speed")]);
}

#[test]
fn a_broken_target_needs_no_more_runs_of_another() {
    let broken = Target::Guard(noisy(GuardForm::MaxIncrease(0.5), 1.0, 3.0));
    let open = Target::Guard(noisy(GuardForm::MaxIncrease(0.5), 1.0, 5.0));
    // 2.9 lies at the bad level of the first and midway between those of the second.
    let seen = at('a', &[2.9]);
    for targets in [[broken.clone(), open.clone()], [open, broken]] {
        assert_eq!(settled(decide(&seen, &targets)).verdict, Verdict::Bad);
    }
}

#[test]
fn a_metric_that_the_run_did_not_yield_is_untestable() {
    let guard = Guard { metric: Metric::named("ppl", "other"), form: GuardForm::MaxIncrease(1.0) };
    let targets = guarded(GuardTarget { guard, ..target(GuardForm::MaxIncrease(1.0), 1.0, 3.0) });
    assert_eq!(skipped(decide(&at('a', &[1.0]), &targets)), SkipReason::Unreadable);
}

#[test]
fn without_a_target_everything_is_good() {
    let judged = settled(decide(&at('a', &[900.0]), &[]));
    assert_eq!((judged.verdict, judged.broken.len()), (Verdict::Good, 0));
    assert_eq!(at('a', &[]).commit, commit('a'));
}

/// The forms that look only at the distance from the baseline.
fn relative_form() -> impl Strategy<Value = GuardForm> {
    (0_u8..40, any::<bool>()).prop_map(|(x, up)| {
        let x = f64::from(x) / 4.0;
        if up { GuardForm::MaxIncrease(x) } else { GuardForm::MaxDecrease(x) }
    })
}

fn verdict_of(decision: &Decision) -> (Option<Verdict>, Option<usize>) {
    match decision {
        Decision::Settled(judgement) => (Some(judgement.verdict), None),
        Decision::More(count) => (None, Some(*count)),
    }
}

proptest! {
    // Quarters, so that no sum is rounded.
    #[test]
    fn a_shift_of_all_values_changes_no_verdict(
        runs in prop::collection::vec(-200_i32..200, 1..7),
        (good, bad, shift) in (-100_i32..100, -100_i32..100, -1000_i32..1000),
        form in relative_form(),
        is_noisy: bool,
    ) {
        let quarters = |x: i32| f64::from(x) / 4.0;
        let decide_at = |shift: i32| {
            let (good, bad) = (quarters(good + shift), quarters(bad + shift));
            let target =
                if is_noisy { noisy(form, good, bad) } else { target(form, good, bad) };
            let values: Vec<f64> = runs.iter().map(|x| quarters(x + shift)).collect();
            verdict_of(&decide(&at('a', &values), &guarded(target)))
        };
        prop_assert_eq!(decide_at(0), decide_at(shift));
    }

    #[test]
    fn a_worse_run_never_turns_bad_into_good(
        value in -200_i32..200,
        worse in 1_i32..200,
        form in relative_form(),
    ) {
        let guard = Guard { metric: Metric::of("ppl"), form };
        let sign = guard.worsening(0.0, 1.0);
        let targets = guarded(target(form, 0.0, 3.0));
        let verdict = |x: f64| settled(decide(&at('a', &[x]), &targets)).verdict;
        let (value, worse) = (f64::from(value), f64::from(worse));
        if verdict(value) == Verdict::Bad {
            prop_assert_eq!(verdict(value + sign * worse), Verdict::Bad);
        }
    }
}

#[test]
fn a_check_that_did_not_run_hides_a_failure_and_feigns_a_lower_count() {
    let needed = NeededChecks { known: checks("rope"), new: checks("norm") };
    let judged = |form, good: f64, bad: f64, value: f64, [ran, skipped]: [&str; 2]| {
        let mut run = ppl(value);
        let reading = run.result.as_mut().unwrap();
        (reading.checks, reading.skipped) = (Some(checks(ran)), checks(skipped));
        let target =
            GuardTarget { needed: Some(Box::new(needed.clone())), ..target(form, good, bad) };
        settled(decide(&seen('a', "ppl", [run]), &guarded(target))).verdict
    };
    let failed = |value, checks| judged(GuardForm::Max(0.0), 0.0, 1.0, value, checks);
    assert_eq!(failed(0.0, ["rope softmax", ""]), Verdict::Good);
    assert_eq!(failed(0.0, ["softmax", ""]), Verdict::Skip);
    assert_eq!(failed(0.0, ["rope", "norm"]), Verdict::Skip);
    assert_eq!(failed(1.0, ["softmax", "rope"]), Verdict::Bad, "others fail already");
    let passed = |value, checks| judged(GuardForm::MaxDecrease(0.0), 9.0, 8.0, value, checks);
    assert_eq!(passed(8.0, ["softmax", ""]), Verdict::Skip);
    assert_eq!(passed(8.0, ["rope", ""]), Verdict::Bad);
    assert_eq!(passed(9.0, ["softmax", ""]), Verdict::Good);
}

#[test]
fn a_number_of_another_unit_is_not_judged() {
    let units = |unit: &str| -> PrintedUnits { [unit.to_owned()].into_iter().collect() };
    let target = GuardTarget {
        units: Some(units("kB/s")),
        ..target(GuardForm::MaxDecreasePercent(5.0), 900.0, 700.0)
    };
    let judged = |unit: &str| {
        let mut run = ppl(0.9);
        run.result.as_mut().unwrap().units.insert(Metric::of("ppl"), units(unit));
        decide(&seen('a', "ppl", [run]), &guarded(target.clone()))
    };
    assert_eq!(skipped(judged("MB/s")), SkipReason::OtherUnit);
    // Far from 900, so the missing unit may be another one.
    assert_eq!(skipped(judged("")), SkipReason::OtherUnit);
    assert_eq!(settled(judged("kB/s")).verdict, Verdict::Bad);
}
