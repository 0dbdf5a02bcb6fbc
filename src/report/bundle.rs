//! A bundle: one `.tar.zst` with all that a hunt's answer rests on, for readers who have neither
//! the store nor the repository.
//!
//! Its first file is the manifest, with the digest of each other file. Two bundles of one hunt are
//! equal byte for byte.

mod pack;
mod secrets;
mod unpack;

use std::collections::BTreeMap;
use std::path::{Component, Path};

use serde::{Deserialize, Serialize};

pub(crate) use pack::pack;
pub(crate) use unpack::{BundleError, Unpacked, is_bundle, unpack};

/// The format of a bundle.
const BUNDLE_SCHEMA: &str = "bisect-ppl/bundle/1";

/// The name of the manifest.
const MANIFEST: &str = "bundle.json";

/// The folder for records of the store.
const STORE: &str = "store/";

/// What is in a bundle.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Manifest {
    /// [`BUNDLE_SCHEMA`].
    schema: String,
    /// The hunt's name.
    hunt: String,
    /// The version of the program that ran the hunt.
    tool: String,
    /// Every other file by its path.
    files: BTreeMap<String, FileEntry>,
}

/// A file of a bundle.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct FileEntry {
    /// SHA-256 of its content.
    sha256: String,
    /// Its size.
    bytes: u64,
}

/// Whether a path may occur in a bundle: it is relative, and has only names with one slash between
/// them.
fn is_plain(path: &str) -> bool {
    let is_name = |part| matches!(part, Component::Normal(_));
    !path.is_empty()
        && !path.contains(['\\', '\0'])
        && Path::new(path).components().all(is_name)
        && Path::new(path).components().map(|part| part.as_os_str().len() + 1).sum::<usize>()
            == path.len() + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_paths_are_taken() {
        for path in ["report.json", "logs/a-1.log", "store/runs/1.json"] {
            assert!(is_plain(path), "{path}");
        }
        for path in ["", "/etc/passwd", "../a", "logs/../../a", "./a", "a//b", "a/", "a\\b", "a\0"]
        {
            assert!(!is_plain(path), "{path}");
        }
    }
}
