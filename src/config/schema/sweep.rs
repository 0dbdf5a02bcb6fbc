//! `[sweep]` as types, for the schema alone.
#![expect(dead_code, reason = "only their schema is made; no value ever is")]
#![expect(rustdoc::broken_intra_doc_links, reason = "editors show these comments as they are")]

use schemars::{JsonSchema, json_schema};

/// The parameter sweep: compares a first bad commit with its parent at values of parameters.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct Sweep {
    /// NAME = [VALUES], or NAME = { values = [VALUES], range = [FROM, TO] }, where the range has
    /// whole numbers that may be tried too. A value is a number, a string, or a table with
    /// name, value and properties. Commands name a parameter as {sweep.NAME}; `threads` and
    /// `chunks` set {threads} and {chunks}.
    #[schemars(schema_with = "parameters")]
    parameters: (),
    /// The measures that are swept. By default all whose commands have a {sweep.NAME}.
    #[schemars(inner(length(min = 1)))]
    measures: Option<Vec<String>>,
    /// The most cells. A cell is one run at the commit and one at its parent, and a second run of
    /// each where they differ.
    #[schemars(range(min = 1, max = u32::MAX), extend("default" = 64))]
    budget: Option<u32>,
    /// How far a metric may differ between parent and commit, in its own unit, if no guard is on
    /// the measure.
    #[schemars(range(min = 0))]
    tolerance: Option<f64>,
}

fn parameters(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    let values = json_schema!({
        "type": "array",
        "minItems": 1,
        "items": { "anyOf": [
            { "type": ["string", "number"], "minLength": 1 },
            {
                "type": "object",
                "required": ["name", "value"],
                "additionalProperties": { "type": ["string", "number"], "minLength": 1 },
            },
        ] },
    });
    let range = json_schema!({
        "type": "array",
        "minItems": 2,
        "maxItems": 2,
        "items": { "type": "integer" },
    });
    json_schema!({
        "type": "object",
        "additionalProperties": { "anyOf": [
            values,
            {
                "type": "object",
                "required": ["values"],
                "additionalProperties": false,
                "properties": {
                    "values": values,
                    "range": range,
                },
            },
        ] },
    })
}
