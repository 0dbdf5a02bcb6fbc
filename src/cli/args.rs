//! What can be typed.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};

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
    after_help = "Try it: bisect-ppl demo\nYour engine: bisect-ppl init, then bisect-ppl start --good v1 --bad HEAD",
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
    #[command(after_help = "Example: bisect-ppl demo --scenario rope")]
    Demo(Demo),
    /// Read the tree it stands in and write a commented oracle.toml
    #[command(
        after_help = "Example: bisect-ppl init --model model.gguf --text wiki.test.raw --set build.cmake=-DGGML_CUDA=ON"
    )]
    Init(Init),
    /// Preflight: configuration, revisions, tools, inputs, disk, machine; one line each
    #[command(after_help = "Example: bisect-ppl check --good v1 --bad HEAD")]
    Check(Check),
    /// Hunt for the first bad commit between two revisions
    #[command(
        after_help = "Example: bisect-ppl start --good v1 --bad HEAD -- src kernels\n\nExit codes: 0 found, 2 wrong words or files, 3 candidates / gradual / too noisy, 4 the endpoints \
do not show it, 5 stopped by the world, 130 interrupted (5 and 130: `bisect-ppl resume`)"
    )]
    Start(Start),
    /// Go on with an interrupted hunt where it was
    Resume(Hunt),
    /// What a hunt is doing, and what it has found out so far
    Status(Status),
    /// End a running hunt cleanly; it can be resumed
    Stop(Hunt),
    /// A log that `git bisect replay` takes in any clone
    #[command(after_help = "Example: bisect-ppl log > bisect.log && git bisect replay bisect.log")]
    Log(Hunt),
    /// A hunt's report again, from what it stored
    #[command(after_help = "Example: bisect-ppl report --format json -o report.json")]
    Report(Report),
    /// Build and measure one commit by hand
    #[command(after_help = "Example: bisect-ppl measure HEAD~3 --runs 3")]
    Measure(Measure),
    /// What `git bisect run` calls at each commit; also by hand in a bisect of your own
    #[command(
        after_help = "Example: git bisect start HEAD v1 && git bisect run bisect-ppl oracle\n\nExit codes: 0 good, 1 bad, 125 untestable, 128 and more: no verdict, git stops"
    )]
    Oracle(Oracle),
    /// Everything else: named when it is not available yet
    #[command(external_subcommand)]
    Unavailable(Vec<String>),
}

/// `demo`.
#[derive(Debug, ClapArgs)]
pub struct Demo {
    /// Which regression: repack, rope, fused, quant, launch, crash
    #[arg(long, default_value = "repack")]
    pub scenario: String,
    /// Where to lay the repository out [default: a new temporary folder]
    #[arg(long)]
    pub dir: Option<PathBuf>,
}

/// `init`.
#[derive(Debug, ClapArgs)]
pub struct Init {
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
    /// The configuration
    #[arg(long, default_value = "oracle.toml")]
    pub config: PathBuf,
    /// A revision that was right
    #[arg(long)]
    pub good: Option<String>,
    /// A revision that is not
    #[arg(long, default_value = "HEAD")]
    pub bad: String,
}

/// `start`.
#[derive(Debug, ClapArgs)]
#[expect(clippy::struct_excessive_bools, reason = "flags on a command line are bools")]
pub struct Start {
    /// A revision that was right
    #[arg(long, value_name = "REV")]
    pub good: String,
    /// A revision that is not
    #[arg(long, value_name = "REV", default_value = "HEAD")]
    pub bad: String,
    /// The configuration
    #[arg(long, default_value = "oracle.toml")]
    pub config: PathBuf,
    /// How commits are chosen: auto, git-bisect (posterior is not available yet)
    #[arg(long, default_value = "auto")]
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
    /// Not available yet
    #[arg(long, hide = true)]
    pub slots: Option<u32>,
    /// Not available yet
    #[arg(long, hide = true)]
    pub find_fix: bool,
    /// Not available yet
    #[arg(long, hide = true)]
    pub deadline: Option<String>,
    /// Not available yet
    #[arg(long, hide = true)]
    pub detach: bool,
    /// Only commits that touch these paths (git pathspecs)
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
    /// For programs
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
    /// Where to write it [default: standard output]
    #[arg(short, long)]
    pub output: Option<PathBuf>,
}

/// A report's format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Markdown
    Md,
    /// JSON, for programs
    Json,
    /// Not available yet
    #[value(hide = true)]
    Html,
    /// Not available yet
    #[value(hide = true)]
    Issue,
}

/// `measure`.
#[derive(Debug, ClapArgs)]
pub struct Measure {
    /// The commit
    pub revision: String,
    /// The configuration
    #[arg(long, default_value = "oracle.toml")]
    pub config: PathBuf,
    /// How many runs of each measure, those in the store included
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub runs: u32,
    /// For programs
    #[arg(long)]
    pub json: bool,
}

/// `oracle`.
#[derive(Debug, ClapArgs)]
pub struct Oracle {
    /// The hunt that asks; without it, the bisect of the worktree it stands in
    #[arg(long)]
    pub hunt: Option<String>,
    /// The configuration, where no hunt asks
    #[arg(long, default_value = "oracle.toml", conflicts_with = "hunt")]
    pub config: PathBuf,
}
