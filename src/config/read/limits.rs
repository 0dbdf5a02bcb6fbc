//! `[limits]`: how much disk a hunt may use.

use super::super::DiskLimits;
use super::super::reader::Reader;
use super::super::table_reader::TableReader;

/// Reads the table.
pub(super) fn limits(reader: &mut Reader, root: &mut TableReader<'_>) -> DiskLimits {
    let mut section = root.section(reader, "limits");
    let mut limits = DiskLimits::default();
    let DiskLimits { slots, builds, logs, tensors } = &mut limits;
    for (key, limit) in [("slots", slots), ("builds", builds), ("logs", logs), ("tensors", tensors)]
    {
        if let Some(field) = section.get(key) {
            *limit = field.size(reader).or(*limit);
        }
    }
    section.finish(reader);
    limits
}
