//! What a pattern of differences is known to mean, with its evidence. Pure.

use crate::evaluation::{
    TensorComparison, TensorDifference, TensorGrowth, TensorInput, TensorPart, TensorPattern,
    TensorPatternKind as Kind, TensorVerdict,
};

use super::cache_check::CacheDifference;

/// A difference is more than rounding if max |Δ| is above [`BUG`], and the RMS of Δ is above
/// [`BUG_RELATIVE`] times the RMS of A. Both limits are needed: large values have large
/// differences, and weights that were quantised again have large relative ones. 4-bit weights moved
/// the attention of a small model by 0.36 of its RMS.
const BUG: f64 = 1.0;
const BUG_RELATIVE: f64 = 0.5;

/// A layer this many times worse than the one before it is far worse.
const FAR: f64 = 10.0;

/// Growth by this factor per layer or step, in the geometric mean, is instability if no single
/// factor is below [`LEAST_FACTOR`] or above [`FAR`].
const UNSTABLE: f64 = 2.0;
const LEAST_FACTOR: f64 = 1.5;

/// Slow growth: the highest value is at least this many times the first one.
const SLOW: f64 = 2.0;
/// Slow growth: each value is at least this many times the one before it.
const LEAST_SLOW_FACTOR: f64 = 0.9;

/// Fewer points do not show a growth.
const LEAST_POINTS: usize = 4;

/// The patterns that a comparison shows, the most telling one first. `found.patterns` is not read.
pub(super) fn of(found: &TensorComparison, caches: &[CacheDifference]) -> Vec<TensorPattern> {
    let pattern =
        |kind, evidence: Option<String>| Some(TensorPattern { kind, evidence: evidence? });
    let all = [
        found.first().and_then(|first| {
            let (kind, evidence) = first_part(found, first)?;
            pattern(kind, Some(evidence))
        }),
        pattern(Kind::Cache, cache(caches)),
        pattern(Kind::NonFinite, non_finite(found)),
        pattern(Kind::NotRounding, not_rounding(found)),
        pattern(Kind::OneLayer, one_layer(found)),
        pattern(Kind::Instability, instability(found)),
        pattern(Kind::SlowGrowth, slow_growth(found)),
    ];
    all.into_iter().flatten().collect()
}

/// What the part of the first different tensor says, if all its inputs are clean.
fn first_part(found: &TensorComparison, first: &TensorDifference) -> Option<(Kind, String)> {
    let part = first.part?;
    let has_clean_inputs = !found.inputs.is_empty() && found.inputs.iter().all(|one| one.is_clean);
    if part == TensorPart::Embedding {
        return Some((Kind::Embedding, format!("{} is the first tensor of the model", first.name)));
    }
    if !has_clean_inputs {
        return None;
    }
    let clean = before_it(&found.inputs);
    let is_read = |part: TensorPart| {
        found.tensors.iter().any(|one| one.part == Some(part) && one.layer == first.layer)
    };
    let kind = match part {
        TensorPart::Embedding => Kind::Embedding,
        TensorPart::RotationTable | TensorPart::RotatedQuery | TensorPart::RotatedKey => {
            return Some((Kind::Rotation, rotation(found, first, &clean)));
        }
        TensorPart::Scores | TensorPart::AttentionWeights | TensorPart::Attention => {
            Kind::Attention
        }
        TensorPart::AttentionOutput if !is_read(TensorPart::Attention) => {
            let evidence =
                format!("{clean}; the dump does not tell the attention from its output projection");
            return Some((Kind::Attention, evidence));
        }
        TensorPart::Query
        | TensorPart::Key
        | TensorPart::Value
        | TensorPart::QueryKeyValue
        | TensorPart::AttentionOutput => Kind::Projection,
        TensorPart::Gate
        | TensorPart::Up
        | TensorPart::Activation
        | TensorPart::FeedForwardOutput => Kind::FeedForward,
        TensorPart::AttentionNorm | TensorPart::FeedForwardNorm | TensorPart::OutputNorm => {
            Kind::Norm
        }
        TensorPart::AttentionResidual | TensorPart::LayerOutput => Kind::Residual,
        TensorPart::Logits => Kind::Output,
    };
    Some((kind, format!("{clean}, {} is not", first.name)))
}

/// `k-0 and q-0 before it are clean`, or what else is known of each.
fn before_it(inputs: &[TensorInput]) -> String {
    let mut states: Vec<([&str; 2], Vec<&str>)> = Vec::new();
    for input in inputs {
        match states.iter_mut().find(|(state, _)| *state == input.states()) {
            Some((_, names)) => names.push(&input.name),
            None => states.push((input.states(), vec![&input.name])),
        }
    }
    let words = states.iter().map(|([of_one, of_all], names)| match names.as_slice() {
        [name] => format!("{name} before it is {of_one}"),
        names => format!("{} before it are {of_all}", names.join(", ")),
    });
    words.collect::<Vec<_>>().join(", ")
}

fn rotation(found: &TensorComparison, first: &TensorDifference, clean: &str) -> String {
    let is_rotated = |one: &&TensorDifference| {
        one.layer == first.layer
            && one.is_different()
            && matches!(one.part, Some(TensorPart::RotatedQuery | TensorPart::RotatedKey))
    };
    let both: Vec<String> =
        found.tensors.iter().filter(is_rotated).map(|one| one.name.clone()).collect();
    if both.len() == 2 {
        format!("{clean}; {} differ, both after the rotation", both.join(" and "))
    } else {
        format!("{clean}, {} after the rotation is not", first.name)
    }
}

fn non_finite(found: &TensorComparison) -> Option<String> {
    let one = found.tensors.iter().find(|one| one.verdict == TensorVerdict::NonFinite)?;
    let [a, b] = one.non_finite;
    Some(format!(
        "{} is the first tensor with NaN or infinite values: {a} in A, {b} in B",
        one.name
    ))
}

fn not_rounding(found: &TensorComparison) -> Option<String> {
    let is_large = |one: &&TensorDifference| {
        one.max_abs.is_some_and(|largest| largest > BUG)
            && one.relative().is_some_and(|relative| relative >= BUG_RELATIVE)
    };
    let at = found.tensors.iter().position(|one| is_large(&one))?;
    // Another type explains a large difference.
    if found.tensors[..=at].iter().any(|one| one.types.is_some()) {
        return None;
    }
    let one = &found.tensors[at];
    let [largest, relative] = [one.max_abs?, one.relative()?].map(short);
    Some(format!("max |Δ| of {} is {largest}, RMS of Δ is {relative} of its RMS", one.name))
}

/// A layer that is far worse than the one before it; or the first one, if it is far worse than the
/// next.
fn one_layer(found: &TensorComparison) -> Option<String> {
    let growth = &found.growth;
    let is_beyond = |point: &TensorGrowth| {
        found.tensors.iter().any(|one| one.name == point.name && one.is_different())
    };
    let ratio = |a: &TensorGrowth, b: &TensorGrowth| match (a.relative > 0.0, b.relative > 0.0) {
        (false, _) => 0.0,
        (true, false) => f64::INFINITY,
        (true, true) => a.relative / b.relative,
    };
    let after = growth.windows(2).find(|pair| {
        is_beyond(&pair[1]) && !is_beyond(&pair[0]) && ratio(&pair[1], &pair[0]) >= FAR
    });
    let (one, other) = match (after, growth.first_chunk::<2>()) {
        (Some(pair), _) => (&pair[1], &pair[0]),
        (None, Some([first, second])) if is_beyond(first) && ratio(first, second) >= FAR => {
            (first, second)
        }
        _ => return None,
    };
    let axis = found.axis;
    let times = if other.relative > 0.0 {
        format!("{} times that of {axis} {}", short(ratio(one, other)), other.at)
    } else {
        format!("{axis} {} is equal in both", other.at)
    };
    Some(format!("RMS of Δ is {} of the RMS in {axis} {}, {times}", short(one.relative), one.at))
}

/// The points from the first different one on, and the factors between them. `None` if they are too
/// few to show a growth.
fn growing(found: &TensorComparison) -> Option<(&[TensorGrowth], Vec<f64>)> {
    let begin = found.growth.iter().position(|point| point.relative > 0.0)?;
    let points = &found.growth[begin..];
    if points.len() < LEAST_POINTS || found.first.is_none() {
        return None;
    }
    let factors = points.windows(2).map(|pair| pair[1].relative / pair[0].relative).collect();
    Some((points, factors))
}

/// Every layer adds to the difference: a small error in each of them.
fn slow_growth(found: &TensorComparison) -> Option<String> {
    let (points, factors) = growing(found)?;
    if instability(found).is_some() || one_layer(found).is_some() {
        return None;
    }
    if !factors.iter().all(|one| (LEAST_SLOW_FACTOR..FAR).contains(one)) {
        return None;
    }
    let first = points.first()?;
    let highest = points.iter().max_by(|a, b| a.relative.total_cmp(&b.relative))?;
    let axis = found.axis;
    (highest.relative >= SLOW * first.relative).then(|| {
        format!(
            "RMS of Δ is {} of the RMS in {axis} {} and {} in {axis} {}; no {axis} alone stands out",
            short(first.relative),
            first.at,
            short(highest.relative),
            highest.at
        )
    })
}

fn instability(found: &TensorComparison) -> Option<String> {
    let (points, factors) = growing(found)?;
    if factors.iter().any(|factor| !(LEAST_FACTOR..FAR).contains(factor)) {
        return None;
    }
    let mean = (factors.iter().map(|factor| factor.ln()).sum::<f64>() / factors.len() as f64).exp();
    let (first, last) = (points.first()?, points.last()?);
    let axis = found.axis;
    (mean >= UNSTABLE).then(|| {
        format!(
            "the difference grows by {} per {axis}, from {} in {axis} {} to {} in {axis} {}",
            short(mean),
            short(first.relative),
            first.at,
            short(last.relative),
            last.at
        )
    })
}

fn cache(caches: &[CacheDifference]) -> Option<String> {
    let is_it = |one: &&CacheDifference| {
        one.max_abs[1] > one.tolerance && one.max_abs[1] > 4.0 * one.max_abs[0]
    };
    let one = caches.iter().find(is_it)?;
    let [a, b] = one.max_abs.map(short);
    Some(format!(
        "{} of prefill and decode differs from the full pass by {b} in B, by {a} in A",
        one.name
    ))
}

/// Three significant digits.
fn short(value: f64) -> String {
    let rounded: f64 = format!("{value:.2e}").parse().unwrap_or(value);
    if (1e-3..1e4).contains(&rounded) || rounded == 0.0 {
        format!("{rounded}")
    } else {
        format!("{rounded:e}")
    }
}
