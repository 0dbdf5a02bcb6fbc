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

mod answers;
mod architecture;
mod auto_mode;
mod bad_input;
mod bundle;
mod chance_checks;
mod command_line;
mod commands;
mod committed_output;
mod compiler_cache;
mod configuration;
mod confirmed_steps;
mod contradicted;
mod damaged;
mod demo;
mod detached;
mod diff;
mod disk;
mod dropped_improvements;
mod earlier_hunts;
mod effects;
mod eras;
mod failure_rates;
mod faults;
mod first_tensor;
mod followed;
mod generated;
mod git_folder;
mod hidden_steps;
mod hostile;
mod idle_slots;
mod init;
mod installed_copies;
mod kept_builds;
mod kept_steps;
mod kills;
mod kit_itself;
mod lasting;
mod leaks;
mod left_open;
mod levels;
mod lfs;
mod limits;
mod live_page;
mod local_files;
mod localize;
mod logits;
mod lost_lines;
mod machine_changes;
mod memory;
mod mostly_mended;
mod neighbours;
mod not_comparable;
mod notify;
mod often_touched;
mod other_places;
mod pages;
mod poison;
mod posterior;
mod prior;
mod process;
mod properties;
mod renamed;
mod renamed_checks;
mod reworded;
mod same_program;
mod same_text;
mod same_time;
mod sandbox;
mod scenarios;
mod seeds;
mod shapes;
mod simulation;
mod slot_paths;
mod slots;
mod slots_in_noise;
mod slurm;
mod status;
mod store;
mod suites;
mod switched;
mod taken_back;
mod taken_ports;
mod tensors;
mod third_values;
mod timed;
mod uneven_builds;
mod unneeded;
mod unread;
mod verify;
mod world;
mod worlds;
mod worse_without;
mod written_files;
