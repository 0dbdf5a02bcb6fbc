//! Pure functions on slices of finite numbers. What a number measures, and which way is worse,
//! is not known here.

mod rank;
mod separation;
mod summary;

pub use rank::rank_confidence;
pub use separation::{Side, Threshold, separation};
pub use summary::{mean, median, pooled_sd, winsorised_mean};
