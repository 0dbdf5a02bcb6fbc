//! The rivals of a claim: the other commits that could be the answer if chance put a commit of the
//! claim on its side.

use crate::evaluation::CommitId;
use crate::git::Range;
use crate::hunt::HuntError;
use crate::hunt::claim::Claim;
use crate::hunt::driver::Driver;

use super::chance::CountsBySide;

impl Driver<'_> {
    /// How many other commits could be the answer if the claimed commit were on the older side:
    /// those after it, up to the next one known to be on the newer side.
    pub(super) fn rivals_of_commit(
        &self,
        claim: Claim<'_>,
        counts: &CountsBySide,
    ) -> Result<usize, HuntError> {
        let history = &self.oracle.history;
        let [_, end] = claim.ends;
        if claim.commit == end {
            return Ok(self.rivals_of_end(end, counts));
        }
        let mut fewest = history.count(&Range::between(claim.commit, end))?;
        for commit in counts.newer.keys().filter(|commit| *commit != claim.commit) {
            if history.is_ancestor(claim.commit, commit)? {
                fewest = fewest.min(history.count(&Range::between(claim.commit, commit))?);
            }
        }
        Ok(fewest)
    }

    /// How many commits could be the answer if this end of the search range were on the other side.
    /// 0 if the user set the end. 1 if the hunt chose the end and runs of one commit, or the files
    /// of its builds, were seen to differ: the hunt chooses an end after a few runs, and these may
    /// agree by chance.
    fn rivals_of_end(&self, end: &CommitId, counts: &CountsBySide) -> usize {
        let is_own = !self.begun.ends().contains(&end);
        usize::from(is_own && self.is_unsteady(counts))
    }

    /// How many commits could be the answer if this parent were on the newer side: the parent, and
    /// those before it, down to the ones known to be on the older side.
    pub(super) fn rivals_of_parent(
        &self,
        claim: Claim<'_>,
        parent: &CommitId,
        counts: &CountsBySide,
    ) -> Result<usize, HuntError> {
        let [end, _] = claim.ends;
        if parent == end {
            return Ok(self.rivals_of_end(end, counts));
        }
        let known = counts.older.keys().filter(|commit| *commit != parent);
        let older = known.chain([end]).cloned().collect();
        let range = Range { old: older, ..Range::between(end, parent) };
        Ok(self.oracle.history.count(&range)?)
    }
}
