//! Hunts in the jobs of a cluster: the driver outside the jobs, and the commands inside them.

use std::ffi::OsString;

use anyhow::anyhow;

use crate::config::Config;
use crate::git::Repository;
use crate::hunt::{self, JobDriver, JobKind};
use crate::process::Stop;
use crate::store::HuntDir;
use crate::ui::Ui;

use super::locate::program;
use super::watch::Watch;
use super::{Failed, ended};

/// Drives a hunt whose work happens in jobs, while `watch` shows it. The caller holds its lock.
/// `words`: further arguments of `resume` for the first job.
pub(super) fn drive(
    repository: &Repository,
    hunt: &HuntDir,
    watch: Watch,
    words: Vec<OsString>,
    ui: Ui,
    stop: &Stop,
) -> Result<u8, Failed> {
    let driver = JobDriver {
        hunt,
        program: program()?,
        folder: repository.stands().to_owned(),
        words,
        stop,
        seen: hunt.entries().map_err(Failed::store)?.len(),
        say: &|line: &str| ui.line(line),
    };
    let result = driver.run();
    watch.end();
    if let Err(error) = result {
        // A hunt that stops between two jobs has a report too. Its error counts more than that of
        // the report.
        drop(hunt::publish(repository, hunt));
        return Err(Failed::hunt_under_way(error));
    }
    ended::answer(hunt, ui)
}

/// Runs the command of a job on its node, and reports its exit code to the hunt's driver.
pub(super) fn inside(
    repository: &Repository,
    hunt: &HuntDir,
    token: &str,
    kind: JobKind,
    stop: &Stop,
    command: impl FnOnce() -> Result<u8, Failed>,
) -> Result<u8, Failed> {
    let job = hunt::enter(repository, hunt, token, kind, stop).map_err(Failed::hunt_under_way)?;
    let Some(job) = job else { return Ok(hunt::REFUSED_JOB) };
    let result = command();
    let code = match &result {
        Ok(code) => *code,
        Err(failed) => failed.code_for(false),
    };
    job.report(code).map_err(Failed::store)?;
    result
}

/// Refuses to measure on this machine if the configuration wants jobs. Inside a job it is allowed.
pub(super) fn refuse_outside(config: &Config, command: &str) -> Result<(), Failed> {
    let is_inside = std::env::var_os("SLURM_JOB_ID").is_some();
    if !config.executor.is_cluster() || is_inside {
        return Ok(());
    }
    let error = anyhow!(
        "`{command}` measures on this machine, and [executor] kind = \"slurm\" wants that in a job"
    );
    let hint = format!("run it in a job: `srun bisect-ppl {command} …`");
    Err(Failed::usage(error, Some(hint)))
}
