//! The working folder and environment of a measure's commands.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::build::{Slot, git_events};
use crate::config::{Command, Config, Measure, MissingValue, Values, fill_env};
use crate::process::{Invocation, Sandbox, SlotMark};

use super::caches;
use super::loaded::LoadWatch;

/// The setting of one run.
pub(super) struct Setting<'a> {
    measure: &'a Measure,
    values: &'a Values,
    cwd: PathBuf,
    /// The variables of the executor's slot, and those that the measure declares.
    env: BTreeMap<String, String>,
    /// The CPUs of the executor's slot; empty for all.
    cpus: Vec<usize>,
    /// Folders of caches; declared variables override them.
    caches: Vec<(&'static str, PathBuf)>,
    /// Folders of the run alone; declared variables override them.
    private: Vec<(&'static str, PathBuf)>,
    /// The hook of Python interpreters; it overrides declared variables.
    python: [(&'static str, OsString); 2],
    sandbox: Option<Sandbox>,
    mark: Option<SlotMark>,
    git_events: PathBuf,
}

impl<'a> Setting<'a> {
    /// The setting of a measure's run in a watched slot.
    pub(super) fn of(
        config: &Config,
        measure: &'a Measure,
        values: &'a Values,
        slot: &Slot,
        watch: &LoadWatch,
        private: Vec<(&'static str, PathBuf)>,
    ) -> Result<Self, MissingValue> {
        let cwd = match &measure.cwd {
            Some(template) => slot.src().join(template.fill(values)?),
            None => slot.src(),
        };
        let mut env: BTreeMap<String, String> =
            config.executor.env().map(|(name, value)| (name.clone(), value.clone())).collect();
        env.extend(fill_env(&measure.env, values)?);
        let cpus = config.executor.cpus().to_vec();
        let caches = caches::variables(&slot.cache(), |name| std::env::var_os(name));
        let python = watch.variables(variable(&env, "PYTHONPATH"));
        let sandbox = config.run.sandbox.then(|| slot.sandbox());
        Ok(Self {
            measure,
            values,
            cwd,
            env,
            cpus,
            caches,
            private,
            python,
            sandbox,
            mark: slot.mark(),
            git_events: git_events(slot),
        })
    }

    /// The working folder.
    pub(super) fn cwd(&self) -> &Path {
        &self.cwd
    }

    /// The variables of the executor's slot, and those that the measure declares.
    pub(super) fn env(&self) -> &BTreeMap<String, String> {
        &self.env
    }

    /// The run's `LD_LIBRARY_PATH`: the folders in which the loader looks for shared objects before
    /// those of a program's RUNPATH.
    pub(super) fn library_path(&self) -> Option<OsString> {
        variable(&self.env, "LD_LIBRARY_PATH")
    }

    /// A command's words, with placeholders filled in.
    pub(super) fn words(&self, command: &Command) -> Result<Vec<String>, MissingValue> {
        command.fill(self.values)
    }

    /// These words as a process to start.
    pub(super) fn invocation(&self, words: &[String]) -> Invocation {
        let mut invocation = Invocation::new(&words[0])
            .args(&words[1..])
            .cwd(&self.cwd)
            .timeout(Some(self.measure.timeout))
            .cpus(&self.cpus)
            .sandbox(self.sandbox.clone())
            .mark(self.mark.clone())
            .git_events(&self.git_events);
        // `XDG_CACHE_HOME` is in both: a run's cache is below `{cache}`, also with an empty home.
        for (name, folder) in self.private.iter().chain(&self.caches) {
            invocation = invocation.env(name, folder);
        }
        for (name, value) in &self.env {
            invocation = invocation.env(name, value);
        }
        for (name, value) in &self.python {
            invocation = invocation.env(name, value);
        }
        invocation
    }
}

/// A variable that a run gets: as the configuration sets it, or as this program has it.
fn variable(env: &BTreeMap<String, String>, name: &str) -> Option<OsString> {
    env.get(name).map(OsString::from).or_else(|| std::env::var_os(name))
}
