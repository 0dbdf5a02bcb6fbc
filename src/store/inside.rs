//! Where a hunt went on inside a dependency that one of its first bad commits moves.

use std::io::ErrorKind;

use serde::{Deserialize, Serialize};

use crate::evaluation::CommitId;

use super::{HuntDir, StoreError, publish};

const FILE: &str = "inside.json";

/// One attempt to go on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Inside {
    /// The first bad commit.
    pub commit: CommitId,
    /// The dependency.
    pub path: String,
    /// What became of it.
    pub went: Went,
}

/// Whether a hunt went on there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Went {
    /// In this hunt.
    On(String),
    /// Not, and why.
    Nowhere(String),
}

impl Went {
    /// The hunt.
    pub fn on(&self) -> Option<&str> {
        match self {
            Self::On(id) => Some(id),
            Self::Nowhere(_) => None,
        }
    }
}

impl HuntDir {
    /// What was tried, in order; nothing where that cannot be read, so that it is tried again.
    pub fn inside(&self) -> Result<Vec<Inside>, StoreError> {
        let path = self.path().join(FILE);
        let bytes = match std::fs::read(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
            Err(source) => return Err(StoreError::Io { path, source }),
        };
        Ok(serde_json::from_slice(&bytes).unwrap_or_default())
    }

    /// Writes it down.
    pub fn keep_inside(&self, tried: &[Inside]) -> Result<(), StoreError> {
        let bytes = serde_json::to_vec(tried).expect("names and sentences are plain data");
        publish(&self.path().join(FILE), &bytes)
    }
}
