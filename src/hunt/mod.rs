//! A hunt from two endpoints to a finding: endpoints, targets, search, confirmation, account.

mod begin;
mod claim;
mod cleanup;
mod confirm;
mod course;
mod driver;
mod endpoints;
mod error;
mod missing_commits;
mod oracle_step;
mod orientation;
mod outcome;
mod range;
mod run_verdicts;
mod samples;
mod search;
mod searched;
mod short;
mod strategy;
mod sweep;
mod verdict;
mod why;
mod without_hunt;

pub use begin::descend::{descend, outermost};
pub use begin::open::{begun, history};
pub use begin::{Asked, begin, default_slots};
pub use course::drive;
pub use endpoints::plan::steps_of;
pub use error::{HuntError, UsageError};
pub use oracle_step::step;
pub use outcome::publish::publish;
pub use sweep::{Left, left, sweep};
pub use without_hunt::{alone, judge_against, pins, tidy};
