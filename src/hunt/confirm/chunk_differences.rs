//! Compares two commits chunk by chunk, because both read the same text. Pure.

use crate::evaluation::{ChunkIntervals, Direction, GuardTarget, Reading};
use crate::oracle::Observation;
use crate::stats::{self, Chunks};

/// Confidence of the intervals, which say how far the step varies with the choice of the text. The
/// hunt's confidence is another number: it rates the named commit.
const CONFIDENCE: f64 = 0.95;

/// The intervals of the step from good to bad, in the metric's unit; `None` if the metric is not a
/// perplexity over chunks, or if both sides did not read the same chunks.
///
/// A difference of x nats per token moves a perplexity P to P·eˣ. The ends of an interval are
/// therefore P·(eˣ − 1), where P is the good side's perplexity.
pub(crate) fn over_text(
    good: &Observation,
    bad: &Observation,
    target: &GuardTarget,
) -> Option<ChunkIntervals> {
    let metric = &target.guard.metric;
    // Named metrics of such a measure, such as times, are not perplexities.
    if metric.name.is_some() {
        return None;
    }
    let before = chunks_of(good, &metric.measure)?;
    let after = chunks_of(bad, &metric.measure)?;
    let found = stats::difference(&before, &after, CONFIDENCE)?;
    let is_worse_below = match target.guard.direction() {
        Direction::Up => false,
        Direction::Down => true,
        Direction::Any => found.mean < 0.0,
    };
    let in_unit = |ends: [f64; 2]| {
        let [low, high] = ends.map(|x| before.mean().exp() * x.exp_m1());
        if is_worse_below { [-high, -low] } else { [low, high] }
    };
    let (paired, plain) = (in_unit(found.paired), in_unit(found.plain));
    // The journal holds finite numbers only.
    let is_finite = paired.iter().chain(&plain).all(|x| x.is_finite());
    is_finite.then(|| ChunkIntervals {
        chunks: before.len(),
        carrying: before.carrying(&after).into_iter().filter(|carries| *carries).count(),
        confidence: CONFIDENCE,
        paired,
        plain,
    })
}

/// These intervals in noise: what differs from run to run may move all chunks of a run alike. Two
/// texts, or chunks, do not show that. Each end gets the error of the step besides: their squares
/// add up. `interval`: the 95 % interval of the step in noise. `None` if an end is not finite.
pub(super) fn with_noise(
    text: &ChunkIntervals,
    step: f64,
    interval: [f64; 2],
) -> Option<ChunkIntervals> {
    let [down, up] = [step - interval[0], interval[1] - step];
    let wider = |[low, high]: [f64; 2]| {
        let middle = f64::midpoint(low, high);
        [middle - (middle - low).hypot(down), middle + (high - middle).hypot(up)]
    };
    let [paired, plain] = [text.paired, text.plain].map(wider);
    let is_finite = paired.iter().chain(&plain).all(|x| x.is_finite());
    is_finite.then(|| ChunkIntervals { paired, plain, ..text.clone() })
}

/// The per-chunk values of a measure's runs; `None` if the runs did not read the same text.
pub(crate) fn chunks_of(seen: &Observation, measure: &str) -> Option<Chunks> {
    let runs: Vec<&Reading> = seen.readings(measure).collect();
    let first = runs.first()?.text_length()?;
    let is_same = |run: &&Reading| run.text_length().is_some_and(|own| !own.differs_from(first));
    if !runs.iter().all(is_same) {
        return None;
    }
    let runs: Vec<&[f64]> = runs.iter().map(|run| run.chunks.as_slice()).collect();
    Chunks::of(&runs)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::{GuardForm, Metric};
    use crate::oracle::fixture::{at, target};

    /// One run that printed these cumulative perplexities.
    fn read(digit: char, cumulative: &[f64]) -> Observation {
        let mut seen = at(digit, &[cumulative.last().copied().unwrap_or(7.0)]);
        let sample = &mut seen.samples.get_mut("ppl").unwrap()[0];
        sample.result.as_mut().unwrap().chunks = cumulative.to_vec();
        seen
    }

    const PARENT: [f64; 4] = [9.0, 7.5, 8.2, 7.0123];
    const COMMIT: [f64; 4] = [9.1, 7.6, 8.31, 7.1024];

    fn step(form: GuardForm, parent: &[f64], commit: &[f64]) -> Option<ChunkIntervals> {
        over_text(&read('1', parent), &read('2', commit), &target(form, 7.0, 8.0))
    }

    #[test]
    fn the_intervals_lie_around_the_step_in_its_own_unit() {
        let found = step(GuardForm::MaxIncrease(0.05), &PARENT, &COMMIT).unwrap();
        assert_eq!((found.chunks, found.carrying), (4, 4));
        let inside = |[low, high]: [f64; 2]| low < 0.0901 && 0.0901 < high;
        assert!(inside(found.paired) && inside(found.plain), "{found:?}");
        let width = |[low, high]: [f64; 2]| high - low;
        assert!(width(found.plain) > 20.0 * width(found.paired), "{found:?}");
        assert!(found.paired[0] > 0.0, "{found:?}");
    }

    #[test]
    fn in_noise_the_intervals_hold_what_differs_from_run_to_run() {
        // All chunks of a run move alike: the text alone gives an interval that is too narrow.
        let text = ChunkIntervals {
            chunks: 4,
            carrying: 0,
            confidence: 0.95,
            paired: [1.529, 1.531],
            plain: [1.13, 1.93],
        };
        let found = with_noise(&text, 1.53, [0.93, 2.03]).unwrap();
        let [low, high] = found.paired;
        assert!((0.929..0.93).contains(&low) && (2.03..2.031).contains(&high), "{found:?}");
        // Of the same size as the text's: √2 times as wide.
        let found = with_noise(&text, 1.53, [1.13, 1.93]).unwrap();
        assert!((found.plain[1] - (1.53 + 0.4 * 2.0_f64.sqrt())).abs() < 1e-9, "{found:?}");
        assert_eq!(with_noise(&text, 1.53, [f64::NEG_INFINITY, 2.0]), None);
    }

    #[test]
    fn worse_is_positive_whichever_way_is_worse() {
        let up = step(GuardForm::MaxIncrease(0.05), &PARENT, &COMMIT).unwrap();
        let down = step(GuardForm::MaxDecrease(0.05), &PARENT, &COMMIT).unwrap();
        assert!((down.paired[0] + up.paired[1]).abs() < 1e-12, "{down:?}");
        assert!((down.paired[1] + up.paired[0]).abs() < 1e-12, "{down:?}");
        let fallen = step(GuardForm::Unchanged, &COMMIT, &PARENT).unwrap();
        assert!(fallen.paired[0] > 0.0, "{fallen:?}");
    }

    #[test]
    fn other_metrics_and_other_texts_have_none() {
        let (parent, commit) = (read('1', &PARENT), read('2', &COMMIT));
        let mut time = target(GuardForm::MaxIncrease(1.0), 1.0, 3.0);
        time.guard.metric = Metric::named("ppl", "wall_s");
        assert_eq!(over_text(&parent, &commit, &time), None);
        assert_eq!(step(GuardForm::MaxIncrease(0.05), &PARENT, &COMMIT[..3]), None);
        assert_eq!(step(GuardForm::MaxIncrease(0.05), &PARENT, &[]), None);
        // An infinite interval gives `None`.
        assert_eq!(step(GuardForm::MaxIncrease(0.05), &[1e300, 1.0], &[1.0, 1e300]), None);
    }
}
