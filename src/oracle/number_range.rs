//! Two ranges of numbers: those that one commit may print as its value, and those that another one
//! may. Pure.

use crate::stats::median;

/// A number that varies as the known ones do lies at most this many times as far from their median
/// as these lie from each other.
const REACH: f64 = 4.0;

/// Two runs may lie near each other by chance, so in noise a range reaches at least this share of
/// the step.
const SHARE_OF_STEP: f64 = 0.25;

/// A range of numbers without their signs, with both of its ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct NumberRange {
    low: f64,
    high: f64,
}

impl NumberRange {
    /// The ranges around the values of two commits. A number between the two belongs to the nearer
    /// one. Values that repeat have a range of one number. `None` if a commit has no values, or if
    /// both have the same level.
    pub(crate) fn of_both(values: [&[f64]; 2]) -> Option<[Self; 2]> {
        let sizes = values.map(|values| values.iter().map(|x| x.abs()).collect::<Vec<_>>());
        let [one, other] = [median(&sizes[0])?, median(&sizes[1])?];
        if one.to_bits() == other.to_bits() {
            return None;
        }
        let middle = f64::midpoint(one, other);
        let scatter = scatter(&sizes[0]).max(scatter(&sizes[1]));
        let least = if scatter > 0.0 { SHARE_OF_STEP * (one - other).abs() } else { 0.0 };
        let reach = (REACH * scatter).max(least);
        let around = |level: f64| {
            let (low, high) = (level - reach, level + reach);
            if level < middle {
                Self { low, high: high.min(middle.next_down()) }
            } else {
                Self { low: low.max(middle), high }
            }
        };
        Some([around(one), around(other)])
    }

    /// Whether the number, without its sign, is in the range.
    pub(crate) fn contains(self, number: f64) -> bool {
        (self.low..=self.high).contains(&number.abs())
    }
}

/// How far the largest number is from the smallest one.
fn scatter(numbers: &[f64]) -> f64 {
    let low = numbers.iter().copied().fold(f64::INFINITY, f64::min);
    let high = numbers.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    high - low
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holds(values: [&[f64]; 2], number: f64) -> Vec<usize> {
        let ranges = NumberRange::of_both(values).unwrap();
        (0..2).filter(|side| ranges[*side].contains(number)).collect()
    }

    #[test]
    fn values_that_repeat_are_one_number_with_any_sign() {
        let values: [&[f64]; 2] = [&[7.0, 7.0], &[-7.5]];
        assert_eq!(holds(values, -7.0), [0]);
        assert_eq!(holds(values, 7.5), [1]);
        assert!(holds(values, 7.0_f64.next_up()).is_empty() && holds(values, 7.01).is_empty());
    }

    #[test]
    fn a_number_in_noise_belongs_to_the_nearer_level() {
        let values: [&[f64]; 2] = [&[7.5, 7.52], &[7.0, 7.05]];
        assert_eq!(holds(values, 7.09), [1]);
        assert_eq!(holds(values, 7.43), [0]);
        assert!(holds(values, 7.25).is_empty() && holds(values, 7.75).is_empty());
        let alike: [&[f64]; 2] = [&[7.0, 7.001], &[7.5]];
        assert!(holds(alike, 7.1) == [0] && holds(alike, 7.14).is_empty());
        let near: [&[f64]; 2] = [&[7.0, 7.4], &[7.3, 7.7]];
        assert_eq!((holds(near, 7.34), holds(near, 7.36)), (vec![0], vec![1]));
    }

    #[test]
    fn equal_levels_or_no_values_have_no_ranges() {
        assert_eq!(NumberRange::of_both([&[7.0], &[-7.0, 7.0]]), None);
        assert_eq!(NumberRange::of_both([&[], &[7.0]]), None);
    }
}
