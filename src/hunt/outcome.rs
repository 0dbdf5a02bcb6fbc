//! The outcome of a hunt: what the found commits explain, whether the changes last, the answer.

pub(crate) mod account;
pub(crate) mod answer;
pub(crate) mod broken_checks;
pub(crate) mod change;
pub(crate) mod corrections;
pub(crate) mod culprit_status;
pub(crate) mod found_step;
pub(crate) mod gradual;
pub(crate) mod lasting;
mod level;
pub(crate) mod levels_after;
mod mean_level;
pub(crate) mod mends;
pub(crate) mod other_targets;
pub(crate) mod publish;
mod removal;
pub(crate) mod replaced;
pub(crate) mod reused_only;
pub(crate) mod same_change;
mod slight_difference;
pub(crate) mod small_steps;
mod suspects;
pub(crate) mod unexplained;
pub(crate) mod untestable_span;
