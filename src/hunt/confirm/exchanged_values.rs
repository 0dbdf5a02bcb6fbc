//! A claimed commit and its parent that print the same two numbers at exchanged places. Two things
//! may have the same words around their values: lines below headers, columns, or elements of an
//! array. Then the claimed commit, or an earlier one, may have changed their order, and the numbers
//! before and after are of different things. If each of the two numbers has a name beside it, and
//! the names do not move along with the numbers, the numbers themselves changed.
//!
//! In noise, two runs seldom print exactly the same number. There, two numbers count as the same if
//! they differ no more than the values of one commit do.

use std::collections::BTreeMap;

use crate::evaluation::{Basis, Culprit, GuardTarget, PlaceNames, Target};
use crate::git::Range;
use crate::hunt::HuntError;
use crate::hunt::claim::{Claim, ConfirmationOutcome};
use crate::hunt::driver::Driver;
use crate::oracle::{NumberRange, Observation, PrintedNumbers};
use crate::ui::text;

impl Driver<'_> {
    /// The candidates if all steps of the commit are numbers at exchanged places. The commits where
    /// they are exchanged are not known, so the candidates are those of the whole range. With
    /// failure rates both sides print both numbers without any exchange. `sides`: the fresh runs of
    /// the parent and of the commit.
    pub(super) fn exchange_objection(
        &self,
        claim: Claim<'_>,
        culprit: &Culprit,
        sides: [&Observation; 2],
    ) -> Result<Option<ConfirmationOutcome>, HuntError> {
        let is_rate = claim.targets.iter().filter_map(Target::guard).any(GuardTarget::is_rate);
        if culprit.failure.is_some() || is_rate {
            return Ok(None);
        }
        let Some(first) = culprit.effects.first() else { return Ok(None) };
        let mut cure = None;
        for effect in &culprit.effects {
            let measure = &effect.metric.measure;
            let [before, now] = sides.map(|side| side.numbers(&effect.metric));
            let Some(ranges) = NumberRange::of_both([&before, &now]) else { return Ok(None) };
            let parent = self.oracle.printed_numbers(sides[0], measure, ranges)?;
            let commit = self.oracle.printed_numbers(sides[1], measure, ranges)?;
            if !is_exchange(&parent, &commit) || names_stay(&parent, &commit) {
                return Ok(None);
            }
            cure.get_or_insert_with(|| advice(&parent, &commit));
        }
        let [older, newer] = claim.ends;
        let candidates = self.oracle.history.commits(&Range::between(older, newer))?;
        let is_exact = culprit.basis == Basis::BitExact;
        let same = if is_exact { "the same" } else { "nearly the same" };
        let why = format!(
            "{} and its parent {} print {same} two numbers ({} and {}) at exchanged places, so {} \
             may be a number of another thing there: {}",
            culprit.info.commit.short(),
            culprit.parent.short(),
            text::value(&first.parent),
            text::value(&first.commit),
            first.metric,
            cure.unwrap_or_default(),
        );
        Ok(Some(ConfirmationOutcome::Undecidable(candidates, why.into())))
    }
}

/// Whether most runs of both sides print the numbers of both, each of them equally often. If a
/// program prints two results and then the one that it chose, the other choice changes how often.
/// A number that does not depend on the commit, such as a limit or a time, comes on top of the own
/// value at one side only, so it does not look like an exchange either.
fn is_exchange(parent: &[PrintedNumbers], commit: &[PrintedNumbers]) -> bool {
    usual_counts(parent).is_some_and(|counts| {
        counts.iter().all(|count| *count > 0) && usual_counts(commit) == Some(counts)
    })
}

/// How often more than half of the runs print both numbers.
fn usual_counts(runs: &[PrintedNumbers]) -> Option<[usize; 2]> {
    let is_usual = |counts: &[usize; 2]| {
        let alike = runs.iter().filter(|run| run.counts() == *counts).count();
        2 * alike > runs.len()
    };
    runs.iter().map(PrintedNumbers::counts).find(is_usual)
}

/// What shows which of two things a number belongs to.
fn advice(parent: &[PrintedNumbers], commit: &[PrintedNumbers]) -> &'static str {
    let are_told_apart = |runs: &[PrintedNumbers]| {
        usual_places(runs).is_some_and(|[own, other]| names_differ(own, other))
    };
    if are_told_apart(parent) && are_told_apart(commit) {
        "the names beside them are not the same at both, so let the measure choose the number by its \
         name"
    } else {
        "let the program print words on each line that no other line has (digits, as in `GPU0`, and \
         words such as `first` do not count), or each number under a key of its own"
    }
}

/// The names beside the places of a number, and how many places have them.
type Places = BTreeMap<PlaceNames, usize>;

/// Whether names tell all places of two numbers apart.
fn names_differ(own: &Places, other: &Places) -> bool {
    let are_named =
        |places: &Places| !places.is_empty() && !places.keys().any(PlaceNames::is_empty);
    are_named(own) && are_named(other) && !own.keys().any(|names| other.contains_key(names))
}

/// Whether names tell all places of the two numbers apart, and the commit prints each number beside
/// the names that the other one had. If the order of two things changes, their names move along.
fn names_stay(parent: &[PrintedNumbers], commit: &[PrintedNumbers]) -> bool {
    let (Some([own, other]), Some([at_old, at_new])) = (usual_places(parent), usual_places(commit))
    else {
        return false;
    };
    own == at_new && other == at_old && names_differ(own, other)
}

/// The places of both numbers in the runs that print them as often as most runs do; `None` if these
/// runs print them beside different names.
fn usual_places(runs: &[PrintedNumbers]) -> Option<[&Places; 2]> {
    let counts = usual_counts(runs)?;
    let mut usual = runs.iter().filter(|run| run.counts() == counts).map(PrintedNumbers::places);
    let first = usual.next()?;
    usual.all(|places| places == first).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What runs with these lines print of the numbers around these values.
    /// Values of the parent and of the commit in noise.
    const NOISY: [&[f64]; 2] = [&[7.01, 7.04, 6.99], &[7.51, 7.49, 7.52]];

    fn printed(values: [&[f64]; 2], runs: &[&[&str]]) -> Vec<PrintedNumbers> {
        let of = |lines: &&[&str]| {
            let mut printed = PrintedNumbers::of(NumberRange::of_both(values).unwrap());
            for line in *lines {
                printed.add(line);
                printed.add_names(line);
            }
            printed
        };
        runs.iter().map(of).collect()
    }

    fn exactly(lines: &[&str]) -> Vec<PrintedNumbers> {
        printed([&[7.01], &[7.5]], &[lines])
    }

    #[test]
    fn two_numbers_are_exchanged_if_both_sides_print_both() {
        let is_exchange = |parent: &[&str], commit: &[&str]| {
            super::is_exchange(&exactly(parent), &exactly(commit))
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
    fn in_noise_the_numbers_need_only_be_near() {
        let is_exchange = |parent: &[&[&str]], commit: &[&[&str]]| {
            super::is_exchange(&printed(NOISY, parent), &printed(NOISY, commit))
        };
        let parent: [&[&str]; 3] =
            [&["ppl 7.01", "ppl 7.48"], &["ppl 7.04", "ppl 7.53"], &["ppl 6.99", "ppl 7.50"]];
        let commit: [&[&str]; 3] =
            [&["ppl 7.51", "ppl 7.00"], &["ppl 7.49", "ppl 7.03"], &["ppl 7.52", "ppl 7.05"]];
        assert!(is_exchange(&parent, &commit));
        // One run of three is far off.
        let stray: &[&str] = &["ppl 7.51", "ppl 9.99"];
        assert!(is_exchange(&parent, &[stray, commit[1], commit[2]]));
        assert!(!is_exchange(&parent, &[stray, stray, commit[2]]));
        // The other result does not change.
        let other: [&[&str]; 3] =
            [&["ppl 7.51", "ppl 7.50"], &["ppl 7.49", "ppl 7.53"], &["ppl 7.52", "ppl 7.48"]];
        assert!(!is_exchange(&parent, &other));
        // A single result each.
        let [low, high]: [&[&str]; 2] = [&["ppl 7.01"], &["ppl 7.51"]];
        assert!(!is_exchange(&[low, low, low], &[high, high, high]));
        assert!(!is_exchange(&[], &[]));
    }

    #[test]
    fn in_noise_the_names_of_all_usual_runs_must_stay() {
        let names_stay = |parent: &[&[&str]], commit: &[&[&str]]| {
            super::names_stay(&printed(NOISY, parent), &printed(NOISY, commit))
        };
        let parent: [&[&str]; 2] =
            [&["exact: 7.01", "approx: 7.48"], &["exact: 7.04", "approx: 7.53"]];
        let changed: [&[&str]; 2] =
            [&["exact: 7.51", "approx: 7.00"], &["exact: 7.49", "approx: 7.03"]];
        assert!(names_stay(&parent, &changed));
        let swapped: [&[&str]; 2] =
            [&["approx: 7.51", "exact: 7.00"], &["approx: 7.49", "exact: 7.03"]];
        assert!(!names_stay(&parent, &swapped));
        assert!(!names_stay(&parent, &[changed[0], swapped[1]]));
    }

    #[test]
    fn names_that_stay_show_that_the_numbers_changed() {
        let names_stay = |parent: [&str; 2], commit: [&str; 2]| {
            super::names_stay(&exactly(&parent), &exactly(&commit))
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

    #[test]
    fn only_lines_without_different_words_need_words() {
        let advice = |parent: [&str; 2], commit: [&str; 2]| {
            super::advice(&exactly(&parent), &exactly(&commit))
        };
        let counted = ["GPU0 ppl = 7.500", "GPU1 ppl = 7.010"];
        let told = advice(["GPU0 ppl = 7.010", "GPU1 ppl = 7.500"], counted);
        assert!(
            told.starts_with("let the program print words") && told.contains("`GPU0`"),
            "{told}"
        );
        let named = ["exact: ppl = 7.010", "approx: ppl = 7.500"];
        let told = advice(named, ["approx: ppl = 7.500", "exact: ppl = 7.010"]);
        assert!(told.ends_with("choose the number by its name"), "{told}");
    }
}
