//! What a supervised run starts: the program's file and its environment, with the sandbox around
//! it.

use std::path::{Path, PathBuf};

use super::error::ProcessError;
use super::job::Job;
use super::sandbox::{self, Sandbox, SandboxError};
use super::{Invocation, program};
use crate::evaluation::Ended;

/// What to start.
pub(super) struct Prepared {
    pub(super) job: Job,
    /// The file of the program itself; in a sandbox the job's program is bubblewrap.
    pub(super) program: PathBuf,
}

/// Finds the program and its environment. The inner `Err` says how the run ended if the program
/// cannot be started.
pub(super) fn prepare(invocation: &Invocation) -> Result<Result<Prepared, Ended>, ProcessError> {
    let missing = || ProcessError::Folder(invocation.folder().to_owned());
    let cwd = invocation.folder().canonicalize().map_err(|_| missing())?;
    if !cwd.is_dir() {
        return Err(missing());
    }
    let env = invocation.environment();
    let path = env.get(std::ffi::OsStr::new("PATH")).map(AsRef::as_ref);
    let program = match program::find(invocation.program(), &cwd, path) {
        Ok(program) => program,
        Err(ended) => return Ok(Err(ended)),
    };
    let mut job = Job {
        program: program.clone(),
        name: invocation.program().to_owned(),
        args: invocation.arguments().to_vec(),
        cwd,
        stdin: invocation.input().map(Path::to_owned),
        env,
        grace: invocation.patience(),
        cpus: invocation.own_cpus().to_vec(),
        is_sandboxed: false,
    };
    if let Some(sandbox) = invocation.own_sandbox() {
        // bubblewrap would report a missing interpreter as its own failure.
        if let Some(missing) = program::missing_interpreter(&program) {
            return Ok(Err(Ended::NotFound(missing.to_string_lossy().into_owned())));
        }
        job = in_sandbox(sandbox, job)?;
    }
    Ok(Ok(Prepared { job, program }))
}

/// The job with bubblewrap around its program.
fn in_sandbox(sandbox: &Sandbox, job: Job) -> Result<Job, ProcessError> {
    let bwrap = sandbox::find().ok_or(SandboxError::Missing)?;
    let mut args = sandbox.words(&job.cwd, &job.env);
    args.push(job.program.into_os_string());
    args.extend(job.args);
    let name = bwrap.clone().into_os_string();
    Ok(Job { program: bwrap, name, args, is_sandboxed: true, ..job })
}
