//! Words about the neighbours of a found commit that a hunt in noise measures.

use crate::evaluation::{CommitId, Neighbours};
use crate::ui::text;

/// `checking whether the step of 1a2b3c4d5e lasts: up to 4 later commits are measured`.
pub(crate) fn announced(of: &CommitId, side: Neighbours, most: usize) -> String {
    let which = match side {
        Neighbours::Later => "later",
        Neighbours::Earlier => "earlier",
    };
    let commits = text::plural(most, &format!("{which} commit"));
    let are = if most == 1 { "is" } else { "are" };
    let up_to = if most == 1 { "" } else { "up to " };
    format!("checking {}: {up_to}{commits} {are} measured", question(of, side))
}

/// `measured to see whether the step of 1a2b3c4d5e lasts`: why a commit has no verdict.
pub(super) fn reason(of: &CommitId, side: Neighbours) -> String {
    format!("measured to see {}", question(of, side))
}

fn question(of: &CommitId, side: Neighbours) -> String {
    let of = of.short();
    match side {
        Neighbours::Later => format!("whether the step of {of} lasts"),
        Neighbours::Earlier => format!("whether {of} alone is better than the commits around it"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_say_what_is_asked_of_which_commits() {
        let of: CommitId = "2".repeat(40).parse().unwrap();
        let later = announced(&of, Neighbours::Later, 4);
        let step = format!("whether the step of {} lasts", of.short());
        assert_eq!(later, format!("checking {step}: up to 4 later commits are measured"));
        let earlier = announced(&of, Neighbours::Earlier, 1);
        assert!(earlier.ends_with("around it: 1 earlier commit is measured"), "{earlier}");
        assert_eq!(reason(&of, Neighbours::Later), format!("measured to see {step}"));
    }
}
