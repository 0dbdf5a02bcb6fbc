//! What can be typed.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};
use clap_complete::Shell;

use super::help;

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
pub struct Args {
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Hunt in the bundled engine's history, end to end
    #[command(after_help = help::DEMO)]
    Demo(Demo),
    /// Read the tree it stands in and write a commented oracle.toml
    #[command(after_help = help::INIT)]
    Init(Init),
    /// What would stand in a hunt's way, one line each, with the cure
    #[command(after_help = help::CHECK)]
    Check(Check),
    /// Hunt for the first bad commit between two revisions
    #[command(after_help = help::START)]
    Start(Start),
    /// What a hunt is doing, and what it has found out so far
    #[command(after_help = help::STATUS)]
    Status(Status),
    /// End a running hunt cleanly; it can be resumed
    #[command(after_help = help::STOP)]
    Stop(Hunt),
    /// Go on with an interrupted hunt where it was
    #[command(after_help = help::RESUME)]
    Resume(Hunt),
    /// A hunt's report again, from what it stored
    #[command(after_help = help::REPORT)]
    Report(Report),
    /// A log that `git bisect replay` takes in any clone
    #[command(after_help = help::LOG)]
    Log(Hunt),
    /// Build and measure one commit by hand
    #[command(after_help = help::MEASURE)]
    Measure(Measure),
    /// What `git bisect run` calls; also in a bisect of your own
    #[command(after_help = help::ORACLE)]
    Oracle(Oracle),
    /// What has been measured here: list it, look at it, tidy up
    Store(Store),
    /// The JSON schema of oracle.toml, for editors
    #[command(after_help = help::SCHEMA)]
    Schema,
    /// A script that completes commands and options in a shell
    #[command(after_help = help::COMPLETIONS)]
    Completions(Completions),
    /// The manual, for `man`
    #[command(after_help = help::MAN)]
    Man(Man),
    /// Everything else: named when it is not available yet
    #[command(external_subcommand)]
    Unavailable(Vec<String>),
}

/// `demo`.
#[derive(Debug, ClapArgs)]
pub struct Demo {
    /// Which regression: repack, rope, fused, quant, launch, crash
    #[arg(long, value_name = "NAME", default_value = "repack")]
    pub scenario: String,
    /// A new or empty folder to lay the repository out in [default: a temporary one]
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
}

/// What a configuration is written for.
#[derive(Debug, ClapArgs)]
pub struct Recipe {
    /// The model that runs read [default: the likeliest that lies here]
    #[arg(long, value_name = "FILE")]
    pub model: Option<PathBuf>,
    /// The text that perplexity is measured on [default: the likeliest that lies here]
    #[arg(long, value_name = "FILE")]
    pub text: Option<PathBuf>,
    /// Any key of oracle.toml, such as run.threads=8, guard.ppl.max_increase=0.1 or
    /// measure.ppl.timeout=1h; build.cmake, build.cargo and build.make add words to the
    /// build's command. May be given more than once
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
}

impl Recipe {
    /// Whether anything is asked for.
    pub(super) fn is_given(&self) -> bool {
        self.model.is_some() || self.text.is_some() || !self.set.is_empty()
    }
}

/// `init`.
#[derive(Debug, ClapArgs)]
pub struct Init {
    /// What it is written for.
    #[command(flatten)]
    pub recipe: Recipe,
    /// Where to write it; `-` is standard output
    #[arg(short = 'o', long, value_name = "FILE", default_value = "oracle.toml")]
    pub config: PathBuf,
    /// Write over a file that is there
    #[arg(long)]
    pub force: bool,
}

/// `check`.
#[derive(Debug, ClapArgs)]
pub struct Check {
    /// The configuration; paths in it start from its folder [default: oracle.toml, here or at
    /// the top of the checkout]
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// A revision that was right
    #[arg(long, value_name = "REV")]
    pub good: Option<String>,
    /// A revision that is not
    #[arg(long, value_name = "REV", default_value = "HEAD")]
    pub bad: String,
}

/// `start`.
#[derive(Debug, ClapArgs)]
#[expect(clippy::struct_excessive_bools, reason = "flags on a command line are bools")]
pub struct Start {
    /// A revision that is right [with --find-fix the newer end, by default HEAD]
    #[arg(long, value_name = "REV", required_unless_present = "find_fix")]
    pub good: Option<String>,
    /// A revision that is not [default: HEAD; with --find-fix the older end, to be given]
    #[arg(long, value_name = "REV", required_if_eq("find_fix", "true"))]
    pub bad: Option<String>,
    /// Hunt the commit that mended something: bad is the older end, good the newer one
    #[arg(long)]
    pub find_fix: bool,
    /// The configuration; paths in it start from its folder [default: oracle.toml, here or at
    /// the top of the checkout]
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Who chooses the commits: auto (the noise decides), git-bisect, posterior
    #[arg(long, value_name = "HOW", default_value = "auto")]
    pub search: String,
    /// Follow first parents only: name the merge that brought it in
    #[arg(long)]
    pub first_parent: bool,
    /// A commit not to be tested; may be given more than once
    #[arg(long, value_name = "REV")]
    pub skip: Vec<String>,
    /// End at the first one found, even where it does not explain the whole regression
    #[arg(long)]
    pub first_only: bool,
    /// Hunt the commit from which a metric's repeats stop being bit-identical, in place of the
    /// guards: METRIC=spread
    #[arg(long, value_name = "METRIC=spread")]
    pub target_of: Option<String>,
    /// What a configuration is written for, where there is none.
    #[command(flatten, next_help_heading = "Without an oracle.toml, to write one as `init` does")]
    pub recipe: Recipe,
    /// Not available yet
    #[arg(long, hide = true)]
    pub slots: Option<u32>,
    /// Not available yet
    #[arg(long, hide = true)]
    pub deadline: Option<String>,
    /// Not available yet
    #[arg(long, hide = true)]
    pub detach: bool,
    /// Search only commits that touch these (git pathspecs)
    #[arg(last = true, value_name = "PATH")]
    pub paths: Vec<String>,
}

/// A hunt by name.
#[derive(Debug, ClapArgs)]
pub struct Hunt {
    /// The hunt, or the beginning of its name [default: the newest]
    pub hunt: Option<String>,
}

/// `status`.
#[derive(Debug, ClapArgs)]
pub struct Status {
    /// The hunt, or the beginning of its name [default: the newest]
    pub hunt: Option<String>,
    /// Go on showing what happens until the hunt ends
    #[arg(long)]
    pub watch: bool,
    /// Wait in silence until the hunt ends; the exit code is the hunt's
    #[arg(long, conflicts_with = "watch")]
    pub wait: bool,
    /// As report.json, for programs
    #[arg(long)]
    pub json: bool,
}

/// `report`.
#[derive(Debug, ClapArgs)]
pub struct Report {
    /// The hunt, or the beginning of its name [default: the newest]
    pub hunt: Option<String>,
    /// The format
    #[arg(long, value_enum, default_value = "md")]
    pub format: Format,
    /// Write it to a file, whole or not at all [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// A report's format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Markdown
    Md,
    /// JSON, for programs
    Json,
    /// One file for a browser
    Html,
    /// At most 40 lines to paste into an issue tracker
    Issue,
}

/// `measure`.
#[derive(Debug, ClapArgs)]
pub struct Measure {
    /// The commit, by any name that git knows
    #[arg(value_name = "REV")]
    pub revision: String,
    /// The configuration; paths in it start from its folder [default: oracle.toml, here or at
    /// the top of the checkout]
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// Runs of each measure, 1 to 1000; those in the store count
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub runs: u32,
    /// As JSON, for programs
    #[arg(long)]
    pub json: bool,
}

/// `oracle`.
#[derive(Debug, ClapArgs)]
pub struct Oracle {
    /// The hunt that asks; without it, the bisect of the worktree it stands in
    #[arg(long, value_name = "HUNT")]
    pub hunt: Option<String>,
    /// The configuration, where no hunt asks [default: oracle.toml, here or at the top of the
    /// checkout]
    #[arg(long, value_name = "FILE", conflicts_with = "hunt")]
    pub config: Option<PathBuf>,
}

/// `store`.
#[derive(Debug, ClapArgs)]
#[command(arg_required_else_help = true, disable_help_subcommand = true)]
pub struct Store {
    /// What to do with it.
    #[command(subcommand)]
    pub command: StoreCommand,
}

/// What can be done with the store.
#[derive(Debug, Subcommand)]
pub enum StoreCommand {
    /// The hunts of this repository, and what they take on the disk
    #[command(after_help = help::STORE_LS)]
    Ls(StoreLs),
    /// A hunt, or every run of a commit with its values and its log
    #[command(after_help = help::STORE_SHOW)]
    Show(StoreShow),
    /// Remove what nobody needs; what a hunt measured stays
    #[command(after_help = help::STORE_GC)]
    Gc(StoreGc),
}

/// `store ls`.
#[derive(Debug, ClapArgs)]
pub struct StoreLs {
    /// As JSON, for programs
    #[arg(long)]
    pub json: bool,
}

/// `store show`.
#[derive(Debug, ClapArgs)]
pub struct StoreShow {
    /// The beginning of a hunt's name, a commit, a run key (6 digits or more) or an attempt
    #[arg(value_name = "WHAT")]
    pub what: String,
}

/// `store gc`.
#[derive(Debug, ClapArgs)]
pub struct StoreGc {
    /// Remove hunts too that have been at rest for longer (30d, 2w, 12h), with what only they
    /// measured
    #[arg(long, value_name = "AGE")]
    pub older_than: Option<String>,
    /// Say what would go, and remove nothing
    #[arg(long)]
    pub dry_run: bool,
}

/// `completions`.
#[derive(Debug, ClapArgs)]
pub struct Completions {
    /// The shell
    #[arg(value_enum)]
    pub shell: Shell,
}

/// `man`.
#[derive(Debug, ClapArgs)]
pub struct Man {
    /// Write a page for each command into a folder, made when it is not there [default: the
    /// main page, to standard output]
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
}
