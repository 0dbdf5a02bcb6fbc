//! A quantile of many values in bounded memory.

/// Values that are kept one by one: 32 MiB.
const KEPT: usize = 4 << 20;

/// Number of low bits of an f64 that do not name its bin: the exponent and 12 bits of the mantissa
/// do.
const DROPPED: u32 = 52 - 12;

/// Bins begin at this value; smaller ones share the first bin.
const SMALLEST: f64 = 1e-18;
/// Larger values share the last bin.
const LARGEST: f64 = 1e6;

/// Collects values of at least zero. With at most [`KEPT`] values, quantiles are exact. With more,
/// the values are counted in bins, and a quantile is at most 0.025 % too low.
#[derive(Debug, Default)]
pub(super) struct Quantile {
    kept: Vec<f64>,
    bins: Vec<u64>,
    count: u64,
}

impl Quantile {
    /// Adds values; the order has no effect.
    pub(super) fn add(&mut self, values: &[f64]) {
        self.count += values.len() as u64;
        if self.bins.is_empty() && self.kept.len() + values.len() <= KEPT {
            self.kept.extend(values);
            return;
        }
        if self.bins.is_empty() {
            self.bins = vec![0; bin(LARGEST) + 1];
        }
        for value in std::mem::take(&mut self.kept).iter().chain(values) {
            self.bins[bin(*value)] += 1;
        }
    }

    /// The nearest rank: the smallest value that at least this percentage of the values does not
    /// exceed. `None` if there are no values.
    pub(super) fn nearest_rank(&mut self, percent: u64) -> Option<f64> {
        let rank = (percent * self.count).div_ceil(100).max(1);
        if self.bins.is_empty() {
            let index = usize::try_from(rank - 1).ok()?;
            let kept = &mut self.kept;
            return (index < kept.len())
                .then(|| *kept.select_nth_unstable_by(index, f64::total_cmp).1);
        }
        let mut below = 0;
        let found = self.bins.iter().position(|count| {
            below += count;
            below >= rank
        });
        found.map(lowest)
    }
}

/// The bin of a value.
fn bin(value: f64) -> usize {
    // The bits of positive floats have the order of the floats.
    let bits =
        (value.clamp(SMALLEST, LARGEST).to_bits() >> DROPPED) - (SMALLEST.to_bits() >> DROPPED);
    usize::try_from(bits).expect("there are a few hundred thousand bins")
}

/// The lowest value of a bin.
fn lowest(bin: usize) -> f64 {
    if bin == 0 {
        return 0.0;
    }
    f64::from_bits((bin as u64 + (SMALLEST.to_bits() >> DROPPED)) << DROPPED)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nearest_rank_is_one_of_the_values() {
        let mut some = Quantile::default();
        assert_eq!(some.nearest_rank(99), None);
        some.add(&[3.0]);
        assert_eq!(some.nearest_rank(99), Some(3.0));
        let values: Vec<f64> = (0..200).rev().map(f64::from).collect();
        let mut many = Quantile::default();
        many.add(&values[..50]);
        many.add(&values[50..]);
        // 198 of 200 values are at most 197.
        assert_eq!(many.nearest_rank(99), Some(197.0));
        assert_eq!(many.nearest_rank(0), Some(0.0));
    }

    #[test]
    fn more_values_are_counted_in_bins() {
        let mut binned = Quantile::default();
        let values: Vec<f64> = (0..1000).map(|i| f64::from(i) * 1e-3).collect();
        let rounds = KEPT / values.len() + 1;
        for _ in 0..rounds {
            binned.add(&values);
        }
        assert!(binned.kept.capacity() == 0 && binned.bins.len() * 8 < 4 << 20);
        for percent in [0_u32, 1, 25, 50, 99, 100] {
            let exact = values[(percent as usize * 10).max(1) - 1];
            let found = binned.nearest_rank(u64::from(percent)).unwrap();
            assert!(found <= exact && found >= exact * (1.0 - 0.000_25), "{percent}: {found}");
        }
    }
}
