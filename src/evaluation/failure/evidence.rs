//! The evidence of a failure: typed details that distinguish it from others of its kind.

use serde::{Deserialize, Serialize};

use crate::evaluation::failure_log::FailureMessage;
use crate::evaluation::{Ended, FailureKind, Unreadable};

/// Details that distinguish a failure from others of its kind. The kind decides which are set.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evidence {
    /// How the command ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended: Option<Ended>,
    /// The `[[prepare]]` that failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub step: Option<String>,
    /// The file that is missing although the `[[prepare]]` exited with 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
    /// The NaN or infinity that was printed instead of a number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) printed: Option<Printed>,
    /// The patch that does not apply, by its name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub patch: Option<String>,
    /// The file of the commit that is only a pointer of Git LFS in the checkout, and that runs read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pointer: Option<String>,
    /// Why the output has no value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) unreadable: Option<Unreadable>,
    /// The `[[require]]` pattern that no line matched.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub required: Option<String>,
    /// Whether at least one chunk of the text was completed. The count is not compared: a crash
    /// loses the output that is still in the engine's buffers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub in_chunks: Option<bool>,
    /// The output's lines about the failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) said: Option<FailureMessage>,
}

/// A number that is not finite, and its place in the output.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Printed {
    /// What was printed.
    pub what: NonFinite,
    /// Where it was printed: the metric, or `chunk #`.
    pub place: String,
}

/// A number that is not finite.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum NonFinite {
    /// Not a number, of either sign.
    Nan,
    /// Plus infinity.
    Infinity,
    /// Minus infinity.
    MinusInfinity,
}

impl NonFinite {
    pub(super) fn of(number: f64) -> Self {
        match number {
            f64::INFINITY => Self::Infinity,
            f64::NEG_INFINITY => Self::MinusInfinity,
            _ => Self::Nan,
        }
    }

    pub(super) fn number(self) -> f64 {
        match self {
            Self::Nan => f64::NAN,
            Self::Infinity => f64::INFINITY,
            Self::MinusInfinity => f64::NEG_INFINITY,
        }
    }
}

/// The part of the evidence that two failures of one kind must share to be the same failure.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ComparisonKey<'e> {
    /// All failures of the kind are the same.
    Kind,
    Ended(End<'e>),
    Unmade {
        step: &'e str,
        missing: &'e str,
    },
    Step {
        step: &'e str,
        ended: End<'e>,
    },
    Printed(&'e Printed),
    Patch(&'e str),
    Unreadable(&'e Unreadable),
    Required(&'e str),
}

/// How a command ended, as it is compared: without the system's error text.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum End<'e> {
    Exited(i32),
    Signaled(i32),
    TimedOut,
    /// The missing program, if it is compared.
    NotFound(Option<&'e str>),
    NotStarted,
    Stopped,
}

impl<'e> End<'e> {
    /// `names_program`: whether the name of a missing program is compared.
    fn of(ended: &'e Ended, names_program: bool) -> Self {
        match ended {
            Ended::Exited(code) => Self::Exited(*code),
            Ended::Signaled(signal) => Self::Signaled(*signal),
            Ended::TimedOut => Self::TimedOut,
            Ended::NotFound(program) => {
                Self::NotFound(Some(program.as_str()).filter(|_| names_program))
            }
            Ended::NotStarted(_) => Self::NotStarted,
            Ended::Stopped => Self::Stopped,
        }
    }
}

impl Evidence {
    /// Evidence that holds only how a command ended.
    pub fn of(ended: &Ended) -> Self {
        Self { ended: Some(ended.clone()), ..Self::default() }
    }

    /// The detail by which failures of this kind are compared. `None` in a record of an older
    /// version, which has only a text.
    pub(super) fn mark(&self, kind: FailureKind) -> Option<ComparisonKey<'_>> {
        let ended = self.ended.as_ref();
        match kind {
            FailureKind::Checkout | FailureKind::Incomplete => Some(ComparisonKey::Kind),
            FailureKind::Build => Some(ComparisonKey::Ended(End::of(ended?, true))),
            // The configuration names the measured program, so the name says nothing.
            FailureKind::Crash | FailureKind::Timeout => {
                Some(ComparisonKey::Ended(End::of(ended?, false)))
            }
            FailureKind::Prepare => {
                let (step, ended) = (self.step.as_deref()?, ended?);
                match &self.missing {
                    Some(missing) => Some(ComparisonKey::Unmade { step, missing }),
                    // Older versions did not record the missing file.
                    None if ended.is_success() => None,
                    None => Some(ComparisonKey::Step { step, ended: End::of(ended, true) }),
                }
            }
            FailureKind::Nan => self.printed.as_ref().map(ComparisonKey::Printed),
            FailureKind::Patch => self.patch.as_deref().map(ComparisonKey::Patch),
            FailureKind::Unreadable => self.unreadable.as_ref().map(ComparisonKey::Unreadable),
            FailureKind::Require => match &self.required {
                Some(pattern) => Some(ComparisonKey::Required(pattern)),
                None => Some(ComparisonKey::Ended(End::of(ended?, false))),
            },
        }
    }

    /// Compares the rest of the evidence: the progress of the command, and its output.
    pub(super) fn agrees(&self, other: &Self) -> bool {
        let said = match (&self.said, &other.said) {
            (Some(own), Some(other)) => own.is_same_failure(other),
            (own, other) => own.is_some() == other.is_some(),
        };
        // If a line gives a specific reason, `in_chunks` adds nothing.
        let is_telling = self.said.as_ref().is_some_and(FailureMessage::is_telling);
        said && (is_telling || self.in_chunks == other.in_chunks)
    }
}
