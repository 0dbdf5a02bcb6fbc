//! The commands around a hunt.

mod after;
mod check;
mod driver;
mod measure;
mod oracle;
mod plan;

use serde_json::Value;

use crate::kit::Hunt;

/// The journal's events of one kind.
fn events(hunt: &Hunt, kind: &str) -> Vec<Value> {
    let journal = hunt.file("journal.jsonl");
    let entries = journal.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
    entries.filter(|entry| entry["event"] == kind).collect()
}
