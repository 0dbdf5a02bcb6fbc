//! The oracle judges a commit from stored runs, and builds and measures what is missing. The
//! driver and `git bisect run` use the same oracle.

mod admission;
mod build_control;
mod caches;
mod control;
mod control_slot;
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
mod input_error;
mod judge;
mod launch;
mod launcher;
mod loaded;
mod machine_state;
mod observation;
mod parts;
mod pins;
mod prepare;
mod quiet;
mod recipes;
mod recorder;
mod request;
mod run;
mod run_sample;
mod set_aside;
mod setting;
mod twin;
mod untestable;

pub use control_slot::ControlSlot;
pub use derive::Derivations;
pub use engine::Engine;
pub use error::OracleError;
pub use facts::{Facts, machine};
pub use input_error::InputError;
pub use judge::{Decision, Known, judge};
pub use launcher::Launcher;
pub use loaded::Present;
pub use machine_state::load_average;
pub use observation::{Observation, Sample, measures_of};
pub use parts::Oracle;
pub use pins::{PinError, Pins, ResolvedPins};
pub use quiet::QuietError;
pub use recipes::Recipes;
pub use recorder::{Activity, Recorder};
pub use request::Request;
pub use run_sample::{RunSample, run_sample};
pub(crate) use untestable::skip_reason;
