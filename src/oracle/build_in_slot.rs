//! One build of a commit in a slot, with what every build needs: the machine, room on the disk and
//! the values of the placeholders.

use crate::build::{self, BuildRecipe, Built, Slot};
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
    /// Builds a commit in a slot, here or in a job of its own, even if the store has its build.
    /// Returns the lock of the machine too, if the build needs it here: the caller keeps it as long
    /// as no exclusive run may begin.
    pub(super) fn build_in(
        &mut self,
        slot: &Slot,
        asked: SlotBuild<'_>,
        task: Task,
        phase: Phase,
    ) -> Result<(Built, Option<Held>), OracleError> {
        let SlotBuild { commit, recipe, key, checkout_spec } = asked;
        let slots = self.pool.slots().clone();
        let values = self.recipes.values(slot, commit, recipe)?;
        let filled = BuildRecipe::of(recipe, &values)?;
        if let Some(jobs) = self.build_jobs.clone() {
            self.make_room(&slots, slot)?;
            return Ok((self.build_in_job(&jobs, slot, asked, (task, phase), filled)?, None));
        }
        let held = self.lock_machine(MachineShare::Build, commit, None, phase)?;
        self.make_room(&slots, slot)?;
        let progress = self.recorder.builds(task, commit, phase);
        let probes = facts::probed_for(phase, recipe)?;
        let built = build::build(build::BuildRequest {
            repository: self.recipes.engine.history.repository(),
            store: &self.store,
            slots: &slots,
            slot,
            commit,
            recipe: &filled,
            checkout_spec,
            key,
            probes: &probes,
            phase,
            hunt: self.recorder.hunt(),
            node: None,
            checkout: self.checkout.as_deref(),
            progress: &progress,
            stop: &self.stop,
        })?;
        Ok((built, Some(held)))
    }
}
