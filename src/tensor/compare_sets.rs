//! Compares two sets of tensors: tensor by tensor, on several threads and in bounded memory.

use std::collections::BTreeMap;

use crate::evaluation::{TensorComparison, TensorDifference, TensorLevel, TensorPart};

use super::cache_check;
use super::conclusion::{self, Operand, Seen};
use super::difference::IsStopped;
use super::early_end::{self, EarlyEnd};
use super::error::DumpError;
use super::matching::{Matching, changed_operations, matching};
use super::moved_shape;
use super::name::NameParts;
use super::pair::{Job, Noise, compare_pair, full_sums, is_reshape};
use super::parallel::in_parallel;
use super::set::TensorSet;

/// Repeated dumps. Their differences from the base or the candidate widen the tolerances.
#[derive(Debug, Default)]
pub(crate) struct TensorNoise {
    /// Of the base's build, or of commits without an effect.
    pub of_base: Vec<TensorSet>,
    /// Of the candidate's build.
    pub of_candidate: Vec<TensorSet>,
}

/// Compares the candidate with the base. `is_stopped` is asked before each block of values.
///
/// # Errors
/// If no tensor has a partner, if reading fails, or if the user stops it.
pub(crate) fn compare_sets(
    base: &TensorSet,
    candidate: &TensorSet,
    noise: &TensorNoise,
    threads: usize,
    is_stopped: IsStopped<'_>,
) -> Result<TensorComparison, DumpError> {
    let are_graphs = base.is_printed() && candidate.is_printed();
    let matched = matching(&base.tensors, &candidate.tensors, are_graphs);
    if matched.pairs.is_empty() {
        let names = [base, candidate].map(|set| set.tensors[0].name.clone());
        let what = format!("they have no tensor in common (`{}`, `{}`)", names[0], names[1]);
        return Err(DumpError::mismatch(what, "dump the same model with the same hooks"));
    }
    same_tokens([base, candidate], &matched)?;
    let mut levels: Vec<Option<Noise>> = vec![None; base.tensors.len()];
    let mut widen = |place: usize, seen: Noise| {
        let old = levels[place].unwrap_or_default();
        let (largest, sum) = (old.largest.max(seen.largest), old.sum.max(seen.sum));
        levels[place] = Some(Noise { largest, sum });
    };
    for set in &noise.of_base {
        for (place, seen) in noise_of(base, set, threads, is_stopped)? {
            widen(place, seen);
        }
    }
    for set in &noise.of_candidate {
        for (partner, seen) in noise_of(candidate, set, threads, is_stopped)? {
            let pair = matched.pairs.iter().find(|(_, other)| *other == partner);
            if let Some((place, _)) = pair {
                widen(*place, seen);
            }
        }
    }
    let job = Job { sets: [base, candidate], matched: &matched, noise: &levels, is_stopped };
    let mut tensors: Vec<TensorDifference> =
        in_parallel(matched.pairs.len(), threads, &|place, buffers| job.pair(place, buffers))?;
    if are_graphs {
        moved_shape::leave_out(&mut tensors, [base, candidate].map(|set| &*set.tensors), &matched);
    }
    tell_apart(&mut tensors);
    let caches = cache_check::differences(base, candidate, is_stopped)?;
    let names = |side: usize, set: &TensorSet| {
        matched.unmatched[side].iter().map(|place| set.tensors[*place].name.clone()).collect()
    };
    let entry = |place: usize| &base.tensors[matched.pairs[place].0];
    // Weights are operands too, but no dump has them.
    let inputs = |place: usize| {
        let (own, _) = matched.pairs[place];
        let operand = |name: &String| {
            let nearest = (0..own).rev().find(|other| base.tensors[*other].name == *name)?;
            let pair = matched.pairs[..place].binary_search_by_key(&nearest, |(at, _)| *at);
            Some(pair.map_or_else(|_| Operand::Unmatched(name.clone()), Operand::Compared))
        };
        let names = &entry(place).inputs;
        (!names.is_empty()).then(|| names.iter().filter_map(operand).collect())
    };
    let seen = Seen {
        order: base.order(),
        printed_only: base.is_printed() || candidate.is_printed(),
        inputs: &inputs,
        unmatched: [names(0, base), names(1, candidate)],
        reordered: matched.reordered.iter().map(|at| base.tensors[*at].name.clone()).collect(),
        caches,
        changed_operations: changed_operations(&base.tensors, &candidate.tensors, &matched),
    };
    let mut found = conclusion::of(tensors, seen);
    let sets = [base, candidate];
    if let Some(first) = found.first.filter(|first| entry(*first).inputs.is_empty()) {
        found.unmatched_before = unmatched_before(first, sets, &matched);
    }
    if are_graphs && let Some(end) = early_end::of(sets.map(|set| set.tensors.as_slice()), &matched)
    {
        if found.first.is_none() {
            // Tensors that were never printed do not count as equal.
            let [this, other] = if end.side == 0 { ["A", "B"] } else { ["B", "A"] };
            let EarlyEnd { last, lacks, .. } = end;
            let what =
                format!("{this} ends early, after {last}: {other} goes on, with {lacks} more");
            return Err(DumpError::mismatch(
                what,
                "write the dump again, and look how its run ended",
            ));
        }
        found.ends_early[end.side] = Some(end.last);
    }
    Ok(found)
}

/// The names without a partner, of each set, between the pair at this index and the pair before it.
fn unmatched_before(first: usize, sets: [&TensorSet; 2], matched: &Matching) -> [Vec<String>; 2] {
    let [end, begin] = [Some(first), first.checked_sub(1)].map(|place| {
        let pair = place.map(|place| matched.pairs[place]);
        pair.map_or([None, None], |(a, b)| [Some(a), Some(b)])
    });
    [0, 1].map(|side| {
        let is_between = |place: &&usize| {
            end[side].is_some_and(|end| **place < end)
                && begin[side].is_none_or(|begin| **place > begin)
        };
        let between = matched.unmatched[side].iter().filter(is_between);
        between.map(|place| sets[side].tensors[*place].name.clone()).collect()
    })
}

/// Fails if the embeddings differ in the number of tokens: then all later tensors differ too.
fn same_tokens(sets: [&TensorSet; 2], matched: &Matching) -> Result<(), DumpError> {
    for (a, b) in &matched.pairs {
        let [a, b] = [&sets[0].tensors[*a], &sets[1].tensors[*b]];
        let parts = NameParts::of(&a.name, a.operation.as_deref());
        let is_it = parts.part == Some(TensorPart::Embedding) && parts.level == TensorLevel::Layer;
        let ([.., tokens, width], [.., others, other_width]) = (&*a.shape, &*b.shape) else {
            continue;
        };
        if is_it && width == other_width && !is_reshape(&a.shape, &b.shape) {
            let what =
                format!("not the same tokens: {} has {tokens} in A and {others} in B", a.name);
            let cure = "dump the same prompt, in batches of the same size";
            return Err(DumpError::mismatch(what, cure));
        }
    }
    Ok(())
}

/// The noise of each tensor of the base against another dump, by the tensor's index.
fn noise_of(
    base: &TensorSet,
    other: &TensorSet,
    threads: usize,
    is_stopped: IsStopped<'_>,
) -> Result<Vec<(usize, Noise)>, DumpError> {
    let are_graphs = base.is_printed() && other.is_printed();
    let pairs = matching(&base.tensors, &other.tensors, are_graphs).pairs;
    let found = in_parallel(pairs.len(), threads, &|at, buffers| {
        let (place, partner) = pairs[at];
        let entries = [&base.tensors[place], &other.tensors[partner]];
        let Ok(found) = compare_pair(entries, f64::INFINITY, buffers, is_stopped)? else {
            return Ok(None);
        };
        let sum = full_sums(entries).map_or(0.0, |[a, b]| (b - a).abs());
        Ok(found.0.max_abs().map(|largest| (place, Noise { largest, sum })))
    })?;
    Ok(found.into_iter().flatten().collect())
}

/// Adds the operation to names that occur several times.
fn tell_apart(tensors: &mut [TensorDifference]) {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for one in &*tensors {
        *counts.entry(one.name.clone()).or_default() += 1;
    }
    for one in tensors {
        if let Some(operation) = one.operation.as_ref().filter(|_| counts[&one.name] > 1) {
            one.name = format!("{} ({operation})", one.name);
        }
    }
}

#[cfg(test)]
mod tests;
