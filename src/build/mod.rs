//! Builds commits in slots, and decides whose fault a failed build is.

mod build_request;
mod build_times;
mod builder;
mod compiler_cache;
mod error;
mod failed_attempts;
mod home_changes;
mod home_links;
mod key;
mod linked;
mod objects;
mod order;
mod private_folders;
mod progress;
mod read_files;
mod recipe;
mod room;
mod setup;
mod slot;
mod slot_error;
mod slots;
mod stored_failure;
mod text_file;
mod turns;
mod unbuilt;

pub(crate) use build_request::BuildRequest;
pub(crate) use build_times::differ_only_in_times;
pub(crate) use builder::{Built, build};
pub(crate) use error::BuildError;
pub(crate) use home_changes::changed_in_home;
pub(crate) use key::{Circumstances, build_key, prepare_key, run_key};
pub(crate) use linked::{Linked, MISSING, WroteLinked, linked_digest};
pub(crate) use order::{BuildAnswer, BuildOrder, SlotOrder};
pub(crate) use private_folders::private_folders;
pub(crate) use progress::BuildProgress;
#[cfg(feature = "fuzzing")]
pub(crate) use read_files::parse_dependencies;
pub(crate) use recipe::BuildRecipe;
pub(crate) use room::{Shortage, make_room};
pub(crate) use slot::{Slot, Stamp};
pub(crate) use slot_error::SlotError;
pub(crate) use slots::{HeldSlot, Slots, lock_for_job};
pub(crate) use stored_failure::failure_from_store;
pub(crate) use unbuilt::refuse;
