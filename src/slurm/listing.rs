//! What `squeue` says of jobs.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::pending;

/// The columns of a listing, with their widths: id, state, exit code, reason, restarts, partition,
/// name. A value that is wider than its column is cut off, and no space separates it from the next
/// one. A reason may be a sentence, or list nodes.
pub(super) const COLUMNS: &str =
    "JobID:20,State:20,exit_code:10,Reason:255,RestartCnt:5,Partition:100,Name:80";

const WIDTHS: [usize; 7] = [20, 20, 10, 255, 5, 100, 80];

/// One job as the controller knows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Listed {
    /// The job's number.
    pub id: String,
    /// Its state.
    pub state: State,
    /// Why it waits, or why it ended.
    pub reason: String,
    /// How often Slurm began it again.
    pub restarts: u32,
    /// Its partition, or several (`a,b`) of which Slurm may choose one.
    pub partition: String,
    /// Its name, which is the attempt's token.
    pub name: String,
}

/// The state of a job, as far as it matters here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum State {
    /// It waits for a node.
    Pending,
    /// It runs, or is stopped in the middle, or is about to run or to end.
    Alive,
    /// It ended in this state of Slurm's.
    Ended(String),
}

impl Listed {
    /// Whether the job waits for a node.
    pub(crate) fn is_pending(&self) -> bool {
        self.state == State::Pending
    }

    /// Whether it waits for nodes that are out of service, and Slurm does not say which.
    pub(super) fn lacks_nodes(&self) -> bool {
        self.is_pending() && pending::lacks_nodes(&self.reason)
    }

    /// The same job, with the nodes that are out of service.
    pub(super) fn with_nodes(self, nodes: &BTreeSet<String>) -> Self {
        Self { reason: pending::with_nodes(&self.reason, nodes), ..self }
    }

    /// The same job, with the nodes that an earlier listing has for the same reason to wait; `None`
    /// if it has none.
    pub(super) fn with_nodes_of(&self, earlier: &Self) -> Option<Self> {
        let is_it = earlier.name == self.name;
        let is_known = is_it && pending::is_with_nodes(&earlier.reason, &self.reason);
        is_known.then(|| Self { reason: earlier.reason.clone(), ..self.clone() })
    }

    /// That the job waits, and why, in words; `None` if it does not, or if Slurm has not said why
    /// yet. `what`: how the job is named, such as `job 7`.
    pub(crate) fn waits(&self, what: &str) -> Option<String> {
        let is_known = self.is_pending() && !["None", ""].contains(&self.reason.as_str());
        is_known.then(|| pending::in_words(what, &self.id, &self.reason))
    }

    /// That the job has ended and its result is not seen yet, in words; `None` if it has not ended.
    /// `what`: how the job is named.
    pub(crate) fn awaits_result(&self, what: &str) -> Option<String> {
        let has_ended = matches!(self.state, State::Ended(_));
        has_ended.then(|| format!("waiting for the result of {what}, which has ended"))
    }
}

impl State {
    fn read(word: &str) -> Self {
        match word {
            "PENDING" | "REQUEUED" | "REQUEUE_FED" | "REQUEUE_HOLD" | "SPECIAL_EXIT" => {
                Self::Pending
            }
            "RUNNING" | "CONFIGURING" | "COMPLETING" | "SUSPENDED" | "STOPPED" | "SIGNALING"
            | "STAGE_OUT" | "RESIZING" => Self::Alive,
            other => Self::Ended(other.to_owned()),
        }
    }
}

/// The jobs of a listing. A line that is too short is left out.
pub(super) fn listed(text: &str) -> Vec<Listed> {
    text.lines().filter_map(line).collect()
}

fn line(text: &str) -> Option<Listed> {
    let mut rest: Vec<char> = text.chars().collect();
    let mut cells = WIDTHS.into_iter().map(|width| {
        let after = rest.split_off(width.min(rest.len()));
        let cell: String = std::mem::replace(&mut rest, after).into_iter().collect();
        cell.trim().to_owned()
    });
    let id = cells.next().filter(|id| !id.is_empty())?;
    let state = State::read(&cells.next()?);
    let (_exit, reason) = (cells.next()?, cells.next()?);
    let restarts = cells.next()?.parse().unwrap_or_default();
    let partition = cells.next()?;
    Some(Listed { id, state, reason, restarts, partition, name: cells.next()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(id: &str, state: &str, reason: &str, restarts: &str, name: &str) -> String {
        format!(
            "{id:<20}{state:<20}{:<10}{reason:<255}{restarts:<5}{:<100}{name:<80}\n",
            "0", "gpu"
        )
    }

    #[test]
    fn columns_are_read_by_their_widths() {
        let text = row("7", "PENDING", "launch failed requeued held", "2", "bisect-ppl-a")
            + &row("8", "RUNNING", "None", "0", "bisect-ppl-b")
            + &row("9", "NODE_FAIL", "None", "0", "c")
            + &row("10", "COMPLETING", &"x".repeat(255), "0", "d")
            + "\n";
        let all = listed(&text);
        assert_eq!(all.len(), 4);
        assert_eq!((all[0].state.clone(), all[0].restarts), (State::Pending, 2));
        assert_eq!(all[0].partition, "gpu");
        assert_eq!(all[0].reason, "launch failed requeued held");
        assert_eq!((all[1].id.as_str(), all[1].name.as_str()), ("8", "bisect-ppl-b"));
        assert_eq!(all[2].state, State::Ended("NODE_FAIL".to_owned()));
        assert_eq!((all[3].state.clone(), all[3].name.as_str()), (State::Alive, "d"));
    }

    #[test]
    fn only_a_job_that_waits_has_a_reason_to_wait() {
        let reason = "ReqNodeNotAvail, UnavailableNodes:n[1-3]";
        let told = |state, reason| {
            let all = listed(&row("7", state, reason, "0", "a"));
            all[0].waits("job 7")
        };
        let said = told("PENDING", reason).unwrap();
        assert!(said.starts_with("waiting for job 7 to begin (") && said.ends_with(": n[1-3])"));
        assert_eq!(told("PENDING", "None"), None);
        assert_eq!(told("RUNNING", reason), None);
    }

    #[test]
    fn only_of_a_job_that_ended_the_result_is_waited_for() {
        let told = |state| listed(&row("7", state, "None", "0", "a"))[0].awaits_result("job 7");
        let said = "waiting for the result of job 7, which has ended";
        assert_eq!(told("COMPLETED").as_deref(), Some(said));
        assert_eq!(told("PREEMPTED").as_deref(), Some(said));
        for state in ["PENDING", "RUNNING", "COMPLETING"] {
            assert_eq!(told(state), None, "{state}");
        }
    }
}
