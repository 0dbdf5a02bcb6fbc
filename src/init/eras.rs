//! Finds where along a line of revisions an answer changes, with as few questions as possible.

use std::collections::BTreeMap;

/// After this many revisions without an answer, the search in a gap ends.
const PATIENCE: usize = 6;

/// A part of the line in which all answers are the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Era {
    /// The first answered revision of the era, as an index from the beginning of the line.
    pub(super) first: usize,
    /// The last answered revision of the era.
    pub(super) last: usize,
}

/// A line of revisions with their answers. Each revision is asked at most once. A revision may
/// give no answer; then it is skipped.
pub(super) struct Line<'a, T> {
    length: usize,
    ask: Box<dyn FnMut(usize) -> Option<T> + 'a>,
    answers: BTreeMap<usize, Option<T>>,
}

impl<'a, T> Line<'a, T> {
    /// A line of `length` revisions. `ask` gives the answer of one of them.
    pub(super) fn new(length: usize, ask: impl FnMut(usize) -> Option<T> + 'a) -> Self {
        Self { length, ask: Box::new(ask), answers: BTreeMap::new() }
    }

    /// The answer of a revision; `None` if it was not asked or gave no answer.
    pub(super) fn answer(&self, at: usize) -> Option<&T> {
        self.answers.get(&at)?.as_ref()
    }

    /// Every revision that gave an answer, in order.
    pub(super) fn answered(&self) -> impl Iterator<Item = usize> + '_ {
        self.answers.iter().filter(|(_, answer)| answer.is_some()).map(|(at, _)| *at)
    }

    fn ask(&mut self, at: usize) -> bool {
        let Self { ask, answers, .. } = self;
        answers.entry(at).or_insert_with(|| ask(at)).is_some()
    }

    /// Divides the line into eras. Every `step`th revision is asked. Where two neighbours differ
    /// by `alike`, revisions between them are asked until the change is between two adjacent
    /// revisions. A change that is reverted between two samples is not seen.
    pub(super) fn eras(&mut self, step: usize, alike: impl Fn(&T, &T) -> bool) -> Vec<Era> {
        for at in (0..self.length).step_by(step.max(1)).chain(self.length.checked_sub(1)) {
            self.ask(at);
        }
        let known: Vec<usize> = self.answered().collect();
        for pair in known.windows(2) {
            self.pin(pair[0], pair[1], &alike);
        }
        let mut eras: Vec<Era> = Vec::new();
        for at in self.answered() {
            match eras.last_mut() {
                Some(era) if self.is_alike(era.last, at, &alike) => era.last = at,
                _ => eras.push(Era { first: at, last: at }),
            }
        }
        eras
    }

    fn is_alike(&self, a: usize, b: usize, alike: impl Fn(&T, &T) -> bool) -> bool {
        self.answer(a).zip(self.answer(b)).is_some_and(|(a, b)| alike(a, b))
    }

    /// Narrows the gap between two answered revisions as long as their answers differ.
    fn pin(&mut self, low: usize, high: usize, alike: &impl Fn(&T, &T) -> bool) {
        if high - low < 2 || self.is_alike(low, high, alike) {
            return;
        }
        let middle = usize::midpoint(low, high);
        // If the middle gives no answer, the revisions nearest to it are asked.
        let mut nearest: Vec<usize> = (low + 1..high).collect();
        nearest.sort_by_key(|at| at.abs_diff(middle));
        nearest.truncate(PATIENCE);
        let Some(at) = nearest.into_iter().find(|at| self.ask(*at)) else { return };
        self.pin(low, at, alike);
        self.pin(at, high, alike);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The eras of a line of letters, each as letter and `first-last`, and the number of questions.
    /// A dot is a revision without an answer.
    fn eras(line: &str, step: usize) -> (String, usize) {
        let mut asked = 0;
        let letters: Vec<char> = line.chars().collect();
        let mut line = Line::new(letters.len(), |at| {
            asked += 1;
            Some(letters[at]).filter(|letter| *letter != '.')
        });
        let eras = line.eras(step, |a, b| a == b);
        let text: Vec<String> = eras
            .iter()
            .map(|era| format!("{}{}-{}", line.answer(era.first).unwrap(), era.first, era.last))
            .collect();
        drop(line);
        (text.join(" "), asked)
    }

    #[test]
    fn a_change_is_pinned_between_two_that_follow_one_another() {
        let line = format!("{}{}", "a".repeat(1000), "b".repeat(1001));
        let (found, asked) = eras(&line, 100);
        assert_eq!(found, "a0-999 b1000-2000");
        assert!(asked <= 21 + 7, "{asked}");
        assert_eq!(eras("aabbbc", 2).0, "a0-1 b2-4 c5-5");
        assert_eq!(eras("a", 9).0, "a0-0");
        assert_eq!(eras("", 9).0, "");
    }

    #[test]
    fn a_change_that_is_reverted_makes_three_eras() {
        assert_eq!(eras("aaaabbbbaaaa", 3).0, "a0-3 b4-7 a8-11");
        // A change that is reverted between two samples is not seen.
        assert_eq!(eras("aaaaaabaaaaaa", 6).0, "a0-5 b6-6 a7-12");
        assert_eq!(eras("aaabaaaaaaaaa", 6).0, "a0-12");
    }

    #[test]
    fn revisions_that_tell_nothing_are_passed_over() {
        assert_eq!(eras("aaa...bbb", 4).0, "a0-2 b6-8");
        assert_eq!(eras("....", 1).0, "");
        let hidden = format!("a{}b", ".".repeat(50));
        let (found, asked) = eras(&hidden, 60);
        assert_eq!(found, "a0-0 b51-51");
        assert!(asked <= 2 + PATIENCE, "{asked}");
    }
}
