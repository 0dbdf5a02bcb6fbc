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
    let count = steps.len().min(MOST_STEPS);
    let sum =
        |set: u32| -> f64 { (0..count).filter(|i| set >> i & 1 == 1).map(|i| steps[i]).sum() };
    let off = |set: u32| (sum(set) - amount).abs();
    let fits = |set: &u32| off(*set) <= tolerance.max(SLACK * amount.abs());
    let is_told = |set: u32| {
        (0..count).all(|i| match carried[i] {
            Carried::Whole => set >> i & 1 == 0,
            Carried::Gone => set >> i & 1 == 1,
            Carried::InPart | Carried::Unknown => true,
        })
    };
    let fitting: Vec<u32> = (1..1_u32 << count).filter(fits).collect();
    let told: Vec<u32> = fitting.iter().copied().filter(|set| is_told(*set)).collect();
    // Where no set fits both and the text tells steps apart, one that is gone was undone.
    let is_gone = |i: usize| carried[i] == Carried::Gone && steps[i] <= amount + tolerance;
    let is_kept = |i: usize| carried[i] == Carried::Whole;
    let tells_apart = (0..steps.len()).any(is_gone) && (0..steps.len()).any(is_kept);
    if told.is_empty() && tells_apart {
        let fate = |i: usize| match carried[i] {
            Carried::Gone if is_gone(i) => Fate::Undone,
            Carried::Gone | Carried::Whole => Fate::Stands,
            Carried::InPart | Carried::Unknown => Fate::Unclear,
        };
        return (0..steps.len()).map(fate).collect();
    }
    let sets = if told.is_empty() { &fitting } else { &told };
    let exact = |set: &u32| off(*set) <= EXACT * amount.abs();
    let exact: Vec<u32> = sets.iter().copied().filter(exact).collect();
    let sets = if exact.is_empty() { sets } else { &exact };
    let is_in_part = |i: usize| carried[i] == Carried::InPart;
    let contradict = told.is_empty() && (0..count).any(is_in_part);
    let fate = |i: usize| {
        if contradict && steps.len() > 1 && is_in_part(i) {
            return Fate::Unclear;
        }
        if sets.is_empty() {
            // A part of something larger was made good, and any smaller step may be in it.
            let is_larger = steps.len() == 1 || steps[i] > amount + tolerance;
            return if is_larger || is_kept(i) { Fate::Stands } else { Fate::Unclear };
        }
        let undone = sets.iter().filter(|set| i < count && **set >> i & 1 == 1).count();
        match undone {
            0 => Fate::Stands,
            n if n == sets.len() && !contradict => Fate::Undone,
            _ => Fate::Unclear,
        }
    };
    (0..steps.len()).map(fate).collect()
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
