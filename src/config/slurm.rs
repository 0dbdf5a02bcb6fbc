//! `[executor] kind = "slurm"`: a hunt builds and runs in jobs of a Slurm cluster.

use std::time::Duration;

/// How the jobs of a hunt are submitted.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Slurm {
    /// The jobs that measure: the hunt's own, and those that measure ahead.
    pub measure: JobOptions,
    /// The jobs that build; `None` if the jobs that measure build too.
    pub build: Option<JobOptions>,
    /// Where a claim that depends on the speed of the node is confirmed.
    pub confirm: ConfirmNode,
}

/// What jobs of one kind ask Slurm for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct JobOptions {
    /// `--partition`.
    pub partition: Option<String>,
    /// `--account`.
    pub account: Option<String>,
    /// `--gres`, such as `gpu:1`.
    pub gres: Option<String>,
    /// `--constraint`.
    pub constraint: Option<String>,
    /// `--container`: the folder of an OCI bundle, in which the job's command runs.
    pub container: Option<String>,
    /// `--time`: the longest that one job may take. A hunt that takes longer goes on in a new job.
    pub time: Option<Duration>,
    /// The most jobs of this kind at the same time.
    pub max_jobs: usize,
    /// Further options for sbatch, checked when the file is read.
    pub sbatch_args: Vec<String>,
}

impl Default for JobOptions {
    /// One job at a time, as the cluster's defaults have it.
    fn default() -> Self {
        Self {
            partition: None,
            account: None,
            gres: None,
            constraint: None,
            container: None,
            time: None,
            max_jobs: 1,
            sbatch_args: Vec::new(),
        }
    }
}

/// The node of a confirmation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ConfirmNode {
    /// The node on which the search ran.
    #[default]
    Same,
    /// Another node, if there is one.
    Other,
}

/// The shortest allowed `time`. Slurm sends its warning up to two minutes before the end, and a
/// build and a run must fit before that.
pub(super) const SHORTEST_JOB: Duration = Duration::from_mins(5);

/// Options of sbatch that `sbatch_args` may have. They say what a job gets and where it runs.
/// Options that change what is run, or where its output goes, are not among them.
const ALLOWED: [&str; 23] = [
    "comment",
    "cores-per-socket",
    "cpus-per-gpu",
    "cpus-per-task",
    "exclude",
    "exclusive",
    "extra-node-info",
    "gpus",
    "gpus-per-node",
    "hint",
    "licenses",
    "mem",
    "mem-bind",
    "mem-per-cpu",
    "mem-per-gpu",
    "mincpus",
    "nice",
    "nodelist",
    "qos",
    "reservation",
    "threads-per-core",
    "tmp",
    "wckey",
];

/// Options that have a key of their own.
const KEYS: [&str; 6] = ["partition", "account", "gres", "constraint", "container", "time"];

/// Variables that Slurm sets in a job to choose among equal devices. No result depends on their
/// values.
pub(super) const DEVICES: [&str; 5] = [
    "CUDA_VISIBLE_DEVICES",
    "GPU_DEVICE_ORDINAL",
    "HIP_VISIBLE_DEVICES",
    "ROCR_VISIBLE_DEVICES",
    "ZE_AFFINITY_MASK",
];

impl Slurm {
    /// How many commits are built or measured at the same time, each in a slot of its own. The job
    /// that drives the hunt has the first slot.
    pub(crate) fn most_commits(&self) -> usize {
        let builds = self.build.as_ref().map_or(0, |build| build.max_jobs);
        self.measure.max_jobs.max(builds)
    }

    /// Whether more jobs may build than measure: commits are built ahead then.
    pub(crate) fn builds_ahead(&self) -> bool {
        self.most_commits() > self.measure.max_jobs
    }

    /// Whether a job of its own measures in this slot. The slots behind those of the jobs that
    /// measure are for commits that are built ahead: processes beside the driver have them.
    pub(crate) fn has_job(&self, slot: usize) -> bool {
        slot < self.measure.max_jobs
    }

    /// Whether Slurm sets this variable in each job to choose the job's devices.
    pub(crate) fn chooses_devices_by(name: &str) -> bool {
        DEVICES.contains(&name)
    }
}

/// What is wrong with a word of `sbatch_args`, if something is.
pub(super) fn check_sbatch_arg(word: &str) -> Result<(), String> {
    let Some(option) = word.strip_prefix("--") else {
        return Err(format!("`{word}` is not an option; write --NAME=VALUE as one string."));
    };
    let name = option.split_once('=').map_or(option, |(name, _)| name);
    if let Some((name, value)) = name.split_once(char::is_whitespace) {
        return Err(format!("`{word}` has a space; write `--{name}={}`.", value.trim()));
    }
    if KEYS.contains(&name) {
        return Err(format!("`{word}`: use the key `{name}`."));
    }
    if ALLOWED.contains(&name) {
        return Ok(());
    }
    let all: Vec<String> = ALLOWED.iter().map(|name| format!("--{name}")).collect();
    Err(format!("`{word}` cannot be set for jobs. These can: {}", all.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_of_sbatch_say_what_a_job_gets_and_nothing_else() {
        for word in ["--qos=low", "--mem=4G", "--exclusive", "--cpus-per-task=8"] {
            assert_eq!(check_sbatch_arg(word), Ok(()), "{word}");
        }
        for (word, why) in [
            ("-p", "not an option"),
            ("low", "not an option"),
            ("--qos low", "has a space; write `--qos=low`"),
            ("--partition=main", "use the key `partition`"),
            ("--container=/a", "use the key `container`"),
            ("--output=x", "cannot be set for jobs. These can: --comment"),
            ("--array=1-3", "cannot be set"),
            ("--wrap=id", "cannot be set"),
        ] {
            assert!(check_sbatch_arg(word).unwrap_err().contains(why), "{word}");
        }
    }
}
