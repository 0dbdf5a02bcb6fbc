//! Decides from one metric's levels which of several steps a later improvement undid.

/// Maximum number of steps that are compared with an improvement.
const MOST_STEPS: usize = 10;
/// Steps fit an improvement if their sum differs by at most this share of the improvement.
const SLACK: f64 = 0.05;
/// Steps fit exactly if their sum differs by at most this share. An exact fit excludes all others.
const EXACT: f64 = 1e-3;

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

    /// The sets whose sum fits the improvement, exactly or nearly.
    fn fitting(&self) -> Vec<u32> {
        let most = self.tolerance.max(SLACK * self.amount.abs());
        (1..1_u32 << self.count()).filter(|set| self.off(*set) <= most).collect()
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
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_step_that_fits_was_undone() {
        let none = [ChangePresence::Unknown; 2];
        assert_eq!(
            attribute_improvement(&[0.5, 0.3], &none, 0.5, 0.1, false),
            [StepStatus::Undone, StepStatus::Stands]
        );
        assert_eq!(
            attribute_improvement(&[0.5, 0.3], &none, 0.8, 0.1, false),
            [StepStatus::Undone, StepStatus::Undone]
        );
        assert_eq!(
            attribute_improvement(&[99_993.0], &[ChangePresence::Unknown], 99_992.7, 0.1, false),
            [StepStatus::Undone]
        );
    }

    #[test]
    fn an_improvement_that_fits_no_step_undid_none() {
        assert_eq!(
            attribute_improvement(&[52.0], &[ChangePresence::Unknown], 19.0, 4.0, false),
            [StepStatus::Stands]
        );
        let kept = [ChangePresence::Whole, ChangePresence::Whole, ChangePresence::Unknown];
        let found = attribute_improvement(&[0.89, 0.79, 0.35], &kept, 1.0, 0.1, false);
        assert_eq!(found, [StepStatus::Stands, StepStatus::Stands, StepStatus::Unclear]);
    }

    #[test]
    fn of_equal_steps_the_text_tells_or_nothing_does() {
        assert_eq!(
            attribute_improvement(&[0.5, 0.5], &[ChangePresence::Unknown; 2], 0.5, 0.1, false),
            [StepStatus::Unclear; 2]
        );
        let told = [ChangePresence::Whole, ChangePresence::Gone];
        assert_eq!(
            attribute_improvement(&[0.5, 0.5], &told, 0.5, 0.1, false),
            [StepStatus::Stands, StepStatus::Undone]
        );
        let in_part = [ChangePresence::InPart, ChangePresence::Whole];
        assert_eq!(
            attribute_improvement(&[0.7, 0.35], &in_part, 0.35, 0.1, false),
            [StepStatus::Unclear; 2]
        );
        assert_eq!(
            attribute_improvement(&[0.94, 0.48], &in_part, 0.42, 0.1, false),
            [StepStatus::Stands; 2]
        );
        // A change that is still there may be fixed elsewhere; a removed change is undone.
        let gone = [ChangePresence::Whole, ChangePresence::Gone];
        assert_eq!(
            attribute_improvement(&[0.63, 0.33], &gone, 0.66, 0.1, false),
            [StepStatus::Stands, StepStatus::Undone]
        );
        // An exact fit, or a near one.
        let none = [ChangePresence::Unknown; 2];
        assert_eq!(
            attribute_improvement(&[0.43, 0.39], &none, 0.43, 0.1, false),
            [StepStatus::Undone, StepStatus::Stands]
        );
        let both = [ChangePresence::Whole, ChangePresence::Whole];
        assert_eq!(
            attribute_improvement(&[0.5, 0.3], &both, 0.5, 0.1, false),
            [StepStatus::Undone, StepStatus::Stands]
        );
    }

    #[test]
    fn a_step_whose_text_is_gone_speaks_only_for_sets_that_have_it() {
        // The improvement nearly fits the second step, and the text of the first is gone.
        let gone = [ChangePresence::Gone, ChangePresence::Unknown];
        assert_eq!(
            attribute_improvement(&[0.4, 0.77], &gone, 0.7, 0.1, true),
            [StepStatus::Unclear; 2]
        );
    }

    #[test]
    fn a_text_that_was_gone_before_decides_nothing() {
        let before = [ChangePresence::GoneBefore, ChangePresence::Whole];
        let told = |steps: [f64; 2], carried: &[ChangePresence]| {
            attribute_improvement(&steps, carried, steps[1], 0.1, true)
        };
        assert_eq!(told([1.25, 1.3], &before), [StepStatus::Stands, StepStatus::Undone]);
        assert_eq!(told([1.25, 1.25], &before), [StepStatus::Unclear; 2]);
        let gone = [ChangePresence::GoneBefore, ChangePresence::Gone];
        assert_eq!(told([1.25, 1.25], &gone), [StepStatus::Stands, StepStatus::Undone]);
        let both = attribute_improvement(&[1.25, 1.5], &gone, 2.75, 0.1, true);
        assert_eq!(both, [StepStatus::Undone; 2]);
        let alone = attribute_improvement(&[1.25], &before[..1], 1.25, 0.1, true);
        assert_eq!(alone, [StepStatus::Undone]);
    }

    #[test]
    fn an_exact_fit_against_the_text_leaves_the_steps_unclear() {
        let told = [ChangePresence::Gone, ChangePresence::Whole];
        let found = attribute_improvement(&[1.25, 1.3], &told, 1.3, 0.1, true);
        assert_eq!(found, [StepStatus::Unclear; 2]);
        let noisy = attribute_improvement(&[1.25, 1.3], &told, 1.3, 0.1, false);
        assert_eq!(noisy, [StepStatus::Undone, StepStatus::Stands]);
    }

    #[test]
    fn where_levels_repeat_a_near_fit_without_text_decides_nothing() {
        let kept = [ChangePresence::Whole; 3];
        let near = |repeats| attribute_improvement(&[0.4, 0.77, 2.0], &kept, 0.7, 0.1, repeats);
        assert_eq!(near(false), [StepStatus::Stands, StepStatus::Undone, StepStatus::Stands]);
        assert_eq!(near(true), [StepStatus::Unclear, StepStatus::Unclear, StepStatus::Stands]);
        let exact = attribute_improvement(&[0.4, 0.7, 2.0], &kept, 0.7, 0.1, true);
        assert_eq!(exact, [StepStatus::Stands, StepStatus::Undone, StepStatus::Stands]);
        let told = [ChangePresence::Whole, ChangePresence::InPart, ChangePresence::Whole];
        assert_eq!(
            attribute_improvement(&[0.4, 0.77, 2.0], &told, 0.7, 0.1, true)[0],
            StepStatus::Stands
        );
        assert_eq!(
            attribute_improvement(&[0.77], &kept[..1], 0.7, 0.1, true),
            [StepStatus::Undone]
        );
    }

    proptest! {
        #[test]
        fn what_was_really_undone_is_never_said_to_stand(
            steps in prop::collection::vec(1_u32..40, 1..6),
            set in 1_u32..64,
        ) {
            let steps: Vec<f64> = steps.into_iter().map(f64::from).collect();
            let is_undone = |i: usize| set >> i & 1 == 1;
            let amount: f64 = (0..steps.len()).filter(|i| is_undone(*i)).map(|i| steps[i]).sum();
            prop_assume!(amount > 0.0);
            let unknown = vec![ChangePresence::Unknown; steps.len()];
            let found = attribute_improvement(&steps, &unknown, amount, 0.5, true);
            for (i, fate) in found.iter().enumerate() {
                let said = if is_undone(i) { StepStatus::Stands } else { StepStatus::Undone };
                prop_assert_ne!(*fate, said);
            }
        }
    }
}
