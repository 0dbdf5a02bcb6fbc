//! Which commits between a merge base and the newer end are judged, if the merge base has the newer
//! end's verdict: those that may have changed this verdict on the way.

use std::collections::{BTreeMap, BTreeSet};

use crate::evaluation::CommitId;
use crate::git::{Range, TouchedPaths};
use crate::hunt::HuntError;
use crate::hunt::distinct::distinct;
use crate::hunt::driver::Driver;
use crate::hunt::spread::spread;

/// Maximum number of commits of each kind that are judged behind a merge base. The kinds are those
/// of [`Driver::places_behind`].
const MOST_LOOKS: usize = 4;

impl Driver<'_> {
    /// The commits between a merge base and the newer end that are judged, some of each kind:
    ///
    /// - those whose change is also on the older end's side, since a mend may be picked to both
    ///   sides,
    /// - those of the first-parent line that change a file which also differs between the merge
    ///   base and the older end, since two mends of one problem often change the same file,
    /// - others of that line.
    ///
    /// Each of them contains all merge bases. Another commit lacks what one merge base has, so its
    /// verdict would say nothing about the way to the newer end.
    pub(super) fn places_behind(
        &self,
        base: &CommitId,
        bases: &[CommitId],
    ) -> Result<Vec<CommitId>, HuntError> {
        let history = &self.oracle.history;
        let [old, new] = self.begun.ends();
        let mut behind = Vec::new();
        for one in bases {
            let after: BTreeSet<CommitId> = history.descending(one, new)?.into_iter().collect();
            behind.push(after);
        }
        let skip = &self.begun.options.skip;
        let may_begin = |commit: &CommitId| {
            commit != new
                && !skip.contains(commit)
                && behind.iter().all(|after| after.contains(commit))
        };
        let mut picked = history.on_both_sides(old, new)?;
        picked.retain(may_begin);
        let mut line = history.first_parent_path(base, new)?;
        line.retain(may_begin);
        let mut places = Vec::new();
        for commit in spread(&picked, MOST_LOOKS) {
            places.push(self.first_with(&line, &commit)?);
        }
        let changed = self.changed_on_the_way(base, old)?;
        let touched =
            history.touched_paths(&Range { first_parent: true, ..Range::between(base, new) })?;
        places.extend(rarest_first(&line, &touched, &changed).into_iter().take(MOST_LOOKS));
        places.extend(spread(&line, MOST_LOOKS));
        Ok(distinct(places))
    }

    /// The files that differ between a merge base and the older end.
    fn changed_on_the_way(
        &self,
        base: &CommitId,
        old: &CommitId,
    ) -> Result<BTreeSet<String>, HuntError> {
        let changes = self.oracle.history.diff_files(Some(base), old)?;
        Ok(changes.into_iter().filter_map(|change| String::from_utf8(change.path).ok()).collect())
    }

    /// The first commit of the line that contains this one, such as the merge of its branch. The
    /// line keeps the merge base's verdict until that merge, so a search must not begin on the
    /// branch.
    fn first_with(&self, line: &[CommitId], commit: &CommitId) -> Result<CommitId, HuntError> {
        if line.contains(commit) {
            return Ok(commit.clone());
        }
        let [_, new] = self.begun.ends();
        let after = self.oracle.history.descending(commit, new)?;
        let after: BTreeSet<CommitId> = after.into_iter().collect();
        Ok(line.iter().find(|one| after.contains(*one)).unwrap_or(commit).clone())
    }
}

/// The commits of the line that touch one of the `changed` files. Those come first whose file the
/// fewest commits touch: one that many touch, such as a list of changes, tells nothing.
fn rarest_first(
    line: &[CommitId],
    touched: &[TouchedPaths],
    changed: &BTreeSet<String>,
) -> Vec<CommitId> {
    let mut commits_of: BTreeMap<&String, BTreeSet<&CommitId>> = BTreeMap::new();
    for one in touched {
        for path in one.paths.iter().filter_map(|path| path.path.as_ref()) {
            if changed.contains(path) {
                commits_of.entry(path).or_default().insert(&one.commit);
            }
        }
    }
    let fewest = |commit: &CommitId| {
        commits_of.values().filter(|commits| commits.contains(commit)).map(BTreeSet::len).min()
    };
    let mut found: Vec<(usize, &CommitId)> =
        line.iter().filter_map(|commit| Some((fewest(commit)?, commit))).collect();
    found.sort_by_key(|(fewest, _)| *fewest);
    found.into_iter().map(|(_, commit)| commit.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::TouchedPath;
    use crate::oracle::fixture::commit;

    #[test]
    fn commits_whose_file_few_others_touch_come_first() {
        let line: Vec<CommitId> = "1234".chars().map(commit).collect();
        let path = |name: &str| TouchedPath { path: Some(name.to_owned()), is_file: true };
        let of = |id, names: &[&str]| TouchedPaths {
            commit: commit(id),
            paths: names.iter().map(|name| path(name)).collect(),
        };
        let touched = [
            of('4', &["version"]),
            of('3', &["version", "kernel"]),
            of('2', &["other"]),
            of('1', &["version"]),
        ];
        let changed = ["version", "kernel"].map(str::to_owned).into();
        assert_eq!(rarest_first(&line, &touched, &changed), ['3', '1', '4'].map(commit));
        assert_eq!(rarest_first(&line, &touched, &BTreeSet::new()), []);
    }
}
