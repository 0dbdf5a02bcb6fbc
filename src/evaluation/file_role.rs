//! The role of a changed file in a regression.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The role of a changed file in a regression.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FileRole {
    /// Without this file's change, the regression is gone.
    Necessary,
    /// This file's change does not matter.
    Innocent,
    /// Not known.
    #[default]
    Unknown,
}

impl fmt::Display for FileRole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Necessary => "necessary",
            Self::Innocent => "innocent",
            Self::Unknown => "unknown",
        })
    }
}
