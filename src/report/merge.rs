//! What a merge changes beyond its parents, in words.

use super::model::{FirstBad, Report};
use super::sought::Sought;

/// Maximum number of files that the sentence names.
const MOST_NAMED: usize = 4;

/// What a merge changes beyond its parents:
/// `none of its 2 parents shows the regression; it differs from all of them in src/a.c`.
pub(super) fn in_words(report: &Report, first: &FirstBad) -> Option<String> {
    let own = first.own_files.as_ref()?;
    let lacked = Sought::of(report).lacked_by_parents();
    let parents = format!("none of its {} parents {lacked}", first.parents.len());
    let named: Vec<&str> = own.iter().take(MOST_NAMED).map(String::as_str).collect();
    let more = own.len() - named.len();
    let more = if more > 0 { format!(", and {more} more") } else { String::new() };
    Some(match named.as_slice() {
        [] => format!(
            "{parents}, and each of its lines is in one of them: what the branches do together \
             makes the step"
        ),
        named => format!(
            "{parents}; it differs from all of them in {}{more}: `git show {}` shows these lines",
            named.join(", "),
            first.commit.short()
        ),
    })
}

#[cfg(test)]
mod tests;
