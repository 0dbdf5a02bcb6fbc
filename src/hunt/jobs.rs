//! A hunt in the jobs of a cluster. Nothing is built or run on the machine where the hunt is
//! started. Its driver there holds the hunt's lock and submits one job. The whole hunt runs in that
//! job, as it would on one machine. If the job is lost, the driver submits another one, which
//! resumes the hunt. Further jobs measure ahead (`ahead::crew`), or build for all of them
//! (`builder`).

pub(crate) mod builder;
mod earlier_findings;
pub(crate) mod follow;
pub(crate) mod inside;
pub(crate) mod nodes;

use crate::config::{Executor, Slurm};
use crate::store::HuntDir;

use super::HuntError;
use super::begin::open::{begun, frozen};

/// How the jobs of this hunt are submitted; `None` if it measures on this machine.
pub(crate) fn slurm_of(hunt: &HuntDir) -> Result<Option<Slurm>, HuntError> {
    Ok(executor_of(hunt)?.slurm)
}

/// Where this hunt builds and measures.
pub(crate) fn executor_of(hunt: &HuntDir) -> Result<Executor, HuntError> {
    Ok(frozen(hunt, &begun(hunt)?)?.executor)
}
