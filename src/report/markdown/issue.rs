//! A short report to paste into an issue tracker.

use crate::evaluation::{CommitId, DependencyHunt, OpenStep, Outcome, Verdict};
use crate::report::change::{LineKind, by_relevance, name};
use crate::report::commands::from_slot;
use crate::report::model::{CandidateLine, Change, FirstBad, GuardLine, Report};
use crate::report::{
    candidates, certainty, differences, inquiry, inside, matrix, merge, printed, steps, time_out,
    words,
};
use crate::ui::text;

use super::escape::{fenced, fenced_as, inline};

/// Maximum lines of the report.
pub(in crate::report) const LINES: usize = 40;

/// Maximum shown commands. `reproduce.sh` has all.
const COMMANDS: usize = 7;

/// Lines around the commands: a sentence, the fence, the checkout, and the count of the rest.
const AROUND_COMMANDS: usize = 9;

/// Lines around quoted output: a sentence between empty lines, and the fence.
const AROUND_QUOTE: usize = 5;

/// Maximum commits, files, or guards named in a line.
const NAMED: usize = 5;

/// Maximum length of a quoted text, in characters.
const LONG: usize = 200;

/// Maximum length of a command, in characters. A cut command cannot run, so longer ones are left
/// out.
const COMMAND: usize = 600;

/// The answer, its evidence, and how to reproduce it, in at most forty lines.
pub(crate) fn issue(report: &Report) -> String {
    let mut lines = vec![format!("### {}", heading(report)), String::new()];
    if report.culprit.is_none() && !report.summary.is_empty() {
        lines.extend([said(&report.summary), String::new()]);
    }
    match &report.culprit {
        Some(first) => lines.extend(first_bad(report, first)),
        None => lines.extend(without_commit(report)),
    }
    let files_at = lines.len();
    lines.extend(
        report.accounts.iter().take(2).map(|one| item("Account", &steps::account(report, one))),
    );
    lines.extend(matrix::in_words(report).iter().take(2).map(|words| item("Cells", words)));
    lines.extend(certainty::searches(report).first().map(|words| {
        // `item` may cut the text; this sentence must stay whole.
        format!("- Search: {}", inline(&text::line(words)))
    }));
    lines.push(format!(
        "- Range: {} (`{}`) to {} (`{}`), {}, {} measured",
        said(&report.good.asked),
        report.good.commit.short(),
        said(&report.bad.asked),
        report.bad.commit.short(),
        text::plural(report.range, "commit"),
        report.commits.iter().filter(|commit| !commit.samples.is_empty()).count(),
    ));
    lines.extend(inside::around(report).map(|around| item(words::AROUND, &around)));
    lines.extend(skipped(report));
    lines.push(item("Machine", &machine(report)));
    let tool = format!("{}, hunt {}", report.tool, report.hunt);
    lines.push(item("Measured by", &tool));
    let room = LINES.saturating_sub(lines.len());
    let printed = printed(report, room);
    let room = room - printed.len();
    if let Some(first) = &report.culprit {
        // The diff gets the space that the commands leave: without commands nobody can check the
        // answer.
        let left = room.saturating_sub(reproduce(report, room.saturating_sub(1)).len());
        match diff(first, left) {
            Some(diff) => lines.extend(diff),
            None => lines.splice(files_at..files_at, files(first)).for_each(drop),
        }
    }
    lines.extend(printed);
    let room = LINES.saturating_sub(lines.len());
    lines.extend(reproduce(report, room));
    debug_assert!(lines.len() <= LINES, "{}", lines.len());
    lines.join("\n") + "\n"
}

/// The heading. Commit ids are in code, so that no tracker turns them into links.
fn heading(report: &Report) -> String {
    match (&report.culprit, report.outcome) {
        (Some(first), Outcome::Culprit) => {
            let (title, subject) = (words::title(report), said(&first.subject));
            format!("{title}: `{}` {subject}", first.commit.short())
        }
        _ => said(&words::headline(report)),
    }
}

fn first_bad(report: &Report, first: &FirstBad) -> Vec<String> {
    let mut lines = vec![
        format!("- Commit: `{}` by {}, {}", first.commit, said(&first.author), said(&first.date)),
        format!("- Parent: `{}`{}", first.parent, words::which_parent(report, first)),
    ];
    // URLs that this program made or checked.
    lines.extend(first.url.iter().map(|url| format!("- Page: <{url}>")));
    let label = words::request_label(report);
    lines.extend(first.request.iter().map(|request| format!("- {label}: <{}>", request.url)));
    lines.extend(words::hunted_failure(report).map(|hunted| format!("- {}", said(&hunted))));
    let effects = first.effects.iter().take(3);
    lines.extend(effects.map(|effect| item("Own step", &steps::step(report, effect))));
    let over_text = first.effects.iter().find_map(|effect| steps::over_text(report, effect));
    lines.extend(over_text.map(|words| item(steps::OVER_TEXT, &words)));
    if let Some(failure) = &first.failure {
        lines.push(item(words::fails(report, first), &words::failure_text(failure)));
    }
    lines.extend(time_out::in_words(report, first).map(|words| item("Time", &words)));
    lines.extend(merge::in_words(report, first).map(|words| item("Merge", &words)));
    let dependencies = words::dependencies(first);
    lines.extend(dependencies.iter().take(2).map(|words| item("Dependency", words)));
    lines.extend(inside::words(first).iter().take(2).map(|words| item("Inside", words)));
    let facts = inquiry::main_facts(report, first);
    lines.extend(facts.iter().map(|(label, words)| item(label, words)));
    let differ = differences::lines(first, 2);
    lines.extend(differ.iter().map(|(label, words)| item(label, words)));
    lines.extend(tolerance(report));
    lines.push(item("Confidence", &certainty::confidence(report, first)));
    lines.extend(words::confirmed_before(first).map(|words| item("Note", &words)));
    let others = words::other_culprits(report).map(|other| {
        let undone = words::landed_again(other).map(|words| format!("undone {words}"));
        let known = undone.into_iter().chain(inquiry::cause_in_short(report, other));
        let known: Vec<String> = known.map(|words| said(&words)).collect();
        let known =
            if known.is_empty() { String::new() } else { format!(" ({})", known.join("; ")) };
        format!("`{}` {}{known}", other.commit.short(), said(&other.subject))
    });
    lines.extend(list(&format!("Also {}s", words::sought(report)), others));
    lines
}

fn without_commit(report: &Report) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(hunted) = words::hunted_failure(report) {
        lines.push(format!("- {}", said(&hunted)));
    }
    let value = |guard: &GuardLine| {
        let (good, bad) = (guard.baseline.as_ref()?, guard.bad.as_ref()?);
        let levels = format!(
            "{} at the good end, {} at the bad end",
            text::value(good),
            steps::changed_level(Some(good), bad)
        );
        Some(item(&guard.metric.to_string(), &levels))
    };
    lines.extend(report.guards.iter().filter(|guard| guard.target).take(2).filter_map(value));
    lines.extend(tolerance(report));
    let name = |commit: &crate::evaluation::CommitId| {
        format!("`{}` {}", commit.short(), said(report.subject(commit))).trim_end().to_owned()
    };
    let likely = |commit| {
        let likely = certainty::likely(report, commit);
        format!("{}{}", name(commit), likely.map(|p| format!(" ({p})")).unwrap_or_default())
    };
    let confirmed = report.culprits.iter().map(|first| name(&first.commit));
    lines.extend(list("Confirmed so far", confirmed));
    let open = |step: &OpenStep| {
        format!("{} ({})", name(&step.commit), said(&candidates::change(report, step)))
    };
    lines.extend(list(&candidates::steps_title(report), candidates::steps(report).map(open)));
    lines.extend(list(candidates::IMPROVEMENTS, candidates::improvements(report).map(open)));
    let title = words::candidates_title(report);
    lines.extend(list(title, candidates::listed(report).into_iter().map(likely)));
    lines.extend(candidates::unlisted(report).map(|words| item("Not measured", &words)));
    let elsewhere = candidates::printed_elsewhere(report);
    lines.extend(elsewhere.map(|words| item("Not compared", &words)));
    lines.extend(report.candidate_changes.iter().filter_map(|CandidateLine { info, change }| {
        list(&format!("Files of `{}`", info.commit.short()), changed(change))
    }));
    let rises = report.contributions.iter().map(|rise| {
        format!("`{}` {} {}", rise.to.short(), rise.metric, said(&steps::moved(report, &rise.rise)))
    });
    lines.extend(list("Contributions", rises));
    lines
}

/// The diff, without context lines if it is too long for `room` lines. `None` if it is still too
/// long, or not stored.
fn diff(first: &FirstBad, room: usize) -> Option<Vec<String>> {
    let change = first.change.as_ref().filter(|change| change.left_out.is_empty())?;
    let block = |has_context: bool| {
        let mut quoted = Vec::new();
        for file in &change.files {
            quoted.push(format!("diff {}", text::line(&name(file))));
            let is_shown = |line: &&String| has_context || LineKind::of(line) != LineKind::Context;
            let lines = file.lines.iter().filter(is_shown);
            quoted.extend(lines.map(|line| text::shorten(line, LONG)));
        }
        let mut lines = vec![String::new()];
        lines.extend(fenced_as("diff", &quoted.join("\n")).lines().map(str::to_owned));
        lines
    };
    let fits = |lines: &Vec<String>| lines.len() <= room;
    [true, false].map(block).into_iter().find(fits)
}

/// The files that the commit touches.
fn files(first: &FirstBad) -> Option<String> {
    let files = by_relevance(&first.files, first.differences.as_ref()).into_iter();
    list("Files", files.map(|file| counted(&file.path, file.added, file.removed)))
}

/// The files of a stored change.
fn changed(change: &Change) -> impl Iterator<Item = String> {
    let files = change.files.iter();
    let files = files.map(|file| counted(&name(file), Some(file.added), Some(file.removed)));
    let left_out = change.left_out.iter();
    files.chain(left_out.map(|file| counted(&file.path, file.added, file.removed)))
}

fn counted(path: &str, added: Option<usize>, removed: Option<usize>) -> String {
    format!("{} {}", said(path), words::changed_lines(added, removed))
}

fn tolerance(report: &Report) -> Option<String> {
    let targets = report.guards.iter().filter(|guard| guard.target);
    let words = targets.map(|guard| said(&format!("{} {}", guard.metric, steps::tolerance(guard))));
    list("Tolerance", words)
}

fn skipped(report: &Report) -> Option<String> {
    let skipped = report.commits.iter().filter(|commit| commit.verdict == Verdict::Skip);
    let named = skipped.map(|commit| {
        let reason = commit.skip.map_or(commit.reason.clone(), |skip| skip.to_string());
        format!("`{}` ({})", commit.commit.short(), said(&text::shorten(&reason, 80)))
    });
    list("Skipped", named)
}

fn machine(report: &Report) -> String {
    let machine = &report.machine;
    let gpus = if machine.gpus.is_empty() { "no GPU".to_owned() } else { machine.gpus.join(", ") };
    let cores = words::cores(machine);
    format!("{} ({cores}), {gpus}, {} MiB, {}", machine.cpu, machine.memory_mib, machine.kernel)
}

/// What a failed build or run printed, in at most `room` lines; empty if `room` is too small.
fn printed(report: &Report, room: usize) -> Vec<String> {
    let Some(failed) = report.failed.first() else { return Vec::new() };
    let quoted: Vec<_> = failed.lines.iter().map(|line| text::shorten(line, LONG)).collect();
    if quoted.is_empty() || quoted.len() + AROUND_QUOTE > room {
        return Vec::new();
    }
    let title = inline(&text::line(&printed::title(failed)));
    let mut lines = vec![String::new(), format!("{title}:"), String::new()];
    lines.extend(fenced(&quoted.join("\n")).lines().map(str::to_owned));
    lines
}

/// How to reproduce the answer, in at most `room` lines; empty if `room` is too small.
fn reproduce(report: &Report, room: usize) -> Vec<String> {
    let [bad, good] = match &report.culprit {
        Some(first) => [&first.commit, &first.parent],
        None => [&report.bad.commit, &report.good.commit],
    };
    let build = &report.commands.build;
    let mut commands: Vec<_> = build
        .iter()
        .chain(report.commands.measures.values())
        .map(|argv| {
            let inner = argv.iter().map(|word| from_slot(word, &report.slots, "../"));
            text::typed(&inner.collect::<Vec<_>>()).replace('\n', " ")
        })
        .collect();
    if commands.is_empty() || room <= AROUND_COMMANDS {
        return Vec::new();
    }
    let all = commands.len();
    commands.retain(|command| command.chars().count() <= COMMAND);
    commands.truncate(COMMANDS.min(room - AROUND_COMMANDS));
    let shown = commands.len();
    let engine = report.within.as_ref().map_or(bad, |within| &within.commit.commit);
    // Commands run in the source folder, with the build folder beside it.
    let mut block = vec![format!(
        "git worktree add --detach ../bad/src {engine} && mkdir ../bad/build && cd ../bad/src"
    )];
    block.extend(report.within.as_ref().map(|within| exchange(within, bad)));
    block.push(format!("# and the same with {good} in ../good"));
    block.append(&mut commands);
    if all > shown {
        block.push(format!("# and {} more: see reproduce.sh of the hunt", all - shown));
    }
    let mut lines = vec![String::new(), "To reproduce, in a clone:".to_owned(), String::new()];
    lines.extend(fenced(&block.join("\n")).lines().map(str::to_owned));
    lines
}

/// The command that sets the dependency to a commit.
fn exchange(within: &DependencyHunt, commit: &CommitId) -> String {
    let path = text::typed(std::slice::from_ref(&within.path)).replace('\n', " ");
    if within.files.is_empty() {
        format!("git submodule update --init {path} && git -C {path} checkout {commit}")
    } else {
        format!("# {path} as {commit} has it: see reproduce.sh of the hunt")
    }
}

/// Quoted text, shortened and escaped.
fn said(words: &str) -> String {
    inline(&text::shorten(&text::line(words), LONG))
}

fn item(label: &str, words: &str) -> String {
    format!("- {label}: {}", said(words))
}

/// One line for a list of items, which are already Markdown; `None` for an empty list.
fn list(label: &str, things: impl Iterator<Item = String>) -> Option<String> {
    let things: Vec<_> = things.collect();
    let more = match things.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    let named = &things[..things.len().min(NAMED)];
    (!named.is_empty()).then(|| format!("- {label}: {}{more}", named.join("; ")))
}
