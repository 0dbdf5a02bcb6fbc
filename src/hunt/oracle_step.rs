//! What `git bisect run` calls at each commit: one verdict, written down before it is said.

use std::time::Duration;

use crate::config::BuildMode;
use crate::evaluation::{Aim, Phase, Target, Verdict};
use crate::git::{BisectSession, Repository};
use crate::process::Stop;
use crate::store::HuntDir;
use crate::store::journal::Event;

use super::short_text::over;
use super::verdict::{VerdictContext, write_down};
use super::{HuntError, open};

/// How often the oracle looks whether its driver is still there.
const LOOK: Duration = Duration::from_millis(250);

/// Judges the commit that git wants tested.
///
/// The reason of a failure is written into the journal, which is where the driver reads it:
/// git passes nothing on but a number.
pub fn step(
    repository: &Repository,
    hunt: &HuntDir,
    stop: &Stop,
) -> Result<(Verdict, Aim), HuntError> {
    follow_driver(hunt, stop);
    let result = judge(repository, hunt, stop);
    if let Err(error) = &result {
        let world = !matches!(error, HuntError::Stopped);
        let reason = match error.hint() {
            Some(cure) if world => format!("{error} ({cure})"),
            _ => error.to_string(),
        };
        hunt.journal()?.append(Event::Stopped { reason, world })?;
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
        oracle.config.build.mode = BuildMode::Clean;
    }
    let place = hunt.bisect_repository();
    let session = BisectSession::open(oracle.history.repository(), &place, &begun.bad.commit)?;
    let (commit, left) = session.step()?.ok_or_else(|| {
        HuntError::World("git has no commit for us: the bisect session is gone".to_owned())
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

/// The range that the driver searches now.
struct Current {
    search_number: usize,
    targets: Vec<Target>,
    /// How much of the text is read, where it is not all.
    chunks: Option<u32>,
    /// Whether every build is clean.
    clean: bool,
}

/// Reads it from the journal.
fn current_search(hunt: &HuntDir) -> Result<Current, HuntError> {
    let newest = hunt.entries()?.into_iter().rev().find_map(|entry| match entry.event {
        Event::Search { search_number, targets, chunks, clean, .. } => {
            Some(Current { search_number, targets, chunks, clean })
        }
        _ => None,
    });
    newest.ok_or(HuntError::NoBeginning)
}

/// A driver that was killed cannot tell its oracle to stop: its lock being free says it.
fn follow_driver(hunt: &HuntDir, stop: &Stop) {
    let (hunt, stop) = (hunt.clone(), stop.clone());
    std::thread::spawn(move || {
        loop {
            std::thread::sleep(LOOK);
            if matches!(hunt.is_driven(), Ok(false)) {
                stop.request();
                return;
            }
        }
    });
}
