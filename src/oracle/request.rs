//! A request to the oracle.

use crate::config::Config;
use crate::evaluation::{CommitId, Phase};

/// A request to the oracle: samples of some measures at a commit.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Request<'a> {
    /// The commit.
    pub commit: &'a CommitId,
    /// The measures; empty: only whether the commit builds.
    pub measures: &'a [String],
    /// How many runs of each measure.
    pub runs: usize,
    /// Why the oracle is asked. A confirmation takes only its own runs, from its own builds.
    pub phase: Phase,
    /// A recipe to use in place of the commit's own.
    pub recipe: Option<&'a Config>,
    /// Read only this many chunks of the text, for measures that take `{chunks}`.
    pub chunks: Option<u32>,
    /// Whether to keep the slot for the next request.
    pub keep: bool,
    /// Whether to reuse a run of another build with identical binaries.
    pub reuse_identical: bool,
    /// Whether missing runs need a new build.
    pub rebuild: bool,
}

impl<'a> Request<'a> {
    /// A request for the stored runs of these measures: it builds, runs and records nothing.
    pub(crate) fn look(commit: &'a CommitId, measures: &'a [String], phase: Phase) -> Self {
        Self {
            commit,
            measures,
            runs: 0,
            phase,
            recipe: None,
            chunks: None,
            keep: true,
            reuse_identical: false,
            rebuild: false,
        }
    }
}
