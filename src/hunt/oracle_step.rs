//! The work of `bisect-ppl oracle`, which `git bisect run` starts for each commit: judges the
//! commit and writes the verdict to the journal.

use std::time::Duration;

use crate::config::BuildMode;
use crate::evaluation::{Aim, Phase, Target, Verdict};
use crate::git::{BisectSession, Repository};
use crate::hunt::begin::open::open;
use crate::process::Stop;
use crate::store::HuntDir;
use crate::store::journal::{Event, LimitsInForce};

use super::HuntError;
use super::short::over;
use super::verdict::{VerdictContext, write_down};

/// Interval at which the oracle checks whether its driver still runs.
const POLL_INTERVAL: Duration = Duration::from_millis(250);

/// Judges the commit that git wants tested.
///
/// On an error, writes the reason to the journal for the driver, because git passes on only an exit
/// code.
pub(crate) fn step(
    repository: &Repository,
    hunt: &HuntDir,
    stop: &Stop,
) -> Result<(Verdict, Aim), HuntError> {
    follow_driver(hunt, stop);
    let result = judge(repository, hunt, stop);
    if let Err(error) = &result {
        let world = !matches!(error, HuntError::Stopped);
        let cure = error.hint().filter(|_| world);
        let (reason, may_pass) = (error.to_string(), error.may_pass());
        let stopped = Event::Stopped { reason, world, hint: cure, may_pass };
        hunt.journal()?.append(stopped)?;
    }
    result
}

fn judge(
    repository: &Repository,
    hunt: &HuntDir,
    stop: &Stop,
) -> Result<(Verdict, Aim), HuntError> {
    let (mut oracle, begun) = open(repository, hunt, stop)?;
    let Current { search_number, targets, chunks, clean } = current_search(hunt)?;
    if clean {
        oracle.recipes.config.build.mode = BuildMode::Clean;
    }
    let limits = LimitsInForce::of(&hunt.entries()?);
    let statistics = &mut oracle.recipes.config.statistics;
    statistics.max_runs = limits.runs.unwrap_or(statistics.max_runs);
    let place = hunt.bisect_repository();
    let session = BisectSession::open(oracle.history.repository(), &place, &begun.bad.commit)?;
    let (commit, left) = session.step()?.ok_or_else(|| {
        HuntError::Environment("git names no commit to test: the bisect session is gone".to_owned())
    })?;
    let left = left.map(|left| (left.revisions, left.steps));
    let phase = Phase::Search;
    let (mut judgement, observation) =
        oracle.judge_until_decided(&commit, &targets, phase, chunks)?;
    over(&mut judgement, chunks);
    let verdict = judgement.verdict;
    write_down(
        &mut oracle,
        &observation,
        &judgement,
        VerdictContext { search_number, phase, left },
    )?;
    Ok((verdict, begun.options.aim))
}

/// The search that the driver runs now.
struct Current {
    search_number: usize,
    targets: Vec<Target>,
    /// How many chunks of the text each run reads; `None` for the whole text.
    chunks: Option<u32>,
    /// Whether every build is clean.
    clean: bool,
}

/// Reads the newest search from the journal.
fn current_search(hunt: &HuntDir) -> Result<Current, HuntError> {
    let newest = hunt.entries()?.into_iter().rev().find_map(|entry| match entry.event {
        Event::Search { search_number, targets, chunks, clean, .. } => {
            Some(Current { search_number, targets, chunks, clean })
        }
        _ => None,
    });
    newest.ok_or(HuntError::NoBeginning)
}

/// Stops the oracle when the driver's lock is free, because a killed driver cannot stop its oracle.
fn follow_driver(hunt: &HuntDir, stop: &Stop) {
    let (hunt, stop) = (hunt.clone(), stop.clone());
    std::thread::spawn(move || {
        loop {
            std::thread::sleep(POLL_INTERVAL);
            if matches!(hunt.is_driven(), Ok(false)) {
                stop.request();
                return;
            }
        }
    });
}
