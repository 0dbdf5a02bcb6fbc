//! The arguments of the commands that show and check an answer.

use std::path::PathBuf;

use clap::{Args as ClapArgs, ValueEnum};

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
    /// Show the commands of the report and run them without asking
    #[arg(long)]
    pub yes: bool,
    /// Print JSON, for programs
    #[arg(long)]
    pub json: bool,
}
