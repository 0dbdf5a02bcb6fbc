//! Waits for the end of a job.

use std::time::{Duration, Instant};

use crate::process::Stop;

use super::attempt::{Attempt, JobResult};
use super::client::{cancel, node_out_of_service};
use super::fate::{Look, Loss, RESULT_GRACE, interruption, is_unseen, loss};
use super::listing::{Listed, State};
use super::queue::Queue;

/// Time between two looks for the result.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

/// How long a job that was asked to end may take before Slurm ends it.
const GRACE: Duration = Duration::from_secs(30);

/// How long to wait for the end of a job after Slurm was told to end it.
const CANCEL_GRACE: Duration = Duration::from_secs(20);

/// How long to wait for an answer of the controller that is newer than a job's result.
const ANSWER_GRACE: Duration = Duration::from_secs(20);

/// How a job ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum JobEnd {
    /// The job reported. If its command was interrupted, and not by us: why.
    Reported(JobResult, Option<Loss>),
    /// It ended without a report.
    Lost(Loss),
    /// We asked it to end, and it did not report.
    Stopped,
}

/// Waits until the job reports or is lost. A request to stop ends the job. `say` gets each new
/// state of the job.
pub(crate) fn wait(
    attempt: &Attempt,
    id: &str,
    queue: &Queue,
    stop: &Stop,
    say: &mut dyn FnMut(&Listed),
) -> JobEnd {
    wait_within(attempt, id, queue, stop, None, say)
}

/// As [`wait`], and ends the job if it has not begun at `begins_by`.
pub(crate) fn wait_within(
    attempt: &Attempt,
    id: &str,
    queue: &Queue,
    stop: &Stop,
    begins_by: Option<Instant>,
    say: &mut dyn FnMut(&Listed),
) -> JobEnd {
    queue.add(attempt.token(), id);
    let mut end = until_over(attempt, queue, stop, begins_by, say);
    let is_over = match &mut end {
        // If Slurm interrupted the job, and not we, Slurm may have put the job back into the queue.
        // There the job would begin again, or be held for ever. Slurm is asked for the reason
        // before that: of a cancelled job it says nothing else.
        JobEnd::Reported(result, loss) if result.is_interrupted() && !stop.is_requested() => {
            *loss = Some(reason_of(attempt, result, queue, stop));
            false
        }
        JobEnd::Reported(..) => true,
        JobEnd::Lost(_) | JobEnd::Stopped => false,
    };
    queue.remove(attempt.token());
    // An attempt that may still have a job stays open, for whoever drives the hunt next.
    if !is_over && cancel(attempt.token()).is_ok() {
        attempt.close().ok();
    }
    end
}

fn until_over(
    attempt: &Attempt,
    queue: &Queue,
    stop: &Stop,
    begins_by: Option<Instant>,
    say: &mut dyn FnMut(&Listed),
) -> JobEnd {
    let mut has_begun = false;
    let mut unseen_since = None;
    let mut said = None;
    let mut asked: Option<Instant> = None;
    let mut is_cancelled = false;
    loop {
        if let Some(result) = attempt.result() {
            return JobEnd::Reported(result, None);
        }
        let look = queue.look(attempt.token());
        let is_pending = matches!(&look, Look::Listed(job) if job.is_pending());
        has_begun |= matches!(&look, Look::Listed(job) if !job.is_pending());
        if let Look::Listed(job) = &look
            && said.as_ref() != Some(job)
        {
            say(job);
            said = Some(job.clone());
        }
        if is_unseen(&look) {
            unseen_since.get_or_insert_with(Instant::now);
        } else if look != Look::Unknown {
            unseen_since = None;
        }
        let unseen_for = unseen_since.map_or(Duration::ZERO, |since| since.elapsed());
        if let Some(loss) = loss(&look, unseen_for) {
            return if asked.is_some() { JobEnd::Stopped } else { JobEnd::Lost(loss) };
        }
        let is_over_time = !has_begun && begins_by.is_some_and(|time| Instant::now() >= time);
        if stop.is_requested() || is_over_time || asked.is_some() {
            let since = *asked.get_or_insert_with(|| {
                // If the disk does not take the request, Slurm ends the job.
                attempt.ask_to_end().ok();
                Instant::now()
            });
            let is_late = is_pending || stop.requests() > 1 || since.elapsed() > GRACE;
            if is_late && !is_cancelled {
                is_cancelled = cancel(attempt.token()).is_ok();
            }
            if is_pending && is_cancelled {
                return JobEnd::Stopped;
            }
            if since.elapsed() > GRACE + CANCEL_GRACE {
                return JobEnd::Stopped;
            }
        }
        std::thread::sleep(POLL_INTERVAL);
    }
}

/// Why Slurm interrupted the job that reported this. The job's last state appears a little after
/// its result.
fn reason_of(attempt: &Attempt, result: &JobResult, queue: &Queue, stop: &Stop) -> Loss {
    let JobResult { restarts, node, .. } = result;
    let begun = Instant::now();
    let before = queue.last_answer();
    loop {
        let look = queue.look(attempt.token());
        let is_new = queue.last_answer() != before;
        let look = if is_new { look } else { Look::Unknown };
        let is_ending = |job: &Listed| job.state == State::Alive && job.restarts <= *restarts;
        let patience = match &look {
            Look::Unknown => ANSWER_GRACE,
            Look::Listed(job) if is_ending(job) => RESULT_GRACE,
            Look::Listed(_) | Look::Missing => Duration::ZERO,
        };
        if begun.elapsed() >= patience || stop.is_requested() {
            let state = node_out_of_service(node).unwrap_or_default();
            return interruption(&look, *restarts, (node.as_str(), state));
        }
        std::thread::sleep(POLL_INTERVAL);
    }
}
