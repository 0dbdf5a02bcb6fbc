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
    Start(Start),
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

/// What a configuration is written for.
#[derive(Debug, ClapArgs)]
pub(crate) struct Recipe {
    /// The model file [default: the likeliest one in the checkout]
    #[arg(long, value_name = "FILE")]
    pub model: Option<PathBuf>,
    /// The text to measure perplexity on [default: the likeliest one in the checkout]
    #[arg(long, value_name = "FILE")]
    pub text: Option<PathBuf>,
}

impl Recipe {
    /// Whether anything is asked for.
    pub(super) fn is_given(&self) -> bool {
        self.model.is_some() || self.text.is_some()
    }
}

/// `localize`.
#[derive(Debug, ClapArgs)]
pub(crate) struct Localize {
    /// The bad commit. It is compared with its first parent
    #[arg(value_name = "COMMIT")]
    pub commit: String,
    /// As for `start`
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// As for `start`. Can be given more than once
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// As for `start`. Can be given more than once
    #[arg(long, value_name = "MEASURE=WORDS")]
    pub arg: Vec<String>,
}

/// `init`.
#[derive(Debug, ClapArgs)]
pub(crate) struct Init {
    /// What it is written for.
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

/// `start`.
#[derive(Debug, ClapArgs)]
#[expect(clippy::struct_excessive_bools, reason = "flags on a command line are bools")]
pub(crate) struct Start {
    /// A good revision [with --find-fix: the newer end, default HEAD]
    #[arg(long, value_name = "REV", required_unless_present = "find_fix")]
    pub good: Option<String>,
    /// A bad revision [default: HEAD; with --find-fix: the older end, required]
    #[arg(long, value_name = "REV", required_if_eq("find_fix", "true"))]
    pub bad: Option<String>,
    /// Find the commit that fixed something: bad is the older end, good the newer one
    #[arg(long)]
    pub find_fix: bool,
    /// The configuration; paths in it start from its folder [default: oracle.toml, here or at
    /// the top of the checkout]
    #[arg(long, value_name = "FILE")]
    pub config: Option<PathBuf>,
    /// How commits are chosen: auto (depends on the noise), git-bisect, posterior
    #[arg(long, value_name = "HOW", default_value = "auto")]
    pub search: String,
    /// Follow first parents only: the answer is the merge that brought the change
    #[arg(long)]
    pub first_parent: bool,
    /// A commit that must not be tested. Can be given more than once
    #[arg(long, value_name = "REV")]
    pub skip: Vec<String>,
    /// Stop at the first commit found, even if it does not explain the whole regression
    #[arg(long)]
    pub first_only: bool,
    /// Do not look for the cause inside the first bad commit: the files and hunks that matter, and
    /// whether a revert heals the bad end
    #[arg(long)]
    pub no_localize: bool,
    /// If the bad end fails and the good end does not, find the commit that made it fail
    #[arg(long)]
    pub allow_failure_hunt: bool,
    /// Find the commit after which repeated runs are no longer bit-identical in this metric.
    /// Guards are ignored
    #[arg(long, value_name = "METRIC=spread")]
    pub target_of: Option<String>,
    /// Set any key of oracle.toml, for this hunt only: guard.ppl.max_increase=0.01,
    /// measure.ppl.timeout=1h. The value counts at every commit; overrides do not change it. The
    /// file stays as it is. If there is no file, `start` writes one, as `init --set` does. Can be
    /// given more than once
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Append words to a measure's command at every commit, also to an override's command, for
    /// this hunt only: ppl='-ctk q8_0'. The words are split as a shell splits them. Can be given
    /// more than once
    #[arg(long, value_name = "MEASURE=WORDS")]
    pub arg: Vec<String>,
    /// Repeat the builds and runs that failed in earlier hunts. Without this option, those
    /// failures count, except a failed build of an endpoint
    #[arg(long)]
    pub retry_failed: bool,
    /// Show what the hunt would do, and start nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Limits, and who is told.
    #[command(flatten)]
    pub unattended: Unattended,
    /// Go on without the terminal: return as soon as the hunt runs. Its output goes to driver.log
    /// in the hunt's folder
    #[arg(long, conflicts_with = "dry_run")]
    pub detach: bool,
    /// Not available yet
    #[arg(long, hide = true)]
    pub slots: Option<u32>,
    /// Search only commits that touch these (git pathspecs)
    #[arg(last = true, value_name = "PATH")]
    pub paths: Vec<String>,
    // Last, because clap puts all options after these under the same heading.
    /// The model and the text, to write a configuration if there is none.
    #[command(
        flatten,
        next_help_heading = "If there is no oracle.toml, to write one as `init` does"
    )]
    pub recipe: Recipe,
}

/// Options of a hunt that is left alone.
#[derive(Debug, ClapArgs)]
pub(crate) struct Unattended {
    /// End at this time, with the best answer so far: 08:00 (the next time that clocks show it) or
    /// 2026-11-24T08:00:00+01:00
    #[arg(long, value_name = "TIME")]
    pub deadline: Option<String>,
    /// End after this many more runs, with the best answer so far. Replaces
    /// statistics.max_runs of oracle.toml
    #[arg(long, value_name = "N", allow_negative_numbers = true,
        value_parser = clap::value_parser!(u32).range(1..))]
    pub max_runs: Option<u32>,
    /// End after this many hours, with the best answer so far
    #[arg(long, value_name = "H", allow_negative_numbers = true)]
    pub max_hours: Option<f64>,
    /// Run this command when the hunt ends or stops, with the result as JSON on stdin; in place of
    /// notify.command of oracle.toml
    #[arg(long, value_name = "CMD")]
    pub on_finish: Option<String>,
}

/// `resume`.
#[derive(Debug, ClapArgs)]
pub(crate) struct Resume {
    /// The hunt, or the beginning of its name [default: the newest]
    pub hunt: Option<String>,
    /// Limits, and who is told.
    #[command(flatten)]
    pub unattended: Unattended,
    /// As for `start`
    #[arg(long)]
    pub detach: bool,
    /// This process is the one that `--detach` started.
    #[arg(long, hide = true, conflicts_with = "detach")]
    pub is_detached: bool,
}

/// A hunt by name.
#[derive(Debug, ClapArgs)]
pub(crate) struct Hunt {
    /// The hunt, or the beginning of its name [default: the newest]
    pub hunt: Option<String>,
}

/// `status`.
#[derive(Debug, ClapArgs)]
pub(crate) struct Status {
    /// The hunt, or the beginning of its name [default: the newest]
    pub hunt: Option<String>,
    /// Show progress until the hunt ends, then its answer; the exit code is the hunt's
    #[arg(long)]
    pub watch: bool,
    /// Wait in silence until the hunt ends, then print its answer; the exit code is the hunt's
    #[arg(long, conflicts_with = "watch")]
    pub wait: bool,
    /// Print report.json, for programs
    #[arg(long)]
    pub json: bool,
}

/// `report`.
#[derive(Debug, ClapArgs)]
pub(crate) struct Report {
    /// The hunt, or the beginning of its name [default: the newest]; or a bundle
    pub hunt: Option<String>,
    /// Read this bundle; no repository is needed
    #[arg(long, value_name = "FILE", conflicts_with = "hunt")]
    pub from: Option<PathBuf>,
    /// Write a bundle: one .tar.zst with the report, the journal, the logs and the records, for
    /// `report --from` and `verify` elsewhere
    #[arg(long, value_name = "FILE", conflicts_with_all = ["format", "open", "diff", "output", "from"])]
    pub bundle: Option<PathBuf>,
    /// The format
    #[arg(long, value_enum, default_value = "md")]
    pub format: Format,
    /// The file to write [default: standard output]
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Open the HTML report in a browser: the one in the variable BROWSER, else the default one
    #[arg(long, conflicts_with = "format")]
    pub open: bool,
    /// Print the diffs of the first bad commits, or of up to three candidates, as `git show` does
    #[arg(long, conflicts_with_all = ["format", "open"])]
    pub diff: bool,
}

/// `verify`.
#[derive(Debug, ClapArgs)]
pub(crate) struct Verify {
    /// The report.json of a hunt, or a bundle of `report --bundle`
    #[arg(value_name = "REPORT")]
    pub report: PathBuf,
    /// Also say whether this revision heals what the first bad commit broke: at every guard, at
    /// every level and in every cell of a sweep
    #[arg(long, value_name = "REV")]
    pub fix: Option<String>,
    /// Where an input is on this machine: model=/data/model.gguf. Its content must be that of the
    /// report. Can be given more than once
    #[arg(long = "input", value_name = "NAME=PATH")]
    pub inputs: Vec<String>,
    /// Set any key of the configuration that the report carries. Can be given more than once
    #[arg(long, value_name = "KEY=VALUE")]
    pub set: Vec<String>,
    /// Run the commands of the report without a question. They are shown
    #[arg(long)]
    pub yes: bool,
    /// Print JSON, for programs
    #[arg(long)]
    pub json: bool,
}

/// A report's format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
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

/// `diff`.
#[derive(Debug, ClapArgs)]
#[command(arg_required_else_help = true, disable_help_subcommand = true)]
pub(crate) struct Diff {
    /// What to compare.
    #[command(subcommand)]
    pub command: DiffCommand,
}

/// What can be compared.
#[derive(Debug, Subcommand)]
pub(crate) enum DiffCommand {
    /// Compare the logits of the same tokens in two files
    #[command(after_help = help::DIFF_LOGITS)]
    Logits(DiffLogits),
    /// Compare the tensors of two dumps in the order of computation, and find the first different
    /// one
    #[command(after_help = help::DIFF_TENSORS)]
    Tensors(DiffTensors),
    /// Any other word
    #[command(external_subcommand)]
    Unknown(Vec<String>),
}

/// `diff tensors`.
#[derive(Debug, ClapArgs)]
pub(crate) struct DiffTensors {
    /// The base: a folder of .npy or .safetensors files, one .safetensors file, or the output of
    /// llama-eval-callback
    #[arg(value_name = "A")]
    pub base: PathBuf,
    /// The candidate, in any of these formats
    #[arg(value_name = "B")]
    pub candidate: PathBuf,
    /// Another dump of A's build, or of a commit without an effect: a tensor may differ by four
    /// times what it differs there. Can be given more than once
    #[arg(long, value_name = "C")]
    pub noise: Vec<PathBuf>,
    /// Show all tensors, not only those near the first different one
    #[arg(long)]
    pub all: bool,
    /// Threads; the figures do not depend on them [default: the usable cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
    /// Print JSON, for programs
    #[arg(long)]
    pub json: bool,
}

/// `diff logits`.
#[derive(Debug, ClapArgs)]
pub(crate) struct DiffLogits {
    /// The base: [positions, vocab] as .npy, .safetensors, or llama.cpp's KL-divergence base file
    #[arg(value_name = "A")]
    pub base: PathBuf,
    /// The candidate, in any of these formats
    #[arg(value_name = "B")]
    pub candidate: PathBuf,
    /// The tensor to compare, in each .safetensors file [default: the only one]
    #[arg(long, value_name = "NAME")]
    pub tensor: Option<String>,
    /// Exit with 1 if the difference is larger
    #[arg(long, value_enum, value_name = "PRESET")]
    pub guard: Option<Preset>,
    /// Threads; the figures do not depend on them [default: the usable cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
    /// Print JSON, for programs
    #[arg(long)]
    pub json: bool,
}

/// The tolerances of `diff logits`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Preset {
    /// All bits are the same
    Bitwise,
    /// No difference above 1e-5
    LosslessF32,
    /// No difference above 1e-3
    LosslessF16,
    /// Every cosine at least 0.999, and mean KL at most 0.01 nats
    Lossy,
}

/// `oracle`.
#[derive(Debug, ClapArgs)]
pub(crate) struct Oracle {
    /// The hunt to judge for [default: none, for a bisect of your own in this worktree]
    #[arg(long, value_name = "HUNT")]
    pub hunt: Option<String>,
    /// The configuration, without a hunt [default: oracle.toml, here or at the top of the
    /// checkout]
    #[arg(long, value_name = "FILE", conflicts_with = "hunt")]
    pub config: Option<PathBuf>,
}

/// `store`.
#[derive(Debug, ClapArgs)]
#[command(arg_required_else_help = true, disable_help_subcommand = true)]
pub(crate) struct Store {
    /// What to do with it.
    #[command(subcommand)]
    pub command: StoreCommand,
}

/// What can be done with the store.
#[derive(Debug, Subcommand)]
pub(crate) enum StoreCommand {
    /// List the hunts of this repository, and the disk space that they take
    #[command(after_help = help::STORE_LS)]
    Ls(StoreLs),
    /// Show a hunt, or each run of a commit with its values and its log
    #[command(after_help = help::STORE_SHOW)]
    Show(StoreShow),
    /// Remove the stored results of a commit, so that it is measured again
    #[command(after_help = help::STORE_FORGET)]
    Forget(StoreForget),
    /// Remove files that nobody needs; the results of hunts stay
    #[command(after_help = help::STORE_GC)]
    Gc(StoreGc),
}

/// `store ls`.
#[derive(Debug, ClapArgs)]
pub(crate) struct StoreLs {
    /// Print JSON, for programs
    #[arg(long)]
    pub json: bool,
}

/// `store show`.
#[derive(Debug, ClapArgs)]
pub(crate) struct StoreShow {
    /// The beginning of a hunt's name, a commit, a run key (6 digits or more) or an attempt
    #[arg(value_name = "WHAT")]
    pub what: String,
}

/// `store forget`.
#[derive(Debug, ClapArgs)]
pub(crate) struct StoreForget {
    /// The commit, by any name that git knows
    #[arg(value_name = "COMMIT")]
    pub commit: String,
    /// Only its build records: how builds and prepare steps ended
    #[arg(long, conflicts_with = "runs")]
    pub builds: bool,
    /// Only its runs
    #[arg(long)]
    pub runs: bool,
}

/// `store gc`.
#[derive(Debug, ClapArgs)]
pub(crate) struct StoreGc {
    /// Also remove hunts in which nothing happened for longer than this (30d, 2w, 12h), with the
    /// results that only they use
    #[arg(long, value_name = "AGE")]
    pub older_than: Option<String>,
    /// Show what would be removed, and remove nothing
    #[arg(long)]
    pub dry_run: bool,
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
