//! The check of a KV cache: a set that holds a full forward pass (`full.NAME`) and the same tokens
//! in two parts (`prefill.NAME`, `decode.NAME`) must have the same rows in both.

use std::collections::BTreeMap;

use super::difference::{Buffers, IsStopped, Window, difference};
use super::entry::{Entry, Source};
use super::error::DumpError;
use super::name::NameParts;
use super::set::TensorSet;

/// The difference of a full pass's tensor from the same tensor in two parts.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct CacheDifference {
    /// Its name, without `full.`.
    pub(super) name: String,
    /// The largest difference, in A and in B.
    pub(super) max_abs: [f64; 2],
    pub(super) tolerance: f64,
}

/// The differences of the tensors that both sets have in full and in parts.
pub(super) fn differences(
    base: &TensorSet,
    candidate: &TensorSet,
    is_stopped: IsStopped<'_>,
) -> Result<Vec<CacheDifference>, DumpError> {
    let sets = [base, candidate].map(by_name);
    let mut found = Vec::new();
    for name in base.tensors.iter().filter_map(|entry| entry.name.strip_prefix("full.")) {
        let mut max_abs = [0.0; 2];
        let mut is_there = true;
        for (side, set) in sets.iter().enumerate() {
            match within(set, name, is_stopped)? {
                Some(largest) => max_abs[side] = largest,
                None => is_there = false,
            }
        }
        if is_there {
            let tolerance = NameParts::of(name, None).level.tolerance();
            found.push(CacheDifference { name: name.to_owned(), max_abs, tolerance });
        }
    }
    Ok(found)
}

fn by_name(set: &TensorSet) -> BTreeMap<&str, &Entry> {
    set.tensors.iter().map(|entry| (entry.name.as_str(), entry)).collect()
}

/// The largest difference between the full pass and its parts; `None` if the set lacks one, or if
/// the rows do not add up.
fn within(
    set: &BTreeMap<&str, &Entry>,
    name: &str,
    is_stopped: IsStopped<'_>,
) -> Result<Option<f64>, DumpError> {
    let entry = |pass: &str| set.get(format!("{pass}.{name}").as_str()).copied();
    let (Some(full), Some(prefill), Some(decode)) =
        (entry("full"), entry("prefill"), entry("decode"))
    else {
        return Ok(None);
    };
    let values = |entry: &Entry| entry.shape.iter().product::<u64>();
    let (first, second) = (values(prefill), values(decode));
    let is_whole = first + second == values(full)
        && [prefill, decode].iter().all(|part| part.shape.last() == full.shape.last());
    // A printed tensor may lack values, so only stored ones are checked.
    let source = |entry: &Entry| match &entry.source {
        Ok(source @ Source::Stored(_)) if is_whole => Some(source.clone()),
        _ => None,
    };
    let (Some(full), Some(prefill), Some(decode)) = (source(full), source(prefill), source(decode))
    else {
        return Ok(None);
    };
    let mut largest = 0.0_f64;
    for (part, begin, count) in [(prefill, 0, first), (decode, first, second)] {
        let mut pair = [full.open()?, part.open()?];
        let window = Window { begin: [begin, 0], count };
        let mut buffers = Buffers::default();
        let found = difference(&mut pair, window, f64::INFINITY, &mut buffers, is_stopped)?;
        let is_broken = found.non_finite != [0, 0];
        largest =
            largest.max(if is_broken { f64::INFINITY } else { found.max_abs().unwrap_or(0.0) });
    }
    Ok(Some(largest))
}
