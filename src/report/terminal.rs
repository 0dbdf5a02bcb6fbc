//! The answer on one screen, which `start` prints at the end.

use crate::evaluation::{CommitId, OpenStep, Outcome};
use crate::ui::{stored_result, text};

use super::change::by_relevance;
use super::model::{FirstBad, Report};
use super::next_steps::next_steps;
use super::words::AROUND;
use super::{
    candidates, certainty, differences, inquiry, inside, matrix, merge, printed, steps, time_out,
    undone_steps, words,
};

/// Maximum length of a list of files, candidates, or ranges.
const LIST: usize = 8;

/// Maximum number of first bad commits shown beside the main one.
const OTHERS: usize = 2;

/// Maximum lines about other differences.
const DIFFERENCES: usize = 3;

/// Maximum length of a log line, in characters.
const WIDE: usize = 200;

/// Maximum length of other lines.
const LONGEST: usize = 400;

/// Maximum lines of an answer.
const SCREEN: usize = 25;

/// Maximum lines that say what to do next.
const NEXT: usize = 12;

/// In place of lines that are left out.
const MORE: &str = "… and more in the report";

/// The answer in at most 25 lines of plain text without control characters.
pub(crate) fn terminal_answer(report: &Report) -> String {
    let mut lines = match (&report.culprit, report.outcome) {
        (Some(first), Outcome::Culprit) => first_bad(report, first),
        _ => other(report),
    };
    let around = inside::around(report).map(|words| text::line(&format!("{AROUND} {words}")));
    lines.splice(1..1, around);
    lines.extend(printed_lines(report));
    let short = |line: &String| text::shorten(line, LONGEST);
    let mut next = next_steps(report, LONGEST);
    shorten_list(&mut next, NEXT);
    next.extend(words::used(report).as_ref().map(short));
    // The last line names the report.
    shorten_list(&mut lines, SCREEN - next.len() - 1);
    let mut lines: Vec<String> = lines.iter().map(short).collect();
    lines.extend(next);
    let path = report.folder.join("report.html").display().to_string();
    lines.push(short(&format!(
        "report: {} (report.md, report.json and reproduce.sh are beside it)",
        text::line(&path)
    )));
    let mut answer = String::new();
    for line in lines {
        answer.push_str(line.trim_end());
        answer.push('\n');
    }
    answer
}

/// Leaves out the end of a list that has more than `most` lines.
fn shorten_list(lines: &mut Vec<String>, most: usize) {
    if lines.len() > most {
        lines.truncate(most - 1);
        lines.push(MORE.to_owned());
    }
}

/// The output of failed builds and runs, and the paths of their logs.
pub(crate) fn printed_lines(report: &Report) -> Vec<String> {
    let mut lines = Vec::new();
    for failed in &report.failed {
        let colon = if failed.lines.is_empty() { "" } else { ":" };
        let stored = failed.stored_at.as_deref().map(|at| format!(" {}", stored_result(at)));
        let stored = stored.unwrap_or_default();
        lines.push(format!("{}{stored}{colon}", printed::title(failed)));
        // If the recipe is wrong, the command explains more than the output.
        let is_wrong = report.outcome == Outcome::EndpointUnmeasurable;
        let command = failed.command.iter().filter(|_| is_wrong);
        lines.extend(command.map(|command| format!("  command: {}", text::line(command))));
        lines.extend(failed.lines.iter().map(|line| format!("  | {}", text::shorten(line, WIDE))));
        let log = report.folder.join(&failed.log).display().to_string();
        lines.push(format!("  log: {}", text::line(&log)));
    }
    lines
}

/// The results of the hunts inside dependencies, one line each.
pub(crate) fn inside_answer(report: &Report) -> String {
    let lines = report.culprits.iter().flat_map(inside::words);
    lines.map(|words| text::line(&format!("Inside {words}")) + "\n").collect()
}

fn first_bad(report: &Report, first: &FirstBad) -> Vec<String> {
    let mut lines = vec![
        format!("{}: {} {}", words::title(report), first.commit, text::line(&first.subject)),
        format!("Author: {}  Date: {}", text::line(&first.author), text::line(&first.date)),
    ];
    lines.extend(first.url.iter().map(|url| format!("Page: {url}")));
    let label = words::request_label(report);
    let request = first.request.iter();
    lines.extend(request.map(|request| format!("{label} {}: {}", request.name, request.url)));
    lines.extend(words::hunted_failure(report).map(|hunted| text::line(&hunted)));
    lines.extend(first.effects.iter().take(3).map(|effect| steps::step(report, effect)));
    if let Some(failure) = &first.failure {
        let what = words::failure_text(failure);
        lines.push(format!("{}: {}", words::fails(report, first), text::line(&what)));
    }
    let time = time_out::in_words(report, first);
    lines.extend(time.map(|words| text::line(&format!("Time: {words}"))));
    let merge = merge::in_words(report, first);
    lines.extend(merge.map(|words| text::line(&format!("Merge: {words}"))));
    lines.extend(words::hidden(first).map(|words| format!("Hidden: {words}")));
    let cause = inquiry::facts(report, first).into_iter();
    lines.extend(cause.map(|(label, words)| format!("{label}: {words}")));
    lines.push(format!("Confidence {}", certainty::confidence(report, first)));
    lines.extend(words::confirmed_before(first).map(|words| text::line(&words)));
    lines.extend(
        words::dependencies(first)
            .iter()
            .take(2)
            .map(|words| text::line(&format!("Dependency: {words}"))),
    );
    let inside = inside::words(first).into_iter().take(3);
    lines.extend(inside.map(|words| text::line(&format!("Inside {words}"))));
    let differ = differences::lines(first, DIFFERENCES).into_iter();
    lines.extend(differ.map(|(label, words)| format!("{label}: {words}")));
    lines.extend(matrix::in_words(report).into_iter().take(3));
    lines.extend(certainty::searches(report).into_iter().take(1));
    lines.extend(report.account.as_ref().map(|one| steps::account(report, one)));
    lines.extend(undone_steps::lines(report));
    let files = by_relevance(&first.files, first.differences.as_ref()).into_iter().map(|file| {
        let changed = words::changed_lines(file.added, file.removed);
        format!("{}  {changed}", text::line(&file.path))
    });
    list(&mut lines, "Files it touches:", files);
    let others: Vec<&FirstBad> =
        report.culprits.iter().filter(|other| other.commit != first.commit).collect();
    for other in others.iter().take(OTHERS) {
        let effect = words::effect_of_other(report, other);
        let name = text::commit(&other.commit, &other.subject);
        lines.push(format!("Also a {}: {name}  {effect}", words::sought(report)));
        lines.push(format!("  Confidence {}", certainty::confidence_alone(report, other)));
        lines.extend(words::landed_again(other).map(|words| format!("  Undone: {words}")));
        lines.extend(words::hidden(other).map(|words| format!("  Hidden: {words}")));
        let cause = inquiry::facts(report, other).into_iter().take(1);
        lines.extend(cause.map(|(label, words)| format!("  {label}: {words}")));
    }
    if others.len() > OTHERS {
        let more = format!("more {}", words::sought(report));
        lines.push(format!("… and {} in the report", text::plural(others.len() - OTHERS, &more)));
    }
    lines
}

fn other(report: &Report) -> Vec<String> {
    let mut lines = vec![words::headline(report)];
    if !report.summary.is_empty() {
        lines.push(text::line(&report.summary));
    }
    lines.extend(candidates::printed_elsewhere(report).map(|words| text::line(&words)));
    lines.extend(certainty::searches(report).into_iter().take(1));
    lines.extend(undone_steps::lines(report));
    let named = |commit: &CommitId| {
        let subject = report.subject(commit);
        let likely =
            certainty::likely(report, commit).map(|p| format!("{p}  ")).unwrap_or_default();
        format!("{likely}{commit} {}", text::line(subject)).trim_end().to_owned()
    };
    let confirmed = report.culprits.iter();
    let confirmed = confirmed.map(|c| format!("{} {}", c.commit, text::line(&c.subject)));
    list(&mut lines, &format!("Confirmed {}s:", words::sought(report)), confirmed);
    let open = |step: &OpenStep| {
        let subject = text::line(report.subject(&step.commit));
        let name = format!("{} {subject}", step.commit);
        format!("{}  {}", name.trim_end(), candidates::change(report, step))
    };
    let confirmed: Vec<String> = candidates::steps(report).map(open).collect();
    list(&mut lines, &format!("{}:", candidates::steps_title(report)), confirmed.into_iter());
    let improvements: Vec<String> = candidates::improvements(report).map(open).collect();
    list(&mut lines, &format!("{}:", candidates::IMPROVEMENTS), improvements.into_iter());
    let title = match report.outcome {
        Outcome::Gradual => "The threshold is crossed at:".to_owned(),
        _ => format!("{}:", words::candidates_title(report)),
    };
    list(&mut lines, &title, candidates::listed(report).into_iter().map(named));
    lines.extend(candidates::unlisted(report));
    let rises = report.contributions.iter().map(|rise| {
        let range = match rise.commits {
            1 => rise.to.to_string(),
            many => format!("{}..{} ({many} commits)", rise.from.short(), rise.to.short()),
        };
        format!("{range}  {} {}", rise.metric, steps::moved(report, &rise.rise))
    });
    lines.extend(report.account.as_ref().map(|one| steps::account(report, one)));
    list(&mut lines, "Contributions:", rises);
    lines
}

fn list(lines: &mut Vec<String>, title: &str, items: impl ExactSizeIterator<Item = String>) {
    let count = items.len();
    if count == 0 {
        return;
    }
    lines.push(title.to_owned());
    // If one item is too many, show it: `… and 1 more` would also take a line.
    let shown = if count == LIST + 1 { count } else { LIST.min(count) };
    lines.extend(items.take(shown).map(|item| format!("  {item}")));
    if count > shown {
        lines.push(format!("  … and {} more", count - shown));
    }
}
