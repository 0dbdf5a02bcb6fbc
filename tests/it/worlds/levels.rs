//! Level functions: which commits switch effects on, and which commits mend them.

use super::dice::Dice;
use super::effect::{Content, Effect, Milli, What};
use super::shape::Shape;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Levels {
    /// One step.
    Step,
    /// Several steps, up and down.
    Steps,
    /// A step of 100,000, which may be mended, beside an ordinary one.
    Huge,
    /// One step that stays, and others that were reverted.
    Mended,
    /// The same, but mended in another file.
    Countered,
    /// A step that was reverted and landed again.
    Relanded,
    /// The same change on two branches.
    Picked,
    /// A step of which a part was mended.
    Partly,
    /// Many steps, each below half of the tolerance.
    Ramp,
    RampAndStep,
    /// No step, or all steps were mended.
    Gone,
    /// The good end has a fix that older side branches lack.
    ForkedBeforeFix,
    /// The same, and a merge loses the fix.
    LostFix,
    /// An improvement that the good end has is taken back.
    LostGain,
    /// A merge adds a step that no parent has.
    ByMerge,
}

/// Two commits and the effect's amount from each of them on: one switches the effect on, the other
/// mends it.
type OnAndOff = [(usize, Milli); 2];

const HUGE: Milli = 100_000_000;

fn milli(count: usize) -> Milli {
    Milli::try_from(count).expect("a small number")
}

/// A step from 0.3 to 5; about half of the draws are at most 0.5.
fn amount(dice: &mut Dice) -> Milli {
    let top = dice.pick(&[500, 500, 1000, 2500, 5000]);
    milli(dice.within(30..=top / 10)) * 10
}

/// Effects that make such a level function over this history; none if the draw does not fit.
pub(crate) fn effects(levels: Levels, shape: &Shape, dice: &mut Dice) -> Option<Vec<Effect>> {
    let way = shape.way(dice);
    let on = |events: &[(usize, Milli)]| Effect::level(shape, events);
    let made = match levels {
        Levels::Step => vec![on(&[(dice.pick(&way), amount(dice))])],
        Levels::Steps => steps(shape, dice),
        Levels::Huge => huge(shape, &way, dice)?,
        Levels::Mended => mended(shape, &way, false, dice)?,
        Levels::Countered => mended(shape, &way, true, dice)?,
        Levels::Relanded => vec![relanded(shape, &way, dice)?],
        Levels::Picked => vec![picked(shape, dice)?],
        Levels::Partly => {
            let at = two(&way, dice)?;
            let whole = amount(dice);
            let rest = whole * milli(dice.within(20..=80)) / 100;
            vec![on(&[(at[0], whole), (at[1], rest)])]
        }
        Levels::Ramp => ramp(shape, &way, dice)?,
        Levels::RampAndStep => {
            let mut all = ramp(shape, &way, dice)?;
            all.push(on(&[(dice.pick(&way), amount(dice))]));
            all
        }
        Levels::Gone => gone(shape, &way, dice)?,
        Levels::ForkedBeforeFix => forked(shape, &way, dice)?,
        Levels::LostFix => {
            let size = amount(dice);
            vec![lost_by_a_merge(shape, What::Level, size, dice)?]
        }
        Levels::LostGain => vec![lost_gain(shape, &way, dice)?],
        Levels::ByMerge => {
            let merges: Vec<usize> =
                way.iter().copied().filter(|one| shape.parents[*one].len() > 1).collect();
            let at = *merges.get(dice.below(merges.len().max(1)))?;
            vec![on(&[(at, amount(dice))])]
        }
    };
    Some(made)
}

/// Two commits of the path `way`, the older one first.
fn two(way: &[usize], dice: &mut Dice) -> Option<[usize; 2]> {
    let places = dice.places(2, way.len());
    Some([way[*places.first()?], way[*places.get(1)?]])
}

fn steps(shape: &Shape, dice: &mut Dice) -> Vec<Effect> {
    let (up, down) = (dice.within(1..=3), dice.below(3));
    let signs = std::iter::repeat_n(1, up).chain(std::iter::repeat_n(-1, down));
    let step = |sign: Milli| {
        let way = shape.way(dice);
        let at = dice.pick(&way);
        Effect::level(shape, &[(at, sign * amount(dice))])
    };
    signs.map(step).collect()
}

fn huge(shape: &Shape, way: &[usize], dice: &mut Dice) -> Option<Vec<Effect>> {
    let [from, to] = two(way, dice)?;
    let mut all = vec![Effect::level(shape, &[(dice.pick(way), amount(dice))])];
    all.push(match dice.below(3) {
        // The huge step stays.
        0 => Effect::level(shape, &[(from, HUGE)]),
        _ => Effect::level(shape, &[(from, HUGE), (to, 0)]),
    });
    Some(all)
}

/// One or two steps that are mended, and one that stays. Sizes may be equal, unless another file
/// mends (`elsewhere`).
fn mended(shape: &Shape, way: &[usize], elsewhere: bool, dice: &mut Dice) -> Option<Vec<Effect>> {
    let mut all = Vec::new();
    let mut size = amount(dice);
    let mut mends = Vec::new();
    for _ in 0..dice.within(1..=2) {
        let [from, to] = two(way, dice)?;
        mends.push(to);
        all.push(off_again(shape, [from, to], size, elsewhere));
        let same = size;
        if elsewhere || dice.percent(50) {
            size = amount(dice);
        }
        // Only its size shows a mend in another file. Two real changes never have the same size.
        if elsewhere && size == same {
            size += 3;
        }
    }
    let stays = dice.pick(way);
    // No commit mends one step in another file and also adds the step that stays. Such worlds are
    // not drawn.
    if elsewhere && mends.contains(&stays) {
        return None;
    }
    all.push(Effect::level(shape, &[(stays, size)]));
    Some(all)
}

fn off_again(shape: &Shape, [from, to]: [usize; 2], size: Milli, elsewhere: bool) -> Effect {
    let off = if elsewhere { Content { amount: size, countered: size } } else { Content::of(0) };
    Effect::new(shape, What::Level, &[(from, Content::of(size)), (to, off)])
}

fn relanded(shape: &Shape, way: &[usize], dice: &mut Dice) -> Option<Effect> {
    let size = amount(dice);
    let times = if way.len() > 12 && dice.percent(30) { 5 } else { 3 };
    let places = dice.places(times, way.len());
    if places.len() < times {
        return None;
    }
    let elsewhere = dice.percent(30);
    let off = if elsewhere { Content { amount: size, countered: size } } else { Content::of(0) };
    let events: Vec<(usize, Content)> = (0..)
        .zip(places)
        .map(|(turn, place)| (way[place], if turn % 2 == 0 { Content::of(size) } else { off }))
        .collect();
    Some(Effect::new(shape, What::Level, &events))
}

/// Two commits, neither of which descends from the other.
fn picked(shape: &Shape, dice: &mut Dice) -> Option<Effect> {
    let size = amount(dice);
    let (way, another) = (shape.way(dice), shape.way(dice));
    let (one, other) = (dice.pick(&way), dice.pick(&another));
    let are_apart = !shape.is_ancestor(one, other) && !shape.is_ancestor(other, one);
    are_apart.then(|| Effect::level(shape, &[(one, size), (other, size)]))
}

fn ramp(shape: &Shape, way: &[usize], dice: &mut Dice) -> Option<Vec<Effect>> {
    let count = dice.within(8..=24);
    let places = dice.places(count, way.len());
    let small = |place: &usize| Effect::level(shape, &[(way[*place], milli(dice.within(15..=45)))]);
    (places.len() == count).then(|| places.iter().map(small).collect())
}

fn gone(shape: &Shape, way: &[usize], dice: &mut Dice) -> Option<Vec<Effect>> {
    let mut all = Vec::new();
    for _ in 0..dice.below(4) {
        let at = two(way, dice)?;
        let (size, elsewhere) = (amount(dice), dice.percent(30));
        all.push(off_again(shape, at, size, elsewhere));
    }
    Some(all)
}

/// A defect that the good end has mended, and the commits of the range that still have it because
/// they forked off before the fix.
pub(crate) fn mended_by_good(
    shape: &Shape,
    what: &What,
    size: Milli,
    dice: &mut Dice,
) -> Option<(OnAndOff, Vec<usize>)> {
    let before: Vec<usize> =
        (0..shape.parents.len()).filter(|one| shape.is_ancestor(*one, shape.good)).collect();
    let [broken, fixed] = two(&before, dice)?;
    let events = [(broken, size), (fixed, 0)];
    let effect = Effect::amounts(shape, what.clone(), &events);
    let is_without = |one: &usize| shape.is_between(*one) && effect.net(*one) != 0;
    let without: Vec<usize> = (0..shape.parents.len()).filter(is_without).collect();
    (!without.is_empty()).then_some((events, without))
}

/// The same defect, which a merge brings back from one of those commits.
pub(crate) fn lost_by_a_merge(
    shape: &Shape,
    what: What,
    size: Milli,
    dice: &mut Dice,
) -> Option<Effect> {
    let (events, without) = mended_by_good(shape, &what, size, dice)?;
    let takes_back = |one: &usize| {
        let parents = &shape.parents[*one];
        shape.is_between(*one)
            && !without.contains(one)
            && parents.iter().any(|parent| without.contains(parent))
    };
    let merge = (0..shape.parents.len()).find(takes_back)?;
    let [broken, fixed] = events;
    Some(Effect::amounts(shape, what, &[broken, fixed, (merge, size)]))
}

fn forked(shape: &Shape, way: &[usize], dice: &mut Dice) -> Option<Vec<Effect>> {
    let size = amount(dice);
    let (events, mut without) = mended_by_good(shape, &What::Level, size, dice)?;
    without.retain(|one| shape.parents[*one].len() < 2);
    let at =
        if dice.percent(50) || without.is_empty() { dice.pick(way) } else { dice.pick(&without) };
    Some(vec![Effect::level(shape, &events), Effect::level(shape, &[(at, amount(dice))])])
}

fn lost_gain(shape: &Shape, way: &[usize], dice: &mut Dice) -> Option<Effect> {
    let size = amount(dice);
    let better = dice.below(shape.good + 1);
    if !shape.is_ancestor(better, shape.good) {
        return None;
    }
    let worse = dice.pick(way);
    Some(Effect::level(shape, &[(better, -size), (worse, 0)]))
}
