//! Whether each commit shifts a level by an offset of its own, as another layout of the code does,
//! and how likely a claimed step is more than such an offset. Pure.
//!
//! Two explanations are compared. Either levels change only at a few commits, by steps and mends;
//! commits between two changes then share one level. Or each commit has an offset besides.

use crate::stats;

/// The probability that a commit changes the level for all later commits, before any run.
const CHANGE: f64 = 0.05;
/// The smallest standard deviation of offsets that is considered, as a share of the claimed step.
/// Smaller offsets do not look like the step.
const SMALLEST: f64 = 0.125;
/// The number of standard deviations that are considered, each √2 times the one before.
const SIZES: usize = 8;
/// Levels that differ by less than this share of the claimed step are one level.
const EQUAL: f64 = 1e-3;
/// Two levels differ if they do so by this many standard errors.
const APART: f64 = 2.5;
/// Minimum number of levels: with fewer, one offset looks like any other change.
const LEAST: usize = 4;
/// Log odds from which offsets are sure (20 : 1).
const SURE: f64 = 3.0;
/// Minimum number of falls if offsets are sure.
const FALLS: usize = 2;
/// Offsets go up and down. There may be this many rises for a fall.
const RISES: usize = 3;

/// The level of a measured commit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct CommitLevel {
    /// The mean of its runs. Later commits have larger levels if the claim is right.
    pub(crate) value: f64,
    /// How many runs; at least 1.
    pub(crate) runs: usize,
    /// Its place in the history; 0 is the oldest commit.
    pub(crate) place: usize,
}

/// What the levels say about offsets.
#[derive(Clone, Debug)]
pub(crate) struct CommitOffsets {
    model: Model,
    log_odds: f64,
    /// How many levels are clearly smaller, or larger, than the one before.
    falls: usize,
    rises: usize,
    /// The estimated standard deviation of the offsets.
    pub(crate) sd: f64,
    /// The probability that the level changes for good at the claimed commit.
    pub(crate) confidence: f64,
}

impl CommitOffsets {
    /// Compares the two explanations. `levels`: in order of history; `claimed`: the index of the
    /// claimed commit's level; `noise`: the standard deviation of one run. `None` if the levels
    /// cannot tell: there are too few, the parent has none, or the claimed commit is no rise.
    pub(crate) fn of(levels: &[CommitLevel], claimed: usize, noise: f64) -> Option<Self> {
        let (commit, parent) = (levels.get(claimed)?, levels.get(claimed.checked_sub(1)?)?);
        let step = commit.value - parent.value;
        let is_step = step.is_finite() && step > 0.0 && commit.place == parent.place + 1;
        if !is_step || levels.len() < LEAST || levels.iter().any(|one| !one.value.is_finite()) {
            return None;
        }
        let model = Model::new(levels, step, noise);
        let without = model.at(0.0, claimed);
        let sizes = (0..SIZES).map(|size| step * SMALLEST * 2.0_f64.powf(size as f64 / 2.0));
        let each: Vec<(f64, Segmented)> = sizes.map(|sd| (sd, model.at(sd, claimed))).collect();
        let with = log_sum(each.iter().map(|(_, one)| one.log_likelihood));
        let with_mean = with - (SIZES as f64).ln();
        let all = log_sum([without.log_likelihood, with_mean].into_iter());
        let share = |one: &Segmented| (one.log_likelihood - with).exp();
        let if_offsets: f64 = each.iter().map(|(_, one)| share(one) * one.change).sum();
        let log_sd: f64 = each.iter().map(|(sd, one)| share(one) * sd.ln()).sum();
        let [falls, rises] = model.movements(step, noise);
        Some(Self {
            log_odds: with_mean - without.log_likelihood,
            falls,
            rises,
            sd: log_sd.exp(),
            confidence: (without.log_likelihood - all).exp() * without.change
                + (with_mean - all).exp() * if_offsets,
            model,
        })
    }

    /// Whether offsets explain the levels better than steps and mends do. Levels that only rise show
    /// no offsets.
    pub(crate) fn are_likely(&self) -> bool {
        self.falls > 0 && self.log_odds > 0.0
    }

    /// Whether offsets explain the levels much better.
    pub(crate) fn are_sure(&self) -> bool {
        let are_balanced = self.falls >= FALLS && RISES * self.falls >= self.rises;
        are_balanced && self.log_odds > SURE
    }

    /// The places of the commits that together hold this share of the probability, if one step
    /// explains all levels but for the offsets. The most likely ones, in order of history.
    pub(crate) fn candidates(&self, share: f64) -> Vec<usize> {
        let levels = &self.model.levels;
        let gap = |next: usize| levels[next].place - levels[next - 1].place;
        let logs = self.model.one_step(self.sd);
        let all = log_sum(logs.iter().map(|(_, log)| *log));
        let mut gaps: Vec<(usize, f64)> =
            logs.into_iter().map(|(next, log)| (next, (log - all).exp())).collect();
        let of_each = |(next, held): &(usize, f64)| held / gap(*next) as f64;
        gaps.sort_by(|one, other| of_each(other).total_cmp(&of_each(one)));
        let mut sum = 0.0;
        let mut places = Vec::new();
        for (next, held) in gaps {
            if sum >= share {
                break;
            }
            sum += held;
            places.extend(levels[next - 1].place + 1..=levels[next].place);
        }
        places.sort_unstable();
        places
    }
}

/// The likelihood of the levels for one size of the offsets.
#[derive(Clone, Copy, Debug)]
struct Segmented {
    log_likelihood: f64,
    /// The probability of a change at the claimed commit.
    change: f64,
}

/// The levels, and what is the same for all sizes of the offsets.
#[derive(Clone, Debug)]
struct Model {
    levels: Vec<CommitLevel>,
    /// The variance of each level by the noise of its runs.
    variances: Vec<f64>,
    /// The mean of all levels. Before any run, a segment's level is expected to be near it.
    centre: f64,
    /// The variance of a segment's level about `centre`, before any run.
    spread: f64,
}

impl Model {
    fn new(levels: &[CommitLevel], step: f64, noise: f64) -> Self {
        let least = (EQUAL * step).powi(2);
        let variance = |one: &CommitLevel| (noise * noise / one.runs.max(1) as f64).max(least);
        let values: Vec<f64> = levels.iter().map(|one| one.value).collect();
        let range = stats::min_max(values.iter().copied());
        Self {
            levels: levels.to_vec(),
            variances: levels.iter().map(variance).collect(),
            centre: stats::mean(&values).unwrap_or(0.0),
            spread: range.map_or(0.0, |[smallest, largest]| (largest - smallest).powi(2)),
        }
    }

    /// How many levels are clearly smaller than the one before, and how many are clearly larger.
    fn movements(&self, step: f64, noise: f64) -> [usize; 2] {
        let (mut falls, mut rises) = (0, 0);
        for pair in self.levels.windows(2) {
            let [one, next] = [pair[0], pair[1]];
            let variance = 1.0 / one.runs.max(1) as f64 + 1.0 / next.runs.max(1) as f64;
            let error = (APART * noise * variance.sqrt()).max(EQUAL * step);
            falls += usize::from(one.value - next.value > error);
            rises += usize::from(next.value - one.value > error);
        }
        [falls, rises]
    }

    /// For each segment that begins at a level, the log likelihood that its levels are one level
    /// with offsets of this standard deviation: with the first level alone, with two, and so on.
    fn segments(&self, sd: f64) -> Vec<Vec<f64>> {
        let row = |first: usize| {
            let [mut weight, mut sum, mut squares, mut logs] = [0.0_f64; 4];
            let rest = self.levels[first..].iter().zip(&self.variances[first..]);
            let each = rest.map(|(level, own)| {
                let variance = own + sd * sd;
                let from_centre = level.value - self.centre;
                weight += 1.0 / variance;
                sum += from_centre / variance;
                squares += from_centre * from_centre / variance;
                logs += (std::f64::consts::TAU * variance).ln();
                let shrunk = 1.0 + self.spread * weight;
                -0.5 * (logs + shrunk.ln() + squares - sum * sum * self.spread / shrunk)
            });
            each.collect::<Vec<f64>>()
        };
        (0..self.levels.len()).map(row).collect()
    }

    /// The sum over all ways to cut the history into segments of one level each.
    fn at(&self, sd: f64, claimed: usize) -> Segmented {
        let segments = self.segments(sd);
        let count = self.levels.len();
        let between = |one: usize, next: usize| {
            (self.levels[next].place - self.levels[one].place) as f64 * (1.0 - CHANGE).ln()
        };
        // The levels `first` … `last` are one segment: no commit between them changes the level.
        let whole =
            |first: usize, last: usize| segments[first][last - first] + between(first, last);
        // At least one of the commits after level `first - 1` up to `first` changes the level.
        let cut = |first: usize| (-between(first - 1, first).exp_m1()).ln();
        // Up to each level, if a segment ends there; and from each level on, if one begins there.
        let mut up_to: Vec<f64> = Vec::with_capacity(count);
        for last in 0..count {
            let sum = log_sum((0..=last).map(|first| {
                let before = if first == 0 { 0.0 } else { up_to[first - 1] + cut(first) };
                before + whole(first, last)
            }));
            up_to.push(sum);
        }
        let mut from = vec![0.0; count + 1];
        for first in (0..count).rev() {
            from[first] = log_sum((first..count).map(|last| {
                let after = if last + 1 == count { 0.0 } else { cut(last + 1) + from[last + 1] };
                whole(first, last) + after
            }));
        }
        let log_likelihood = up_to[count - 1];
        let with_change = up_to[claimed - 1] + cut(claimed) + from[claimed];
        Segmented { log_likelihood, change: (with_change - log_likelihood).exp().min(1.0) }
    }

    /// For each level but the first one, if the mean of the levels from there on is larger than
    /// that of the levels before: its index, and how likely one step is there (a log). This is the
    /// likelihood of a step between the level before and this one, times the number of commits that
    /// may have made the step.
    fn one_step(&self, sd: f64) -> Vec<(usize, f64)> {
        let segments = self.segments(sd);
        let count = self.levels.len();
        let mean = |from: usize, to: usize| {
            let part = self.levels[from..to].iter().zip(&self.variances[from..to]);
            let (mut weight, mut sum) = (0.0_f64, 0.0_f64);
            for (level, own) in part {
                weight += 1.0 / (own + sd * sd);
                sum += level.value / (own + sd * sd);
            }
            sum / weight
        };
        let is_rise = |next: &usize| mean(0, *next) < mean(*next, count);
        let log = |next: usize| {
            let gap = self.levels[next].place - self.levels[next - 1].place;
            segments[0][next - 1] + segments[next][count - next - 1] + (gap as f64).ln()
        };
        (1..count).filter(is_rise).map(|next| (next, log(next))).collect()
    }
}

/// ln ∑ eˣ; minus infinity without terms.
fn log_sum(terms: impl Iterator<Item = f64>) -> f64 {
    let terms: Vec<f64> = terms.collect();
    let largest = terms.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if largest.is_infinite() {
        return largest;
    }
    largest + terms.iter().map(|term| (term - largest).exp()).sum::<f64>().ln()
}

#[cfg(test)]
mod tests;
