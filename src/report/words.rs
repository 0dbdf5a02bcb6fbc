//! Sentences that several formats of the report share. Quoted text is cleaned for one line but not
//! yet escaped.

use crate::evaluation::{
    CommitId, Dependency, Ended, Failure, FailureKind, Outcome, Site, signal_name,
};
use crate::store::CompilerCache;
use crate::store::journal::{Machine, SearchMethod};
use crate::ui::{kept_build_dated, stored_result_dated, text};

use super::ahead::Ahead;
use super::candidates;
use super::limits::{Clock, limits_in_words};
use super::links::compressed_in_words;
use super::merge::is_by_first_parent;
use super::model::{BuildLine, FirstBad, Report, Totals};
use super::sought::Sought;
use super::steps::step;
use super::usage::Usage;

/// Maximum files named in one line.
const MOST_NAMED: usize = 4;

/// The command line of the script beside a report.
pub(super) const REPRODUCE: &str = "sh reproduce.sh [CLONE]";

/// `first bad commit` or `first fixed commit`.
pub(super) fn sought(report: &Report) -> &'static str {
    Sought::of(report).commit()
}

/// The same as [`sought`], capitalised for the beginning of a line. If the hunt looked for a
/// failure and the main first bad commit makes it, the words say so.
pub(super) fn title(report: &Report) -> String {
    let sought = Sought::of(report);
    let (title, who) = (sought.title(), sought.failing_side());
    let is_other = report.culprit.as_ref().is_some_and(|first| first.failure.is_none());
    match report.target_failure.as_ref().filter(|_| !is_other) {
        Some(target) => format!("{title} ({who} {}; no metric compared)", target.failure.kind),
        None => title.to_owned(),
    }
}

/// Heading of a first bad commit other than the main one.
pub(super) fn also(report: &Report) -> String {
    match report.culprit {
        Some(_) => format!("Another {}", sought(report)),
        None => "Confirmed".to_owned(),
    }
}

/// The first line of an answer.
pub(super) fn headline(report: &Report) -> String {
    match (&report.culprit, report.outcome) {
        (Some(first), Outcome::Culprit) => {
            let (sought, subject) = (title(report), text::line(&first.subject));
            format!("{sought}: {} {subject}", first.commit.short())
        }
        (_, Outcome::Candidates) if report.limit.is_some() && !report.culprits.is_empty() => {
            format!("A {} is confirmed, and the search was cut short", sought(report))
        }
        (_, Outcome::Candidates) if !report.unexplained.is_empty() => {
            let sought = sought(report);
            match report.culprits.len() {
                0 | 1 => format!("A {sought} is confirmed, but does not explain everything"),
                many => {
                    format!("{many} {sought}s are confirmed, but do not explain everything")
                }
            }
        }
        (_, Outcome::Candidates) => match report.candidates.len() {
            0 => format!("The {} could not be narrowed down", sought(report)),
            1 => format!("The {} may be this one, unconfirmed", sought(report)),
            many => candidates::headline(report).unwrap_or_else(|| {
                // Before a limit, no search looks whether a later commit made the change again.
                let is = if report.limit.is_some() { "may be" } else { "is" };
                format!("The {} {is} one of {many}", sought(report))
            }),
        },
        (_, Outcome::Interrupted) if report.is_running => "Still running, no answer yet".to_owned(),
        (_, outcome) => outcome_words(outcome).to_owned(),
    }
}

fn outcome_words(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Culprit => "First bad commit",
        Outcome::Candidates => "Candidates",
        Outcome::Gradual => "No single commit: small steps add up",
        Outcome::NoRegression => "No regression between the endpoints",
        Outcome::NoiseTooLarge => "The noise is too large to search",
        Outcome::EndpointUnmeasurable => "No search is possible between the endpoints",
        Outcome::Interrupted => "Interrupted, no answer yet",
    }
}

/// Names the earlier hunt whose confirmation this hunt reuses.
pub(super) fn confirmed_before(first: &FirstBad) -> Option<String> {
    let (date, hunt) = first.confirmed_before.as_ref()?;
    let day = date.parse::<jiff::Timestamp>().map(|at| at.strftime("%Y-%m-%d").to_string());
    let date = day.as_ref().unwrap_or(date);
    Some(format!("Confirmed on {date} by hunt {hunt}; not measured afresh in this one."))
}

/// Where the change of a first bad commit was undone, if a later commit landed it again.
pub(super) fn landed_again(first: &FirstBad) -> Option<String> {
    let by = first.undone_by.as_ref()?;
    Some(format!("by {} at the latest, and applied again later", by.short()))
}

/// Which improvement hid the step of a first bad commit for a while.
pub(super) fn hidden(first: &FirstBad) -> Option<String> {
    let hidden = first.hidden.as_ref()?;
    Some(format!(
        "by {0} until {1} took {0} back; neither end has {0}, so {1} is not named",
        hidden.by.short(),
        hidden.until.short()
    ))
}

/// `+3 -1`, or `lines not counted` for a binary file.
pub(super) fn changed_lines(added: Option<usize>, removed: Option<usize>) -> String {
    match (added, removed) {
        (None, None) => "lines not counted".to_owned(),
        _ => format!("+{} -{}", added.unwrap_or(0), removed.unwrap_or(0)),
    }
}

/// The target of the hunt, if it is a failure. If the main first bad commit does not make it, the
/// sentence names the one that does.
pub(super) fn hunted_failure(report: &Report) -> Option<String> {
    let target = report.target_failure.as_ref()?;
    let who = target.measure.as_deref().unwrap_or("the build");
    let what = failure_text(&target.failure);
    if report.culprit.as_ref().is_none_or(|first| first.failure.is_some()) {
        return Some(format!(
            "This hunt looked for a failure, not a change of the metric: {who} {what}"
        ));
    }
    let verb = Sought::of(report).makes_failure();
    let maker = report.culprits.iter().find(|one| one.failure.is_some());
    let maker = maker.map(|one| format!("; {} {verb} this failure", one.commit.short()));
    let maker = maker.unwrap_or_default();
    Some(format!("This hunt looked for a failure too: {who} {what}{maker}"))
}

/// How the largest step of a commit besides the main one moved its metric, and how the commit
/// fails, if it does.
pub(super) fn effect_of_other(report: &Report, other: &FirstBad) -> String {
    let step = other.effect.as_ref().map(|effect| step(report, effect));
    let failure = other.failure.as_ref().map(|failure| {
        let what = failure_text(failure);
        text::line(&format!("{}: {what}", fails(report, other).to_lowercase()))
    });
    step.into_iter().chain(failure).collect::<Vec<_>>().join("; ")
}

/// The dependencies that the commit moves:
/// `it only moves the submodule ggml: 1111111111..2222222222 (12 commits)`.
pub(super) fn dependencies(first: &FirstBad) -> Vec<String> {
    let is_pin =
        |path: &str| first.dependencies.iter().any(|one| one.is_submodule && one.path == path);
    let moves_only = first.files.iter().all(|file| is_pin(&file.path));
    let of = |one: &Dependency| {
        let what = match (one.is_submodule, moves_only) {
            (true, true) => "it only moves the submodule",
            (true, false) => "it moves the submodule",
            (false, _) => "it takes another project's sources over, as noted in",
        };
        let count = one.commits.map(|n| format!(" ({})", text::plural(n, "commit")));
        let (from, to) = (one.from.short(), one.to.short());
        format!("{what} {}: {from}..{to}{}", one.path, count.unwrap_or_default())
    };
    first.dependencies.iter().map(of).collect()
}

/// The loaded files that differ between the commit's runs and its parent's.
pub(super) fn ran(first: &FirstBad) -> Option<String> {
    let ran = first.ran.as_ref()?;
    let named: Vec<String> = ran.unlike.iter().take(MOST_NAMED).map(ToString::to_string).collect();
    let more = ran.unlike.len() - named.len();
    let more = if more > 0 { format!(", and {more} more") } else { String::new() };
    let of = text::plural(ran.unlike.len() + ran.alike, "file");
    Some(match named.as_slice() {
        [] => format!("no difference was seen in {of} that were loaded"),
        named => format!(
            "of {of} that were loaded, these differ from its parent's: {}{more}",
            named.join(", ")
        ),
    })
}

/// Label for a hunt inside a dependency.
pub(super) const AROUND: &str = "These are";

/// Label of the pull request that brought a commit in.
pub(super) fn request_label(report: &Report) -> &'static str {
    let repository = report.forge.as_ref().and_then(|forge| forge.repository.as_ref());
    match repository.map(|repository| repository.site) {
        Some(Site::GitLab) => "Merge request",
        Some(Site::GitHub | Site::Gitea) | None => "Pull request",
    }
}

/// Label instead of `Own step`, if the target is a failure.
pub(super) fn fails(report: &Report, first: &FirstBad) -> &'static str {
    let sought = Sought::of(report);
    if is_by_first_parent(report, first) {
        sought.failure_label_by_first_parent()
    } else {
        sought.failure_label()
    }
}

/// Which of several parents it is: ` (the worst of 2)`; empty for a single parent.
pub(super) fn which_parent(report: &Report, first: &FirstBad) -> String {
    match first.parents.len() {
        0 | 1 => String::new(),
        many if is_by_first_parent(report, first) => format!(" (the first of {many})"),
        many => format!(" (the {} of {many})", Sought::of(report).nearest_parent()),
    }
}

/// Whether a first bad commit is the main one.
pub(super) fn is_main(report: &Report, first: &FirstBad) -> bool {
    report.culprit.as_ref().is_some_and(|main| main.commit == first.commit)
}

/// The first bad commits besides the main one.
pub(super) fn other_culprits(report: &Report) -> impl Iterator<Item = &FirstBad> {
    let main = report.culprit.as_ref().map(|first| &first.commit);
    report.culprits.iter().filter(move |other| Some(&other.commit) != main)
}

/// Title of the list of candidates.
pub(super) fn candidates_title(report: &Report) -> &'static str {
    match report.outcome {
        Outcome::Gradual => "Crossing",
        _ if report.open_steps.is_empty() => "Candidates",
        _ => "Other candidates",
    }
}

/// A warning not to blame a listed commit, for a gradual change.
pub(super) fn candidates_caution(report: &Report) -> Option<&'static str> {
    (report.outcome == Outcome::Gradual)
        .then_some("Here the threshold is crossed; no single commit is to blame.")
}

/// The purpose of the script. `place`: where it is, such as `beside this report`.
pub(super) fn reproduce(report: &Report, place: &str) -> String {
    let what = match report.culprit {
        Some(_) => format!("the {} and its parent", sought(report)),
        None => "the two endpoints".to_owned(),
    };
    format!(
        "The script {place} builds and measures {what} in worktrees of its own, and shows their \
         figures one above the other:"
    )
}

/// Whether the endpoints' values repeat, and what that means for the search.
pub(super) fn steadiness(report: &Report) -> Option<&'static str> {
    Some(match report.steadiness? {
        SearchMethod::BitIdentical => {
            "The values repeat bit for bit, so one run a commit is enough."
        }
        SearchMethod::Sequential => {
            "The values vary from run to run, but the endpoints lie so far apart that a run or two \
             settle a commit."
        }
        SearchMethod::Posterior => {
            "The values vary from run to run, so the search weighs all runs of all commits \
             together: each was measured as often as it helped."
        }
    })
}

/// `4 cores`; if each slot has a part of them, `4 cores, 1 for each run`.
pub(super) fn cores(machine: &Machine) -> String {
    match machine.all_cores {
        Some(all) => format!("{}, {} for each run", text::plural(all, "core"), machine.cores),
        None => text::plural(machine.cores, "core"),
    }
}

/// The machine and the programs, each with its label.
pub(super) fn machine(report: &Report) -> Vec<(&'static str, String)> {
    let machine = &report.machine;
    let gpus = if machine.gpus.is_empty() { "none".to_owned() } else { machine.gpus.join(", ") };
    let mut facts = vec![
        ("Processor", format!("{} ({})", machine.cpu, cores(machine))),
        ("Memory", format!("{} MiB", machine.memory_mib)),
        ("GPU", gpus),
        ("Kernel", machine.kernel.clone()),
        ("Git", report.git.clone()),
        ("Made by", format!("{}, hunt {}", report.tool, report.hunt)),
    ];
    facts.extend(super::hosts::in_words(&report.hosts).map(|it| ("Runs on", it)));
    facts.extend(super::hosts::builds_in_words(&report.build_nodes).map(|it| ("Builds on", it)));
    facts.extend(limits_in_words(&report.options.limits, Clock::Utc).map(|it| ("Limits", it)));
    facts.extend(compressed_in_words(report).map(|it| ("Logs", it)));
    facts.extend(report.timed.iter().map(|line| ("Timing", super::timed::words(line))));
    facts
}

/// `The jobs used 1.2 node-hours and 4.8 GPU-hours`; `None` if nothing is known.
pub(super) fn used(report: &Report) -> Option<String> {
    let Totals { node_s, gpu_s, usage_is_least: is_least, .. } = report.totals;
    let what = if node_s.is_some() { "jobs" } else { "runs" };
    let words = Usage { node_s, gpu_s, is_least }.in_words()?;
    Some(format!("The {what} used {words}"))
}

/// What the hunt cost.
pub(super) fn totals(report: &Report) -> String {
    let totals = &report.totals;
    let plan = report.plan.as_ref().map_or_else(String::new, |said| {
        format!(" Estimated before the search: {}.", super::plan::plan(said))
    });
    let unread = report
        .unread
        .as_ref()
        .map_or_else(String::new, |unread| format!(" {}.", super::unread::with_paths(unread)));
    let ahead = report.ahead.as_ref().and_then(Ahead::in_words);
    let ahead = ahead.map_or_else(String::new, |words| format!(" {words}"));
    let short =
        super::short::in_words(report).map_or_else(String::new, |words| format!(" {words}"));
    let used = used(report).map_or_else(String::new, |words| format!(" {words}."));
    format!(
        "{} in {} and {} in {}, within {}. Results that were in the store \
         already are not counted.{used}{ahead}{short}{unread}{plan}",
        text::plural(totals.runs, "run"),
        text::seconds(totals.run_s),
        text::plural(totals.builds, "build"),
        text::seconds(totals.build_s),
        text::seconds(totals.wall_s)
    )
}

/// `12 of 14 from ccache`: the compiles of a build that a compiler cache answered.
pub(super) fn compiler_cache(cache: CompilerCache) -> String {
    let CompilerCache { program, hits, misses } = cache;
    format!("{hits} of {} from {program}", hits + misses)
}

/// `(same program as 1a2b3c4d5e)` for a result that a run of this hunt at that commit has; for any
/// other run see [`stored`].
pub(super) fn taken_from(
    is_reused: bool,
    at: Option<&str>,
    same_as: Option<&CommitId>,
) -> Option<String> {
    same_as.map_or_else(|| stored(is_reused, at), |commit| Some(same_program(commit)))
}

/// `(same program as 1a2b3c4d5e)`.
pub(crate) fn same_program(commit: &CommitId) -> String {
    format!("(same program as {})", commit.short())
}

/// `(stored result of 2026-11-22 00:57 UTC)` for a cache hit; without the time in old journals.
fn stored(is_reused: bool, at: Option<&str>) -> Option<String> {
    let dated = at.map_or_else(|| "(stored result)".to_owned(), stored_result_dated);
    is_reused.then_some(dated)
}

/// The same for a build: `(build of 2026-11-22 00:57 UTC)` for one that was kept. A build that
/// failed leaves nothing but its result.
pub(super) fn stored_build(build: &BuildLine) -> Option<String> {
    let at = build.stored_at.as_deref();
    if build.failure.is_some() {
        return stored(build.reused, at);
    }
    let dated = at.map_or_else(|| "(kept build)".to_owned(), kept_build_dated);
    build.reused.then_some(dated)
}

/// A failure in one sentence: `crashes with SIGABRT: no arena is left`.
pub(super) fn failure_text(failure: &Failure) -> String {
    let what = failure_kind(failure);
    // The kind often already contains the beginning of the detail.
    let how = format!("ended with {}", failure.signature());
    let mut detail = failure.detail.strip_prefix(&how).unwrap_or(&failure.detail);
    if failure.kind == FailureKind::Timeout {
        detail = detail.strip_prefix("timed out").unwrap_or(detail);
    }
    let detail = detail.trim_start_matches(": ");
    // A failed build names its command before the exit code, which the kind has too.
    let code = format!("`: {}: ", failure.signature());
    let detail = match failure.kind {
        FailureKind::Build => detail.replacen(&code, "`: ", 1),
        _ => detail.to_owned(),
    };
    match detail.as_str() {
        "" => what,
        more if more.starts_with("; ") => format!("{what}{more}"),
        more => format!("{what}: {more}"),
    }
}

/// A failure in a few words: its kind and its distinguishing details.
pub(super) fn failure_kind(failure: &Failure) -> String {
    let name = match failure.ended() {
        Some(Ended::Signaled(signal)) => signal_name(*signal),
        _ => None,
    };
    let signature = failure.signature();
    match name {
        Some(name) => format!("{} with {name}", failure.kind),
        None if signature.is_empty() => failure.kind.to_string(),
        None => format!("{} ({signature})", failure.kind),
    }
}
