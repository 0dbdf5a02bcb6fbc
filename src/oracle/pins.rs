//! Pins: the revisions and patches that a configuration names, resolved and stored when a hunt
//! begins, since they may change during the hunt.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::config::{Config, Patch, PatchSource};
use crate::evaluation::CommitId;
use crate::git::{GitError, History};
use crate::store::{Store, StoreError};

/// What the configuration's names resolve to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Pins {
    /// The revisions that conditions, patches and overlays name.
    pub revisions: BTreeMap<String, CommitId>,
    /// Digests of the patches, by name in the configuration; the store holds their content.
    pub patches: BTreeMap<String, String>,
}

/// A name that cannot be resolved or used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PinError {
    /// A revision cannot be resolved, or its content cannot be used.
    #[error(transparent)]
    Git(#[from] GitError),
    /// A patch cannot be read.
    #[error("the patch {} cannot be read", path.display())]
    Patch {
        /// The path of the patch.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
}

impl PinError {
    /// What the user can do.
    pub(crate) fn hint(&self) -> Option<String> {
        match self {
            Self::Git(error) => error.hint(),
            Self::Patch { .. } => Some(
                "correct `file` in [[patch]]; its path starts from the folder of the file that \
                 names it"
                    .to_owned(),
            ),
        }
    }
}

/// The resolved names, not stored yet.
#[derive(Clone, Debug)]
pub(crate) struct ResolvedPins {
    revisions: BTreeMap<String, CommitId>,
    patches: BTreeMap<String, Vec<u8>>,
}

impl ResolvedPins {
    /// Stores the patches.
    pub(crate) fn keep(self, store: &Store) -> Result<Pins, StoreError> {
        let kept = |(name, patch): (String, Vec<u8>)| Ok((name, store.keep_patch(&patch)?));
        let patches = self.patches.into_iter().map(kept).collect::<Result<_, StoreError>>()?;
        Ok(Pins { revisions: self.revisions, patches })
    }
}

impl Pins {
    /// Resolves a configuration's names, and refuses patches and overlays that can never apply.
    pub(crate) fn find(config: &Config, history: &History) -> Result<ResolvedPins, PinError> {
        let mut revisions = BTreeMap::new();
        let conditions =
            config.conditions().flat_map(|when| [&when.has_ancestor, &when.lacks_ancestor]);
        let patches = config.patches.iter().filter_map(|patch| match &patch.source {
            PatchSource::Commit(name) => Some(name),
            PatchSource::File(_) => None,
        });
        let overlays = config.overlays.iter().map(|overlay| &overlay.from);
        for name in conditions.flatten().chain(patches).chain(overlays) {
            revisions.insert(name.clone(), history.resolve(name)?);
        }
        for overlay in &config.overlays {
            history.check_layer(&revisions[&overlay.from], &overlay.paths)?;
        }
        let mut patches = BTreeMap::new();
        for patch in &config.patches {
            let bytes = match &patch.source {
                PatchSource::Commit(name) => history.as_patch(&revisions[name])?,
                PatchSource::File(name) => {
                    let path = config.base.join(name);
                    std::fs::read(&path).map_err(|source| PinError::Patch { path, source })?
                }
            };
            history.check_patch(patch.source.name(), &bytes)?;
            patches.insert(pin_of(patch), bytes);
        }
        Ok(ResolvedPins { revisions, patches })
    }
}

/// The key of a patch; a prefix tells a file from a revision of the same name.
pub(crate) fn pin_of(patch: &Patch) -> String {
    match &patch.source {
        PatchSource::File(name) => format!("file {name}"),
        PatchSource::Commit(name) => format!("commit {name}"),
    }
}
