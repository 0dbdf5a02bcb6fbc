//! Differences between a commit and its parent besides the source text: their build
//! configurations, and the named constants that the change sets.
//!
//! *Invariant:* no IO here. Functions take texts and return facts or differences; other modules
//! read files and call git.

mod build_folders;
mod built;
mod cmake_cache;
mod coined;
mod compare;
mod constant_syntax;
mod constants;
mod file_kinds;
mod file_names;
mod flags;
mod name_role;
mod names;
pub(crate) mod packages;
mod settings;
mod tokens;

pub(crate) use build_folders::{BuildFolders, absolute};
pub(crate) use built::{BuiltSources, newly_read};
pub(crate) use cmake_cache::cmake_cache;
pub(crate) use coined::{coined_name, coined_words};
pub(crate) use compare::setups;
pub(crate) use constant_syntax::{is_code, pathspecs};
pub(crate) use constants::{constants, used};
pub(crate) use file_kinds::{is_document, is_header};
pub(crate) use file_names::{file_names, has_file_name};
pub(crate) use flags::{compile_commands, flags_make, is_source, printed_command};
pub(crate) use names::{Names, names, words};
pub(crate) use settings::{changed_settings, names_among, only_sets_switches};
