//! Which of several steps a later improvement undid. Pure arithmetic on one metric's levels.

/// More steps than this are not told apart.
const MOST_STEPS: usize = 10;
/// An improvement takes a step away if it is as large but for this share of the step.
const SLACK: f64 = 0.05;
/// One that is as large but for this share fits so well that sets which only nearly fit are none.
const EXACT: f64 = 1e-3;

/// Whether the text of a step's change is still in the tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Carried {
    /// All of it.
    Whole,
    /// Some files of it are as they were before it.
    InPart,
    /// None of it.
    Gone,
    /// The text does not tell.
    #[default]
    Unknown,
}

/// What became of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// It is still there, or most of it.
    Stands,
    /// The improvement took it away.
    Undone,
    /// It may have been this one or another that was taken away.
    Unclear,
}

/// Which of the `steps` (how much worse each made the metric, in its unit) an improvement by
/// `amount` took away. `carried`: whether the text of each step's change is still in the tree
/// after the improvement, where that is known. `tolerance`: differences below it are none.
///
/// The one set of steps that adds up to the improvement was undone; where several nearly do, the
/// one that does so to a thousandth. Where no set does, the
/// improvement made a part of something good: larger steps stay, and those whose text is still
/// there; other ones are unclear. Where several sets do and the text does not tell, or where it
/// says that another step is gone in part, each of their steps is unclear.
pub fn fates(steps: &[f64], carried: &[Carried], amount: f64, tolerance: f64) -> Vec<Fate> {
    let improvement = Improvement { steps, carried, amount, tolerance };
    let fitting = improvement.fitting();
    let told: Vec<u32> = fitting.iter().copied().filter(|set| improvement.is_told(*set)).collect();
    if !told.is_empty() {
        return improvement.by_sets(&improvement.closest(&told), false);
    }
    let nearly = !fitting.iter().any(|set| improvement.is_exact(*set));
    improvement.by_text(nearly).unwrap_or_else(|| {
        let contradicted = improvement.in_part().next().is_some();
        improvement.by_sets(&improvement.closest(&fitting), contradicted)
    })
}

/// An improvement and the steps before it; a set of steps is a number with a bit for each.
struct Improvement<'a> {
    steps: &'a [f64],
    carried: &'a [Carried],
    amount: f64,
    tolerance: f64,
}

impl Improvement<'_> {
    /// How many steps are told apart.
    fn count(&self) -> usize {
        self.steps.len().min(MOST_STEPS)
    }

    fn off(&self, set: u32) -> f64 {
        let taken = (0..self.count()).filter(|i| set >> i & 1 == 1);
        (taken.map(|i| self.steps[i]).sum::<f64>() - self.amount).abs()
    }

    /// The sets that nearly add up to the improvement.
    fn fitting(&self) -> Vec<u32> {
        let most = self.tolerance.max(SLACK * self.amount.abs());
        (1..1_u32 << self.count()).filter(|set| self.off(*set) <= most).collect()
    }

    fn is_exact(&self, set: u32) -> bool {
        self.off(set) <= EXACT * self.amount.abs()
    }

    /// Those of the sets that fit exactly, else all of them.
    fn closest(&self, sets: &[u32]) -> Vec<u32> {
        let exact: Vec<u32> = sets.iter().copied().filter(|set| self.is_exact(*set)).collect();
        if exact.is_empty() { sets.to_vec() } else { exact }
    }

    /// Whether the text says nothing against it that just these steps were undone.
    fn is_told(&self, set: u32) -> bool {
        (0..self.count()).all(|i| match self.carried[i] {
            Carried::Whole => set >> i & 1 == 0,
            Carried::Gone => set >> i & 1 == 1,
            Carried::InPart | Carried::Unknown => true,
        })
    }

    fn is_kept(&self, step: usize) -> bool {
        self.carried[step] == Carried::Whole
    }

    fn in_part(&self) -> impl Iterator<Item = usize> {
        (0..self.count()).filter(|i| self.carried[*i] == Carried::InPart)
    }

    /// What the text alone says, where no set fits both: of steps that are gone and others that
    /// are kept, the former were undone; the only one that is gone in part was made good in part,
    /// if the figures fit others `nearly` only.
    fn by_text(&self, nearly: bool) -> Option<Vec<Fate>> {
        let all = 0..self.steps.len();
        let is_gone = |i: usize| {
            self.carried[i] == Carried::Gone && self.steps[i] <= self.amount + self.tolerance
        };
        if all.clone().any(is_gone) && all.clone().any(|i| self.is_kept(i)) {
            let fate = |i: usize| match self.carried[i] {
                Carried::Gone if is_gone(i) => Fate::Undone,
                Carried::Gone | Carried::Whole => Fate::Stands,
                Carried::InPart | Carried::Unknown => Fate::Unclear,
            };
            return Some(all.map(fate).collect());
        }
        let mut in_part = self.in_part();
        let (one, another) = (in_part.next()?, in_part.next());
        let is_large = self.steps[one] >= self.amount - self.tolerance;
        let is_alone = another.is_none() && all.clone().all(|i| i == one || self.is_kept(i));
        (nearly && is_large && is_alone).then(|| vec![Fate::Stands; self.steps.len()])
    }

    /// What the sets say of each step; where the text contradicts them, all that is in question
    /// is unclear.
    fn by_sets(&self, sets: &[u32], contradicted: bool) -> Vec<Fate> {
        let alone = self.steps.len() == 1;
        let fate = |i: usize| {
            if contradicted && !alone && self.carried[i] == Carried::InPart {
                return Fate::Unclear;
            }
            if sets.is_empty() {
                // A part of something larger was made good, and any smaller step may be in it.
                let is_larger = alone || self.steps[i] > self.amount + self.tolerance;
                return if is_larger || self.is_kept(i) { Fate::Stands } else { Fate::Unclear };
            }
            let undone = sets.iter().filter(|set| i < self.count() && **set >> i & 1 == 1).count();
            match undone {
                0 => Fate::Stands,
                n if n == sets.len() && !contradicted => Fate::Undone,
                _ => Fate::Unclear,
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
        let none = [Carried::Unknown; 2];
        assert_eq!(fates(&[0.5, 0.3], &none, 0.5, 0.1), [Fate::Undone, Fate::Stands]);
        assert_eq!(fates(&[0.5, 0.3], &none, 0.8, 0.1), [Fate::Undone, Fate::Undone]);
        assert_eq!(fates(&[99_993.0], &[Carried::Unknown], 99_992.7, 0.1), [Fate::Undone]);
    }

    #[test]
    fn an_improvement_that_fits_no_step_undid_none() {
        assert_eq!(fates(&[52.0], &[Carried::Unknown], 19.0, 4.0), [Fate::Stands]);
        let kept = [Carried::Whole, Carried::Whole, Carried::Unknown];
        let found = fates(&[0.89, 0.79, 0.35], &kept, 1.0, 0.1);
        assert_eq!(found, [Fate::Stands, Fate::Stands, Fate::Unclear]);
    }

    #[test]
    fn of_equal_steps_the_text_tells_or_nothing_does() {
        assert_eq!(fates(&[0.5, 0.5], &[Carried::Unknown; 2], 0.5, 0.1), [Fate::Unclear; 2]);
        let told = [Carried::Whole, Carried::Gone];
        assert_eq!(fates(&[0.5, 0.5], &told, 0.5, 0.1), [Fate::Stands, Fate::Undone]);
        let in_part = [Carried::InPart, Carried::Whole];
        assert_eq!(fates(&[0.7, 0.35], &in_part, 0.35, 0.1), [Fate::Unclear; 2]);
        assert_eq!(fates(&[0.94, 0.48], &in_part, 0.42, 0.1), [Fate::Stands; 2]);
        // A text that is still there may be made good elsewhere; one that is gone is gone.
        let gone = [Carried::Whole, Carried::Gone];
        assert_eq!(fates(&[0.63, 0.33], &gone, 0.66, 0.1), [Fate::Stands, Fate::Undone]);
        // To the last digit, or nearly.
        let none = [Carried::Unknown; 2];
        assert_eq!(fates(&[0.43, 0.39], &none, 0.43, 0.1), [Fate::Undone, Fate::Stands]);
        let both = [Carried::Whole, Carried::Whole];
        assert_eq!(fates(&[0.5, 0.3], &both, 0.5, 0.1), [Fate::Undone, Fate::Stands]);
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
            let found = fates(&steps, &vec![Carried::Unknown; steps.len()], amount, 0.5);
            for (i, fate) in found.iter().enumerate() {
                let said = if is_undone(i) { Fate::Stands } else { Fate::Undone };
                prop_assert_ne!(*fate, said);
            }
        }
    }
}
