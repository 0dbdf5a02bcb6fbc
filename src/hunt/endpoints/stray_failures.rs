//! Failures in at most one of five runs of an end. The other runs judge that end, but the bad end
//! may be worse just by these failures.

use crate::evaluation::{Finding, Outcome};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::oracle::{Observation, Sample};
use crate::store::journal::Event;
use crate::ui::text;

use super::failure_rate::{BY_EXIT_CODE, failed_runs, is_stray};

/// How often a measure failed at the good and at the bad end.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct StrayFailures {
    measure: String,
    failed: [usize; 2],
    runs: [usize; 2],
    /// What the first failed run of the bad end says.
    detail: String,
}

impl StrayFailures {
    /// The first measure that fails at the bad end in at most one of five runs, and in a smaller
    /// share of the runs at the good end.
    fn of(good: &Observation, bad: &Observation) -> Option<Self> {
        bad.samples.iter().find_map(|(measure, samples)| {
            let detail = samples.iter().find_map(detail_of)?;
            let ends = [good.of(measure), samples.as_slice()];
            let [failed, runs] = [ends.map(failed_runs), ends.map(<[Sample]>::len)];
            let is_more = failed[1] * runs[0] > failed[0] * runs[1];
            (is_more && is_stray(failed[1], runs[1])).then(|| Self {
                measure: measure.clone(),
                failed,
                runs,
                detail: detail.to_owned(),
            })
        })
    }

    /// The same with all failed runs of each end: a crash that was not seen twice is no sample.
    fn counting(mut self, all: [usize; 2]) -> Self {
        for (end, all) in all.into_iter().enumerate() {
            let unseen = all.saturating_sub(self.failed[end]);
            self.failed[end] += unseen;
            self.runs[end] += unseen;
        }
        self
    }

    /// Whether this measure failed.
    pub(super) fn are_of(&self, measure: &str) -> bool {
        self.measure == measure
    }

    /// The answer in place of "no regression" by the other runs: nobody knows, because these
    /// failures may be the regression.
    pub(super) fn doubt(&self, denied: Finding) -> Finding {
        let Self { measure, failed: [good, bad], runs: [of_good, of_bad], detail } = self;
        let summary = format!(
            "{measure} failed in {bad} of {} of bad and in {good} of {} of good ({detail}), which \
             may be chance or the regression; by the other runs, {}",
            text::plural(*of_bad, "run"),
            text::plural(*of_good, "run"),
            denied.summary
        );
        let next = [vec![BY_EXIT_CODE.to_owned()], denied.next].concat();
        Finding { outcome: Outcome::NoiseTooLarge, summary, next, ..denied }
    }
}

impl Driver<'_> {
    /// The failures of the bad end that may be the regression, with all failed runs of both ends.
    pub(super) fn stray_failures(
        &self,
        good: &Observation,
        bad: &Observation,
    ) -> Result<Option<StrayFailures>, HuntError> {
        let Some(strays) = StrayFailures::of(good, bad) else { return Ok(None) };
        let mut all = [0, 0];
        for (end, seen) in [good, bad].into_iter().enumerate() {
            all[end] = self.failed_runs_of(seen)?.get(&strays.measure).map_or(0, Vec::len);
        }
        Ok(Some(strays.counting(all)))
    }

    /// Removes failed runs if at most one run in five failed. The other runs judge the commit.
    /// `strays`: failures that no named commit explains.
    pub(super) fn leave_out_stray_failures(
        &mut self,
        seen: &mut Observation,
        strays: Option<&StrayFailures>,
    ) -> Result<(), HuntError> {
        for (measure, samples) in &mut seen.samples {
            let failed = failed_runs(samples);
            if failed == 0 || !is_stray(failed, samples.len()) {
                continue;
            }
            let what = samples.iter().find_map(detail_of).unwrap_or_default();
            let own = strays.filter(|strays| strays.are_of(measure));
            // `strays` are those of the bad end.
            let [failed, runs] =
                own.map_or([failed, samples.len()], |own| [own.failed[1], own.runs[1]]);
            let mut text = format!(
                "{measure} failed in {failed} of {runs} runs of {}, and is judged by the others: \
                 {what}",
                seen.commit.short()
            );
            if own.is_some() {
                text += "; the answer does not say which commit brought these failures, if any did";
            }
            samples.retain(|sample| sample.result.is_ok());
            self.oracle.recorder.event(Event::Note { text })?;
        }
        Ok(())
    }
}

fn detail_of(sample: &Sample) -> Option<&str> {
    sample.result.as_ref().err().map(|failure| failure.detail.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::FailureKind;
    use crate::oracle::fixture::{failed, ppl, seen};

    fn end(digit: char, crashes: usize, runs: usize) -> Observation {
        let crash = |run| if run < crashes { failed(FailureKind::Crash, "x") } else { ppl(6.0) };
        seen(digit, "ppl", (0..runs).map(crash))
    }

    #[test]
    fn failures_of_the_bad_end_alone_leave_the_regression_open() {
        let strays = StrayFailures::of(&end('1', 0, 5), &end('2', 1, 5)).unwrap();
        let denied = Finding::plain(Outcome::NoRegression, "nothing moved");
        let doubted = strays.doubt(denied);
        assert_eq!(doubted.outcome, Outcome::NoiseTooLarge);
        assert_eq!(
            doubted.summary,
            "ppl failed in 1 of 5 runs of bad and in 0 of 5 runs of good (crashes: x), which may be \
             chance or the regression; by the other runs, nothing moved"
        );
        assert_eq!(doubted.next, [BY_EXIT_CODE]);
    }

    #[test]
    fn a_crash_that_was_not_seen_twice_is_counted_too() {
        let strays = || StrayFailures::of(&end('1', 0, 5), &end('2', 1, 8)).unwrap();
        let counted = strays().counting([0, 2]);
        assert_eq!((counted.failed, counted.runs), ([0, 2], [5, 9]));
        // Runs of another hunt are samples, but the journal of this one may lack them.
        assert_eq!(strays().counting([0, 0]), strays());
    }

    #[test]
    fn failures_that_the_good_end_has_too_tell_nothing() {
        for [good, bad] in [[1, 1], [1, 0], [0, 0], [0, 2]] {
            assert_eq!(StrayFailures::of(&end('1', good, 5), &end('2', bad, 5)), None);
        }
    }
}
