//! A confirmed commit since which the value comes from another place of the output. The numbers
//! before and after may be of different things, so the step may not be one. If values come from a
//! third place between the ends, either side of it counts.

use crate::evaluation::{Culprit, FormChange, GuardTarget, Target, ValueForms};
use crate::hunt::open_doubt::lower_confidence;
use crate::oracle::Observation;

/// Lowers the confidence in a commit if the values of both ends come from different places, and
/// this commit is where they change. `seen`: the fresh runs of the parent and of the commit.
pub(super) fn doubt_place(culprit: &mut Culprit, seen: [&Observation; 2], targets: &[Target]) {
    let broken = targets.iter().filter(|target| culprit.breaks(target));
    let change = broken.filter_map(Target::guard).find_map(|target| {
        let metric = target.guard.metric.clone();
        let [parent, commit] = other_words(target, seen).or_else(|| other_thing(target, seen))?;
        Some(FormChange { metric, parent, commit })
    });
    if change.is_some() {
        lower_confidence(culprit);
        culprit.doubts.form_change = change;
    }
}

/// The words around the value at both, if they tell the ends apart too.
fn other_words(
    target: &GuardTarget,
    [parent, commit]: [&Observation; 2],
) -> Option<[ValueForms; 2]> {
    let metric = &target.guard.metric;
    let (parent, commit) = (parent.forms(metric)?, commit.forms(metric)?);
    let is_change = target.forms.as_ref()?.are_told_apart_by(&parent, &commit);
    is_change.then_some([parent, commit])
}

/// What tells the values of both apart, if the values of the ends are of different things too.
fn other_thing(
    target: &GuardTarget,
    [parent, commit]: [&Observation; 2],
) -> Option<[ValueForms; 2]> {
    let metric = &target.guard.metric;
    let (parent, commit) = (parent.places(metric)?, commit.places(metric)?);
    target.places.as_ref()?.change_between(&parent, &commit)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::{FormsAtEnds, GuardForm, Metric, PlacesAtEnds, ValuePlaces};
    use crate::hunt::open_doubt::MOST_CERTAIN;
    use crate::oracle::fixture::{at, culprit, effect, target};

    #[test]
    fn a_step_between_two_places_is_in_doubt() {
        let metric = Metric::of("ppl");
        let of = |form: &str| -> ValueForms { std::iter::once(form.to_owned()).collect() };
        let ends = |good: &str, bad: &str| {
            let forms = FormsAtEnds::of(Some(of(good)), Some(of(bad)));
            let target = target(GuardForm::MaxIncrease(0.1), 7.0, 8.0);
            [Target::Guard(GuardTarget { forms, ..target })]
        };
        let seen = |digit: char, form: &str| {
            let mut seen = at(digit, &[7.0, 7.0]);
            for sample in seen.samples.get_mut("ppl").unwrap() {
                sample.result.as_mut().unwrap().forms.insert(metric.clone(), of(form));
            }
            seen
        };
        let doubted = |targets: &[Target], parent: &str, commit: &str| {
            let mut culprit = culprit('2', '1');
            culprit.confidence = 0.999;
            culprit.effects = vec![effect(7.0, 8.0, 0.1)];
            doubt_place(&mut culprit, [&seen('1', parent), &seen('2', commit)], targets);
            assert_eq!(culprit.doubts.form_change.is_some(), culprit.confidence <= MOST_CERTAIN);
            culprit.doubts.form_change.map(|change| [change.parent, change.commit])
        };
        let other = ends("a VALUE", "b VALUE");
        let found = doubted(&other, "a VALUE", "b VALUE");
        assert_eq!(found, Some(["a VALUE", "b VALUE"].map(of)));
        assert_eq!(doubted(&other, "a VALUE", "a VALUE"), None);
        assert_eq!(doubted(&other, "c VALUE", "d VALUE"), None);
        assert_eq!(doubted(&ends("a VALUE", "a VALUE"), "a VALUE", "b VALUE"), None);
    }

    #[test]
    fn a_step_between_two_things_is_in_doubt() {
        let metric = Metric::of("ppl");
        let [one, two] =
            [("q4", "f16"), ("f16", "q4")].map(|(own, other)| ValuePlaces::of_names(own, &[other]));
        let seen = |digit: char, places: &ValuePlaces| {
            let mut seen = at(digit, &[7.0, 7.0]);
            for sample in seen.samples.get_mut("ppl").unwrap() {
                sample.result.as_mut().unwrap().places.insert(metric.clone(), places.clone());
            }
            seen
        };
        let doubt = |good: &ValuePlaces, commit: &ValuePlaces| {
            let places = PlacesAtEnds::of(Some(good.clone()), Some(two.clone()));
            let target = target(GuardForm::MaxIncrease(0.1), 7.0, 8.0);
            let mut culprit = culprit('2', '1');
            culprit.effects = vec![effect(7.0, 8.0, 0.1)];
            let targets = [Target::Guard(GuardTarget { places, ..target })];
            doubt_place(&mut culprit, [&seen('1', &one), &seen('2', commit)], &targets);
            culprit.doubts.form_change.map(|change| change.commit.to_string())
        };
        assert_eq!(doubt(&one, &two).as_deref(), Some("`f16`"));
        assert_eq!(doubt(&one, &one), None);
        assert_eq!(doubt(&two, &two), None, "both ends show the same thing");
    }
}
