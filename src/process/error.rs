//! Why a program could not be started or followed.

use std::io;
use std::path::PathBuf;

use super::sandbox::SandboxError;

/// A run that could not be started or followed; not the program's fault.
#[derive(Debug, thiserror::Error)]
pub enum ProcessError {
    /// The log cannot be written, such as for lack of space or permission.
    #[error("cannot write the log {path}")]
    Log {
        /// The file.
        path: PathBuf,
        /// The reason.
        source: io::Error,
    },
    /// The working folder does not exist.
    #[error("the working folder {0} does not exist")]
    Folder(PathBuf),
    /// This executable is not bisect-ppl and no other was set: see [`super::shim::use_program`].
    #[error("no supervisor: this program never called process::shim::enter_if_asked")]
    NoSupervisor,
    /// The system could not provide a process, pipe, or socket.
    #[error("cannot start a process")]
    Start(#[source] io::Error),
    /// The supervisor died without a report; its processes are dead too.
    #[error("the supervising process ended without a report")]
    SupervisorDied,
    /// The sandbox cannot be made, though it could at the start.
    #[error(transparent)]
    Sandbox(#[from] SandboxError),
    /// A pipe or socket of a running program failed.
    #[error("cannot follow a running process")]
    Follow(#[source] io::Error),
}
