//! Builds that earlier hunts of this repository left in the slot of this process. A hunt with
//! another guard or measure needs the same builds again.
//!
//! Only the ends and the search take them. A confirmation always builds anew: something that no key
//! contains may have changed since. For the same reason both ends take builds of one earlier hunt,
//! or neither does. Otherwise such a change would look like a regression, or hide one.

use std::collections::BTreeSet;

use crate::build::{Slot, Stamp};
use crate::config::{BuildMode, Config};
use crate::evaluation::{CommitId, Phase};
use crate::git::Worktree;
use crate::store::BuildRecord;

use super::OracleError;
use super::allowed_builds::AllowedBuilds;
use super::duration::as_duration;
use super::parts::Oracle;

impl Oracle {
    /// Which builds of earlier hunts a request of this phase may take.
    pub(super) fn earlier_builds(&mut self, phase: Phase) -> Result<AllowedBuilds, OracleError> {
        // After a change of the machine, nothing from before it counts.
        if self.stored.has_outdated() {
            return Ok(AllowedBuilds::NoLonger);
        }
        if !self.pool.is_shared() {
            return Ok(AllowedBuilds::None);
        }
        match phase {
            Phase::Search => Ok(AllowedBuilds::All),
            Phase::Endpoint => {
                if let Some(known) = &self.pool.for_ends {
                    return Ok(known.clone());
                }
                let allowed = self.common_builds()?;
                self.pool.for_ends = Some(allowed.clone());
                Ok(allowed)
            }
            _ => Ok(AllowedBuilds::None),
        }
    }

    /// The builds of the last earlier hunt that left a build of the good end, if its builds of all
    /// ends can be taken.
    fn common_builds(&mut self) -> Result<AllowedBuilds, OracleError> {
        let hunt = self.recorder.hunt().map(str::to_owned);
        let mut maker: Option<String> = None;
        for end in self.recipes.ends.clone() {
            let recipe = self.recipes.at(&end)?;
            let key = self.recipes.build_key_of(&end, &recipe)?;
            let wanted = |stamp: &Stamp| {
                let is_earlier = stamp.hunt.is_some() && stamp.hunt != hunt;
                let is_makers = maker.is_none() || stamp.hunt == maker;
                stamp.build_key == key && stamp.kept.is_some() && is_earlier && is_makers
            };
            let found = self.pool.find(wanted)?.and_then(|slot| Some((slot.stamp()?, slot)));
            let Some((stamp, slot)) = found else { return Ok(AllowedBuilds::None) };
            if self.record_if_as_left(&slot, &stamp)?.is_none() {
                return Ok(AllowedBuilds::None);
            }
            maker = stamp.hunt;
        }
        Ok(maker.map_or(AllowedBuilds::None, AllowedBuilds::Of))
    }

    /// Whether an earlier hunt left builds in this process's slot that a search may take.
    pub(crate) fn has_earlier_builds(&mut self) -> Result<bool, OracleError> {
        Ok(!self.stamps_of_earlier_hunts()?.is_empty())
    }

    /// The stamps of the builds that earlier hunts left in this process's slot, if a search may
    /// take them. Builds of this hunt do not count, so that a resumed hunt makes the same choices.
    fn stamps_of_earlier_hunts(&mut self) -> Result<Vec<Stamp>, OracleError> {
        if self.earlier_builds(Phase::Search)? != AllowedBuilds::All {
            return Ok(Vec::new());
        }
        let hunt = self.recorder.hunt().map(str::to_owned);
        let mut stamps = self.pool.stamps()?;
        stamps.retain(|stamp| stamp.kept.is_some() && stamp.hunt != hunt);
        Ok(stamps)
    }

    /// Those of these commits whose build an earlier hunt left in this process's slot, and a search
    /// may take.
    pub(crate) fn built_earlier(
        &mut self,
        commits: &BTreeSet<&CommitId>,
    ) -> Result<BTreeSet<CommitId>, OracleError> {
        let mut built = BTreeSet::new();
        for stamp in self.stamps_of_earlier_hunts()? {
            if commits.contains(&stamp.commit) {
                let recipe = self.recipes.at(&stamp.commit)?;
                if self.recipes.build_key_of(&stamp.commit, &recipe)? == stamp.build_key {
                    built.insert(stamp.commit);
                }
            }
        }
        Ok(built)
    }

    /// The record of a build that stayed in its slot, if the store still has it and the build is as
    /// it was left.
    fn record_if_as_left(
        &self,
        slot: &Slot,
        stamp: &Stamp,
    ) -> Result<Option<BuildRecord>, OracleError> {
        let builds = self.store.builds(&stamp.build_key)?.into_iter();
        let mut known = builds.filter(|build| build.attempt == stamp.attempt);
        Ok(known.next().filter(|_| slot.is_as_left(stamp)))
    }

    /// Makes a build that was found at the slot's path ready for use; returns its new stamp. `None`
    /// if it must be made again.
    pub(super) fn take_found(
        &mut self,
        slot: &Slot,
        stamp: Stamp,
        commit: &CommitId,
        phase: Phase,
    ) -> Result<Option<Stamp>, OracleError> {
        if stamp.kept.is_none() {
            return Ok(Some(stamp));
        }
        let repository = self.recipes.engine.history.repository().clone();
        let hunt = self.recorder.hunt().map(str::to_owned);
        let is_ours = stamp.hunt == hunt;
        let is_in_use = is_ours || stamp.taken_by == hunt;
        // A hunt that was stopped and goes on finds its own builds put away.
        if is_in_use && !Worktree::is_put_away(&repository, &slot.src()) {
            return Ok(Some(stamp));
        }
        let Some(record) = self.record_if_as_left(slot, &stamp)? else { return Ok(None) };
        if !Worktree::bring_back(&repository, &slot.src())? {
            return Ok(None);
        }
        if is_ours {
            return Ok(Some(stamp));
        }
        let stamp = Stamp { taken_by: hunt, ..stamp };
        slot.set_stamp(&stamp)?;
        self.recorder.build(&self.store, &record, commit, phase, true)?;
        Ok(Some(stamp))
    }

    /// Lets a finished build stay in its slot for later hunts if it took long enough; returns its
    /// stamp. Submodules have links to git's entry of the worktree, which a later hunt replaces.
    pub(super) fn keep_for_later(
        &self,
        slot: &Slot,
        stamp: Stamp,
        recipe: &Config,
        built: &BuildRecord,
    ) -> Stamp {
        let is_clean = [&self.recipes.config, recipe]
            .iter()
            .all(|config| config.build.mode == BuildMode::Clean);
        let phases = [Phase::Endpoint, Phase::Search, Phase::Confirm];
        let has_submodules = recipe.worktree.submodules && slot.src().join(".gitmodules").exists();
        let stays = self.pool.is_shared()
            && self.build_jobs.is_none()
            && self.recorder.hunt().is_some()
            && is_clean
            && phases.contains(&built.phase)
            && as_duration(built.wall_s) >= recipe.build.keep
            && !has_submodules;
        if stays { slot.keep_for_later(stamp) } else { stamp }
    }
}
