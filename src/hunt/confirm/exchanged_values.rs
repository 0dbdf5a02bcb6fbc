//! A claimed commit and its parent that print the same two numbers at exchanged places. Two things
//! may have the same words around their values: lines below headers, columns, or elements of an
//! array. Then the claimed commit, or an earlier one, may have changed their order, and the numbers
//! before and after are of different things. If each of the two numbers has a name beside it, and
//! the names do not move along with the numbers, the numbers themselves changed.

use std::collections::BTreeMap;

use crate::evaluation::{Basis, Culprit, PlaceNames, Value};
use crate::git::Range;
use crate::hunt::HuntError;
use crate::hunt::claim::{Claim, ConfirmationOutcome};
use crate::hunt::driver::Driver;
use crate::oracle::{Observation, PrintedNumbers};
use crate::ui::text;

impl Driver<'_> {
    /// The candidates if all steps of the commit are numbers at exchanged places. The commits where
    /// they are exchanged are not known, so the candidates are those of the whole range. `sides`:
    /// the fresh runs of the parent and of the commit.
    pub(super) fn exchange_objection(
        &self,
        claim: Claim<'_>,
        culprit: &Culprit,
        sides: [&Observation; 2],
    ) -> Result<Option<ConfirmationOutcome>, HuntError> {
        // In noise no number is printed twice.
        if culprit.basis != Basis::BitExact || culprit.failure.is_some() {
            return Ok(None);
        }
        let Some(first) = culprit.effects.first() else { return Ok(None) };
        for effect in &culprit.effects {
            let measure = &effect.metric.measure;
            let levels = [&effect.parent, &effect.commit].map(Value::number);
            let [Some(before), Some(now)] = levels else { return Ok(None) };
            let numbers = [before, now];
            let parent = self.oracle.printed_numbers(sides[0], measure, numbers)?;
            let commit = self.oracle.printed_numbers(sides[1], measure, numbers)?;
            if !is_exchange(numbers, &parent, &commit) || names_stay(numbers, &parent, &commit) {
                return Ok(None);
            }
        }
        let [older, newer] = claim.ends;
        let candidates = self.oracle.history.commits(&Range::between(older, newer))?;
        let why = format!(
            "{} and its parent {} print the same two numbers ({} and {}) at exchanged places, so {} \
             may be a number of another thing there: let the program print a name on the same line, \
             or under a key of its own",
            culprit.info.commit.short(),
            culprit.parent.short(),
            text::value(&first.parent),
            text::value(&first.commit),
            first.metric,
        );
        Ok(Some(ConfirmationOutcome::Undecidable(candidates, why.into())))
    }
}

/// Whether both sides print the numbers of both, each of them equally often. If a program prints
/// two results and then the one that it chose, the other choice changes how often.
fn is_exchange([before, now]: [f64; 2], parent: &PrintedNumbers, commit: &PrintedNumbers) -> bool {
    let is_in_both = |number: f64| {
        let times = parent.count(number);
        times > 0 && times == commit.count(number)
    };
    before.abs().to_bits() != now.abs().to_bits() && is_in_both(before) && is_in_both(now)
}

/// Whether names tell all places of the two numbers apart, and the commit prints each number beside
/// the names that the other one had. If the order of two things changes, their names move along.
fn names_stay([before, now]: [f64; 2], parent: &PrintedNumbers, commit: &PrintedNumbers) -> bool {
    let at_parent = [before, now].map(|number| parent.places(number));
    let at_commit = [now, before].map(|number| commit.places(number));
    let [Some(own), Some(other)] = at_parent else { return false };
    let are_named = |places: &BTreeMap<PlaceNames, usize>| {
        !places.is_empty() && !places.keys().any(PlaceNames::is_empty)
    };
    at_parent == at_commit
        && are_named(own)
        && are_named(other)
        && !own.keys().any(|names| other.contains_key(names))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NUMBERS: [f64; 2] = [7.01, 7.5];

    fn printed(lines: &[&str]) -> PrintedNumbers {
        let mut printed = PrintedNumbers::of(NUMBERS);
        for line in lines {
            printed.add(line);
            printed.add_names(line);
        }
        printed
    }

    #[test]
    fn two_numbers_are_exchanged_if_both_sides_print_both() {
        let is_exchange = |parent: &[&str], commit: &[&str]| {
            super::is_exchange(NUMBERS, &printed(parent), &printed(commit))
        };
        let (low, high) = ("ppl = 7.0100", "ppl = 7.5000");
        assert!(is_exchange(&[low, high], &[high, low]));
        assert!(is_exchange(&["wiki,7.010,7.500"], &["wiki,7.500,7.010"]));
        assert!(!is_exchange(&[low], &[high]));
        assert!(!is_exchange(&[low, high], &[high]));
        assert!(!is_exchange(&[low, "limit 7.500"], &[high, "limit 7.500"]));
        let chosen = "chosen: 7.500";
        assert!(!is_exchange(&[low, high, "chosen: 7.010"], &[low, high, chosen]));
    }

    #[test]
    fn names_that_stay_show_that_the_numbers_changed() {
        let names_stay = |parent: [&str; 2], commit: [&str; 2]| {
            super::names_stay(NUMBERS, &printed(&parent), &printed(&commit))
        };
        let named = ["exact: ppl = 7.010", "approx: ppl = 7.500"];
        assert!(names_stay(named, ["exact: ppl = 7.500", "approx: ppl = 7.010"]));
        let behind = ["7.500 took 3.2s (exact)", "7.010 took 2.9s (approx)"];
        assert!(names_stay(["7.010 took 3.1s (exact)", "7.500 took 3.0s (approx)"], behind));
        // The names move along.
        assert!(!names_stay(named, ["approx: ppl = 7.500", "exact: ppl = 7.010"]));
        // One name does not stay.
        assert!(!names_stay(named, ["exact: ppl = 7.500", "fast: ppl = 7.010"]));
        // Nothing tells the places apart, or only what counts them.
        assert!(!names_stay(["ppl = 7.010", "ppl = 7.500"], ["ppl = 7.500", "ppl = 7.010"]));
        let counted = ["[1] ppl = 7.500", "[2] ppl = 7.010"];
        assert!(!names_stay(["[1] ppl = 7.010", "[2] ppl = 7.500"], counted));
        assert!(!names_stay(["7.010", "ppl = 7.500"], ["7.500", "ppl = 7.010"]));
        let header = "name,ppl,other";
        assert!(!names_stay([header, "wiki,7.010,7.500"], [header, "wiki,7.500,7.010"]));
        assert!(!names_stay(["exact 7.010", "7.010 7.500"], ["exact 7.500", "7.500 7.010"]));
    }
}
