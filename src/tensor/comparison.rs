//! How two dumps differ, and whether a guard allows it.

use crate::evaluation::{
    LargestDifference, LogitsDifference, LogitsGuard, LogitsSide, NonFiniteValues, Positions,
};

use super::dtype::Encoding;
use super::figures::{Extreme, Figures, LargestDelta, NonFinite};
use super::row::Figure;

/// Why a guard does not hold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Breach {
    /// The first value whose bits differ: its row and the index in the row.
    Bits {
        /// The row.
        position: usize,
        /// The index in the row.
        index: usize,
    },
    /// The files store values in different forms.
    Encoding,
    /// A figure is beyond its limit.
    Beyond {
        /// The figure.
        figure: Figure,
        /// Its value.
        value: f64,
        /// The limit.
        limit: f64,
    },
    /// Rows have no figures, because of values that are not finite.
    NonFinite,
}

/// Above this, a difference of logits is more than rounding of the arithmetic.
const BEYOND_ROUNDING: f64 = 0.01;

/// How two dumps differ.
#[derive(Clone, Debug, PartialEq)]
pub struct Comparison {
    /// Rows.
    pub positions: usize,
    /// Values in a row.
    pub vocab: usize,
    /// Sums and extremes.
    pub figures: Figures,
    /// The divergence that 99 % of the positions do not exceed (nearest rank), in nats.
    pub p99_kl: Option<f64>,
    /// How the base and the candidate store values.
    pub encodings: [Encoding; 2],
    /// The row and the index of the first value with different bits, if the forms are the same.
    pub first_bits: Option<(usize, usize)>,
}

impl Comparison {
    /// Whether all stored bits are the same.
    pub(crate) fn is_identical(&self) -> bool {
        self.is_same_encoding() && self.first_bits.is_none()
    }

    fn is_same_encoding(&self) -> bool {
        self.encodings[0] == self.encodings[1]
    }

    /// Whether the values are log-probabilities. If one file holds logits, their log-probabilities
    /// were compared. As in llama.cpp's file, none is further than 16 nats below the row's largest.
    pub(crate) fn is_of_log_probabilities(&self) -> bool {
        self.encodings.contains(&Encoding::LogProb16)
    }

    /// The step between two stored values near the largest difference, in the coarser file.
    pub(crate) fn storage_step(&self) -> f64 {
        let [a, b] = self.figures.largest_delta.map_or([0.0; 2], |one| one.values);
        let magnitude = a.abs().max(b.abs());
        self.encodings.iter().map(|encoding| encoding.spacing(magnitude)).fold(0.0, f64::max)
    }

    /// Whether max |Δ| is above 0.01, and above what rounding to the stored type explains.
    pub(crate) fn is_beyond_rounding(&self) -> bool {
        let limit = BEYOND_ROUNDING.max(self.storage_step());
        self.max_abs().is_some_and(|largest| largest > limit)
    }

    /// The largest |Δ|. `None` if no row has figures, here and below.
    pub fn max_abs(&self) -> Option<f64> {
        let largest =
            self.figures.largest_delta.map_or(0.0, |one| (one.values[1] - one.values[0]).abs());
        self.some(largest)
    }

    /// The mean |Δ| over all values.
    pub fn mean_abs(&self) -> Option<f64> {
        self.some(self.figures.sum_delta / self.values())
    }

    /// The root of the mean Δ² over all values.
    pub fn rms(&self) -> Option<f64> {
        self.some((self.figures.squared_delta / self.values()).sqrt())
    }

    /// The mean of the rows' cosines.
    pub fn mean_cosine(&self) -> Option<f64> {
        self.some(self.figures.sum_cosine / self.figures.rows as f64)
    }

    /// The mean of the rows' divergences, in nats.
    pub fn mean_kl(&self) -> Option<f64> {
        self.some(self.figures.sum_kl / self.figures.rows as f64)
    }

    /// The largest divergence, in nats.
    pub fn max_kl(&self) -> Option<f64> {
        self.some(self.figures.extreme(Figure::Kl).worst.map_or(0.0, |(_, kl)| kl))
    }

    /// The share of the rows whose largest values are at the same index, 0 … 1.
    pub fn top1_agreement(&self) -> Option<f64> {
        self.some(self.figures.same_top as f64 / self.figures.rows as f64)
    }

    fn some(&self, value: f64) -> Option<f64> {
        (self.figures.rows > 0).then_some(value)
    }

    fn values(&self) -> f64 {
        self.figures.rows as f64 * self.vocab as f64
    }

    /// The comparison in the form of records and JSON.
    pub fn difference(&self) -> LogitsDifference {
        let largest = |one: LargestDelta| {
            let LargestDelta { position, index, values: [a, b] } = one;
            LargestDifference { position, index, a, b }
        };
        let non_finite = |one: &NonFinite| NonFiniteValues {
            file: if one.side == 0 { LogitsSide::A } else { LogitsSide::B },
            value: one.kind.to_owned(),
            count: one.count,
            position: one.position,
            index: one.index,
        };
        LogitsDifference {
            positions: self.positions,
            vocab: self.vocab,
            identical: self.is_identical(),
            log_probabilities: self.is_of_log_probabilities(),
            max_abs: self.max_abs(),
            mean_abs: self.mean_abs(),
            rms: self.rms(),
            min_cosine: self.figures.min_cosine,
            mean_cosine: self.mean_cosine(),
            mean_kl: self.mean_kl(),
            p99_kl: self.p99_kl,
            max_kl: self.max_kl(),
            top1_agreement: self.top1_agreement(),
            first: self.places(|extreme| extreme.first),
            worst: self.places(|extreme| Some(extreme.worst?.0)),
            largest_difference: self.figures.largest_delta.map(largest),
            beyond_rounding: self.is_beyond_rounding(),
            non_finite: self.figures.non_finite.iter().map(non_finite).collect(),
            positions_left_out: self.figures.left_out,
            masked_values: self.figures.masked,
        }
    }

    fn places(&self, place: fn(Extreme) -> Option<usize>) -> Positions {
        let of = |figure| place(self.figures.extreme(figure));
        Positions {
            max_abs: of(Figure::MaxAbs),
            mean_abs: of(Figure::MeanAbs),
            rms: of(Figure::Rms),
            cosine: of(Figure::Cosine),
            kl: of(Figure::Kl),
            top1: of(Figure::Top1),
        }
    }

    /// Why a guard does not hold; empty if it holds.
    pub(crate) fn breaches(&self, guard: LogitsGuard) -> Vec<Breach> {
        if guard == LogitsGuard::Bitwise {
            let bits = self.first_bits.map(|(position, index)| Breach::Bits { position, index });
            let encoding = (!self.is_same_encoding()).then_some(Breach::Encoding);
            return bits.or(encoding).into_iter().collect();
        }
        let limits = guard.limits();
        let beyond =
            |figure, value: Option<f64>, limit: Option<f64>, is_met: fn(f64, f64) -> bool| {
                let (value, limit) = (value?, limit?);
                (!is_met(value, limit)).then_some(Breach::Beyond { figure, value, limit })
            };
        let at_most = |value, limit| value <= limit;
        let found = [
            (self.figures.left_out > 0).then_some(Breach::NonFinite),
            beyond(Figure::MaxAbs, self.max_abs(), limits.max_abs, at_most),
            beyond(Figure::Cosine, self.figures.min_cosine, limits.min_cosine, |value, limit| {
                value >= limit
            }),
            beyond(Figure::Kl, self.mean_kl(), limits.mean_kl, at_most),
        ];
        found.into_iter().flatten().collect()
    }
}
