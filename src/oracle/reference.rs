//! The reference run, for measures whose values are differences from another run.

use crate::config::{Config, Measure};
use crate::evaluation::{CommitId, ExclusionReason, Phase};
use crate::store::{StoreError, StoredRun};

use super::derive::{Derivation, Derived};
use super::{Oracle, OracleError};

impl Oracle {
    /// The reference of this measure: the oldest stored run of the reference commit that can be
    /// read. `None` if the measure needs no reference, or if there is none yet.
    pub(super) fn reference(
        &self,
        measure: &Measure,
        recipe: &Config,
    ) -> Result<Option<StoredRun>, OracleError> {
        if !measure.parser.is_compared() {
            return Ok(None);
        }
        let Some(commit) = self.references.commit() else { return Ok(None) };
        let theirs = self.recipes.at(commit)?;
        let Some(own) = theirs.measure(&measure.name) else { return Ok(None) };
        let recipe = theirs.reading(own, recipe.run.chunks);
        let key = self.recipes.run_key_of(commit, &recipe, own)?;
        if let Some(known) = self.references.found(&key) {
            return Ok(Some(known));
        }
        // A hunt keeps its reference, unless that run was damaged.
        if let Some(attempt) = self.recorder.reference(key.as_str())
            && let Some(run) = self.store.run(key.as_str(), attempt)?
        {
            self.references.keep(&key, &run);
            return Ok(Some(run));
        }
        for run in self.store.runs(&key)? {
            if run.record.dumps.is_empty()
                || self.stored.is_of_other_libraries(&run, &self.store)?
            {
                continue;
            }
            if self.derived(&run, own, &recipe, None)?.is_value() {
                self.references.keep(&key, &run);
                return Ok(Some(run));
            }
        }
        Ok(None)
    }

    /// The values of a stored run. `reference`: the run that it is compared with.
    pub(super) fn derived(
        &self,
        run: &StoredRun,
        measure: &Measure,
        config: &Config,
        reference: Option<&StoredRun>,
    ) -> Result<Derived, StoreError> {
        let how = Derivation::new(measure, config, reference, &self.store);
        self.stored.derivations.of(run, &how)
    }

    /// Whether this run becomes the reference, if there is none yet.
    pub(super) fn is_reference(
        &self,
        commit: &CommitId,
        measure: &Measure,
        derived: &Derived,
    ) -> Result<bool, OracleError> {
        let may_be = measure.parser.is_compared() && self.references.is_at(commit);
        // Only a measure of the commit's own recipe has a reference.
        Ok(may_be
            && derived.is_value()
            && self.recipes.at(commit)?.measure(&measure.name).is_some())
    }

    /// Records the reference: a run of this commit that is not a sample.
    pub(super) fn record_reference(
        &mut self,
        reference: &StoredRun,
        measure: &Measure,
        recipe: &Config,
        commit: &CommitId,
        phase: Phase,
    ) -> Result<(), OracleError> {
        let derived = self.derived(reference, measure, recipe, None)?;
        let apart = Some(ExclusionReason::Reference);
        Ok(self.recorder.run_apart(reference, &derived.sample, commit, phase, apart)?)
    }
}
