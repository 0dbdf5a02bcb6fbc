//! Whether the sums of two tensors show a difference among values that are not printed. Pure.

/// Half the distance of 1 and the next number in f32.
const UNIT: f64 = 1.0 / (1 << 24) as f64;

/// A sum may differ by this many times what is expected of independent errors.
const WIDE: f64 = 4.0;

/// What is known of the values besides the sums.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    /// How many values are summed.
    pub(super) count: u64,
    /// The largest |Δ| of a value that counts as equal.
    pub(super) tolerance: f64,
    /// The RMS of the printed values.
    pub(super) rms: f64,
    /// The largest distance of the sums of repeated dumps.
    pub(super) noise: f64,
}

/// How far the sums may be apart if no value is beyond the tolerance. Independent differences of n
/// values change the sum by √n times their size. The engine adds in f32: each of n steps rounds
/// a partial sum, whose size is about |sum| + √n · RMS.
pub(super) fn allowed(sums: [f64; 2], known: Known) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "a root needs no more digits")]
    let root = (known.count as f64).sqrt();
    let partial = sums[0].abs().max(sums[1].abs()) + root * known.rms;
    WIDE * (root * (known.tolerance + UNIT * partial)).max(known.noise)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_differences_and_rounding_are_allowed() {
        let known = Known { count: 3328, tolerance: 1e-4, rms: 0.1, noise: 0.0 };
        let small = allowed([-4.5, -4.5], known);
        assert!((0.02..0.03).contains(&small), "{small}");
        // A large sum loses digits, and repeated dumps show what is usual.
        assert!(allowed([-4.5e4, -4.5e4], known) > 0.3);
        assert!(allowed([-4.5, -4.5], Known { noise: 0.5, ..known }) >= 2.0);
    }
}
