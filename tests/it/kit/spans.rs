//! When the builds and runs of a store happened.

use std::path::{Path, PathBuf};

use serde_json::Value;

use super::TestEnvironment;

impl TestEnvironment {
    /// The store's records of `runs` or `builds`.
    pub(crate) fn records(&self, kind: &str) -> Vec<Value> {
        let files = files_below(&self.git_folder().join("bisect-ppl").join(kind)).into_iter();
        let records = files.filter(|path| path.extension().is_some_and(|end| end == "json"));
        records.map(|path| serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()).collect()
    }

    /// When each of these records began and ended, in seconds, in this order.
    pub(crate) fn spans(&self, kind: &str) -> Vec<[f64; 2]> {
        let records = self.records(kind).into_iter();
        let mut spans: Vec<[f64; 2]> = records
            .map(|record| {
                let at =
                    |key: &str| Some(record[key].as_str()?.parse::<jiff::Timestamp>().unwrap());
                let seconds = |at: jiff::Timestamp| at.as_millisecond() as f64 / 1000.0;
                let took = record["wall_s"].as_f64().unwrap();
                // A run's record has its beginning, a build's its end.
                let began =
                    at("started").map_or_else(|| seconds(at("finished").unwrap()) - took, seconds);
                [began, began + took]
            })
            .collect();
        spans.sort_by(|a, b| a[0].total_cmp(&b[0]));
        spans
    }
}

/// The most of these that went on at the same time.
pub(crate) fn most_at_once(spans: &[[f64; 2]]) -> usize {
    // A clock in milliseconds may show one as begun just before the other ended.
    let going_on =
        |at: f64| spans.iter().filter(move |[began, end]| *began <= at && at < end - 0.001);
    spans.iter().map(|[began, _]| going_on(*began).count()).max().unwrap_or(0)
}

fn files_below(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries.flat_map(|path| if path.is_dir() { files_below(&path) } else { vec![path] }).collect()
}
