//! How far a running build is, from the lines that it prints: the counters of ninja, make (as
//! CMake writes it) and Cargo, and the number of lines.

use std::fmt;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

/// Shortest time between two reports of the same build.
const PAUSE: Duration = Duration::from_millis(400);

/// How far a build is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct BuildProgress {
    /// Lines that the current command printed.
    pub lines: u64,
    /// The latest counter among them.
    pub counter: Option<Counter>,
}

/// A counter that a build tool prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Counter {
    /// ninja's `[12/345]`.
    Steps {
        /// Finished steps.
        done: u64,
        /// All steps.
        all: u64,
    },
    /// make's `[ 45%]`.
    Percent(u8),
    /// The number of Cargo's `Compiling` lines; their total is not printed.
    Crates(u64),
}

impl BuildProgress {
    /// Takes the next line.
    pub(crate) fn see(&mut self, line: &str) {
        self.lines += 1;
        let crates = match self.counter {
            Some(Counter::Crates(count)) => count,
            _ => 0,
        };
        let cargo = || line.trim_start().starts_with("Compiling ");
        let counter = counter(line).or_else(|| cargo().then_some(Counter::Crates(crates + 1)));
        self.counter = counter.or(self.counter);
    }
}

impl fmt::Display for BuildProgress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = |n: u64| if n == 1 { "" } else { "s" };
        match self.counter {
            Some(Counter::Steps { done, all }) => write!(f, "{done} of {all}"),
            Some(Counter::Percent(percent)) => write!(f, "{percent} %"),
            Some(Counter::Crates(count)) => write!(f, "{count} crate{}", plural(count)),
            None => write!(f, "{} line{}", self.lines, plural(self.lines)),
        }
    }
}

/// The counter at the beginning of a line: `[12/345] …` or `[ 45%] …`.
fn counter(line: &str) -> Option<Counter> {
    let (inside, _) = line.trim_start().strip_prefix('[')?.split_once(']')?;
    if let Some(percent) = inside.strip_suffix('%') {
        let percent = percent.trim().parse().ok()?;
        return (percent <= 100).then_some(Counter::Percent(percent));
    }
    let (done, all) = inside.split_once('/')?;
    let number = |text: &str| text.trim().replace(',', "").parse::<u64>().ok();
    let (done, all) = (number(done)?, number(all)?);
    (done <= all).then_some(Counter::Steps { done, all })
}

/// Limits how often the progress of a build is reported.
pub(super) struct Reporter<'a> {
    to: &'a dyn Fn(BuildProgress),
    progress: BuildProgress,
    last: Option<Instant>,
}

impl<'a> Reporter<'a> {
    pub(super) fn new(to: &'a dyn Fn(BuildProgress)) -> Self {
        Self { to, progress: BuildProgress::default(), last: None }
    }

    /// Takes the next line; reports if the last report is long enough ago.
    pub(super) fn see(&mut self, line: &str) {
        self.progress.see(line);
        if self.last.is_none_or(|last| last.elapsed() >= PAUSE) {
            (self.to)(self.progress);
            self.last = Some(Instant::now());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(lines: &[&str]) -> String {
        let mut progress = BuildProgress::default();
        for line in lines {
            progress.see(line);
        }
        progress.to_string()
    }

    #[test]
    fn counters_of_build_tools_are_read() {
        assert_eq!(after(&["-- Configuring done"]), "1 line");
        assert_eq!(after(&["[1/345] cc a.c", "[12/345] cc b.c", "b.c: a warning"]), "12 of 345");
        assert_eq!(after(&["[1,234 / 5,678] compiling"]), "1234 of 5678");
        assert_eq!(after(&["[  1%] Building C object", "[ 45%] Built target ggml"]), "45 %");
        assert_eq!(after(&["   Compiling a v1.0.0", "   Compiling b v0.2.0"]), "2 crates");
    }

    #[test]
    fn other_brackets_are_no_counters() {
        let lines = ["[ok]", "[3/2] x", "[101%]", "[/]", "[a/b]", "[", "Compiling"];
        assert_eq!(after(&lines), "7 lines");
    }

    #[test]
    fn a_fast_build_is_reported_rarely() {
        let count = std::cell::Cell::new(0);
        let to = |_: BuildProgress| count.set(count.get() + 1);
        let mut reporter = Reporter::new(&to);
        for _ in 0..10_000 {
            reporter.see("cc -c x.c");
        }
        assert!(count.get() >= 1 && count.get() < 100, "{}", count.get());
    }
}
