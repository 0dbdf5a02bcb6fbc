//! The result of a hunt that no process drives, printed as `start` printed it, with its exit code.

use anyhow::anyhow;

use crate::evaluation::Outcome;
use crate::hunt::HuntError;
use crate::report::{Report, ReportError, inside_answer, terminal_answer};
use crate::store::HuntDir;
use crate::store::journal::{Entry, Event};
use crate::ui::{Ui, local_time};

use super::{Failed, exit};

/// Prints the answer of a hunt and of the hunts inside dependencies that followed from it. A hunt
/// without an answer is an error, the same one that its driver reported.
pub(super) fn answer(hunt: &HuntDir, ui: Ui) -> Result<u8, Failed> {
    let report = Report::of(hunt).map_err(report_failed)?;
    let code = code(hunt, &report)?;
    ui.answer(&terminal_answer(&report)).map_err(Failed::stdout)?;
    let inside = hunt.inside().map_err(Failed::store)?;
    for inner in inside.iter().filter_map(|one| one.went.on()) {
        let inner = hunt.beside(inner);
        // A hunt that was removed has no report.
        let Ok(report) = Report::of(&inner) else { continue };
        self::code(&inner, &report)?;
    }
    if !inside.is_empty() {
        ui.answer(&inside_answer(&report)).map_err(Failed::stdout)?;
    }
    Ok(code)
}

/// The exit code of a hunt, as its driver gave it.
pub(super) fn code(hunt: &HuntDir, report: &Report) -> Result<u8, Failed> {
    match report.outcome {
        Outcome::Interrupted => Err(unanswered(hunt.id(), &hunt.entries().map_err(Failed::store)?)),
        outcome => Ok(exit::of_outcome(outcome)),
    }
}

/// Why no process drives a hunt that has no answer.
fn unanswered(id: &str, entries: &[Entry]) -> Failed {
    let failed = match entries.last().map(|entry| &entry.event) {
        Some(Event::Stopped { world: true, fault }) => Failed::recorded(fault),
        Some(Event::Stopped { .. }) => Failed::hunt(HuntError::Stopped),
        _ => Failed::world(anyhow!("hunt {id} has no answer: {}", died(entries)), None),
    };
    failed.going_on(&format!("`bisect-ppl resume {id}`"))
}

/// The known facts about a driver that died without an entry in the journal.
pub(super) fn died(entries: &[Entry]) -> String {
    let last = entries.last().map_or("", |entry| &entry.at);
    format!(
        "its process ended unexpectedly (killed, out of memory, or the machine went down); its \
         last event was at {}",
        local_time(last)
    )
}

/// The error of a report that cannot be made or written.
pub(crate) fn report_failed(error: ReportError) -> Failed {
    match error {
        ReportError::Store(error) => Failed::store(error),
        other => {
            let hint = other.hint();
            Failed::usage(other.into(), hint)
        }
    }
}
