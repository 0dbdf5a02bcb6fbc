//! Pure functions on slices of finite numbers. What a number measures, and which way is worse,
//! is not known here.

mod chunks;
mod paired;
mod profile;
mod rank;
mod separation;
mod summary;

pub use chunks::{Chunks, half_digit};
pub use paired::{Difference, difference};
pub use profile::{Prefix, Profile, shortest};
pub use rank::rank_confidence;
pub use separation::{Side, Threshold, separation};
pub use summary::{mean, median, pooled_sd, winsorised_mean};
