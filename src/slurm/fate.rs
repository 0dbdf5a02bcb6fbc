//! Decides from what Slurm's controller says whether a job is lost, and why. Pure.

use std::fmt;
use std::time::Duration;

use super::listing::{Listed, State};

/// How long after the job's end its result may still appear: on a network disk another machine
/// sees a new file late.
pub(super) const RESULT_GRACE: Duration = Duration::from_secs(5);

/// How long a job may be missing from the controller's list before it counts as lost.
pub(super) const MISSING_GRACE: Duration = Duration::from_secs(10);

/// What one look at the controller's list showed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Look {
    /// The controller gave no answer, so nothing is known.
    Unknown,
    /// The list does not have the job.
    Missing,
    /// The list has it.
    Listed(Listed),
}

/// Why a job ended without a result. None of this is a commit's fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Loss {
    /// It ended, and Slurm gives it this state.
    Ended(String),
    /// No node fulfils what it asks for.
    NoNode,
    /// Slurm began it again and then held it.
    Held(String),
    /// The controller does not know it any more.
    Vanished,
    /// Its command was interrupted, and not by us. Slurm does not say why.
    Interrupted,
    /// Its command was interrupted, and not by us, and its node takes no jobs: the node, and the
    /// state that Slurm gives it.
    AtNode(String, String),
    /// Its command was interrupted, and not by us, and Slurm put the job back into the queue.
    Requeued,
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ended(state) => match state.as_str() {
                "TIMEOUT" => f.write_str("reached its time limit"),
                "NODE_FAIL" => f.write_str("was lost with its node"),
                "PREEMPTED" => f.write_str("was preempted"),
                "OUT_OF_MEMORY" => f.write_str("ran out of memory"),
                "CANCELLED" => f.write_str("was cancelled"),
                "BOOT_FAIL" => f.write_str("did not start, because its node did not boot"),
                other => write!(f, "ended without a result (Slurm says {other})"),
            },
            Self::NoNode => f.write_str("found no node that fulfils what it asks for"),
            Self::Held(reason) => write!(f, "was begun again and then held ({reason})"),
            Self::Vanished => f.write_str("is not known to Slurm's controller any more"),
            Self::Interrupted => f.write_str(
                "was interrupted, and Slurm does not say why (perhaps its time limit was near)",
            ),
            Self::AtNode(node, state) => {
                write!(f, "was interrupted, and its node {node} is {state}")
            }
            Self::Requeued => f.write_str(
                "was interrupted and put back into the queue (by preemption, or by somebody)",
            ),
        }
    }
}

/// Why a job without a result is lost; `None` if it is not lost yet. `unseen_for`: for how long
/// every answer of the controller has shown the job as ended or missing.
pub(super) fn loss(look: &Look, unseen_for: Duration) -> Option<Loss> {
    match look {
        Look::Unknown => None,
        Look::Missing => (unseen_for >= MISSING_GRACE).then_some(Loss::Vanished),
        Look::Listed(job) => match &job.state {
            State::Alive => None,
            State::Pending => is_held(job).then(|| Loss::Held(job.reason.clone())),
            State::Ended(_) if job.reason == "BadConstraints" => Some(Loss::NoNode),
            State::Ended(state) => (unseen_for >= RESULT_GRACE).then(|| Loss::Ended(state.clone())),
        },
    }
}

/// Why a job reported that its command was interrupted, though nobody here asked for that. `look`:
/// what the controller says of the job after that. `restarts`: how often the job had been begun
/// again. `node`: its node, and the node's state if it takes no jobs.
pub(super) fn interruption(look: &Look, restarts: u32, node: (&str, Option<String>)) -> Loss {
    let job = match look {
        Look::Listed(job) => Some(job),
        Look::Unknown | Look::Missing => None,
    };
    if let Some(State::Ended(state)) = job.map(|job| &job.state)
        // The command ended by itself when it was told to end, and its job did so too.
        && !["COMPLETED", "FAILED"].contains(&state.as_str())
    {
        return Loss::Ended(state.clone());
    }
    match node {
        (name, Some(state)) => Loss::AtNode(name.to_owned(), state),
        _ if job.is_some_and(|job| job.is_pending() || job.restarts > restarts) => Loss::Requeued,
        _ => Loss::Interrupted,
    }
}

/// Whether Slurm holds the job after a failed begin. If the job never ran, a person may hold it
/// because it should wait: it is then not lost.
fn is_held(job: &Listed) -> bool {
    let reason = job.reason.to_lowercase();
    (reason.contains("requeued") && reason.contains("held"))
        || (job.restarts > 0 && reason.starts_with("jobheld"))
}

/// Whether this look shows that the job is over, or does not show it at all.
pub(super) fn is_unseen(look: &Look) -> bool {
    match look {
        Look::Unknown => false,
        Look::Missing => true,
        Look::Listed(job) => matches!(job.state, State::Ended(_)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(state: State, reason: &str, restarts: u32) -> Look {
        let (id, name) = ("7".to_owned(), "t".to_owned());
        let (reason, partition) = (reason.to_owned(), "gpu".to_owned());
        Look::Listed(Listed { id, state, reason, restarts, partition, name })
    }

    #[test]
    fn a_job_that_no_node_fits_is_lost_at_once() {
        let ended = job(State::Ended("FAILED".to_owned()), "BadConstraints", 0);
        assert_eq!(loss(&ended, Duration::ZERO), Some(Loss::NoNode));
    }

    #[test]
    fn a_controller_that_does_not_answer_loses_no_job() {
        let hour = Duration::from_hours(1);
        assert_eq!(loss(&Look::Unknown, hour), None);
        assert_eq!(loss(&Look::Missing, Duration::from_secs(2)), None);
        assert_eq!(loss(&Look::Missing, hour), Some(Loss::Vanished));
        assert!(is_unseen(&Look::Missing) && !is_unseen(&Look::Unknown));
    }

    #[test]
    fn a_job_that_ended_is_lost_only_after_its_result_had_time_to_appear() {
        for state in ["COMPLETED", "TIMEOUT", "NODE_FAIL", "PREEMPTED", "OUT_OF_MEMORY"] {
            let look = job(State::Ended(state.to_owned()), "None", 0);
            assert_eq!(loss(&look, Duration::ZERO), None, "{state}");
            assert_eq!(loss(&look, RESULT_GRACE), Some(Loss::Ended(state.to_owned())));
        }
        let hour = Duration::from_hours(1);
        assert_eq!(loss(&job(State::Alive, "None", 0), hour), None);
        let words = Loss::Ended("COMPLETED".to_owned()).to_string();
        assert_eq!(words, "ended without a result (Slurm says COMPLETED)");
    }

    #[test]
    fn an_interrupted_job_has_the_reason_that_slurm_gives() {
        let told = |state: State, node: Option<&str>| {
            let node = ("n1", node.map(str::to_owned));
            interruption(&job(state, "None", 1), 1, node).to_string()
        };
        let ended = |state: &str| State::Ended(state.to_owned());
        for (state, words) in [
            ("NODE_FAIL", "was lost with its node"),
            ("PREEMPTED", "was preempted"),
            ("TIMEOUT", "reached its time limit"),
            ("CANCELLED", "was cancelled"),
        ] {
            assert_eq!(told(ended(state), Some("drained")), words);
        }
        let at_node = "was interrupted, and its node n1 is drained (disk)";
        for state in [State::Pending, State::Alive, ended("FAILED"), ended("COMPLETED")] {
            assert_eq!(told(state, Some("drained (disk)")), at_node);
        }
        assert!(told(State::Pending, None).contains("put back into the queue"));
        for state in [State::Alive, ended("FAILED")] {
            assert!(told(state, None).contains("Slurm does not say why"));
        }
        let begun_again = job(State::Alive, "None", 2);
        assert_eq!(interruption(&begun_again, 1, ("n1", None)), Loss::Requeued);
        assert_eq!(interruption(&Look::Unknown, 0, ("n1", None)), Loss::Interrupted);
    }

    #[test]
    fn a_held_requeue_is_lost_and_a_job_that_a_person_holds_waits() {
        let held = job(State::Pending, "launch failed requeued held", 1);
        assert!(matches!(loss(&held, Duration::ZERO), Some(Loss::Held(_))));
        assert!(matches!(
            loss(&job(State::Pending, "JobHeldAdmin", 1), Duration::ZERO),
            Some(Loss::Held(_))
        ));
        for reason in ["Resources", "JobHeldUser", "Priority", "PartitionDown"] {
            assert_eq!(loss(&job(State::Pending, reason, 0), Duration::from_hours(9)), None);
        }
    }
}
