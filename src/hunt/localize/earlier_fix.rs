//! In a hunt for a fix: an earlier commit that is good already, if a fix does not apply to the bad
//! end, if that end has it, or if that end with the fix does not tell what the fix does there. The
//! search then goes on up to that commit. If there is none, and the bad end has the fix, or all
//! named ones, that end needs another one.

use crate::evaluation::{Backport, CommitId, Culprit, Finding, Outcome, Verdict};
use crate::git::Range;
use crate::hunt::HuntError;
use crate::hunt::distinct::distinct;
use crate::hunt::driver::Driver;
use crate::hunt::earlier_good::EarlierGood;
use crate::store::journal::Event;
use crate::ui::text;

use super::places::{MOST_LOOKS, spread_with_ends};
use super::undone::{paths_of, unsettled};

impl Driver<'_> {
    /// In a hunt for a fix: the finding, unless an earlier commit is good already. Then `None`: the
    /// hunt goes on with a search up to that commit. If such a search cannot decide: candidates.
    /// Also if no earlier commit is good, but the bad end has the fix already.
    pub(crate) fn unless_fixed_before(
        &mut self,
        finding: Finding,
    ) -> Result<Option<Finding>, HuntError> {
        let Some(at) = self.fixed_before(&finding)? else {
            let finding = self.unless_present(finding)?;
            return Ok(Some(match &self.earlier_good {
                Some(earlier) => earlier.answer(finding),
                None => finding,
            }));
        };
        let [bad, _] = self.begun.ends().map(CommitId::clone);
        let candidates = self.oracle.history.commits(&Range::between(&bad, &at))?;
        let otherwise = as_candidates(&finding, &at, &bad, candidates);
        if self.limit.is_some() || !self.can_end_earlier(&at)? {
            return Ok(Some(otherwise));
        }
        let text = format!(
            "{at} was good before {named}: a commit between them broke this again, and {named} \
             mended that. The bad end needs an earlier fix; the search goes on up to {at}",
            at = at.short(),
            named = name_of(&finding),
        );
        self.oracle.recorder.event(Event::Note { text })?;
        self.earlier_good = Some(EarlierGood { at, otherwise });
        Ok(None)
    }

    /// The finding, or candidates if the bad end has the only named fix already: that end is bad,
    /// so it needs another fix.
    fn unless_present(&mut self, finding: Finding) -> Result<Finding, HuntError> {
        let [only] = finding.culprits.as_slice() else { return Ok(finding) };
        if self.terms().aim().is_regression() {
            return Ok(finding);
        }
        let only = only.clone();
        let is_present = match told_of(&finding, &only) {
            Told::Present => true,
            Told::Absent => false,
            Told::Nothing => {
                let is_present = self.is_present(&finding, &only);
                self.unless_faulty(is_present)?
            }
        };
        if is_present { self.up_to_present(finding) } else { Ok(finding) }
    }

    /// In a hunt for a fix: the finding, or candidates if the bad end has the changes of all of
    /// several named commits already. Builds nothing.
    pub(crate) fn unless_all_present(&mut self, finding: Finding) -> Result<Finding, HuntError> {
        let is_asked = finding.outcome == Outcome::Culprit
            && finding.culprits.len() > 1
            && !self.terms().aim().is_regression();
        if !is_asked {
            return Ok(finding);
        }
        let joint = finding.joint_backport.as_ref().map(|joint| &joint.backport);
        let are_present = match joint {
            Some(Backport::Present) => true,
            Some(told) if told.tells() => false,
            _ => {
                let are_present = self.are_present(&finding);
                self.unless_faulty(are_present)?
            }
        };
        if are_present { self.up_to_present(finding) } else { Ok(finding) }
    }

    /// Whether the bad end has the change of each named commit already, by git alone.
    fn are_present(&mut self, finding: &Finding) -> Result<bool, HuntError> {
        for culprit in &finding.culprits {
            if !self.is_present(finding, culprit)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The finding as candidates: all commits up to the last named one. The bad end has the changes
    /// of all named commits.
    fn up_to_present(&self, mut finding: Finding) -> Result<Finding, HuntError> {
        let [bad, _] = self.begun.ends().map(CommitId::clone);
        let named: Vec<CommitId> =
            finding.culprits.iter().map(|one| one.info.commit.clone()).collect();
        let order = self.possible_commits(&mut finding)?;
        let first_parent = self.begun.options.first_parent;
        let mut all = Vec::new();
        for one in &named {
            let range = Range { first_parent, ..Range::between(&bad, one) };
            all.extend(self.oracle.history.commits(&range)?);
        }
        let all = distinct(all);
        let is_other = |one: &CommitId| !named.contains(one);
        let mut candidates = all.clone();
        candidates.retain(|one| order.commits().contains(one));
        if !candidates.iter().any(is_other) && named.len() > 1 {
            candidates = all;
        }
        if !candidates.iter().any(is_other) {
            return Ok(finding);
        }
        Ok(with_another_fix(finding, &named, &bad, candidates))
    }

    /// Whether a search can end at `at`, a commit that [`Self::fixed_before`] found. Each target
    /// must have been judged there. With `--first-parent`, the commit may lie beside the line that
    /// is searched.
    fn can_end_earlier(&self, at: &CommitId) -> Result<bool, HuntError> {
        let (targets, _) = self.sought()?;
        let are_judged = self.judged_alone(&targets).len() == targets.len();
        Ok(are_judged && !self.is_flaky && self.is_on_line(at)?)
    }

    /// Whether the hunt searches a line with this commit: with `--first-parent`, only the first
    /// parents of the newer end.
    fn is_on_line(&self, commit: &CommitId) -> Result<bool, HuntError> {
        if !self.begun.options.first_parent {
            return Ok(true);
        }
        let [older, newer] = self.begun.ends();
        Ok(self.oracle.history.first_parent_path(older, newer)?.contains(commit))
    }

    /// In a hunt for a fix: looks for an earlier commit that is good already. Does so only if the
    /// fix does not apply to the bad end, if the bad end has it already, or if a test of the bad
    /// end with it tells nothing.
    fn fixed_before(&mut self, finding: &Finding) -> Result<Option<CommitId>, HuntError> {
        let Some(cause) = unsettled(finding, |cause| {
            let Some(backport) = &cause.backport else { return false };
            !backport.tells() && !matches!(backport, Backport::Stopped(_))
        }) else {
            return Ok(None);
        };
        let targets = self.targets_of_looks()?;
        if targets.is_empty() {
            return Ok(None);
        }
        let [older, _] = self.begun.ends().map(CommitId::clone);
        let history = &self.oracle.history;
        let change = history.change_in(&cause.parent, &cause.commit, &paths_of(cause))?;
        let mut places = Vec::new();
        for one in history.touching(&older, &cause.parent, &change)? {
            for parent in history.parents(&one)? {
                if parent != older && history.is_ancestor(&older, &parent)? {
                    places.push(parent);
                }
            }
        }
        for place in &spread_with_ends(places, MOST_LOOKS) {
            if self.repeatedly_judged(Verdict::Good, place, &targets)? {
                return Ok(Some(place.clone()));
            }
        }
        Ok(None)
    }
}

/// The finding as candidates if `at`, an earlier commit, is good already: the fix is one of the
/// commits up to it.
fn as_candidates(
    finding: &Finding,
    at: &CommitId,
    bad: &CommitId,
    candidates: Vec<CommitId>,
) -> Finding {
    let fix = match candidates.as_slice() {
        [only] => only.short().to_owned(),
        several => format!("one of {} earlier commits", several.len()),
    };
    let summary = format!(
        "{} was good before {}: the fix that the bad end needs is {fix}",
        at.short(),
        name_of(finding),
    );
    let next = format!(
        "`bisect-ppl start --find-fix --bad {} --good {}` searches these commits",
        bad.short(),
        at.short()
    );
    Finding {
        candidates,
        next: vec![next],
        cause: finding.cause.clone(),
        ..Finding::plain(Outcome::Candidates, summary)
    }
}

/// What the test of the bad end with a fix tells of whether that end has the fix already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Told {
    Present,
    Absent,
    /// There is no such test; or the commit is a merge, which may bring in more than its difference
    /// from one parent.
    Nothing,
}

/// What the test of the cause inside the only named commit, `only`, tells.
fn told_of(finding: &Finding, only: &Culprit) -> Told {
    if finding.outcome != Outcome::Culprit {
        return Told::Absent;
    }
    let cause = finding.cause.as_ref().filter(|cause| cause.commit == only.info.commit);
    match cause.and_then(|cause| cause.backport.as_ref()) {
        Some(Backport::Present) if only.parents.len() == 1 => Told::Present,
        None | Some(Backport::Present) => Told::Nothing,
        Some(_) => Told::Absent,
    }
}

/// Makes candidates of the finding, because the bad end (`bad`) has the changes of all named fixes
/// (`named`) already. `candidates`: all commits up to the last of these fixes. The fixes stay among
/// them: the test of the bad end may have added only a part of their lines.
fn with_another_fix(
    finding: Finding,
    named: &[CommitId],
    bad: &CommitId,
    candidates: Vec<CommitId>,
) -> Finding {
    let all: Vec<&str> = named.iter().map(CommitId::short).collect();
    let last = all.last().copied().unwrap_or_default();
    let summary = format!(
        "{}; but the bad end has the lines of {} already, so another fix is needed too: one of the \
         {} up to {last}",
        finding.summary,
        all.join(" and "),
        text::plural(candidates.len(), "commit"),
    );
    let next = format!(
        "`git diff {} {last}` shows what the bad end lacks: the other fix is in it",
        bad.short(),
    );
    Finding {
        candidates,
        next: vec![next],
        notes: finding.notes,
        limit: finding.limit,
        says_limit: finding.says_limit,
        cause: finding.cause,
        ..Finding::plain(Outcome::Candidates, summary)
    }
}

/// The main named commit, for people.
fn name_of(finding: &Finding) -> &str {
    finding.culprit().map_or("", |culprit| culprit.info.commit.short())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::Cause;
    use crate::hunt::localize::unknown;
    use crate::oracle::fixture::{commit, culprit};

    /// A finding that names the fix 5, with what the bad end shows with it.
    fn fixed(backport: Backport) -> Finding {
        let fix = culprit('5', '4');
        let cause = Cause { backport: Some(backport), ..unknown(&fix, String::new()) };
        Finding {
            culprits: vec![fix],
            main: Some(0),
            cause: Some(cause),
            ..Finding::plain(Outcome::Culprit, "5 is the first fixed commit")
        }
    }

    #[test]
    fn without_a_test_git_tells_whether_the_bad_end_has_the_fix() {
        let told = |finding: &Finding| told_of(finding, &finding.culprits[0]);
        assert_eq!(told(&fixed(Backport::Present)), Told::Present);
        assert_eq!(told(&fixed(Backport::Heals)), Told::Absent);
        let conflict = Backport::Conflict("a conflict".to_owned());
        assert_eq!(told(&fixed(conflict)), Told::Absent);
        let untested = Finding { cause: None, ..fixed(Backport::Present) };
        assert_eq!(told(&untested), Told::Nothing);
        let open = Finding { outcome: Outcome::Candidates, ..untested };
        assert_eq!(told(&open), Told::Absent);
        let mut merge = fixed(Backport::Present);
        merge.culprits[0].parents.push(commit('3'));
        assert_eq!(told(&merge), Told::Nothing);
    }

    #[test]
    fn all_commits_up_to_a_fix_that_the_bad_end_has_are_candidates() {
        let all: Vec<CommitId> = "345".chars().map(commit).collect();
        let finding = fixed(Backport::Present);
        let told = with_another_fix(finding, &[commit('5')], &commit('2'), all.clone());
        assert_eq!((told.outcome, told.main), (Outcome::Candidates, None));
        assert!(told.culprits.is_empty() && told.cause.is_some());
        assert_eq!(told.candidates, all);
        assert!(told.summary.contains("another fix is needed too"), "{}", told.summary);
        assert!(told.summary.contains("one of the 3 commits"), "{}", told.summary);
    }

    #[test]
    fn several_fixes_that_the_bad_end_has_ask_for_another_one() {
        let all: Vec<CommitId> = "34567".chars().map(commit).collect();
        let named = [commit('5'), commit('7')];
        let told = with_another_fix(fixed(Backport::Present), &named, &commit('2'), all.clone());
        assert_eq!((told.outcome, told.candidates), (Outcome::Candidates, all));
        let told_lines =
            format!("the lines of {} and {} already", named[0].short(), named[1].short());
        assert!(told.summary.contains(&told_lines), "{}", told.summary);
        assert!(told.accounts.is_empty() && told.joint_backport.is_none());
    }
}
