//! The only room that starts programs.
//!
//! [`run`] is for engines, builds, and `git bisect run`: supervised, so that no process
//! outlives its run whatever it does and whatever becomes of us. [`tool`] is for short
//! helpers such as `cc --version`. Both take an [`Invocation`].
//!
//! How a supervised run is laid out:
//!
//! ```text
//! bisect-ppl ──socket── bisect-ppl __supervise ──> bisect-ppl __exec = the engine
//!     └────────── stdout and stderr, two pipes ──────────────────────────┘
//! ```
//!
//! The supervisor adopts every orphan below it and ends them all when the engine's main
//! process is gone, when it is told to, or when the socket says that we are gone.

mod descendants;
mod invocation;
mod job;
mod log;
mod mapped;
mod program;
mod ready;
mod run;
pub mod shim;
mod signals;
mod splitter;
mod stage;
mod started;
mod supervised;
mod supervisor;
mod tool;

pub use invocation::Invocation;
pub use log::{Keep, Log, LogSummary, LogWriter, Stream, attach, read_log};
pub use run::{Finished, LogFile, ProcessError, run};
pub use signals::Stop;
pub use started::started;
pub use tool::{ToolOutput, tool};
