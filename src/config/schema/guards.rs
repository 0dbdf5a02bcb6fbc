//! `[[guard]]` and `[[level]]` as types, for the schema alone.
#![expect(dead_code, reason = "only their schema is made; no value ever is")]

use schemars::{JsonSchema, json_schema};

use super::values::{Count, Text};

/// A tolerance on a metric. Each guard has exactly one form.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, transform = one_form)]
pub(super) struct Guard {
    /// The metric: MEASURE or MEASURE.NAME. Its measure must yield it.
    metric: Text,
    /// How far the value may rise above the good endpoint's, in the metric's own unit.
    #[schemars(range(min = 0))]
    max_increase: Option<f64>,
    /// The same in percent of the good endpoint's value.
    #[schemars(range(min = 0))]
    max_increase_percent: Option<f64>,
    /// How far the value may fall below the good endpoint's, in the metric's own unit.
    #[schemars(range(min = 0))]
    max_decrease: Option<f64>,
    /// The same in percent of the good endpoint's value.
    #[schemars(range(min = 0))]
    max_decrease_percent: Option<f64>,
    /// The largest allowed value, whatever the good endpoint's value is.
    max: Option<f64>,
    /// The smallest allowed value, whatever the good endpoint's value is.
    min: Option<f64>,
    /// The value must equal the good endpoint's bit for bit. The only form for facts.
    #[schemars(schema_with = "only_true")]
    unchanged: Option<bool>,
    /// For a measure with the parser `logits`, whose name is then the `metric`: a named tolerance.
    preset: Option<LogitsPreset>,
}

/// The named tolerances of logits (docs/logits.md).
#[derive(JsonSchema)]
#[schemars(rename_all = "kebab-case")]
pub(super) enum LogitsPreset {
    /// All bits are equal.
    Bitwise,
    /// max |Δ| at most 1e-5.
    LosslessF32,
    /// max |Δ| at most 1e-3.
    LosslessF16,
    /// Each cosine at least 0.999, and mean KL at most 0.01 nats.
    Lossy,
}

fn one_form(schema: &mut schemars::Schema) {
    let forms: Vec<_> = schema
        .get("properties")
        .and_then(serde_json::Value::as_object)
        .map(|keys| keys.keys().filter(|key| *key != "metric").collect())
        .unwrap_or_default();
    let one_of = forms.iter().map(|form| serde_json::json!({ "required": [form] }));
    let one_of = serde_json::Value::Array(one_of.collect());
    schema.insert("required".to_owned(), serde_json::json!(["metric"]));
    schema.insert("oneOf".to_owned(), one_of);
}

/// One level of the engine.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct Level {
    /// The level's name, unique. kernel, layer, stage, forward, gradients, training and names such
    /// as training-20 have tolerances of their own.
    name: Text,
    /// The measures that check it.
    #[schemars(length(min = 1))]
    measures: Vec<Text>,
    /// The largest difference between the first bad commit and its parent, in each metric's unit.
    /// Default: by the name.
    #[schemars(range(min = 0))]
    tolerance: Option<f64>,
    /// For the levels of training: how many steps the measures train.
    steps: Option<Count>,
}

fn only_true(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    json_schema!({ "const": true })
}
