//! Whether the direct mode of a compiler cache misled a search. Only builds of a search use this
//! mode, so a fresh build of the same commit shows it.

use std::collections::BTreeSet;

use crate::evaluation::{CommitId, Loaded, Phase};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::hunt::range::SearchRange;
use crate::oracle::measures_of;
use crate::store::journal::{BuildDone, Event};

impl Driver<'_> {
    /// After a claim that fresh builds contradict: whether a compiler cache answered a build that
    /// the search made of the claimed commit or of one of its parents, and a fresh build of it made
    /// other files. Makes no runs.
    pub(super) fn direct_mode_matters(
        &mut self,
        claimed: &CommitId,
        search_range: &SearchRange,
    ) -> Result<bool, HuntError> {
        if !self.oracle.recipes.config.build.direct_mode {
            return Ok(false);
        }
        let answered = self.answered_by_caches()?;
        let measures = measures_of(&search_range.targets);
        let parents = self.oracle.history.parents(claimed)?;
        for commit in parents.iter().chain([claimed]).filter(|one| answered.contains(*one)) {
            let seen = self.known_runs(commit, &measures)?;
            for measure in &measures {
                let runs = seen.of(measure).iter();
                let runs = runs.map(|run| (run.phase, run.built.as_str(), run.loaded.as_ref()));
                if are_of_other_files(&runs.collect::<Vec<_>>()) {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// The commits of which the search made a build with hits of a compiler cache.
    fn answered_by_caches(&self) -> Result<BTreeSet<CommitId>, HuntError> {
        let entries = self.hunt.entries()?;
        let built = entries.iter().filter_map(|entry| match &entry.event {
            Event::Build(done) => Some(done),
            _ => None,
        });
        let is_answered = |done: &&BuildDone| {
            let hits = done.compiler_cache.map_or(0, |cache| cache.hits);
            done.phase == Phase::Search && hits > 0
        };
        Ok(built.filter(is_answered).map(|done| done.commit.clone()).collect())
    }
}

/// Whether a run of a search and another one are of two builds, and loaded different files as far
/// as known. For each run: its purpose, its build, and what it loaded.
fn are_of_other_files(runs: &[(Phase, &str, Option<&Loaded>)]) -> bool {
    let (searched, fresh): (Vec<_>, Vec<_>) =
        runs.iter().partition(|(phase, _, _)| *phase == Phase::Search);
    searched.iter().any(|(_, built, loaded)| {
        fresh.iter().any(|(_, other, others)| {
            let are_same = matches!((loaded, others), (Some(one), Some(two)) if one.own == two.own);
            built != other && !are_same
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_other_files_of_another_build_show_that_the_cache_was_wrong() {
        let (search, fresh) = (Phase::Search, Phase::Confirm);
        let same = Loaded::default();
        assert!(are_of_other_files(&[(search, "1", None), (fresh, "2", None)]));
        assert!(are_of_other_files(&[(search, "1", Some(&same)), (fresh, "2", None)]));
        assert!(!are_of_other_files(&[(search, "1", Some(&same)), (fresh, "2", Some(&same))]));
        assert!(!are_of_other_files(&[(search, "1", None), (fresh, "1", None)]));
        assert!(!are_of_other_files(&[(search, "1", None), (search, "2", None)]));
        assert!(!are_of_other_files(&[]));
    }
}
