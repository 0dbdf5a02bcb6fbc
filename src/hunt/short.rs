//! The beginning of the text, which a search reads instead of the full text.

use crate::evaluation::{Judgement, Target, Verdict};

/// How much of the text the runs read, and the targets for that part.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct TextPrefix {
    /// Number of chunks that the runs read.
    pub(crate) chunks: u32,
    /// The targets, with the levels and tolerances for this number of chunks.
    pub(crate) targets: Vec<Target>,
}

/// Adds to a verdict's reason how many chunks its runs read.
pub(crate) fn add_chunks_to_reason(judgement: &mut Judgement, chunks: Option<u32>) {
    if let (Some(chunks), Verdict::Good | Verdict::Bad) = (chunks, judgement.verdict) {
        let reason = &judgement.reason;
        judgement.reason = format!("{reason}, over the first {chunks} chunks");
    }
}
