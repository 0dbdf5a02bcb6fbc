//! Found commits that only take an improvement back, where no other found commits explain what the
//! bad end shows. Neither end has the improvement, so such a commit does not make what the ends
//! show: a commit up to it is sought.

use crate::evaluation::{CommitId, Culprit, GuardTarget, Target};
use crate::git::Range;
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::hunt::range::SearchRange;

use super::account::Ledger;
use super::dropped_improvement::DroppedImprovement;
use super::level::{Level, is_worse};

/// The candidates in place of a commit that takes an improvement back.
struct BeforeRevert {
    among: Vec<CommitId>,
    /// The commits that brought the improvement and also lines or files that stay altered.
    brought: Vec<CommitId>,
}

impl Driver<'_> {
    /// Replaces each of these found commits by candidates. If the level is still good before the
    /// improvement, these are the commits after that, without those that brought nothing but what
    /// is taken back. Otherwise they are all commits from the good end to the found commit.
    pub(super) fn withdraw_reverts(
        &mut self,
        ledger: &mut Ledger,
        whole: &SearchRange,
        reverts: &[Culprit],
    ) -> Result<(), HuntError> {
        let [good, _] = whole.good_and_bad();
        for culprit in reverts {
            let commit = &culprit.info.commit;
            let dropped = ledger.dropped.iter().find(|one| one.by == *commit).cloned();
            let Some(dropped) = dropped else { continue };
            let targets = whole.moved_by(culprit).targets;
            let is_good = match dropped.before.first() {
                Some(before) => self.is_good_at(before, &targets)?,
                None => false,
            };
            let behind = if is_good { self.behind(&dropped, culprit)? } else { None };
            let names = dropped.names();
            let is_certain = behind.is_some() && !self.is_flaky;
            let BeforeRevert { among, brought } = match behind {
                Some(behind) => behind,
                None => self.all_before(good, commit)?,
            };
            let who = if brought.is_empty() {
                "a commit between them".to_owned()
            } else {
                format!("{names} or a commit between them")
            };
            let broke = if is_certain { "broke" } else { "may have broken" };
            let what = if dropped.in_part.is_empty() { "what" } else { "a part of what" };
            let why = format!(
                "{} only takes back {what} {names} brought, and neither end has that; {who} \
                 {broke} what {0} goes back to",
                commit.short()
            );
            ledger.withdraw(commit, &among, why);
        }
        Ok(())
    }

    /// All commits from the good end to a found commit.
    fn all_before(&self, good: &CommitId, commit: &CommitId) -> Result<BeforeRevert, HuntError> {
        let commits = self.oracle.history.commits(&Range::between(good, commit))?;
        let among = self.read_by_builds(good, &commits)?;
        Ok(BeforeRevert { among, brought: Vec::new() })
    }

    /// The candidates if the level is good before an improvement. The commit before it and the
    /// found commit that takes it back both lack it, and only the first one is good. So a commit
    /// between them makes the step in what the improvement does not alter. `None` if there is none.
    fn behind(
        &self,
        dropped: &DroppedImprovement,
        culprit: &Culprit,
    ) -> Result<Option<BeforeRevert>, HuntError> {
        let commit = &culprit.info.commit;
        let Some(from) = dropped.before.first() else { return Ok(None) };
        let history = &self.oracle.history;
        let change = history.change(&culprit.parent, commit)?;
        let (mut brought, mut left_out) = (Vec::new(), Vec::new());
        for (before, by) in dropped.before.iter().zip(&dropped.brought) {
            if dropped.in_part.contains(by) || history.alters_other_files(before, by, &change)? {
                brought.push(by.clone());
            } else {
                left_out.push(by.clone());
            }
        }
        let mut commits = history.commits(&Range::between(from, commit))?;
        commits.retain(|one| !left_out.contains(one));
        let among = self.read_by_builds(from, &commits)?;
        let has_other = among.iter().any(|one| one != commit);
        Ok(has_other.then_some(BeforeRevert { among, brought }))
    }

    /// Whether a commit is known to be no worse than the good end in these metrics, by more than
    /// the tolerance. Only where values repeat.
    fn is_good_at(&mut self, commit: &CommitId, targets: &[Target]) -> Result<bool, HuntError> {
        let Some(guarded) = exact_levels(targets) else { return Ok(false) };
        for target in guarded {
            let Some(value) = target.baseline.number() else { return Ok(false) };
            let good = Level { commit: commit.clone(), value };
            let level = self.known_level(commit, target)?;
            if level.is_none_or(|level| is_worse(target, &good, &level)) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The level of a measured commit. `None` if the commit was not measured, or printed no number.
    fn known_level(
        &mut self,
        commit: &CommitId,
        target: &GuardTarget,
    ) -> Result<Option<Level>, HuntError> {
        let [good, _] = self.begun.ends();
        if commit != good && !self.measured()?.contains(commit) {
            return Ok(None);
        }
        let level = self.level_at(commit, target)?;
        Ok(Some(level).filter(|level| level.value.is_finite()))
    }
}

/// The guards of these targets, if each of them has levels that repeat. `None` if there are no
/// targets.
fn exact_levels(targets: &[Target]) -> Option<Vec<&GuardTarget>> {
    let of = |target: &Target| {
        target.guard().is_some_and(|guarded| {
            guarded.noise.is_none()
                && !guarded.is_rate()
                && guarded.bad.number().is_some_and(f64::is_finite)
        })
    };
    let are_exact = !targets.is_empty() && targets.iter().all(of);
    are_exact.then(|| targets.iter().filter_map(Target::guard).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::{FailureKind, GuardForm};
    use crate::oracle::fixture::{fails_alike, noisy, target, unchanged};

    #[test]
    fn only_levels_that_repeat_are_compared() {
        let up = GuardForm::MaxIncrease(0.1);
        let exact = Target::Guard(target(up, 7.5, 7.9));
        let are_exact = |targets: &[Target]| exact_levels(targets).is_some();
        assert!(are_exact(std::slice::from_ref(&exact)));
        assert!(!are_exact(&[]));
        for other in [
            Target::Guard(noisy(up, 7.5, 7.9)),
            Target::Guard(unchanged("384", "128")),
            fails_alike(None, FailureKind::Crash, "kx"),
        ] {
            assert!(!are_exact(&[exact.clone(), other]));
        }
    }
}
