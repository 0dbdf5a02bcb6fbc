//! One run of `git bisect run`, from its start to its answer.

use std::path::{Path, PathBuf};

use crate::evaluation::{Ended, ReachedLimit, Verdict};
use crate::files;
use crate::git::{BisectSession, End};
use crate::hunt::HuntError;
use crate::hunt::ahead::scout::Scout;
use crate::hunt::driver::Driver;
use crate::hunt::machine_change::MachineChange;
use crate::hunt::path_filter::PathFilter;
use crate::hunt::range::SearchRange;
use crate::hunt::strategy::SearchStrategy;
use crate::process::{self, Keep, LogFile};
use crate::store::RecordedFault;
use crate::store::journal::{Event, Judged, SearchEnd};

use super::opening::open_search;
use super::replay::{ended, replay, still_open};

/// How a search by git ended.
#[derive(Debug)]
pub(crate) enum BisectEnd {
    /// Git has its answer.
    Answer(SearchEnd),
    /// The good endpoint no longer has its level.
    MachineChanged(MachineChange),
}

/// Runs `git bisect` over the search range.
pub(crate) fn bisect(
    driver: &mut Driver<'_>,
    search_range: &SearchRange,
    strategy: &SearchStrategy,
) -> Result<BisectEnd, HuntError> {
    let skip = driver.begun.options.skip.clone();
    let range = open_search(driver, search_range, strategy)?;
    let number = driver.searches;
    let path = driver.hunt.bisect_repository();
    let session =
        BisectSession::open(driver.oracle.history.repository(), &path, &search_range.newer)?;
    session.start(&range, search_range.terms.aim())?;
    // Git ends the session at once if the paths leave no commit to test.
    if !session.is_open() && !search_range.paths.is_empty() {
        let paths = PathFilter::default();
        return bisect(driver, &SearchRange { paths, ..search_range.clone() }, strategy);
    }
    replay(driver, &session, search_range, strategy, &skip)?;
    while ended(&session)?.is_none() {
        let known = judgements(driver)?;
        let scout = Scout::begin(driver, &session, search_range, strategy)?;
        let ran = run_git(driver, &session, number);
        drop(scout);
        driver.oracle.recorder.count_runs_of_others()?;
        let has_succeeded = ran?;
        if ended(&session)?.is_some() {
            break;
        }
        let last = last_judged(driver, known)?;
        if let Some(last) = &last
            && tell_own_choice(driver, &session, last)?
        {
            continue;
        }
        if !driver.is_look_due()? {
            // Git also ends with success before it tests a merge base.
            if has_succeeded && last.is_some() {
                continue;
            }
            break;
        }
        if let Some(change) = driver.machine_change()? {
            session.reset()?;
            return Ok(BisectEnd::MachineChanged(change));
        }
        if driver.is_look_due()? {
            // Nothing was measured, so git would stop again.
            break;
        }
    }
    let end = match ended(&session)? {
        Some(End::FirstBad(commit)) => SearchEnd::FirstBad(commit),
        // One of the commits between the candidates may have been left out wrongly.
        Some(End::Candidates(_)) if !search_range.paths.unread.is_empty() => {
            let paths = search_range.paths.asked_alone();
            return bisect(driver, &SearchRange { paths, ..search_range.clone() }, strategy);
        }
        Some(End::Candidates(commits)) => SearchEnd::Candidates(commits),
        Some(End::NoTestable) if !search_range.paths.is_empty() => {
            let paths = PathFilter::default();
            return bisect(driver, &SearchRange { paths, ..search_range.clone() }, strategy);
        }
        Some(End::NoTestable) => SearchEnd::Candidates(driver.oracle.history.commits(&range)?),
        // Later searches have other ends. The endpoints' check did not cover their merge bases.
        Some(End::MergeBaseBad(_)) if number > 0 => {
            SearchEnd::Candidates(driver.oracle.history.commits(&range)?)
        }
        Some(End::MergeBaseBad(commit)) => {
            return Err(HuntError::Environment(format!(
                "git calls the merge base {} {}, but the hunt measured it as {}",
                commit.short(),
                search_range.terms.newer(),
                search_range.terms.older()
            )));
        }
        None => return Err(why_git_stopped(driver)?),
    };
    session.reset()?;
    driver.oracle.recorder.event(Event::SearchEnd { search_number: number, end: end.clone() })?;
    let change = driver.look_after_search()?;
    Ok(change.map_or(BisectEnd::Answer(end), BisectEnd::MachineChanged))
}

/// Tells git the last verdict if the oracle tested another commit than the one that git asked for.
/// Returns whether it did.
fn tell_own_choice(
    driver: &Driver<'_>,
    session: &BisectSession,
    last: &Judged,
) -> Result<bool, HuntError> {
    let state = session.state()?;
    let is_told = state.as_ref().is_some_and(|one| {
        one.current.as_ref() == Some(&last.commit) || one.skipped.contains(&last.commit)
    });
    let verdict = last.judgement.verdict;
    if is_told
        || verdict == Verdict::Unknown
        || !still_open(state.as_ref(), &driver.oracle.history, &last.commit)?
    {
        return Ok(false);
    }
    session.mark(verdict, &last.commit)?;
    Ok(true)
}

/// The last verdict in the hunt's journal; `None` if there are only the first `known` ones.
fn last_judged(driver: &Driver<'_>, known: usize) -> Result<Option<Judged>, HuntError> {
    let entries = driver.hunt.entries()?;
    let judged = entries.iter().filter_map(|entry| match &entry.event {
        Event::Judged(judged) => Some(judged),
        _ => None,
    });
    Ok(judged.skip(known).last().cloned())
}

/// The number of verdicts that this hunt has written to its journal.
fn judgements(driver: &Driver<'_>) -> Result<usize, HuntError> {
    let entries = driver.hunt.entries()?;
    Ok(entries.iter().filter(|entry| matches!(entry.event, Event::Judged(_))).count())
}

/// Runs git until it has an answer or stops. Returns whether git ended with success.
fn run_git(driver: &Driver<'_>, session: &BisectSession, number: usize) -> Result<bool, HuntError> {
    let oracle = [
        driver.program.clone().into_os_string(),
        "oracle".into(),
        "--hunt".into(),
        driver.hunt.id().into(),
    ];
    // The oracle first ends its engine, which has its own grace period.
    let git = session.run_invocation(oracle).grace(std::time::Duration::from_secs(30));
    let log = new_log(&driver.hunt.path().join("logs"), number);
    let file = LogFile { path: &log, header: &[], sync: false };
    let ran = process::run(&git, &driver.stop, &file, &mut |_, _| Keep::No)?;
    if driver.stop.is_requested() {
        return Err(HuntError::stopped(&driver.stop));
    }
    Ok(ran.ended == Ended::Exited(0))
}

/// The log of the next start of git in a search. Git may start several times in one search; logs of
/// earlier starts stay.
fn new_log(logs: &Path, number: usize) -> PathBuf {
    let is_taken = |path: &Path| path.symlink_metadata().is_ok();
    let mut path = logs.join(format!("bisect-{number}.log"));
    let mut start = 1;
    while is_taken(&path) {
        start += 1;
        path = logs.join(format!("bisect-{number}-{start}.log"));
    }
    path
}

/// The error if git stopped without an answer. The oracle wrote the reason to the journal.
fn why_git_stopped(driver: &Driver<'_>) -> Result<HuntError, HuntError> {
    let runs = driver.oracle.recipes.config.statistics.max_runs;
    let is_spent = driver.oracle.recorder.made() >= runs;
    let entries = driver.hunt.entries()?;
    let since = entries.iter().rev();
    let last =
        since.take_while(|entry| !matches!(entry.event, Event::Search { .. })).find_map(|entry| {
            match &entry.event {
                Event::Stopped { world, fault } => Some((*world, fault.clone())),
                _ => None,
            }
        });
    Ok(match last {
        Some((true, _)) if is_spent => HuntError::Limit(ReachedLimit::Runs { runs }),
        Some((true, fault)) => HuntError::OracleStopped(fault),
        Some((false, _)) => HuntError::Stopped,
        // The kernel may have killed the oracle, or git, for lack of memory.
        None => HuntError::OracleStopped(RecordedFault {
            reason: format!(
                "git bisect run stopped without an answer; see logs/ in {}",
                driver.hunt.path().display()
            ),
            // On a full disk the oracle cannot record why it stopped.
            hint: files::is_full(driver.hunt.path()).then(|| "free some space".to_owned()),
            may_pass: true,
            needs_new_hunt: false,
        }),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_start_of_git_has_a_log_of_its_own() {
        let logs = tempfile::tempdir().unwrap();
        for name in ["bisect-0.log", "bisect-0-2.log", "bisect-0-3.log", "bisect-1.log"] {
            let number = usize::from(name.starts_with("bisect-1"));
            let log = new_log(logs.path(), number);
            assert_eq!(log, logs.path().join(name));
            std::fs::write(log, "").unwrap();
        }
    }
}
