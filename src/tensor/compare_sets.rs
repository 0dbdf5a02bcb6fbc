//! Compares two sets of tensors: tensor by tensor, on several threads and in bounded memory.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::evaluation::{
    TensorComparison, TensorDifference, TensorLevel, TensorPart, TensorVerdict,
};

use super::cache_check;
use super::conclusion::{self, Operand, Seen};
use super::difference::{Buffers, Difference, IsStopped, Window, difference};
use super::early_end::{self, EarlyEnd};
use super::entry::{Entry, Values};
use super::error::DumpError;
use super::matching::{Matching, changed_operations, matching};
use super::moved_shape;
use super::name::NameParts;
use super::set::TensorSet;
use super::sum_check::{self, Known};

/// A tensor may differ by this multiple of its own noise.
const NOISE: f64 = 4.0;

/// Printed values have four decimals, so their differences are multiples of 0.0001; half of that
/// covers what rounding in binary adds.
const HALF_PRINTED_STEP: f64 = 5e-5;

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

/// The difference of a tensor from the same tensor of a repeated dump.
#[derive(Clone, Copy, Debug, Default)]
struct Noise {
    /// The largest |Δ|.
    largest: f64,
    /// The difference of the sums of all values, as far as they are known.
    sum: f64,
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

/// What the threads share.
struct Job<'a> {
    sets: [&'a TensorSet; 2],
    matched: &'a Matching,
    noise: &'a [Option<Noise>],
    is_stopped: IsStopped<'a>,
}

impl Job<'_> {
    /// Compares a pair of tensors.
    fn pair(&self, place: usize, buffers: &mut Buffers) -> Result<TensorDifference, DumpError> {
        let (a, b) = self.matched.pairs[place];
        let entries = [&self.sets[0].tensors[a], &self.sets[1].tensors[b]];
        let mut one = described(entries, self.noise[a].map(|noise| noise.largest));
        let is_printed = self.sets.iter().any(|set| set.is_printed());
        // A file may store values in another type than the engine's. A printed type is the
        // engine's.
        let has_new_type = one.types.is_some() && self.sets.iter().all(|set| set.is_printed());
        if let Some([a, b]) = one.types.as_ref().filter(|_| has_new_type) {
            one.remark = Some(format!("its type is {a} in A and {b} in B"));
        }
        let slack = if is_printed { HALF_PRINTED_STEP } else { 0.0 };
        let found = compare_pair(entries, one.tolerance + slack, buffers, self.is_stopped)?;
        let (mut figures, mut values) = match found {
            Ok(found) => found,
            Err((TensorVerdict::NotCompared, _)) if has_new_type => {
                return Ok(TensorDifference { verdict: TensorVerdict::Type, ..one });
            }
            Err((verdict, remark)) => {
                return Ok(TensorDifference { verdict, remark: Some(remark), ..one });
            }
        };
        if figures.storage_step > one.tolerance {
            // Values that are stored in few bits have a wider tolerance, so the first position
            // beyond the tolerance may be another one.
            one.tolerance = figures.storage_step;
            let again = compare_pair(entries, one.tolerance + slack, buffers, self.is_stopped)?;
            if let Ok(again) = again {
                (figures, values) = again;
            }
        }
        let largest = figures.max_abs();
        if figures.non_finite == [0, 0] && entries[0].has_nan != entries[1].has_nan {
            figures.non_finite = entries.map(|entry| u64::from(entry.has_nan));
            one.remark = Some("its sum is NaN; the value that is NaN is not printed".to_owned());
        }
        one.verdict = if figures.non_finite != [0, 0] {
            TensorVerdict::NonFinite
        } else if largest.is_some_and(|largest| largest > one.tolerance + slack) {
            TensorVerdict::Beyond
        } else if has_new_type {
            TensorVerdict::Type
        } else if largest.is_none_or(|largest| largest == 0.0) {
            TensorVerdict::Equal
        } else {
            TensorVerdict::Within
        };
        one.max_abs = largest;
        one.mean_abs = figures.mean(figures.sum);
        one.rms = figures.mean(figures.squared).map(f64::sqrt);
        one.base_rms = figures.mean(figures.squares[0]).map(f64::sqrt);
        one.cosine = largest.map(|_| super::row::cosine(figures.squares, figures.squared));
        one.first_position = figures.first.map(|first| values[0].position(first));
        if let Some((_, at, pair)) = figures.largest {
            one.worst_position = Some(values[0].position(at));
            one.worst_values = Some(pair);
        }
        one.non_finite = figures.non_finite;
        one.sums = full_sums(entries);
        one.printed_only = entries.iter().any(|entry| entry.is_partial)
            && one.sums.is_none_or(|[a, b]| (b - a).abs() > 0.0);
        if let Some(sums) = one.sums.filter(|_| !one.is_different()) {
            let known = Known {
                count: one.shape.iter().product(),
                tolerance: one.tolerance,
                rms: one.base_rms.unwrap_or(0.0),
                noise: self.noise[a].map_or(0.0, |noise| noise.sum),
            };
            if (sums[1] - sums[0]).abs() > sum_check::allowed(sums, known) {
                let [a, b] = sums;
                one.verdict = TensorVerdict::Sum;
                one.remark = Some(format!(
                    "the sum of all its values is {a} in A and {b} in B; the printed ones are within \
                     the tolerance"
                ));
            }
        }
        Ok(one)
    }
}

/// The sums of all values of a pair whose values are not all printed.
fn full_sums(entries: [&Entry; 2]) -> Option<[f64; 2]> {
    let [a, b] = entries.map(|entry| entry.full_sum.filter(|_| entry.is_partial));
    Some([a?, b?])
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

/// A difference with no figures yet.
fn described(entries: [&Entry; 2], noise: Option<f64>) -> TensorDifference {
    let [a, b] = entries;
    let parts = NameParts::of(&a.name, a.operation.as_deref());
    let tolerance = parts.level.tolerance().max(NOISE * noise.unwrap_or(0.0));
    TensorDifference {
        name: a.name.clone(),
        other_name: (a.name != b.name).then(|| b.name.clone()),
        part: parts.part,
        layer: parts.layer,
        step: parts.step,
        operation: a.operation.clone(),
        types: a.kind.clone().zip(b.kind.clone()).filter(|(a, b)| a != b).map(|(a, b)| [a, b]),
        shape: a.shape.clone(),
        verdict: TensorVerdict::NotCompared,
        level: parts.level,
        tolerance,
        noise,
        printed_only: false,
        sums: None,
        max_abs: None,
        mean_abs: None,
        rms: None,
        base_rms: None,
        cosine: None,
        first_position: None,
        worst_position: None,
        worst_values: None,
        non_finite: [0, 0],
        remark: None,
    }
}

/// The figures of two tensors and their values, or why there are none.
type Compared = Result<(Difference, [Values; 2]), (TensorVerdict, String)>;

fn compare_pair(
    entries: [&Entry; 2],
    threshold: f64,
    buffers: &mut Buffers,
    is_stopped: IsStopped<'_>,
) -> Result<Compared, DumpError> {
    let [a, b] = entries;
    let sources = match (&a.source, &b.source) {
        (Ok(a), Ok(b)) => [a, b],
        (Err(why), _) => return Ok(Err((TensorVerdict::NotCompared, format!("A: {why}")))),
        (_, Err(why)) => return Ok(Err((TensorVerdict::NotCompared, format!("B: {why}")))),
    };
    if !is_reshape(&a.shape, &b.shape) {
        let what = format!("its shape is {:?} in A and {:?} in B", a.shape, b.shape);
        return Ok(Err((TensorVerdict::Shape, what)));
    }
    let mut pair = [sources[0].open()?, sources[1].open()?];
    if pair[0].count() != pair[1].count() {
        // The engine prints other values if the axes differ.
        let what = "other values are printed, because the axes differ".to_owned();
        return Ok(Err((TensorVerdict::NotCompared, what)));
    }
    let window = Window { begin: [0, 0], count: pair[0].count() };
    Ok(Ok((difference(&mut pair, window, threshold, buffers, is_stopped)?, pair)))
}

/// Whether two shapes are the same, or one is the other with neighbouring axes joined, so that the
/// values are in the same order.
fn is_reshape(a: &[u64], b: &[u64]) -> bool {
    let products = |shape: &[u64]| {
        let mut products = vec![1_u64];
        for length in shape.iter().rev() {
            let product = products[products.len() - 1].saturating_mul(*length);
            products.push(product);
        }
        products.dedup();
        products
    };
    let [a, b] = [products(a), products(b)];
    let (few, many) = if a.len() <= b.len() { (a, b) } else { (b, a) };
    few.last() == many.last() && few.iter().all(|product| many.contains(product))
}

/// Does jobs on several threads; the results are in the order of the jobs.
fn in_parallel<T: Send>(
    jobs: usize,
    threads: usize,
    work: &(dyn Fn(usize, &mut Buffers) -> Result<T, DumpError> + Sync),
) -> Result<Vec<T>, DumpError> {
    let next = AtomicUsize::new(0);
    let has_failed = AtomicBool::new(false);
    let results: Mutex<Vec<(usize, Result<T, DumpError>)>> = Mutex::default();
    let run = || {
        let mut buffers = Buffers::default();
        loop {
            let place = next.fetch_add(1, Ordering::Relaxed);
            if place >= jobs || has_failed.load(Ordering::Relaxed) {
                return;
            }
            let result = work(place, &mut buffers);
            has_failed.fetch_or(result.is_err(), Ordering::Relaxed);
            results.lock().unwrap_or_else(PoisonError::into_inner).push((place, result));
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads.clamp(1, jobs.max(1)) {
            scope.spawn(run);
        }
        run();
    });
    let mut results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
    results.sort_by_key(|(place, _)| *place);
    results.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests;
