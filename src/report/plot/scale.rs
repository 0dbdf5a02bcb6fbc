//! The vertical scale of a plot.

use crate::ui::text;
use plotters::coord::ranged1d::Ranged;
use plotters::coord::types::RangedCoordf64;

/// Ratio of largest to smallest value from which the scale is logarithmic. On a linear scale the
/// small values would coincide.
const LOGARITHMIC_FROM: f64 = 50.0;

/// Most ticks.
const TICKS: usize = 6;

/// Maps values to pixels.
pub(super) struct Scale {
    axis: RangedCoordf64,
    is_logarithmic: bool,
    bottom: i32,
    top: i32,
}

impl Scale {
    /// A scale that shows all values, which must be finite; `None` if there are none.
    pub(super) fn over(values: &[f64], bottom: i32, top: i32) -> Option<Self> {
        let low = values.iter().copied().min_by(f64::total_cmp)?;
        let high = values.iter().copied().max_by(f64::total_cmp)?;
        let is_logarithmic = low > 0.0 && high / low >= LOGARITHMIC_FROM;
        let (low, high) = if is_logarithmic { (low.log10(), high.log10()) } else { (low, high) };
        let margin = match (high - low) * 0.06 {
            // All values are equal: any margin serves.
            0.0 => (low.abs() * 0.01).max(1e-6),
            margin => margin,
        };
        let axis = RangedCoordf64::from((low - margin)..(high + margin));
        Some(Self { axis, is_logarithmic, bottom, top })
    }

    /// Whether the scale is logarithmic.
    pub(super) fn is_logarithmic(&self) -> bool {
        self.is_logarithmic
    }

    /// The y coordinate of a value.
    pub(super) fn y(&self, value: f64) -> i32 {
        let value = if self.is_logarithmic { value.log10() } else { value };
        self.axis.map(&value, (self.bottom, self.top))
    }

    /// Round values, each with its y coordinate and its label.
    pub(super) fn ticks(&self) -> Vec<(i32, String)> {
        let points = self.axis.key_points(TICKS);
        let step = points.windows(2).map(|pair| pair[1] - pair[0]).fold(f64::INFINITY, f64::min);
        let written = |&point: &f64| {
            let y = self.axis.map(&point, (self.bottom, self.top));
            (y, if self.is_logarithmic { power(point) } else { round(point, step) })
        };
        points.iter().map(written).collect()
    }
}

/// Ten to the power of `exponent`, in three significant digits.
fn power(exponent: f64) -> String {
    let (value, places) = (10_f64.powf(exponent), 2.0 - exponent.floor());
    // Whole powers of ten are exact, so the division gives the nearest number.
    text::figure(if places < 0.0 {
        let unit = 10_f64.powf(-places);
        (value / unit).round() * unit
    } else {
        let parts = 10_f64.powf(places);
        (value * parts).round() / parts
    })
}

/// A label with enough decimals to differ from the next tick.
fn round(value: f64, step: f64) -> String {
    let is_plain = value == 0.0 || (1e-4..1e7).contains(&value.abs());
    if !is_plain || !step.is_finite() || step <= 0.0 {
        return text::figure(value);
    }
    // A step of 0.25 needs two decimals, although its order of magnitude suggests one.
    let decimals = (0..12_usize).find(|&decimals| {
        let scaled = step * 10_f64.powi(i32::try_from(decimals).unwrap_or(0));
        (scaled - scaled.round()).abs() < 1e-6 * scaled.max(1.0) && scaled.round() >= 1.0
    });
    format!("{value:.*}", decimals.unwrap_or(12))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(values: &[f64]) -> Vec<String> {
        let scale = Scale::over(values, 200, 0).unwrap();
        scale.ticks().into_iter().map(|(_, label)| label).collect()
    }

    #[test]
    fn ticks_are_round_and_told_apart() {
        assert_eq!(labels(&[5.46, 5.93]), ["5.5", "5.6", "5.7", "5.8", "5.9"]);
        assert_eq!(labels(&[10.0, 250.0]), ["0", "50", "100", "150", "200", "250"]);
        assert!(labels(&[7.0, 7.0]).contains(&"7.00".to_owned()));
        let tight = labels(&[5.461_64, 5.461_65]);
        let distinct: std::collections::BTreeSet<_> = tight.iter().collect();
        assert_eq!(distinct.len(), tight.len(), "{tight:?}");
    }

    #[test]
    fn what_differs_by_orders_is_on_a_logarithmic_scale() {
        let scale = Scale::over(&[5.0, 500.0, 50.0], 200, 0).unwrap();
        assert!(scale.is_logarithmic());
        let [low, middle, high] = [5.0, 50.0, 500.0].map(|value| scale.y(value));
        assert!((low - middle - (middle - high)).abs() <= 1, "{low} {middle} {high}");
        assert!(!Scale::over(&[-5.0, 500.0], 200, 0).unwrap().is_logarithmic());
        assert!(Scale::over(&[], 200, 0).is_none());
    }
}
