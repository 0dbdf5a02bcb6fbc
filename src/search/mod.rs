//! Decides which commit to measure next, and when to stop. Pure functions on numbers and graphs,
//! and one search object, [`Noisy`]. No IO, so a simulation and a real hunt use the same code.
//!
//! Samples are oriented: larger is worse, whatever the metric. [docs/statistics.md] describes the
//! procedure and the sources of its formulas.
//!
//! [docs/statistics.md]: https://github.com/bisect-ppl/bisect-ppl/blob/main/docs/statistics.md

mod advice;
mod belief;
mod builds;
mod calibration;
mod confirmation;
mod delta;
mod drift;
mod evenness;
mod evidence;
mod expectation;
mod fates;
#[cfg(test)]
mod fixture;
mod flake;
mod graph;
mod hints;
mod levels;
mod likelihood;
mod noisy;
mod offsets;
mod passfail;
mod prior;
mod repeat;
mod rule;
mod sequential;
mod step_bound;

pub(crate) use advice::EndReason;
pub use advice::{Advice, Candidate, MeasuredCommit, Scale, Settings};
pub use belief::{Classes, likeliest};
pub(crate) use builds::BuildComparison;
pub(crate) use builds::step_exceeds_build_noise;
pub use calibration::{
    Calibration, CalibrationError, CalibrationSettings, calibrate, endpoint_order, interval,
};
pub(crate) use confirmation::most_pairs_for;
pub use confirmation::{FreshPairs, Step};
pub(crate) use delta::isolate;
pub(crate) use delta::{Isolated, IsolationEnd, Tested};
pub(crate) use drift::Drift;
pub use drift::DriftPrior;
pub(crate) use evenness::{chance_of_rise, excluded_rise, log_odds_of_unevenness};
pub use evidence::Evidence;
pub(crate) use expectation::{expected_cost, steps_of};
pub(crate) use fates::{ChangePresence, NoisySize, StepStatus};
pub(crate) use fates::{attribute_improvement, left_open_by_noise};
pub(crate) use flake::{FlakyCounts, ObservationCounts, chance_of_no_majority};
pub use graph::Graph;
pub(crate) use hints::{Hints, Parts};
pub use levels::Levels;
pub(crate) use levels::WELL_APART;
pub use likelihood::Likelihood;
pub use noisy::Noisy;
pub(crate) use offsets::{CommitLevel, CommitOffsets};
pub(crate) use passfail::Rates;
pub(crate) use passfail::{
    calibrate_rates, excluded_rate, excluded_rate_above, runs_to_exclude, runs_to_exclude_above,
    runs_to_tell_absence,
};
pub use prior::ChangeReach;
pub use repeat::{Repeat, repeat};
pub(crate) use repeat::{is_level, is_on_one_side};
pub(crate) use rule::JudgedCell;
pub(crate) use rule::{distinguishing_numbers, most_informative_cell, separating_rules};
pub(crate) use sequential::{MOST_MIXED_RUNS, sequential_rates, side_of_mixed};
pub use sequential::{Side, most_runs, sequential};
pub(crate) use step_bound::{PooledNoise, StepBound};
