//! The commits that a search left out because they change nothing that was read, as text.

use crate::store::journal::Unread;
use crate::ui::text;

/// The most folders and files that are named.
const MOST_PATHS: usize = 10;

/// `33 of 68 commits change nothing that the builds of both ends read, and are left out of the
/// search`, or why no commit is left out. A confirmation may still build one of them, as a parent.
pub(crate) fn in_words(unread: &Unread) -> String {
    if let Some(why) = &unread.why_not {
        return format!("no commit is left out: {why}");
    }
    let [change, are] = if unread.left_out == 1 { ["changes", "is"] } else { ["change", "are"] };
    format!(
        "{} of {} {change} nothing that the builds of both ends read, and {are} left out of the \
         search",
        unread.left_out,
        text::plural(unread.commits, "commit"),
    )
}

/// The same as a sentence, with what these commits change: `…, and are left out of the search: they
/// change only README and docs`.
pub(super) fn with_paths(unread: &Unread) -> String {
    if let Some(why) = &unread.why_not {
        return format!("No commit was left out as unread: {why}");
    }
    let said = in_words(unread);
    let named = unread.paths.iter().take(MOST_PATHS).map(|path| text::line(path));
    let more = unread.paths.len().saturating_sub(MOST_PATHS);
    let more = (more > 0).then(|| format!("{more} more"));
    let all: Vec<String> = named.chain(more).collect();
    if all.is_empty() {
        return said;
    }
    let [they, change] = if unread.left_out == 1 { ["it", "changes"] } else { ["they", "change"] };
    format!("{said}: {they} {change} only {}", text::joined(all))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_paths_that_left_out_commits_change_are_named() {
        let with = |left_out, paths: &[&str]| {
            let paths = paths.iter().map(|path| (*path).to_owned()).collect();
            with_paths(&Unread { left_out, commits: 68, paths, why_not: None })
        };
        assert!(
            with(33, &["README", "docs"]).ends_with("search: they change only README and docs")
        );
        assert!(
            with(1, &["README"]).contains(" is left out of the search: it changes only README")
        );
        assert!(with(3, &[]).ends_with("are left out of the search"));
        let many: Vec<String> = (0..12).map(|number| format!("d{number}")).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert!(with(3, &many).ends_with(" d0, d1, d2, d3, d4, d5, d6, d7, d8, d9 and 2 more"));
    }

    #[test]
    fn it_says_how_many_commits_are_left_out_or_why_none_is() {
        let unread = Unread { left_out: 33, commits: 68, ..Unread::default() };
        let said = "33 of 68 commits change nothing that the builds of both ends read, and are \
                    left out of the search";
        assert_eq!(in_words(&unread), said);
        let one = Unread { left_out: 1, ..unread };
        assert!(in_words(&one).starts_with("1 of 68 commits changes nothing"));
        let none = Unread { left_out: 0, why_not: Some("no record".to_owned()), ..one };
        assert_eq!(in_words(&none), "no commit is left out: no record");
        assert_eq!(with_paths(&none), "No commit was left out as unread: no record");
    }
}
