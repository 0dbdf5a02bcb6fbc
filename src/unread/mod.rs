//! Which files of a repository cannot change what two builds made: neither build read them, and no
//! recipe names them in a way that may mean that it reads them. In doubt a file counts as read.
//!
//! *Invariant:* no IO here. Texts and lists of paths in, an answer for each path out.

mod cmake;
mod kinds;
mod names;
mod tree;
mod words;

pub(crate) use kinds::{is_recipe, keeps_no_records, runs_a_script};
pub(crate) use tree::{BuiltTree, Commands, UnreadFiles};
