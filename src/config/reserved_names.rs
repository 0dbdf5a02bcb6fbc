//! Names that a later version of oracle.toml will have. The reader refuses these names and says
//! that they are not available yet. `src/cli/unavailable.rs` lists such commands.

/// Keys of `[run]`.
pub(super) const RUN_KEYS: &[&str] = &["exclusive"];

/// Placeholders, without their braces.
pub(super) const PLACEHOLDERS: &[&str] = &["port"];
