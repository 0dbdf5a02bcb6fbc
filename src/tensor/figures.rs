//! The figures of many pairs of rows: sums, extremes and where they are.

use crate::evaluation::LogitsLimits;

use super::exact::Kind;
use super::row::{Figure, RowFigures};

/// Where a figure of the rows is bad.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Extreme {
    /// The first row beyond the limit of the guard. If the guard has no limit for this figure: the
    /// first row where the figure is not that of equal rows.
    pub first: Option<usize>,
    /// The row with the worst figure, and the figure; the first one of equals. `None` if no row
    /// deviates. For top-1 the figure is a difference of two values of the base: at the base's own
    /// top, and at the candidate's top.
    pub worst: Option<(usize, f64)>,
}

impl Extreme {
    fn merge(&mut self, later: Self, is_worse: impl Fn(f64, f64) -> bool) {
        self.first = self.first.or(later.first);
        if let Some((_, value)) = later.worst
            && self.worst.is_none_or(|(_, worst)| is_worse(value, worst))
        {
            self.worst = later.worst;
        }
    }
}

/// The largest difference of two values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct LargestDelta {
    /// The row.
    pub position: usize,
    /// The index in the row.
    pub index: usize,
    /// The two values.
    pub values: [f64; 2],
}

/// Values of one kind that are not finite, in one file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NonFinite {
    /// 0: the base, 1: the candidate.
    pub side: usize,
    /// `nan`, `inf` or `-inf`.
    pub kind: &'static str,
    /// How many.
    pub count: u64,
    /// The first row with one.
    pub position: usize,
    /// The first index in that row.
    pub index: usize,
}

/// The figures of many rows. Rows with values that are not finite are in no figure.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Figures {
    /// Rows with figures.
    pub rows: u64,
    /// Rows without figures.
    pub left_out: u64,
    /// Values that are −∞ in both files.
    pub masked: u64,
    /// Values that are not finite.
    pub(crate) non_finite: Vec<NonFinite>,
    /// Rows whose largest values are at the same index.
    pub same_top: u64,
    /// The sum of |b − a|.
    pub sum_delta: f64,
    /// The sum of (b − a)².
    pub squared_delta: f64,
    /// The sum of the cosines.
    pub sum_cosine: f64,
    /// The smallest cosine.
    pub min_cosine: Option<f64>,
    /// The sum of the divergences, in nats.
    pub sum_kl: f64,
    /// The largest difference.
    pub(crate) largest_delta: Option<LargestDelta>,
    extremes: [Extreme; Figure::ALL.len()],
}

impl Figures {
    /// Where a figure is bad.
    pub(crate) fn extreme(&self, figure: Figure) -> Extreme {
        self.extremes[figure as usize]
    }

    /// Adds a row; rows come in their order. `values` gives both values at an index.
    pub(super) fn add(
        &mut self,
        position: usize,
        length: usize,
        row: &RowFigures,
        limits: &LogitsLimits,
        values: impl FnOnce(usize) -> [f64; 2],
    ) {
        self.rows += 1;
        self.same_top += u64::from(row.top[0] == row.top[1]);
        self.sum_delta += row.sum_delta;
        self.squared_delta += row.squared_delta;
        self.sum_cosine += row.cosine;
        self.min_cosine = Some(self.min_cosine.map_or(row.cosine, |least| least.min(row.cosine)));
        self.sum_kl += row.kl;
        for figure in Figure::ALL {
            let (value, is_beyond) = match figure {
                Figure::MaxAbs => (row.max_delta, row.max_delta > limits.max_abs.unwrap_or(0.0)),
                Figure::MeanAbs => (row.sum_delta / length as f64, row.sum_delta > 0.0),
                Figure::Rms => {
                    ((row.squared_delta / length as f64).sqrt(), row.squared_delta > 0.0)
                }
                Figure::Cosine => (row.cosine, row.cosine < limits.min_cosine.unwrap_or(1.0)),
                Figure::Kl => (row.kl, row.kl > limits.mean_kl.unwrap_or(0.0)),
                Figure::Top1 => (row.margin, row.top[0] != row.top[1]),
            };
            let deviates = match figure {
                Figure::Cosine => value < 1.0,
                Figure::Top1 => is_beyond,
                _ => value > 0.0,
            };
            let here = Extreme {
                first: is_beyond.then_some(position),
                worst: deviates.then_some((position, value)),
            };
            self.merge_extreme(figure, here);
        }
        let largest = self.largest_delta.map_or(0.0, |one| (one.values[1] - one.values[0]).abs());
        if row.max_delta > largest {
            let values = values(row.index);
            self.largest_delta = Some(LargestDelta { position, index: row.index, values });
        }
    }

    /// Adds a row without figures.
    pub(super) fn add_non_finite(
        &mut self,
        position: usize,
        found: &[(usize, Kind, usize, usize)],
    ) {
        self.left_out += 1;
        for (side, kind, count, index) in found {
            let kind = match kind {
                Kind::Nan => "nan",
                Kind::Infinity => "inf",
                Kind::NegativeInfinity => "-inf",
            };
            let (side, index) = (*side, *index);
            self.merge_non_finite(NonFinite { side, kind, count: *count as u64, position, index });
        }
    }

    /// Adds the figures of later rows.
    pub(super) fn merge(&mut self, later: &Self) {
        self.rows += later.rows;
        self.left_out += later.left_out;
        self.masked += later.masked;
        self.same_top += later.same_top;
        self.sum_delta += later.sum_delta;
        self.squared_delta += later.squared_delta;
        self.sum_cosine += later.sum_cosine;
        self.sum_kl += later.sum_kl;
        self.min_cosine =
            [self.min_cosine, later.min_cosine].into_iter().flatten().reduce(f64::min);
        for found in &later.non_finite {
            self.merge_non_finite(*found);
        }
        for figure in Figure::ALL {
            self.merge_extreme(figure, later.extreme(figure));
        }
        let size =
            |one: &Option<LargestDelta>| one.map_or(0.0, |x| (x.values[1] - x.values[0]).abs());
        if size(&later.largest_delta) > size(&self.largest_delta) {
            self.largest_delta = later.largest_delta;
        }
    }

    fn merge_extreme(&mut self, figure: Figure, later: Extreme) {
        let is_worse =
            |new: f64, old: f64| if figure == Figure::Cosine { new < old } else { new > old };
        self.extremes[figure as usize].merge(later, is_worse);
    }

    fn merge_non_finite(&mut self, later: NonFinite) {
        let is_same = |one: &&mut NonFinite| one.side == later.side && one.kind == later.kind;
        match self.non_finite.iter_mut().find(is_same) {
            Some(one) => one.count += later.count,
            None => self.non_finite.push(later),
        }
    }
}
