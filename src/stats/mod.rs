//! Pure statistics on slices of finite numbers. This module knows neither what a number measures
//! nor which direction is worse.

mod chunks;
#[cfg(test)]
mod fixture;
mod paired;
mod profile;
mod rank;
mod separation;
mod summary;

pub(crate) use chunks::Chunks;
pub(crate) use chunks::half_digit;
pub use paired::difference;
pub(crate) use paired::student_quantile;
pub(crate) use profile::PrefixProfile;
pub(crate) use profile::shortest;
pub(crate) use rank::rank_correlation;
pub(crate) use separation::BadSide;
pub(crate) use separation::separation;
pub use summary::{mean, median};
pub(crate) use summary::{min_max, runs_of_equal_mean, variance, winsorised_mean, winsorised_sd};

/// `x` rounded up, clamped to `least` … `most`; `most` for NaN.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it was clamped")]
pub fn whole(x: f64, least: usize, most: usize) -> usize {
    if x.is_nan() { most } else { x.ceil().clamp(least as f64, most as f64) as usize }
}
