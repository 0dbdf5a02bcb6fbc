//! Whether the ends of a range belong together: git and the posterior search only between a commit
//! and one that contains it, or that forks off from it at a commit with the older end's verdict.

use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::hunt::range::SearchRange;

impl Driver<'_> {
    /// Why a range has no commit to search for; `None` if it can be searched. The older end must
    /// not contain the newer one: then no commit lies between them. If the newer end does not
    /// contain the older one, a commit where they fork must not have the newer end's verdict
    /// already.
    ///
    /// Each search checks this first: git refuses such ends with an error, and a posterior would be
    /// over no commits. The merge bases of the hunt's own ends were judged before any search.
    pub(super) fn why_unrelated(
        &mut self,
        search_range: &SearchRange,
    ) -> Result<Option<String>, HuntError> {
        let [older, newer] = search_range.ends();
        let history = &self.oracle.history;
        if history.is_ancestor(newer, older)? {
            return Ok(Some(format!(
                "no commit lies between {} and {}, so nothing was searched there",
                older.short(),
                newer.short()
            )));
        }
        if history.is_ancestor(older, newer)? || search_range.ends() == self.begun.ends() {
            return Ok(None);
        }
        for base in history.merge_bases(older, newer)? {
            let judgement = self.judge(&base, &search_range.targets)?;
            if search_range.is_newer(judgement.verdict) {
                return Ok(Some(format!(
                    "the commits between {} and {} were not searched: {}, where they fork, is {} \
                     already",
                    older.short(),
                    newer.short(),
                    base.short(),
                    search_range.terms.newer()
                )));
            }
        }
        Ok(None)
    }
}
