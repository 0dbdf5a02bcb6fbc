//! In a hunt for a fix: named commits whose lines the bad end has already. Such a commit only takes
//! back what another commit broke after the bad end. If a test shows that the bad end is good with
//! the other named commits, the answer leaves this one out.

use crate::evaluation::{Account, Backport, CauseEnd, CommitId, Culprit, Finding};
use crate::git::History;
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;

use super::change::{Change, Part};
use super::joint::cause_of;
use super::patched::Patched;

impl Driver<'_> {
    /// In a hunt for a fix: the finding without the named commits that the bad end has already, if
    /// the test of its cause shows that this end is good with the main commit alone. Builds
    /// nothing.
    pub(crate) fn without_present_fixes(&mut self, finding: Finding) -> Result<Finding, HuntError> {
        let backport = self
            .main_to_explain(&finding)
            .and(finding.cause.as_ref())
            .and_then(|cause| cause.backport.as_ref());
        if backport != Some(&Backport::Heals) || finding.culprits.len() < 2 {
            return Ok(finding);
        }
        let present = self.present_fixes(&finding);
        let present = self.unless_faulty(present)?;
        let is_main_left = present.len() + 1 == finding.culprits.len();
        Ok(if is_main_left { without(finding, &present) } else { finding })
    }

    /// The finding with the tests of the endpoints with and without all named commits. In a hunt
    /// for a fix, the tests are first made without the commits that the bad end has already. If
    /// this end is good with the others (two or more), the finding names only these.
    pub(super) fn tested_jointly(&mut self, mut finding: Finding) -> Result<Finding, HuntError> {
        let present = self.present_fixes(&finding);
        let present = self.unless_faulty(present)?;
        if !present.is_empty() && present.len() + 1 < finding.culprits.len() {
            let mut others = without(finding.clone(), &present);
            self.test_jointly(&mut others)?;
            let joint = others.joint_backport.as_ref();
            if joint.is_some_and(|joint| joint.backport == Backport::Heals) {
                return Ok(others);
            }
        }
        self.test_jointly(&mut finding)?;
        Ok(finding)
    }

    /// In a hunt for a fix whose bad end can be judged in full: the named commits beside the main
    /// one whose change that end has already.
    fn present_fixes(&mut self, finding: &Finding) -> Result<Vec<CommitId>, HuntError> {
        let (targets, _) = self.sought()?;
        let is_whole = self.judged_alone(&targets).len() == targets.len();
        if self.terms().aim().is_regression() || !is_whole {
            return Ok(Vec::new());
        }
        let main = finding.culprit().map(|main| &main.info);
        let mut present = Vec::new();
        for culprit in &finding.culprits {
            if main != Some(&culprit.info) && self.is_present(finding, culprit)? {
                present.push(culprit.info.commit.clone());
            }
        }
        Ok(present)
    }

    /// In a hunt for a fix: whether no test of the bad end with a fix judges all targets, because
    /// values vary too much, or because the user wants no tests. Then only git tells whether that
    /// end has a fix already.
    pub(crate) fn is_fix_untestable(&self) -> Result<bool, HuntError> {
        if self.terms().aim().is_regression() {
            return Ok(false);
        }
        let (targets, _) = self.sought()?;
        let is_whole = self.judged_alone(&targets).len() == targets.len();
        Ok(!self.begun.options.localize || self.is_flaky || !is_whole)
    }

    /// Whether the bad end has the cause inside a named commit already, or its whole change if the
    /// cause is not known. Of a merge, the cause counts only if the rest of the change was tested
    /// and makes nothing: a merge may bring in more than its difference from one parent.
    pub(super) fn is_present(
        &mut self,
        finding: &Finding,
        culprit: &Culprit,
    ) -> Result<bool, HuntError> {
        let is_merge = culprit.parents.len() != 1;
        // The cause is that of the largest effect.
        let cause = cause_of(finding, &culprit.info.commit)
            .filter(|cause| !cause.end.is_without_answer() && culprit.effects.len() < 2)
            .filter(|cause| !is_merge || cause.end == CauseEnd::Complete);
        let Some(cause) = cause else { return self.has_whole_change(culprit) };
        let history = History::open(self.oracle.history.repository())?;
        let change = Change::of(&history, &culprit.parent, culprit)?;
        let rest = change.without(&change.whole(), &change.taken(cause))?;
        self.has_change_but(culprit, &change, &rest)
    }

    /// Whether the bad end has the whole change of a commit already: git finds nothing to add
    /// there. Of a merge, the difference from its first parent. Files that no build reads do not
    /// count. Builds nothing.
    pub(crate) fn has_whole_change(&mut self, culprit: &Culprit) -> Result<bool, HuntError> {
        let parent = culprit.parents.first().filter(|_| culprit.parents.len() > 1);
        let parent = parent.unwrap_or(&culprit.parent).clone();
        let culprit = Culprit { parent, ..culprit.clone() };
        let history = History::open(self.oracle.history.repository())?;
        let change = Change::of(&history, &culprit.parent, &culprit)?;
        let is_unread =
            |part: &Part| change.paths(*part).iter().all(|path| is_below(&self.unread, path));
        let rest: Vec<Part> = change.whole().into_iter().filter(is_unread).collect();
        self.has_change_but(&culprit, &change, &rest)
    }

    /// Whether a commit's change without `rest` is in the bad end already.
    fn has_change_but(
        &mut self,
        culprit: &Culprit,
        change: &Change<'_>,
        rest: &[Part],
    ) -> Result<bool, HuntError> {
        let [end, _] = self.begun.ends().map(CommitId::clone);
        let trees = self.step_trees(culprit, change, rest)?;
        let changes = trees[0] != trees[1];
        Ok(changes && matches!(self.patched(&end, &[trees])?, Patched::Same))
    }
}

/// Whether a path is one of these paths, or lies in a folder among them.
fn is_below(paths: &[String], path: &str) -> bool {
    let is_in = |one: &String| {
        let rest = path.strip_prefix(one.trim_end_matches('/'));
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    paths.iter().any(is_in)
}

/// The finding without these commits, of which a note tells. None of them is the main one.
fn without(finding: Finding, present: &[CommitId]) -> Finding {
    let main = finding.culprit().map(|main| main.info.commit.clone());
    let is_named = |one: &Culprit| !present.contains(&one.info.commit);
    let (culprits, dropped): (Vec<_>, Vec<_>) =
        finding.culprits.iter().cloned().partition(is_named);
    let told = dropped.iter().map(|one| note(one, &culprits));
    let notes = finding.notes.iter().cloned().chain(told).collect();
    let accounts = finding.accounts.iter().map(|one| account_without(one, &dropped)).collect();
    let is_left = |commit: &CommitId| !present.contains(commit);
    let candidates = finding.candidates.iter().filter(|one| is_left(one)).cloned().collect();
    let causes = finding.other_causes.iter().filter(|cause| is_left(&cause.commit));
    let other_causes = causes.cloned().collect();
    let main = culprits.iter().position(|one| Some(&one.info.commit) == main.as_ref());
    Finding { culprits, main, candidates, accounts, notes, other_causes, ..finding }
}

/// The account without the steps of these commits, or the account as it is if the other commits
/// would leave more than the tolerance: a test showed that the bad end is good with them.
fn account_without(account: &Account, dropped: &[Culprit]) -> Account {
    let steps = dropped.iter().filter_map(|one| one.effect_on(&account.metric)?.own_step);
    let explained = account.explained - steps.sum::<f64>();
    let own = Account { explained, rest: account.total - explained, ..account.clone() };
    if own.left() <= account.limit.max(0.0) { own } else { account.clone() }
}

/// The note on a commit that the bad end has already. `named`: those that this end needs.
fn note(dropped: &Culprit, named: &[Culprit]) -> String {
    let commit = dropped.info.commit.short();
    let named: Vec<String> = named.iter().map(|one| one.info.commit.short().to_owned()).collect();
    format!(
        "{commit} only takes back what came after the bad end: that end has the lines of {commit} \
         already, and with {} alone it is good",
        named.join(" and "),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::Outcome;
    use crate::hunt::localize::unknown;
    use crate::oracle::fixture::{self, commit, effect};

    fn step(digit: char, size: f64) -> Culprit {
        Culprit { effects: vec![effect(7.0, 7.0 + size, 0.1)], ..fixture::culprit(digit, '2') }
    }

    /// A finding that names two commits: 3 makes a step of 0.4, the main one, and 5 one of 0.15.
    fn two(account: Account) -> Finding {
        let culprits = vec![step('3', 0.4), step('5', 0.15)];
        Finding {
            cause: Some(unknown(&culprits[0], String::new())),
            other_causes: vec![unknown(&culprits[1], String::new())],
            culprits,
            main: Some(0),
            candidates: vec![commit('3')],
            accounts: vec![account],
            ..Finding::plain(Outcome::Culprit, "3 is the first fixed commit")
        }
    }

    #[test]
    fn the_main_fix_stays_without_one_that_the_bad_end_has() {
        let left = without(two(fixture::account(0.4, 0.55)), &[commit('5')]);
        assert_eq!((left.main, left.culprits.len()), (Some(0), 1));
        assert_eq!(left.candidates, [commit('3')]);
        assert!(left.cause.is_some() && left.other_causes.is_empty());
        assert_eq!(left.summary, "3 is the first fixed commit");
        assert!(left.accounts[0].rest.abs() < 1e-9, "{:?}", left.accounts);
        let (dropped, named) = (commit('5'), commit('3'));
        assert!(left.notes[0].starts_with(dropped.short()), "{:?}", left.notes);
        assert!(left.notes[0].contains(&format!("with {} alone", named.short())));
    }

    #[test]
    fn a_path_is_below_itself_and_its_folders() {
        let unread = ["docs".to_owned(), "notes.md".to_owned()];
        assert!(is_below(&unread, "docs/a.md") && is_below(&unread, "notes.md"));
        assert!(!is_below(&unread, "docs.md") && !is_below(&unread, "src/docs/a.md"));
        assert!(!is_below(&[], "docs"));
    }

    #[test]
    fn an_account_that_needs_the_step_stays_as_it_is() {
        let whole = fixture::account(0.55, 0.55);
        assert_eq!(without(two(whole.clone()), &[commit('5')]).accounts, [whole]);
    }
}
