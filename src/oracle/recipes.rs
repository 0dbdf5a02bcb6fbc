//! What each commit is built and run with: its recipe, its files, the values of placeholders, and
//! the keys under which builds and runs are stored.

use std::path::PathBuf;
use std::sync::Arc;

use crate::build::{Slot, build_key, prepare_key, run_key};
use crate::config::{BuildMode, Condition, Config, Measure, Placeholder, Prepare, Values};
use crate::evaluation::{CommitId, TreeEntry};
use crate::git::{CheckoutSpec, GitError, Layer, OverlayBuilder, OverlayFailure, OverlayResult};
use crate::store::{BuildKey, KeyHasher, RunKey, Store};

use super::pins::pin_of;
use super::{Engine, Facts, OracleError, Pins};

/// The recipes of a hunt's commits.
pub(crate) struct Recipes {
    /// What is checked out and built for each commit.
    pub engine: Engine,
    /// The (frozen) configuration.
    pub config: Config,
    /// The resolved revisions and patches that the configuration names, so that a branch that
    /// moves during a hunt does not change the builds.
    pub pins: Pins,
    /// Makes trees with patches, overlays or a replaced dependency.
    pub overlay_builder: OverlayBuilder,
    /// Inputs, probes, inherited variables and machine.
    pub facts: Facts,
    /// The store, which has the patches.
    pub store: Store,
    /// The ends of the hunt, which `build.mode = "auto"` builds clean; empty without a hunt.
    pub ends: Vec<CommitId>,
}

impl Recipes {
    /// The configuration at a commit, after its overrides. Its build mode is clean or incremental.
    pub(crate) fn at(&self, commit: &CommitId) -> Result<Config, OracleError> {
        let mut recipe = self.config.resolve(&mut |condition| self.holds(commit, condition))?;
        if recipe.build.mode == BuildMode::Auto {
            let is_end = self.ends.contains(commit);
            recipe.build.mode = if is_end { BuildMode::Clean } else { BuildMode::Incremental };
        }
        Ok(recipe)
    }

    /// Whether a condition holds at a commit.
    pub(super) fn holds(
        &self,
        commit: &CommitId,
        condition: &Condition,
    ) -> Result<bool, OracleError> {
        let (history, commit) = (&self.engine.history, self.engine.commit(commit));
        let has = |path: &Option<String>, wanted: bool| -> Result<bool, GitError> {
            path.as_ref().map_or(Ok(true), |path| Ok(history.path_exists(commit, path)? == wanted))
        };
        let contains = match &condition.contains {
            Some((path, text)) => history.file_contains(commit, path, text)?,
            None => true,
        };
        Ok(contains
            && has(&condition.exists, true)?
            && has(&condition.missing, false)?
            && self.descends(commit, condition.has_ancestor.as_deref(), true)?
            && self.descends(commit, condition.lacks_ancestor.as_deref(), false)?)
    }

    fn descends(
        &self,
        commit: &CommitId,
        revision: Option<&str>,
        wanted: bool,
    ) -> Result<bool, OracleError> {
        let Some(revision) = revision else { return Ok(true) };
        let ancestor = self.pinned(revision)?;
        Ok(self.engine.history.is_ancestor(&ancestor, commit)? == wanted)
    }

    /// The commit that a revision name is pinned to.
    pub(super) fn pinned(&self, revision: &str) -> Result<CommitId, OracleError> {
        match self.pins.revisions.get(revision) {
            Some(known) => Ok(known.clone()),
            None => Ok(self.engine.history.resolve(revision)?),
        }
    }

    /// A recipe with one more patch, which the store has under this digest.
    pub(crate) fn with_patch(&mut self, recipe: &Config, name: &str, digest: String) -> Config {
        let patched = recipe.with_patch(name.to_owned());
        if let Some(patch) = patched.patches.last() {
            self.pins.patches.insert(pin_of(patch), digest);
        }
        patched
    }

    /// The layers that a recipe puts over commits, the lowest first. Overlays come after patches,
    /// so that an overlaid folder is exactly the other revision's.
    pub(crate) fn layers(&self, recipe: &Config) -> Result<Vec<Layer>, OracleError> {
        let patches = recipe.patches.iter().map(|patch| {
            let pin = pin_of(patch);
            let digest = self.pins.patches.get(&pin).cloned();
            let digest = digest.ok_or(OracleError::NoPatch(pin))?;
            let file = self.store.patch(&digest);
            Ok(Layer::Patch { name: patch.source.name().to_owned(), digest, file })
        });
        let overlays = recipe.overlays.iter().map(|overlay| {
            let from = self.pinned(&overlay.from)?;
            Ok(Layer::Files { from, paths: overlay.paths.clone() })
        });
        patches.chain(overlays).collect()
    }

    /// The tree to build, or a refusal; `None` if the engine's commit is built unchanged.
    pub(crate) fn laid(
        &self,
        commit: &CommitId,
        recipe: &Config,
    ) -> Result<Option<OverlayResult>, OracleError> {
        let mut layers: Vec<Layer> = if recipe.inline {
            self.engine.as_files(commit, &recipe.part)
        } else {
            self.engine.exchanged(commit).into_iter().collect()
        };
        layers.extend(self.layers(recipe)?);
        if layers.is_empty() {
            return Ok(None);
        }
        Ok(Some(self.overlay_builder.apply_layers(self.engine.commit(commit), &layers)?))
    }

    /// The tree of a commit under test as plain files, without patches. `entries` replace files of
    /// the commit's own tree.
    pub(crate) fn tree_with(
        &self,
        commit: &CommitId,
        entries: Vec<TreeEntry>,
    ) -> Result<String, OracleError> {
        let layers = self.engine.as_files(commit, &Arc::new(entries));
        Ok(self.overlay_builder.apply_layers(self.engine.commit(commit), &layers)?.id())
    }

    /// What a slot must hold for a commit under test, or why the files cannot be made.
    pub(super) fn checkout_spec(
        &self,
        commit: &CommitId,
        recipe: &Config,
    ) -> Result<Result<CheckoutSpec, OverlayFailure>, OracleError> {
        let laid = match self.laid(commit, recipe)? {
            None => None,
            Some(OverlayResult::Tree(tree)) => Some(tree),
            Some(OverlayResult::Refused(refusal)) => return Ok(Err(refusal)),
        };
        Ok(Ok(CheckoutSpec {
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
        let circumstances = self.facts.circumstances();
        let path = |path: PathBuf| path.to_string_lossy().into_owned();
        let mut values = Values::new()
            .with(Placeholder::Src, path(slot.src()))
            .with(Placeholder::Build, path(slot.build()))
            .with(Placeholder::Out, path(slot.out()))
            .with(Placeholder::Cache, path(slot.cache()))
            .with(Placeholder::Jobs, circumstances.jobs(recipe.build.jobs))
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
    pub(crate) fn tree_of(
        &self,
        commit: &CommitId,
        recipe: &Config,
    ) -> Result<String, OracleError> {
        Ok(match self.laid(commit, recipe)? {
            Some(laid) => laid.id(),
            None => self.engine.history.tree_id(self.engine.commit(commit))?,
        })
    }

    /// The key of a commit's build under a recipe.
    pub(crate) fn build_key_of(
        &self,
        commit: &CommitId,
        recipe: &Config,
    ) -> Result<crate::store::BuildKey, OracleError> {
        let tree = self.tree_of(commit, recipe)?;
        let commit = self.engine.commit(commit);
        Ok(build_key(&tree, commit, recipe, self.facts.circumstances()))
    }

    /// The key of a measure's runs at a commit under a recipe.
    pub(crate) fn run_key_of(
        &self,
        commit: &CommitId,
        recipe: &Config,
        measure: &Measure,
    ) -> Result<RunKey, OracleError> {
        let build = self.build_key_of(commit, recipe)?;
        let commit = self.engine.commit(commit);
        Ok(run_key(&build, commit, measure, recipe, self.facts.circumstances()))
    }

    /// The key of a `[[prepare]]` step's output at a commit.
    pub(super) fn prepare_key_of(
        &self,
        commit: &CommitId,
        recipe: &Config,
        prepare: &Prepare,
    ) -> Result<BuildKey, OracleError> {
        let build = self.build_key_of(commit, recipe)?;
        let commit = self.engine.commit(commit);
        Ok(prepare_key(&build, commit, prepare, recipe, self.facts.circumstances()))
    }

    /// A key of everything that a run depends on, except the build.
    pub(super) fn settings_key(
        &self,
        commit: &CommitId,
        recipe: &Config,
        measure: &Measure,
    ) -> String {
        let any = KeyHasher::new("any build").build_key();
        run_key(&any, commit, measure, recipe, self.facts.circumstances()).to_string()
    }
}
