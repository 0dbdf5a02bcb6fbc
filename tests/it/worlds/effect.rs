//! What commits change. Commits switch each effect on and off, and merges treat each effect as git
//! treats a file of its own. `layout.rs` says in which files the effects are.

use std::collections::BTreeMap;

use super::faults::Failure;
use super::shape::Shape;

/// Thousandths of a perplexity, so that sums are exact.
pub(crate) type Milli = i64;

/// The content of an effect's files at a commit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Content {
    /// What the effect itself adds; 1 for an active failure.
    pub amount: Milli,
    /// What another file subtracts: the effect was mended there, not reverted.
    pub countered: Milli,
}

impl Content {
    pub(crate) fn of(amount: Milli) -> Self {
        Self { amount, countered: 0 }
    }

    pub(crate) fn net(self) -> Milli {
        self.amount - self.countered
    }
}

/// What an effect does where it is on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum What {
    Level,
    Failure(Failure),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Effect {
    pub what: What,
    /// New content at each commit that changes the effect.
    events: BTreeMap<usize, Content>,
    /// Content at each commit.
    contents: Vec<Content>,
}

impl Effect {
    pub(crate) fn new(shape: &Shape, what: What, events: &[(usize, Content)]) -> Self {
        let events = events.iter().copied().collect();
        let mut effect = Self { what, events, contents: Vec::new() };
        for one in 0..shape.parents.len() {
            let content = match effect.events.get(&one) {
                Some(content) => *content,
                None => effect.inherited(shape, one),
            };
            effect.contents.push(content);
        }
        effect
    }

    /// An effect that only its own file changes.
    pub(crate) fn amounts(shape: &Shape, what: What, events: &[(usize, Milli)]) -> Self {
        let to = |(at, amount): &(usize, Milli)| (*at, Content::of(*amount));
        Self::new(shape, what, &events.iter().map(to).collect::<Vec<_>>())
    }

    pub(crate) fn level(shape: &Shape, events: &[(usize, Milli)]) -> Self {
        Self::amounts(shape, What::Level, events)
    }

    pub(crate) fn at(&self, one: usize) -> Content {
        self.contents[one]
    }

    pub(crate) fn net(&self, one: usize) -> Milli {
        self.contents[one].net()
    }

    /// Content by a three-way merge: the side that changed since the merge base wins. If both
    /// changed, the first parent wins.
    fn inherited(&self, shape: &Shape, one: usize) -> Content {
        let parents = &shape.parents[one];
        let Some((first, others)) = parents.split_first() else { return Content::default() };
        others.iter().fold(self.at(*first), |ours, other| {
            let bases = shape.merge_bases(*first, *other);
            let theirs = self.at(*other);
            let is_new = |content: Content| bases.iter().all(|base| self.at(*base) != content);
            if !is_new(ours) && is_new(theirs) { theirs } else { ours }
        })
    }
}
