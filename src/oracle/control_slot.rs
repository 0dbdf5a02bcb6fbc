//! The good endpoint's build, which control runs use, and the slot that holds it.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::build::Stamp;
use crate::evaluation::CommitId;
use crate::files;
use crate::store::{HuntDir, StoreError, publish};

/// The good endpoint's build, which the driver keeps locked for the whole hunt.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct ControlSlot {
    /// The good endpoint.
    pub commit: CommitId,
    /// The stamp of its build; `None` if the store had the endpoint's runs, so nothing was built.
    /// Then the control is built when it is first needed.
    pub build: Option<Stamp>,
    /// The slot of the hunt's driver, which oracle processes borrow.
    pub slot: Option<PathBuf>,
}

impl ControlSlot {
    /// The control at a commit that has no build yet.
    pub(crate) fn unbuilt(commit: CommitId) -> Self {
        Self { commit, build: None, slot: None }
    }

    /// Writes the control into the hunt's folder, for later oracle processes.
    pub(crate) fn publish(&self, hunt: &HuntDir) -> Result<(), StoreError> {
        let bytes = serde_json::to_vec(self).expect("a control slot is plain data");
        publish(&hunt.path().join("control.json"), &bytes)
    }

    /// Reads what the driver published; `None` without a control.
    pub(crate) fn of(hunt: &HuntDir) -> Option<Self> {
        let bytes = files::read(&hunt.path().join("control.json")).ok()?;
        serde_json::from_slice(&bytes).ok()
    }
}
