//! Whether a commit shows its regression in one cell of a sweep. Pure.

use crate::config::{Measure, MeasureKind, Parser};
use crate::evaluation::{
    CellSide, Failure, FailureKind, Guard, Metric, Reading, Resource, Shows, SweptCell, Target,
    Value, exceeds_limit,
};
use crate::oracle::{Observation, Sample};

/// What counts as the regression in the cells of a measure.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Criterion {
    /// These guards, against the parent in the same cell.
    Guards(Vec<Guard>),
    /// A number that moves by more than this, in its own unit.
    Tolerance(f64),
    /// More failed checks than at the parent.
    Checks,
}

/// The criterion of a measure: the guards on it that the bad end breaks (`targets`), else all
/// guards on it, else the tolerance, else its failed checks. A fact may not change.
pub(super) fn criterion(
    measure: &Measure,
    targets: &[Target],
    guards: &[Guard],
    tolerance: Option<f64>,
) -> Criterion {
    let broken: Vec<&Guard> =
        targets.iter().filter_map(Target::guard).map(|target| &target.guard).collect();
    let of_measure = |guards: &[&Guard]| -> Vec<Guard> {
        let own = guards.iter().filter(|guard| guard.metric.measure == measure.name);
        own.map(|guard| (*guard).clone()).collect()
    };
    let all: Vec<&Guard> = guards.iter().collect();
    for own in [of_measure(&broken), of_measure(&all)] {
        if !own.is_empty() {
            return Criterion::Guards(own);
        }
    }
    match tolerance {
        Some(tolerance) => Criterion::Tolerance(tolerance),
        None if measure.kind == MeasureKind::Fact => Criterion::Tolerance(0.0),
        None => Criterion::Checks,
    }
}

impl Criterion {
    /// Whether the numbers of a cell differ, in either direction, by no more than the criterion
    /// allows. False for counts of checks.
    pub(super) fn is_within(&self, cell: &SweptCell) -> bool {
        let numbers = [&cell.parent, &cell.commit].map(|side| side.level.as_ref()?.number());
        let [Some(parent), Some(commit)] = numbers else { return false };
        if parent.to_bits() == commit.to_bits() {
            return false;
        }
        match self {
            Self::Guards(guards) => guards.first().is_some_and(|guard| {
                let [before, now] = [parent, commit].map(Value::Number);
                !guard.is_broken(&before, &now) && !guard.is_broken(&now, &before)
            }),
            Self::Tolerance(tolerance) => (commit - parent).abs() <= *tolerance,
            Self::Checks => false,
        }
    }
}

/// What one run of the better side and one of the worse side show.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Compared {
    Difference(String),
    Nothing(String),
    Unknown(String),
}

/// What the runs of a cell show, and why. `sides`: the names of the better and the worse side;
/// `seen`: their runs.
pub(super) fn shows(
    criterion: &Criterion,
    measure: &str,
    parser: &Parser,
    sides: [&str; 2],
    seen: [&Observation; 2],
) -> (Shows, String) {
    let comparison = CellComparison { criterion, measure, parser, sides };
    let compared = comparison.compare_all(seen);
    let is_all = |is: fn(&Compared) -> bool| compared.iter().all(is);
    match compared.first() {
        Some(Compared::Difference(why)) if is_all(|one| matches!(one, Compared::Difference(_))) => {
            (Shows::Difference, why.clone())
        }
        Some(Compared::Nothing(why)) if is_all(|one| matches!(one, Compared::Nothing(_))) => {
            (Shows::Nothing, why.clone())
        }
        Some(Compared::Unknown(why)) if is_all(|one| matches!(one, Compared::Unknown(_))) => {
            (Shows::Unresolved, why.clone())
        }
        Some(_) => (Shows::Unresolved, comparison.disagreement(seen[1].of(measure))),
        None => (Shows::Unresolved, "no run counts".to_owned()),
    }
}

/// Whether some runs of a cell show the regression and others do not. The arguments are those of
/// [`shows`].
pub(super) fn do_runs_disagree(
    criterion: &Criterion,
    measure: &str,
    parser: &Parser,
    sides: [&str; 2],
    seen: [&Observation; 2],
) -> bool {
    let compared = CellComparison { criterion, measure, parser, sides }.compare_all(seen);
    let has = |is: fn(&Compared) -> bool| compared.iter().any(is);
    has(|one| matches!(one, Compared::Difference(_)))
        && has(|one| matches!(one, Compared::Nothing(_)))
}

/// The metric that the report shows for a cell: the criterion's metric.
pub(super) fn shown_metric(
    criterion: &Criterion,
    measure: &str,
    parser: &Parser,
    seen: &Observation,
) -> Option<Metric> {
    match (criterion, parser) {
        (Criterion::Guards(guards), _) => guards.first().map(|guard| in_cell(guard, measure)),
        (_, Parser::Parity) => Some(Metric::named(measure, "failed")),
        (_, Parser::Junit) => Some(Metric::named(measure, "failures")),
        (Criterion::Tolerance(_) | Criterion::Checks, _) => {
            let own = |metric: &Metric| Resource::of(metric).is_none();
            let yielded = seen.yielded(measure);
            let unnamed = yielded.get(&Metric::of(measure));
            unnamed.or_else(|| yielded.iter().find(|metric| own(metric))).cloned()
        }
    }
}

/// One side of a cell for the report.
pub(super) fn side(seen: &Observation, metric: Option<&Metric>) -> CellSide {
    CellSide {
        level: metric.and_then(|metric| seen.level(metric)),
        failure: seen.first_failure().map(|failure| failure.kind),
        attempts: seen.attempts(),
    }
}

fn in_cell(guard: &Guard, measure: &str) -> Metric {
    Metric { measure: measure.to_owned(), name: guard.metric.name.clone() }
}

struct CellComparison<'l> {
    criterion: &'l Criterion,
    measure: &'l str,
    parser: &'l Parser,
    sides: [&'l str; 2],
}

impl CellComparison<'_> {
    /// Each run of the better side with each run of the worse side.
    fn compare_all(&self, seen: [&Observation; 2]) -> Vec<Compared> {
        let [better, worse] = seen.map(|seen| seen.of(self.measure));
        let pairs = better.iter().flat_map(|one| worse.iter().map(move |other| (one, other)));
        pairs.map(|(one, other)| self.compare(one, other)).collect()
    }

    fn compare(&self, better: &Sample, worse: &Sample) -> Compared {
        match (&better.result, &worse.result) {
            (Err(_), Err(_)) => Compared::Unknown("both fail".to_owned()),
            (Err(failure), Ok(_)) => {
                let [side, _] = self.sides;
                Compared::Unknown(format!("only the {side} {}", failure.kind))
            }
            (Ok(_), Err(failure)) if worse.starved || !is_regression(failure) => {
                Compared::Unknown(failure.detail.clone())
            }
            (Ok(_), Err(failure)) => Compared::Difference(failure.detail.clone()),
            (Ok(one), Ok(other)) => match self.criterion {
                Criterion::Guards(guards) => self.by_guards(guards, better, worse),
                Criterion::Tolerance(tolerance) => by_tolerance(*tolerance, one, other),
                Criterion::Checks => self.by_checks(one, other),
            },
        }
    }

    fn by_guards(&self, guards: &[Guard], better: &Sample, worse: &Sample) -> Compared {
        let mut nothing = Vec::new();
        for guard in guards {
            let metric = in_cell(guard, self.measure);
            let (Some(before), Some(now)) = (better.value(&metric), worse.value(&metric)) else {
                return Compared::Unknown(format!("{metric} was not printed"));
            };
            let words = format!("{metric} {now} against {before}");
            // A fixed bound may be broken on both sides.
            if guard.is_broken(&before, &before) {
                return Compared::Unknown(format!("{words}: both break the guard"));
            }
            if guard.is_broken(&before, &now) {
                return Compared::Difference(words);
            }
            nothing.push(words);
        }
        Compared::Nothing(nothing.join("; "))
    }

    fn by_checks(&self, better: &Reading, worse: &Reading) -> Compared {
        let [Some(before), Some(now)] = [better, worse].map(|reading| self.failed(reading)) else {
            return Compared::Unknown("no check ran: set `tolerance` in [sweep]".to_owned());
        };
        let words = match self.parser {
            Parser::ExitCode => format!("exit code {now} against {before}"),
            _ => format!("failed checks: {now} against {before}"),
        };
        // An exit code says that something fails, not how much.
        let is_more =
            if matches!(self.parser, Parser::ExitCode) { before == 0.0 } else { now > before };
        if now == 0.0 {
            Compared::Nothing(words)
        } else if is_more {
            Compared::Difference(words)
        } else {
            Compared::Unknown("both fail".to_owned())
        }
    }

    /// How many checks failed, or the exit code; `None` if no check ran.
    fn failed(&self, reading: &Reading) -> Option<f64> {
        match self.parser {
            Parser::ExitCode => reading.values.get(&Metric::of(self.measure))?.number(),
            counts if counts.counts_checks() => reading.failed_checks(),
            _ => None,
        }
    }

    /// Why runs of one cell disagree.
    fn disagreement(&self, worse: &[Sample]) -> String {
        let failed = worse.iter().filter(|sample| sample.result.is_err()).count();
        if failed > 0 && failed < worse.len() {
            let [_, side] = self.sides;
            return format!("the {side} fails in {failed} of {} runs", worse.len());
        }
        "the runs of this cell disagree".to_owned()
    }
}

/// Whether a failure can come from a regression. A run that only lacks a number cannot.
fn is_regression(failure: &Failure) -> bool {
    matches!(failure.kind, FailureKind::Crash | FailureKind::Timeout | FailureKind::Nan)
}

/// Whether a number moved by more than the tolerance.
fn by_tolerance(tolerance: f64, better: &Reading, worse: &Reading) -> Compared {
    let both = better.values.iter().filter_map(|(metric, before)| {
        Some((metric, before, worse.values.get(metric)?))
            .filter(|(metric, ..)| Resource::of(metric).is_none())
    });
    let is_beyond = |before: &Value, now: &Value| match (before.number(), now.number()) {
        (Some(before), Some(now)) => {
            let moved = (now - before).abs();
            before.to_bits() != now.to_bits()
                && (moved.is_nan() || exceeds_limit(moved, tolerance, [before, now]))
        }
        _ => before != now,
    };
    let both: Vec<_> = both.collect();
    let words = |(metric, before, now): &(&Metric, &Value, &Value)| {
        format!("{metric} {now} against {before}")
    };
    match both.iter().find(|(_, before, now)| is_beyond(before, now)) {
        Some(moved) => Compared::Difference(words(moved)),
        None => match both.first() {
            Some(one) => Compared::Nothing(words(one)),
            None => Compared::Unknown("the runs have no figure in common".to_owned()),
        },
    }
}

#[cfg(test)]
mod tests;
