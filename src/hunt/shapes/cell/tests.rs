//! Which runs of a cell show the regression, by each criterion.

use super::*;
use crate::config::Pick;
use crate::evaluation::GuardForm;
use crate::oracle::fixture::{at, config, failed, guard, ppl, reading, seen, target};

const SIDES: [&str; 2] = ["parent", "commit"];

fn told(
    criterion: &Criterion,
    measure: &str,
    parser: &Parser,
    sides: [&Observation; 2],
) -> (Shows, String) {
    shows(criterion, measure, parser, SIDES, sides)
}

fn of_ppl(criterion: &Criterion, parent: &[f64], commit: &[f64]) -> Shows {
    told(criterion, "ppl", &Parser::LlamaPerplexity, [&at('a', parent), &at('b', commit)]).0
}

/// A run of a test program.
fn checks(failed: f64, distance: f64) -> Sample {
    let named = |name| Metric::named("t", name);
    let values = [("failed", failed), ("max_diff", distance), ("passed", 9.0 - failed)];
    reading(values.map(|(name, x)| (named(name), Value::Number(x))))
}

#[test]
fn a_guard_counts_from_the_parent_in_the_same_cell() {
    let one = |form| Criterion::Guards(vec![guard(form)]);
    let amount = one(GuardForm::MaxIncrease(0.5));
    assert_eq!(of_ppl(&amount, &[90.0], &[90.6]), Shows::Difference);
    assert_eq!(of_ppl(&amount, &[90.0], &[90.4]), Shows::Nothing);
    assert_eq!(of_ppl(&amount, &[90.0], &[f64::NAN]), Shows::Difference);
    // Ten per cent of the parent's level here.
    let percent = one(GuardForm::MaxIncreasePercent(10.0));
    assert_eq!(of_ppl(&percent, &[90.0], &[98.0]), Shows::Nothing);
    assert_eq!(of_ppl(&percent, &[90.0], &[100.0]), Shows::Difference);
    let bound = one(GuardForm::Max(7.0));
    assert_eq!(of_ppl(&bound, &[6.0], &[7.5]), Shows::Difference);
    assert_eq!(of_ppl(&bound, &[7.2], &[7.5]), Shows::Unresolved);
    let other = Criterion::Guards(vec![Guard {
        metric: Metric::named("ppl", "x"),
        form: GuardForm::Unchanged,
    }]);
    assert_eq!(of_ppl(&other, &[7.0], &[7.0]), Shows::Unresolved);
}

#[test]
fn a_tolerance_is_about_any_figure_in_either_direction() {
    let tolerance = Criterion::Tolerance(1e-5);
    let shown = |before: Sample, now: Sample| {
        let sides = [&seen('a', "t", [before]), &seen('b', "t", [now])];
        told(&tolerance, "t", &Parser::Parity, sides).0
    };
    assert_eq!(shown(checks(0.0, 1e-7), checks(0.0, 1e-6)), Shows::Nothing);
    assert_eq!(shown(checks(0.0, 1e-7), checks(0.0, 1e-4)), Shows::Difference);
    assert_eq!(shown(checks(0.0, 1e-4), checks(0.0, 1e-7)), Shows::Difference);
    assert_eq!(shown(checks(0.0, f64::NAN), checks(0.0, f64::NAN)), Shows::Nothing);
    assert_eq!(shown(checks(0.0, 1e-7), checks(0.0, f64::NAN)), Shows::Difference);
    assert_eq!(shown(checks(0.0, 1e-7), reading([])), Shows::Unresolved);
}

#[test]
fn more_failed_checks_than_the_parent_has() {
    let shown = |before: f64, now: f64| {
        let sides = [before, now].map(|failed| seen('a', "t", [checks(failed, 0.0)]));
        told(&Criterion::Checks, "t", &Parser::Parity, [&sides[0], &sides[1]]).0
    };
    assert_eq!(shown(0.0, 1.0), Shows::Difference);
    assert_eq!(shown(1.0, 3.0), Shows::Difference);
    assert_eq!(shown(0.0, 0.0), Shows::Nothing);
    assert_eq!(shown(2.0, 0.0), Shows::Nothing);
    assert_eq!(shown(1.0, 1.0), Shows::Unresolved);
    // One exit code is no worse than another.
    let code = |before: f64, now: f64| {
        let sides = [before, now].map(|code| at('a', &[code]));
        told(&Criterion::Checks, "ppl", &Parser::ExitCode, [&sides[0], &sides[1]]).0
    };
    assert_eq!((code(0.0, 3.0), code(1.0, 3.0)), (Shows::Difference, Shows::Unresolved));
    // The output of a test suite that ran nothing.
    let none = seen('a', "t", [reading([])]);
    let nothing = told(&Criterion::Checks, "t", &Parser::Parity, [&none, &none]);
    assert!(nothing.0 == Shows::Unresolved && nothing.1.contains("no check ran"), "{nothing:?}");
    // A number of another parser that is called like the count.
    let pattern = regex::Regex::new("(?<failed>.)").unwrap();
    let regex = Parser::Regex { pattern, pick: Pick::Last };
    let sides = [0.0, 1.0].map(|number| seen('a', "t", [checks(number, 0.0)]));
    let number = told(&Criterion::Checks, "t", &regex, [&sides[0], &sides[1]]);
    assert!(number.0 == Shows::Unresolved && number.1.contains("no check ran"), "{number:?}");
}

#[test]
fn a_failure_of_the_commit_alone_that_repeats() {
    let parser = Parser::LlamaPerplexity;
    let shown = |parent: Vec<Sample>, commit: Vec<Sample>| {
        let sides = [&seen('a', "ppl", parent), &seen('b', "ppl", commit)];
        told(&Criterion::Tolerance(0.1), "ppl", &parser, sides)
    };
    let crash = || failed(FailureKind::Crash, "x");
    let well = || ppl(7.0);
    assert_eq!(shown(vec![well()], vec![crash()]).0, Shows::Difference);
    assert_eq!(shown(vec![well()], vec![well()]).0, Shows::Nothing);
    let both = shown(vec![crash()], vec![crash()]);
    assert_eq!(both, (Shows::Unresolved, "both fail".to_owned()));
    let parent = shown(vec![crash()], vec![well()]);
    assert_eq!(parent, (Shows::Unresolved, "only the parent crashes".to_owned()));
    let once = shown(vec![well(), well()], vec![crash(), well()]);
    assert_eq!(once, (Shows::Unresolved, "the commit fails in 1 of 2 runs".to_owned()));
    // A run that prints nothing, or that lacked memory, says nothing about the commit.
    let silent = shown(vec![well()], vec![failed(FailureKind::Unreadable, "x")]);
    assert_eq!(silent.0, Shows::Unresolved);
    let starved = Sample { starved: true, ..crash() };
    assert_eq!(shown(vec![well()], vec![starved]).0, Shows::Unresolved);
    assert_eq!(shown(vec![well()], vec![]).0, Shows::Unresolved);
}

#[test]
fn runs_in_noise_must_agree() {
    let amount = Criterion::Guards(vec![guard(GuardForm::MaxIncrease(0.5))]);
    assert_eq!(of_ppl(&amount, &[7.0, 7.1, 6.9], &[8.0, 8.1, 7.9]), Shows::Difference);
    assert_eq!(of_ppl(&amount, &[7.0, 7.1, 6.9], &[7.0, 7.2, 7.1]), Shows::Nothing);
    assert_eq!(of_ppl(&amount, &[7.0, 7.1, 6.9], &[7.5, 7.7, 7.4]), Shows::Unresolved);
}

#[test]
fn the_figure_that_is_shown_is_the_one_that_was_compared() {
    let metric = |criterion: &Criterion, parser: &Parser, seen: &Observation| {
        shown_metric(criterion, "t", parser, seen).map(|metric| metric.to_string())
    };
    let suite = seen('a', "t", [checks(0.0, 0.1)]);
    assert_eq!(metric(&Criterion::Checks, &Parser::Parity, &suite).unwrap(), "t.failed");
    let other = Guard { metric: Metric::named("own", "tg"), form: GuardForm::Unchanged };
    let guards = Criterion::Guards(vec![other]);
    assert_eq!(metric(&guards, &Parser::Parity, &suite).unwrap(), "t.tg");
    let regex = Parser::Regex { pattern: regex::Regex::new("(?<tg>.)").unwrap(), pick: Pick::Last };
    let speeds = seen('a', "t", [reading([(Metric::named("t", "tg"), Value::Number(1.0))])]);
    assert_eq!(metric(&Criterion::Tolerance(0.1), &regex, &speeds).unwrap(), "t.tg");
    let own = side(&speeds, Some(&Metric::named("t", "tg")));
    assert_eq!((own.level, own.failure), (Some(Value::Number(1.0)), None));
}

#[test]
fn a_broken_guard_comes_before_the_others_and_these_before_the_tolerance() {
    let config = config("[[guard]]\nmetric = \"ppl\"\nmax = 9\n");
    let measure = |name| config.measure(name).unwrap();
    let of = |name, targets: &[Target], tolerance| {
        criterion(measure(name), targets, &config.guards, tolerance)
    };
    let broken = target(GuardForm::Max(9.0), 7.0, 10.0);
    let only = Criterion::Guards(vec![broken.guard.clone()]);
    assert_eq!(of("ppl", &[Target::Guard(broken)], Some(1.0)), only);
    assert_eq!(of("ppl", &[], Some(1.0)), Criterion::Guards(config.guards.clone()));
    assert_eq!(of("speed", &[], Some(1.0)), Criterion::Tolerance(1.0));
    assert_eq!(of("launch", &[], None), Criterion::Tolerance(0.0));
    let mut suite = measure("speed").clone();
    suite.parser = Parser::Junit;
    assert_eq!(criterion(&suite, &[], &config.guards, None), Criterion::Checks);
}
