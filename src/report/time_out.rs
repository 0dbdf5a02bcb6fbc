//! How near the time-out the runs beside a commit that times out came, in words. Many small steps
//! may lead to a limit, and the commit that crosses it may add little.

use crate::evaluation::{CommitId, FailureKind, Phase};
use crate::stats;
use crate::ui::text;

use super::model::{FirstBad, MeasuredCommit, Report, SampleLine};
use super::sought::Sought;

/// If the runs before a commit take more than this share of the way from the good end to the
/// time-out, earlier commits made more of it than this one.
const SLOW_BEFORE: f64 = 0.5;

/// Times below this many seconds are shown in hundredths: the time-out may be that near.
const SHORT: f64 = 10.0;

/// If a first bad commit times out: `its parent took 1.85 s of the 2 s until the time-out; the good
/// end took 0.5 s`. For a fix, the commit's own time.
pub(super) fn in_words(report: &Report, first: &FirstBad) -> Option<String> {
    first.failure.as_ref().filter(|failure| failure.kind == FailureKind::Timeout)?;
    let is_regression = Sought::of(report).is_regression();
    let (late, in_time, name) = if is_regression {
        (&first.commit, &first.parent, "its parent")
    } else {
        (&first.parent, &first.commit, "it")
    };
    let (measure, limit) = time_out(measured(report, late)?)?;
    let took = seconds(measured(report, in_time)?, measure)?;
    let words =
        format!("{name} took {} of the {} until the time-out", precise(took), text::seconds(limit));
    let good = Some(&report.good.commit).filter(|good| *good != in_time);
    let good = good.and_then(|good| seconds(measured(report, good)?, measure));
    let Some(good) = good else { return Some(words) };
    let words = format!("{words}; the good end took {}", precise(good));
    let is_slow_before = took - good > SLOW_BEFORE * (limit - good);
    Some(if is_regression && is_slow_before {
        let metric = text::line(&format!("{measure}.wall_s"));
        format!(
            "{words}, so earlier commits made it slower too: a guard on `{metric}` searches for them"
        )
    } else {
        words
    })
}

fn measured<'r>(report: &'r Report, commit: &CommitId) -> Option<&'r MeasuredCommit> {
    report.commits.iter().find(|one| one.commit == *commit)
}

/// The measure that times out at this commit, and after how many seconds its runs were stopped.
fn time_out(late: &MeasuredCommit) -> Option<(&str, f64)> {
    let measure = late.samples.iter().find(|sample| is_late(sample))?.metric.measure.as_str();
    let is_stopped = |attempt: &str| {
        late.samples.iter().any(|sample| sample.attempt == attempt && is_late(sample))
    };
    let stopped = late.runs.iter().filter(|run| {
        run.measure == measure && is_of_commit(run.phase) && is_stopped(&run.attempt)
    });
    stopped.map(|run| run.wall_s).min_by(f64::total_cmp).map(|limit| (measure, limit))
}

/// How long the runs of a measure take at this commit: the median of those that did not fail.
fn seconds(commit: &MeasuredCommit, measure: &str) -> Option<f64> {
    let has_failed = |attempt: &str| {
        commit.samples.iter().any(|sample| sample.attempt == attempt && sample.failed.is_some())
    };
    let own = commit.runs.iter().filter(|run| {
        run.measure == measure
            && run.apart.is_none()
            && is_of_commit(run.phase)
            && !has_failed(&run.attempt)
    });
    stats::median(&own.map(|run| run.wall_s).collect::<Vec<_>>())
}

fn is_late(sample: &SampleLine) -> bool {
    sample.failed.as_ref().is_some_and(|failure| failure.kind == FailureKind::Timeout)
}

/// Whether runs of this phase are of the commit as it is, without a patch.
fn is_of_commit(phase: Phase) -> bool {
    matches!(phase, Phase::Endpoint | Phase::Search | Phase::Confirm)
}

fn precise(seconds: f64) -> String {
    if seconds >= SHORT {
        return text::seconds(seconds);
    }
    let digits = format!("{seconds:.2}");
    format!("{} s", digits.trim_end_matches('0').trim_end_matches('.'))
}

#[cfg(test)]
mod tests;
