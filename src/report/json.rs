//! `report.json`, for other programs.

use super::model::Report;

/// The report as indented JSON, fields in the order of [`Report`].
pub(crate) fn json(report: &Report) -> String {
    let mut text = serde_json::to_string_pretty(report).expect("a report is plain data");
    text.push('\n');
    text
}
