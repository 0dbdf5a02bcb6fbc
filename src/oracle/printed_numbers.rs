//! Where runs printed the numbers of two ranges in their output: how often, and beside which names.

use std::collections::BTreeMap;

use crate::config::Parser;
use crate::evaluation::{PlaceNames, Stream};
use crate::measure::named_numbers;
use crate::process::read_log;
use crate::store::StoreError;

use super::number_range::NumberRange;
use super::{Observation, Oracle, OracleError};

/// Minimum number of digits. Shorter numbers may be equal by chance.
const FEWEST_DIGITS: usize = 3;

/// The numbers of two ranges as one run printed them, without their signs.
#[derive(Debug)]
pub(crate) struct PrintedNumbers {
    ranges: [NumberRange; 2],
    printed: [Printed; 2],
}

#[derive(Debug, Default)]
struct Printed {
    count: usize,
    /// The places, and how many have these names.
    places: BTreeMap<PlaceNames, usize>,
}

impl PrintedNumbers {
    /// The numbers of these ranges. None were printed so far.
    pub(crate) fn of(ranges: [NumberRange; 2]) -> Self {
        Self { ranges, printed: [Printed::default(), Printed::default()] }
    }

    /// How many numbers of each range were printed, with any sign.
    pub(crate) fn counts(&self) -> [usize; 2] {
        [self.printed[0].count, self.printed[1].count]
    }

    /// The names beside the numbers of each range, with how many places have them.
    pub(crate) fn places(&self) -> [&BTreeMap<PlaceNames, usize>; 2] {
        [&self.printed[0].places, &self.printed[1].places]
    }

    /// Counts the numbers of a line: those with a point and at least three digits.
    pub(crate) fn add(&mut self, line: &str) {
        for number in numbers_in(line) {
            if let Some(printed) = self.printed_as(number) {
                printed.count += 1;
            }
        }
    }

    /// Adds the names of a line to the places of its numbers. Two numbers of one line have the same
    /// names: words do not tell columns apart.
    pub(crate) fn add_names(&mut self, line: &str) {
        for number in numbers_in(line) {
            if self.ranges.iter().any(|range| range.contains(number)) {
                self.add_place(number, PlaceNames::in_text(line));
            }
        }
    }

    fn add_place(&mut self, number: f64, names: PlaceNames) {
        if let Some(printed) = self.printed_as(number) {
            *printed.places.entry(names).or_default() += 1;
        }
    }

    fn printed_as(&mut self, number: f64) -> Option<&mut Printed> {
        let range = self.ranges.iter().position(|range| range.contains(number))?;
        self.printed.get_mut(range)
    }
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
    /// How each run of a measure with values printed the numbers of these ranges. Empty with parsers
    /// of one program, which know the place of each number.
    pub(crate) fn printed_numbers(
        &self,
        seen: &Observation,
        measure: &str,
        ranges: [NumberRange; 2],
    ) -> Result<Vec<PrintedNumbers>, OracleError> {
        let config = self.recipes.config.measure(measure);
        let is_document = match config.map(|config| &config.parser) {
            Some(Parser::Regex { .. }) => false,
            Some(Parser::Json { .. }) => true,
            _ => return Ok(Vec::new()),
        };
        let is_file = config.is_some_and(|config| config.file.is_some());
        let mut runs = Vec::new();
        for sample in seen.of(measure).iter().filter(|sample| sample.result.is_ok()) {
            let Some(path) = self.log_of(seen, measure, &sample.attempt)? else { continue };
            let log = read_log(&path).map_err(StoreError::at(&path))?;
            let mut printed = PrintedNumbers::of(ranges);
            for (_, line) in log.lines() {
                let line = String::from_utf8_lossy(line);
                printed.add(&line);
                if !is_document {
                    printed.add_names(&line);
                }
            }
            if is_document {
                let text = log.stream(if is_file { Stream::File } else { Stream::Out });
                let is_wanted = |number| ranges.iter().any(|range| range.contains(number));
                for (number, names) in named_numbers(&String::from_utf8_lossy(&text), &is_wanted) {
                    printed.add_place(number, names);
                }
            }
            runs.push(printed);
        }
        Ok(runs)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn exactly(numbers: [f64; 2]) -> PrintedNumbers {
        let [one, other] = numbers;
        PrintedNumbers::of(NumberRange::of_both([&[one], &[other]]).unwrap())
    }

    #[test]
    fn numbers_are_counted_wherever_they_stand() {
        let counted = |number: f64| {
            let mut printed = exactly([number, 0.0]);
            printed.add("[1]7.5000,[2]7.01 wiki: ppl = 7.50.");
            printed.add(r#"{"ppl": [-7.5, 7.50], "version": "1.2.3", "steps": 1200}"#);
            printed.counts()[0]
        };
        assert_eq!(counted(7.5), 3, "7.5 itself has too few digits");
        assert_eq!(counted(-7.01), 1);
        assert_eq!(counted(1200.0), 0, "whole numbers count things");
        assert_eq!(counted(1.2), 0);
    }

    #[test]
    fn the_names_of_a_line_are_those_of_its_numbers() {
        let mut printed = exactly([7.01, 7.5]);
        for line in ["exact: 7.010", "limit: 9.000", "[1] both 7.010 7.500", "[2] both 7.010"] {
            printed.add_names(line);
        }
        let names = PlaceNames::in_text;
        let of_first = BTreeMap::from([(names("exact"), 1), (names("both"), 2)]);
        assert_eq!(printed.places(), [&of_first, &BTreeMap::from([(names("both"), 1)])]);
    }
}
