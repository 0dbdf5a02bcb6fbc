//! The cost of a hunt.

use std::collections::HashSet;

use crate::evaluation::{Failure, FailureKind};
use crate::store::AttemptsCost;
use crate::store::journal::{BuildDone, Entry, Event, RunDone};

use super::driven::DrivenTime;
use super::model::Totals;

/// Adds up the cost of a journal's events.
pub(super) struct Cost;

impl Cost {
    pub(super) fn of(entries: &[Entry]) -> Totals {
        let mut driven = DrivenTime::default();
        for entry in entries {
            driven.see(entry);
        }
        let (wall_s, saved_s) = (driven.seconds(), super::short::saved(entries));
        let mut totals = Totals { wall_s, saved_s, ..Totals::default() };
        // After a resume the journal may repeat an attempt.
        let mut counted = HashSet::new();
        for entry in entries {
            match &entry.event {
                Event::Run(run) if !run.reused && counted.insert(("run", &run.attempt)) => {
                    if is_prepare(run) {
                        totals.build_s += run.wall_s;
                    } else {
                        totals.runs += 1;
                        totals.run_s += run.wall_s;
                    }
                }
                Event::Build(build)
                    if was_tried(build) && counted.insert(("build", &build.attempt)) =>
                {
                    totals.builds += usize::from(build.prepare.is_none());
                    totals.build_s += build.wall_s;
                    if let Some(AttemptsCost { count, wall_s }) = build.failed_attempts {
                        totals.builds += count;
                        totals.build_s += wall_s;
                    }
                }
                _ => {}
            }
        }
        totals
    }
}

/// Whether a measure's command ran in this hunt.
pub(super) fn is_run(run: &RunDone) -> bool {
    !run.reused && !is_prepare(run)
}

/// Whether a prepare step failed, so that the measure did not run.
fn is_prepare(run: &RunDone) -> bool {
    run.failure.as_ref().is_some_and(|failure| failure.kind == FailureKind::Prepare)
}

/// Whether a command of the build was started.
fn was_tried(build: &BuildDone) -> bool {
    let is_nothing = |failure: &Failure| failure.kind.leaves_nothing_to_build();
    !build.reused && !build.failure.as_ref().is_some_and(is_nothing)
}
