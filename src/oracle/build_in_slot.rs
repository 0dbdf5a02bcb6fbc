//! One build of a commit in a slot, with what every build needs: the machine, room on the disk and
//! the values of the placeholders.

use crate::build::{self, Built, Slot};
use crate::config::Config;
use crate::evaluation::{CommitId, Phase};
use crate::git::CheckoutSpec;
use crate::store::BuildKey;

use super::machine_lock::{Held, MachineShare};
use super::parts::Oracle;
use super::{OracleError, Task, facts};

/// What to build.
#[derive(Clone, Copy)]
pub(super) struct SlotBuild<'a> {
    pub(super) commit: &'a CommitId,
    pub(super) recipe: &'a Config,
    pub(super) key: &'a BuildKey,
    pub(super) checkout_spec: &'a CheckoutSpec,
}

impl Oracle {
    /// Builds a commit in a slot, even if the store has its build. Returns the lock of the machine
    /// too: the caller keeps it as long as no exclusive run may begin.
    pub(super) fn build_in(
        &mut self,
        slot: &Slot,
        asked: SlotBuild<'_>,
        task: Task,
        phase: Phase,
    ) -> Result<(Built, Held), OracleError> {
        let SlotBuild { commit, recipe, key, checkout_spec } = asked;
        let held = self.lock_machine(MachineShare::Shared, commit, None, phase)?;
        let slots = self.pool.slots().clone();
        self.make_room(&slots, slot)?;
        let progress = self.recorder.builds(task, commit, phase);
        let values = self.recipes.values(slot, commit, recipe)?;
        let probes = facts::probed_for(phase, recipe)?;
        let built = build::build(build::BuildRequest {
            repository: self.recipes.engine.history.repository(),
            store: &self.store,
            slots: &slots,
            slot,
            commit,
            config: recipe,
            checkout_spec,
            key,
            values: &values,
            probes: &probes,
            phase,
            hunt: self.recorder.hunt(),
            checkout: self.checkout.as_deref(),
            progress: &progress,
            stop: &self.stop,
        })?;
        Ok((built, held))
    }
}
