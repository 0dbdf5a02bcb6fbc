//! Opens files that somebody else may have put there: files of the store, of the cache, and what an
//! engine wrote. All other modules open such files here.

mod owner;
mod regular;
mod removal;
mod space;
mod state;
mod tree;

pub(crate) use owner::{SharedFolder, check_own, make_own, owner};
pub(crate) use regular::{
    LONGEST, append, create, lock_file, open, open_target, read, try_lock_file,
};
pub(crate) use removal::{make_writable, remove_all};
pub(crate) use space::is_full;
pub(crate) use state::FileState;
pub(crate) use tree::{Entries, below, is_plain_path};
