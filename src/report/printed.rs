//! Shows the output of failed builds and runs, for the commits on which the answer rests: the log
//! lines that explain the failure, so that nobody has to search for them.

use std::path::Path;

use crate::evaluation::{CommitId, Failure, FailureKind, FailureLogParser, Outcome};
use crate::process::{Log, read_log};
use crate::ui::{stored_result_dated, text};

use super::model::{FailedLine, MeasuredCommit, Report};

/// Maximum lines of one log.
const MOST: usize = 10;
/// If fewer lines than this explain the failure, the last lines are shown too.
const FEW: usize = 3;

/// The failures of the first bad commit, unless the answer is about values and other runs have one;
/// without a first bad commit, those of the endpoints, or one failure if both fail alike. If the hunt has no answer, its latest failure is added. `folder`: the hunt's
/// folder. Missing logs are left out.
pub(super) fn of(report: &Report, folder: &Path) -> Vec<FailedLine> {
    let measured =
        |commit: &CommitId| report.commits.iter().find(|measured| measured.commit == *commit);
    let failed = |commit: &CommitId| first_failure(measured(commit)?);
    let shown = if let Some(first) = &report.culprit {
        let is_told = |failed: &Failed<'_>| {
            first.failure.is_some()
                || !measured(&first.commit).is_some_and(|commit| has_value(commit, failed.measure))
        };
        vec![failed(&first.commit).filter(is_told)]
    } else {
        let [good, bad] = [&report.good, &report.bad].map(|end| failed(&end.commit));
        let is_both = good.as_ref().zip(bad.as_ref()).is_some_and(|(good, bad)| {
            good.measure == bad.measure && good.failure.is_same_failure(bad.failure)
        });
        let ends = [&report.good.commit, &report.bad.commit];
        let others = report.commits.iter().filter(|commit| !ends.contains(&&commit.commit));
        let latest = others.filter_map(first_failure).max_by_key(|failed| failed.attempt);
        let latest = latest.filter(|_| report.outcome == Outcome::Interrupted);
        vec![good, bad.filter(|_| !is_both), latest]
    };
    let lines = shown.into_iter().flatten().filter_map(|failed| failed.read(folder));
    lines.collect()
}

/// A failed build or run of the journal.
struct Failed<'a> {
    commit: &'a CommitId,
    measure: Option<&'a str>,
    failure: &'a Failure,
    log: &'a str,
    /// The name begins with the time, so the latest one is the largest.
    attempt: &'a str,
    stored_at: Option<&'a String>,
}

impl Failed<'_> {
    fn read(self, folder: &Path) -> Option<FailedLine> {
        let log = read_log(&folder.join(self.log)).ok()?;
        let lines = telling(&log);
        // The value came from a file of the run, and the failure has its place there.
        if lines.is_empty() && self.failure.kind == FailureKind::Nan {
            return None;
        }
        let header = |wanted: &str| {
            let found = log.header().find(|(key, _)| key == wanted);
            found.map(|(_, value)| value)
        };
        Some(FailedLine {
            command: header("command").filter(|_| self.measure.is_some()),
            elsewhere: header("elsewhere"),
            failed: Some(self.failure.clone()),
            commit: self.commit.clone(),
            measure: self.measure.map(str::to_owned),
            lines,
            log: self.log.to_owned(),
            stored_at: self.stored_at.cloned(),
        })
    }
}

/// The failure of the last build, or of the first failed run.
fn first_failure(commit: &MeasuredCommit) -> Option<Failed<'_>> {
    let build = commit.builds.last().and_then(|build| {
        let (failure, measure) = (build.failed.as_ref()?, build.prepare.as_deref());
        let (log, attempt) = (&build.log, &build.attempt);
        let stored_at = build.stored_at.as_ref();
        Some(Failed { commit: &commit.commit, measure, failure, log, attempt, stored_at })
    });
    let run = || {
        commit.samples.iter().find_map(|sample| {
            let (failure, measure) = (sample.failed.as_ref()?, sample.metric.measure.as_str());
            let measure = Some(measure);
            let (log, attempt) = (&sample.log, &sample.attempt);
            let stored_at = sample.stored_at.as_ref();
            Some(Failed { commit: &commit.commit, measure, failure, log, attempt, stored_at })
        })
    };
    build.or_else(run).filter(|failed| !failed.failure.kind.leaves_nothing_to_build())
}

/// Whether a run of this measure has a value. If the answer is about values, a failed run beside it
/// explains nothing: the program may only lack a file of the home folder, which is empty in the
/// check of a commit.
fn has_value(commit: &MeasuredCommit, measure: Option<&str>) -> bool {
    let mut samples = commit.samples.iter();
    samples.any(|sample| {
        sample.failed.is_none() && measure.is_some_and(|name| name == sample.metric.measure)
    })
}

/// The log lines that explain why the command failed, in order; if these are few, also the last
/// lines. At most ten.
pub(crate) fn telling(log: &Log) -> Vec<String> {
    let mut complaints = FailureLogParser::default();
    let mut lines = Vec::new();
    for (stream, bytes, is_whole) in log.pieces() {
        let says_why = complaints.feed(stream, bytes, is_whole);
        let line = text::line(&String::from_utf8_lossy(bytes));
        if !line.trim().is_empty() {
            lines.push((line, says_why));
        }
    }
    let said = lines.iter().filter(|(_, says_why)| *says_why).count();
    let last = lines.len().saturating_sub(MOST - said.min(MOST));
    let is_shown = |place: usize, says_why: bool| says_why || said < FEW && place >= last;
    let shown = lines.into_iter().enumerate().filter(|(at, (_, why))| is_shown(*at, *why));
    shown.map(|(_, (line, _))| line).take(MOST).collect()
}

/// [`title`], and for a result from the store also the date.
pub(super) fn dated_title(failed: &FailedLine) -> String {
    let stored = failed.stored_at.as_deref().map(|at| format!(" {}", stored_result_dated(at)));
    format!("{}{}", title(failed), stored.unwrap_or_default())
}

/// `What ppl printed at 0123456789`.
pub(super) fn title(failed: &FailedLine) -> String {
    let what = failed.measure.as_deref().unwrap_or("the build");
    let commit = failed.commit.short();
    if failed.lines.is_empty() {
        format!("At {commit}, {what} printed nothing")
    } else {
        format!("What {what} printed at {commit}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(body: &str) -> Vec<String> {
        telling(&Log::from(format!("# command: x\n{body}").into_bytes()))
    }

    #[test]
    fn lines_that_say_why_are_shown_and_else_the_last_ones() {
        let steps: Vec<_> = (0..30).map(|n| format!("1> step {n}\n")).collect();
        let steps = steps.concat();
        let last = shown(&steps);
        assert_eq!((last.len(), last[9].as_str()), (10, "step 29"));
        let crashed = format!("{steps}2> arena: 76800 floats wanted, 17664 left\n");
        assert_eq!(shown(&crashed).last().unwrap(), "arena: 76800 floats wanted, 17664 left");
        let compiler = "2> cc -Werror -c a.c\n2> a.c:3:1: error: expected `;`\n\
                        2> a.c:4:1: error: no x\n2> a.c:5:1: error: no y\n";
        let said = shown(&format!("{compiler}{steps}"));
        assert!(said[0].contains("a.c:3:1: error") && said.iter().all(|line| line != "step 29"));
    }
}
