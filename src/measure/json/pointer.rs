//! JSON pointers (RFC 6901), walked one key at a time.

use serde_json::Value as Json;

/// The keys of a pointer, from the outermost one, without escapes.
pub(super) fn keys_of(pointer: &str) -> impl Iterator<Item = String> {
    pointer.split('/').skip(1).map(|key| key.replace("~1", "/").replace("~0", "~"))
}

/// The element of an array, or the value of a field.
pub(super) fn child<'d>(of: &'d Json, key: &str) -> Option<&'d Json> {
    match of {
        Json::Array(items) => items.get(key.parse::<usize>().ok()?),
        Json::Object(fields) => fields.get(key),
        _ => None,
    }
}
