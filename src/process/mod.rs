//! The only module that starts programs.
//!
//! [`run()`] starts engines, builds, and `git bisect run` under supervision. On Linux no process
//! outlives its run, even if the process detaches itself or bisect-ppl dies; only a process that
//! hangs in the kernel can. [`tool()`] starts short helpers such as `cc --version`. Both take an
//! [`Invocation`]. [`open_page()`] starts the user's browser, and [`Detached`] this program again,
//! as a process that outlives the terminal.
//!
//! The processes of a supervised run (in this module, "engine" means any supervised program):
//!
//! ```text
//!     ┌──────────────────── socket ────────────────────┐
//! bisect-ppl ──> bisect-ppl __guard ──> bisect-ppl __supervise ──> bisect-ppl __exec = the engine
//!     └────────── stdout and stderr, two pipes ─────────────────────────────────────────┘
//! ```
//!
//! In a [`Sandbox`], `__exec` becomes bubblewrap, and the engine is its child.
//!
//! `__exec` is the stage: it prepares its own process, then becomes the engine. The supervisor
//! adopts all orphans below it (Linux only). It ends all processes when the engine's main process
//! is gone, on an order, or when the socket shows that bisect-ppl is gone. The guard does the same
//! for a supervisor that was killed. If all of them were killed, the [`SlotMark`] tells which
//! processes are left.

mod browser;
mod cpus;
mod descendants;
mod detached;
mod error;
mod guard;
mod host;
mod invocation;
mod job;
mod log;
mod mapped;
mod oom;
mod prepared;
mod program;
mod ready;
mod reexec;
mod run;
mod sandbox;
mod sandbox_trial;
pub mod shim;
mod signals;
mod slot_mark;
#[cfg(target_os = "linux")]
mod socket_diag;
mod sockets;
mod splitter;
mod stage;
mod started;
mod supervised;
mod supervisor;
mod tool;

pub(crate) use browser::open_page;
pub(crate) use cpus::usable_cpus;
pub(crate) use detached::Detached;
pub(crate) use detached::leave_terminal;
pub use error::ProcessError;
pub(crate) use host::{host_name, machine_name, node_name};
pub use invocation::Invocation;
pub(crate) use log::LogWriter;
pub use log::{Keep, Log, Stream, log_bytes, read_log};
pub(crate) use log::{attach, compress_log, compressed_log, is_compressed_log, last_lines};
pub(crate) use oom::oom_kills;
pub use run::{Finished, LogFile, run};
pub use sandbox::Sandbox;
pub(crate) use sandbox::SandboxError;
pub use sandbox_trial::check_sandbox;
pub(crate) use signals::Expiry;
pub use signals::Stop;
pub use slot_mark::SlotMark;
pub(crate) use sockets::{Listener, TcpSockets};
pub(crate) use started::is_alive;
pub use started::started;
pub(crate) use tool::tool_with_input;
pub use tool::{ToolOutput, tool};
