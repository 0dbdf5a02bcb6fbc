//! `[[prepare]]`, `[[measure]]` and `[[require]]`.

use std::collections::BTreeMap;
use std::time::Duration;

use super::command::Command;
use super::failures::{Failures, Policy};
use crate::config::Parser;
use crate::config::Placeholder;
use crate::config::Template;
use crate::evaluation::Checks;

/// One `[[prepare]]`: a step between build and measures that runs once for each build.
#[derive(Clone, Debug)]
pub(crate) struct Prepare {
    /// Its name, unique; `{prepare.NAME}` is the folder that it fills.
    pub name: String,
    /// What to run.
    pub command: Command,
    /// Wall-clock limit; default 30 minutes.
    pub timeout: Duration,
    /// Declared environment.
    pub env: BTreeMap<String, Template>,
    /// Files that must be in the step's folder afterwards, as paths relative to that folder.
    pub outputs: Vec<String>,
    /// What a commit counts as if this step fails.
    pub failure: Policy,
}

impl Prepare {
    /// All templates of the step: its command and its environment.
    pub(crate) fn templates(&self) -> impl Iterator<Item = &Template> {
        self.command.words.iter().chain(self.env.values())
    }
}

/// One `[[measure]]`.
#[derive(Clone, Debug)]
pub struct Measure {
    /// Its name, unique.
    pub name: String,
    /// What to run.
    pub command: Command,
    /// How to read the output.
    pub(crate) parser: Parser,
    /// The file to read instead of stdout and stderr: a path or pattern below `{out}`.
    pub file: Option<String>,
    /// Wall-clock limit of one run; default 20 minutes.
    pub timeout: Duration,
    /// Declared environment.
    pub(crate) env: BTreeMap<String, Template>,
    /// Working folder; default `{src}`.
    pub(crate) cwd: Option<Template>,
    /// Commands to run before each run, in the same folder and environment.
    pub before: Vec<Command>,
    /// Commands to run after each run, in the same folder and environment.
    pub after: Vec<Command>,
    /// Whether the measure yields numbers or facts.
    pub(crate) kind: MeasureKind,
    /// `[failures]`, overridden by this measure's own settings.
    pub failures: Failures,
    /// What may not happen on this machine during a run.
    pub(crate) exclusive: Exclusive,
    /// Number of warm-ups: runs that do not count, before the first run that does.
    pub warmup: u32,
    /// Whether the measure only helps to find the cause at a first bad commit. Such a measure does
    /// not run at the endpoints or in the search.
    pub for_cause: bool,
    /// Checks that a hunt leaves out of the counts, because they pass or fail by chance. Only a hunt
    /// sets them.
    pub(crate) left_out: Checks,
}

/// `exclusive`: which builds and runs of this program may not happen on this machine during a run of
/// the measure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Exclusive {
    /// All may: `false`.
    #[default]
    No,
    /// No other run, but builds may: `"runs"`.
    Runs,
    /// None: `true`.
    All,
}

impl Measure {
    /// Whether no build and no other run may happen on this machine during a run.
    pub(crate) fn is_exclusive(&self) -> bool {
        self.exclusive == Exclusive::All
    }

    /// All templates of the measure: its commands, environment and working folder.
    pub(crate) fn templates(&self) -> impl Iterator<Item = &Template> {
        let commands = std::iter::once(&self.command).chain(&self.before).chain(&self.after);
        let words = commands.flat_map(|command| &command.words);
        words.chain(self.env.values()).chain(&self.cwd)
    }

    /// Whether a command or variable of the measure uses `{chunks}`.
    pub(crate) fn takes_chunks(&self) -> bool {
        self.templates().flat_map(Template::placeholders).any(|p| *p == Placeholder::Chunks)
    }
}

/// `measure.kind`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MeasureKind {
    /// Values are parsed as numbers. A value that is not a number makes the run unreadable.
    Number,
    /// Values are kept as text.
    Fact,
}

/// One `[[require]]`: what a run must show to count at all.
#[derive(Clone, Debug)]
pub(crate) struct Require {
    /// The measure whose runs are checked.
    pub measure: String,
    /// What each run must show.
    pub what: Required,
}

/// What a `[[require]]` asks for.
#[derive(Clone, Debug)]
pub(crate) enum Required {
    /// A pattern that must match some line of the output, on either stream.
    Pattern(regex::Regex),
    /// `checks = "same-set"`: the run must make the same checks as the runs of the good end.
    SameChecks,
}
