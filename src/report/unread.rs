//! The commits that a search left out because they change nothing that was read, as text.

use crate::store::journal::Unread;
use crate::ui::text;

/// `33 of 68 commits change nothing that the builds of both ends read, and are not built`, or why
/// no commit is left out.
pub(crate) fn in_words(unread: &Unread) -> String {
    if let Some(why) = &unread.why_not {
        return format!("No commit was left out as unread: {why}");
    }
    let [change, are] = if unread.left_out == 1 { ["changes", "is"] } else { ["change", "are"] };
    format!(
        "{} of {} {change} nothing that the builds of both ends read, and {are} not built",
        unread.left_out,
        text::plural(unread.commits, "commit"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_says_how_many_commits_are_left_out_or_why_none_is() {
        let unread = Unread { left_out: 33, commits: 68, ..Unread::default() };
        let said = "33 of 68 commits change nothing that the builds of both ends read, and are \
                    not built";
        assert_eq!(in_words(&unread), said);
        let one = Unread { left_out: 1, ..unread };
        assert!(in_words(&one).starts_with("1 of 68 commits changes nothing"));
        let none = Unread { left_out: 0, why_not: Some("no record".to_owned()), ..one };
        assert_eq!(in_words(&none), "No commit was left out as unread: no record");
    }
}
