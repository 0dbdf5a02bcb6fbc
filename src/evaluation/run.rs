//! The stored record of a run: one execution of one measure's command.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::{
    CommitId, Ended, Evidence, Failure, FailureKind, GitFolderChange, Host, Loaded, MachineStates,
    Resources, TakenPort,
};

/// Why a run was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Phase {
    /// At the good or bad endpoint, before the search.
    Endpoint,
    /// At a commit that the search picked.
    Search,
    /// A fresh run at the first bad commit or one of its parents.
    Confirm,
    /// At the first bad commit and its parents with each other's ruler (the measuring files), to
    /// see whether the engine or the ruler makes the step.
    Ruler,
    /// At the parent of the first bad commit with part of the commit's change, or at the bad
    /// endpoint without that part, to see which part makes the step.
    Localize,
    /// At the first bad commit and its worst parent, to see where and how the regression shows.
    Inquiry,
    /// At the good endpoint, to see whether a failure is the commit's fault or the machine's.
    Control,
    /// By the user, without a hunt.
    Manual,
}

impl Phase {
    /// Whether this phase may reuse a run or build made for `other`. `is_ours`: this hunt made it.
    /// A confirmation takes only this hunt's confirmation runs. A check of the ruler takes only
    /// runs and builds of confirmations and of other such checks. An inquiry takes only those of
    /// confirmations and of inquiries.
    pub(crate) fn may_reuse(self, other: Self, is_ours: bool) -> bool {
        match self {
            Self::Confirm => other == Self::Confirm && is_ours,
            Self::Ruler => matches!(other, Self::Confirm | Self::Ruler),
            Self::Inquiry => matches!(other, Self::Confirm | Self::Inquiry),
            Self::Endpoint | Self::Search | Self::Localize | Self::Control | Self::Manual => true,
        }
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Endpoint => "endpoint",
            Self::Search => "search",
            Self::Confirm => "confirm",
            Self::Ruler => "ruler",
            Self::Localize => "localize",
            Self::Inquiry => "inquiry",
            Self::Control => "control",
            Self::Manual => "manual",
        })
    }
}

/// A run as it happened. Its values and its verdict are not stored, but derived from the log each
/// time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "facts about a run are bools")]
pub(crate) struct RunRecord {
    /// Unique name of this attempt. Its files have this name.
    pub attempt: String,
    /// The key under which the run is stored.
    pub run_key: String,
    /// The measure.
    pub measure: String,
    /// The commit whose build ran.
    pub commit: CommitId,
    /// Why the run was made.
    pub phase: Phase,
    /// The hunt that made the run, if any.
    pub hunt: Option<String>,
    /// The command with its placeholders filled in, one word per entry.
    pub argv: Vec<String>,
    /// The working folder.
    pub cwd: String,
    /// The folder that holds this run's `{src}` and `{build}`.
    pub slot: String,
    /// The environment variables that the configuration adds to the user's.
    pub env: BTreeMap<String, String>,
    /// The CPUs that `[executor]` gave the run; empty for all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cpus: Vec<usize>,
    /// When the run started (RFC 3339, UTC).
    pub started: String,
    /// Its time and memory.
    #[serde(flatten)]
    pub used: Resources,
    /// How the command ended.
    pub ended: Ended,
    /// When the build that ran was finished (RFC 3339, UTC). A confirmation needs builds newer than
    /// the search's.
    pub built: String,
    /// Whether this was a warm-up.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub warm_up: bool,
    /// Whether a worker made the run ahead, before the search asked for it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub ahead: bool,
    /// Whether this was an exclusive run: no other build or run of this program at the same time.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub alone: bool,
    /// The `[[prepare]]` step that failed, so that the measure did not run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prepare: Option<FailedPrepare>,
    /// The computer that made the run; `None` in records of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub host: Option<Host>,
    /// The machine's state before and after; `None` if nothing ran, and in records of older
    /// versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<MachineStates>,
    /// The files that the run loaded; `None` if nothing ran, and in records of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loaded: Option<Loaded>,
    /// The files with tensors that the run wrote, if its measure reads such files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dumps: Vec<Dumped>,
    /// Set if nothing ran because the binaries are identical to those of this attempt. Its output
    /// is reused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub same_as: Option<String>,
    /// The commit of that attempt; `None` in records of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub same_commit: Option<CommitId>,
    /// The run had an empty home folder, while other runs of the hunt had the user's home folder.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub empty_home: bool,
    /// A file that the run or its build wrote into that empty home folder, as `~/PATH`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wrote_home: Option<String>,
    /// What changed in the git folder that all worktrees share, during the run or else during its
    /// build.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git_folder: Option<GitFolderChange>,
    /// The files that git tracks, that its build wrote, and that the run opened after they were put
    /// back: paths below the checkout. Empty also in records of older versions.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub put_back: Vec<String>,
    /// The port that the run wanted and a program outside the run held. Such a run never counts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub taken_port: Option<TakenPort>,
    /// SHA-256 of the log, set when the record is stored; `None` in records of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_sha256: Option<String>,
}

/// A file with tensors that a run wrote. The store keeps its content under the digest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Dumped {
    /// Its path below `{out}`.
    pub path: String,
    /// SHA-256 of its content.
    pub sha256: String,
    /// Its size.
    pub bytes: u64,
}

/// A failed `[[prepare]]` step; [`RunRecord::ended`] says how it ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FailedPrepare {
    /// The step's name.
    pub name: String,
    /// The file that is missing although the step exited with 0.
    pub missing: Option<String>,
}

impl FailedPrepare {
    /// The failure of this step, whose process ended like `ended`.
    pub(crate) fn failure(&self, ended: &Ended) -> Failure {
        let Self { name, missing } = self;
        let how = match missing {
            Some(missing) => format!("it made no {missing}"),
            None => ended.to_string(),
        };
        let evidence =
            Evidence { step: Some(name.clone()), missing: missing.clone(), ..Evidence::of(ended) };
        Failure::new(FailureKind::Prepare, evidence, format!("the step {name} failed: {how}"))
    }
}

impl Phase {
    /// The reason to exclude the runs of this phase from a commit's statistics: the built files are
    /// not the commit's own, or the runs had another purpose.
    pub(crate) fn exclusion_reason(self) -> Option<ExclusionReason> {
        match self {
            Self::Ruler => Some(ExclusionReason::Ruler),
            Self::Localize => Some(ExclusionReason::Part),
            Self::Inquiry => Some(ExclusionReason::Inquiry),
            Self::Endpoint | Self::Search | Self::Confirm | Self::Control | Self::Manual => None,
        }
    }
}

/// Why a stored run is excluded from the statistics.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ExclusionReason {
    /// The run only warmed up the machine and its caches.
    WarmUp,
    /// The machine was throttled around the run; the reason.
    Throttled(String),
    /// A program outside the run held the port that the run wanted.
    PortTaken,
    /// The run used another commit's ruler; only the check of the ruler uses it.
    Ruler,
    /// The run with which the others are compared.
    Reference,
    /// The run used only a part of a change; only the localisation uses it.
    Part,
    /// The run serves to find where and how the regression shows.
    Inquiry,
    /// The machine changed after the run.
    MachineChanged,
    /// The run was made in a slot that gives other values.
    OtherSlot,
    /// The run was made on a node of the cluster that is slower or faster than the others.
    OtherNode,
}

impl fmt::Display for ExclusionReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::WarmUp => f.write_str("warm-up"),
            Self::Throttled(why) => f.write_str(why),
            Self::PortTaken => f.write_str("another program listens on the port that it wanted"),
            Self::Ruler => f.write_str("with the ruler of another commit"),
            Self::Reference => f.write_str("the run that the others are compared with"),
            Self::Inquiry => f.write_str("to find the cause"),
            Self::Part => f.write_str("with part of a change"),
            Self::MachineChanged => f.write_str("before the machine changed"),
            Self::OtherSlot => f.write_str("in a slot that gives other values"),
            Self::OtherNode => f.write_str("on a node with another speed"),
        }
    }
}

impl RunRecord {
    /// The reason to exclude this run, if any. Throttling excludes only exclusive runs: the time of
    /// any other run is unreliable anyway.
    pub(crate) fn exclusion_reason(&self) -> Option<ExclusionReason> {
        if self.warm_up {
            return Some(ExclusionReason::WarmUp);
        }
        if self.taken_port.is_some() {
            return Some(ExclusionReason::PortTaken);
        }
        let machine = self.machine.as_ref().filter(|_| self.alone)?;
        machine.throttled().map(ExclusionReason::Throttled)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_made_for_it_serves_a_confirmation() {
        let all = [
            Phase::Endpoint,
            Phase::Search,
            Phase::Confirm,
            Phase::Ruler,
            Phase::Localize,
            Phase::Inquiry,
            Phase::Control,
            Phase::Manual,
        ];
        let serving = |phase: Phase, is_ours| -> Vec<Phase> {
            all.into_iter().filter(|other| phase.may_reuse(*other, is_ours)).collect()
        };
        assert_eq!(serving(Phase::Confirm, true), [Phase::Confirm]);
        assert!(serving(Phase::Confirm, false).is_empty());
        assert_eq!(serving(Phase::Ruler, false), [Phase::Confirm, Phase::Ruler]);
        assert_eq!(serving(Phase::Inquiry, false), [Phase::Confirm, Phase::Inquiry]);
        assert_eq!(serving(Phase::Search, false), all);
    }
}
