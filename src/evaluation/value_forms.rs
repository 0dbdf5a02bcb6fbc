//! Where a metric's value comes from: the words around it in the output. Numbers of another place
//! may be of another thing, so they are not compared with those of the ends.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::form_match::{are_alike, united};

/// How much of one form is shown, in characters.
const SHOWN: usize = 80;

/// The forms of the places that have a run's value: the words around it, with `VALUE` in its place
/// and `#` for other numbers. Several if several places have the same value. In the forms of
/// several runs, `#` also stands for a name that differs among them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct ValueForms(BTreeSet<String>);

/// The forms that all runs of each endpoint have in common.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FormsAtEnds {
    good: ValueForms,
    bad: ValueForms,
}

impl FromIterator<String> for ValueForms {
    fn from_iter<I: IntoIterator<Item = String>>(forms: I) -> Self {
        Self(forms.into_iter().collect())
    }
}

impl ValueForms {
    /// The forms of both, with `#` for names that differ; `None` if there are none.
    pub(crate) fn common(&self, other: &Self) -> Option<Self> {
        let mut both: BTreeSet<String> = self.0.intersection(&other.0).cloned().collect();
        for one in self.0.difference(&other.0) {
            both.extend(other.0.difference(&self.0).filter_map(|another| united(one, another)));
        }
        (!both.is_empty()).then_some(Self(both))
    }

    /// Whether the values come from different places: no form of one matches a form of the other.
    pub(crate) fn differ_from(&self, other: &Self) -> bool {
        !self.0.iter().any(|one| other.0.iter().any(|another| are_alike(one, another)))
    }
}

impl FormsAtEnds {
    /// The forms of both ends; `None` if an end has none that all of its runs have. Then the forms
    /// vary by themselves, or the parser has none.
    pub(crate) fn of(good: Option<ValueForms>, bad: Option<ValueForms>) -> Option<Box<Self>> {
        Some(Box::new(Self { good: good?, bad: bad? }))
    }

    /// The forms of both ends, with `#` for names that differ; `None` if other words differ.
    pub(crate) fn common(&self) -> Option<ValueForms> {
        self.good.common(&self.bad)
    }

    /// Whether the value comes from the place of one end only on one side of a commit, and from
    /// another place on the other side. Names do not count, since each commit may print its own
    /// version. Two places that are of no end do not count either: words may vary by themselves.
    pub(crate) fn are_told_apart_by(&self, parent: &ValueForms, commit: &ValueForms) -> bool {
        let Self { good, bad } = self;
        let is_of_one_end =
            |own: &ValueForms| own.common(good).is_some() != own.common(bad).is_some();
        parent.common(commit).is_none() && (is_of_one_end(parent) || is_of_one_end(commit))
    }
}

/// The first form, shortened: `` `final ppl VALUE` ``.
impl fmt::Display for ValueForms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let first = self.0.first().map_or("", String::as_str);
        let mut shown: String = first.chars().take(SHOWN).collect();
        if shown.len() < first.len() {
            shown.push('…');
        }
        write!(f, "`{shown}`")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn forms(forms: &[&str]) -> ValueForms {
        forms.iter().map(|form| (*form).to_owned()).collect()
    }

    #[test]
    fn a_commit_tells_the_ends_apart_if_each_side_has_the_form_of_one_end() {
        let [good, bad] = [forms(&["ppl VALUE"]), forms(&["reference ppl VALUE"])];
        let ends = FormsAtEnds::of(Some(good.clone()), Some(bad.clone())).unwrap();
        assert_eq!(ends.common(), None);
        assert!(ends.are_told_apart_by(&good, &bad) && ends.are_told_apart_by(&bad, &good));
        assert!(!ends.are_told_apart_by(&good, &good));
        let third = forms(&["third VALUE"]);
        assert!(ends.are_told_apart_by(&good, &third) && ends.are_told_apart_by(&third, &bad));
        assert!(!ends.are_told_apart_by(&third, &forms(&["fourth VALUE"])), "words may vary");
        let both = forms(&["ppl VALUE", "reference ppl VALUE"]);
        assert!(!ends.are_told_apart_by(&good, &both), "the same number is in both lines");
        let same = FormsAtEnds::of(Some(good.clone()), Some(both.clone())).unwrap();
        assert_eq!(same.common(), Some(good.clone()));
        assert!(!same.are_told_apart_by(&good, &both));
        assert_eq!(FormsAtEnds::of(Some(good), None), None);
    }

    #[test]
    fn a_name_counts_if_all_runs_have_it() {
        let same = forms(&["q4_0 VALUE"]);
        assert_eq!(same.common(&same), Some(same.clone()));
        assert!(forms(&["q8_0 VALUE"]).differ_from(&same));
        let varying = forms(&["q4_0 v1 VALUE"]).common(&forms(&["q4_0 v2 VALUE"])).unwrap();
        assert!(!forms(&["q4_0 v3 VALUE"]).differ_from(&varying));
        assert!(forms(&["q8_0 v3 VALUE"]).differ_from(&varying));
        // What both have stays as it is.
        let both = forms(&["q4_0 VALUE", "q8_0 VALUE"]);
        assert_eq!(both.common(&both), Some(both.clone()));
        let more = forms(&["i1 ppl VALUE", "q4_0 VALUE"]);
        let other = forms(&["i2 ppl VALUE", "q4_0 VALUE"]);
        assert_eq!(more.common(&other), Some(forms(&["# ppl VALUE", "q4_0 VALUE"])));
    }

    #[test]
    fn other_names_do_not_tell_the_ends_apart() {
        let [good, bad] = [forms(&["v1 VALUE"]), forms(&["v2 VALUE"])];
        let ends = FormsAtEnds::of(Some(good.clone()), Some(bad.clone())).unwrap();
        assert_eq!(ends.common(), Some(forms(&["# VALUE"])));
        assert!(!ends.are_told_apart_by(&good, &bad));
        let ends = FormsAtEnds::of(Some(good), Some(forms(&["v3 final VALUE"]))).unwrap();
        assert!(ends.are_told_apart_by(&bad, &forms(&["v2 final VALUE"])));
    }

    #[test]
    fn a_long_form_is_shortened() {
        assert_eq!(forms(&["ppl VALUE"]).to_string(), "`ppl VALUE`");
        let long = forms(&["µ".repeat(90).as_str()]).to_string();
        assert_eq!(long.chars().count(), SHOWN + 3);
        assert!(long.ends_with("…`"), "{long}");
    }
}
