//! Where a run printed a pair of numbers in its output: how often, and beside which names.

use std::collections::BTreeMap;

use crate::config::Parser;
use crate::evaluation::{PlaceNames, Stream};
use crate::measure::named_numbers;
use crate::process::read_log;
use crate::store::StoreError;

use super::{Observation, Oracle, OracleError};

/// Minimum number of digits. Shorter numbers may be equal by chance.
const FEWEST_DIGITS: usize = 3;

/// Two numbers as a run printed them, without their signs.
#[derive(Debug)]
pub(crate) struct PrintedNumbers(BTreeMap<u64, Printed>);

#[derive(Debug, Default)]
struct Printed {
    count: usize,
    /// The places, and how many have these names.
    places: BTreeMap<PlaceNames, usize>,
}

impl PrintedNumbers {
    /// The numbers, which were not printed so far.
    pub(crate) fn of(numbers: [f64; 2]) -> Self {
        Self(numbers.into_iter().map(|number| (bits(number), Printed::default())).collect())
    }

    /// How often the number was printed, with any sign.
    pub(crate) fn count(&self, number: f64) -> usize {
        self.0.get(&bits(number)).map_or(0, |printed| printed.count)
    }

    /// The names beside the number, with how many of its places have them.
    pub(crate) fn places(&self, number: f64) -> Option<&BTreeMap<PlaceNames, usize>> {
        self.0.get(&bits(number)).map(|printed| &printed.places)
    }

    /// Counts the numbers of a line: those with a point and at least three digits.
    pub(crate) fn add(&mut self, line: &str) {
        for number in numbers_in(line) {
            if let Some(printed) = self.0.get_mut(&bits(number)) {
                printed.count += 1;
            }
        }
    }

    /// Adds the names of a line to the places of its numbers. Two numbers of one line have the same
    /// names: words do not tell columns apart.
    pub(crate) fn add_names(&mut self, line: &str) {
        for number in numbers_in(line) {
            if self.0.contains_key(&bits(number)) {
                self.add_place(number, PlaceNames::in_text(line));
            }
        }
    }

    fn add_place(&mut self, number: f64, names: PlaceNames) {
        if let Some(printed) = self.0.get_mut(&bits(number)) {
            *printed.places.entry(names).or_default() += 1;
        }
    }
}

fn bits(number: f64) -> u64 {
    number.abs().to_bits()
}

fn numbers_in(line: &str) -> impl Iterator<Item = f64> {
    let tokens = line.split(|c: char| !c.is_ascii_digit() && c != '.');
    tokens.map(|token| token.trim_matches('.')).filter_map(|token| {
        let digits = token.bytes().filter(u8::is_ascii_digit).count();
        let is_long = digits >= FEWEST_DIGITS && token.contains('.');
        token.parse::<f64>().ok().filter(|_| is_long)
    })
}

impl Oracle {
    /// How the first run of a measure with values printed these numbers. Not at all with parsers
    /// of one program, which know the place of each number.
    pub(crate) fn printed_numbers(
        &self,
        seen: &Observation,
        measure: &str,
        numbers: [f64; 2],
    ) -> Result<PrintedNumbers, OracleError> {
        let mut printed = PrintedNumbers::of(numbers);
        let config = self.recipes.config.measure(measure);
        let is_document = match config.map(|config| &config.parser) {
            Some(Parser::Regex { .. }) => false,
            Some(Parser::Json { .. }) => true,
            _ => return Ok(printed),
        };
        let Some(sample) = seen.of(measure).iter().find(|sample| sample.result.is_ok()) else {
            return Ok(printed);
        };
        let Some(path) = self.log_of(seen, measure, &sample.attempt)? else { return Ok(printed) };
        let log = read_log(&path).map_err(StoreError::at(&path))?;
        for (_, line) in log.lines() {
            let line = String::from_utf8_lossy(line);
            printed.add(&line);
            if !is_document {
                printed.add_names(&line);
            }
        }
        if is_document {
            let is_file = config.is_some_and(|config| config.file.is_some());
            let text = log.stream(if is_file { Stream::File } else { Stream::Out });
            let wanted = numbers.map(bits);
            let is_wanted = |number| wanted.contains(&bits(number));
            for (number, names) in named_numbers(&String::from_utf8_lossy(&text), &is_wanted) {
                printed.add_place(number, names);
            }
        }
        Ok(printed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_counted_wherever_they_stand() {
        let counted = |number: f64| {
            let mut printed = PrintedNumbers::of([number, 0.0]);
            printed.add("[1]7.5000,[2]7.01 wiki: ppl = 7.50.");
            printed.add(r#"{"ppl": [-7.5, 7.50], "version": "1.2.3", "steps": 1200}"#);
            printed.count(number)
        };
        assert_eq!(counted(7.5), 3, "7.5 itself has too few digits");
        assert_eq!(counted(-7.01), 1);
        assert_eq!(counted(1200.0), 0, "whole numbers count things");
        assert_eq!(counted(1.2), 0);
    }

    #[test]
    fn the_names_of_a_line_are_those_of_its_numbers() {
        let mut printed = PrintedNumbers::of([7.01, 7.5]);
        for line in ["exact: 7.010", "limit: 9.000", "[1] both 7.010 7.500", "[2] both 7.010"] {
            printed.add_names(line);
        }
        let places = |number: f64| printed.places(number).cloned().unwrap();
        let names = PlaceNames::in_text;
        assert_eq!(places(7.01), BTreeMap::from([(names("exact"), 1), (names("both"), 2)]));
        assert_eq!(places(7.5), BTreeMap::from([(names("both"), 1)]));
        assert!(printed.places(9.0).is_none());
    }
}
