//! What the lines say before the neighbours of a found commit are measured.

use crate::evaluation::{CommitId, Neighbours};
use crate::report;
use crate::store::journal::Event;

/// The last announcement, until a result follows it: the commit, the side, and how many neighbours
/// are measured at most.
#[derive(Default)]
pub(super) struct Announced(Option<(CommitId, Neighbours, usize)>);

impl Announced {
    /// The line of an announcement. `None` if the line before it says the same, or promises more
    /// commits: two checks of a hunt may ask the same question, and the first may measure nothing.
    pub(super) fn line(&mut self, of: &CommitId, side: Neighbours, most: usize) -> Option<String> {
        let is_said = |(commit, on, up_to): &(CommitId, Neighbours, usize)| {
            commit == of && *on == side && most <= *up_to
        };
        if self.0.as_ref().is_some_and(is_said) {
            return None;
        }
        self.0 = Some((of.clone(), side, most));
        Some(report::neighbours(of, side, most))
    }

    /// Forgets the announcement if this event shows a result, or begins something else.
    pub(super) fn see(&mut self, event: &Event) {
        if matches!(event, Event::Judged(_) | Event::Neighbour { .. } | Event::Search { .. }) {
            self.0 = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_question_is_announced_again_only_after_a_result_or_with_more_commits() {
        let of: CommitId = "2".repeat(40).parse().unwrap();
        let mut announced = Announced::default();
        assert!(announced.line(&of, Neighbours::Later, 4).is_some());
        assert_eq!(announced.line(&of, Neighbours::Later, 4), None);
        assert_eq!(announced.line(&of, Neighbours::Later, 2), None);
        announced.see(&Event::Note { text: String::new() });
        assert_eq!(announced.line(&of, Neighbours::Later, 4), None);
        assert!(announced.line(&of, Neighbours::Later, 6).is_some());
        assert!(announced.line(&of, Neighbours::Earlier, 1).is_some());
        let subject = String::new();
        let (commit, side) = (of.clone(), Neighbours::Earlier);
        announced.see(&Event::Neighbour { commit, subject, of: of.clone(), side });
        assert!(announced.line(&of, Neighbours::Earlier, 1).is_some());
    }
}
