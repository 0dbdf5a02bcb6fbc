//! Applies differences to an endpoint. Each difference is that of a pair of trees. The result is
//! the endpoint with patches; if git refuses a patch, it is a merge of the trees.

use crate::config::Config;
use crate::evaluation::{CommitId, Culprit};
use crate::git::{Conflicts, Layer, MergedTree, OverlayResult};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::oracle::Recipes;

use super::change::{Change, Part};
use super::reversal::Reversal;

/// An endpoint with a patch.
pub(super) enum Patched {
    /// The patch does not apply; what git said, or why the trees could not be merged.
    Conflict(String),
    /// The patch changes nothing.
    Same,
    /// The recipe that builds it, and the patch for a plain checkout of the endpoint.
    Done { recipe: Box<Config>, patch: Vec<u8> },
}

impl Driver<'_> {
    /// Applies the difference of each pair of trees to an endpoint, in this order.
    pub(super) fn patched(
        &mut self,
        end: &CommitId,
        differences: &[[String; 2]],
    ) -> Result<Patched, HuntError> {
        self.patched_with(end, differences, Conflicts::Stay)
    }

    /// Takes a commit's change out of an endpoint, except for the parts in `kept`. `conflicts`: see
    /// [`Self::patched_with`].
    pub(super) fn patched_without(
        &mut self,
        end: &CommitId,
        culprit: &Culprit,
        change: &Change<'_>,
        kept: &[Part],
        conflicts: Conflicts,
    ) -> Result<Patched, HuntError> {
        match self.reversal(end, culprit, change, kept)? {
            Reversal::Trees(trees) => self.patched_with(end, &[trees], conflicts),
            Reversal::Conflict(why) => Ok(Patched::Conflict(why)),
        }
    }

    /// The same as [`Self::patched`]. `conflicts`: what becomes of lines that later commits edited
    /// too.
    pub(super) fn patched_with(
        &mut self,
        end: &CommitId,
        differences: &[[String; 2]],
        conflicts: Conflicts,
    ) -> Result<Patched, HuntError> {
        let own = self.oracle.recipes.at(end)?.inlined();
        self.patched_onto(end, &own, differences, conflicts)
    }

    /// The same as [`Self::patched_with`]. `own`: the recipe that builds the endpoint before the
    /// differences are applied. It may lay files over the endpoint.
    pub(super) fn patched_onto(
        &mut self,
        end: &CommitId,
        own: &Config,
        differences: &[[String; 2]],
        conflicts: Conflicts,
    ) -> Result<Patched, HuntError> {
        let recipes = &mut self.oracle.recipes;
        let before = recipes.tree_of(end, own)?;
        let (mut recipe, mut layers) = (own.clone(), Vec::new());
        // git refuses a patch without a difference.
        for [from, to] in differences.iter().filter(|[from, to]| from != to) {
            let patch = recipes.overlay_builder.difference(from, to)?;
            let digest = recipes.store.keep_patch(&patch)?;
            layers.push(patch_layer(recipes, &digest));
            recipe = recipes.with_patch(&recipe, &digest.clone(), digest);
        }
        let after = match recipes.laid(end, &recipe)? {
            Some(OverlayResult::Refused(refusal)) => {
                let builder = &recipes.overlay_builder;
                let merged = match builder.merged(&before, differences, conflicts)? {
                    MergedTree::Tree(merged) => merged,
                    MergedTree::Conflict => return Ok(Patched::Conflict(refusal.said)),
                    MergedTree::Failed(why) => return Ok(Patched::Conflict(why)),
                };
                let patch = recipes.overlay_builder.difference(&before, &merged)?;
                let digest = recipes.store.keep_patch(&patch)?;
                layers = vec![patch_layer(recipes, &digest)];
                recipe = recipes.with_patch(own, &digest, digest.clone());
                merged
            }
            Some(OverlayResult::Tree(tree)) => tree.id().to_owned(),
            None => before.clone(),
        };
        if after == before {
            return Ok(Patched::Same);
        }
        // For the user's checkout of the endpoint: leave out the configuration's patches.
        let layers = [recipes.engine.as_files(end, &own.part), layers].concat();
        let engine = recipes.engine.commit(end);
        let patch = match recipes.overlay_builder.apply_layers(engine, &layers)? {
            OverlayResult::Tree(tree) => {
                let plain = recipes.tree_with(end, own.part.to_vec())?;
                recipes.overlay_builder.difference(&plain, tree.id())?
            }
            OverlayResult::Refused(_) => recipes.overlay_builder.difference(&before, &after)?,
        };
        Ok(Patched::Done { recipe: Box::new(recipe), patch })
    }
}

/// The stored patch as a layer.
fn patch_layer(recipes: &Recipes, digest: &str) -> Layer {
    Layer::Patch {
        name: digest.to_owned(),
        digest: digest.to_owned(),
        file: recipes.store.patch(digest),
    }
}
