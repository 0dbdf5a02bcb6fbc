//! What to do after a hunt, one line each.

use crate::evaluation::{CommitId, Ended, FailureKind, Outcome, SkipReason};
use crate::ui::text;

use super::candidates::printed_elsewhere;
use super::model::{FailedLine, MeasuredCommit, Report};

/// What to do next, one line each, with lines for `oracle.toml` below. Only words may be shortened:
/// the user copies the lines for the file.
pub(super) fn next_steps(report: &Report, width: usize) -> Vec<String> {
    let mut next = Vec::new();
    for step in &report.next {
        let (words, lines) = words_and_lines(step);
        next.push(text::shorten(&format!("Next: {words}"), width));
        next.extend(lines.lines().map(|line| format!("  {line}")));
    }
    let further = after_an_answer(report).into_iter().chain(after_a_good_end_that_fails(report));
    next.extend(further.map(|words| text::shorten(&words, width)));
    next
}

/// The words of a step, and the lines for `oracle.toml` below them; empty if there are none.
pub(super) fn words_and_lines(step: &str) -> (String, String) {
    let (words, lines) = step.split_once('\n').unwrap_or((step, ""));
    (text::line(words), text::lines(lines))
}

/// Two commands for an answer that names commits.
fn after_an_answer(report: &Report) -> Option<String> {
    let hunt = &report.hunt;
    match (&report.culprit, report.outcome) {
        (Some(_), Outcome::Culprit) => Some(format!(
            "Next: `bisect-ppl report {hunt} --diff` shows the change; `bisect-ppl report {hunt} \
             --format issue` writes the issue"
        )),
        (None, Outcome::Candidates | Outcome::Gradual) => {
            repair(report).or_else(|| name_the_place(report)).or_else(|| {
                let measure = report.candidates.first().map(look_at);
                if report.candidate_changes.is_empty() { measure } else { Some(changes_of(report)) }
            })
        }
        _ => None,
    }
}

fn changes_of(report: &Report) -> String {
    let (hunt, first) = (&report.hunt, report.candidate_changes[0].info.commit.short());
    format!(
        "Next: `bisect-ppl report {hunt} --diff` shows their changes; `bisect-ppl measure {first}` \
         measures the first"
    )
}

fn look_at(candidate: &CommitId) -> String {
    let first = candidate.short();
    format!("Next: `git show {first}` shows the first; `bisect-ppl measure {first}` measures it")
}

/// What to do if candidates do not build.
fn repair(report: &Report) -> Option<String> {
    let is_candidate = |one: &&MeasuredCommit| report.candidates.contains(&one.commit);
    let is_unbuilt = |one: &&MeasuredCommit| one.skip == Some(SkipReason::Build);
    let unbuilt = report.commits.iter().filter(is_candidate).filter(is_unbuilt);
    let unbuilt: Vec<&MeasuredCommit> = unbuilt.collect();
    let first = unbuilt.first().filter(|_| report.outcome == Outcome::Candidates)?;
    let number = match unbuilt.len() {
        1 => "1 of them does not build".to_owned(),
        more => format!("{more} of them do not build"),
    };
    Some(format!(
        "Next: {number}; `bisect-ppl store show {}` says why. A [[patch]] in oracle.toml may repair \
         that: `bisect-ppl help oracle-toml`",
        first.commit.short()
    ))
}

/// What to do if candidates print their values elsewhere.
fn name_the_place(report: &Report) -> Option<String> {
    printed_elsewhere(report).map(|_| {
        "Next: let the `pattern` in oracle.toml match one line only, with the words right before \
         the value (`^ppl = ([0-9.]+)`), and start again. For `json`, print the value under a key \
         of its own"
            .to_owned()
    })
}

/// What to do after a hunt whose good endpoint fails.
fn after_a_good_end_that_fails(report: &Report) -> Option<String> {
    let is_good = |failed: &&FailedLine| failed.commit == report.good.commit;
    let failed = report.failed.iter().find(is_good)?;
    // The finding may know a cause that its runs do not show.
    let is_open = report.outcome == Outcome::EndpointUnmeasurable && report.next.is_empty();
    is_open.then(|| {
        format!(
            "Next: {}; `bisect-ppl measure {}` tries it on one commit",
            text::line(&cure(failed)),
            report.good.commit.short()
        )
    })
}

/// Advice for a failure that does not depend on the commit.
fn cure(failed: &FailedLine) -> String {
    let kind = failed.failed.as_ref().map(|failure| failure.kind);
    let measure = failed.measure.as_deref();
    let step = failed.failed.as_ref().and_then(|f| f.evidence.as_ref()?.step.as_deref());
    let ended = failed.failed.as_ref().and_then(|f| f.evidence.as_ref()?.ended.as_ref());
    let is_late = kind == Some(FailureKind::Timeout) || ended == Some(&Ended::TimedOut);
    let place = match (step, measure) {
        (Some(step), _) => format!("prepare.{step}"),
        (None, Some(measure)) => format!("measure.{measure}"),
        (None, None) => "build".to_owned(),
    };
    if is_late {
        return format!("set a longer {place}.timeout in oracle.toml");
    }
    if let Some(elsewhere) = &failed.elsewhere {
        return format!("the program is {elsewhere}: correct {place}.command in oracle.toml");
    }
    if kind == Some(FailureKind::Build) && place == "build" {
        return "install what the build does not find, or correct build.commands in oracle.toml"
            .to_owned();
    }
    match kind {
        Some(FailureKind::Crash) => {
            format!("correct {place}.command or [inputs] in oracle.toml")
        }
        _ => "correct oracle.toml".to_owned(),
    }
}
