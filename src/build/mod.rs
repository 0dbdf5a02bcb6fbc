//! Builds commits in slots, and decides whose fault a failed build is.

mod builder;
mod compiler_cache;
mod key;
mod linked;
mod recalled;
mod setup;
mod slot;
mod unbuilt;

pub use builder::{BuildError, Built, Order, build};
pub use key::{Circumstances, build_key, prepare_key, run_key};
pub use linked::{Linked, WroteLinked};
pub use recalled::recalled;
pub use slot::{Slot, SlotError, Slots, Stamp};
pub use unbuilt::refuse;
