//! What a run's output says beside its numbers: at the place of a metric's value, and at the other
//! places that could have had the value. The value of a run is of another thing if the place of the
//! endpoints' value has another number in the run, or if the place of the run's value has another
//! number at the endpoints. Other words alone show nothing: they may vary by themselves, such as the
//! path of a temporary folder.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::ValueForms;

/// What the output says at one place: each word by its position in the line, or each field of a
/// JSON element by its path (`/params/model`).
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct OutputPlace(BTreeMap<String, String>);

/// The places of one run, or what those of several runs have in common.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ValuePlaces {
    /// The place of the value.
    own: OutputPlace,
    /// Other places, with another number.
    others: BTreeSet<OutputPlace>,
    /// Other places, with the same number.
    equal: BTreeSet<OutputPlace>,
    /// Whether another place says the same as `own` but has another number. Then `own` does not tell
    /// the two places apart.
    is_shared: bool,
}

/// The places of both endpoints' runs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct PlacesAtEnds {
    /// What both have in common.
    common: Option<ValuePlaces>,
    /// Whether the values of both are of different things.
    are_apart: bool,
}

impl FromIterator<(String, String)> for OutputPlace {
    fn from_iter<I: IntoIterator<Item = (String, String)>>(parts: I) -> Self {
        Self(parts.into_iter().collect())
    }
}

impl OutputPlace {
    /// What the place says at these keys; `None` if it lacks one of them.
    fn at(&self, keys: &[&String]) -> Option<Self> {
        let part = |key: &&String| Some(((*key).clone(), self.0.get(*key)?.clone()));
        keys.iter().map(part).collect::<Option<BTreeMap<String, String>>>().map(Self)
    }

    /// The keys that both have.
    fn shared_keys<'p>(&'p self, other: &Self) -> Vec<&'p String> {
        self.0.keys().filter(|key| other.0.contains_key(*key)).collect()
    }

    /// What the place says at these keys, for people.
    fn shown(&self, keys: &[&String]) -> ValueForms {
        let part = |key: &&String| {
            let text = self.0.get(*key)?;
            let field = key.strip_prefix('/');
            Some(field.map_or_else(|| text.clone(), |field| format!("{field} {text}")))
        };
        let parts: Vec<String> = keys.iter().filter_map(part).collect();
        std::iter::once(parts.join(" ")).collect()
    }
}

impl ValuePlaces {
    /// The places of a run. `others`: each of the other places, and whether it has the value's
    /// number. `None` if the value's place says nothing.
    pub(crate) fn new(
        own: OutputPlace,
        others: impl IntoIterator<Item = (OutputPlace, bool)>,
    ) -> Option<Self> {
        if own.0.is_empty() {
            return None;
        }
        let (mut equal, mut differing) = (BTreeSet::new(), BTreeSet::new());
        for (place, is_same) in others {
            let side = if is_same { &mut equal } else { &mut differing };
            side.insert(place);
        }
        let is_shared = differing.remove(&own);
        Some(Self { own, others: differing, equal, is_shared })
    }

    /// The places, with what they say at these keys only.
    fn at(&self, keys: &[&String]) -> Option<Self> {
        let those = |places: &BTreeSet<OutputPlace>| -> BTreeSet<OutputPlace> {
            places.iter().filter_map(|place| place.at(keys)).collect()
        };
        let own = self.own.at(keys)?;
        let mut others = those(&self.others);
        let is_shared = others.remove(&own) || self.is_shared;
        Some(Self { own, others, equal: those(&self.equal), is_shared })
    }

    /// What the value's place says in both, and the other places that both have. `None` if it says
    /// different things only.
    pub(crate) fn common(&self, other: &Self) -> Option<Self> {
        let mut keys = self.own.shared_keys(&other.own);
        keys.retain(|key| self.own.0.get(*key) == other.own.0.get(*key));
        if keys.is_empty() {
            return None;
        }
        let (one, two) = (self.at(&keys)?, other.at(&keys)?);
        Some(Self {
            others: one.others.intersection(&two.others).cloned().collect(),
            equal: one.equal.union(&two.equal).cloned().collect(),
            is_shared: one.is_shared || two.is_shared,
            own: one.own,
        })
    }

    /// What tells both values apart, if they are of different things: the place of one has another
    /// number in the other's run. If only numbers tell the places apart, this must be so both
    /// ways: a step or a time that goes on may be at its last place earlier or later.
    pub(crate) fn told_apart(&self, other: &Self) -> Option<[ValueForms; 2]> {
        let keys = self.own.shared_keys(&other.own);
        let (one, two) = (self.at(&keys)?, other.at(&keys)?);
        if one.own == two.own || one.equal.contains(&two.own) || two.equal.contains(&one.own) {
            return None;
        }
        let has_other = |one: &Self, two: &Self| !one.is_shared && two.others.contains(&one.own);
        let found = [has_other(&one, &two), has_other(&two, &one)];
        let mut differing = keys;
        differing.retain(|key| one.own.0.get(*key) != two.own.0.get(*key));
        let is_name = |key: &&String| {
            let texts = [one.own.0.get(*key), two.own.0.get(*key)];
            texts.into_iter().flatten().all(|text| !is_number(text))
        };
        let is_told =
            if differing.iter().any(is_name) { found.contains(&true) } else { found == [true; 2] };
        is_told.then(|| [one.own.shown(&differing), two.own.shown(&differing)])
    }
}

impl PlacesAtEnds {
    /// The places of both ends; `None` if the runs of an end have none in common.
    pub(crate) fn of(good: Option<ValuePlaces>, bad: Option<ValuePlaces>) -> Option<Box<Self>> {
        let (good, bad) = (good?, bad?);
        let are_apart = good.told_apart(&bad).is_some();
        Some(Box::new(Self { common: good.common(&bad), are_apart }))
    }

    /// What the places of both ends have in common.
    pub(crate) fn common(&self) -> Option<&ValuePlaces> {
        self.common.as_ref()
    }

    /// What tells the values of a commit and its parent apart, if those of the ends are of
    /// different things too.
    pub(crate) fn change_between(
        &self,
        parent: &ValuePlaces,
        commit: &ValuePlaces,
    ) -> Option<[ValueForms; 2]> {
        if self.are_apart { parent.told_apart(commit) } else { None }
    }
}

#[cfg(test)]
impl ValuePlaces {
    /// The places of a run with a value at one name, and with other numbers at others.
    pub(crate) fn of_names(own: &str, others: &[&str]) -> Self {
        let place = |name: &str| [("0999".to_owned(), name.to_owned())].into_iter().collect();
        Self::new(place(own), others.iter().map(|other| (place(other), false))).unwrap()
    }
}

/// Whether a text begins like a number. It may be a count or a time, which grows during a run, so
/// it is no name.
fn is_number(text: &str) -> bool {
    text.trim_start_matches('-').starts_with(char::is_numeric)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The place with these words.
    fn place(words: &str) -> OutputPlace {
        let words: Vec<_> = words.split(' ').collect();
        words.iter().rev().enumerate().map(|(at, word)| (at.to_string(), (*word).into())).collect()
    }

    /// The places of a run that prints these lines; the last has the value.
    fn run(lines: &[&str]) -> ValuePlaces {
        let (own, others) = lines.split_last().unwrap();
        ValuePlaces::new(place(own), others.iter().map(|one| (place(one), false))).unwrap()
    }

    fn are_apart(one: &ValuePlaces, two: &ValuePlaces) -> bool {
        let told = [one.told_apart(two), two.told_apart(one)].map(|told| told.is_some());
        assert_eq!(told[0], told[1], "{one:?}, {two:?}");
        told[0]
    }

    #[test]
    fn a_place_that_has_another_number_tells_values_apart() {
        let ends = run(&["f16 ppl", "q4 ppl"]);
        let swapped = run(&["q4 ppl", "f16 ppl"]);
        let told = ends.told_apart(&swapped).unwrap();
        assert_eq!(told.map(|one| one.to_string()), ["`q4`", "`f16`"]);
        assert!(are_apart(&ends, &run(&["q4 ppl", "other ppl"])), "its line is there");
        assert!(are_apart(&ends, &run(&["f16 ppl"])), "the line of another value was there");
        assert!(!are_apart(&ends, &ends));
        // A name alone may be another version.
        assert!(!are_apart(&ends, &run(&["q8 ppl"])));
        assert!(!are_apart(&ends, &run(&["f16 nll", "q8 ppl"])));
    }

    #[test]
    fn numbers_tell_values_apart_if_both_are_there_both_times() {
        let ends = run(&["ctx 2048", "ctx 512"]);
        assert!(are_apart(&ends, &run(&["ctx 512", "ctx 2048"])));
        let steps = run(&["step 1", "step 2"]);
        assert!(!are_apart(&steps, &run(&["step 1", "step 2", "step 3"])));
        assert!(!are_apart(&steps, &run(&["step 1"])));
    }

    #[test]
    fn what_other_places_say_too_tells_nothing_apart() {
        let of = |own: &str, others: &[(&str, bool)]| {
            let others = others.iter().map(|(words, same)| (place(words), *same));
            ValuePlaces::new(place(own), others).unwrap()
        };
        let ok = of("ok", &[("ok", false)]);
        assert!(!are_apart(&ok, &of("slow", &[("ok", false)])));
        // The same number is at both places.
        assert!(!are_apart(&of("final", &[]), &of("summary", &[("final", true)])));
        assert_eq!(ValuePlaces::new(OutputPlace(BTreeMap::new()), []), None);
    }

    #[test]
    fn words_that_vary_from_run_to_run_do_not_count() {
        let one = run(&["t1 f16 ppl", "t2 q4 ppl"]);
        let two = run(&["t3 f16 ppl", "t4 q4 ppl"]);
        let ends = one.common(&two).unwrap();
        assert!(are_apart(&ends, &run(&["t5 q4 ppl", "t6 f16 ppl"])));
        assert!(are_apart(&ends, &run(&["t7 f16 ppl"])), "both had this other place");
        assert!(!are_apart(&ends, &run(&["t1 f16 ppl", "t9 q4 ppl"])));
        assert_eq!(run(&["q4"]).common(&run(&["f16"])), None);
        // Then other places may say the same.
        let progress = run(&["i1 q4", "i2 q4"]).common(&run(&["i1 q4", "i3 q4"])).unwrap();
        assert!(progress.is_shared && progress.others.is_empty());
    }

    #[test]
    fn a_change_counts_between_ends_that_are_told_apart() {
        let [good, bad] = [run(&["f16 ppl", "q4 ppl"]), run(&["q4 ppl", "f16 ppl"])];
        let ends = PlacesAtEnds::of(Some(good.clone()), Some(bad.clone())).unwrap();
        assert_eq!(ends.change_between(&good, &bad), good.told_apart(&bad));
        assert_eq!(ends.change_between(&good, &good), None);
        let same = PlacesAtEnds::of(Some(good.clone()), Some(good.clone())).unwrap();
        assert_eq!(same.change_between(&good, &bad), None);
        assert_eq!(same.common(), Some(&good));
        assert_eq!(PlacesAtEnds::of(Some(good), None), None);
    }

    #[test]
    fn a_field_is_shown_with_its_path() {
        let of = |key: &str, text: &str| {
            let place: OutputPlace = [(key.to_owned(), text.to_owned())].into_iter().collect();
            place.shown(&[&key.to_owned()]).to_string()
        };
        assert_eq!(of("/params/model", "q4"), "`params/model q4`");
        assert_eq!(of("0999", "q4"), "`q4`");
    }
}
