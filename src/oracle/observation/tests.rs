use super::*;
use crate::evaluation::FailureKind;
use crate::evaluation::{GuardForm, Resources};
use crate::oracle::fixture::{
    at, checks, failed, fails_alike, launch, ppl, reading, seen, target, unbuildable, unchanged,
};

fn metric() -> Metric {
    Metric::of("ppl")
}

#[test]
fn the_level_is_the_median_of_finite_numbers() {
    assert_eq!(at('a', &[3.0, 1.0, 2.0]).level(&metric()), Some(Value::Number(2.0)));
    assert_eq!(at('a', &[1.0, 2.0]).level(&metric()), Some(Value::Number(1.5)));
    assert_eq!(at('a', &[f64::NAN, 1.0, 5.0]).level(&metric()), Some(Value::Number(3.0)));
    assert_eq!(at('a', &[]).level(&metric()), None);
    let half_failed = seen('a', "ppl", [failed(FailureKind::Crash, "x"), ppl(4.0)]);
    assert_eq!(half_failed.level(&metric()), Some(Value::Number(4.0)));
}

#[test]
fn equal_runs_keep_their_very_bits_as_the_level() {
    // Ten times 0.1, summed and divided, is not 0.1.
    assert_eq!(at('a', &[0.1; 10]).level(&metric()), Some(Value::Number(0.1)));
    assert_eq!(at('a', &[-0.0]).level(&metric()), Some(Value::Number(-0.0)));
    assert_eq!(at('a', &[f64::NAN; 2]).level(&metric()), Some(Value::Number(f64::NAN)));
}

#[test]
fn a_fact_has_a_level_only_where_all_runs_agree() {
    let seen = |facts: [&str; 2]| seen('a', "launch", facts.map(launch));
    let metric = Metric::of("launch");
    assert_eq!(seen(["x", "x"]).level(&metric), Some(Value::Fact("x".to_owned())));
    assert_eq!(seen(["x", "y"]).level(&metric), None);
}

#[test]
fn repeating_means_every_bit_of_every_run() {
    assert!(at('a', &[0.1, 0.1]).repeats(&metric()));
    assert!(!at('a', &[0.1, 0.1_f64.next_up()]).repeats(&metric()));
    assert!(!at('a', &[0.0, -0.0]).repeats(&metric()));
    // A failed run does not repeat the other run's values.
    let half_failed = seen('a', "ppl", [ppl(4.0), failed(FailureKind::Crash, "x")]);
    assert!(!half_failed.repeats(&metric()));
}

#[test]
fn other_values_and_chunks_of_the_same_output_count_for_repeating() {
    let run = |other: f64| {
        reading([
            (metric(), Value::Number(1.0)),
            (Metric::named("ppl", "other"), Value::Number(other)),
        ])
    };
    assert!(seen('a', "ppl", [run(1.0), run(1.0)]).repeats(&metric()));
    assert!(!seen('a', "ppl", [run(1.0), run(2.0)]).repeats(&metric()));
    let chunked = |chunk: f64| {
        let mut sample = ppl(1.0);
        if let Ok(reading) = &mut sample.result {
            reading.chunks = vec![chunk];
        }
        sample
    };
    assert!(!seen('a', "ppl", [chunked(1.0), chunked(2.0)]).repeats(&metric()));
}

#[test]
fn a_time_is_a_metric_of_every_run_and_disturbs_no_other() {
    let timed =
        |wall_s| Sample { used: Resources { wall_s, peak_rss_mib: Some(64.0) }, ..ppl(1.0) };
    let seen = seen('a', "ppl", [timed(1.0), timed(3.0)]);
    let wall = Metric::named("ppl", "wall_s");
    assert_eq!(seen.level(&wall), Some(Value::Number(2.0)));
    assert!(!seen.repeats(&wall));
    assert!(seen.repeats(&metric()));
    assert!(seen.repeats(&Metric::named("ppl", "peak_rss_mib")));
    // A `wall_s` in the run's own output takes precedence.
    let own = reading([(wall.clone(), Value::Number(7.0))]);
    assert_eq!(own.value(&wall), Some(Value::Number(7.0)));
}

#[test]
fn what_failed_has_no_values_but_its_time() {
    let sample = failed(FailureKind::Crash, "x");
    let names: Vec<_> = sample.values("ppl").into_keys().collect();
    assert_eq!(names, [Metric::named("ppl", "wall_s")]);
    assert_eq!(sample.value(&Metric::named("ppl", "wall_s")), None);
}

#[test]
fn measures_are_named_once_and_only_where_a_run_is_needed() {
    let targets = [
        Target::Guard(target(GuardForm::MaxIncrease(1.0), 1.0, 3.0)),
        Target::Guard(unchanged("a", "b")),
        Target::Guard(target(GuardForm::Max(2.0), 1.0, 3.0)),
    ];
    assert_eq!(measures_of(&targets), ["launch", "ppl"]);
    assert!(measures_of(&[fails_alike(None, FailureKind::Build, "x")]).is_empty());
    assert!(unbuildable('a', "x").attempts().is_empty());
}

#[test]
fn a_check_that_fails_by_chance_does_not_fail_in_every_run() {
    let run = |names: &str| {
        let mut sample = ppl(1.0);
        sample.result.as_mut().unwrap().failed = checks(names);
        sample
    };
    let of = |runs: &[&str]| {
        let seen = seen('a', "ppl", runs.iter().map(|names| run(names)));
        seen.always_and_ever_failed("ppl").map(|checks| checks.names())
    };
    assert_eq!(of(&["rope softmax", "rope", "attn rope"]), ["rope", "attn, rope, softmax"]);
    assert_eq!(of(&["rope", "rope"]), ["rope", "rope"]);
    assert_eq!(of(&[]), ["", ""]);
}
