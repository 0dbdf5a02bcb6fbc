//! Tells git's bisect session what the hunt already knows.

use crate::evaluation::{CommitId, Phase, Verdict};
use crate::git::{BisectSession, BisectState, End, History};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::hunt::range::SearchRange;
use crate::hunt::short::add_chunks_to_reason;
use crate::hunt::strategy::SearchStrategy;
use crate::hunt::verdict::{VerdictContext, write_down};
use crate::store::journal::{Event, Judged};

use super::opening::sought;

/// Marks known commits in the bisect session: those to skip, and those that the hunt judged before,
/// for example in an interrupted search. Derives verdicts from stored runs again. If a confirmation
/// judged a commit, only the runs of confirmations count.
pub(crate) fn replay(
    driver: &mut Driver<'_>,
    session: &BisectSession,
    search_range: &SearchRange,
    strategy: &SearchStrategy,
    skip: &[CommitId],
) -> Result<(), HuntError> {
    for commit in skip {
        session.mark(Verdict::Skip, commit)?;
    }
    // Mark merge bases too. Otherwise `git bisect run` asks for them, and silently ends if there
    // are several (git 2.39 and 2.47).
    let history = &driver.oracle.history;
    let [old, new] = search_range.ends();
    if !history.is_ancestor(old, new)? {
        for base in history.merge_bases(old, new)? {
            let phase = Phase::Search;
            let (judgement, _) =
                driver.oracle.judge_until_decided(&base, &strategy.targets, phase, None)?;
            session.mark(judgement.verdict, &base)?;
        }
    }
    let (targets, chunks) = sought(driver, strategy);
    let (mut known, mut read) = (Vec::<Judged>::new(), None);
    for entry in &driver.hunt.entries_in_force()? {
        if let Event::Search { chunks, .. } = &entry.event {
            read = *chunks;
        } else if let Event::Judged(judged) = &entry.event {
            // A verdict counts only for the part of the text that its runs read.
            let over = read.filter(|_| judged.phase == Phase::Search);
            if over != chunks {
                continue;
            }
            match known.iter_mut().find(|one| one.commit == judged.commit) {
                Some(one) => *one = judged.clone(),
                None => known.push(judged.clone()),
            }
        }
    }
    // The session's state, until a mark changes it.
    let mut unchanged = None;
    for before in known {
        let commit = before.commit.clone();
        let is_between = driver.oracle.history.is_ancestor(old, &commit)?
            && driver.oracle.history.is_ancestor(&commit, new)?;
        let is_end = commit == *old || commit == *new;
        if !is_between || is_end {
            continue;
        }
        let state = match unchanged.take() {
            Some(state) => state,
            None => session.state()?,
        };
        if state.as_ref().is_some_and(|state| state.end.is_some()) {
            break;
        }
        let phase = match chunks {
            // The confirmation reads the full text, so its runs do not count here.
            Some(_) => Phase::Search,
            None => driver.deciding_phase(&commit, &targets)?,
        };
        let (mut judgement, observation) =
            driver.oracle.judge_until_decided(&commit, &targets, phase, chunks)?;
        let is_other = judgement.verdict != before.judgement.verdict;
        // After a search with other builds, the commit was measured again. The verdict of these
        // runs is shown, although it is the same.
        if is_other || are_all_new(&observation.attempts(), &before.attempts) {
            add_chunks_to_reason(&mut judgement, chunks);
            let place = VerdictContext { search_number: driver.searches, phase, left: None };
            write_down(&mut driver.oracle, &observation, &judgement, place)?;
        }
        // Mark only commits that narrow the search: git refuses contradictions, such as a commit
        // marked new that is an ancestor of one marked old.
        if still_open(state.as_ref(), &driver.oracle.history, &commit)? {
            session.mark(judgement.verdict, &commit)?;
        } else {
            unchanged = Some(state);
        }
    }
    Ok(())
}

/// Whether a verdict has runs, and rests on none of those that the verdict before rested on.
fn are_all_new(attempts: &[String], before: &[String]) -> bool {
    !attempts.is_empty() && attempts.iter().all(|attempt| !before.contains(attempt))
}

/// Whether a verdict on this commit narrows git's search: the commit is an ancestor of the one
/// marked new, but of no commit marked old.
pub(super) fn still_open(
    state: Option<&BisectState>,
    history: &History,
    commit: &CommitId,
) -> Result<bool, HuntError> {
    let Some(state) = state else { return Ok(false) };
    let Some(new) = &state.new else { return Ok(true) };
    if commit == new || !history.is_ancestor(commit, new)? {
        return Ok(false);
    }
    for old in &state.old {
        if history.is_ancestor(commit, old)? {
            return Ok(false);
        }
    }
    Ok(true)
}

impl Driver<'_> {
    /// Whether a search up to this one gave the commit this verdict. Confirmations do not count.
    pub(crate) fn has_verdict(
        &self,
        commit: &CommitId,
        verdict: Verdict,
        search_number: usize,
    ) -> Result<bool, HuntError> {
        Ok(self.hunt.entries_in_force()?.iter().any(|entry| match &entry.event {
            Event::Judged(judged) => {
                judged.commit == *commit
                    && judged.judgement.verdict == verdict
                    && judged.phase != Phase::Confirm
                    && judged.search_number <= search_number
            }
            _ => false,
        }))
    }

    /// The phase whose runs decide a commit's verdict: the confirmation, if there was one.
    fn deciding_phase(
        &self,
        commit: &CommitId,
        targets: &[crate::evaluation::Target],
    ) -> Result<Phase, HuntError> {
        let measures = crate::oracle::measures_of(targets);
        let confirmed = self.hunt.entries_in_force()?.iter().any(|entry| match &entry.event {
            Event::Judged(judged) => judged.phase == Phase::Confirm && judged.commit == *commit,
            _ => false,
        });
        Ok(if confirmed && !measures.is_empty() { Phase::Confirm } else { Phase::Search })
    }
}

pub(crate) fn ended(session: &BisectSession) -> Result<Option<End>, HuntError> {
    Ok(session.state()?.and_then(|state| state.end))
}

#[cfg(test)]
mod tests {
    use super::are_all_new;

    #[test]
    fn a_verdict_is_written_again_only_if_no_run_of_it_was_known() {
        let of = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let before = of(&["a1", "a2"]);
        assert!(are_all_new(&of(&["b1"]), &before));
        assert!(are_all_new(&of(&["b1"]), &[]));
        // More runs of the same build, or a build that fails again.
        assert!(!are_all_new(&of(&["a1", "a2", "a3"]), &before));
        assert!(!are_all_new(&[], &before));
    }
}
