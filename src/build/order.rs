//! What a job that builds is asked for, and what it answers: JSON on a disk that the nodes share.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::evaluation::{CommitId, Phase};
use crate::git::CheckoutSpec;
use crate::store::journal::BuildNode;
use crate::store::{BuildKey, RecordedFault};

use super::{BuildRecipe, Built};

/// What the job does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub(crate) enum BuildOrder {
    /// It says what builds on its node depend on.
    Describe,
    /// It builds a commit.
    Build(Box<SlotOrder>),
}

/// A build in the slot of the process that waits for it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SlotOrder {
    /// The slot's path.
    pub root: PathBuf,
    /// The number of the build in the slot. The build has its turn.
    pub number: u32,
    /// Whether the files of the build before are whole, so that an incremental build may go on from
    /// them.
    pub is_whole: bool,
    /// The commit to judge.
    pub commit: CommitId,
    /// The files to check out.
    pub checkout_spec: CheckoutSpec,
    /// How the commit is built.
    pub recipe: BuildRecipe,
    /// The build key.
    pub key: BuildKey,
    /// The purpose of the build.
    pub phase: Phase,
    /// The hunt, if any.
    pub hunt: Option<String>,
}

/// What the job did.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub(crate) enum BuildAnswer {
    /// What builds on its node depend on.
    Node(Box<BuildNode>),
    /// The build worked, or the commit does not build.
    Built(Box<Built>),
    /// The job could not build, and the commit is not at fault.
    Fault(RecordedFault),
}
