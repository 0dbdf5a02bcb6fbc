//! Asks the user at the terminal.

use std::io::{self, BufRead, IsTerminal};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::{Ui, text};

/// Time between two checks of whether a question is over.
const POLL_INTERVAL: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };

/// Asks a question on stderr and reads `y` or `n` from stdin. `None` without a terminal on both,
/// without an answer within `patience`, or as soon as `is_over` is true.
pub(crate) fn yes_or_no(
    question: &str,
    patience: Duration,
    is_over: impl Fn() -> bool,
) -> Option<bool> {
    if !io::stdin().is_terminal() || !io::stderr().is_terminal() {
        return None;
    }
    let ui = Ui::new();
    ui.line(&text::line(question));
    let began = Instant::now();
    loop {
        ui.line("[y/n]");
        while !is_readable() {
            if is_over() || began.elapsed() >= patience {
                return None;
            }
        }
        let mut answer = String::new();
        match io::stdin().lock().read_line(&mut answer) {
            Ok(0) | Err(_) => return None,
            Ok(_) => {}
        }
        match answer.trim().to_lowercase().as_str() {
            "y" | "yes" => return Some(true),
            "n" | "no" => return Some(false),
            _ => {}
        }
    }
}

/// Waits a moment for a line on stdin.
fn is_readable() -> bool {
    let stdin = io::stdin();
    let mut waiting = [PollFd::new(&stdin, PollFlags::IN)];
    // An interrupted poll counts as no line.
    poll(&mut waiting, Some(&POLL_INTERVAL)).is_ok_and(|ready| ready > 0)
}
