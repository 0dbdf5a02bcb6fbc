//! Compares the readings of one measure at a first bad commit and its parent. Pure.

use crate::config::{LevelTolerance, Parser};
use crate::evaluation::{
    LevelCheck, LevelShows, LogitsChange, Metric, Reading, TensorChange, TensorDifference,
    TensorVerdict, Value, is_count_of_failures,
};
use crate::stats;

/// Factor on the parent's own noise that a difference may reach.
const TIMES_NOISE: f64 = 4.0;

/// Minimum rank correlation of two curves with the same trend.
const SAME_TREND: f64 = 0.9;

/// Why the trend of a measure is not known.
const NO_LOSSES: &str = "its output has no loss for each step";

/// Minimum fall of the commit's loss, as a share of the fall of the parent's loss.
const LEAST_FALL: f64 = 0.5;

/// Compares runs that all gave values. `of`: the parser of the measure.
pub(super) fn compare(
    measure: &str,
    of: &Parser,
    parents: &[&Reading],
    commit: &Reading,
    allowed: LevelTolerance,
) -> LevelCheck {
    let none = LevelCheck { reason: None, ..LevelCheck::unknown(measure, "") };
    let Some(parent) = parents.first() else { return none };
    if allowed == LevelTolerance::Trend {
        if parent.chunks.is_empty() {
            return LevelCheck::unknown(measure, NO_LOSSES);
        }
        let agrees = |again: &&Reading| {
            trend(&again.chunks, &parent.chunks, none.clone()).shows == LevelShows::Passes
        };
        if !parents.iter().all(agrees) {
            return LevelCheck::unknown(measure, "the parent's own runs have no common trend");
        }
        return trend(&parent.chunks, &commit.chunks, none);
    }
    if of.counts_checks() && parents.iter().any(|parent| fails(measure, parent)) {
        return LevelCheck::unknown(measure, "the parent fails the measure too");
    }
    let mut worst: Option<(f64, LevelCheck)> = None;
    let mut missing = None;
    for (metric, before) in &parent.values {
        let Some(after) = commit.values.get(metric) else {
            missing = Some(format!("the commit's output has no {metric}"));
            continue;
        };
        let noise = noise(metric, parents);
        let Some((excess, tolerance)) = excess(metric, of, (before, after), allowed, noise) else {
            continue;
        };
        if worst.as_ref().is_none_or(|(most, _)| excess > *most) {
            let shows = if excess > 1.0 { LevelShows::Fails } else { LevelShows::Passes };
            let check = LevelCheck {
                shows,
                metric: Some(metric.clone()),
                parent: Some(before.clone()),
                commit: Some(after.clone()),
                tolerance: Some(tolerance),
                ..none.clone()
            };
            worst = Some((excess, check));
        }
    }
    let worst = worst.map(|(_, check)| check);
    if let Some(check) = worst.as_ref().filter(|check| check.shows == LevelShows::Fails) {
        return check.clone();
    }
    // A check that did not run did not pass.
    let other = parent.checks().zip(commit.checks()).and_then(|(wanted, ran)| ran.besides(wanted));
    let other = other.map(|other| format!("of the parent's checks, {other}")).or(missing);
    match (other, worst) {
        (Some(reason), _) => LevelCheck::unknown(measure, &reason),
        (None, Some(check)) => check,
        (None, None) => LevelCheck::unknown(measure, "no value says whether it passes"),
    }
}

/// Whether a run has a failed check.
fn fails(measure: &str, reading: &Reading) -> bool {
    let exit_code = || reading.values.get(&Metric::of(measure))?.number();
    reading.failed_checks().or_else(exit_code).is_some_and(|count| count != 0.0)
}

/// The tolerance for the values of a tensor; `None` if only a trend counts.
fn of_values(allowed: LevelTolerance) -> Option<f64> {
    match allowed {
        LevelTolerance::Of(tolerance) => Some(tolerance),
        LevelTolerance::Training { weights, .. } => Some(weights),
        LevelTolerance::Trend => None,
    }
}

/// Compares the tensors of parent and commit, in the order of computation.
pub(super) fn tensors(change: &TensorChange, allowed: LevelTolerance) -> LevelCheck {
    let TensorChange { measure, runs, comparison, .. } = change;
    let none = LevelCheck {
        attempts: runs.iter().map(|run| run.attempt.clone()).collect(),
        ..LevelCheck::unknown(measure, "no tensor could be compared")
    };
    let Some(tolerance) = of_values(allowed) else {
        return LevelCheck { reason: Some("tensors have no trend".to_owned()), ..none };
    };
    let allowed = |one: &TensorDifference| tolerance.max(TIMES_NOISE * one.noise.unwrap_or(0.0));
    let excess = |one: &TensorDifference| match (one.verdict, one.max_abs) {
        (TensorVerdict::NotCompared, _) => None,
        (
            TensorVerdict::Shape
            | TensorVerdict::NonFinite
            | TensorVerdict::Type
            | TensorVerdict::Sum,
            _,
        ) => Some(f64::INFINITY),
        (_, largest) => Some(multiple(largest?, allowed(one))),
    };
    // A different tensor makes all later ones differ, so the first one counts.
    let compared = comparison.tensors.iter().filter_map(|one| Some((excess(one)?, one)));
    let chosen = compared.reduce(
        |chosen, next| {
            if chosen.0 > 1.0 || chosen.0 >= next.0 { chosen } else { next }
        },
    );
    let Some((excess, chosen)) = chosen else { return none };
    let missing = comparison.unmatched[0].len();
    let shows = if excess > 1.0 { LevelShows::Fails } else { LevelShows::Passes };
    // A missing tensor did not pass.
    if shows == LevelShows::Passes && missing > 0 {
        let reason = Some(format!("the commit lacks {missing} of the parent's tensors"));
        return LevelCheck { reason, ..none };
    }
    LevelCheck {
        shows,
        metric: Some(Metric::named(measure, "max_abs")),
        commit: Some(Value::Number(chosen.max_abs.unwrap_or(f64::INFINITY))),
        tolerance: Some(allowed(chosen)),
        reason: Some(match &chosen.remark {
            Some(remark) => format!("{} ({remark})", chosen.name),
            None => chosen.name.clone(),
        }),
        ..none
    }
}

/// Compares the logits of parent and commit, value by value.
pub(super) fn logits(change: &LogitsChange, allowed: LevelTolerance) -> LevelCheck {
    let LogitsChange { measure, difference, noise, attempts, .. } = change;
    let Some(tolerance) = of_values(allowed) else {
        return LevelCheck::unknown(measure, "logits have no trend");
    };
    let noise = noise.as_ref().and_then(|noise| noise.max_abs).unwrap_or(0.0);
    let tolerance = tolerance.max(TIMES_NOISE * noise);
    let is_within = difference.max_abs.filter(|_| difference.positions_left_out == 0);
    let shows = match is_within {
        Some(largest) if largest <= tolerance => LevelShows::Passes,
        _ => LevelShows::Fails,
    };
    LevelCheck {
        measure: measure.clone(),
        shows,
        metric: Some(Metric::named(measure, "max_abs")),
        parent: None,
        commit: Some(Value::Number(difference.max_abs.unwrap_or(f64::INFINITY))),
        tolerance: Some(tolerance),
        reason: None,
        attempts: attempts.clone(),
    }
}

/// The largest difference between the parent's runs.
fn noise(metric: &Metric, parents: &[&Reading]) -> f64 {
    let numbers = parents.iter().filter_map(|reading| reading.values.get(metric)?.number());
    stats::min_max(numbers).map_or(0.0, |[least, most]| most - least)
}

/// The difference in units of the tolerance (above 1 it fails), and the tolerance. `None` for a
/// value that says nothing about the level.
fn excess(
    metric: &Metric,
    of: &Parser,
    (before, after): (&Value, &Value),
    allowed: LevelTolerance,
    noise: f64,
) -> Option<(f64, f64)> {
    let (Some(before), Some(after)) = (before.number(), after.number()) else {
        return Some((if before == after { 0.0 } else { f64::INFINITY }, 0.0));
    };
    let name = metric.name.as_deref().unwrap_or(&metric.measure);
    let tolerance = match allowed {
        LevelTolerance::Of(tolerance) => tolerance,
        LevelTolerance::Training { loss, .. } if name.starts_with("loss") => loss,
        LevelTolerance::Training { weights, .. } => weights,
        LevelTolerance::Trend => return None,
    };
    let tolerance = tolerance.max(TIMES_NOISE * noise);
    let ratio = |difference| multiple(difference, tolerance);
    let count = |more: bool| (if more { f64::INFINITY } else { 0.0 }, 0.0);
    match of {
        Parser::ExitCode => Some(count(after != 0.0 && before == 0.0)),
        Parser::Parity | Parser::Junit => match name {
            name if is_count_of_failures(name) => Some(count(after > before)),
            "passed" | "tests" | "skipped" => None,
            name if name.starts_with("loss") => Some((ratio((after - before).abs()), tolerance)),
            // A distance from a reference: only a larger one is worse.
            _ if after <= tolerance => Some((ratio(0.0), tolerance)),
            _ => Some((ratio(after - before), tolerance)),
        },
        _ => Some((ratio((after - before).abs()), tolerance)),
    }
}

/// A difference in units of the tolerance.
fn multiple(difference: f64, tolerance: f64) -> f64 {
    if difference <= tolerance {
        // Equal values do not exceed a tolerance, not even one of 0.
        (difference.max(0.0) / tolerance.max(f64::MIN_POSITIVE)).min(1.0)
    } else {
        difference / tolerance
    }
}

/// Whether the losses of two long trainings have the same trend.
fn trend(parent: &[f64], commit: &[f64], none: LevelCheck) -> LevelCheck {
    let curves = (parent.first(), parent.last(), commit.first(), commit.last());
    let (Some(start), Some(end), Some(first), Some(last)) = curves else {
        let reason = Some(NO_LOSSES.to_owned());
        return LevelCheck { reason, ..none };
    };
    let Some(correlation) = stats::rank_correlation(parent, commit) else {
        let reason = Some(format!(
            "the losses of {} and {} steps have no common trend",
            parent.len(),
            commit.len()
        ));
        return LevelCheck { reason, ..none };
    };
    let is_same = correlation >= SAME_TREND && first - last >= LEAST_FALL * (start - end);
    let shows = if is_same { LevelShows::Passes } else { LevelShows::Fails };
    let change = |fall: f64| {
        let way = if fall < 0.0 { "rise" } else { "fall" };
        format!("{way} by {:.3}", fall.abs())
    };
    let reason = format!(
        "rank correlation of the losses {correlation:.3}; the parent's {}, the commit's {}",
        change(start - end),
        change(first - last)
    );
    LevelCheck { shows, reason: Some(reason), ..none }
}

#[cfg(test)]
mod tests;
