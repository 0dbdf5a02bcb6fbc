//! Commits of a hunt that the repository no longer has. Git removes unreferenced commits, such as
//! those of a deleted branch, and then reports only a bad object.

use crate::git::GitError;
use crate::oracle::Oracle;
use crate::store::HuntDir;
use crate::store::journal::Begun;

use super::HuntError;

/// The error to report when a hunt stops: that a commit is gone, if one is, or `error`.
pub(crate) fn explained(
    error: HuntError,
    hunt: &HuntDir,
    oracle: &Oracle,
    begun: &Begun,
) -> HuntError {
    match error {
        HuntError::Oracle(_) | HuntError::Environment(_) | HuntError::OracleStopped(_) => {
            look_for_gone(hunt, oracle, begun).map_or(error, HuntError::from)
        }
        other => other,
    }
}

fn look_for_gone(hunt: &HuntDir, oracle: &Oracle, begun: &Begun) -> Option<GitError> {
    // Hunts of older versions stored no history.
    let between = hunt.history().unwrap_or_default();
    let commits = begun.ends().into_iter().chain(between.iter().map(|one| &one.commit));
    let within = begun.within.as_ref().map(|within| &within.commit.commit);
    oracle.history.find_gone(commits).or_else(|| oracle.recipes.engine.history.find_gone(within))
}
