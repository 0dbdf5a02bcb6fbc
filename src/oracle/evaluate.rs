//! The oracle: what is known of a commit, made known where it is not.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use crate::build::{self, Slot, Slots, Stamp, build_key, run_key};
use crate::config::{BuildMode, Config, ConfirmBuild, Measure};
use crate::evaluation::{CommitId, Ended, Failure, FailureKind, Phase};
use crate::git::{History, Holding, Laying};
use crate::process::Stop;
use crate::store::{RunKey, Store};

use super::admission::given;
use super::derive::Derivations;
use super::launch::Launch;
use super::quiet::MachineShare;
use super::{
    ControlSlot, Engine, Facts, Launcher, Observation, OracleError, Pins, Present, Recorder,
    Sample, facts,
};

/// Answers about commits.
pub struct Oracle {
    /// The commits in question.
    pub history: History,
    /// What is built for each of them.
    pub engine: Engine,
    /// What has been measured.
    pub store: Store,
    /// Where to build and run.
    pub slots: Slots,
    /// The (frozen) configuration.
    pub config: Config,
    /// What the configuration names outside itself: a branch that moves while a hunt goes on must
    /// not change the recipes.
    pub pins: Pins,
    /// Makes the trees that no commit has.
    pub laying: Laying,
    /// Inputs, probes, machine.
    pub facts: Facts,
    /// The user's checkout, which `[worktree] link` links from.
    pub checkout: Option<PathBuf>,
    /// Journal and logs.
    pub recorder: Recorder,
    /// Ends everything early.
    pub stop: Stop,
    /// The good endpoint's kept build.
    pub control: Option<ControlSlot>,
    /// Slots kept for the next evaluation, with what they hold.
    pub kept: Vec<Slot>,
    /// Runs of an earlier hunt's confirmation that this one takes over.
    pub taken_over: BTreeSet<String>,
    /// Programs and shared objects from outside the slot, as they are now.
    pub present: Present,
    /// What launches need.
    pub launcher: Launcher,
    /// What outputs were found to say.
    pub derivations: Derivations,
}

/// A question.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// About this commit.
    pub commit: &'a CommitId,
    /// These measures; none: only whether it builds.
    pub measures: &'a [String],
    /// This many runs of each.
    pub runs: usize,
    /// What for. A confirmation takes only runs of its own, from builds of its own.
    pub phase: Phase,
    /// Another recipe than the commit's own (where an override begins at the commit).
    pub recipe: Option<&'a Config>,
    /// This many chunks of the text instead of all, where a measure takes `{chunks}`.
    pub chunks: Option<u32>,
    /// Keep the slot for the next question.
    pub keep: bool,
    /// A run of another build answers, where it would be one of the very same files.
    pub twins: bool,
    /// What is missing is run from a build of its own, made for it.
    pub rebuild: bool,
}

impl<'a> Request<'a> {
    /// What is known already: nothing is run, built or written down for it.
    pub fn look(commit: &'a CommitId, measures: &'a [String], phase: Phase) -> Self {
        Self {
            commit,
            measures,
            runs: 0,
            phase,
            recipe: None,
            chunks: None,
            keep: true,
            twins: false,
            rebuild: false,
        }
    }
}

/// A slot with a finished build in it.
pub(super) struct Placed {
    pub(super) slot: Slot,
    pub(super) stamp: Stamp,
    pub(super) holding: Holding,
}

/// A build that is no good.
enum NoBuild {
    Failed { failure: Failure, starved: bool },
    Error(OracleError),
}

impl<E: Into<OracleError>> From<E> for NoBuild {
    fn from(error: E) -> Self {
        Self::Error(error.into())
    }
}

impl Oracle {
    /// The configuration as it holds at a commit.
    pub fn recipe(&self, commit: &CommitId) -> Result<Config, OracleError> {
        Ok(self.config.resolve(&mut |condition| self.holds(commit, condition))?)
    }

    /// Answers, from the store as far as that reaches.
    pub fn evaluate(&mut self, request: Request<'_>) -> Result<Observation, OracleError> {
        self.facts.check_inputs(&self.config, &self.store)?;
        let recipe = match request.recipe {
            Some(recipe) => recipe.clone(),
            None => self.recipe(request.commit)?,
        };
        let mut placed = None;
        let answer = self.answer(request, &recipe, &mut placed);
        self.tell_set_aside()?;
        if let Some(Placed { slot, .. }) = placed
            && request.keep
        {
            self.kept.push(slot);
        }
        match answer {
            Ok(samples) => Ok(Observation {
                commit: request.commit.clone(),
                build_failure: None,
                build_starved: false,
                samples,
            }),
            Err(NoBuild::Failed { failure, starved }) => Ok(Observation {
                commit: request.commit.clone(),
                build_failure: Some(failure),
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
        if request.phase.takes(Phase::Search, false) {
            self.known_build_failure(request, recipe)?;
        }
        if request.measures.is_empty() && !self.is_known_to_build(request, recipe)? {
            self.ensure(request, recipe, placed)?;
        }
        let mut samples = BTreeMap::new();
        for name in request.measures {
            let Some(measure) = recipe.measure(name).cloned() else { continue };
            let recipe = reading(recipe, &measure, request.chunks);
            let key = self.run_key_of(request.commit, &recipe, &measure)?;
            let taken = self.sample(request, &recipe, &measure, &key, placed)?;
            samples.insert(name.clone(), taken);
        }
        Ok(samples)
    }

    /// The samples of one measure: what the store has, and runs for what is missing.
    fn sample(
        &mut self,
        request: Request<'_>,
        recipe: &Config,
        measure: &Measure,
        key: &RunKey,
        placed: &mut Option<Placed>,
    ) -> Result<Vec<Sample>, NoBuild> {
        let Request { commit, phase, .. } = request;
        let known = self.usable(request, recipe, measure, key)?;
        let mut samples = Vec::new();
        for (run, sample) in known {
            // Asking for no runs is looking, which is not written down.
            if request.runs > 0 {
                self.recorder.run(&run, &sample, commit, phase)?;
            }
            samples.push(sample);
        }
        let mut again = 0;
        let mut throttled = 0;
        let mut is_warm = false;
        while samples.len() < request.runs {
            self.afford(recipe)?;
            self.ensure(request, recipe, placed)?;
            let placed = placed.as_ref().expect("it was just ensured");
            let launch = Launch { commit, recipe, measure, key, phase, warm_up: false };
            let (run, derived) = if let Some(failed) = self.prepare(launch, placed)? {
                failed
            } else if let Some(twin) = self.twin(request, launch, placed)? {
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
            if self.is_admissible(request, measure, &run, &derived, &mut again)? {
                self.recorder.run(&run, &derived.sample, commit, phase)?;
                samples.push(derived.sample);
            } else {
                self.recorder.void(&run, &derived.sample, commit, phase)?;
            }
        }
        Ok(samples)
    }

    /// A build failure that the store knows of.
    fn known_build_failure(
        &mut self,
        request: Request<'_>,
        recipe: &Config,
    ) -> Result<(), NoBuild> {
        let key = self.build_key_of(request.commit, recipe)?;
        let builds = self.store.builds(&key)?;
        let Some(last) = builds.last() else { return Ok(()) };
        let failure = build::recalled(&self.store, last)?;
        match &failure {
            // It was given less time than it would have now.
            Some(failure)
                if failure.ended() == Some(&Ended::TimedOut)
                    && given(last.wall_s) < recipe.build.timeout =>
            {
                Ok(())
            }
            // What did not build on another day is tried again where it may end the hunt.
            Some(_)
                if request.phase == Phase::Endpoint
                    && self.recorder.hunt().is_some()
                    && !self.recorder.has_built(&last.attempt) =>
            {
                Ok(())
            }
            Some(failure) => {
                let Request { commit, phase, runs, .. } = request;
                // Asking for no runs is looking, which is not written down.
                if runs > 0 {
                    self.recorder.build(&self.store, last, commit, phase, true)?;
                }
                Err(NoBuild::Failed { failure: failure.clone(), starved: false })
            }
            None => Ok(()),
        }
    }

    /// Whether only a build was asked for, and the store knows that it works.
    fn is_known_to_build(
        &self,
        request: Request<'_>,
        recipe: &Config,
    ) -> Result<bool, OracleError> {
        let key = self.build_key_of(request.commit, recipe)?;
        let builds = self.store.builds(&key)?;
        let built = builds.iter().any(|build| build.failure.is_none());
        Ok(built && request.phase.takes(Phase::Search, false))
    }

    /// Sees to it that a slot holds the build.
    fn ensure(
        &mut self,
        request: Request<'_>,
        recipe: &Config,
        placed: &mut Option<Placed>,
    ) -> Result<(), NoBuild> {
        if placed.is_none() {
            if request.rebuild {
                self.release(request.commit);
            }
            *placed =
                Some(self.try_place(request.commit, recipe, request.phase, request.rebuild)?);
        }
        Ok(())
    }

    /// A slot with the commit's build, for work that cannot go on without.
    pub(super) fn place(
        &mut self,
        commit: &CommitId,
        recipe: &Config,
        phase: Phase,
    ) -> Result<Placed, OracleError> {
        self.try_place(commit, recipe, phase, false).map_err(|error| match error {
            NoBuild::Error(error) => error,
            NoBuild::Failed { failure, .. } => OracleError::World {
                commit: commit.short().to_owned(),
                what: failure.detail,
                control: "it had built before".to_owned(),
            },
        })
    }

    fn try_place(
        &mut self,
        commit: &CommitId,
        recipe: &Config,
        phase: Phase,
        rebuild: bool,
    ) -> Result<Placed, NoBuild> {
        let key = self.build_key_of(commit, recipe)?;
        let hunt = self.recorder.hunt().map(str::to_owned);
        let holding = match self.holding(commit, recipe)? {
            Ok(holding) => holding,
            Err(refusal) => {
                let built = build::refuse(&self.store, commit, &key, phase, &refusal)?;
                self.recorder.build(&self.store, &built, commit, phase, false)?;
                let failure = built.failure.expect("there is nothing to build");
                let starved = failure.kind == FailureKind::Checkout;
                return Err(NoBuild::Failed { failure, starved });
            }
        };
        let fits = |stamp: &Stamp| {
            let may_be_old = recipe.build.confirm == ConfirmBuild::Reuse
                && recipe.build.mode == BuildMode::Clean;
            let is_fresh = may_be_old || phase.takes(stamp.phase, stamp.hunt == hunt);
            stamp.build_key == key && is_fresh && !rebuild
        };
        let kept = self.kept.iter().position(|slot| slot.stamp().is_some_and(|s| fits(&s)));
        let slot = match kept {
            Some(position) => self.kept.remove(position),
            None => self.slots.acquire(fits)?,
        };
        if let Some(stamp) = slot.stamp().filter(fits) {
            slot.fresh(&slot.cache())?;
            return Ok(Placed { slot, stamp, holding });
        }
        let held = self.lock_machine(MachineShare::Beside, commit, None, phase)?;
        self.recorder.now("build", commit, None, phase);
        let values = self.values(&slot, commit, recipe)?;
        let probes = facts::probed_for(phase, recipe)?;
        let built = build::build(build::Order {
            repository: self.engine.history.repository(),
            store: &self.store,
            slot: &slot,
            commit,
            config: recipe,
            holding: &holding,
            key: &key,
            values: &values,
            probes: &probes,
            phase,
            hunt: hunt.as_deref(),
            checkout: self.checkout.as_deref(),
            stop: &self.stop,
        })?;
        // What is asked of a failed build builds as well, and takes its own.
        drop(held);
        self.recorder.build(&self.store, &built.record, commit, phase, false)?;
        if let Some(failure) = &built.record.failure {
            let failure = failure.clone();
            if !built.starved {
                self.question_build(&built.record, phase)?;
            }
            return Err(NoBuild::Failed { failure, starved: built.starved });
        }
        let stamp = slot.stamp().expect("a build that was made leaves its stamp");
        Ok(Placed { slot, stamp, holding })
    }

    /// The key of a commit's build under a recipe.
    pub fn build_key_of(
        &self,
        commit: &CommitId,
        recipe: &Config,
    ) -> Result<crate::store::BuildKey, OracleError> {
        let tree = self.tree_of(commit, recipe)?;
        let commit = self.engine.commit(commit);
        Ok(build_key(&tree, commit, recipe, self.facts.circumstances()))
    }

    /// The key of a measure's run of a commit under a recipe.
    pub fn run_key_of(
        &self,
        commit: &CommitId,
        recipe: &Config,
        measure: &Measure,
    ) -> Result<RunKey, OracleError> {
        let build = self.build_key_of(commit, recipe)?;
        let commit = self.engine.commit(commit);
        Ok(run_key(&build, commit, measure, recipe, self.facts.circumstances()))
    }
}

/// The recipe by which a measure reads so many chunks.
fn reading<'r>(recipe: &'r Config, measure: &Measure, chunks: Option<u32>) -> Cow<'r, Config> {
    match chunks {
        Some(chunks) if measure.takes_chunks() => {
            let mut shorter = recipe.clone();
            shorter.run.chunks = Some(chunks);
            Cow::Owned(shorter)
        }
        _ => Cow::Borrowed(recipe),
    }
}
