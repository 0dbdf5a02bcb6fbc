//! The files that are compiled into the program.

use include_dir::{Dir, include_dir};

/// Everything below `demo/`.
pub(super) static DEMO: Dir<'static> = include_dir!("$CARGO_MANIFEST_DIR/demo");

/// The demo's configuration: the example `oracle.toml` at the top of this project.
pub(crate) const ORACLE_TOML: &str = include_str!("../../oracle.toml");
