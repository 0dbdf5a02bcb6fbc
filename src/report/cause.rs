//! Sentences and tables about the causes inside the first bad commits.

mod ends;
mod joint;
mod lines;
mod parts;
mod trial;

use crate::evaluation::{Backport, Cause, CauseEnd, CauseSet, MovedEdit, PartOf, Revert};
use crate::ui::text;

use super::model::{CauseLine, EffectLine, FirstBad, Report};
use super::sought::Sought;
use super::tables::Table;
use super::words::is_main;

use ends::TestedEnd;
use parts::named;
use trial::{COLUMNS, row};

pub(super) use lines::{joint_backport, joint_revert, main, others};
pub(crate) use trial::{shown, tested, values};

/// The heading of the tests of parts of the change.
pub(super) const TRIALS: &str = "Which part of the change makes the step";

/// The cause of a first bad commit, if it was searched for.
fn line_of<'r>(report: &'r Report, first: &FirstBad) -> Option<&'r CauseLine> {
    let mut all = report.cause.iter().chain(&report.other_causes);
    all.find(|line| line.cause.commit == first.commit)
}

/// Label and words of each fact about the cause of a first bad commit.
pub(super) fn facts(report: &Report, first: &FirstBad) -> Vec<(&'static str, String)> {
    let Some(line) = line_of(report, first) else { return Vec::new() };
    let cause = &line.cause;
    let mut facts = Vec::new();
    if let CauseEnd::NotSeparable(why) = &cause.end {
        facts.push(("Cause", format!("not looked for inside the commit: {}", text::line(why))));
    }
    if let CauseEnd::Unsteady(place) = cause.end {
        let test = cause.trials.get(place).map(tested).unwrap_or_default();
        facts.push(("Cause", format!("not known: runs of the {test} contradict each other")));
    }
    if let CauseEnd::Stopped(why) = &cause.end {
        let why = text::line(why);
        let commit = cause.commit.short();
        // `localize` works for regressions only.
        let words = if Sought::of(report).is_regression() {
            format!("the tests stopped: {why}; `bisect-ppl localize {commit}` goes on")
        } else {
            format!("the tests stopped: {why}")
        };
        facts.push(("Cause", words));
    }
    for (number, set) in cause.sets.iter().enumerate() {
        let label = if number == 0 { "Cause" } else { "Also" };
        facts.push((label, set_in_words(cause, set)));
        facts.extend(set.edits.iter().map(|edit| ("Edit", edit_in_words(edit))));
    }
    facts.extend(rest_in_words(cause).map(|words| ("Rest", words)));
    let commits = report.culprits.len();
    facts.extend(
        revert_in_words(line, commits, Sought::of(report).newer_end())
            .map(|words| ("Revert", words)),
    );
    // If the answer names no commit, the first confirmed one has the facts about all causes.
    let is_first = report.culprits.first().is_some_and(|one| one.commit == first.commit);
    let has_joint_facts = is_main(report, first) || (report.culprit.is_none() && is_first);
    facts.extend(backport_in_words(line).map(|words| ("Backport", words)));
    if has_joint_facts {
        facts.extend(joint::facts(report));
    }
    facts
}

/// `hunk 2 of 3 in src/packed.c alone`, or the sets that each make the step; `None` unless minimal
/// sets, which are not the whole change, make the whole step. If the commit has other effects, the
/// words say which step it is: `src/packed.c alone (the step of ppl)`.
pub(super) fn in_short(report: &Report, first: &FirstBad) -> Option<String> {
    let cause = &line_of(report, first)?.cause;
    let words = in_short_of(cause)?;
    Some(match which_step(cause, first) {
        Some(which) => format!("{words} ({which})"),
        None => words,
    })
}

/// Which of several effects of the commit the parts make: `the step of ppl`. `None` if the tests
/// looked for all of them.
fn which_step(cause: &Cause, first: &FirstBad) -> Option<String> {
    let judged = &cause.without()?.levels;
    if judged.is_empty() {
        let has_others = first.failure.is_some() && !first.effects.is_empty();
        return has_others.then(|| "the failure".to_owned());
    }
    let is_judged = |effect: &EffectLine| judged.contains_key(&effect.metric);
    if first.failure.is_none() && first.effects.iter().all(is_judged) {
        return None;
    }
    let metrics = judged.keys().map(|metric| text::line(&metric.to_string())).collect();
    Some(format!("the step of {}", text::joined(metrics)))
}

fn in_short_of(cause: &Cause) -> Option<String> {
    let is_part = cause.without().is_some();
    let is_minimal = cause.sets.iter().all(|set| set.is_minimal);
    if !is_minimal || !is_part || cause.end != CauseEnd::Complete {
        return None;
    }
    let [set] = cause.sets.as_slice() else {
        let each: Vec<String> = cause.sets.iter().map(|set| named(&set.parts)).collect();
        return (!each.is_empty()).then(|| format!("{}, each by itself", each.join(", or ")));
    };
    let names = named(&set.parts);
    Some(match (set.context, set.parts.len()) {
        (0, 1) => format!("{names} alone"),
        (0, _) => names,
        _ => format!("{names} with {}", others_in_short(set)),
    })
}

/// `reverting it heals the bad end`; `None` if no test showed this. If the main cause alone does
/// not heal it, the sentence is about the causes of all first bad commits.
pub(super) fn healing(report: &Report) -> Option<String> {
    let cause = &report.cause.as_ref()?.cause;
    let them = taken_out_of_end(cause);
    if cause.backport == Some(Backport::Heals) {
        return Some(format!("the bad end with {them} is good"));
    }
    if cause.revert == Some(Revert::Heals) {
        return Some(format!("reverting {them} heals the bad end"));
    }
    joint::healing(report)
}

/// `hunk 2 of 3 in src/packed.c alone makes the step: ppl 7.52`.
fn set_in_words(cause: &Cause, set: &CauseSet) -> String {
    let names = named(&set.parts);
    let values = cause.alone(set).map(|trial| format!(": {}", values(trial))).unwrap_or_default();
    if !set.is_minimal {
        let tests = text::plural(cause.trials.len(), "test");
        return match set.with.len() {
            0 => format!("somewhere in {names}: the search ended after {tests}"),
            1 => format!(
                "somewhere in {names}, or in {}, which was in the same build: the search ended \
                 after {tests}",
                named(&set.with)
            ),
            _ => format!(
                "somewhere in {names}, or in {}, which were in the same build: the search ended \
                 after {tests}",
                named(&set.with)
            ),
        };
    }
    if cause.trials.iter().all(|trial| trial.of.is_of_endpoint()) {
        return format!("{names}: the whole change");
    }
    match (set.context, set.parts.len()) {
        (0, 1) => format!("{names} alone makes the step{values}"),
        (0, _) => format!("{names} make the step together; fewer of them cannot be judged{values}"),
        (_, 1) => format!("{names} makes the step, together with {}", with_in_words(set)),
        (_, _) => format!("{names} make the step, together with {}", with_in_words(set)),
    }
}

/// `src/b.c, line 7, in code from src/a.c: lost "x = 1;"; new "x = 2;"`.
fn edit_in_words(edit: &MovedEdit) -> String {
    let quoted = |what: &str, lines: &[String]| {
        let lines: Vec<String> = lines.iter().map(|line| text::line(line.trim())).collect();
        (!lines.is_empty()).then(|| format!("{what} `{}`", lines.join("` `")))
    };
    let changes = [quoted("lost", &edit.lost), quoted("new", &edit.added)];
    let changes: Vec<String> = changes.into_iter().flatten().collect();
    let [path, from] = [&edit.path, &edit.from].map(|path| text::line(path));
    format!("{path}, line {}, in code from {from}: {}", edit.line, changes.join("; "))
}

/// The parts that were always present when the set made the step.
fn with_in_words(set: &CauseSet) -> String {
    if set.with.is_empty() { "other parts of the change".to_owned() } else { named(&set.with) }
}

/// `src/packed.c and 6 other parts`: the other parts that were present. One whole file among them,
/// such as a new one, is named, and so is the only part.
fn others_in_short(set: &CauseSet) -> String {
    if let ([only], 1) = (set.with.as_slice(), set.context) {
        return text::line(&only.to_string());
    }
    let whole = set.with.iter().find(|part| part.of == PartOf::File);
    let name = whole.map(|part| text::line(&part.to_string()));
    let more = set.context.saturating_sub(usize::from(name.is_some()));
    let more = (more > 0).then(|| text::plural(more, "other part"));
    text::joined(name.into_iter().chain(more).collect())
}

/// What the commit shows without the cause.
fn rest_in_words(cause: &Cause) -> Option<String> {
    let them = taken_out(cause);
    let without = cause.without();
    let values = without.map(values).unwrap_or_default();
    match &cause.end {
        CauseEnd::Complete => {
            without.map(|_| format!("the commit without {them} shows no step: {values}"))
        }
        CauseEnd::RestPart => {
            Some(format!("the commit without {them} shows a smaller part of the step: {values}"))
        }
        CauseEnd::RestUnknown => {
            Some(format!("the commit without {them} cannot be judged: {values}"))
        }
        CauseEnd::RestShows => {
            Some(format!("the commit without {them} still shows the step: {values}"))
        }
        CauseEnd::Budget
        | CauseEnd::Unsteady(_)
        | CauseEnd::Stopped(_)
        | CauseEnd::NotSeparable(_) => None,
    }
}

/// What the tests of the endpoints take out or add: all of the change, unless its rest is known to
/// make no step, and no other effect.
fn taken_out_of_end(cause: &Cause) -> String {
    let mut tested = cause.reverted().or(cause.backported()).into_iter().flat_map(|it| &it.parts);
    let is_more = tested.any(|part| !cause.parts().any(|own| own == part));
    match cause.end {
        CauseEnd::Complete if !is_more => taken_out(cause),
        _ if cause.in_part => taken_out(cause),
        _ => "the whole commit".to_owned(),
    }
}

/// The removed parts: `it`, or `them and the 2 parts that need them`.
fn taken_out(cause: &Cause) -> String {
    let is_single = matches!(cause.sets.as_slice(), [set] if set.parts.len() == 1);
    let them = if is_single { "it" } else { "them" };
    match cause.dependents.len() {
        0 => them.to_owned(),
        1 => format!("{them} and the part that needs {them}"),
        many => format!("{them} and the {many} parts that need {them}"),
    }
}

/// What the newer end, called `newer`, shows without the cause. `commits`: the number of first bad
/// commits.
fn revert_in_words(line: &CauseLine, commits: usize, newer: &str) -> Option<String> {
    let cause = &line.cause;
    let mut name = taken_out_of_end(cause);
    if commits > 1 {
        name.push_str(" alone");
    }
    let tested =
        TestedEnd { trial: cause.reverted(), patch: line.patch.as_deref(), name, is_joint: false };
    Some(tested.reverted(cause.revert.as_ref()?, newer))
}

/// What the bad end shows with the parts of a fix.
fn backport_in_words(line: &CauseLine) -> Option<String> {
    let cause = &line.cause;
    let (trial, name) = (cause.backported(), taken_out_of_end(cause));
    let tested = TestedEnd { trial, patch: line.patch.as_deref(), name, is_joint: false };
    Some(tested.backported(cause.backport.as_ref()?))
}

/// The tests of parts of each change, the main first bad commit's first, with their headings.
pub(super) fn tables(report: &Report) -> Vec<(String, Table)> {
    let named =
        |line: &CauseLine| format!("Which part of {} makes its step", line.cause.commit.short());
    let main = report.cause.iter().map(|line| {
        let is_named = report.culprit.is_some();
        (if is_named { TRIALS.to_owned() } else { named(line) }, line)
    });
    let others = report.other_causes.iter().map(|line| (named(line), line));
    let of_parts = main.chain(others).map(|(title, CauseLine { cause, logs, .. })| {
        (title, Table::new(COLUMNS, cause.trials.iter().map(|trial| row(trial, logs))))
    });
    of_parts.chain(joint::tables(report)).collect()
}

#[cfg(test)]
mod tests;
