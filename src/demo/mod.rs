//! The bundled demo engine. The program contains its sources, history and trained weights, and
//! writes them out as a git repository.

mod embedded;
mod layout;
mod plan;
mod scenario;

#[cfg(test)]
use embedded::ORACLE_TOML;
pub(crate) use layout::LayoutError;
pub use layout::lay_out;
pub use scenario::{names, scenario};
