//! The named tolerances of `diff`.

/// What may differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guard {
    /// Nothing: all stored bits are the same.
    Bitwise,
    /// Rounding of f32: max |Δ| at most 1e-5.
    LosslessF32,
    /// Rounding of f16: max |Δ| at most 1e-3.
    LosslessF16,
    /// What careful quantisation does: each cosine at least 0.999, mean KL at most 0.01 nats.
    Lossy,
}

/// Limits on figures.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Limits {
    pub(super) max_abs: Option<f64>,
    pub(super) min_cosine: Option<f64>,
    pub(super) mean_kl: Option<f64>,
}

impl Guard {
    /// Its name for people, on the command line and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Bitwise => "bitwise",
            Self::LosslessF32 => "lossless-f32",
            Self::LosslessF16 => "lossless-f16",
            Self::Lossy => "lossy",
        }
    }

    /// Limits on figures; none for [`Guard::Bitwise`].
    pub(super) fn limits(self) -> Limits {
        let none = Limits::default();
        match self {
            Self::Bitwise => none,
            Self::LosslessF32 => Limits { max_abs: Some(1e-5), ..none },
            Self::LosslessF16 => Limits { max_abs: Some(1e-3), ..none },
            Self::Lossy => Limits { min_cosine: Some(0.999), mean_kl: Some(0.01), ..none },
        }
    }
}
