//! From two endpoints to a finding: endpoints, targets, search, confirmation, account.

mod account;
mod alone;
mod begin;
mod boundary;
mod clean;
mod confirm;
mod driver;
mod effect;
mod endpoints;
mod error;
mod extent;
mod gradual;
mod open;
mod over_text;
mod plan;
mod publish;
mod search;
mod short;
mod step;
mod sweep;
mod targets;
mod verdict;

pub use alone::{alone, judge_against, tidy};
pub use begin::{Asked, begin, default_slots};
pub use driver::{Driver, drive};
pub use error::{HuntError, UsageError};
pub use open::open;
pub use plan::steps_of;
pub use publish::publish;
pub use step::step;
pub use sweep::{Left, left, sweep};
