//! The amount of text that a run read. Values over different texts are never compared.

use std::fmt;

use serde::{Deserialize, Serialize};

/// How much text a run read, as its output says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TextLength {
    /// How many chunks the run read.
    pub chunks: usize,
    /// Tokens in each chunk, if the engine prints it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<u32>,
}

impl TextLength {
    /// Whether two runs read different amounts. Chunk sizes are compared only if both are known.
    pub(crate) fn differs_from(self, other: Self) -> bool {
        let contexts = self.context.zip(other.context);
        self.chunks != other.chunks || contexts.is_some_and(|(own, theirs)| own != theirs)
    }
}

/// `24 chunks of 512 tokens`, or `24 chunks`.
impl fmt::Display for TextLength {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = if self.chunks == 1 { "" } else { "s" };
        write!(f, "{} chunk{plural}", self.chunks)?;
        match self.context {
            Some(tokens) => write!(f, " of {tokens} tokens"),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_engine_does_not_say_is_no_difference() {
        let of = |chunks, context| TextLength { chunks, context };
        assert!(!of(4, Some(512)).differs_from(of(4, None)));
        assert!(of(4, None).differs_from(of(5, Some(512))));
        assert!(of(4, Some(512)).differs_from(of(4, Some(256))));
        assert_eq!(of(24, Some(512)).to_string(), "24 chunks of 512 tokens");
        assert_eq!(of(1, None).to_string(), "1 chunk");
    }
}
