//! Compares a tensor with its partner in another set: one verdict and its figures.

use crate::evaluation::{TensorDifference, TensorVerdict};

use super::difference::{Buffers, Difference, IsStopped, Window, difference};
use super::entry::{Entry, Values};
use super::error::DumpError;
use super::matching::Matching;
use super::name::NameParts;
use super::set::TensorSet;
use super::sum_check::{self, Known};

/// A tensor may differ by this multiple of its own noise.
const NOISE: f64 = 4.0;

/// Printed values have four decimals, so their differences are multiples of 0.0001; half of that
/// covers what rounding in binary adds.
const HALF_PRINTED_STEP: f64 = 5e-5;

/// The difference of a tensor from the same tensor of a repeated dump.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Noise {
    /// The largest |Δ|.
    pub(super) largest: f64,
    /// The difference of the sums of all values, as far as they are known.
    pub(super) sum: f64,
}

/// Two sets and what is known of their pairs: what the threads share.
pub(super) struct Job<'a> {
    pub(super) sets: [&'a TensorSet; 2],
    pub(super) matched: &'a Matching,
    pub(super) noise: &'a [Option<Noise>],
    pub(super) is_stopped: IsStopped<'a>,
}

impl Job<'_> {
    /// Compares a pair of tensors.
    pub(super) fn pair(
        &self,
        place: usize,
        buffers: &mut Buffers,
    ) -> Result<TensorDifference, DumpError> {
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
            // Values that are stored in few bits have a wider tolerance. The pair is compared again,
            // because the first position beyond it may be another one.
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
pub(super) fn full_sums(entries: [&Entry; 2]) -> Option<[f64; 2]> {
    let [a, b] = entries.map(|entry| entry.full_sum.filter(|_| entry.is_partial));
    Some([a?, b?])
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

pub(super) fn compare_pair(
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
pub(super) fn is_reshape(a: &[u64], b: &[u64]) -> bool {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joined_axes_have_the_same_values_in_the_same_order() {
        assert!(is_reshape(&[16, 96], &[1, 16, 96]));
        assert!(is_reshape(&[16, 4, 24], &[16, 96]));
        assert!(is_reshape(&[], &[1]));
        assert!(!is_reshape(&[16, 96], &[96, 16]));
        assert!(!is_reshape(&[16, 96], &[15, 96]));
        assert!(!is_reshape(&[4, 6], &[3, 8]));
    }
}
