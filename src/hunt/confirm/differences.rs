//! Finds differences between a first bad commit and its worst parent that may explain the step:
//! changed constants and changed build configurations.

use std::collections::BTreeSet;

use crate::differ::{self, BuiltSources};
use crate::evaluation::{CommitId, DifferenceIn, Differences, Setup};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;

impl Driver<'_> {
    /// Compares the changed lines, and the configurations of the newest build of each side.
    pub(crate) fn differences(
        &self,
        parent: &CommitId,
        commit: &CommitId,
    ) -> Result<Differences, HuntError> {
        let mut found = Vec::new();
        let mut compared = Vec::new();
        let history = &self.oracle.history;
        if let Some(change) = history.changed_lines(parent, commit, &differ::pathspecs())? {
            found.extend(differ::constants(&change));
            compared.push(DifferenceIn::Constant);
        }
        if let (Some(before), Some(now)) = (self.setup(parent)?, self.setup(commit)?) {
            differ::used(&mut found, [&before, &now]);
            let (differing, known) = differ::setups(&before, &now);
            found.extend(differing);
            compared.extend(known);
        }
        Ok(Differences::new(found, compared))
    }

    /// The source files of the newest builds of both sides; nothing if a side is not known.
    pub(crate) fn built_sources(
        &self,
        parent: &CommitId,
        commit: &CommitId,
    ) -> Result<BuiltSources, HuntError> {
        let (Some(before), Some(now)) = (self.setup(parent)?, self.setup(commit)?) else {
            return Ok(BuiltSources::default());
        };
        Ok(BuiltSources::of(&before, &now))
    }

    /// The files of the source tree that only the newest build of `commit` compiled or read, and not
    /// that of `parent`; nothing if a side is not known. The tree may lack some of them.
    pub(crate) fn newly_read(
        &self,
        parent: &CommitId,
        commit: &CommitId,
    ) -> Result<BTreeSet<String>, HuntError> {
        let (Some(before), Some(now)) = (self.setup(parent)?, self.setup(commit)?) else {
            return Ok(BTreeSet::new());
        };
        Ok(differ::newly_read(&before, &now))
    }

    fn setup(&self, commit: &CommitId) -> Result<Option<Setup>, HuntError> {
        let key = self.oracle.recipes.build_key_of(commit, &self.oracle.recipes.at(commit)?)?;
        let last = self.oracle.store.builds(&key)?.pop();
        let Some(digest) = last.and_then(|build| build.setup) else { return Ok(None) };
        Ok(self.oracle.store.setup(&digest)?)
    }
}
