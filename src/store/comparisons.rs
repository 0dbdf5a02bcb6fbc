//! The figures of pairs of logits files. Each pair is compared once, since the files may have
//! gigabytes and never change.

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::evaluation::LogitsDifference;

use super::inventory::files_below;
use super::record_files::{publish_record, read_json};
use super::{Store, StoreError};

/// The version of the figures. Figures of another version are computed again.
const VERSION: u32 = 1;

#[derive(Serialize, Deserialize)]
struct Kept {
    version: u32,
    #[serde(flatten)]
    difference: LogitsDifference,
}

impl Store {
    /// The stored figures of two files, given by their digests.
    pub(crate) fn logits_difference(
        &self,
        base: &str,
        candidate: &str,
    ) -> Option<LogitsDifference> {
        let kept: Kept = read_json(&self.comparison(base, candidate))?;
        (kept.version == VERSION).then_some(kept.difference)
    }

    /// Stores the figures of two files.
    pub(crate) fn put_logits_difference(
        &self,
        base: &str,
        candidate: &str,
        difference: &LogitsDifference,
    ) -> Result<(), StoreError> {
        let kept = Kept { version: VERSION, difference: difference.clone() };
        publish_record(&self.comparison(base, candidate), &kept)
    }

    /// The paths of the stored figures that belong to a digest that is not in `kept`.
    pub(super) fn unkept_comparisons(
        &self,
        kept: &BTreeSet<String>,
    ) -> Result<Vec<PathBuf>, StoreError> {
        let mut files = files_below(&self.root().join("comparisons"))?;
        files.retain(|file| {
            let stem = file.file_stem().map(|stem| stem.to_string_lossy().into_owned());
            let sides = stem.as_deref().and_then(|stem| stem.split_once('-'));
            sides.is_some_and(|(a, b)| !kept.contains(a) || !kept.contains(b))
        });
        Ok(files)
    }

    fn comparison(&self, base: &str, candidate: &str) -> PathBuf {
        self.root().join("comparisons").join(format!("{base}-{candidate}.json"))
    }
}
