//! The clock of a job. The job itself writes its time down, in intervals and at its end, so that the
//! time of a lost job is known too, up to one interval.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use jiff::Timestamp;

use super::attempt::Attempt;
use super::job_time::JobTime;

/// Time between two records. One file is written and synced for each.
const INTERVAL: Duration = Duration::from_secs(10);

/// The clock of a job, on its node.
#[derive(Debug)]
pub(crate) struct JobClock {
    attempt: Attempt,
    gpus: u32,
    began: Instant,
    /// Seconds before Slurm began the job again.
    before: f64,
    last: Mutex<Last>,
}

#[derive(Debug, Default)]
struct Last {
    written: Option<Instant>,
    is_over: bool,
}

impl JobClock {
    /// Starts the clock.
    pub(crate) fn start(attempt: Attempt, gpus: u32) -> Self {
        let before = attempt.time().map_or(0.0, |time| time.seconds);
        let clock = Self { attempt, gpus, began: Instant::now(), before, last: Mutex::default() };
        clock.tick();
        clock
    }

    /// Writes the time down if the last record is old.
    pub(crate) fn tick(&self) {
        self.write(false);
    }

    /// Writes the time down at the job's end. Later ticks write nothing.
    pub(crate) fn stop(&self) {
        self.write(true);
    }

    /// A record that cannot be written is left out: the hunt does not depend on it.
    fn write(&self, is_over: bool) {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let is_old = last.written.is_none_or(|at| at.elapsed() >= INTERVAL);
        if last.is_over || !(is_over || is_old) {
            return;
        }
        *last = Last { written: Some(Instant::now()), is_over };
        let seconds = self.before + self.began.elapsed().as_secs_f64();
        let time = JobTime { seconds, gpus: self.gpus, at: Timestamp::now(), is_over };
        self.attempt.put_time(&time).ok();
    }
}

#[cfg(test)]
mod tests {
    use super::super::attempt::Purpose;
    use super::*;

    #[test]
    fn the_end_of_a_job_is_its_last_record_and_a_second_begin_adds() {
        let folder = tempfile::tempdir().unwrap();
        let attempt = Attempt::begin(folder.path(), Purpose::Drive).unwrap();
        assert_eq!(attempt.time(), None);
        let clock = JobClock::start(attempt.clone(), 4);
        let time = attempt.time().unwrap();
        assert!(!time.is_over && time.gpus == 4, "{time:?}");
        clock.stop();
        clock.tick();
        assert!(attempt.time().unwrap().is_over);
        let long = JobTime { seconds: 50.0, ..attempt.time().unwrap() };
        attempt.put_time(&long).unwrap();
        let again = JobClock::start(attempt.clone(), 4);
        let time = attempt.time().unwrap();
        assert!(!time.is_over && time.seconds >= 50.0, "{time:?}");
        again.stop();
        assert!(attempt.time().unwrap().seconds >= time.seconds);
    }
}
