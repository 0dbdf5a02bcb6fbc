//! The named tolerances of logits, for `diff` and for guards.

use super::GuardForm;

/// The allowed difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogitsGuard {
    /// Nothing: all stored bits are the same.
    Bitwise,
    /// Rounding of f32: max |Δ| at most 1e-5.
    LosslessF32,
    /// Rounding of f16: max |Δ| at most 1e-3.
    LosslessF16,
    /// Careful quantisation: each cosine at least 0.999, mean KL at most 0.01 nats.
    Lossy,
}

/// Limits on statistics.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct LogitsLimits {
    /// The largest max |Δ|.
    pub max_abs: Option<f64>,
    /// The smallest cosine of a position.
    pub min_cosine: Option<f64>,
    /// The largest mean KL, in nats.
    pub mean_kl: Option<f64>,
}

impl LogitsGuard {
    /// All guards.
    pub(crate) const ALL: [Self; 4] =
        [Self::Bitwise, Self::LosslessF32, Self::LosslessF16, Self::Lossy];

    /// The equivalent guards on a measure's metrics.
    pub fn forms(self) -> Vec<(&'static str, GuardForm)> {
        if self == Self::Bitwise {
            return vec![("identical", GuardForm::Min(1.0))];
        }
        let LogitsLimits { max_abs, min_cosine, mean_kl } = self.limits();
        let forms = [
            ("max_abs", max_abs.map(GuardForm::Max)),
            ("min_cosine", min_cosine.map(GuardForm::Min)),
            ("mean_kl", mean_kl.map(GuardForm::Max)),
        ];
        forms.into_iter().filter_map(|(name, form)| Some((name, form?))).collect()
    }

    /// Its name for people, on the command line and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bitwise => "bitwise",
            Self::LosslessF32 => "lossless-f32",
            Self::LosslessF16 => "lossless-f16",
            Self::Lossy => "lossy",
        }
    }

    /// The limits; none for [`LogitsGuard::Bitwise`].
    pub fn limits(self) -> LogitsLimits {
        let none = LogitsLimits::default();
        match self {
            Self::Bitwise => none,
            Self::LosslessF32 => LogitsLimits { max_abs: Some(1e-5), ..none },
            Self::LosslessF16 => LogitsLimits { max_abs: Some(1e-3), ..none },
            Self::Lossy => LogitsLimits { min_cosine: Some(0.999), mean_kl: Some(0.01), ..none },
        }
    }
}
