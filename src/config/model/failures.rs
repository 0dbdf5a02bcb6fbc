//! `[failures]`: what a failed build or run says about a commit.

use std::time::Duration;

use crate::evaluation::FailureKind;

/// `[failures]`: what a commit that cannot be measured counts as.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failures {
    /// The commit does not build.
    pub(crate) build: Policy,
    /// A run crashes.
    pub(crate) crash: Policy,
    /// A run prints NaN.
    pub(crate) nan: Policy,
    /// A run times out.
    pub(crate) timeout: Policy,
    /// A run prints no value.
    pub(crate) unreadable: Policy,
    /// Substrings of the output that show a fault of the machine, not of the commit.
    pub transient: Vec<String>,
    /// Whether a hunt goes on if the bad end fails and the good end yields the guarded metrics.
    pub(crate) hunt: FailureHunt,
    /// The pauses before a hunt tries again after a fault of the machine.
    pub pauses: Vec<Duration>,
}

impl Default for Failures {
    /// Every failure means untestable, except NaN, which means bad. `transient` holds what GPU
    /// drivers print when the machine is at fault.
    fn default() -> Self {
        let transient = ["no CUDA-capable device", "Xid", "uncorrectable ECC"];
        Self {
            build: Policy::Skip,
            crash: Policy::Skip,
            nan: Policy::Bad,
            timeout: Policy::Skip,
            unreadable: Policy::Skip,
            transient: transient.map(str::to_owned).to_vec(),
            hunt: FailureHunt::Ask,
            pauses: [1, 5, 30, 2 * 60, 10 * 60].map(Duration::from_secs).to_vec(),
        }
    }
}

impl Failures {
    /// The policy for a kind of failure. A failed prepare step has its own policy,
    /// `prepare.failure`. A commit is never bad because a patch does not apply, it cannot be
    /// checked out, its output is incomplete, or a requirement is not met.
    pub(crate) fn policy(&self, kind: FailureKind) -> Policy {
        match kind {
            FailureKind::Build => self.build,
            FailureKind::Crash => self.crash,
            FailureKind::Nan => self.nan,
            FailureKind::Timeout => self.timeout,
            FailureKind::Unreadable => self.unreadable,
            FailureKind::Patch
            | FailureKind::Checkout
            | FailureKind::Prepare
            | FailureKind::Incomplete
            | FailureKind::Require => Policy::Skip,
        }
    }
}

/// Whether a hunt may look for a failure although its guards are on metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FailureHunt {
    /// It may.
    Yes,
    /// The hunt ends after the endpoints.
    No,
    /// On a terminal the user is asked; otherwise the hunt goes on.
    Ask,
}

/// What a failure counts as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Policy {
    /// Untestable.
    Skip,
    /// Bad.
    Bad,
}
