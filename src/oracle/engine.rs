//! What is checked out for a commit under test: the commit itself, or, in a hunt inside a
//! dependency, one fixed commit of the engine with the dependency replaced.

use std::path::PathBuf;

use crate::build::Slot;
use crate::config::{Config, Placeholder, Values};
use crate::evaluation::{CommitId, Within};
use crate::git::{History, Holding, Laid, Layer, Refusal};

use super::{Oracle, OracleError};

/// The engine under test.
pub struct Engine {
    /// The repository that is checked out and built.
    pub history: History,
    /// The engine's fixed commit, in a hunt inside a dependency.
    pub within: Option<Within>,
}

impl Engine {
    /// The engine's commit for a commit under test: HEAD during its build.
    pub fn commit<'a>(&'a self, in_question: &'a CommitId) -> &'a CommitId {
        self.within.as_ref().map_or(in_question, |within| &within.commit.commit)
    }

    /// The layer that puts the dependency's commit under test into the engine; `None` in an
    /// ordinary hunt.
    pub fn exchanged(&self, in_question: &CommitId) -> Option<Layer> {
        let within = self.within.as_ref()?;
        let Within { path, files, .. } = within;
        Some(if files.is_empty() {
            Layer::Pin { path: path.clone(), to: in_question.clone() }
        } else {
            Layer::Vendored {
                folder: path.clone(),
                from: in_question.clone(),
                files: files.clone(),
            }
        })
    }
}

impl Oracle {
    /// The tree to build, or a refusal; `None` if the engine's commit is built unchanged.
    fn laid(&self, commit: &CommitId, recipe: &Config) -> Result<Option<Laid>, OracleError> {
        let mut layers: Vec<Layer> = self.engine.exchanged(commit).into_iter().collect();
        layers.extend(self.layers(recipe)?);
        if layers.is_empty() {
            return Ok(None);
        }
        Ok(Some(self.laying.lay(self.engine.commit(commit), &layers)?))
    }

    /// What a slot must hold for a commit under test, or why the files cannot be made.
    pub(super) fn holding(
        &self,
        commit: &CommitId,
        recipe: &Config,
    ) -> Result<Result<Holding, Refusal>, OracleError> {
        let laid = match self.laid(commit, recipe)? {
            None => None,
            Some(Laid::Tree(tree)) => Some(tree),
            Some(Laid::Refused(refusal)) => return Ok(Err(refusal)),
        };
        Ok(Ok(Holding {
            commit: self.engine.commit(commit).clone(),
            laid,
            submodules: recipe.worktree.submodules,
            lfs: recipe.worktree.lfs,
        }))
    }

    /// The values of the placeholders for a commit under test in a slot.
    pub(super) fn values(
        &self,
        slot: &Slot,
        commit: &CommitId,
        recipe: &Config,
    ) -> Result<Values, OracleError> {
        let Engine { history, .. } = &self.engine;
        let commit = self.engine.commit(commit);
        let cores = self.facts.machine.cores.to_string();
        let number = |n: Option<u32>| n.map_or_else(|| cores.clone(), |n| n.to_string());
        let path = |path: PathBuf| path.to_string_lossy().into_owned();
        let mut values = Values::new()
            .with(Placeholder::Src, path(slot.src()))
            .with(Placeholder::Build, path(slot.build()))
            .with(Placeholder::Out, path(slot.out()))
            .with(Placeholder::Cache, path(slot.cache()))
            .with(Placeholder::Jobs, number(recipe.build.jobs))
            .with(Placeholder::Threads, number(recipe.run.threads))
            .with(Placeholder::Commit, commit.as_str())
            .with(Placeholder::Short, commit.short())
            .with(Placeholder::CommitDate, history.info(commit)?.date);
        if let Some(chunks) = recipe.run.chunks {
            values.set(Placeholder::Chunks, chunks.to_string());
        }
        if let Some(parent) = history.parents(commit)?.first() {
            values.set(Placeholder::Parent, parent.as_str());
        }
        for prepare in &recipe.prepares {
            let folder = path(slot.prepared(&prepare.name));
            values.set(Placeholder::Prepare(prepare.name.clone()), folder);
        }
        for (name, input) in &self.facts.inputs {
            values.set(Placeholder::Input(name.clone()), input.path.clone());
        }
        Ok(values)
    }

    /// The id of a commit's files under a recipe.
    pub fn tree_of(&self, commit: &CommitId, recipe: &Config) -> Result<String, OracleError> {
        Ok(match self.laid(commit, recipe)? {
            Some(laid) => laid.id(),
            None => self.engine.history.tree_id(self.engine.commit(commit))?,
        })
    }
}
