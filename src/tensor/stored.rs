//! The values of one tensor of a set, read in blocks in the order of memory.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use crate::files;

use super::dtype::Encoding;
use super::error::{DumpError, Problem};
use super::head::REDUMP;
use super::layout::Layout;

/// A tensor in a file, as a header describes it.
#[derive(Clone, Debug)]
pub(super) struct Stored {
    path: PathBuf,
    layout: Layout,
    values: u64,
}

impl Stored {
    /// Checks a layout against the size of its file. `end` is where the file must end, if that is
    /// not the end of the tensor.
    pub(super) fn checked(
        path: &Path,
        layout: Layout,
        size: u64,
        end: Option<u64>,
    ) -> Result<Self, Problem> {
        let values = layout.shape.iter().try_fold(1_u64, |values, axis| values.checked_mul(*axis));
        let bytes = values.and_then(|values| values.checked_mul(layout.encoding.size() as u64));
        let own_end = bytes.and_then(|bytes| layout.offset.checked_add(bytes));
        let (Some(values), Some(own_end)) = (values, own_end) else {
            return Err(Problem::new("its header names more values than a file can have", REDUMP));
        };
        let end = end.unwrap_or(own_end);
        let wanted = end.max(own_end);
        if size < wanted {
            let what = format!("the file ends early: it has {size} of {wanted} bytes");
            return Err(Problem::new(what, "its program did not finish; write the dump again"));
        }
        if size > end {
            let what = format!("{} bytes follow after the end of the tensor", size - end);
            return Err(Problem::new(what, "write one tensor, once, into a new file"));
        }
        Ok(Self { path: path.to_owned(), layout, values })
    }

    /// The lengths of the axes.
    pub(super) fn shape(&self) -> &[u64] {
        &self.layout.shape
    }

    /// How many values it has.
    pub(super) fn values(&self) -> u64 {
        self.values
    }

    /// How the values are stored.
    pub(super) fn encoding(&self) -> Encoding {
        self.layout.encoding
    }

    /// Opens the file.
    pub(super) fn open(&self) -> Result<OpenTensor, DumpError> {
        let file = files::open_target(&self.path)
            .map_err(|source| DumpError::Open { path: self.path.clone(), source })?;
        Ok(OpenTensor { stored: self.clone(), file, bytes: Vec::new() })
    }
}

/// A tensor with an open file, and a buffer for it.
#[derive(Debug)]
pub(super) struct OpenTensor {
    stored: Stored,
    file: File,
    bytes: Vec<u8>,
}

impl OpenTensor {
    /// What the header says of it.
    pub(super) fn stored(&self) -> &Stored {
        &self.stored
    }

    /// Reads stored bytes from the value `first` on, `count` values.
    fn read(&mut self, first: u64, count: usize) -> Result<(), DumpError> {
        let size = self.stored.encoding().size();
        self.bytes.resize(count * size, 0);
        let at = self.stored.layout.offset + first * size as u64;
        let failed = |source| DumpError::Read { path: self.stored.path.clone(), at, source };
        self.file.read_exact_at(&mut self.bytes, at).map_err(failed)
    }

    /// Reads values as f32.
    pub(super) fn singles(&mut self, first: u64, values: &mut [f32]) -> Result<(), DumpError> {
        self.read(first, values.len())?;
        self.stored.encoding().decode(&self.bytes, values);
        Ok(())
    }

    /// Reads values as f64, exactly.
    pub(super) fn doubles(
        &mut self,
        first: u64,
        values: &mut [f64],
        scratch: &mut [f32],
    ) -> Result<(), DumpError> {
        self.read(first, values.len())?;
        self.stored.encoding().decode_exactly(&self.bytes, values, scratch);
        Ok(())
    }
}
