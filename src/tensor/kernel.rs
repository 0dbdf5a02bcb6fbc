//! Sums over a pair of rows in f32, written so that the compiler makes vector instructions of them.
//!
//! Each loop adds into [`LANES`] independent sums. After every [`BLOCK`] values the sums are added
//! up in f64, so an f32 sum has at most `BLOCK / LANES` terms and a relative error below
//! 32 × 2⁻²⁴ = 2e-6. The errors of single terms have random signs, so the usual error is 1e-7.

/// Independent sums. With 8 or fewer the compiler made no vector instructions.
const LANES: usize = 32;
/// Values between two additions in f64.
const BLOCK: usize = 1024;

/// The largest value of a row, and the block where it is for the first time.
#[derive(Clone, Copy, Debug)]
struct Largest {
    value: f32,
    block: usize,
}

impl Largest {
    const NONE: Self = Self { value: f32::NEG_INFINITY, block: 0 };

    fn update(&mut self, lanes: &[f32], block: usize) {
        let value = lanes.iter().copied().fold(f32::NEG_INFINITY, larger);
        if value > self.value {
            *self = Self { value, block };
        }
    }

    /// The first index with this value.
    #[expect(clippy::float_cmp, reason = "the value is one of the row's")]
    fn index(self, value_at: impl Fn(usize) -> f32, length: usize) -> usize {
        let begin = self.block * BLOCK;
        let end = (begin + BLOCK).min(length);
        (begin..end).find(|index| value_at(*index) == self.value).unwrap_or(begin)
    }
}

/// What the first pass over a pair of rows finds. With a NaN or an infinity in a row, at least one
/// of the sums of squares is not finite.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moments {
    /// The largest value of each row.
    pub(super) largest: [f32; 2],
    /// The first index of each.
    pub(super) top: [usize; 2],
    /// The largest |b − a|.
    pub(super) max_delta: f32,
    block_of_max_delta: usize,
    /// The sum of |b − a|.
    pub(super) sum_delta: f64,
    /// The sum of (b − a)².
    pub(super) squared_delta: f64,
    /// The sums of a² and b².
    pub(super) squares: [f64; 2],
}

/// The first pass.
pub(super) fn moments(a: &[f32], b: &[f32]) -> Moments {
    let mut largest = [Largest::NONE; 3];
    let mut sums = [0.0_f64; 4];
    for (block, (a, b)) in a.chunks(BLOCK).zip(b.chunks(BLOCK)).enumerate() {
        let ((whole, rest), (other_whole, other_rest)) = (a.as_chunks(), b.as_chunks());
        moments_of_block::<LANES>(whole, other_whole, block, &mut largest, &mut sums);
        moments_of_block::<1>(
            rest.as_chunks().0,
            other_rest.as_chunks().0,
            block,
            &mut largest,
            &mut sums,
        );
    }
    let [top_a, top_b, delta] = largest;
    Moments {
        largest: [top_a.value, top_b.value],
        top: [top_a.index(|i| a[i], a.len()), top_b.index(|i| b[i], b.len())],
        max_delta: delta.value,
        block_of_max_delta: delta.block,
        sum_delta: sums[0],
        squared_delta: sums[1],
        squares: [sums[2], sums[3]],
    }
}

fn moments_of_block<const N: usize>(
    a: &[[f32; N]],
    b: &[[f32; N]],
    block: usize,
    largest: &mut [Largest; 3],
    sums: &mut [f64; 4],
) {
    let mut maxima = [[f32::NEG_INFINITY; N]; 3];
    let mut lanes = [[0.0; N]; 4];
    for (a, b) in a.iter().zip(b) {
        for lane in 0..N {
            let (a, b) = (a[lane], b[lane]);
            let difference = (b - a).abs();
            maxima[0][lane] = larger(maxima[0][lane], a);
            maxima[1][lane] = larger(maxima[1][lane], b);
            maxima[2][lane] = larger(maxima[2][lane], difference);
            lanes[0][lane] += difference;
            lanes[1][lane] += difference * difference;
            lanes[2][lane] += a * a;
            lanes[3][lane] += b * b;
        }
    }
    for (largest, lanes) in largest.iter_mut().zip(&maxima) {
        largest.update(lanes, block);
    }
    add(sums, &lanes);
}

impl Moments {
    /// The first index of the largest |b − a|.
    pub(super) fn index_of_max_delta(&self, a: &[f32], b: &[f32]) -> usize {
        let delta = Largest { value: self.max_delta, block: self.block_of_max_delta };
        delta.index(|i| (b[i] - a[i]).abs(), a.len())
    }
}

/// The larger one; a NaN in `new` is ignored. One instruction, unlike `f32::max`.
#[inline(always)]
#[expect(clippy::inline_always, reason = "the loops above become vector code only with it inside")]
fn larger(old: f32, new: f32) -> f32 {
    if new > old { new } else { old }
}

fn add<const N: usize, const SUMS: usize>(sums: &mut [f64; SUMS], lanes: &[[f32; N]; SUMS]) {
    for (sum, lanes) in sums.iter_mut().zip(lanes) {
        *sum += lanes.iter().map(|lane| f64::from(*lane)).sum::<f64>();
    }
}

/// What the second pass finds: sums over the row with the weights w = exp(a − max a) and the
/// shifted differences x = (b − a) − shift.
#[derive(Clone, Copy, Debug)]
pub(super) struct Weighted {
    /// Σ w
    pub(super) weight: f64,
    /// Σ w · x
    pub(super) shifted: f64,
    /// Σ w · (exp(x) − 1 − x), whose terms are all positive.
    pub(super) curved: f64,
    /// The largest x.
    pub(super) largest: f32,
}

/// The second pass.
pub(super) fn weighted(a: &[f32], b: &[f32], max_a: f32, shift: f32) -> Weighted {
    let mut largest = f32::NEG_INFINITY;
    let mut sums = [0.0_f64; 3];
    for (a, b) in a.chunks(BLOCK).zip(b.chunks(BLOCK)) {
        let ((whole, rest), (other_whole, other_rest)) = (a.as_chunks(), b.as_chunks());
        weighted_of_block::<LANES>(whole, other_whole, [max_a, shift], &mut largest, &mut sums);
        let (rest, other_rest) = (rest.as_chunks().0, other_rest.as_chunks().0);
        weighted_of_block::<1>(rest, other_rest, [max_a, shift], &mut largest, &mut sums);
    }
    let [weight, shifted, curved] = sums;
    Weighted { weight, shifted, curved, largest }
}

fn weighted_of_block<const N: usize>(
    a: &[[f32; N]],
    b: &[[f32; N]],
    [max_a, shift]: [f32; 2],
    largest: &mut f32,
    sums: &mut [f64; 3],
) {
    let mut maxima = [f32::NEG_INFINITY; N];
    let mut lanes = [[0.0; N]; 3];
    for (a, b) in a.iter().zip(b) {
        for lane in 0..N {
            let weight = exponential(a[lane] - max_a);
            let x = shifted_difference(b[lane], a[lane], shift);
            maxima[lane] = larger(maxima[lane], x);
            lanes[0][lane] += weight;
            lanes[1][lane] += weight * x;
            lanes[2][lane] += weight * curvature(x);
        }
    }
    *largest = maxima.iter().copied().fold(*largest, larger);
    add(sums, &lanes);
}

/// (b − a) − shift with the relative error of one rounding if b − a is near the shift. The rounding
/// error of b − a, which is larger than a small result, is computed exactly and added (Knuth, The
/// Art of Computer Programming, volume 2, 4.2.2, theorem B).
#[inline(always)]
#[expect(clippy::inline_always, reason = "the loops above become vector code only with it inside")]
fn shifted_difference(b: f32, a: f32, shift: f32) -> f32 {
    let difference = b - a;
    let subtracted = b - difference;
    let rest = b - (difference + subtracted);
    let lost = rest + (subtracted - a);
    (difference - shift) + lost
}

/// Below this, exp(x) counts as exp(−87) = 1.6e-38. With −88 it would be a denormal number.
const LOWEST: f32 = -87.0;
/// Above this, exp(x) overflows f32.
const HIGHEST: f32 = 88.0;

/// Adding this to a small number rounds it to a whole number, which is then in the low bits.
const ROUND: f32 = 12_582_912.0;
/// ln 2 in two parts; small multiples of the first one are exact.
const LN_2: [f32; 2] = [0.693_359_4, -2.121_944_4e-4];

/// x = k ln 2 + r with a whole k and |r| ≤ ½ ln 2: 2ᵏ and r. If |x| < ½ ln 2, r is x.
#[inline(always)]
#[expect(clippy::inline_always, reason = "the loops above become vector code only with it inside")]
fn reduced(x: f32) -> (f32, f32) {
    let rounded = x * std::f32::consts::LOG2_E + ROUND;
    let whole = rounded - ROUND;
    let power = f32::from_bits((rounded.to_bits().wrapping_add(127)) << 23);
    (power, x - whole * LN_2[0] - whole * LN_2[1])
}

/// exp(x) for x of at most 0, to a relative error of 3e-7 down to −87; below, it counts as
/// exp(−87).
#[inline(always)]
#[expect(clippy::inline_always, reason = "the loops above become vector code only with it inside")]
fn exponential(x: f32) -> f32 {
    let (power, r) = reduced(larger(LOWEST, x));
    power * (1.0 + (r + curved(r)))
}

/// exp(x) − 1 − x to a relative error of 1e-6 for x in −87 … 88. Outside, x counts as the nearer
/// bound.
///
/// With q = exp(r) − 1 − r it is 2ᵏ q + (2ᵏ − 1)(1 + r) + (r − x). For small x, k = 0 and r = x, so
/// that the last two terms are zero and nothing cancels.
#[inline(always)]
#[expect(clippy::inline_always, reason = "the loops above become vector code only with it inside")]
fn curvature(x: f32) -> f32 {
    let x = larger(LOWEST, if x < HIGHEST { x } else { HIGHEST });
    let (power, r) = reduced(x);
    power * curved(r) + (power - 1.0) * (1.0 + r) + (r - x)
}

/// exp(r) − 1 − r for |r| ≤ ½ ln 2, by the Taylor series up to r⁷ / 7!.
#[inline(always)]
#[expect(clippy::inline_always, reason = "the loops above become vector code only with it inside")]
fn curved(r: f32) -> f32 {
    let tail = 1.0 / 24.0 + r * (1.0 / 120.0 + r * (1.0 / 720.0 + r * (1.0 / 5040.0)));
    (0.5 + r * (1.0 / 6.0 + r * tail)) * (r * r)
}

#[cfg(test)]
mod tests;
