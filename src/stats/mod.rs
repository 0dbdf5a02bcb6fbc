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

pub use chunks::{Chunks, half_digit};
pub use paired::{Difference, difference};
pub use profile::{Prefix, PrefixProfile, shortest};
pub use rank::rank_correlation;
pub use separation::{BadSide, Threshold, separation};
pub use summary::{mean, median, min_max, winsorised_mean, winsorised_sd};

/// `x` rounded up, clamped to `least` … `most`; `most` for NaN.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "it was clamped")]
pub fn whole(x: f64, least: usize, most: usize) -> usize {
    if x.is_nan() { most } else { x.ceil().clamp(least as f64, most as f64) as usize }
}
