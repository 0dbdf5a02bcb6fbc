//! A type for a commit's full name, so that modules do not pass plain strings.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A full SHA-1 object name: 40 lower-case hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct CommitId(String);

/// The text is not 40 hexadecimal digits.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("`{0}` is not a full commit name (40 hexadecimal digits)")]
pub struct ParseCommitIdError(String);

impl CommitId {
    /// All 40 digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The first ten digits, for messages.
    pub fn short(&self) -> &str {
        &self.0[..10]
    }
}

/// A commit and its parents.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Lineage {
    /// The commit.
    pub commit: CommitId,
    /// The parents, in git's order.
    pub parents: Vec<CommitId>,
}

impl fmt::Display for CommitId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for CommitId {
    type Err = ParseCommitIdError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let text = text.trim();
        if text.len() == 40 && text.bytes().all(|b| b.is_ascii_hexdigit()) {
            Ok(Self(text.to_ascii_lowercase()))
        } else {
            Err(ParseCommitIdError(text.to_owned()))
        }
    }
}

impl TryFrom<String> for CommitId {
    type Error = ParseCommitIdError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<CommitId> for String {
    fn from(id: CommitId) -> Self {
        id.0
    }
}
