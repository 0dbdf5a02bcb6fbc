//! The control: the good endpoint's kept build, run the moment another commit fails in a way
//! that could be the machine's fault.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::build::{Slot, Stamp};
use crate::evaluation::{CommitId, Phase};
use crate::store::{Control, HuntDir, StoreError, StoredRun, publish};

use super::OracleError;
use super::evaluate::{Oracle, Placed};
use super::launch::Launch;

/// Where the driver keeps the good endpoint's build for the whole hunt, and holds its lock.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ControlSlot {
    /// The good endpoint.
    pub commit: CommitId,
    /// The slot and the build in it; `None` where the endpoint was known from the store, so
    /// that the control is built when it is first needed.
    pub place: Option<(PathBuf, Stamp)>,
}

impl ControlSlot {
    /// Says where it is, for the oracles to come.
    pub fn publish(&self, hunt: &HuntDir) -> Result<(), StoreError> {
        let bytes = serde_json::to_vec(self).expect("a control slot is plain data");
        publish(&hunt.path().join("control.json"), &bytes)
    }

    /// What the driver said, if it has a control.
    pub fn of(hunt: &HuntDir) -> Option<Self> {
        let bytes = std::fs::read(hunt.path().join("control.json")).ok()?;
        serde_json::from_slice(&bytes).ok()
    }
}

impl Oracle {
    /// Runs the control for a failed run and keeps what it says. `None`: there is none (the
    /// good endpoint itself is being measured, or this is no hunt), so nothing is decided.
    pub(super) fn ask_control(
        &mut self,
        failed: &StoredRun,
        measure: &str,
    ) -> Result<Option<bool>, OracleError> {
        let Some(control) = self.control.clone() else { return Ok(None) };
        let good = control.commit;
        if good == failed.record.commit {
            return Ok(None);
        }
        let recipe = self.recipe(&good)?;
        let Some(measure) = recipe.measure(measure).cloned() else { return Ok(None) };
        let place = control.place.map(|(root, stamp)| (Slot::borrowed(root), stamp));
        // A killed driver may have lost its slot to somebody.
        let place = place.filter(|(slot, stamp)| slot.stamp().as_ref() == Some(stamp));
        let holding = self.holding(&good, &recipe)?;
        let placed = match (place, holding) {
            (Some((slot, stamp)), Ok(holding)) => Placed { slot, stamp, holding },
            _ => self.place(&good, &recipe, Phase::Control)?,
        };
        placed.slot.fresh(&placed.slot.cache())?;
        let key = self.run_key_of(&good, &recipe, &measure)?;
        let phase = Phase::Control;
        let launch = Launch {
            commit: &good,
            recipe: &recipe,
            measure: &measure,
            key: &key,
            phase,
            warm_up: false,
        };
        if failed.record.prepare.is_some() {
            // What it was asked about must be done to say anything.
            placed.slot.clear_all_prepared()?;
        }
        let (ran, derived) = match self.prepare(launch, &placed)? {
            Some(failed) => failed,
            None => self.launch(launch, &placed)?,
        };
        self.recorder.run(&ran, &derived.sample, &good, phase)?;
        let worked = derived.fault.is_none();
        self.store.put_control(&Control {
            about: failed.record.attempt.clone(),
            attempt: ran.record.attempt.clone(),
            worked,
        })?;
        Ok(Some(worked))
    }
}
