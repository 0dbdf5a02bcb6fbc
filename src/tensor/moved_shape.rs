//! Shapes that depend on padding: a view of a KV cache is as long as its padding, and so are the
//! tensors computed from the view. Pure.

use crate::evaluation::{TensorDifference, TensorVerdict};

use super::entry::Entry;
use super::matching::{Matching, moves_values};

/// Marks such tensors of two printed graphs as not compared. `tensors` are the differences of the
/// matched pairs.
pub(super) fn leave_out(tensors: &mut [TensorDifference], sets: [&[Entry]; 2], matched: &Matching) {
    // Names of tensors before the current one that have more values in one set than in the other
    // because of padding.
    let mut padded: Vec<&str> = Vec::new();
    for (one, (a, b)) in tensors.iter_mut().zip(&matched.pairs) {
        let [a, b] = [&sets[0][*a], &sets[1][*b]];
        let source = a.inputs.iter().find(|input| padded.contains(&input.as_str()));
        padded.retain(|name| *name != a.name);
        if one.verdict != TensorVerdict::Shape {
            continue;
        }
        let why = match source {
            Some(source) => format!("which follows from {source}"),
            None if is_given(a) && is_given(b) => "which can be padding".to_owned(),
            None => continue,
        };
        if a.shape.iter().product::<u64>() != b.shape.iter().product::<u64>() {
            padded.push(&a.name);
        }
        one.verdict = TensorVerdict::NotCompared;
        let what = one.remark.take().unwrap_or_default();
        one.remark = Some(format!("{what}, {why}"));
    }
}

/// Whether no computation decides the tensor's shape: it is a view, or memory that values are
/// written to.
fn is_given(entry: &Entry) -> bool {
    moves_values(entry) || matches!(entry.operation.as_deref(), Some("CPY" | "SET_ROWS"))
}
