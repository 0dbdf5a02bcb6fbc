//! How the commands of a measure are started: in which folder, and with which environment.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::build::Slot;
use crate::config::{Command, Measure, MissingValue, Values, fill_env};
use crate::process::Invocation;

use super::caches;
use super::loaded::Look;

/// The setting of one run.
pub(super) struct Setting<'a> {
    measure: &'a Measure,
    values: &'a Values,
    cwd: PathBuf,
    /// What the measure declares.
    env: BTreeMap<String, String>,
    /// What it gets besides: first what a declaration overrides, then what none does.
    caches: Vec<(&'static str, PathBuf)>,
    python: [(&'static str, OsString); 2],
}

impl<'a> Setting<'a> {
    /// In a slot, under a look.
    pub(super) fn of(
        measure: &'a Measure,
        values: &'a Values,
        slot: &Slot,
        look: &Look,
    ) -> Result<Self, MissingValue> {
        let cwd = match &measure.cwd {
            Some(template) => slot.src().join(template.fill(values)?),
            None => slot.src(),
        };
        let env = fill_env(&measure.env, values)?;
        let caches = caches::variables(&slot.cache(), |name| std::env::var_os(name));
        let python_path = env.get("PYTHONPATH").map(OsString::from);
        let python = look.variables(python_path.or_else(|| std::env::var_os("PYTHONPATH")));
        Ok(Self { measure, values, cwd, env, caches, python })
    }

    /// The folder.
    pub(super) fn cwd(&self) -> &Path {
        &self.cwd
    }

    /// What the measure declares.
    pub(super) fn env(&self) -> &BTreeMap<String, String> {
        &self.env
    }

    /// A command's words.
    pub(super) fn words(&self, command: &Command) -> Result<Vec<String>, MissingValue> {
        command.fill(self.values)
    }

    /// These words, to be started.
    pub(super) fn invocation(&self, words: &[String]) -> Invocation {
        let mut invocation = Invocation::new(&words[0])
            .args(&words[1..])
            .cwd(&self.cwd)
            .timeout(Some(self.measure.timeout));
        for (name, folder) in &self.caches {
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
