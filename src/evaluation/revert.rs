//! What the endpoints show without the parts of a change that make the step, or with the parts that
//! make a fix.

use serde::{Deserialize, Serialize};

/// What the newer endpoint shows without the necessary parts. The newer endpoint is the bad one; in
/// a hunt for a fix, it is the good one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Revert {
    /// The bad endpoint is good without them.
    Heals,
    /// The same, but other targets of the hunt vary too much to be judged by a few runs.
    HealsPart,
    /// In noise: without the parts, the step that they make is gone, but the bad endpoint is surely
    /// worse than the good one by more than the tolerance, for example because of another named
    /// commit.
    StepGone,
    /// The step is gone without them, but another guard is broken or a measure fails. The first of
    /// these, in words.
    BreaksOther(String),
    /// The bad endpoint is good without them, but another guard moves there just as the commit moved
    /// it at its own place, the other way round: a trade of one metric for another. The first such
    /// guard, in words.
    Traded(String),
    /// It is still bad without them.
    StillBad,
    /// Without the parts, the newer endpoint loses something else than their own step, or is worse
    /// than the bad endpoint. This does not tell whether it needs the parts: other code may depend
    /// on them, or another commit may counter them.
    Unlike,
    /// In a hunt for a fix: the good endpoint is bad without them.
    BreaksAgain,
    /// In a hunt for a fix: the good endpoint is still good without them.
    StillGood,
    /// It does not build, or its runs cannot be judged.
    Unknown,
    /// A fault of the machine ended the test; what it was.
    Stopped(String),
    /// The patch does not apply; what git said.
    Conflict(String),
    /// The endpoint no longer has these lines.
    Absent,
}

impl Revert {
    /// Whether the endpoint was tested without the parts, or does not have them.
    pub(crate) fn is_tested(&self) -> bool {
        !matches!(self, Self::Stopped(_) | Self::Conflict(_))
    }

    /// Whether the step is gone without the parts, and no other guard is broken, but for what the
    /// commit itself made better of it.
    pub(crate) fn takes_step_out(&self) -> bool {
        matches!(self, Self::Heals | Self::HealsPart | Self::StepGone | Self::Traded(_))
    }

    /// Whether the step is gone without the parts, and another guard moves or a measure fails.
    pub(crate) fn moves_another_guard(&self) -> bool {
        matches!(self, Self::BreaksOther(_) | Self::Traded(_))
    }

    /// Whether the test tells if the endpoint needs the parts. If another guard is broken without
    /// them, another part of the program may run. Then the step may be gone for this reason alone.
    pub(crate) fn tells_need(&self) -> bool {
        let is_other_program = matches!(self, Self::Unlike | Self::BreaksOther(_));
        self.is_tested() && *self != Self::Unknown && !is_other_program
    }
}

/// What the bad endpoint shows with the parts that make a fix.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Backport {
    /// It is good with them.
    Heals,
    /// It is still bad with them.
    StillBad,
    /// It is good with them, but another guard is broken or a measure fails, which is not so without
    /// them. The first of these, in words.
    BreaksOther(String),
    /// With them, the bad endpoint is like neither endpoint: it is worse than without them, or
    /// better than the good endpoint by more than the commit made better. They may need later code.
    Unlike,
    /// It does not build, or its runs cannot be judged.
    Unknown,
    /// A fault of the machine ended the test; what it was.
    Stopped(String),
    /// The patch does not apply; what git said.
    Conflict(String),
    /// It has these lines already.
    Present,
}

impl Backport {
    /// Whether the test tells what the parts do at the bad endpoint. If another guard is broken
    /// with them, or if that endpoint is like neither end, another part of the program may run.
    pub(crate) fn tells(&self) -> bool {
        matches!(self, Self::Heals | Self::StillBad)
    }
}
