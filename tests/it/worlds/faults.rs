//! Failures, flakes and leaks, and the engine's settings for them.

use super::dice::Dice;
use super::effect::Milli;
use super::truth::TOLERANCE;

/// How a run or a build fails.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Failure {
    pub kind: FailureKind,
    pub message: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FailureKind {
    Nan,
    Inf,
    Crash(u8),
    Exit(u8),
    Build,
    Cut,
    Silent,
    Hang,
}

impl FailureKind {
    pub(crate) fn at_random(dice: &mut Dice) -> Self {
        match dice.below(100) {
            0..22 => Self::Nan,
            22..28 => Self::Inf,
            28..46 => Self::Crash(dice.pick(&[11, 6, 8])),
            46..62 => Self::Exit(dice.pick(&[1, 3, 4])),
            62..86 => Self::Build,
            86..92 => Self::Cut,
            92..99 => Self::Silent,
            // Rare: each hang waits for a time-out of two seconds.
            _ => Self::Hang,
        }
    }

    /// Whether the program treats two failures as the same: NaN and infinity are.
    pub(crate) fn is_like(self, other: Self) -> bool {
        let is_number = |kind| !matches!(kind, Self::Nan | Self::Inf);
        self == other || !is_number(self) && !is_number(other)
    }

    /// Whether the program hunts this failure. It hunts no failure that may be chance
    /// or may have another cause.
    pub(crate) fn is_hunted(self) -> bool {
        !matches!(self, Self::Cut | Self::Silent)
    }

    fn fate(self) -> String {
        match self {
            Self::Nan => "nan".to_owned(),
            Self::Inf => "inf".to_owned(),
            Self::Crash(signal) => format!("crash:{signal}"),
            Self::Exit(code) => format!("exit:{code}"),
            Self::Cut => "cut".to_owned(),
            Self::Silent => "silent".to_owned(),
            Self::Hang => "hang".to_owned(),
            Self::Build => String::new(),
        }
    }
}

const MESSAGES: [&str; 3] =
    ["assertion failed: n_past < n_ctx", "invalid argument in launch", "unknown tensor type 39"];

impl Failure {
    pub(crate) fn at_random(dice: &mut Dice) -> Self {
        Self::of(FailureKind::at_random(dice), dice)
    }

    pub(crate) fn of(kind: FailureKind, dice: &mut Dice) -> Self {
        Self { kind, message: dice.pick(&MESSAGES).to_owned() }
    }

    pub(crate) fn settings(&self) -> String {
        let Self { kind, message } = self;
        match kind {
            FailureKind::Build => format!("build_exit = 1\nbuild_says = {message}\n"),
            kind => format!("fate = {}\nsay_err = {message}\n", kind.fate()),
        }
    }
}

/// What varies from run to run, or from build to build.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FlakeKind {
    /// A run shows the other side's value.
    Other,
    /// A run shows any value.
    Any,
    /// A run crashes.
    Crash,
    /// A test that sometimes gives the opposite result.
    PassFail,
    /// All runs of a build show the other side's value.
    Build,
    /// Each run shows its level with normal noise.
    Noise,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Good,
    Bad,
    Both,
    /// Half of the commits on either side, without the ends.
    Some,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Flake {
    pub kind: FlakeKind,
    pub side: Side,
    /// In percent.
    pub rate: usize,
}

impl Flake {
    pub(crate) fn at_random(kind: FlakeKind, side: Side, dice: &mut Dice) -> Self {
        Self { kind, side, rate: dice.within(2..=60) }
    }

    /// Standard deviation of the noise, at most 60 % of the tolerance; 0 for other flakes.
    pub(crate) fn noise(self) -> Milli {
        let rate = if self.kind == FlakeKind::Noise { self.rate } else { 0 };
        Milli::try_from(rate).expect("a rate") * TOLERANCE / 100
    }

    /// The engine's settings for a commit. `is_drawn` is for [`Side::Some`]; `levels` are those
    /// of the good and the bad end.
    pub(crate) fn settings(
        self,
        is_bad: bool,
        is_drawn: bool,
        levels: [Milli; 2],
    ) -> Option<String> {
        let is_here = match self.side {
            Side::Good => !is_bad,
            Side::Bad => is_bad,
            Side::Both => true,
            Side::Some => is_drawn,
        };
        let rate = if is_here { self.rate as f64 / 100.0 } else { 0.0 };
        if self.kind == FlakeKind::PassFail {
            return Some(format!("fails = {:.2}", if is_bad { 1.0 - rate } else { rate }));
        }
        if rate == 0.0 {
            return None;
        }
        let other = shown(levels[usize::from(!is_bad)]);
        Some(match self.kind {
            FlakeKind::Noise => format!("noise = {}", shown(self.noise())),
            FlakeKind::Any => format!("flake = {rate} {}..{}", 6.0, shown(levels[1] + 1000)),
            FlakeKind::Crash => format!("flake_fate = {rate} crash:11"),
            FlakeKind::Build => format!("build_flip = {rate} {other}"),
            FlakeKind::Other | FlakeKind::PassFail => format!("flake = {rate} {other}"),
        })
    }
}

/// How one build affects the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Leak {
    /// A build changes a tracked file and hides that from git.
    Hidden,
    /// Builds in a kept folder reuse objects that are out of date.
    Objects,
    /// An earlier build left state in a linked folder.
    Carried,
}

/// The value as the engine reads it: `7.5`.
pub(crate) fn shown(milli: Milli) -> String {
    format!("{}{}.{:03}", if milli < 0 { "-" } else { "" }, milli.abs() / 1000, milli.abs() % 1000)
}
