//! Builds commits in slots, and decides whose fault a failed build is.

mod builder;
mod compiler_cache;
mod error;
mod key;
mod linked;
mod order;
mod progress;
mod recalled;
mod setup;
mod slot;
mod unbuilt;

pub use builder::build;
pub use error::BuildError;
pub use key::{Circumstances, build_key, prepare_key, run_key};
pub use linked::{Linked, MISSING, WroteLinked, linked_digest};
pub use order::Order;
pub use progress::BuildProgress;
pub use recalled::recalled;
pub use slot::{Slot, SlotError, Slots, Stamp};
pub use unbuilt::refuse;
