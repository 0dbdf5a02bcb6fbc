//! The printed values of one tensor in a text.

use std::os::unix::fs::FileExt;
use std::path::PathBuf;
use std::sync::Arc;

use crate::files;

use super::error::DumpError;
use super::printed::{printed_indices, printed_row};

/// Where the lines of a tensor are. The text was checked: all its lines are there.
#[derive(Clone, Debug)]
pub(super) struct Block {
    pub(super) path: Arc<PathBuf>,
    /// Bytes before its first row.
    pub(super) offset: u64,
    /// Bytes to the end of its last row.
    pub(super) bytes: usize,
    /// The lengths of the dimensions as llama.cpp gives them: the values of the first are adjacent.
    pub(super) dimensions: [u64; 4],
}

/// The printed values of a tensor.
#[derive(Debug)]
pub(super) struct Shown {
    pub(super) values: Vec<f64>,
    dimensions: [u64; 4],
}

impl Block {
    /// Reads the values.
    pub(super) fn read(&self) -> Result<Shown, DumpError> {
        let path = || self.path.as_ref().clone();
        let file = files::open_target(&self.path)
            .map_err(|source| DumpError::Open { path: path(), source })?;
        let mut bytes = vec![0; self.bytes];
        file.read_exact_at(&mut bytes, self.offset).map_err(|source| DumpError::Read {
            path: path(),
            at: self.offset,
            source,
        })?;
        let text = String::from_utf8_lossy(&bytes);
        let values = text.lines().filter_map(|line| printed_row(line.trim())).flatten().collect();
        Ok(Shown { values, dimensions: self.dimensions })
    }
}

impl Shown {
    /// The indices of a printed value on all axes but the last, the slowest axis first, without
    /// leading axes of length 1.
    pub(super) fn position(&self, value: u64) -> Vec<u64> {
        let [a, b, c, d] = self.dimensions;
        let shown = [(a, false), (b, false), (c, false), (d, true)]
            .map(|(length, is_last)| printed_indices(length, is_last));
        let mut rest = value / (shown[0].len().max(1) as u64);
        let mut position = Vec::new();
        for indices in &shown[1..] {
            let count = indices.len().max(1) as u64;
            let place = usize::try_from(rest % count).unwrap_or(0);
            position.push(indices.get(place).copied().unwrap_or(0));
            rest /= count;
        }
        position.reverse();
        let leading = axes(self.dimensions).len().saturating_sub(1);
        position.split_off(position.len() - leading)
    }
}

/// The axes of a tensor, the slowest first, without leading ones of length 1.
pub(super) fn axes(dimensions: [u64; 4]) -> Vec<u64> {
    let used = dimensions.iter().rposition(|length| *length != 1).unwrap_or(0);
    dimensions[..=used].iter().rev().copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn printed_values_have_the_positions_of_the_whole_tensor() {
        // 8 values in a row, 7 heads, 2 tokens: of each row and of the heads, six are printed.
        let shown = Shown { values: Vec::new(), dimensions: [8, 7, 2, 1] };
        assert_eq!(shown.position(0), [0, 0]);
        assert_eq!(shown.position(6 * 3), [0, 4]);
        assert_eq!(shown.position(6 * 6 + 6 * 5), [1, 6]);
        let row = Shown { values: Vec::new(), dimensions: [8, 1, 1, 1] };
        assert!(row.position(3).is_empty());
        assert_eq!(axes([8, 7, 2, 1]), [2, 7, 8]);
        assert_eq!(axes([1, 1, 1, 1]), [1]);
    }
}
