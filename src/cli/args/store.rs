//! The arguments of the commands that look at the store.

use clap::{Args as ClapArgs, Subcommand};

use crate::cli::help;

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
