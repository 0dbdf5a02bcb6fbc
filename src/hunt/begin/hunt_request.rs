//! What a user asks of a hunt.

use crate::evaluation::{Aim, Limits, Metric, OptionChange};
use crate::store::journal::SearchBy;

/// The options of `bisect-ppl start`.
#[derive(Clone, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "flags on a command line are bools")]
pub(crate) struct HuntRequest {
    /// The good revision.
    pub good: String,
    /// The bad revision.
    pub bad: String,
    /// Whether to look for the first bad commit or the first fixed commit.
    pub aim: Aim,
    /// What chooses the next commit to test.
    pub search: SearchBy,
    /// If set, look for the first commit whose runs of this metric are not bit-identical.
    pub spread_of: Option<Metric>,
    /// Follow first parents only.
    pub first_parent: bool,
    /// End after the first confirmed commit.
    pub first_only: bool,
    /// Look for the cause inside the first bad commit.
    pub localize: bool,
    /// Hunt for a failure of the bad end without asking the user.
    pub allow_failure_hunt: bool,
    /// Revisions that must not be tested.
    pub skip: Vec<String>,
    /// Pathspecs that limit the range.
    pub paths: Vec<String>,
    /// Repeat what the store records as failed.
    pub retry_failed: bool,
    /// In how many slots to measure at the same time, if asked.
    pub slots: Option<u32>,
    /// The limits of the hunt.
    pub limits: Limits,
    /// The settings that options changed.
    pub changes: Vec<OptionChange>,
}
