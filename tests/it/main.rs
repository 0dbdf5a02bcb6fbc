//! Hunts in real repositories, with real processes and a scripted engine.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::float_cmp,
    clippy::needless_pass_by_value,
    reason = "tests start programs, compare what was printed, take labels as they come, and stop at the first surprise"
)]
#![allow(missing_docs, reason = "a test's name says what it is")]

mod kit;

mod again;
mod answers;
mod architecture;
mod commands;
mod configuration;
mod demo;
mod failures;
mod filters;
mod innocent;
mod isolation;
mod kills;
mod kit_itself;
mod merges;
mod noise;
mod pages;
mod poison;
mod process;
mod refusals;
mod several;
mod skips;
mod world;
