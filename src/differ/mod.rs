//! What else differs between a commit and its parent, besides the source as such: what their
//! builds were configured with and what the change itself says by name.
//!
//! *Invariant:* no IO here. Texts come in, facts and differences go out; who reads a file or asks
//! git is another room's.

mod build_folders;
mod cmake_cache;
mod compare;
mod constants;
mod flags;
pub mod packages;
mod spelling;

pub use build_folders::BuildFolders;
pub use cmake_cache::cmake_cache;
pub use compare::setups;
pub use constants::constants;
pub use flags::{compile_commands, flags_make, printed_command};
pub use spelling::pathspecs;
