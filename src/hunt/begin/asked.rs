//! What a user asks of a hunt.

use crate::evaluation::{Aim, Limits, Metric, OptionChange};
use crate::store::journal::SearchBy;

/// The options of `bisect-ppl start`.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "flags on a command line are bools")]
pub(crate) struct Asked {
    /// The good revision.
    pub good: String,
    /// The bad revision.
    pub bad: String,
    /// Whether to look for the first bad commit or the first fixed commit.
    pub aim: Aim,
    /// What chooses the next commit to test.
    pub search: SearchBy,
    /// If set, look for the commit from which runs of this metric are not bit-identical.
    pub spread_of: Option<Metric>,
    /// Follow first parents only.
    pub first_parent: bool,
    /// End after the first culprit.
    pub first_only: bool,
    /// Look for the cause inside the first bad commit.
    pub localize: bool,
    /// Hunt for a failure of the bad end without a question.
    pub allow_failure_hunt: bool,
    /// Revisions not to be tested.
    pub skip: Vec<String>,
    /// Pathspecs.
    pub paths: Vec<String>,
    /// Try again what the store knows to fail.
    pub retry_failed: bool,
    /// The limits of the hunt.
    pub limits: Limits,
    /// What options changed in the configuration.
    pub changes: Vec<OptionChange>,
}
