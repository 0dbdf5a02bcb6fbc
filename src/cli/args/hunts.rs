//! The arguments of the commands that start, drive and show hunts.

use std::path::PathBuf;

use clap::Args as ClapArgs;

use super::recipe::Recipe;

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
    /// Measure in this many slots at the same time: commits that the search may ask about next are
    /// measured ahead. Memory and CPUs must be enough for all [default: as many as oracle.toml
    /// lists, else 1]
    #[arg(long, value_name = "N", value_parser = slots)]
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
    /// End when jobs or runs have used this many GPU-hours, with the best answer so far. Needs a
    /// number of GPUs: gres of `[executor]`, or CUDA_VISIBLE_DEVICES in the env of its slots
    #[arg(long, value_name = "H", allow_negative_numbers = true)]
    pub max_gpu_hours: Option<f64>,
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
    /// This process is in a job, as this attempt of the hunt's driver.
    #[arg(long, hide = true, conflicts_with_all = ["detach", "is_detached"])]
    pub job: Option<String>,
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

/// Reads the number of slots.
fn slots(text: &str) -> Result<u32, String> {
    let number = text.parse().ok().filter(|number| (1..=64).contains(number));
    number.ok_or_else(|| "write a number from 1 to 64".to_owned())
}
