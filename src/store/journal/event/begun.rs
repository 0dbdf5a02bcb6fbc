//! How a hunt began.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::searches::SearchBy;
use crate::evaluation::{
    Aim, CommitId, CommitInfo, DependencyHunt, Limits, Metric, OptionChange, Surroundings,
};

/// A hunt's request and its environment.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Begun {
    /// The hunt's name.
    pub hunt: String,
    /// `bisect-ppl` and its version.
    pub tool: String,
    /// The good endpoint.
    pub good: CommitInfo,
    /// The bad endpoint.
    pub bad: CommitInfo,
    /// The good and the bad revision as the user typed them.
    pub asked: (String, String),
    /// Revisions named in the configuration, with the commits they named at the start.
    #[serde(default)]
    pub revisions: BTreeMap<String, CommitId>,
    /// Patches named in the configuration, with the SHA-256 of their content; the store keeps the
    /// content.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub patches: BTreeMap<String, String>,
    /// The engine's commit to build, if this hunt searches inside one of its dependencies.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub within: Option<DependencyHunt>,
    /// How many commits may be the first bad one.
    pub commits: usize,
    /// Options from the command line.
    pub options: Options,
    /// Digest of the frozen configuration.
    pub config_sha256: String,
    /// The folder that relative paths in the configuration start from.
    pub base: String,
    /// The folder that holds the slots.
    pub slots: String,
    /// The input files by name.
    pub inputs: BTreeMap<String, InputFile>,
    /// Digests of what `[worktree] link` links in, by name. Old journals lack them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub links: BTreeMap<String, String>,
    /// `[environment] probe`: command → output.
    pub environment: BTreeMap<String, String>,
    /// The environment that commands inherit: variables, and the compilers in PATH.
    #[serde(default)]
    pub surroundings: Surroundings,
    /// The machine.
    pub machine: Machine,
    /// The nodes that build, if other jobs build than those that run (`[executor.build]`). Their
    /// first job reports it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub build_node: Option<BuildNode>,
    /// Top of the checkout the hunt was started from; `None` in a bare repository.
    pub checkout: Option<String>,
    /// Git's version.
    pub git: String,
}

impl Begun {
    /// The older and the newer endpoint, in this order.
    pub(crate) fn ends(&self) -> [&CommitId; 2] {
        self.options.aim.swap_if_fix([&self.good.commit, &self.bad.commit])
    }
}

/// Options of `start`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "flags on a command line are bools")]
pub(crate) struct Options {
    /// Whether the hunt looks for the commit that broke something or the one that fixed it.
    #[serde(default, skip_serializing_if = "Aim::is_regression")]
    pub aim: Aim,
    /// Who chooses the next commit.
    #[serde(default)]
    pub search: SearchBy,
    /// Set if the hunt looks for a change of reproducibility: the metric whose repeats should be
    /// bit-identical.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spread_of: Option<Metric>,
    /// Follow first parents only.
    pub first_parent: bool,
    /// End at the first confirmed commit, even if part of the difference stays unexplained.
    pub first_only: bool,
    /// Look for the cause inside the first bad commit. Old journals lack it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub localize: bool,
    /// Hunt for a failure of the bad end without a question.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub allow_failure_hunt: bool,
    /// Commits to skip.
    pub skip: Vec<CommitId>,
    /// Pathspecs after `--`.
    pub paths: Vec<String>,
    /// Stored failures of other hunts do not count: their builds and runs are made again.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub retry_failed: bool,
    /// How many slots the command line asks for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slots: Option<u32>,
    /// The limits from the command line.
    #[serde(default, skip_serializing_if = "Limits::is_empty")]
    pub limits: Limits,
    /// What `--set` and `--arg` changed in the configuration. The frozen configuration has these
    /// changes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<OptionChange>,
}

/// An input file of the runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct InputFile {
    /// The resolved path; the first match of a pattern.
    pub path: String,
    /// SHA-256 of the content.
    pub sha256: String,
}

/// What builds depend on, if they are made on other nodes than runs. All nodes that build are equal
/// in this.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct BuildNode {
    /// The machine.
    pub machine: Machine,
    /// The variables that builds inherit there, and the compilers in PATH.
    pub surroundings: Surroundings,
    /// `[environment] probe` there: command → output.
    pub environment: BTreeMap<String, String>,
}

/// The machine that builds and runs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Machine {
    /// Processor model.
    pub cpu: String,
    /// Logical cores that a run may use.
    pub cores: usize,
    /// Logical cores that this process may use, if the slots of `[executor]` have a part of them
    /// each.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub all_cores: Option<usize>,
    /// Memory, MiB.
    pub memory_mib: u64,
    /// GPUs and driver, as the machine reports them.
    pub gpus: Vec<String>,
    /// Kernel and its release.
    pub kernel: String,
    /// Digest of the processor's model and flags, the GPU, and the driver. Samples of different
    /// classes are never compared.
    pub class: String,
}
