//! The arguments of all commands.

mod answers;
mod files;
mod hunts;
mod recipe;
mod store;

use std::path::PathBuf;

use clap::{Args as ClapArgs, Parser, Subcommand};
use clap_complete::Shell;

use super::help;

pub(crate) use answers::{Format, Report, Verify};
pub(crate) use files::{Diff, DiffCommand, DiffLogits, DiffTensors, Preset};
pub(crate) use hunts::{Hunt, Localize, Resume, Start, Status, Unattended};
pub(crate) use recipe::Recipe;
pub(crate) use store::{Store, StoreCommand, StoreForget, StoreGc, StoreLs, StoreShow};

/// The command line.
#[derive(Debug, Parser)]
#[command(
    name = "bisect-ppl",
    version,
    about = "Finds the commit that made an inference engine's answers worse, or made it slower",
    long_about = "Finds the commit that made an inference engine's answers worse, or made it \
slower. Drives `git bisect run`: at each commit it builds the engine, measures it, judges it \
against a declared tolerance, and names a first bad commit only after measuring it and its \
parents afresh.",
    after_help = help::TOP,
    disable_help_subcommand = true,
    arg_required_else_help = true
)]
pub(crate) struct Args {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
    /// Print only the hunt's name, warnings, errors and the result
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Also show each build and run of a hunt: its command, its time and its log
    #[arg(short, long, global = true)]
    pub verbose: bool,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Hunt in the bundled engine's history, end to end
    #[command(after_help = help::DEMO)]
    Demo(Demo),
    /// Read the source tree and write a commented oracle.toml
    #[command(after_help = help::INIT)]
    Init(Init),
    /// Check what a hunt needs, and say how to fix what is missing
    #[command(after_help = help::CHECK)]
    Check(Check),
    /// Hunt for the first bad commit between two revisions
    #[command(after_help = help::START)]
    Start(Box<Start>),
    /// Show what a hunt does now, and what it has found so far
    #[command(after_help = help::STATUS)]
    Status(Status),
    /// End a running hunt cleanly; it can be resumed
    #[command(after_help = help::STOP)]
    Stop(Hunt),
    /// Continue an interrupted hunt
    #[command(after_help = help::RESUME)]
    Resume(Resume),
    /// Show a hunt's report
    #[command(after_help = help::REPORT)]
    Report(Report),
    /// Find the files and hunks that matter in a bad commit
    #[command(after_help = help::LOCALIZE)]
    Localize(Localize),
    /// Print a log that `git bisect replay` accepts in any clone
    #[command(after_help = help::LOG)]
    Log(Hunt),
    /// Measure a report's first bad commit again, on this machine
    #[command(after_help = help::VERIFY)]
    Verify(Verify),
    /// Build and measure one commit
    #[command(after_help = help::MEASURE)]
    Measure(Measure),
    /// Compare two dumps of logits or of tensors, without any commit
    Diff(Diff),
    /// Judge the checked-out commit; `git bisect run` calls it
    #[command(after_help = help::ORACLE)]
    Oracle(Oracle),
    /// List, show and remove stored results
    Store(Store),
    /// Print the JSON schema of oracle.toml, for editors
    #[command(after_help = help::SCHEMA)]
    Schema,
    /// Print a script that completes commands and options in a shell
    #[command(after_help = help::COMPLETIONS)]
    Completions(Completions),
    /// Print the manual page, for `man`
    #[command(after_help = help::MAN)]
    Man(Man),
    /// Show the help of a command, or a document, offline
    #[command(after_help = help::HELP)]
    Help(Help),
    /// Any other word: an unknown command, or one that is not available yet
    #[command(external_subcommand)]
    Unavailable(Vec<String>),
}

/// `demo`.
#[derive(Debug, ClapArgs)]
pub(crate) struct Demo {
    /// Which regression: repack, rope, fused, quant, launch, crash
    #[arg(long, value_name = "NAME", default_value = "repack")]
    pub scenario: String,
    /// A new or empty folder for the repository [default: a temporary one]
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
}

/// `init`.
#[derive(Debug, ClapArgs)]
pub(crate) struct Init {
    /// The model and the text.
    #[command(flatten)]
    pub recipe: Recipe,
    /// Set any key of oracle.toml, such as run.threads=8, guard.ppl.max_increase=0.1 or
    /// measure.ppl.timeout=1h; build.cmake, build.cargo and build.make add words to the build
    /// command. Can be given more than once
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// The file to write; `-` is standard output
    #[arg(short = 'o', long, value_name = "FILE", default_value = "oracle.toml")]
    pub config: PathBuf,
    /// Overwrite an existing file
    #[arg(long)]
    pub force: bool,
}

/// `check`.
#[derive(Debug, ClapArgs)]
#[expect(clippy::struct_excessive_bools, reason = "flags on a command line are bools")]
pub(crate) struct Check {
    /// The configuration; paths in it start from its folder [default: oracle.toml, here or at
    /// the top of the checkout]
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// A good revision; with it, the range is checked too, as `start` does
    #[arg(long, value_name = "REV")]
    pub good: Option<String>,
    /// A bad revision [default: HEAD; with --find-fix: the older end, required]
    #[arg(long, value_name = "REV", required_if_eq("find_fix", "true"))]
    pub bad: Option<String>,
    /// As for `start`
    #[arg(long)]
    pub find_fix: bool,
    /// As for `start`
    #[arg(long)]
    pub first_parent: bool,
    /// As for `start`; can be given more than once
    #[arg(long, value_name = "REV")]
    pub skip: Vec<String>,
    /// As for `start`
    #[arg(long, value_name = "METRIC=spread")]
    pub target_of: Option<String>,
    /// Build one commit and run each measure once: the good end if it is given, else the bad end
    #[arg(long)]
    pub build: bool,
    /// Print JSON, for programs
    #[arg(long)]
    pub json: bool,
    /// As for `start`
    #[arg(last = true, value_name = "PATH")]
    pub paths: Vec<String>,
}

/// `measure`.
#[derive(Debug, ClapArgs)]
pub(crate) struct Measure {
    /// The commit, by any name that git knows
    #[arg(value_name = "REV")]
    pub revision: String,
    /// The configuration; paths in it start from its folder [default: oracle.toml, here or at
    /// the top of the checkout]
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// How many runs of each measure, 1 to 1000; stored runs count
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub runs: u32,
    /// Print JSON, for programs
    #[arg(long)]
    pub json: bool,
}

/// `oracle`.
#[derive(Debug, ClapArgs)]
pub(crate) struct Oracle {
    /// The hunt to judge for [default: none, for a bisect of your own in this worktree]
    #[arg(long, value_name = "HUNT")]
    pub hunt: Option<String>,
    /// A commit to measure ahead, as JSON; only the driver of a hunt uses this
    #[arg(long, hide = true, requires = "hunt", requires = "slot")]
    pub ahead: Option<String>,
    /// The slot to measure ahead in
    #[arg(long, hide = true, requires = "ahead")]
    pub slot: Option<usize>,
    /// Builds what the attempt asks for
    #[arg(long, hide = true, requires = "hunt", requires = "job", conflicts_with = "ahead")]
    pub build: bool,
    /// The attempt, if this process is in a job
    #[arg(long, hide = true, requires = "hunt")]
    pub job: Option<String>,
    /// The configuration, without a hunt [default: oracle.toml, here or at the top of the
    /// checkout]
    #[arg(long, value_name = "FILE", conflicts_with = "hunt")]
    pub config: Option<PathBuf>,
}

/// `completions`.
#[derive(Debug, ClapArgs)]
pub(crate) struct Completions {
    /// The shell
    #[arg(value_enum)]
    pub shell: Shell,
}

/// `man`.
#[derive(Debug, ClapArgs)]
pub(crate) struct Man {
    /// Write a page for each command into this folder, which is created if it is missing
    /// [default: the main page, to standard output]
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
}

/// `help`.
#[derive(Debug, ClapArgs)]
pub(crate) struct Help {
    /// A command, or the name of a document [default: the list of commands]
    #[arg(value_name = "COMMAND|TOPIC")]
    pub words: Vec<String>,
}
