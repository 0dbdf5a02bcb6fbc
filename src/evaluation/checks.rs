//! The checks or tests that a run made. Values over different sets are never compared.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

/// How many names a message lists. The others are only counted.
const MOST_NAMES: usize = 5;

/// The name of a check without a name. If there are several, numbers are added.
pub(crate) const UNNAMED_CHECK: &str = "unnamed";

/// Whether this is the name that a check without a name got.
pub(crate) fn is_unnamed_check(name: &str) -> bool {
    name.starts_with(UNNAMED_CHECK)
}

/// The names of the checks that ran, without the skipped ones.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Checks(BTreeSet<String>);

impl Checks {
    /// Whether there are none.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Those that are not among `others`.
    pub(crate) fn without(&self, others: &Self) -> Self {
        self.0.difference(&others.0).cloned().collect()
    }

    /// These and the others.
    pub(crate) fn with(&self, others: &Self) -> Self {
        self.0.union(&others.0).cloned().collect()
    }

    /// Whether a check has this name.
    pub(crate) fn contains(&self, name: &str) -> bool {
        self.0.contains(name)
    }

    /// Those that are among `others` too.
    pub(crate) fn among(&self, others: &Self) -> Self {
        self.0.intersection(&others.0).cloned().collect()
    }

    /// Whether some are among `others`.
    pub(crate) fn overlap(&self, others: &Self) -> bool {
        !self.0.is_disjoint(&others.0)
    }

    /// Their names, for people.
    pub(crate) fn names(&self) -> String {
        listed(&self.0.iter().map(String::as_str).collect::<Vec<_>>())
    }

    /// How these checks differ from `wanted`: `2 did not run (a, b), 1 ran in addition (c)`; `None`
    /// if they are the same.
    pub(crate) fn besides(&self, wanted: &Self) -> Option<String> {
        let missing: Vec<&str> = wanted.0.difference(&self.0).map(String::as_str).collect();
        let extra: Vec<&str> = self.0.difference(&wanted.0).map(String::as_str).collect();
        let told = [(missing, "did not run"), (extra, "ran in addition")];
        let parts: Vec<String> = told
            .iter()
            .filter(|(names, _)| !names.is_empty())
            .map(|(names, what)| format!("{} {what} ({})", names.len(), listed(names)))
            .collect();
        (!parts.is_empty()).then(|| parts.join(", "))
    }
}

impl FromIterator<String> for Checks {
    fn from_iter<I: IntoIterator<Item = String>>(names: I) -> Self {
        Self(names.into_iter().collect())
    }
}

impl IntoIterator for Checks {
    type Item = String;
    type IntoIter = std::collections::btree_set::IntoIter<String>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

/// The checks that a run needs for a verdict: they fail at the bad end, and a check that did not
/// run cannot fail. For the largest distance: they are too far off at the bad end. For a count of
/// passed checks: those that both ends ran.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct NeededChecks {
    /// Those that the good end has, run or skipped: each run must make them.
    pub(crate) known: Checks,
    /// Those that the good end does not have. A commit may not have them yet, but if it skips
    /// them, they say nothing.
    pub(crate) new: Checks,
}

impl NeededChecks {
    /// Those that a run lacks.
    pub(crate) fn missing(&self, ran: &Checks, skipped: &Checks) -> Checks {
        let new = self.new.among(skipped).0;
        Checks(self.known.0.union(&new).cloned().collect()).without(ran)
    }

    /// Whether no check is needed.
    pub(crate) fn is_empty(&self) -> bool {
        self.known.is_empty() && self.new.is_empty()
    }
}

fn listed(names: &[&str]) -> String {
    let shown = names.iter().take(MOST_NAMES).copied().collect::<Vec<_>>().join(", ");
    match names.len().saturating_sub(MOST_NAMES) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checks(names: &str) -> Checks {
        names.split_whitespace().map(str::to_owned).collect()
    }

    #[test]
    fn what_is_missing_and_what_is_new_is_named() {
        let wanted = checks("a b c");
        assert_eq!(checks("c b a").besides(&wanted), None);
        assert_eq!(checks("c").besides(&wanted).unwrap(), "2 did not run (a, b)");
        assert_eq!(
            checks("a b d").besides(&wanted).unwrap(),
            "1 did not run (c), 1 ran in addition (d)"
        );
        assert_eq!(
            checks("").besides(&checks("1 2 3 4 5 6 7")).unwrap(),
            "7 did not run (1, 2, 3, 4, 5 and 2 more)"
        );
    }

    #[test]
    fn a_new_check_may_be_absent_but_not_skipped() {
        let needed = NeededChecks { known: checks("a b"), new: checks("c") };
        assert!(needed.missing(&checks("a b d"), &checks("")).is_empty());
        assert_eq!(needed.missing(&checks("a"), &checks("")), checks("b"));
        assert_eq!(needed.missing(&checks("a b"), &checks("c d")), checks("c"));
    }
}
