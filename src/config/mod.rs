//! Reads `oracle.toml` into a [`Config`], which is valid by construction. All problems of the
//! file are reported at once.
//!
//! `document` parses the text into a tree in which every value knows its place. `changes` applies
//! `--set` and `--arg` to the tree, and `merge` merges overrides and overlays into it. `read` goes
//! through the tree once, collects every problem and yields the `Config`. No other code reads the
//! file.

mod cell;
mod changes;
mod command;
mod document;
mod executor;
mod field;
mod gpus;
mod inputs;
mod level;
mod load;
mod merge;
mod model;
mod parser;
mod parser_table;
mod placeholder;
mod places;
mod problem;
mod read;
mod reader;
mod reserved_names;
mod schema;
mod slurm;
mod source;
mod sweep;
mod table_reader;
mod template;
#[cfg(test)]
mod tests;
mod withheld;

pub(crate) use changes::Changes;
pub(crate) use changes::{assignment, key_and_value};
pub(crate) use command::CommandError;
pub(crate) use command::plain_words;
pub(crate) use executor::{Executor, ExecutorSlot};
pub(crate) use inputs::InputError;
pub use level::Level;
pub(crate) use level::LevelTolerance;
pub(crate) use load::{LoadError, Overlay, ResolveError};
pub use model::*;
#[cfg(test)]
pub(crate) use parser::KLD_NAMES;
pub(crate) use parser::PARSER_KEYS;
pub(crate) use parser::{Parser, Pick};
pub(crate) use parser_table::checking_parsers;
pub(crate) use placeholder::{MissingValue, Names, Placeholder, Values};
pub(crate) use problem::{ConfigError, Location, Problem};
pub use schema::schema;
pub(crate) use slurm::{ConfirmNode, JobOptions, Slurm};
pub(crate) use sweep::{Sweep, SweepParameter, SweepValue};
pub use template::Part;
pub(crate) use template::fill_env;
pub(crate) use template::{Template, TemplateError};
pub(crate) use withheld::{secrets_of, without_secrets};
