//! What a build needs: the commit, its recipe and where to build it.

use std::collections::BTreeMap;
use std::path::Path;

use crate::evaluation::{CommitId, Phase};
use crate::git::{CheckoutSpec, Repository};
use crate::process::Stop;
use crate::store::{BuildKey, Store};

use super::{BuildProgress, BuildRecipe, Slot, Slots};

/// A build request.
#[derive(Clone, Copy)]
pub(crate) struct BuildRequest<'a> {
    /// The repository.
    pub repository: &'a Repository,
    /// The store for records and logs.
    pub store: &'a Store,
    /// All slots of the repository; `slot` is one of them.
    pub slots: &'a Slots,
    /// The slot to build in.
    pub slot: &'a Slot,
    /// The commit to judge.
    pub commit: &'a CommitId,
    /// How the commit is built.
    pub recipe: &'a BuildRecipe,
    /// The files to check out.
    pub checkout_spec: &'a CheckoutSpec,
    /// The build key.
    pub key: &'a BuildKey,
    /// The current output of the probes, if they ran.
    pub probes: &'a BTreeMap<String, String>,
    /// The purpose of the build.
    pub phase: Phase,
    /// The hunt, if any.
    pub hunt: Option<&'a str>,
    /// The node of a job that only builds.
    pub node: Option<&'a str>,
    /// The user's checkout, the source of `[worktree] link`.
    pub checkout: Option<&'a Path>,
    /// Is called with the build's progress while it runs.
    pub progress: &'a dyn Fn(BuildProgress),
    /// Stops the build early.
    pub stop: &'a Stop,
}
