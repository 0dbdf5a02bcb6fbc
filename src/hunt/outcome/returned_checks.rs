//! Finds out whether the failing check that a named commit brings ran at an earlier commit. While a
//! check does not run, any commit may break it. It may come back under another name.

use std::collections::BTreeMap;

use crate::evaluation::{Checks, CommitId, Culprit};
use crate::git::{Range, TouchedPath};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::hunt::range::SearchRange;
use crate::hunt::spread::spread;
use crate::oracle::Observation;

use super::account::Ledger;

/// Maximum number of earlier commits that are measured to find one that ran the check.
const MOST_LOOKS: usize = 4;

impl Driver<'_> {
    /// Withdraws each named commit that broke only checks which its parent did not run, if an
    /// earlier commit ran one of them, or a check that went away before the named commit and may be
    /// one of them under another name: any commit since then may have broken it.
    pub(crate) fn withdraw_returned_checks(
        &mut self,
        ledger: &mut Ledger,
        whole: &SearchRange,
    ) -> Result<(), HuntError> {
        // A test that fails by chance says nothing of a commit.
        if !whole.explains_levels() || self.is_flaky {
            return Ok(());
        }
        for culprit in ledger.named().cloned().collect::<Vec<_>>() {
            let Some((measure, checks)) = self.brought_checks(&culprit)? else { continue };
            let found = &culprit.info.commit;
            let [names, short] = [checks.names(), found.short().to_owned()];
            let (from, why) = match self.ran_before(&culprit, whole, &measure, &checks) {
                Err(HuntError::Limit(limit)) => {
                    ledger.note_limit("it was not checked whether the failing test is new", &limit);
                    self.limit = Some(limit);
                    let why = format!("{short} brings a failing test that may have run before");
                    (whole.older.clone(), format!("{why}: {names}"))
                }
                Err(error) => return Err(error),
                Ok(Some(earlier)) => {
                    let why = format!(
                        "the failing test did not run before {short}, but an earlier commit ran it \
                         ({names}): one of the commits since then broke it"
                    );
                    (earlier, why)
                }
                Ok(None) => {
                    let gone = self.gone_before(&culprit, &measure)?;
                    if gone.is_empty() {
                        continue;
                    }
                    // Makes no runs: it looks at the same commits as before.
                    let last = self.ran_before(&culprit, whole, &measure, &gone)?;
                    let gone = gone.names();
                    let why = format!(
                        "the failing test is new at {short} ({names}), and a test that ran earlier \
                         had gone before ({gone}): if it is the same test under another name, one \
                         of the commits since then broke it"
                    );
                    (last.unwrap_or_else(|| whole.older.clone()), why)
                }
            };
            let among = self.oracle.history.commits(&Range::between(&from, found))?;
            ledger.withdraw(found, &among, why);
        }
        Ok(())
    }

    /// The checks that a commit broke, and their measure, if its parent ran none of them. `None` if
    /// the commit broke anything else.
    fn brought_checks(&mut self, culprit: &Culprit) -> Result<Option<(String, Checks)>, HuntError> {
        let mut brought = None;
        for effect in &culprit.effects {
            let measure = &effect.metric.measure;
            let broken = self.broken_by(culprit, measure)?;
            let before = self.known_runs(&culprit.parent, &[measure.to_owned()])?;
            let did_run = before.checks(measure).is_none_or(|ran| broken.overlap(ran));
            if broken.is_empty() || did_run {
                return Ok(None);
            }
            brought.get_or_insert_with(|| (measure.to_owned(), broken));
        }
        Ok(brought)
    }

    /// The checks that judged commits before the found one ran, that neither its parent nor the
    /// commit itself runs, and that the commit does not name as skipped.
    fn gone_before(&mut self, culprit: &Culprit, measure: &str) -> Result<Checks, HuntError> {
        let (found, parent) = (&culprit.info.commit, &culprit.parent);
        let measures = [measure.to_owned()];
        let mut earlier = Vec::new();
        for commit in self.order()? {
            if self.oracle.history.is_ancestor(&commit, parent)? {
                let seen = self.known_runs(&commit, &measures)?;
                earlier.extend(seen.checks(measure).cloned().into_iter().flatten());
            }
        }
        let [before, after] =
            [self.known_runs(parent, &measures)?, self.known_runs(found, &measures)?];
        let ran = |seen: &Observation| seen.checks(measure).cloned().unwrap_or_default();
        Ok(gone(
            &earlier.into_iter().collect(),
            [&ran(&before), &ran(&after)],
            &after.skipped_checks(measure),
        ))
    }

    /// A commit before the found one that ran one of these checks. The older end if one of them
    /// failed there: an even earlier commit may have broken it.
    fn ran_before(
        &mut self,
        culprit: &Culprit,
        whole: &SearchRange,
        measure: &str,
        checks: &Checks,
    ) -> Result<Option<CommitId>, HuntError> {
        let [older, _] = whole.ends();
        let known = self.order()?;
        let looks = self.places_to_look(culprit, older)?;
        for commit in known.iter().chain(&looks) {
            if commit == older || !self.oracle.history.is_ancestor(commit, &culprit.parent)? {
                continue;
            }
            if !known.contains(commit) {
                self.judge(commit, &whole.targets)?;
            }
            let seen = self.known_runs(commit, &[measure.to_owned()])?;
            if seen.checks(measure).is_some_and(|ran| checks.overlap(ran)) {
                let is_broken = checks.overlap(&seen.failed_checks(measure));
                let from = if is_broken { older } else { commit };
                return Ok(Some(from.clone()));
            }
        }
        Ok(None)
    }

    /// Commits before the found one that may have run the check. First those right before a change of
    /// a file that the found commit changes, since a commit that removed the check probably changed
    /// one of its files; files that few commits change come first. Then commits spread over the
    /// history.
    fn places_to_look(
        &self,
        culprit: &Culprit,
        older: &CommitId,
    ) -> Result<Vec<CommitId>, HuntError> {
        let history = &self.oracle.history;
        let (found, parent) = (&culprit.info.commit, &culprit.parent);
        let own = history.touched_paths(&Range::between(parent, found))?.into_iter();
        let mut touching: BTreeMap<TouchedPath, Vec<CommitId>> =
            own.flat_map(|one| one.paths).map(|path| (path, Vec::new())).collect();
        for earlier in history.touched_paths(&Range::between(older, parent))? {
            for path in earlier.paths {
                if let Some(commits) = touching.get_mut(&path) {
                    commits.push(earlier.commit.clone());
                }
            }
        }
        let mut of_each_file: Vec<Vec<CommitId>> = touching.into_values().collect();
        of_each_file.sort_by_key(Vec::len);
        let mut places: Vec<CommitId> = Vec::new();
        for commits in of_each_file {
            for commit in spread(&commits, MOST_LOOKS) {
                if let Some(before) = history.parents(&commit)?.into_iter().next()
                    && before != *older
                    && !places.contains(&before)
                {
                    places.push(before);
                }
            }
        }
        places.truncate(MOST_LOOKS);
        let chain = self.chain(older, parent)?;
        places.extend(spread(&chain, MOST_LOOKS - places.len()));
        Ok(places)
    }
}

/// The checks that ran `earlier` and neither at a commit's parent nor at the commit. A check that
/// the commit skips is there under its name.
fn gone(earlier: &Checks, [before, after]: [&Checks; 2], skipped: &Checks) -> Checks {
    earlier.without(before).without(after).without(skipped)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle::fixture::checks;

    #[test]
    fn a_check_is_gone_if_neither_the_commit_nor_its_parent_has_it() {
        let of = |before: &str, after: &str, skipped: &str| {
            gone(&checks("a b"), [&checks(before), &checks(after)], &checks(skipped))
        };
        assert_eq!(of("a", "a c", ""), checks("b"));
        // The found commit renames it itself, or its test never went away.
        assert!(of("a b", "a c", "").is_empty());
        assert!(of("a", "a b", "").is_empty());
        assert!(of("a", "a c", "b").is_empty());
    }
}
