//! Failures in a history: some hide the levels for a while, one may be the target.

use super::dice::Dice;
use super::effect::{Content, Effect, What};
use super::faults::{Failure, FailureKind};
use super::levels;
use super::shape::Shape;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failing {
    Never,
    /// Parts of the history fail, and are mended at the bad end or before.
    Masks,
    /// The bad end fails.
    AtTheEnd,
    /// The bad end fails. The same kind of failure with another message was mended before.
    MendedBefore,
    /// The bad end fails. The very same failure was mended before.
    MendedAlike,
    /// The bad end fails. Failures of any kind were mended before.
    AmongOthers,
    /// The good end has mended a failure that side branches still have.
    ForkedBeforeFix,
    /// The same, and a merge takes the failure from a side branch.
    LostFix,
}

/// The failures of a history, as effects; none if the draw does not fit.
pub(crate) fn effects(failing: Failing, shape: &Shape, dice: &mut Dice) -> Option<Vec<Effect>> {
    let way = shape.way(dice);
    let last = Failure::at_random(dice);
    let mut all = Vec::new();
    let before = match failing {
        Failing::Never => return Some(all),
        Failing::ForkedBeforeFix => {
            let what = What::Failure(last);
            let (events, _) = levels::mended_by_good(shape, &what, 1, dice)?;
            return Some(vec![Effect::amounts(shape, what, &events)]);
        }
        Failing::LostFix => {
            return Some(vec![levels::lost_by_a_merge(shape, What::Failure(last), 1, dice)?]);
        }
        Failing::Masks => dice.within(1..=3),
        Failing::AtTheEnd => 0,
        Failing::MendedBefore | Failing::MendedAlike | Failing::AmongOthers => dice.within(1..=2),
    };
    for _ in 0..before {
        let failure = match failing {
            Failing::MendedAlike => last.clone(),
            Failing::MendedBefore => other_words(&last, dice),
            _ => Failure::at_random(dice),
        };
        all.push(for_a_while(shape, &way, failure, dice)?);
    }
    if failing != Failing::Masks {
        let at = dice.pick(&way);
        let events = [(at, Content::of(1))];
        all.push(Effect::new(shape, What::Failure(last), &events));
    }
    Some(all)
}

fn other_words(than: &Failure, dice: &mut Dice) -> Failure {
    loop {
        let failure = Failure::of(than.kind, dice);
        if failure.message != than.message {
            return failure;
        }
    }
}

/// A failure that starts at one commit of the path `way` and is mended at a later one.
fn for_a_while(shape: &Shape, way: &[usize], failure: Failure, dice: &mut Dice) -> Option<Effect> {
    let longest = match failure.kind {
        FailureKind::Hang => 2,
        _ => (way.len() / 3).max(1),
    };
    let from = dice.below(way.len());
    let to = from + dice.within(1..=longest);
    let events = [(*way.get(from)?, Content::of(1)), (*way.get(to)?, Content::of(0))];
    Some(Effect::new(shape, What::Failure(failure), &events))
}
