//! `oracle.toml`: read, checked all at once, and turned into a [`Config`] that is valid by
//! construction.
//!
//! The text becomes a tree in which every value knows its place (`document`); overrides and
//! overlays are laid over that tree (`lay`); one pass over it (`read`) collects every
//! problem and yields the `Config`. There is no second way to read a file.

mod command;
mod document;
mod inputs;
mod lay;
mod load;
mod model;
mod parser;
mod problem;
mod read;
mod reader;
mod schema;
mod template;
#[cfg(test)]
mod tests;

pub use command::CommandError;
pub use inputs::InputError;
pub use load::{LoadError, Overlay, ResolveError};
pub use model::*;
pub use parser::{CHECKING, KLD_NAMES, Parser, Pick};
pub use problem::{ConfigError, Location, Problem};
pub use schema::schema;
pub use template::{MissingValue, Names, Placeholder, Template, TemplateError, Values, fill_env};
