//! One printed tensor.

use std::fmt;

use crate::measure::value::parse_number;

/// A longer dimension prints half of this many values at each end. The last dimension prints all.
const MOST_SHOWN: u64 = 6;

/// Types whose values are printed, with their size in bytes. Other types, which are quantized,
/// print no values.
const SHOWN: [(&str, f64); 7] = [
    ("f32", 4.0),
    ("f16", 2.0),
    ("bf16", 2.0),
    ("i8", 1.0),
    ("i16", 2.0),
    ("i32", 4.0),
    ("i64", 8.0),
];

/// The first line of a printed tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) name: String,
    kind: String,
    pub(super) operation: String,
    shape: [u64; 4],
}

/// A tensor, as read so far.
#[derive(Debug)]
pub(super) struct Tensor {
    pub(super) head: Head,
    /// The values of the first row.
    first: Vec<f64>,
    /// Number of printed values, their sum, and the sum of their magnitudes.
    count: u64,
    shown: f64,
    magnitude: f64,
    /// The last printed sum, and the number of sums: one per index of the last dimension.
    pub(super) sum: Option<f64>,
    sums: u64,
}

impl Head {
    /// Parses `NAME:  Qcur-0 = (f32)  ROPE(Qcur-0 (reshaped){64, 4, 7, 1}, …}) = {64, 4, 7, 1}`,
    /// where NAME is the function that prints, such as `common_debug_cb_eval`.
    pub(super) fn of(line: &str) -> Option<Self> {
        let (before, after) = line.split_once(" = (")?;
        let (_, name) = before.split_once(": ")?;
        let (kind, after) = after.split_once(')')?;
        let (operation, after) = after.split_once('(')?;
        let (_, shape) = after.rsplit_once(" = {")?;
        let sizes = shape.trim_end().strip_suffix('}')?.split(", ").map(|size| size.parse().ok());
        let sizes: Vec<u64> = sizes.collect::<Option<_>>()?;
        let text = |part: &str| part.trim().to_owned();
        Some(Self {
            name: text(name),
            kind: text(kind),
            operation: text(operation),
            shape: sizes.try_into().ok()?,
        })
    }

    fn bytes(&self) -> Option<f64> {
        SHOWN.iter().find(|(kind, _)| *kind == self.kind).map(|(_, bytes)| *bytes)
    }
}

/// As printed, without the operands.
impl fmt::Display for Head {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shape = self.shape.map(|size| size.to_string()).join(", ");
        write!(f, "{} = ({}) {} {{{shape}}}", self.name, self.kind, self.operation)
    }
}

impl Tensor {
    pub(super) fn new(head: Head) -> Self {
        Self { head, first: Vec::new(), count: 0, shown: 0.0, magnitude: 0.0, sum: None, sums: 0 }
    }

    /// Takes `[  -0.0125,  0.0696, ...,  -0.0100,  -0.0249],`; true if the line is such a row.
    pub(super) fn row(&mut self, line: &str) -> bool {
        let inner = line.strip_prefix('[').and_then(|rest| rest.split_once(']'));
        let Some((inner, _)) = inner else { return false };
        let words = inner.split(',').map(str::trim).filter(|word| !matches!(*word, "..." | ""));
        let Some(numbers) = words.map(parse_number).collect::<Option<Vec<f64>>>() else {
            return false;
        };
        self.count += numbers.len() as u64;
        self.shown += numbers.iter().sum::<f64>();
        self.magnitude += numbers.iter().map(|x| x.abs()).sum::<f64>();
        if self.first.is_empty() {
            self.first = numbers;
        }
        true
    }

    pub(super) fn sum(&mut self, sum: f64) {
        self.sum = Some(sum);
        self.sums += 1;
    }

    /// Whether all values are printed.
    pub(super) fn is_whole(&self) -> bool {
        let [a, b, c, _] = self.head.shape;
        [a, b, c].into_iter().all(|size| size <= MOST_SHOWN)
    }

    /// Whether every line of the tensor was read.
    pub(super) fn is_complete(&self) -> bool {
        if self.head.bytes().is_none() {
            return self.count == 0 && self.sums == 0;
        }
        let [a, b, c, d] = self.head.shape;
        let inner = [a, b, c].into_iter().map(|size| size.min(MOST_SHOWN)).product::<u64>();
        self.sums == d && Some(self.count) == inner.checked_mul(d)
    }

    /// The sum of the printed values, rounded to four decimals: the engine prints four, and
    /// further digits are rounding errors of the addition.
    pub(super) fn shown(&self) -> Option<f64> {
        let rounded = (self.shown * 1e4).round() / 1e4;
        (self.sums > 0).then_some(rounded)
    }

    /// Whether the printed sum differs from that of the printed values by more than rounding to
    /// four decimals and single precision explain.
    pub(super) fn sums_more_than_it_shows(&self) -> bool {
        let allowed = self.count as f64 * (5e-5 + f64::from(f32::EPSILON) * self.magnitude) + 1e-6;
        let is_it = |sum: f64| sum.is_finite() && (sum - self.shown).abs() > allowed;
        !self.is_whole() && self.sum.is_some_and(is_it)
    }

    /// Whether each value is the first value plus its offset in bytes (llama.cpp's bug until
    /// 2024-05-10); `None` if that cannot be decided.
    pub(super) fn counts_bytes(&self) -> Option<bool> {
        let step = self.head.bytes().filter(|_| self.head.kind == "f32")?;
        let [a, b, c] = *self.first.first_chunk::<3>()?;
        // In larger values, single precision loses the steps.
        (a.abs() < 1e4).then(|| [b - a, c - b].iter().all(|x| (x - step).abs() < 2e-3))
    }
}
