//! `when`: the condition of an override, a patch or an overlay.

use super::super::Condition;
use super::super::field::Field;
use super::super::reader::Reader;
use super::super::table_reader::TableReader;

/// Reads a condition.
pub(super) fn condition(reader: &mut Reader, mut when: TableReader<'_>) -> Condition {
    if when.entries().next().is_none() {
        let what =
            "is empty; give one or more of missing, exists, contains, has_ancestor, lacks_ancestor";
        reader.report_problem(when.place, &when.key, what);
    }
    let path = |reader: &mut Reader, when: &mut TableReader<'_>, key| {
        when.get(key).and_then(|field| field.inner_path(reader))
    };
    let missing = path(reader, &mut when, "missing");
    let exists = path(reader, &mut when, "exists");
    let contains = when.get("contains").and_then(|field| contains(reader, &field));
    let has_ancestor = when.get("has_ancestor").and_then(|field| revision(reader, &field));
    let lacks_ancestor = when.get("lacks_ancestor").and_then(|field| revision(reader, &field));
    when.finish(reader);
    Condition { missing, exists, contains, has_ancestor, lacks_ancestor }
}

fn contains(reader: &mut Reader, field: &Field<'_>) -> Option<(String, String)> {
    let items = field.list(reader)?;
    let [file, text] = items.as_slice() else {
        field.refuse(reader, format!("expected [FILE, TEXT], found {} items.", items.len()));
        return None;
    };
    let file = file.inner_path(reader);
    let text = text.text(reader);
    Some((file?, text?.to_owned()))
}

/// Reads a revision of git. Whether it exists is checked later.
pub(super) fn revision(reader: &mut Reader, field: &Field<'_>) -> Option<String> {
    let text = field.text(reader)?;
    if text.starts_with('-') || text.contains("..") || text.contains(char::is_whitespace) {
        field.refuse(reader, format!("`{text}` is not a revision."));
    }
    Some(text.to_owned())
}
