//! Finds the commit that made an inference engine's answers worse, or made it slower.
//!
//! Imports between the modules go downward only, and a test enforces this:
//! `cli → init, demo, hunt → oracle → build, measure, report → differ, store → config, git →
//! search → stats, process, ui → evaluation`.

pub mod build;
pub mod cli;
pub mod config;
pub mod demo;
pub mod differ;
pub mod evaluation;
pub mod git;
pub mod hunt;
pub mod init;
pub mod measure;
pub mod oracle;
pub mod process;
pub mod report;
pub mod search;
pub mod stats;
pub mod store;
pub mod ui;
