//! A tensor in a file, read row by row at given positions.
//!
//! Files are read into buffers, not mapped into memory: mapped pages count as resident memory, and
//! an error of the disk would end the program.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use crate::files;

use super::dtype::Encoding;
use super::error::{DumpError, Problem};
use super::head::{REDUMP, head, whole};
use super::layout::Layout;
use super::{kl_base, npy, safetensors};

/// Longer rows are refused: vocabularies have at most some hundred thousand tokens, and every
/// thread keeps a row of both files in memory.
const LONGEST_ROW: u64 = 1 << 22;

/// Bytes of tokens that are compared at once.
const TOKENS: usize = 64 << 10;

/// An open file with a tensor. The last axis is a row; all other axes together count the rows.
#[derive(Debug)]
pub struct Dump {
    path: PathBuf,
    file: File,
    format: &'static str,
    layout: Layout,
    rows: usize,
    length: usize,
    row_bytes: usize,
}

impl Dump {
    /// Opens a file and checks that it is complete. The first bytes tell its format. `tensor`
    /// chooses a tensor of a `.safetensors` file and has no meaning for others.
    pub fn open(path: &Path, tensor: Option<&str>) -> Result<Self, DumpError> {
        let failed = |source| DumpError::Open { path: path.to_owned(), source };
        let problem = |problem| DumpError::format(path, problem);
        let meta = std::fs::metadata(path).map_err(failed)?;
        if !meta.is_file() {
            let what = if meta.is_dir() { "it is a folder" } else { "it is no regular file" };
            return Err(problem(Problem::new(what, "name a file; pipes cannot be read here")));
        }
        let file = files::open_target(path).map_err(failed)?;
        let size = meta.len();
        let start = head(&file, 12).map_err(failed)?;
        let (format, layout, end) = if start.starts_with(npy::MAGIC) {
            let bytes = npy::header_bytes(&start).map_err(problem)?;
            let header = head(&file, bytes).map_err(failed)?;
            whole(&header, bytes)
                .and_then(|()| npy::read(&header))
                .map(|layout| ("npy", layout, None))
        } else if start.starts_with(kl_base::MAGIC) {
            let header = head(&file, kl_base::HEADER).map_err(failed)?;
            kl_base::read(&header).map(|layout| ("llama.cpp KL base", layout, None))
        } else if safetensors::is_start(&start) {
            let bytes = safetensors::header_bytes(&start).map_err(problem)?;
            let header = head(&file, bytes).map_err(failed)?;
            let found = whole(&header, bytes).and_then(|()| safetensors::read(&header, tensor));
            found.map(|(layout, end)| ("safetensors", layout, Some(end)))
        } else {
            Err(unknown(&start))
        }
        .map_err(problem)?;
        Self::checked(path, file, format, layout, (size, end)).map_err(problem)
    }

    /// Checks a layout against the size of its file. `end` is where the file must end, if that is
    /// not the end of the tensor.
    fn checked(
        path: &Path,
        file: File,
        format: &'static str,
        layout: Layout,
        (size, end): (u64, Option<u64>),
    ) -> Result<Self, Problem> {
        let (rows, length) = matrix(&layout)?;
        let row_bytes = layout.encoding.row_bytes(length).unwrap_or(usize::MAX);
        let bytes = (rows as u64).checked_mul(row_bytes as u64);
        let tensor_end = bytes.and_then(|bytes| layout.offset.checked_add(bytes));
        let Some(end) = end.or(tensor_end) else {
            return Err(Problem::new("its header names more values than a file can have", REDUMP));
        };
        if size < end {
            let there = size.saturating_sub(layout.offset) / row_bytes as u64;
            let what = format!(
                "the file ends early: it has {size} of {end} bytes, {} of {rows} positions",
                there.min(rows as u64)
            );
            return Err(Problem::new(what, "its program did not finish; write the dump again"));
        }
        if size > end {
            let what = format!("{} bytes follow after the end of the tensor", size - end);
            return Err(Problem::new(what, "write one tensor, once, into a new file"));
        }
        Ok(Self { path: path.to_owned(), file, format, layout, rows, length, row_bytes })
    }

    /// The path as it was given.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// `npy`, `safetensors` or `llama.cpp KL base`.
    pub fn format(&self) -> &'static str {
        self.format
    }

    /// The name of the tensor, in a `.safetensors` file.
    pub fn tensor(&self) -> Option<&str> {
        self.layout.tensor.as_deref()
    }

    /// How the values are stored.
    pub fn encoding(&self) -> Encoding {
        self.layout.encoding
    }

    /// The lengths of the axes.
    pub fn shape(&self) -> &[u64] {
        &self.layout.shape
    }

    /// The number of rows: the product of all axes but the last.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Values in a row.
    pub fn length(&self) -> usize {
        self.length
    }

    /// Bytes of a stored row.
    pub(super) fn row_bytes(&self) -> usize {
        self.row_bytes
    }

    /// Reads stored rows from the given one on, until the buffer is full.
    pub(super) fn read_rows(&self, first: usize, buffer: &mut [u8]) -> Result<(), DumpError> {
        self.read(self.layout.offset + first as u64 * self.row_bytes as u64, buffer)
    }

    fn read(&self, at: u64, buffer: &mut [u8]) -> Result<(), DumpError> {
        let failed = |source| DumpError::Read { path: self.path.clone(), at, source };
        self.file.read_exact_at(buffer, at).map_err(failed)
    }

    /// Checks that two files were made from the same tokens, as far as both say so.
    pub(super) fn same_tokens(&self, other: &Self) -> Result<(), DumpError> {
        const CURE: &str = "make both with the same text, the same tokenizer and the same options";
        let (Some(mine), Some(theirs)) = (self.layout.tokens, other.layout.tokens) else {
            return Ok(());
        };
        if mine.context != theirs.context || mine.count != theirs.count {
            let said =
                [mine, theirs].map(|one| format!("{} × {}", one.count / one.context, one.context));
            let what =
                format!("one has {} tokens, the other {} (chunks × n_ctx)", said[0], said[1]);
            return Err(DumpError::mismatch(what, CURE));
        }
        let mut buffers = [vec![0; TOKENS], vec![0; TOKENS]];
        let total = 4 * mine.count;
        let mut at = 0;
        while at < total {
            let bytes = usize::try_from(total - at).map_or(TOKENS, |left| left.min(TOKENS));
            let [a, b] = &mut buffers;
            self.read(mine.offset + at, &mut a[..bytes])?;
            other.read(theirs.offset + at, &mut b[..bytes])?;
            if let Some(differs) = (0..bytes).find(|index| a[*index] != b[*index]) {
                let token = (at + differs as u64) / 4;
                return Err(DumpError::mismatch(format!("they differ in token {token}"), CURE));
            }
            at += bytes as u64;
        }
        Ok(())
    }
}

/// The problem of a file that begins with none of the known signatures.
fn unknown(start: &[u8]) -> Problem {
    let cure = "write a .npy file (numpy.save) or a .safetensors file";
    if start.is_empty() {
        return Problem::new("the file is empty", REDUMP);
    }
    if start.starts_with(b"PK") {
        return Problem::new("it is a zip archive, such as .npz or PyTorch's .pt", cure);
    }
    if start.starts_with(b"GGUF") {
        return Problem::new("it is a GGUF model, not a dump of logits", cure);
    }
    Problem::new("it is no .npy, no .safetensors and no KL-divergence base file of llama.cpp", cure)
}

/// Rows and their length.
fn matrix(layout: &Layout) -> Result<(usize, usize), Problem> {
    let Some((length, above)) = layout.shape.split_last() else {
        return Err(Problem::new("it has one value and no axis", "dump [positions, vocab]"));
    };
    let rows = above.iter().try_fold(1_u64, |rows, axis| rows.checked_mul(*axis));
    let rows = rows.and_then(|rows| usize::try_from(rows).ok());
    let (Some(rows), Ok(length)) = (rows, usize::try_from(*length)) else {
        return Err(Problem::new("its header names more values than a file can have", REDUMP));
    };
    if rows == 0 || length == 0 {
        let what = format!("it has no values: its shape is {:?}", layout.shape);
        return Err(Problem::new(what, REDUMP));
    }
    if length as u64 > LONGEST_ROW {
        let what = format!("a row of {length} values is longer than {LONGEST_ROW}");
        return Err(Problem::new(what, "dump [positions, vocab], with the vocabulary last"));
    }
    Ok((rows, length))
}

#[cfg(test)]
mod tests;
