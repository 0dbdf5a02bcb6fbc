//! A set of tensors with an order: a folder of `.npy` files, `.safetensors` files, or the text that
//! llama-eval-callback prints.

use std::path::{Path, PathBuf};

use crate::evaluation::TensorOrder;
use crate::files;

use super::entry::Entry;
use super::error::{DumpError, Problem};
use super::head::head;
use super::{printed_set, stored_set};

/// Maximum number of tensors. A model of 100 layers with 100 tensors each has 10,000.
const MOST: usize = 1 << 20;

/// A set of tensors.
#[derive(Debug)]
pub(crate) struct TensorSet {
    path: PathBuf,
    pub(super) order: TensorOrder,
    pub(super) tensors: Vec<Entry>,
}

impl TensorSet {
    /// Opens a set and reads all its headers. The first bytes of a file tell its format.
    pub(crate) fn open(path: &Path) -> Result<Self, DumpError> {
        let failed = |source| DumpError::Open { path: path.to_owned(), source };
        let meta = std::fs::metadata(path).map_err(failed)?;
        let (order, tensors) = if meta.is_dir() {
            stored_set::of_folder(path)?
        } else {
            let start = head(&files::open_target(path).map_err(failed)?, 12).map_err(failed)?;
            if stored_set::is_one(&start) {
                stored_set::of_file(path)?
            } else {
                (TensorOrder::Printed, printed_set::of_file(path)?)
            }
        };
        let problem = |what: String, cure: &str| DumpError::format(path, Problem::new(what, cure));
        if tensors.is_empty() {
            return Err(problem("it has no tensor".to_owned(), "write the dump again"));
        }
        if tensors.len() > MOST {
            let what = format!("it has more than {MOST} tensors");
            return Err(problem(what, "dump fewer tokens or fewer steps"));
        }
        Ok(Self { path: path.to_owned(), order, tensors })
    }

    /// The path as it was given.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Where its order comes from.
    pub(crate) fn order(&self) -> TensorOrder {
        self.order
    }

    /// How many tensors it has.
    pub(crate) fn count(&self) -> usize {
        self.tensors.len()
    }

    /// Whether it has only printed values: the outer ones of each dimension, with four decimals.
    pub(crate) fn is_printed(&self) -> bool {
        self.order == TensorOrder::Printed
    }
}
