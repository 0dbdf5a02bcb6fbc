//! The values of keys as types, for the schema alone.
#![expect(dead_code, reason = "only their schema is made; no value ever is")]

use std::collections::BTreeMap;

use schemars::{JsonSchema, json_schema};

/// A string that is not empty.
pub(super) struct Text(String);

impl JsonSchema for Text {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "text".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        json_schema!({ "type": "string", "minLength": 1 })
    }
}

/// A length of time such as "90s", "30m" or "1h 30m": more than 0, at most a year.
pub(super) struct Time(String);

impl JsonSchema for Time {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "time".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        json_schema!({ "type": "string", "minLength": 1, "examples": ["90s", "30m", "1h 30m"] })
    }
}

/// A size such as "500 MB" or "50 GiB".
pub(super) struct Size(String);

impl JsonSchema for Size {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "size".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        let pattern = "^[0-9]+(\\.[0-9]+)? *(MB|GB|TB|MiB|GiB|TiB)$";
        json_schema!({ "type": "string", "pattern": pattern, "examples": ["50 GiB", "500 MB"] })
    }
}

/// A whole number from 1.
pub(super) struct Count(u32);

impl JsonSchema for Count {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "count".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        json_schema!({ "type": "integer", "minimum": 1, "maximum": u32::MAX })
    }
}

/// Environment variables; placeholders are filled in. GIT_* is stripped from every command's
/// environment.
pub(super) struct Env(BTreeMap<String, String>);

impl JsonSchema for Env {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "env".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        json_schema!({
            "type": "object",
            "additionalProperties": { "type": "string" },
            "propertyNames": { "pattern": "^[^=]+$", "not": { "pattern": "^GIT_" } },
        })
    }
}

/// The axes that measures are repeated over, each with its values.
pub(super) struct Matrix(BTreeMap<String, Vec<Text>>);

impl JsonSchema for Matrix {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "matrix".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        json_schema!({
            "type": "object",
            "additionalProperties": {
                "type": "array",
                "minItems": 1,
                "items": { "type": ["string", "number"], "minLength": 1 },
            },
        })
    }
}

pub(super) struct BelowOut(String);

impl JsonSchema for BelowOut {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "below-out".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        json_schema!({ "type": "string", "pattern": "^\\{out\\}/." })
    }
}

pub(super) struct Pointer(String);

impl JsonSchema for Pointer {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "pointer".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        json_schema!({ "type": "string", "pattern": "^(/([^~]|~[01])*)$" })
    }
}
