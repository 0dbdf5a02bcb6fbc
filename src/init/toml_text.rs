//! Values as TOML text, for the file and for the conditions in it.

/// A TOML string; a literal string if that is easier to read.
pub(super) fn quoted(text: &str) -> String {
    toml_edit::Value::from(text).to_string()
}
