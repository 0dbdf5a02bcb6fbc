//! Processes that an engine starts, and its own end by a signal.

use std::process::Command;
use std::time::Duration;

use rustix::process::{Signal, getpid, kill_process};

/// Ends this process by a signal.
pub(crate) fn die(signal: i32) -> ! {
    let signal = Signal::from_named_raw(signal).expect("a signal");
    loop {
        // The runtime may handle the first signal and restore the default; the second one kills.
        kill_process(getpid(), signal).unwrap();
        std::thread::sleep(Duration::from_millis(5));
    }
}

pub(crate) fn spawn(what: &str) {
    Command::new(std::env::current_exe().unwrap()).arg(what).spawn().unwrap();
}
