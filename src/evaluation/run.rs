//! One execution of one measure's command: the fact that is stored.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Around, CommitId, Evidence, Failure, FailureKind, Loaded};

/// Longer lines are handed on in pieces of exactly this many bytes, and a shorter last one, so
/// that an engine that never ends a line cannot fill the memory. What is shorter is whole.
pub const LONGEST_LINE: usize = 1 << 20;

/// Where a line comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stream {
    /// Standard output.
    Out,
    /// Standard error.
    Err,
    /// The file that the measure is read from.
    File,
}

/// How a process ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ended {
    /// It left with this exit code.
    Exited(i32),
    /// It died by this signal, which we did not send.
    Signaled(i32),
    /// We killed it when its time was over.
    TimedOut,
    /// The program does not exist at the path (or in `PATH`) named here.
    NotFound(String),
    /// The program exists but could not be started, for the reason given.
    NotStarted(String),
    /// We killed it since we were told to stop; says nothing of the commit and is not stored.
    Stopped,
}

impl Ended {
    /// Left by itself with exit code 0.
    pub fn is_success(&self) -> bool {
        *self == Self::Exited(0)
    }
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exited(code) => write!(f, "exit code {code}"),
            Self::Signaled(signal) => write!(f, "signal {signal}"),
            Self::TimedOut => f.write_str("timed out"),
            Self::NotFound(program) => write!(f, "program not found: {program}"),
            Self::NotStarted(reason) => write!(f, "could not be started: {reason}"),
            Self::Stopped => f.write_str("stopped"),
        }
    }
}

/// Why a run was made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// At the good or bad endpoint, before the search.
    Endpoint,
    /// At a commit git picked.
    Search,
    /// At the first bad commit and its parents, afresh.
    Confirm,
    /// At the first bad commit and its parents with one another's ruler, to tell with which the
    /// step goes.
    Ruler,
    /// The good endpoint's kept build, run to tell whose fault a failure is.
    Control,
    /// By hand.
    Manual,
}

impl Phase {
    /// Whether a run or build that was made for `other`, by this hunt or not, may serve. Only a
    /// confirmation wants what was made for it, and a check of the ruler what was made no less
    /// fresh.
    pub fn takes(self, other: Self, is_ours: bool) -> bool {
        match self {
            Self::Confirm => other == Self::Confirm && is_ours,
            Self::Ruler => matches!(other, Self::Confirm | Self::Ruler),
            Self::Endpoint | Self::Search | Self::Control | Self::Manual => true,
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
            Self::Control => "control",
            Self::Manual => "manual",
        })
    }
}

/// A run as it happened. What it *means* (values, verdict) is derived again from its log
/// whenever it is needed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RunRecord {
    /// Unique name of this attempt; its files carry it.
    pub attempt: String,
    /// The key it was stored under.
    pub run_key: String,
    /// The measure.
    pub measure: String,
    /// The commit whose build ran.
    pub commit: CommitId,
    /// Why it ran.
    pub phase: Phase,
    /// The hunt it ran for, if any.
    pub hunt: Option<String>,
    /// The command with its placeholders filled in, a word an entry.
    pub argv: Vec<String>,
    /// The working folder.
    pub cwd: String,
    /// The slot it ran in: `{src}` and `{build}` lie below.
    pub slot: String,
    /// The declared environment on top of the user's.
    pub env: BTreeMap<String, String>,
    /// When it started (RFC 3339, UTC).
    pub started: String,
    /// Wall-clock seconds.
    pub wall_s: f64,
    /// Largest resident set of the engine and the children it waited for, MiB, where known.
    pub peak_rss_mib: Option<f64>,
    /// How it ended.
    pub ended: Ended,
    /// When the build that ran was finished (RFC 3339, UTC): a confirmation needs builds
    /// newer than the search's.
    pub built: String,
    /// It was a warm-up.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub warm_up: bool,
    /// Nothing of ours built or ran beside it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub alone: bool,
    /// Nothing of the measure ran: a step before it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prepare: Option<FailedPrepare>,
    /// What the machine was like around it; `None` where nothing was run, or of a record from
    /// before that was looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine: Option<Around>,
    /// What it really loaded; `None` where nothing was run, or of a record from before that was
    /// looked at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loaded: Option<Loaded>,
    /// Nothing ran: it would have been the very same files as in this attempt, whose output this
    /// is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub same_as: Option<String>,
    /// SHA-256 of its log; filled in when it is stored, and absent of a record from before there
    /// was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_sha256: Option<String>,
}

/// A `[[prepare]]` that failed; the record says how it ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FailedPrepare {
    /// Its name.
    pub name: String,
    /// What it should have made and did not, where it ended well.
    pub missing: Option<String>,
}

impl FailedPrepare {
    /// The failure that it is.
    pub fn failure(&self, ended: &Ended) -> Failure {
        let Self { name, missing } = self;
        let how = match missing {
            Some(missing) => format!("it made no {missing}"),
            None => ended.to_string(),
        };
        let evidence = Evidence { step: Some(name.clone()), ..Evidence::of(ended) };
        let detail = format!("the step {name} failed: {how}");
        let failure = Failure::new(FailureKind::Prepare, format!("{name}: {how}"), detail);
        Failure { evidence: Some(evidence.into()), ..failure }
    }
}

/// Why a run is kept as a fact and counts for nothing.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Apart {
    /// It warmed the machine and its caches up for those that count.
    WarmUp,
    /// The machine was slowed down around it, as told here.
    Throttled(String),
    /// It had another commit's ruler; only the check of the ruler looks at it.
    Ruler,
}

impl fmt::Display for Apart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::WarmUp => f.write_str("warm-up"),
            Self::Throttled(why) => f.write_str(why),
            Self::Ruler => f.write_str("with the ruler of another commit"),
        }
    }
}

impl RunRecord {
    /// Whether it is kept apart from the runs that count. What a run that had company took says
    /// little anyhow, so only one that was alone can be spoilt by heat.
    pub fn apart(&self) -> Option<Apart> {
        if self.warm_up {
            return Some(Apart::WarmUp);
        }
        let machine = self.machine.as_ref().filter(|_| self.alone)?;
        machine.throttled().map(Apart::Throttled)
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
            Phase::Control,
            Phase::Manual,
        ];
        let serving = |phase: Phase, is_ours| -> Vec<Phase> {
            all.into_iter().filter(|other| phase.takes(*other, is_ours)).collect()
        };
        assert_eq!(serving(Phase::Confirm, true), [Phase::Confirm]);
        assert!(serving(Phase::Confirm, false).is_empty());
        assert_eq!(serving(Phase::Ruler, false), [Phase::Confirm, Phase::Ruler]);
        assert_eq!(serving(Phase::Search, false), all);
    }
}
