//! The test kit: an isolated environment, a short notation for histories, an oracle.toml to vary,
//! and the engine's own log of what really ran.

mod browser;
mod clock;
mod environment;
mod history;
mod hunt;
mod oracle;
pub(crate) mod planted;
mod processes;
mod running;
pub(crate) mod shell_engine;
mod snapshot;
mod spans;

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Once};

use signal_hook::consts::SIGINT;

pub(crate) use browser::{show, show_again, show_place};
pub(crate) use clock::Clock;
pub(crate) use environment::{TestEnvironment, in_path, other_git};
pub(crate) use history::{History, Plan, graph, line};
pub(crate) use hunt::{Hunt, events};
pub(crate) use oracle::Oracle;
pub(crate) use processes::{Process, kill};
pub(crate) use running::{Output, PATIENCE, Running, wait_until};
pub(crate) use snapshot::Snapshot;
pub(crate) use spans::most_at_once;

/// Makes SIGINT work in programs that tests start, even if the tests run with SIGINT ignored, as
/// background jobs of a shell without job control do. A signal that has a handler here has its
/// default action in a started program.
pub(crate) fn heed_interrupts() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let as_before = Arc::new(AtomicBool::new(true));
        signal_hook::flag::register_conditional_default(SIGINT, as_before).unwrap();
    });
}

/// The perplexity of a good commit, as the engine prints it.
pub(crate) const GOOD: f64 = 7.0;
/// The perplexity of a bad commit.
pub(crate) const BAD: f64 = 7.5;
