//! Where the values of a tensor are in a file.

use super::dtype::Encoding;

/// A tensor in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    /// The name of the tensor, if its file has names.
    pub(super) tensor: Option<String>,
    /// How the values are stored.
    pub(super) encoding: Encoding,
    /// The lengths of the axes; the values of the last axis are adjacent.
    pub(super) shape: Vec<u64>,
    /// Bytes before the first value, or before the header of the first row.
    pub(super) offset: u64,
    /// The tokens that the rows were computed from, if the file has them.
    pub(super) tokens: Option<Tokens>,
}

/// The token ids in a file, each four bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tokens {
    /// Bytes before the first token.
    pub(super) offset: u64,
    /// Tokens in the file.
    pub(super) count: u64,
    /// Tokens in a chunk.
    pub(super) context: u64,
}
