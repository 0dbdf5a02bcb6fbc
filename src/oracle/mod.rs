//! The oracle judges a commit from stored runs, and builds and measures what is missing. The
//! driver and `git bisect run` use the same oracle.

mod admission;
mod build_control;
mod caches;
mod condition;
mod control;

mod decide;
mod derive;
mod engine;
mod error;
mod evaluate;
pub mod exit;
mod facts;
#[cfg(test)]
pub(crate) mod fixture;
mod gpu_state;
mod judge;
mod launch;
mod loaded;
mod machine_state;
mod observation;
mod pins;
mod prepare;
mod quiet;
mod recorder;
mod run;
mod run_sample;
mod set_aside;
mod setting;
mod twin;

pub use control::ControlSlot;
pub use derive::Derivations;
pub use engine::Engine;
pub use error::OracleError;
pub use evaluate::{Oracle, Request};
pub use facts::{Facts, InputError, machine};
pub(crate) use judge::skip_reason;
pub use judge::{Decision, Known, judge};
pub use launch::Launcher;
pub use loaded::Present;
pub use machine_state::load_average;
pub use observation::{Observation, Sample, measures_of};
pub use pins::{PinError, Pins, ResolvedPins};
pub use quiet::QuietError;
pub use recorder::{Activity, Recorder};
pub use run_sample::{RunSample, run_sample};
