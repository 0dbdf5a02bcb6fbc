//! What somebody else needs to measure the first bad commits again.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::evaluation::{CommitId, Target};

/// What `verify` needs besides the engine's repository and the inputs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct Recheck {
    /// The frozen configuration, without the values named in `withheld`.
    pub config: String,
    /// The keys of variables with a secret's name, whose values are left out: `build.env.TOKEN`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub withheld: Vec<String>,
    /// The folder that relative paths in the configuration start from, relative to the top of the
    /// checkout; `None` if it lies outside.
    pub base: Option<String>,
    /// The revisions that the configuration names, as commits.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub revisions: BTreeMap<String, CommitId>,
    /// The patches that the configuration lays over commits, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub patches: BTreeMap<String, PatchText>,
    /// Digests of what is linked in from the user's checkout, by path.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub links: BTreeMap<String, String>,
    /// Whether every build and run of the hunt had an empty home folder when it ended.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub empty_home: bool,
    /// For each first bad commit, what made commits bad in its search.
    pub claims: Vec<ClaimLine>,
}

/// A patch.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PatchText {
    /// SHA-256 of its content.
    pub sha256: String,
    /// Its content in base64; `None` if the store lost it.
    pub content_b64: Option<String>,
}

/// The targets of the search that found a first bad commit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct ClaimLine {
    /// The first bad commit.
    pub commit: CommitId,
    /// What made commits bad in that search: guards with their levels, or a failure.
    pub targets: Vec<Target>,
}
