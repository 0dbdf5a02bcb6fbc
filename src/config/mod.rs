//! `oracle.toml`: read, checked all at once, and turned into a [`Config`] that is valid by
//! construction.

mod model;
mod template;

pub use model::*;
pub use template::Template;
