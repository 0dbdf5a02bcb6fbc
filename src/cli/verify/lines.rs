//! A verification as text.

use std::fmt::Write as _;

use crate::evaluation::{CommitId, Value};
use crate::hunt::{CellKind, Check, ClaimVerified, Conclusion, FixCell, FixVerified, Verification};
use crate::ui::text;

/// Most differences between the machines that are listed.
const MOST_DIFFERENCES: usize = 12;

/// The whole answer.
pub(super) fn text(found: &Verification) -> String {
    let mut out = String::new();
    let is_alike = found.machine.is_alike;
    let place = if is_alike { "here" } else { "here, on another class of machine" };
    for claim in &found.claims {
        claimed(&mut out, claim, place);
    }
    if let Some(fix) = &found.fix {
        fixed(&mut out, fix);
    }
    if !is_alike {
        line(&mut out, "Machine: another class than the report's");
        let differences = &found.machine.differences;
        for difference in differences.iter().take(MOST_DIFFERENCES) {
            line(&mut out, &format!("  {difference}"));
        }
        if let Some(more) = differences.len().checked_sub(MOST_DIFFERENCES).filter(|n| *n > 0) {
            line(&mut out, &format!("  and {more} more"));
        }
    }
    for change in &found.changes {
        line(&mut out, &format!("Changed here: {change}"));
    }
    for note in &found.notes {
        line(&mut out, &format!("Note: {note}"));
    }
    line(&mut out, &format!("Report: hunt {} of {}", found.hunt, found.report_tool));
    line(&mut out, &format!("Logs: {}", found.folder));
    out
}

fn claimed(out: &mut String, claim: &ClaimVerified, place: &str) {
    let name = text::commit(&claim.commit, &claim.subject);
    let says = match claim.verdict {
        Conclusion::Holds => "The claim holds",
        Conclusion::DoesNotHold => "The claim does not hold",
        Conclusion::Undecided => "Undecided",
    };
    line(out, &format!("{says} {place}: {name}"));
    let parents: Vec<&str> = claim.parents.iter().map(CommitId::short).collect();
    line(out, &format!("  against {}", parents.join(", ")));
    for check in &claim.checks {
        checked(out, check);
    }
}

fn checked(out: &mut String, check: &Check) {
    let what = match (&check.metric, &check.failure) {
        (Some(metric), _) => metric.to_string(),
        (None, Some(failure)) => failure.clone(),
        (None, None) => "failure".to_owned(),
    };
    let verdict = in_words(check.verdict);
    let runs = text::plural(check.runs, "run");
    line(out, &format!("  {what}: {verdict} ({runs} of each commit)"));
    if check.metric.is_some() {
        let levels = |name: &str, sides: &crate::hunt::Sides| {
            let [parent, commit] =
                [&sides.parent, &sides.commit].map(|value| level(value.as_ref()));
            let step = sides.own_step.as_ref().and_then(Value::number);
            let step = step.map(|step| {
                let words = if step < 0.0 { "better" } else { "worse" };
                format!(" ({} {words})", text::difference(step.abs()))
            });
            format!("    {name}  parent {parent}, commit {commit}{}", step.unwrap_or_default())
        };
        line(out, &levels("report", &check.reported));
        line(out, &levels("here  ", &check.here));
    }
    if !check.reason.is_empty() {
        line(out, &format!("    {}", check.reason));
    }
}

fn fixed(out: &mut String, fix: &FixVerified) {
    let name = text::commit(&fix.commit, &fix.subject);
    let healed = fix.cells.iter().filter(|cell| cell.verdict == Conclusion::Holds).count();
    let count = text::plural(fix.cells.len(), "cell");
    let says = match fix.verdict {
        Conclusion::Holds => format!("The fix heals all: {healed} of {count}"),
        Conclusion::DoesNotHold => format!("The fix does not heal all: {healed} of {count}"),
        Conclusion::Undecided => {
            format!("Whether the fix heals all is undecided: {healed} of {count}")
        }
    };
    line(out, &format!("{says}: {name}"));
    line(out, &format!("  against {}", fix.against.short()));
    for cell in &fix.cells {
        line(out, &format!("  {}", of_cell(cell)));
    }
}

fn of_cell(cell: &FixCell) -> String {
    let verdict = match (cell.verdict, cell.showed) {
        (Conclusion::Holds, true) => "healed",
        (Conclusion::Holds, false) => "as before",
        (Conclusion::DoesNotHold, true) => "not healed",
        (Conclusion::DoesNotHold, false) => "worse",
        (Conclusion::Undecided, _) => "undecided",
    };
    let kind = match cell.kind {
        CellKind::Guard => "guard",
        CellKind::Failure => "failure",
        CellKind::Level => "level",
        CellKind::Sweep => "sweep",
    };
    let levels = match (&cell.against, &cell.fix) {
        (None, None) => String::new(),
        (against, fix) => {
            format!(" (parent {}, fix {})", level(against.as_ref()), level(fix.as_ref()))
        }
    };
    let reason = if cell.verdict == Conclusion::Holds || cell.reason.is_empty() {
        String::new()
    } else {
        format!(": {}", cell.reason)
    };
    format!("{kind} {}: {verdict}{levels}{reason}", cell.name)
}

fn in_words(verdict: Conclusion) -> &'static str {
    match verdict {
        Conclusion::Holds => "holds",
        Conclusion::DoesNotHold => "does not hold",
        Conclusion::Undecided => "undecided",
    }
}

fn level(value: Option<&Value>) -> String {
    value.map_or_else(|| "nothing".to_owned(), text::value)
}

fn line(out: &mut String, words: &str) {
    // Leading spaces stay: `text::line` makes a line of what an engine or a commit says.
    let indent = words.len() - words.trim_start().len();
    // Writing to a string cannot fail.
    let _ = writeln!(out, "{}{}", &words[..indent], text::line(&words[indent..]));
}
