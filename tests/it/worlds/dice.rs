//! Seeded random numbers: the same seed gives the same numbers on every machine.

use std::ops::RangeInclusive;

/// The generator of Steele, Lea and Flood (*Fast splittable pseudorandom number generators*,
/// 2014).
#[derive(Clone, Debug)]
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A number below `count`, which must not be 0.
    pub(crate) fn below(&mut self, count: usize) -> usize {
        usize::try_from(self.next() % count as u64).expect("it is below a usize")
    }

    pub(crate) fn within(&mut self, range: RangeInclusive<usize>) -> usize {
        range.start() + self.below(range.end() - range.start() + 1)
    }

    pub(crate) fn percent(&mut self, percent: usize) -> bool {
        self.below(100) < percent
    }

    pub(crate) fn pick<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len())]
    }

    /// Up to `many` distinct numbers below `count`, ascending.
    pub(crate) fn places(&mut self, many: usize, count: usize) -> Vec<usize> {
        let mut all: Vec<usize> = (0..count).collect();
        while all.len() > many {
            all.remove(self.below(all.len()));
        }
        all
    }
}
