//! The lines that a hunt prints for the events of its journal. No IO.

use crate::evaluation::{
    CommitId, ExclusionReason, Failure, GuardForm, GuardTarget, LevelResult, OptionChange, Phase,
    Resource, SweptCell, Target, TensorChange, Trial, Value,
};
use crate::oracle::Activity;
use crate::report;
use crate::store::journal::{BuildDone, RunDone};
use crate::ui::{stored_result, text};

/// Most values shown per run; the others are counted. A dump of tensors has thousands.
const MOST_FIGURES: usize = 12;

/// `good end 1a2b3c4d5e  ppl 6.1234  (stored result of 00:57)`.
pub(super) fn endpoint(which: &str, run: &RunDone) -> String {
    let mut figures: Vec<String> = run
        .values
        .iter()
        .filter(|(metric, _)| Resource::of(metric).is_none())
        .map(|(metric, value)| format!("{metric} {}", text::value(value)))
        .collect();
    let more = figures.len().saturating_sub(MOST_FIGURES);
    if more > 0 {
        figures.truncate(MOST_FIGURES);
        figures.push(format!("and {more} more"));
    }
    if let Some(failure) = &run.failure {
        figures.push(text::line(&failure.detail));
    }
    match &run.apart {
        Some(ExclusionReason::WarmUp) => figures.push("(warm-up, not counted)".to_owned()),
        Some(ExclusionReason::Throttled(_)) => figures.push("(throttled, not counted)".to_owned()),
        Some(ExclusionReason::Reference) => {
            figures.push("(the others are compared with it)".to_owned());
        }
        Some(
            ExclusionReason::PortTaken
            | ExclusionReason::Ruler
            | ExclusionReason::Part
            | ExclusionReason::Inquiry
            | ExclusionReason::MachineChanged
            | ExclusionReason::OtherSlot
            | ExclusionReason::OtherNode,
        )
        | None => {}
    }
    let taken = taken_from(run.stored_at.as_deref(), run.same_as.as_ref());
    format!("{which:<8} {}  {}{taken}", run.commit.short(), figures.join("  "))
}

/// `measured 1a2b3c4d5e  speed 92.33  kv: rename`: a neighbour of a found commit. `figure`: the
/// metric and its latest value, if a run gave one.
pub(super) fn neighbour(
    commit: &CommitId,
    figure: Option<&(String, Value)>,
    subject: &str,
) -> String {
    let figure = figure.map_or_else(
        || "no value".to_owned(),
        |(metric, value)| format!("{metric} {}", text::value(value)),
    );
    format!("{:<8} {}  {figure}  {}", "measured", commit.short(), text::line(subject))
}

/// `testing  whether the bad end is good without 1a2b3c4d5e`.
pub(super) fn end_without(commits: &[CommitId]) -> String {
    let names = commits.iter().map(|one| one.short().to_owned()).collect();
    format!("{:<8} whether the bad end is good without {}", "testing", text::joined(names))
}

/// `trial    parent with hunk 2 of 3 in src/packed.c: shows the step (ppl 7.52)`.
pub(super) fn trial(trial: &Trial) -> String {
    let (tested, shown) = (report::trial_tested(trial), report::trial_shown(trial));
    format!("{:<8} {tested}: {shown} ({})", "trial", report::trial_values(trial))
}

/// `level    kernel: passes (selftest.failed 0 → 0)`.
pub(super) fn level(level: &LevelResult) -> String {
    format!("{:<8} {}", "level", report::level_in_words(level))
}

/// `cell     width[d_in=171]: shows it (width.failed 1, parent 0)`.
pub(super) fn cell(cell: &SweptCell) -> String {
    format!("{:<8} {}", "cell", report::cell_in_words(cell))
}

/// `tensors  dump: first different: blk1.ffn_down (max |Δ| 7.93, …)`.
pub(super) fn tensors(change: &TensorChange) -> String {
    let (measure, found) = (text::line(&change.measure), report::tensors_in_words(change));
    format!("{:<8} {measure}: first different: {found}", "tensors")
}

/// `changed  guard.ppl.max_increase = 0.01  (in oracle.toml: 0.1)`.
pub(super) fn change(change: &OptionChange) -> String {
    let former = change.former.as_ref();
    let former = former.map(|former| format!("in oracle.toml: {former}"));
    let overrides = Some(change.in_overrides()).filter(|words| !words.is_empty());
    let about: Vec<String> = former.into_iter().chain(overrides).collect();
    let about = if about.is_empty() { String::new() } else { format!("  ({})", about.join("; ")) };
    text::line(&format!("changed  {change}{about}"))
}

/// `  (stored result of 00:57)`, or `  (same program as 1a2b3c4d5e)` for the result of a run of
/// this hunt at that commit; empty for a new result.
pub(super) fn taken_from(at: Option<&str>, same_as: Option<&CommitId>) -> String {
    let same = same_as.map(report::same_program);
    let words = same.or_else(|| at.map(stored_result));
    words.map_or_else(String::new, |words| format!("  {words}"))
}

/// `built    1a2b3c4d5e  in 12 s (search)`.
pub(super) fn build(build: &BuildDone) -> String {
    let what = match &build.prepare {
        Some(step) => format!("{:<8} {}  {step}", "prepared", build.commit.short()),
        None => format!("{:<8} {}", "built", build.commit.short()),
    };
    format!("{what}  {}", took(build.wall_s, build.reused, build.phase, build.failure.as_ref()))
}

/// `ran      1a2b3c4d5e  ppl  in 3.2 s (search)`.
pub(super) fn run(run: &RunDone) -> String {
    let took = took(run.wall_s, run.reused, run.phase, run.failure.as_ref());
    format!("{:<8} {}  {}  {took}", "ran", run.commit.short(), run.measure)
}

/// `in 3.2 s (search, stored)`, with the failure if there is one.
fn took(wall_s: f64, is_stored: bool, phase: Phase, failure: Option<&Failure>) -> String {
    let stored = if is_stored { ", stored" } else { "" };
    let failed = failure.map_or_else(String::new, |one| format!(": {}", text::line(&one.detail)));
    format!("in {} ({phase}{stored}){failed}", text::seconds(wall_s))
}

/// What the hunt waits for.
pub(super) fn waits(doing: &Activity) -> &str {
    doing.waits.as_deref().unwrap_or("waiting")
}

/// The level at the good end and at the bad end, or the failure that is hunted.
pub(super) fn target(target: &Target) -> String {
    match target {
        Target::Guard(GuardTarget { guard, failure: Some(failure), .. }) => format!(
            "hunting a failure that comes and goes, not a change of {}: the bad endpoint {} in some \
             runs ({}). Each run counts as one vote; a commit with another failure is untestable",
            guard.metric,
            failure.kind,
            text::line(&failure.detail)
        ),
        Target::Guard(guard) => format!(
            "hunting  {}  {}  ({})",
            guard.guard.metric,
            text::values(&guard.baseline, &guard.bad),
            match guard.guard.form {
                GuardForm::Unchanged => "must not change".to_owned(),
                _ => format!("tolerance {}", text::figure(guard.limit)),
            }
        ),
        Target::Failure { failure, .. } => format!(
            "hunting a failure, not a change of a metric: the bad endpoint {} ({}). A commit that \
             fails in the same way is bad; a commit with another failure is untestable",
            failure.kind,
            text::line(&failure.detail)
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_neighbour_is_shown_with_its_value() {
        let commit: CommitId = "1".repeat(40).parse().unwrap();
        let figure = ("speed".to_owned(), Value::Number(92.5));
        let shown = neighbour(&commit, Some(&figure), "kv: rename");
        assert_eq!(shown, "measured 1111111111  speed 92.5  kv: rename");
        assert_eq!(neighbour(&commit, None, "x"), "measured 1111111111  no value  x");
    }

    #[test]
    fn a_test_of_the_bad_end_says_which_commits_it_lacks() {
        let commits: [CommitId; 2] = ["1", "2"].map(|digit| digit.repeat(40).parse().unwrap());
        let one = "testing  whether the bad end is good without 1111111111";
        assert_eq!(end_without(&commits[..1]), one);
        assert_eq!(end_without(&commits), format!("{one} and 2222222222"));
    }

    #[test]
    fn a_result_of_this_hunt_is_not_called_a_stored_one() {
        let commit: CommitId = "1".repeat(40).parse().unwrap();
        assert_eq!(taken_from(None, None), "");
        assert_eq!(taken_from(None, Some(&commit)), "  (same program as 1111111111)");
        assert!(taken_from(Some("2026-11-22T00:57:10Z"), None).starts_with("  (stored result of "));
    }
}
