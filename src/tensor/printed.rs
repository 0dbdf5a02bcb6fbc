//! A tensor as llama-eval-callback prints it: a line with its operation and shape, the outer values
//! of its rows, and a sum.

use std::fmt;

use crate::evaluation::parse_number;

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
pub(crate) struct PrintedHead {
    /// Its name; several tensors of a graph can have the same.
    pub name: String,
    kind: String,
    /// What computes it, such as `MUL_MAT`.
    pub operation: String,
    /// The names of its operands.
    pub sources: Vec<String>,
    /// The lengths of its dimensions; the values of the first one are adjacent.
    pub shape: [u64; 4],
}

/// A tensor, as read so far.
#[derive(Debug)]
pub(crate) struct PrintedTensor {
    /// Its first line.
    pub head: PrintedHead,
    /// The values of the first row.
    first: Vec<f64>,
    /// Number of printed values, their sum, and the sum of their magnitudes.
    count: u64,
    shown: f64,
    magnitude: f64,
    /// The last printed sum, and the number of sums: one per index of the last dimension.
    pub sum: Option<f64>,
    sums: u64,
}

impl PrintedHead {
    /// Parses `NAME:  Qcur-0 = (f32)  ROPE(Qcur-0 (reshaped){64, 4, 7, 1}, …}) = {64, 4, 7, 1}`,
    /// where NAME is the function that prints, such as `common_debug_cb_eval`.
    pub(crate) fn of(line: &str) -> Option<Self> {
        let (before, after) = line.split_once(" = (")?;
        let (_, name) = before.split_once(": ")?;
        let (kind, after) = after.split_once(')')?;
        let (operation, after) = after.split_once('(')?;
        let (operands, shape) = after.rsplit_once(" = {")?;
        let operands = operands.split('}').filter_map(|operand| operand.split_once('{'));
        let sizes = shape.trim_end().strip_suffix('}')?.split(", ").map(|size| size.parse().ok());
        let sizes: Vec<u64> = sizes.collect::<Option<_>>()?;
        let text = |part: &str| part.trim().to_owned();
        Some(Self {
            name: text(name),
            kind: text(kind),
            operation: text(operation),
            sources: operands.map(|(name, _)| text(name.trim_start_matches(','))).collect(),
            shape: sizes.try_into().ok()?,
        })
    }

    /// The type of its values, such as `f32`.
    pub(crate) fn kind(&self) -> &str {
        &self.kind
    }

    /// Bytes of a value; `None` if the type is quantized, so that no values are printed.
    pub(crate) fn bytes(&self) -> Option<f64> {
        SHOWN.iter().find(|(kind, _)| *kind == self.kind).map(|(_, bytes)| *bytes)
    }
}

/// As printed, without the operands.
impl fmt::Display for PrintedHead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shape = self.shape.map(|size| size.to_string()).join(", ");
        write!(f, "{} = ({}) {} {{{shape}}}", self.name, self.kind, self.operation)
    }
}

impl PrintedTensor {
    /// A tensor of which only the first line was read.
    pub(crate) fn new(head: PrintedHead) -> Self {
        Self { head, first: Vec::new(), count: 0, shown: 0.0, magnitude: 0.0, sum: None, sums: 0 }
    }

    /// Takes `[  -0.0125,  0.0696, ...,  -0.0100,  -0.0249],`; true if the line is such a row.
    pub(crate) fn row(&mut self, line: &str) -> bool {
        let Some(numbers) = printed_row(line) else { return false };
        self.count += numbers.len() as u64;
        self.shown += numbers.iter().sum::<f64>();
        self.magnitude += numbers.iter().map(|x| x.abs()).sum::<f64>();
        if self.first.is_empty() {
            self.first = numbers;
        }
        true
    }

    /// Takes the sum after an index of the last dimension.
    pub(crate) fn sum(&mut self, sum: f64) {
        self.sum = Some(sum);
        self.sums += 1;
    }

    /// Whether all values are printed.
    pub(crate) fn is_whole(&self) -> bool {
        let [a, b, c, _] = self.head.shape;
        [a, b, c].into_iter().all(|size| size <= MOST_SHOWN)
    }

    /// Whether every line of the tensor was read.
    pub(crate) fn is_complete(&self) -> bool {
        if self.head.bytes().is_none() {
            return self.count == 0 && self.sums == 0;
        }
        let [a, b, c, d] = self.head.shape;
        let inner = [a, b, c].into_iter().map(|size| size.min(MOST_SHOWN)).product::<u64>();
        self.sums == d && Some(self.count) == inner.checked_mul(d)
    }

    /// Whether values are missing.
    pub(super) fn is_cut(&self) -> bool {
        self.head.bytes().is_some() && !self.is_complete()
    }

    /// The sum of the printed values, rounded to four decimals: the engine prints four, and
    /// further digits are rounding errors of the addition.
    pub(crate) fn shown(&self) -> Option<f64> {
        let rounded = (self.shown * 1e4).round() / 1e4;
        (self.sums > 0).then_some(rounded)
    }

    /// Whether the printed sum differs from that of the printed values by more than rounding to
    /// four decimals and single precision explain.
    pub(crate) fn sums_more_than_it_shows(&self) -> bool {
        let allowed = self.count as f64 * (5e-5 + f64::from(f32::EPSILON) * self.magnitude) + 1e-6;
        let is_it = |sum: f64| sum.is_finite() && (sum - self.shown).abs() > allowed;
        // With several sums, each may be of a part of the values.
        !self.is_whole() && self.sums == 1 && self.sum.is_some_and(is_it)
    }

    /// Whether each value is the first value plus its offset in bytes (llama.cpp's bug until
    /// 2024-05-10); `None` if that cannot be decided.
    pub(crate) fn has_offset_bug(&self) -> Option<bool> {
        let step = self.head.bytes().filter(|_| self.head.kind == "f32")?;
        let [a, b, c] = *self.first.first_chunk::<3>()?;
        // In larger values, single precision loses the steps.
        (a.abs() < 1e4).then(|| [b - a, c - b].iter().all(|x| (x - step).abs() < 2e-3))
    }
}

/// The values in `[  -0.0125,  0.0696, ...,  -0.0100,  -0.0249],`; `None` for any other line.
pub(super) fn printed_row(line: &str) -> Option<Vec<f64>> {
    let (inner, _) = line.strip_prefix('[')?.split_once(']')?;
    let words = inner.split(',').map(str::trim).filter(|word| !matches!(*word, "..." | ""));
    words.map(parse_number).collect()
}

/// The indices of a dimension of which values are printed. `is_last`: the dimension prints all.
pub(super) fn printed_indices(length: u64, is_last: bool) -> Vec<u64> {
    let half = MOST_SHOWN / 2;
    (0..length)
        .filter(|i| is_last || length <= MOST_SHOWN || *i < half || *i >= length - half)
        .collect()
}

/// A printed sum; `None` if it has no six decimals, because the line is cut.
pub(crate) fn printed_sum(text: &str) -> Option<f64> {
    let is_whole = text.split_once('.').is_some_and(|(_, decimals)| decimals.len() == 6);
    parse_number(text).filter(|sum| is_whole || !sum.is_finite())
}
