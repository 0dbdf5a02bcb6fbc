//! A hunt from two endpoints to a finding: endpoints, targets, search, confirmation, account.

mod asker;
mod begin;
mod best_so_far;
mod claim;
mod cleanup;
mod confirm;
mod course;
mod driver;
mod endpoints;
mod error;
mod inquiry;
mod leftovers;
mod levels;
mod live_page;
mod localize;
mod machine_change;
mod missing_commits;
mod oracle_step;
mod orientation;
mod outcome;
mod path_filter;
mod pauses;
mod printed;
mod range;
mod run_verdicts;
mod samples;
mod search;
mod searched;
mod sentinel;
mod shapes;
mod short;
mod strategy;
mod verdict;
mod verify;
mod why;
mod without_hunt;

pub(crate) use begin::begin;
pub(crate) use begin::descend::{descend, outermost};
pub(crate) use begin::examine::{ExaminedRange, ends, range, surroundings};
pub(crate) use begin::hunt_request::HuntRequest;
pub(crate) use begin::open::{begun, history, notify_command, renew};
pub(crate) use begin::slots_folder::default_slots;
pub(crate) use course::drive;
pub(crate) use endpoints::missing_metrics::not_yielded;
pub(crate) use error::{HuntError, UsageError};
pub(crate) use leftovers::{Leftovers, leftovers, remove_leftovers};
pub(crate) use live_page::LivePage;
pub(crate) use oracle_step::step;
pub(crate) use outcome::publish::publish;
pub(crate) use path_filter::PathFilter;
pub(crate) use verify::prepare::{Prepared, VerifyAsked};
pub(crate) use verify::result::{
    CellKind, Check, ClaimVerified, Conclusion, FixCell, FixVerified, Sides, Verification,
};
pub(crate) use without_hunt::{judge_between, measure_ends, pins, standalone_oracle, tidy};
