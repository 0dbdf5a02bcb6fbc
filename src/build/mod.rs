//! Builds commits in slots, and decides whose fault a failed build is.

mod builder;
mod compiler_cache;
mod error;
mod key;
mod linked;
mod objects;
mod order;
mod progress;
mod recalled;
mod setup;
mod slot;
mod unbuilt;

pub(crate) use builder::build;
pub(crate) use error::BuildError;
pub(crate) use key::{Circumstances, build_key, prepare_key, run_key};
pub(crate) use linked::{Linked, MISSING, WroteLinked, linked_digest};
pub(crate) use order::Order;
pub(crate) use progress::BuildProgress;
pub(crate) use recalled::recalled;
pub(crate) use slot::{Slot, SlotError, Slots, Stamp};
pub(crate) use unbuilt::refuse;
