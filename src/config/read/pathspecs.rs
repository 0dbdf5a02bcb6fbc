//! Reads lists of git pathspecs.

use super::super::field::Field;
use super::super::reader::Reader;

/// Git pathspecs. `:(top,glob)` is put before each of them later, so they must be plain patterns.
pub(super) fn pathspecs(reader: &mut Reader, field: &Field<'_>) -> Vec<String> {
    let mut patterns = Vec::new();
    for field in field.list(reader).unwrap_or_default() {
        let Some(pattern) = field.inner_path(reader) else { continue };
        if pattern.starts_with([':', '!']) {
            field.refuse(
                reader,
                format!("`{pattern}`: only plain patterns; :(top,glob) is put before them."),
            );
        }
        patterns.push(pattern);
    }
    patterns
}
