//! The header of the file that `llama-perplexity --kl-divergence-base FILE` writes.
//!
//! Little-endian: the magic, then n_ctx, n_vocab and n_chunk as i32, then n_chunk × n_ctx tokens as
//! i32. Then, for each chunk, one row of log-probabilities for each of the n_ctx − 1 − ⌊n_ctx / 2⌋
//! positions that the program scores: the second half of the chunk without its last token. Source:
//! `tools/perplexity/perplexity.cpp` of llama.cpp.

use super::dtype::Encoding;
use super::error::Problem;
use super::layout::{Layout, Tokens};

/// The first bytes of every file.
pub(super) const MAGIC: &[u8] = b"_logits_";

/// The bytes that [`read`] needs.
pub(super) const HEADER: usize = 20;

/// Reads the header.
pub(super) fn read(header: &[u8]) -> Result<Layout, Problem> {
    let number = |at: usize| -> Option<u64> {
        let bytes = header.get(at..)?.first_chunk()?;
        u64::try_from(i32::from_le_bytes(*bytes)).ok().filter(|number| *number > 0)
    };
    let (Some(context), Some(vocab), Some(chunks)) = (number(8), number(12), number(16)) else {
        let cure = "write it again with llama-perplexity --kl-divergence-base";
        return Err(Problem::new("its header cannot be read", cure));
    };
    let count = context * chunks;
    Ok(Layout {
        tensor: None,
        encoding: Encoding::LogProb16,
        shape: vec![chunks * (context - 1 - context / 2), vocab],
        offset: HEADER as u64 + 4 * count,
        tokens: Some(Tokens { offset: HEADER as u64, count, context }),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(numbers: [i32; 3]) -> Vec<u8> {
        let numbers = numbers.iter().flat_map(|number| number.to_le_bytes());
        MAGIC.iter().copied().chain(numbers).collect()
    }

    #[test]
    fn the_scored_half_of_each_chunk_has_rows() {
        let layout = read(&header([512, 32_000, 3])).unwrap();
        assert_eq!(layout.shape, [3 * 255, 32_000]);
        assert_eq!(layout.offset, 20 + 4 * 3 * 512);
        let layout = read(&header([7, 11, 1])).unwrap();
        assert_eq!(layout.shape, [3, 11]);
    }

    #[test]
    fn impossible_numbers_are_refused() {
        for numbers in [[0, 5, 1], [512, -1, 1], [512, 5, 0]] {
            assert!(read(&header(numbers)).is_err(), "{numbers:?}");
        }
        assert!(read(MAGIC).is_err());
    }
}
