//! Runs `[[prepare]]` steps between build and measures: in the build's slot, once per build, when
//! a run first needs the step.
//!
//! A step that works is stored like a build. A step that fails is stored as a failed run of the
//! measure, so that the fault is decided as for any failed run.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::build::{GitWatch, Linked, git_events, private_folders, written_in_home};
use crate::config::{Prepare, fill_env};
use crate::evaluation::{
    ChangedDuring, Ended, FailedPrepare, GitFolderChange, GitQuestion, MachineStates, Resources,
    RunRecord,
};
use crate::git::CommonFiles;
use crate::measure::Reader;
use crate::process::{self, Invocation, Keep, LogFile};
use crate::store::{BuildKey, BuildRecord, StoredRun, attempt_name, publish_log};
use crate::ui::text;

use super::derive::Derived;
use super::launch::Launch;
use super::machine_lock::MachineShare;
use super::parts::{Oracle, Placed};
use super::run::reset_checkout;
use super::{OracleError, Task, machine_state};

/// A finished step, not yet judged as worked or failed.
struct Made {
    attempt: String,
    argv: Vec<String>,
    env: BTreeMap<String, String>,
    started: String,
    used: Resources,
    ended: Ended,
    machine: MachineStates,
    /// An output that the step did not make.
    missing: Option<String>,
    /// What the step asked git about HEAD.
    asked_git: BTreeSet<GitQuestion>,
    /// What changed in the git folder that all worktrees share.
    git_folder: Option<GitFolderChange>,
}

impl Oracle {
    /// Makes sure that the slot has the steps' outputs that the measure names. Returns a failed
    /// run if a step fails.
    pub(super) fn prepare(
        &mut self,
        launch: Launch<'_>,
        placed: &Placed,
    ) -> Result<Option<(StoredRun, Derived)>, OracleError> {
        let Launch { commit, recipe, measure, .. } = launch;
        placed.slot.take_turn()?;
        for prepare in recipe.prepares_of(measure.templates()) {
            let key = self.recipes.prepare_key_of(commit, recipe, prepare)?;
            if placed.slot.has_prepared(&prepare.name, &key) {
                continue;
            }
            if let Some(failed) = self.make(launch, placed, prepare, &key)? {
                return Ok(Some(failed));
            }
        }
        Ok(None)
    }

    fn make(
        &mut self,
        launch: Launch<'_>,
        placed: &Placed,
        prepare: &Prepare,
        key: &BuildKey,
    ) -> Result<Option<(StoredRun, Derived)>, OracleError> {
        let Launch { commit, recipe, measure, phase, .. } = launch;
        let _held = self.lock_machine(MachineShare::Build, commit, Some(&prepare.name), phase)?;
        self.recorder.now(Task::Prepare, commit, Some(&prepare.name), phase);
        placed.slot.clear_prepared(&prepare.name)?;
        let attempt = attempt_name();
        let pending = self.store.pending_log(&attempt)?;
        let log = pending.path();
        let made = self.run_step(launch, placed, prepare, attempt, log)?;
        if !made.ended.is_success() || made.missing.is_some() {
            let record = self.failed(launch, placed, prepare, made);
            let run = self.store.put_run(&record, log)?;
            let derived = self.derived(&run, measure, recipe, None)?;
            return Ok(Some((run, derived)));
        }
        let record = BuildRecord {
            attempt: made.attempt,
            build_key: key.clone(),
            commit: commit.clone(),
            phase,
            commands: vec![made.argv],
            finished: jiff::Timestamp::now().to_string(),
            wall_s: made.used.wall_s,
            failure: None,
            prepare: Some(prepare.name.clone()),
            compiler_cache: None,
            setup: None,
            log_sha256: None,
            failed_attempts: None,
            asked_git: made.asked_git,
            git_folder: made.git_folder,
            written: None,
            node: None,
        };
        publish_log(log, &self.store.build_log(&record))?;
        self.store.put_build(&record)?;
        self.recorder.build(&self.store, &record, commit, phase, false)?;
        placed.slot.set_prepared(&prepare.name, key)?;
        Ok(None)
    }

    /// Runs the step in `{src}`, and restores the tracked files.
    fn run_step(
        &self,
        launch: Launch<'_>,
        placed: &Placed,
        prepare: &Prepare,
        attempt: String,
        log: &Path,
    ) -> Result<Made, OracleError> {
        let Launch { commit, recipe, measure, .. } = launch;
        let slot = &placed.slot;
        let values = self.recipes.values(slot, commit, recipe)?;
        let argv = prepare.command.fill(&values)?;
        let mut invocation = Invocation::new(&argv[0])
            .args(&argv[1..])
            .cwd(slot.src())
            .timeout(Some(prepare.timeout))
            .cpus(recipe.executor.cpus())
            .sandbox(recipe.run.sandbox.then(|| slot.sandbox()))
            .mark(slot.mark())
            .git_events(git_events(slot));
        let env = fill_env(&prepare.env, &values)?;
        for (name, folder) in private_folders(slot, recipe.home, launch.phase)? {
            invocation = invocation.env(name, folder);
        }
        for (name, value) in recipe.executor.env().chain(&env) {
            invocation = invocation.env(name, value);
        }
        let linked = Linked::below(&slot.src(), &recipe.worktree.link);
        let started = jiff::Timestamp::now().to_string();
        let mut header = vec![
            ("prepare", prepare.name.clone()),
            ("command", text::typed(&argv)),
            ("commit", commit.to_string()),
            ("started", started.clone()),
        ];
        header.extend(env.iter().map(|(name, value)| ("env", format!("{name}={value}"))));
        let output = LogFile { path: log, header: &header, sync: true };
        // The reader looks for signs of the machine's fault, as in a run's output.
        let mut reader = Reader::new(measure, &recipe.requires);
        let before = machine_state::read(Path::new("/"));
        let git = GitWatch::begin(slot);
        let repository = self.recipes.engine.history.repository();
        let shared = CommonFiles::of(repository);
        let done = process::run(&invocation, &self.stop, &output, &mut |stream, line| {
            if reader.line(stream, line) { Keep::Yes } else { Keep::No }
        })?;
        let asked_git = git.finish();
        let during = ChangedDuring::Step(prepare.name.clone());
        let git_folder = shared.change(commit, during);
        let machine = MachineStates { before, after: machine_state::read(Path::new("/")) };
        reset_checkout(repository, slot, &placed.checkout_spec)?;
        if done.ended == Ended::Stopped || self.stop.is_requested() {
            return Err(OracleError::stopped(&self.stop));
        }
        linked.check(&format!("the step {}", prepare.name), commit.short())?;
        self.recipes.facts.check_inputs(recipe, &self.store)?;
        let folder = slot.prepared(&prepare.name);
        let missing = prepare.outputs.iter().find(|output| !folder.join(output).exists());
        let missing = missing.filter(|_| done.ended.is_success()).cloned();
        let used = done.used();
        let ended = done.ended;
        Ok(Made {
            attempt,
            argv,
            env,
            started,
            used,
            ended,
            machine,
            missing,
            asked_git,
            git_folder,
        })
    }

    fn failed(
        &self,
        launch: Launch<'_>,
        placed: &Placed,
        prepare: &Prepare,
        made: Made,
    ) -> RunRecord {
        let slot = &placed.slot;
        let empty_home = launch.recipe.home.is_check_in(launch.phase);
        RunRecord {
            attempt: made.attempt,
            run_key: launch.key.to_string(),
            measure: launch.measure.name.clone(),
            commit: launch.commit.clone(),
            phase: launch.phase,
            hunt: self.recorder.hunt().map(str::to_owned),
            argv: made.argv,
            cwd: slot.src().to_string_lossy().into_owned(),
            slot: slot.root().to_string_lossy().into_owned(),
            cpus: launch.recipe.executor.cpus().to_vec(),
            env: made.env,
            started: made.started,
            used: made.used,
            ended: made.ended,
            built: placed.stamp.finished.clone(),
            warm_up: false,
            ahead: self.recorder.is_ahead(),
            alone: false,
            host: Some(self.launcher.host.clone()),
            prepare: Some(FailedPrepare { name: prepare.name.clone(), missing: made.missing }),
            machine: Some(made.machine),
            loaded: None,
            taken_port: None,
            same_as: None,
            same_commit: None,
            empty_home,
            wrote_home: empty_home.then(|| written_in_home(slot)).flatten(),
            git_folder: made.git_folder,
            put_back: Vec::new(),
            dumps: Vec::new(),
            log_sha256: None,
        }
    }
}
