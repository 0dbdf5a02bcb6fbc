//! Reads what llama-eval-callback and llama-debug print as a set of tensors. Only the printed
//! values are in it: the first and last three of each dimension but the last, with four decimals.

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::files;

use super::entry::{Entry, Source};
use super::error::{DumpError, Problem};
use super::printed::{PrintedHead, PrintedTensor, printed_sum};
use super::printed_block::{Block, axes};

/// Longer lines are not part of a tensor.
const LONGEST_LINE: u64 = 1 << 20;

/// Tensors with more bytes of text are refused, because a tensor's text is read into memory.
const LONGEST_TEXT: u64 = 256 << 20;

/// A tensor that is being read.
struct Open {
    tensor: PrintedTensor,
    begin: u64,
    end: u64,
}

/// The tensors of a text, in its order.
pub(super) fn of_file(path: &Path) -> Result<Vec<Entry>, DumpError> {
    let failed = |source| DumpError::Open { path: path.to_owned(), source };
    let shared = Arc::new(path.to_owned());
    let mut text = BufReader::new(files::open_target(path).map_err(failed)?);
    let (mut tensors, mut wrong) = (Vec::new(), [0_usize; 2]);
    let mut open: Option<Open> = None;
    let mut sums_are_full = false;
    let (mut line, mut at) = (Vec::new(), 0_u64);
    let mut close = |open: Option<Open>| {
        let Some(one) = open else { return };
        if let Some(counts) = one.tensor.has_offset_bug() {
            wrong[usize::from(counts)] += 1;
        }
        sums_are_full |= one.tensor.sums_more_than_it_shows();
        tensors.push(entry(&one, &shared));
    };
    loop {
        line.clear();
        let read = text
            .by_ref()
            .take(LONGEST_LINE)
            .read_until(b'\n', &mut line)
            .map_err(|source| DumpError::Read { path: path.to_owned(), at, source })?;
        if read == 0 {
            break;
        }
        let begin = at;
        at += read as u64;
        let words = String::from_utf8_lossy(&line);
        if let Some(head) = PrintedHead::of(&words) {
            close(open.replace(Open { tensor: PrintedTensor::new(head), begin: at, end: at }));
        } else if let Some(one) = &mut open {
            let words = words.trim();
            if let Some(sum) = words.strip_prefix("sum = ").and_then(printed_sum) {
                one.tensor.sum(sum);
            } else if one.tensor.row(words) {
                one.end = at;
            } else if one.end == one.begin {
                // Other lines before the first row are not read again.
                (one.begin, one.end) = (begin, begin);
            }
        }
    }
    let cut =
        open.as_ref().filter(|one| one.tensor.is_cut()).map(|one| one.tensor.head.name.clone());
    close(open);
    let problem = |what: &str, cure: &str| DumpError::format(path, Problem::new(what, cure));
    if let Some(cut) = cut {
        let what = match tensors.iter().rev().nth(1) {
            Some(last) => format!("it ends early, after {}: {cut} is cut", last.name),
            None => format!("it ends early: {cut} is cut"),
        };
        let cure = format!("write the dump again; to compare what is there, remove {cut}");
        return Err(problem(&what, &cure));
    }
    if tensors.is_empty() {
        return Err(problem(
            "it is no .npy, no .safetensors and no output of llama-eval-callback",
            "name a file or a folder with tensors",
        ));
    }
    if wrong[1] > 0 && wrong[1] >= wrong[0] {
        return Err(problem(
            "the values are the first one plus distances in memory, as llama.cpp printed them \
             until 2024-05-10",
            "use a newer llama-eval-callback",
        ));
    }
    if !sums_are_full {
        // Until 2025-08-28, llama.cpp printed the sum of the printed values.
        for one in &mut tensors {
            one.full_sum = None;
        }
    }
    Ok(tensors)
}

fn entry(one: &Open, path: &Arc<PathBuf>) -> Entry {
    let PrintedHead { name, operation, sources, shape, .. } = one.tensor.head.clone();
    let source = match usize::try_from(one.end - one.begin) {
        _ if one.tensor.head.bytes().is_none() => {
            Err(format!("values of type {} are not printed", one.tensor.head.kind()))
        }
        _ if !one.tensor.is_complete() => Err("its output is cut".to_owned()),
        Ok(bytes) if bytes as u64 <= LONGEST_TEXT => Ok(Source::Printed(Block {
            path: path.clone(),
            offset: one.begin,
            bytes,
            dimensions: shape,
        })),
        _ => Err(format!("its text is longer than {} MiB", LONGEST_TEXT >> 20)),
    };
    Entry {
        name,
        operation: Some(operation),
        inputs: sources,
        kind: Some(one.tensor.head.kind().to_owned()),
        shape: axes(shape),
        is_partial: !one.tensor.is_whole(),
        full_sum: one.tensor.sum.filter(|sum| sum.is_finite()),
        has_nan: one.tensor.sum.is_some_and(f64::is_nan),
        source,
    }
}

#[cfg(test)]
mod tests;
