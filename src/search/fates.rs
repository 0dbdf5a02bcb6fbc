//! Decides from one metric's levels which of several steps a later improvement undid.

use std::ops::Range;

/// Maximum number of steps that are compared with an improvement.
const MOST_STEPS: usize = 10;
/// Steps fit an improvement if their sum differs by at most this share of the improvement.
const SLACK: f64 = 0.05;
/// Steps fit exactly if their sum differs by at most this share. An exact fit excludes all others.
const EXACT: f64 = 1e-3;
/// In noise: steps may fit if their sum differs by at most this many standard errors more.
const SURE: f64 = 2.0;

/// Whether a step's source change is still in the tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ChangePresence {
    /// The whole change is still in the tree.
    Whole,
    /// Some of the change's files are as before the change.
    InPart,
    /// Nothing of the change is in the tree.
    Gone,
    /// Nothing of the change is in the tree, and the same holds for the last worse commit before
    /// the improvement: the improvement did not take the change out.
    GoneBefore,
    /// The source does not show it.
    #[default]
    Unknown,
}

/// What became of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StepStatus {
    /// The step remains, at least in part.
    Stands,
    /// The improvement undid the step.
    Undone,
    /// The improvement undid this step or another one.
    Unclear,
}

/// The size of a step or an improvement that was measured in noise.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct NoisySize {
    /// In the metric's unit.
    pub(crate) size: f64,
    /// Its standard error.
    pub(crate) error: f64,
}

/// In noise, for each of the `steps`, whether the runs leave open that an improvement by `amount`
/// undid it. `carried` and `tolerance`: as for [`attribute_improvement`].
///
/// A set of steps that does not fit the improvement by the measured sizes may fit if the sizes are
/// [`SURE`] standard errors off. If there is such a set, the steps of all sets that fit or may fit
/// are open; but if one fits, a step that all of them have is not. Sets that the source excludes do
/// not count if it allows another one.
pub(crate) fn left_open_by_noise(
    steps: &[NoisySize],
    carried: &[ChangePresence],
    amount: NoisySize,
    tolerance: f64,
) -> Vec<bool> {
    let sizes: Vec<f64> = steps.iter().map(|step| step.size).collect();
    let improvement = Improvement { steps: &sizes, carried, amount: amount.size, tolerance };
    let error = |set: u32| {
        let taken = (0..improvement.count()).filter(|i| set >> i & 1 == 1);
        let variance = taken.map(|i| steps[i].error.powi(2)).sum::<f64>();
        (variance + amount.error.powi(2)).sqrt()
    };
    let fits = |set: u32| improvement.off(set) <= improvement.most_off();
    let may_fit = |set: &u32| improvement.off(*set) <= improvement.most_off() + SURE * error(*set);
    let mut sets: Vec<u32> = improvement.sets().filter(may_fit).collect();
    if sets.iter().any(|set| improvement.is_allowed_by_source(*set)) {
        sets.retain(|set| improvement.is_allowed_by_source(*set));
    }
    let fitting = sets.iter().filter(|set| fits(**set)).count();
    if fitting == sets.len() {
        return vec![false; steps.len()];
    }
    let is_open = |i: usize| {
        let with = sets.iter().filter(|set| i < improvement.count() && **set >> i & 1 == 1).count();
        with > 0 && (fitting == 0 || with < sets.len())
    };
    (0..steps.len()).map(is_open).collect()
}

/// Which of the `steps` an improvement by `amount` undid. A step is how much worse a commit made
/// the metric, in its unit. `carried`: whether each step's source change is still in the tree after
/// the improvement. `tolerance`: smaller differences count as equal.
///
/// The source does not choose a set if it shows that the changes of all its steps were gone before
/// the improvement.
///
/// If one set of steps adds up to the improvement, these steps are undone. If several sets nearly
/// do, the set that fits to a thousandth is undone. If no set fits, the improvement undid only a
/// part of a step: larger steps stand, and so do steps whose source change is still there; other
/// steps are unclear. The steps of the fitting sets are unclear in two cases: if several sets fit
/// and the source does not decide, and if the source shows that another step is partly gone.
///
/// `repeats`: levels repeat exactly. Then a near fit decides nothing if the source shows no step as
/// gone, in whole or in part: the improvement may have undone one step and a part of another. And
/// if only a set that the source excludes fits exactly, the steps that tell the sets apart are
/// unclear.
pub(crate) fn attribute_improvement(
    steps: &[f64],
    carried: &[ChangePresence],
    amount: f64,
    tolerance: f64,
    repeats: bool,
) -> Vec<StepStatus> {
    let improvement = Improvement { steps, carried, amount, tolerance };
    let fitting = improvement.fitting();
    let told: Vec<u32> =
        fitting.iter().copied().filter(|set| improvement.is_allowed_by_source(*set)).collect();
    let nearly = !fitting.iter().any(|set| improvement.is_exact(*set));
    if !told.is_empty() {
        let mut sets = improvement.closest(&told);
        if repeats && !nearly && !sets.iter().any(|set| improvement.is_exact(*set)) {
            sets.extend(improvement.closest(&fitting));
        }
        return improvement.by_sets(&sets, false);
    }
    improvement.by_text(nearly).unwrap_or_else(|| {
        if repeats && nearly && improvement.source_decides_nothing(&fitting) {
            return improvement.unclear_up_to_amount();
        }
        let contradicted = improvement.in_part().next().is_some();
        improvement.by_sets(&improvement.closest(&fitting), contradicted)
    })
}

/// An improvement and the steps before it; a set of steps is a bit mask.
struct Improvement<'a> {
    steps: &'a [f64],
    carried: &'a [ChangePresence],
    amount: f64,
    tolerance: f64,
}

impl Improvement<'_> {
    /// The number of steps that are compared.
    fn count(&self) -> usize {
        self.steps.len().min(MOST_STEPS)
    }

    fn off(&self, set: u32) -> f64 {
        let taken = (0..self.count()).filter(|i| set >> i & 1 == 1);
        (taken.map(|i| self.steps[i]).sum::<f64>() - self.amount).abs()
    }

    /// All sets of the compared steps but the empty one.
    fn sets(&self) -> Range<u32> {
        1..1_u32 << self.count()
    }

    /// By how much the sum of a set that fits may differ from the improvement.
    fn most_off(&self) -> f64 {
        self.tolerance.max(SLACK * self.amount.abs())
    }

    /// The sets whose sum fits the improvement, exactly or nearly.
    fn fitting(&self) -> Vec<u32> {
        self.sets().filter(|set| self.off(*set) <= self.most_off()).collect()
    }

    fn is_exact(&self, set: u32) -> bool {
        self.off(set) <= EXACT * self.amount.abs()
    }

    /// The sets that fit exactly; if none does, all sets.
    fn closest(&self, sets: &[u32]) -> Vec<u32> {
        let exact: Vec<u32> = sets.iter().copied().filter(|set| self.is_exact(*set)).collect();
        if exact.is_empty() { sets.to_vec() } else { exact }
    }

    /// Whether the source allows that exactly these steps were undone, and that the improvement
    /// took out the change of at least one of these steps.
    fn is_allowed_by_source(&self, set: u32) -> bool {
        let is_taken = |i: usize| set >> i & 1 == 1;
        let was_there = |i: usize| self.carried[i] != ChangePresence::GoneBefore;
        (0..self.count()).any(|i| is_taken(i) && was_there(i))
            && (0..self.count()).all(|i| match self.carried[i] {
                ChangePresence::Whole => !is_taken(i),
                ChangePresence::Gone => is_taken(i),
                ChangePresence::InPart | ChangePresence::GoneBefore | ChangePresence::Unknown => {
                    true
                }
            })
    }

    fn is_kept(&self, step: usize) -> bool {
        self.carried[step] == ChangePresence::Whole
    }

    fn in_part(&self) -> impl Iterator<Item = usize> {
        (0..self.count()).filter(|i| self.carried[*i] == ChangePresence::InPart)
    }

    /// Whether some sets fit, there are several steps, and the source shows neither that a step is
    /// partly gone nor that a step of a fitting set is gone.
    fn source_decides_nothing(&self, fitting: &[u32]) -> bool {
        let shows = |i: usize| match self.carried[i] {
            ChangePresence::InPart => true,
            ChangePresence::Gone => fitting.iter().any(|set| set >> i & 1 == 1),
            ChangePresence::Whole | ChangePresence::GoneBefore | ChangePresence::Unknown => false,
        };
        !fitting.is_empty() && self.steps.len() > 1 && !(0..self.count()).any(shows)
    }

    /// Steps larger than the improvement stand, because a part of each is left. Others are unclear.
    fn unclear_up_to_amount(&self) -> Vec<StepStatus> {
        let is_larger = |step: &f64| *step > self.amount + self.tolerance;
        let fate = |step| if is_larger(step) { StepStatus::Stands } else { StepStatus::Unclear };
        self.steps.iter().map(fate).collect()
    }

    /// The statuses from the source alone, if no set fits both source and levels. If some steps are
    /// gone and others kept, the gone ones are undone. If a single step is partly gone and the rest
    /// kept, all steps stand, provided that step is large enough and no set fits exactly
    /// (`nearly`).
    fn by_text(&self, nearly: bool) -> Option<Vec<StepStatus>> {
        let all = 0..self.steps.len();
        let is_gone = |i: usize| {
            self.carried[i] == ChangePresence::Gone && self.steps[i] <= self.amount + self.tolerance
        };
        if all.clone().any(is_gone) && all.clone().any(|i| self.is_kept(i)) {
            let fate = |i: usize| match self.carried[i] {
                ChangePresence::Gone if is_gone(i) => StepStatus::Undone,
                ChangePresence::Gone | ChangePresence::Whole => StepStatus::Stands,
                ChangePresence::InPart | ChangePresence::GoneBefore | ChangePresence::Unknown => {
                    StepStatus::Unclear
                }
            };
            return Some(all.map(fate).collect());
        }
        let mut in_part = self.in_part();
        let (one, another) = (in_part.next()?, in_part.next());
        let is_large = self.steps[one] >= self.amount - self.tolerance;
        let is_alone = another.is_none() && all.clone().all(|i| i == one || self.is_kept(i));
        (nearly && is_large && is_alone).then(|| vec![StepStatus::Stands; self.steps.len()])
    }

    /// The statuses from the sets. If the source contradicts the sets, the steps of the sets and
    /// the partly gone steps are unclear.
    fn by_sets(&self, sets: &[u32], contradicted: bool) -> Vec<StepStatus> {
        let alone = self.steps.len() == 1;
        let fate = |i: usize| {
            if contradicted && !alone && self.carried[i] == ChangePresence::InPart {
                return StepStatus::Unclear;
            }
            if sets.is_empty() {
                // The improvement undid part of something larger, which may include smaller steps.
                let is_larger = alone || self.steps[i] > self.amount + self.tolerance;
                return if is_larger || self.is_kept(i) {
                    StepStatus::Stands
                } else {
                    StepStatus::Unclear
                };
            }
            let undone = sets.iter().filter(|set| i < self.count() && **set >> i & 1 == 1).count();
            match undone {
                0 => StepStatus::Stands,
                n if n == sets.len() && !contradicted => StepStatus::Undone,
                _ => StepStatus::Unclear,
            }
        };
        (0..self.steps.len()).map(fate).collect()
    }
}

#[cfg(test)]
mod tests;
