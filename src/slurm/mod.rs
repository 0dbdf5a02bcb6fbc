//! Jobs of a Slurm cluster: submits them, watches them, and takes over what they report.
//!
//! An [`Attempt`] is one submission. Its folder is on a disk that the nodes share. The only proof
//! that a job did its work is the result that the job itself writes there: Slurm may say COMPLETED
//! for a script that never ran, and forgets jobs when its controller is restarted. What Slurm says
//! only decides how long to wait for that result.

mod attempt;
mod client;
mod fate;
mod job_clock;
mod job_time;
mod listing;
mod missing_nodes;
mod partition;
mod pending;
mod queue;
mod queue_folder;
mod submit;
mod wait;

pub(crate) use attempt::{
    Attempt, JobResult, Purpose, Refusal, build_nodes_set_aside, nodes_set_aside,
};
pub(crate) use client::{SlurmError, cancel, check_sbatch};
pub(crate) use fate::Loss;
pub(crate) use job_clock::JobClock;
pub(crate) use job_time::JobTime;
pub(crate) use listing::Listed;
pub(crate) use partition::{Partition, check_partition, nodes_in_service};
pub(crate) use queue::Queue;
pub(crate) use submit::{Order, submit};
pub(crate) use wait::{JobEnd, wait, wait_within};
