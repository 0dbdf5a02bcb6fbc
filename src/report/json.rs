//! `report.json`, for other programs.

use crate::ui::plain_json;

use super::model::{Report, SCHEMA};

/// A report from its JSON; the reason in words if it is none.
pub(crate) fn from_json(bytes: &[u8]) -> Result<Report, String> {
    let value: serde_json::Value =
        serde_json::from_slice(bytes).map_err(|error| format!("it is not JSON: {error}"))?;
    match value.get("schema").and_then(serde_json::Value::as_str) {
        Some(SCHEMA) => {}
        Some(other) => return Err(format!("its schema is `{other}`, not `{SCHEMA}`")),
        None => return Err("it is not a report of this program".to_owned()),
    }
    serde_json::from_value(value).map_err(|error| format!("it is not a whole report: {error}"))
}

/// The report as indented JSON, fields in the order of [`Report`], safe to show on a terminal.
pub(crate) fn json(report: &Report) -> String {
    let text = serde_json::to_string_pretty(report).expect("a report is plain data");
    plain_json(&text) + "\n"
}
