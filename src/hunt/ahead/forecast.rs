//! Which commits the search may ask about next, in the order in which they are worth measuring.

use std::collections::{BTreeSet, VecDeque};

use crate::evaluation::{CommitId, Verdict};

/// An answer that git may get.
pub(crate) type Answer = (CommitId, Verdict);

/// At most `most` commits that the search may ask about next.
///
/// `next`: what git asks after these answers; `None` if the search ends there. `known`: the verdict
/// of a commit that is measured already. If a verdict is unknown, both answers are followed, and
/// nearer questions come first. So 2^m − 1 slots measure every commit that the next m questions can
/// name.
///
/// The first unmeasured commit is left to the search itself. It is in the list only if a worker
/// measures it already (`is_busy`).
pub(crate) fn forecast<E>(
    most: usize,
    mut next: impl FnMut(&[Answer]) -> Result<Option<CommitId>, E>,
    known: impl Fn(&CommitId) -> Option<Verdict>,
    is_busy: impl Fn(&CommitId) -> bool,
) -> Result<Vec<CommitId>, E> {
    let mut wanted = Vec::new();
    let mut seen = BTreeSet::new();
    let mut questions = VecDeque::from([Vec::<Answer>::new()]);
    let mut is_first = true;
    while let Some(answers) = questions.pop_front() {
        if wanted.len() >= most {
            break;
        }
        let Some(commit) = next(&answers)? else { continue };
        let after = |verdict| {
            let mut answers = answers.clone();
            answers.push((commit.clone(), verdict));
            answers
        };
        if let Some(verdict) = known(&commit) {
            questions.push_front(after(verdict));
            continue;
        }
        questions.extend([after(Verdict::Good), after(Verdict::Bad)]);
        let is_own = std::mem::take(&mut is_first) && !is_busy(&commit);
        if seen.insert(commit.clone()) && !is_own {
            wanted.push(commit);
        }
    }
    Ok(wanted)
}

#[cfg(test)]
mod tests;
