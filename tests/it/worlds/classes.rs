//! The classes of worlds, and how often each is drawn.

use super::dice::Dice;
use super::failing::Failing;
use super::faults::{FlakeKind, Leak, Side};
use super::levels::Levels;
use super::shape::Kind;
use super::truth::Expected;

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Class {
    pub name: &'static str,
    /// Weight in the draw.
    pub share: usize,
    pub shapes: &'static [Kind],
    pub levels: &'static [Levels],
    pub failing: Failing,
    /// Kinds of flakes to draw from; empty if the world has none.
    pub flakes: &'static [FlakeKind],
    pub sides: &'static [Side],
    pub leak: Option<Leak>,
    pub expected: Expected,
}

const LINE: &[Kind] = &[Kind::Line];
const BRANCHED: &[Kind] = &[Kind::Merges, Kind::CrissCross];
const ANY: &[Kind] = &[Kind::Line, Kind::Merges, Kind::CrissCross];
const ONE_SIDE: &[Side] = &[Side::Good, Side::Bad];
const BOTH: &[Side] = &[Side::Both];
const SOME: &[Side] = &[Side::Some];
const OTHER: &[FlakeKind] = &[FlakeKind::Other];
const ANYTHING: &[FlakeKind] = &[FlakeKind::Any];
const CRASH: &[FlakeKind] = &[FlakeKind::Crash];
const TEST: &[FlakeKind] = &[FlakeKind::PassFail];
const BUILD: &[FlakeKind] = &[FlakeKind::Build];
const NOISE: &[FlakeKind] = &[FlakeKind::Noise];
const OF_VALUES: &[FlakeKind] = &[FlakeKind::Other, FlakeKind::Any, FlakeKind::Build];
const ALL_LEVELS: &[Levels] = &[
    Levels::Step,
    Levels::Steps,
    Levels::Huge,
    Levels::Mended,
    Levels::Countered,
    Levels::Relanded,
    Levels::Partly,
    Levels::RampAndStep,
    Levels::LostGain,
];

const PLAIN: Class = Class {
    name: "",
    share: 0,
    shapes: ANY,
    levels: &[Levels::Step],
    failing: Failing::Never,
    flakes: &[],
    sides: BOTH,
    leak: None,
    expected: Expected::Named,
};

const fn levels(name: &'static str, share: usize, levels: &'static [Levels]) -> Class {
    Class { name, share, levels, ..PLAIN }
}

const fn branched(name: &'static str, share: usize, levels: &'static [Levels]) -> Class {
    Class { name, share, levels, shapes: BRANCHED, ..PLAIN }
}

const fn failing(name: &'static str, share: usize, failing: Failing) -> Class {
    Class { name, share, failing, levels: &[Levels::Gone, Levels::Step], ..PLAIN }
}

const fn flaky(
    name: &'static str,
    share: usize,
    flakes: &'static [FlakeKind],
    sides: &'static [Side],
) -> Class {
    let levels = &[Levels::Step, Levels::Step, Levels::Mended];
    Class { name, share, levels, flakes, sides, ..PLAIN }
}

const fn leaking(name: &'static str, share: usize, leak: Leak) -> Class {
    Class { name, share, leak: Some(leak), levels: &[Levels::Step, Levels::Mended], ..PLAIN }
}

pub(crate) static CLASSES: [Class; 43] = [
    Class { shapes: LINE, ..levels("one step on a line", 4, &[Levels::Step]) },
    branched("one step among merges", 5, &[Levels::Step]),
    levels("several steps", 5, &[Levels::Steps]),
    levels("a huge step", 4, &[Levels::Huge]),
    levels("mended by a revert", 7, &[Levels::Mended]),
    levels("mended in another file", 4, &[Levels::Countered]),
    levels("landed again", 6, &[Levels::Relanded]),
    branched("picked onto two branches", 3, &[Levels::Picked]),
    levels("mended in part", 4, &[Levels::Partly]),
    Class { expected: Expected::Gradual, ..levels("a ramp", 3, &[Levels::Ramp]) },
    levels("a ramp and a step", 4, &[Levels::RampAndStep]),
    Class { expected: Expected::NoRegression, ..levels("no regression", 3, &[Levels::Gone]) },
    branched("forked before a fix", 4, &[Levels::ForkedBeforeFix]),
    branched("a merge loses a fix", 2, &[Levels::LostFix]),
    levels("a gain taken back", 3, &[Levels::LostGain]),
    branched("brought by a merge", 3, &[Levels::ByMerge]),
    Class {
        failing: Failing::Masks,
        ..levels("failures hide a step", 7, &[Levels::Step, Levels::Steps])
    },
    Class {
        failing: Failing::Masks,
        ..levels("failures hide what was mended", 4, &[Levels::Mended, Levels::Relanded])
    },
    Class {
        failing: Failing::Masks,
        expected: Expected::NoRegression,
        ..levels("failures and no regression", 1, &[Levels::Gone])
    },
    failing("the end fails", 4, Failing::AtTheEnd),
    failing("failed before in other words", 4, Failing::MendedBefore),
    failing("failed before in the same words", 6, Failing::MendedAlike),
    failing("failed before in other ways", 4, Failing::AmongOthers),
    Class {
        failing: Failing::ForkedBeforeFix,
        ..branched("forked before a failure's fix", 3, &[Levels::Step, Levels::Mended])
    },
    Class { shapes: BRANCHED, ..failing("a merge loses a failure's fix", 2, Failing::LostFix) },
    flaky("runs flake at one side", 6, OTHER, ONE_SIDE),
    flaky("runs flake at both sides", 2, OTHER, BOTH),
    flaky("runs show anything at one side", 4, ANYTHING, ONE_SIDE),
    flaky("runs show anything at both sides", 2, ANYTHING, BOTH),
    flaky("runs crash at one side", 3, CRASH, ONE_SIDE),
    flaky("runs crash at both sides", 1, CRASH, BOTH),
    // A test shows whether a level is above the limit. It shows no step on one side of the limit.
    Class { levels: &[Levels::Step], ..flaky("a test flakes at one side", 4, TEST, ONE_SIDE) },
    Class { levels: &[Levels::Step], ..flaky("a test flakes at both sides", 1, TEST, BOTH) },
    flaky("builds flake at one side", 5, BUILD, ONE_SIDE),
    flaky("builds flake at both sides", 2, BUILD, BOTH),
    flaky("runs flake at some commits", 3, OTHER, SOME),
    flaky("builds flake at some commits", 2, BUILD, SOME),
    Class { levels: ALL_LEVELS, ..flaky("any levels, and flakes", 4, OF_VALUES, ONE_SIDE) },
    Class {
        levels: ALL_LEVELS,
        failing: Failing::Masks,
        ..flaky("any levels, failures and flakes", 4, OF_VALUES, ONE_SIDE)
    },
    Class {
        expected: Expected::NoRegression,
        levels: &[Levels::Gone],
        ..flaky("flakes and no regression", 2, ANYTHING, &[Side::Good])
    },
    leaking("a build hides a change", 2, Leak::Hidden),
    leaking("kept objects are wrong", 2, Leak::Objects),
    leaking("a linked folder remembers", 1, Leak::Carried),
];

/// Classes in which runs scatter around their level. Their hunts take several times as many runs.
pub(crate) static NOISY: [Class; 3] = [
    flaky("noise", 5, NOISE, BOTH),
    Class { levels: ALL_LEVELS, ..flaky("any levels in noise", 5, NOISE, BOTH) },
    Class {
        expected: Expected::NoRegression,
        levels: &[Levels::Gone],
        ..flaky("noise and no regression", 2, NOISE, BOTH)
    },
];

/// The class of a seed. One in fourteen is noisy.
pub(crate) fn of(seed: u64) -> &'static Class {
    let mut further = further(seed);
    if further.percent(7) { pick(&NOISY, &mut further) } else { draw(&mut Dice::new(seed)) }
}

/// Random numbers for what was added to the generator later (noise, layouts, localisation), so that
/// all else in the world of a seed stays the same.
pub(crate) fn further(seed: u64) -> Dice {
    Dice::new(seed ^ 0x6e6f_6973_7921_0000)
}

/// Draws a class without noise.
pub(crate) fn draw(dice: &mut Dice) -> &'static Class {
    pick(&CLASSES, dice)
}

/// Draws one of these classes, weighted by `share`.
fn pick(classes: &'static [Class], dice: &mut Dice) -> &'static Class {
    let mut at = dice.below(classes.iter().map(|class| class.share).sum());
    for class in classes {
        if at < class.share {
            return class;
        }
        at -= class.share;
    }
    unreachable!("the shares add up")
}

impl Class {
    /// Whether every run and build gives the same result each time.
    pub(crate) fn is_steady(&self) -> bool {
        self.flakes.is_empty() && self.leak.is_none()
    }

    /// Whether a few runs of each end tell on which side of the limit the end is.
    pub(crate) fn tells_ends_apart(&self) -> bool {
        self.is_steady() || self.leak.is_none() && self.flakes == NOISE
    }

    pub(crate) fn fails_at_the_end(&self) -> bool {
        !matches!(self.failing, Failing::Never | Failing::Masks | Failing::ForkedBeforeFix)
    }
}
