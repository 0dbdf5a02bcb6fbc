//! Answers a request: takes a commit's samples from the store, and builds and runs what is missing.

use std::collections::BTreeMap;

use crate::build::{self, BuildError, Slot, Stamp};
use crate::config::{BuildMode, Config, ConfirmBuild, Measure};
use crate::evaluation::{CommitId, Ended, Failure, FailureKind, Fault, Phase};
use crate::store::journal::Event;
use crate::store::{BuildRecord, Control, RunKey, StoredRun};

use super::admission::Admission;
use super::build_in_slot::SlotBuild;
use super::built_programs::{has_programs, note_programs};
use super::derive::Derived;
use super::duration::as_duration;
use super::failed_runs::{FailedRuns, must_be_seen_twice};
use super::launch::Launch;
use super::parts::{Oracle, Placed};
use super::{Observation, OracleError, Request, Sample, Task};

/// Why there is no usable build.
enum NoBuild {
    Failed { failure: Failure, starved: bool, stored_at: Option<String> },
    Error(OracleError),
}

impl<E: Into<OracleError>> From<E> for NoBuild {
    fn from(error: E) -> Self {
        Self::Error(error.into())
    }
}

impl Oracle {
    /// Answers from the store, and builds and runs what the store lacks.
    pub(crate) fn evaluate(&mut self, request: Request<'_>) -> Result<Observation, OracleError> {
        self.recipes.facts.check_inputs(&self.recipes.config, &self.store)?;
        if request.runs > 0 {
            self.take_over(request.commit, request.phase, 0.0)?;
        }
        let recipe = match request.recipe {
            Some(recipe) => recipe.clone(),
            None => self.recipes.at(request.commit)?,
        };
        let mut placed = None;
        let claims = self.claim_in_flight(request, &recipe)?;
        let answer = self.answer(request, &recipe, &mut placed);
        drop(claims);
        self.tell_set_aside()?;
        if let Some(Placed { slot, .. }) = placed
            && request.keep
        {
            self.pool.keep(slot);
        }
        let answer =
            answer.and_then(|samples| match self.read_pointer(request.commit, &samples)? {
                Some(failure) => Err(NoBuild::Failed { failure, starved: true, stored_at: None }),
                None => Ok(samples),
            });
        match answer {
            Ok(samples) => Ok(Observation {
                commit: request.commit.clone(),
                build_failure: None,
                build_stored_at: None,
                build_starved: false,
                samples,
            }),
            Err(NoBuild::Failed { failure, starved, stored_at }) => Ok(Observation {
                commit: request.commit.clone(),
                build_failure: Some(failure),
                build_stored_at: stored_at,
                build_starved: starved,
                samples: BTreeMap::new(),
            }),
            Err(NoBuild::Error(error)) => Err(error),
        }
    }

    fn answer(
        &mut self,
        request: Request<'_>,
        recipe: &Config,
        placed: &mut Option<Placed>,
    ) -> Result<BTreeMap<String, Vec<Sample>>, NoBuild> {
        if request.phase.may_reuse(Phase::Search, false) {
            self.known_build_failure(request, recipe)?;
        }
        // A request for zero runs only reads the store.
        let builds_only = request.measures.is_empty() && request.runs > 0;
        if builds_only && !self.is_known_to_build(request, recipe)? {
            self.ensure(request, recipe, placed)?;
        }
        let mut samples = BTreeMap::new();
        for name in request.measures {
            let Some(measure) = recipe.measure(name).cloned() else { continue };
            let recipe = recipe.reading(&measure, request.chunks);
            let key = self.recipes.run_key_of(request.commit, &recipe, &measure)?;
            let taken = self.sample(request, &recipe, &measure, &key, placed)?;
            samples.insert(name.clone(), taken);
        }
        Ok(samples)
    }

    /// The samples of one measure, from the store and from new runs.
    fn sample(
        &mut self,
        request: Request<'_>,
        recipe: &Config,
        measure: &Measure,
        key: &RunKey,
        placed: &mut Option<Placed>,
    ) -> Result<Vec<Sample>, NoBuild> {
        let Request { commit, phase, .. } = request;
        let mut reference = self.reference(measure, recipe)?;
        if let Some(reference) = &reference
            && request.runs > 0
            && self.references.is_at(commit)
        {
            self.record_reference(reference, measure, recipe, commit, phase)?;
        }
        let runs = self.stored_runs(commit, recipe, measure, key)?;
        let (store, hunt) = (&self.store, self.recorder.hunt());
        let known = self.stored.usable(
            request,
            recipe,
            measure,
            (runs, reference.as_ref()),
            store,
            hunt,
        )?;
        let mut samples = Vec::new();
        for (run, mut sample) in known.counting {
            if self.is_not_asked_for(&run, &samples, request.runs)
                || self.is_refuted(&run, commit, recipe, measure)?
            {
                continue;
            }
            sample.stored_at = Some(run.record.started.clone());
            // A request for zero runs only reads the store, and the journal does not record it.
            if request.runs > 0 {
                self.recorder.run(&run, &sample, commit, phase)?;
            }
            samples.push(sample);
        }
        let mut failed = known.failed;
        let mut throttled = 0;
        let mut is_warm = false;
        while samples.len() < request.runs {
            self.afford(recipe)?;
            self.ensure(request, recipe, placed)?;
            let placed = placed.as_ref().expect("it was just ensured");
            let after_failure = failed.has_any();
            let launch =
                Launch { commit, recipe, measure, key, phase, warm_up: false, after_failure };
            let (run, derived) = if let Some(failed) = self.prepare(launch, placed)? {
                failed
            } else if let Some(twin) = self.reuse_identical_build(request, launch, placed)? {
                twin
            } else {
                if !std::mem::replace(&mut is_warm, true) {
                    self.warm_up(launch, placed)?;
                }
                self.launch(launch, placed)?
            };
            if self.rests_after(launch, &run, &derived, &mut throttled)? {
                continue;
            }
            match self.admit(request, measure, &run, &derived, &mut failed)? {
                Admission::Again => {
                    self.recorder.record_excluded(&run, &derived.sample, commit, phase)?;
                    continue;
                }
                Admission::Unconfirmed => {
                    self.recorder.run(&run, &derived.sample, commit, phase)?;
                    failed.needs_control = derived.fault == Some(Fault::Unclear);
                    failed.unconfirmed = Some((run, derived.sample));
                    continue;
                }
                Admission::Counts => {
                    let first = self.take_unconfirmed(request, measure, &derived, &mut failed)?;
                    samples.extend(first);
                }
            }
            if reference.is_none() && self.is_reference(commit, measure, &derived)? {
                self.record_reference(&run, measure, recipe, commit, phase)?;
                reference = Some(run);
            } else {
                self.recorder.run(&run, &derived.sample, commit, phase)?;
                samples.push(derived.sample);
            }
        }
        Ok(samples)
    }

    /// Whether a worker made this run ahead, and the request needs no more runs. Such a run is left
    /// out: which runs count must not depend on how much was measured ahead.
    fn is_not_asked_for(&self, run: &StoredRun, taken: &[Sample], wanted: usize) -> bool {
        // Two runs show a crash: both count for a request of one.
        let is_second = |first: &Sample| first.result.as_ref().is_err_and(must_be_seen_twice);
        if let [first] = taken
            && wanted == 1
            && is_second(first)
        {
            return false;
        }
        let is_ours = run.record.hunt.as_deref() == self.recorder.hunt();
        let is_own_work = self.recorder.is_ahead() || self.recorder.names(&run.record.attempt);
        run.record.ahead && is_ours && !is_own_work && taken.len() >= wanted
    }

    /// The sample of a first crash or time-out, if the next run crashed or timed out too, or if the
    /// first one shows a sought failure. Otherwise the first one does not count, and the journal
    /// says so.
    fn take_unconfirmed(
        &mut self,
        request: Request<'_>,
        measure: &Measure,
        next: &Derived,
        failed: &mut FailedRuns,
    ) -> Result<Option<Sample>, OracleError> {
        let Some((run, sample)) = failed.unconfirmed.take() else { return Ok(None) };
        failed.was_seen = true;
        let Request { commit, phase, .. } = request;
        let counts = match &next.sample.result {
            Err(failure) => must_be_seen_twice(failure) && !next.sample.starved,
            Ok(_) if !self.stored.sought.has_failure_of(request, &measure.name, &sample) => false,
            Ok(_) if failed.needs_control => self.run_control(&run, None, measure)? == Some(true),
            Ok(_) => true,
        };
        if counts {
            self.recorder.run(&run, &sample, commit, phase)?;
            return Ok(Some(sample));
        }
        self.recorder.record_excluded(&run, &sample, commit, phase)?;
        Ok(None)
    }

    /// Returns the last stored build failure as an error, if it still counts.
    fn known_build_failure(
        &mut self,
        request: Request<'_>,
        recipe: &Config,
    ) -> Result<(), NoBuild> {
        let key = self.recipes.build_key_of(request.commit, recipe)?;
        let builds = self.store.builds(&key)?;
        let Some(last) = builds.last() else { return Ok(()) };
        let failure = build::failure_from_store(&self.store, last)?;
        match &failure {
            // The stored build timed out under a shorter limit.
            Some(failure)
                if failure.ended() == Some(&Ended::TimedOut)
                    && as_duration(last.wall_s) < recipe.build.timeout =>
            {
                Ok(())
            }
            // A failure at an endpoint may end the hunt, so an old failed build is repeated there.
            Some(_)
                if (request.phase == Phase::Endpoint || self.stored.retry_failed)
                    && self.recorder.hunt().is_some()
                    && !self.recorder.has_built(&last.attempt) =>
            {
                Ok(())
            }
            Some(failure) => {
                let Request { commit, phase, runs, .. } = request;
                // A request for zero runs only reads the store, and the journal does not record it.
                if runs > 0 {
                    self.recorder.build(&self.store, last, commit, phase, true)?;
                }
                let stored_at = Some(last.finished.clone());
                Err(NoBuild::Failed { failure: failure.clone(), starved: false, stored_at })
            }
            None => Ok(()),
        }
    }

    /// Whether the store has a working build that this phase may use.
    fn is_known_to_build(
        &self,
        request: Request<'_>,
        recipe: &Config,
    ) -> Result<bool, OracleError> {
        let key = self.recipes.build_key_of(request.commit, recipe)?;
        let builds = self.store.builds(&key)?;
        let built = builds.iter().any(|build| build.failure.is_none());
        Ok(built && request.phase.may_reuse(Phase::Search, false))
    }

    /// Makes sure that a slot holds the build.
    fn ensure(
        &mut self,
        request: Request<'_>,
        recipe: &Config,
        placed: &mut Option<Placed>,
    ) -> Result<(), NoBuild> {
        if placed.is_none() {
            // Checked only before a build or a run: thousands of linked files take time to check.
            self.recipes.facts.check_links(self.checkout.as_deref())?;
            if request.rebuild {
                self.release(request.commit);
            }
            *placed =
                Some(self.try_place(request.commit, recipe, request.phase, request.rebuild)?);
        }
        Ok(())
    }

    /// A slot with the commit's build; a failed build is an error.
    pub(super) fn place(
        &mut self,
        commit: &CommitId,
        recipe: &Config,
        phase: Phase,
    ) -> Result<Placed, OracleError> {
        self.try_place(commit, recipe, phase, false).map_err(|error| match error {
            NoBuild::Error(error) => error,
            NoBuild::Failed { failure, .. } => OracleError::Build(BuildError::MachineFault {
                commit: commit.short().to_owned(),
                reason: format!("it built before, but not now: {}", failure.detail),
            }),
        })
    }

    /// Excludes a build, because an input was missing or changed during the build.
    fn discard_build(&self, build: &BuildRecord, slot: &Slot) -> Result<(), OracleError> {
        slot.clear_stamp()?;
        let attempt = build.attempt.clone();
        let control = Control { about: attempt.clone(), attempt, worked: false };
        Ok(self.store.put_control(&control)?)
    }

    fn try_place(
        &mut self,
        commit: &CommitId,
        recipe: &Config,
        phase: Phase,
        rebuild: bool,
    ) -> Result<Placed, NoBuild> {
        let key = self.recipes.build_key_of(commit, recipe)?;
        let hunt = self.recorder.hunt().map(str::to_owned);
        let checkout_spec = match self.recipes.checkout_spec(commit, recipe)? {
            Ok(checkout_spec) => checkout_spec,
            Err(refusal) => {
                let built = build::refuse(&self.store, commit, &key, phase, &refusal)?;
                self.recorder.build(&self.store, &built, commit, phase, false)?;
                let failure = built.failure.expect("a refused build has a failure");
                let starved = failure.kind == FailureKind::Checkout;
                return Err(NoBuild::Failed { failure, starved, stored_at: None });
            }
        };
        let earlier = self.earlier_builds(phase)?;
        let fits = |stamp: &Stamp| {
            let may_be_old = recipe.build.confirm == ConfirmBuild::Reuse
                && recipe.build.mode == BuildMode::Clean;
            let is_fresh = may_be_old || phase.may_reuse(stamp.phase, stamp.hunt == hunt);
            let may_take = earlier.allow(stamp, hunt.as_deref(), phase);
            stamp.build_key == key && is_fresh && may_take && !rebuild
        };
        // The builds that a confirmation compares are made at one path.
        let is_of_search = |phase: Phase| matches!(phase, Phase::Endpoint | Phase::Search);
        let fits_elsewhere = |stamp: &Stamp| {
            is_of_search(phase) && is_of_search(stamp.phase) && stamp.hunt == hunt && fits(stamp)
        };
        let slot = self.pool.acquire(fits, fits_elsewhere)?;
        if let Some(stamp) = slot.stamp().filter(fits).filter(|stamp| has_programs(&slot, stamp))
            && let Some(stamp) = self.take_found(&slot, stamp, commit, phase)?
        {
            slot.fresh(&slot.cache())?;
            return Ok(Placed { slot, stamp, checkout_spec });
        }
        let asked = SlotBuild { commit, recipe, key: &key, checkout_spec: &checkout_spec };
        self.recorder.begin_build(commit, slot.root())?;
        let (built, held) = self.build_in(&slot, asked, Task::Build, phase)?;
        // Released here, since the control of a failed build takes this lock itself.
        drop(held);
        if let Err(error) = self.recipes.facts.check_inputs(recipe, &self.store) {
            self.discard_build(&built.record, &slot)?;
            return Err(error.into());
        }
        self.recorder.build(&self.store, &built.record, commit, phase, false)?;
        for failure in &built.failed_before {
            let (short, how) = (commit.short(), &failure.detail);
            let text = format!(
                "a failed build of {short} did not count, since it worked when tried again: {how}"
            );
            self.recorder.event(Event::Note { text })?;
        }
        if let Some(failure) = &built.record.failure {
            let failure = failure.clone();
            if !built.starved || failure.kind == FailureKind::Build {
                self.make_control_build(&built.record, phase)?;
            }
            let starved = built.starved;
            return Err(NoBuild::Failed { failure, starved, stored_at: None });
        }
        let stamp = slot.stamp().expect("a build that was made leaves its stamp");
        note_programs(&slot, &stamp, recipe, &self.recipes.values(&slot, commit, recipe)?);
        let stamp = self.keep_for_later(&slot, stamp, recipe, &built.record);
        Ok(Placed { slot, stamp, checkout_spec })
    }
}
