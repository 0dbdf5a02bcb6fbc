//! The fewest runs that a search in normal noise can need on average.
//!
//! Source: Burnashev, *Data transmission over a discrete channel with feedback. Random transmission
//! time*, Problems of Information Transmission 12, 1976. A run of a commit is one use of a channel
//! whose input is the commit's side, and the choice of the next commit is the feedback.

use std::f64::consts::{LN_2, PI};

/// Limits and number of intervals of the integral over the noise, in standard deviations.
const REACH: f64 = 9.0;
const INTERVALS: u32 = 4000;

/// log₂ N / C + ln(1/δ) / C₁ runs, for N commits, a step of d standard deviations of one run, and
/// an answer that is wrong with probability δ. C is the capacity in bits of the Gaussian channel
/// with the two levels as inputs. C₁ is the Kullback–Leibler divergence between the runs of both
/// levels, in nats.
pub(crate) fn fewest_runs(commits: usize, d: f64, delta: f64) -> f64 {
    (commits as f64).log2() / capacity(d) + (1.0 / delta).ln() / (d * d / 2.0)
}

/// The capacity in bits. Equally likely inputs reach it: 1 − E log₂(1 + e^(−x)), where x is the log
/// likelihood ratio of a run, normal with mean d²/2 and standard deviation d.
fn capacity(d: f64) -> f64 {
    let width = 2.0 * REACH / f64::from(INTERVALS);
    let at = |i: u32| {
        let z = -REACH + width * (f64::from(i) + 0.5);
        let density = (-z * z / 2.0).exp() / (2.0 * PI).sqrt();
        density * (-(d * d / 2.0 + d * z)).exp().ln_1p() / LN_2
    };
    1.0 - width * (0..INTERVALS).map(at).sum::<f64>()
}
