//! `report.json`: for other programs.

use super::model::Report;

/// The report as indented JSON; the fields stand in the order of the model.
pub fn json(report: &Report) -> String {
    let mut text = serde_json::to_string_pretty(report).expect("a report is plain data");
    text.push('\n');
    text
}
