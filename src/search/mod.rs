//! Which commit to measure next, and when to stop: pure functions on numbers and graphs, and
//! one search that is asked and told. Nothing here runs, reads or writes anything, so that the
//! simulation of a hunt and a real one decide by the same code.
//!
//! Samples are oriented: whatever is measured, bad is larger ([docs/statistics.md] tells the
//! procedure and where its formulas come from).
//!
//! [docs/statistics.md]: https://github.com/bisect-ppl/bisect-ppl/blob/main/docs/statistics.md

mod advice;
mod belief;
mod builds;
mod calibration;
mod confirmation;
mod drift;
mod evenness;
mod evidence;
mod expectation;
mod fates;
#[cfg(test)]
mod fixture;
mod flake;
mod graph;
mod levels;
mod noisy;
mod passfail;
mod repeat;
mod sequential;

pub use advice::{Advice, Answer, Candidate, Place, Scale, Settings};
pub use belief::{Belief, Classes, likeliest};
pub use builds::{Builds, builds_bear};
pub use calibration::{Calibration, Rule, Unsettled, calibrate, endpoint_order, interval};
pub use confirmation::{FreshPairs, Step, evidence_wanted};
pub use drift::Drift;
pub use evenness::odds_of_unevenness;
pub use evidence::{Evidence, Likelihood};
pub use expectation::{Expectation, expect};
pub use fates::{Carried, Fate, fates};
pub use flake::Repeats;
pub use graph::{Ancestors, Graph};
pub use levels::{Levels, WELL_APART};
pub use noisy::Noisy;
pub use passfail::{Rates, calibrate_rates};
pub use repeat::{Repeat, repeat};
pub use sequential::{Side, most_runs, sequential, sequential_rates};
