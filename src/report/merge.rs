//! What a merge changes beyond its parents, in words.

use super::model::{FirstBad, Report};
use super::sought::Sought;

/// Maximum number of files that the sentence names.
const MOST_NAMED: usize = 4;

/// What a merge changes beyond its parents, and what was not measured of it:
/// `none of its 2 parents shows the regression; it differs from all of them in src/a.c`.
pub(super) fn in_words(report: &Report, first: &FirstBad) -> Option<String> {
    if is_by_first_parent(report, first) {
        return Some(unsearched(report, first));
    }
    let own = first.own_files.as_ref()?;
    let lacked = Sought::of(report).lacked_by_parents();
    let parents = format!("none of its {} parents {lacked}", first.parents.len());
    Some(match differs_in(own, first) {
        None => format!(
            "{parents}, and each of its lines is in one of them: what the branches do together \
             makes the step"
        ),
        Some(differs) => format!("{parents}; it differs from all of them in {differs}"),
    })
}

/// Whether only the first one of several parents was measured: the confirmation follows
/// `--first-parent` too.
pub(super) fn is_by_first_parent(report: &Report, first: &FirstBad) -> bool {
    report.options.first_parent && first.parents.len() > 1
}

/// With `--first-parent`: the branch may make the step, the merge itself, or both branches together.
fn unsearched(report: &Report, first: &FirstBad) -> String {
    let (branches, them) = match first.parents.len() {
        2 => ("the merged branch was", "it"),
        _ => ("the merged branches were", "them"),
    };
    let (parent, merge) = (first.parent.short(), first.commit.short());
    let ends = if Sought::of(report).is_regression() {
        format!("--good {parent} --bad {merge}")
    } else {
        format!("--find-fix --bad {parent} --good {merge}")
    };
    let own = first.own_files.as_ref().and_then(|own| differs_in(own, first));
    let own = own.map(|differs| format!("; the merge differs from all parents in {differs}"));
    format!(
        "with --first-parent {branches} not searched; `bisect-ppl start {ends}` searches {them}{}",
        own.unwrap_or_default()
    )
}

/// The files of the merge's own lines, and the command that shows them; `None` without such files.
fn differs_in(own: &[String], first: &FirstBad) -> Option<String> {
    let named: Vec<&str> = own.iter().take(MOST_NAMED).map(String::as_str).collect();
    let more = own.len() - named.len();
    let more = if more > 0 { format!(", and {more} more") } else { String::new() };
    (!named.is_empty()).then(|| {
        let (files, commit) = (named.join(", "), first.commit.short());
        format!("{files}{more}: `git show {commit}` shows these lines")
    })
}

#[cfg(test)]
mod tests;
