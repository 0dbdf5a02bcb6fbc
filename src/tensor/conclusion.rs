//! Draws conclusions from the differences of all tensors: the first different tensor, its inputs,
//! and the growth along the layers. Pure.

use std::collections::BTreeMap;

use crate::evaluation::{
    TensorAxis, TensorComparison, TensorDifference, TensorGrowth, TensorInput, TensorOrder,
    TensorPart,
};

use super::cache_check::CacheDifference;
use super::name::inputs_of;
use super::patterns;

/// What is known besides the differences.
pub(super) struct Seen<'a> {
    pub(super) order: TensorOrder,
    pub(super) printed_only: bool,
    /// The operands of the tensor at an index of the differences; `None` if the set does not say
    /// what they are.
    pub(super) inputs: &'a dyn Fn(usize) -> Option<Vec<Operand>>,
    pub(super) unmatched: [Vec<String>; 2],
    pub(super) reordered: Vec<String>,
    pub(super) caches: Vec<CacheDifference>,
    pub(super) changed_operations: Vec<[String; 3]>,
}

/// An operand that is in the dump of A.
#[derive(Clone, Debug)]
pub(super) enum Operand {
    /// The operand's index among the differences.
    Compared(usize),
    /// The operand's name; B lacks it.
    Unmatched(String),
}

/// The comparison of two sets. `tensors` is in the order of A.
pub(super) fn of(tensors: Vec<TensorDifference>, seen: Seen<'_>) -> TensorComparison {
    let first = tensors.iter().position(TensorDifference::is_different);
    let inputs = first.map_or_else(Vec::new, |first| inputs(&tensors, first, (seen.inputs)(first)));
    let (axis, growth) = growth(&tensors);
    let mut comparison = TensorComparison {
        order: seen.order,
        printed_only: seen.printed_only,
        compared: tensors.len(),
        beyond: tensors.iter().filter(|one| one.is_different()).count(),
        tensors,
        first,
        inputs,
        unmatched: seen.unmatched,
        unmatched_before: [Vec::new(), Vec::new()],
        reordered: seen.reordered,
        ends_early: [None, None],
        changed_operations: seen.changed_operations,
        axis,
        growth,
        patterns: Vec::new(),
    };
    comparison.patterns = patterns::of(&comparison, &seen.caches);
    comparison
}

/// The operands of a tensor: those that the set gives, else by its part in a transformer,
/// else the tensor before it.
fn inputs(
    tensors: &[TensorDifference],
    place: usize,
    listed: Option<Vec<Operand>>,
) -> Vec<TensorInput> {
    let before = &tensors[..place];
    let operands = listed.unwrap_or_else(|| {
        by_part(before, &tensors[place]).into_iter().map(Operand::Compared).collect()
    });
    let input = |operand: Operand| match operand {
        Operand::Compared(place) => TensorInput::compared(&before[place]),
        Operand::Unmatched(name) => TensorInput::not_compared(name),
    };
    operands.into_iter().map(input).collect()
}

fn by_part(before: &[TensorDifference], one: &TensorDifference) -> Vec<usize> {
    let Some(part) = one.part else {
        return before.len().checked_sub(1).into_iter().collect();
    };
    let nearest = |part: &TensorPart| {
        let is_in_reach = |other: &TensorDifference| match part {
            TensorPart::LayerOutput => one.layer.is_none_or(|at| other.layer == at.checked_sub(1)),
            TensorPart::Embedding => one.layer.is_none_or(|at| at == 0),
            _ => other.layer == one.layer,
        };
        let is_it = |other: &TensorDifference| {
            other.part == Some(*part) && other.step == one.step && is_in_reach(other)
        };
        before.iter().rposition(is_it)
    };
    for parts in inputs_of(part) {
        if nearest(&parts[0]).is_some() {
            return parts.iter().filter_map(nearest).collect();
        }
    }
    Vec::new()
}

/// The difference after each layer: of the layer's output, or of its last tensor. With several
/// steps, the largest relative difference of each step.
fn growth(tensors: &[TensorDifference]) -> (TensorAxis, Vec<TensorGrowth>) {
    let point = |at: u32, one: &TensorDifference| {
        let name = one.name.clone();
        Some(TensorGrowth { at, name, max_abs: one.max_abs?, relative: one.relative()? })
    };
    let has_steps = tensors.iter().any(|one| one.step.is_some_and(|step| step > 0));
    let mut points: BTreeMap<u32, (bool, TensorGrowth)> = BTreeMap::new();
    for one in tensors {
        let at = if has_steps { one.step } else { one.layer };
        let Some(point) = at.and_then(|at| point(at, one)) else { continue };
        let is_output = one.part == Some(TensorPart::LayerOutput);
        let replaces = match points.get(&point.at) {
            None => true,
            Some((_, old)) if has_steps => point.relative > old.relative,
            Some((was_output, _)) => is_output || !was_output,
        };
        if replaces {
            points.insert(point.at, (is_output, point));
        }
    }
    let axis = if has_steps { TensorAxis::Step } else { TensorAxis::Layer };
    (axis, points.into_values().map(|(_, point)| point).collect())
}

#[cfg(test)]
mod tests;
