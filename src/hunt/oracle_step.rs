//! The work of `bisect-ppl oracle`, which `git bisect run` starts for each commit: judges the
//! commit and writes the verdict to the journal.

use std::time::Duration;

use crate::evaluation::{Aim, Phase, Target, Verdict};
use crate::git::{BisectSession, Repository};
use crate::hunt::ahead::claim::claim;
use crate::hunt::ahead::{slots, slots_agree};
use crate::hunt::begin::open::open;
use crate::hunt::sentinel::due::{Moment, is_look_due};
use crate::oracle::{ControlSlot, Oracle, measures_of};
use crate::process::Stop;
use crate::store::HuntDir;
use crate::store::journal::{Event, LimitsInForce};

use super::HuntError;
use super::built_choice::built_choice;
use super::course::is_left_alone;
use super::short::add_chunks_to_reason;
use super::verdict::{VerdictContext, write_down};

/// Interval at which the oracle checks whether its driver still runs.
const POLL_INTERVAL: Duration = Duration::from_millis(250);

/// Judges the commit that git wants tested. [`Verdict::Unknown`] if the driver must first measure
/// the good endpoint again, or tell git the verdict of another commit ([`built_choice`]).
///
/// On an error, writes the reason to the journal for the driver, because git passes on only an exit
/// code. If the driver is gone, nobody stopped the hunt, and nothing is written.
pub(crate) fn step(
    repository: &Repository,
    hunt: &HuntDir,
    stop: &Stop,
) -> Result<(Verdict, Aim), HuntError> {
    follow_driver(hunt, stop);
    let result = judge(repository, hunt, stop).map_err(|error| error.unless_signaled(stop));
    if let Err(error) = &result
        && !is_left_alone(error, hunt)
    {
        let world = !matches!(error, HuntError::Stopped);
        hunt.journal()?.append(Event::Stopped { world, fault: error.recorded() })?;
    }
    result
}

fn judge(
    repository: &Repository,
    hunt: &HuntDir,
    stop: &Stop,
) -> Result<(Verdict, Aim), HuntError> {
    let (mut oracle, begun) = open(repository, hunt, stop)?;
    if let Some(ControlSlot { commit, slot: Some(slot), .. }) = &oracle.control {
        oracle.pool.borrow(slot.clone(), commit.clone());
    }
    if is_look_due(&mut oracle, hunt, Moment::NextCommit)? {
        // No verdict stops git; the driver measures the good endpoint and starts git again.
        return Ok((Verdict::Unknown, begun.options.aim));
    }
    let Current { search_number, targets, chunks, clean } = current_search(hunt)?;
    follow_settings(&mut oracle, hunt, clean)?;
    let place = hunt.bisect_repository();
    let session = BisectSession::open(oracle.history.repository(), &place, &begun.bad.commit)?;
    let (asked, left) = session.step()?.ok_or_else(|| {
        HuntError::Environment("git names no commit to test: the bisect session is gone".to_owned())
    })?;
    let left = left.map(|left| (left.revisions, left.steps));
    let phase = Phase::Search;
    let measures = measures_of(&targets);
    let has_workers = slots(&begun, &oracle.recipes.config) > 1;
    // Workers measure what git would ask about, and only there.
    let own_choice = if has_workers || chunks.is_some() {
        None
    } else {
        built_choice(&mut oracle, &session, &asked, &measures)?
    };
    let is_own_choice = own_choice.is_some();
    let commit = own_choice.unwrap_or(asked);
    let _claim = if has_workers {
        let claim = claim(&mut oracle, hunt, &commit, phase)?;
        // Runs of one commit may be made in two slots only if slots give the same values.
        if slots_agree(&oracle, hunt, &begun.good.commit, &measures)? == Some(true) {
            oracle.go_to_workers_build(&commit)?;
        }
        Some(claim)
    } else {
        None
    };
    let (mut judgement, observation) =
        oracle.judge_until_decided(&commit, &targets, phase, chunks)?;
    add_chunks_to_reason(&mut judgement, chunks);
    let verdict = judgement.verdict;
    write_down(
        &mut oracle,
        &observation,
        &judgement,
        VerdictContext { search_number, phase, left },
    )?;
    // Git would take the verdict for that of the commit that it asked about.
    let verdict = if is_own_choice { Verdict::Unknown } else { verdict };
    Ok((verdict, begun.options.aim))
}

/// Lets an oracle process build and limit its runs as the hunt's driver does now. `clean`: whether
/// every build is clean, whatever the configuration says.
pub(crate) fn follow_settings(
    oracle: &mut Oracle,
    hunt: &HuntDir,
    clean: bool,
) -> Result<(), HuntError> {
    let config = &mut oracle.recipes.config;
    if clean {
        config.build.set_always_clean();
    }
    let limits = LimitsInForce::of(&hunt.entries()?);
    config.statistics.max_runs = limits.allowed_runs(config.statistics.max_runs);
    Ok(())
}

/// The search that the driver runs now.
pub(crate) struct Current {
    pub(crate) search_number: usize,
    pub(crate) targets: Vec<Target>,
    /// How many chunks of the text each run reads; `None` for the whole text.
    pub(crate) chunks: Option<u32>,
    /// Whether every build is clean.
    pub(crate) clean: bool,
}

/// Reads the newest search from the journal.
pub(crate) fn current_search(hunt: &HuntDir) -> Result<Current, HuntError> {
    let newest = hunt.entries()?.iter().rev().find_map(|entry| match &entry.event {
        Event::Search { search_number, targets, chunks, clean, .. } => Some(Current {
            search_number: *search_number,
            targets: targets.clone(),
            chunks: *chunks,
            clean: *clean,
        }),
        _ => None,
    });
    newest.ok_or(HuntError::NoBeginning)
}

/// Stops the oracle when the driver's lock is free, because a killed driver cannot stop its oracle.
pub(crate) fn follow_driver(hunt: &HuntDir, stop: &Stop) {
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
