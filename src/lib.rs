//! Finds the commit that made an inference engine's answers worse, or made it slower.
//!
//! Imports between the modules go downward only; ARCHITECTURE.md has the order, and a test enforces
//! it.

pub(crate) mod build;
pub mod cli;
pub mod config;
pub mod demo;
pub(crate) mod differ;
pub mod evaluation;
pub(crate) mod files;
#[cfg(feature = "fuzzing")]
pub mod fuzzing;
pub(crate) mod git;
pub(crate) mod hunt;
pub(crate) mod init;
pub(crate) mod measure;
pub(crate) mod oracle;
pub mod process;
pub(crate) mod report;
pub mod search;
pub(crate) mod slurm;
pub mod stats;
pub(crate) mod store;
pub mod tensor;
pub mod ui;
pub(crate) mod unread;
