//! Finds the commit that made an inference engine's answers worse, or made it slower.
//!
//! The rooms follow the flow of data; imports go downward only, and a test enforces it:
//! `cli → hunt → oracle → build, measure, report → store → config, git → evaluation →
//! process, ui`.

pub mod config;
pub mod evaluation;
pub mod process;
pub mod report;
pub mod store;
pub mod ui;
