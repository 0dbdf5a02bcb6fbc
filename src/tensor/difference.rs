//! The figures of two tensors: sums, the largest difference, and the first one beyond a threshold.

use super::dtype::Encoding;
use super::entry::Values;
use super::error::DumpError;
use super::kernel::moments;

/// Values that are read and compared at once: they stay in the cache.
const BLOCK: usize = 64 << 10;

/// Sums of squares in f32 are precise in this range. Outside it, and with a NaN or an infinity,
/// a block is compared in f64.
const PRECISE: std::ops::Range<f64> = 1e-25..1e37;

/// The distance of two neighbouring printed values.
const PRINTED_STEP: f64 = 1e-4;

/// The figures of two tensors with the same number of values.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Difference {
    /// Values that are finite in both.
    pub(super) finite: u64,
    /// The sum of |b − a|.
    pub(super) sum: f64,
    /// The sum of (b − a)².
    pub(super) squared: f64,
    /// The sums of a² and b².
    pub(super) squares: [f64; 2],
    /// The largest |b − a|, its index, and the two values.
    pub(super) largest: Option<(f64, u64, [f64; 2])>,
    /// The first index with |b − a| above the threshold, or where a value is not finite and the
    /// other value is not the same.
    pub(super) first: Option<u64>,
    /// Number of values of a and of b that are not finite and differ from the other value.
    pub(super) non_finite: [u64; 2],
    /// The distance of two neighbouring stored values near the largest magnitude, in the coarser
    /// tensor.
    pub(super) storage_step: f64,
    /// Largest magnitude of a value.
    magnitude: f64,
}

/// The buffers of a thread.
#[derive(Debug, Default)]
pub(super) struct Buffers {
    single: [Vec<f32>; 2],
    double: [Vec<f64>; 2],
    scratch: Vec<f32>,
}

/// Asked before each block of values: whether the user stopped the comparison.
pub(super) type IsStopped<'a> = &'a (dyn Fn() -> bool + Sync);

/// The part of a pair to compare: `count` values, from the index in `begin` for each tensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Window {
    pub(super) begin: [u64; 2],
    pub(super) count: u64,
}

/// Compares the values of a window. Indices in the result are those of the first tensor.
/// `is_stopped` is asked before each block.
pub(super) fn difference(
    pair: &mut [Values; 2],
    window: Window,
    threshold: f64,
    buffers: &mut Buffers,
    is_stopped: IsStopped<'_>,
) -> Result<Difference, DumpError> {
    let mut found = Difference::default();
    let needs_f64 = pair.iter().any(Values::needs_f64);
    let mut done = 0;
    while done < window.count {
        if is_stopped() {
            return Err(DumpError::Stopped);
        }
        let length = usize::try_from(window.count - done).map_or(BLOCK, |left| left.min(BLOCK));
        let at = window.begin.map(|begin| begin + done);
        if needs_f64 || !found.add_singles(pair, at, length, threshold, buffers)? {
            found.add_doubles(pair, at, length, threshold, buffers)?;
        }
        done += length as u64;
    }
    let magnitude = found.magnitude;
    found.storage_step = pair.iter().map(|one| one.step(magnitude)).fold(0.0, f64::max);
    Ok(found)
}

impl Difference {
    /// Adds a block in f32; false if f32 does not suffice.
    fn add_singles(
        &mut self,
        pair: &mut [Values; 2],
        at: [u64; 2],
        length: usize,
        threshold: f64,
        buffers: &mut Buffers,
    ) -> Result<bool, DumpError> {
        for (side, values) in pair.iter_mut().enumerate() {
            buffers.single[side].resize(length, 0.0);
            values.singles(at[side], &mut buffers.single[side])?;
        }
        let [a, b] = &buffers.single;
        let block = moments(a, b);
        let is_precise = |sum: f64| sum == 0.0 || PRECISE.contains(&sum);
        let sums = [block.squares[0], block.squares[1], block.squared_delta];
        if !sums.into_iter().all(is_precise) {
            return Ok(false);
        }
        self.finite += length as u64;
        self.sum += block.sum_delta;
        self.squared += block.squared_delta;
        for (sum, more) in self.squares.iter_mut().zip(block.squares) {
            *sum += more;
        }
        let magnitude = |x: &f32| f64::from(x.abs());
        self.magnitude = a.iter().chain(b).map(magnitude).fold(self.magnitude, f64::max);
        let largest = f64::from(block.max_delta);
        if largest > self.largest.map_or(0.0, |one| one.0) {
            let index = block.index_of_max_delta(a, b);
            let values = [f64::from(a[index]), f64::from(b[index])];
            self.largest = Some((largest, at[0] + index as u64, values));
        }
        if largest > threshold && self.first.is_none() {
            let delta = |i: &usize| f64::from((b[*i] - a[*i]).abs()) > threshold;
            self.first = (0..length).find(delta).map(|index| at[0] + index as u64);
        }
        Ok(true)
    }

    /// Adds a block in f64, value by value.
    fn add_doubles(
        &mut self,
        pair: &mut [Values; 2],
        at: [u64; 2],
        length: usize,
        threshold: f64,
        buffers: &mut Buffers,
    ) -> Result<(), DumpError> {
        buffers.scratch.resize(length, 0.0);
        for (side, values) in pair.iter_mut().enumerate() {
            buffers.double[side].resize(length, 0.0);
            values.doubles(at[side], &mut buffers.double[side], &mut buffers.scratch)?;
        }
        let [a, b] = &buffers.double;
        for (index, (a, b)) in a.iter().zip(b).enumerate() {
            let place = at[0] + index as u64;
            if !a.is_finite() || !b.is_finite() {
                if a.total_cmp(b).is_eq() || (a.is_nan() && b.is_nan()) {
                    continue;
                }
                for (count, value) in self.non_finite.iter_mut().zip([a, b]) {
                    *count += u64::from(!value.is_finite());
                }
                self.first = self.first.or(Some(place));
                continue;
            }
            let delta = (b - a).abs();
            self.finite += 1;
            self.sum += delta;
            self.squared += delta * delta;
            self.squares[0] += a * a;
            self.squares[1] += b * b;
            self.magnitude = self.magnitude.max(a.abs()).max(b.abs());
            if delta > self.largest.map_or(0.0, |one| one.0) {
                self.largest = Some((delta, place, [*a, *b]));
            }
            if delta > threshold && self.first.is_none() {
                self.first = Some(place);
            }
        }
        Ok(())
    }

    /// The largest |b − a|; `None` if no value is finite in both.
    pub(super) fn max_abs(&self) -> Option<f64> {
        (self.finite > 0).then(|| self.largest.map_or(0.0, |one| one.0))
    }

    /// A sum over the finite values, divided by their number.
    pub(super) fn mean(&self, sum: f64) -> Option<f64> {
        (self.finite > 0).then(|| sum / self.finite as f64)
    }
}

impl Values {
    /// How many values there are to compare.
    pub(super) fn count(&self) -> u64 {
        match self {
            Self::Stored(open) => open.stored().values(),
            Self::Printed(shown) => shown.values.len() as u64,
        }
    }

    fn needs_f64(&self) -> bool {
        match self {
            Self::Stored(open) => open.stored().encoding() == Encoding::F64,
            Self::Printed(_) => true,
        }
    }

    fn step(&self, magnitude: f64) -> f64 {
        match self {
            Self::Stored(open) => open.stored().encoding().spacing(magnitude),
            Self::Printed(_) => PRINTED_STEP,
        }
    }

    fn singles(&mut self, first: u64, row: &mut [f32]) -> Result<(), DumpError> {
        match self {
            Self::Stored(open) => open.singles(first, row),
            Self::Printed(_) => unreachable!("printed values are compared in f64"),
        }
    }

    fn doubles(
        &mut self,
        first: u64,
        row: &mut [f64],
        scratch: &mut [f32],
    ) -> Result<(), DumpError> {
        match self {
            Self::Stored(open) => open.doubles(first, row, scratch)?,
            Self::Printed(shown) => {
                let begin = usize::try_from(first).expect("the values are in memory");
                row.copy_from_slice(&shown.values[begin..begin + row.len()]);
            }
        }
        Ok(())
    }

    /// The indices of a value on all axes but the last.
    pub(super) fn position(&self, value: u64) -> Vec<u64> {
        match self {
            Self::Stored(open) => position(open.stored().shape(), value),
            Self::Printed(shown) => shown.position(value),
        }
    }
}

/// The indices of a value on all axes but the last, without leading axes of length 1.
fn position(shape: &[u64], value: u64) -> Vec<u64> {
    let leading = shape.iter().take_while(|length| **length == 1).count();
    let shape = &shape[leading.min(shape.len().saturating_sub(1))..];
    let Some((length, above)) = shape.split_last() else { return Vec::new() };
    let mut rest = value / (*length).max(1);
    let mut indices = Vec::new();
    for length in above.iter().rev() {
        indices.push(rest % (*length).max(1));
        rest /= (*length).max(1);
    }
    indices.reverse();
    indices
}

#[cfg(test)]
mod tests;
