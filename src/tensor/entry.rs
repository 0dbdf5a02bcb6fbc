//! A tensor of a set: its name, and where its values are.

use super::error::DumpError;
use super::printed_block::{Block, Shown};
use super::stored::{OpenTensor, Stored};

/// A tensor of a set.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) name: String,
    /// The operation that computes it, if the set says so.
    pub(super) operation: Option<String>,
    /// The names of its operands, if the set says so.
    pub(super) inputs: Vec<String>,
    /// The type of its values, such as `f16`, if it is known.
    pub(super) kind: Option<String>,
    /// The lengths of the axes, the slowest first; empty if unknown.
    pub(super) shape: Vec<u64>,
    /// Whether its printed sum is NaN. Then one of its values is NaN, printed or not.
    pub(super) has_nan: bool,
    /// Whether some of its values are not printed.
    pub(super) is_partial: bool,
    /// The sum of all its values, if the engine prints that sum and it is finite.
    pub(super) full_sum: Option<f64>,
    /// Where its values are, or why they cannot be read.
    pub(super) source: Result<Source, String>,
}

/// Where the values of a tensor are.
#[derive(Clone, Debug)]
pub(super) enum Source {
    Stored(Stored),
    Printed(Block),
}

/// The values of a tensor, ready to be read.
#[derive(Debug)]
pub(super) enum Values {
    Stored(OpenTensor),
    Printed(Shown),
}

impl Source {
    /// Opens the file and, if the values are text, reads them.
    pub(super) fn open(&self) -> Result<Values, DumpError> {
        match self {
            Self::Stored(stored) => stored.open().map(Values::Stored),
            Self::Printed(block) => block.read().map(Values::Printed),
        }
    }
}
