//! What the tests are told with: a sealed environment, histories that speak the domain, an
//! oracle.toml to vary, and the engine's own account of what really ran.

mod environment;
mod history;
mod hunt;
mod oracle;
mod processes;
mod snapshot;

pub use environment::{Output, PATIENCE, TestEnvironment, wait_until};
pub use history::{History, graph, line};
pub use hunt::Hunt;
pub use oracle::Oracle;
pub use processes::{Process, kill};
pub use snapshot::Snapshot;

/// The perplexity of a good commit, as the engine prints it.
pub const GOOD: f64 = 7.0;
/// The perplexity of a bad commit.
pub const BAD: f64 = 7.5;
