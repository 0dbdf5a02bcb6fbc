//! Matches a pattern line by line, on both streams in the order of arrival.

mod absent;
mod asked;
mod beginnings;
mod cut;
mod duration;
mod forms;
mod not_a_number;
mod picked;
mod places;
mod replaced;
mod sign;
mod texts;

use std::cell::LazyCell;
use std::collections::{BTreeMap, BTreeSet};

use regex::Regex;

use crate::config::{MeasureKind, Pick};
use crate::evaluation::{Failure, Metric, Reading, decimals};

use super::form::WordsAround;
use super::unit::unit_of;
use super::value::{excerpt, in_place_of_number, reading};

use asked::asks_for;
use beginnings::Beginnings;
use forms::Forms;
pub(super) use not_a_number::own_pattern;
use not_a_number::{InPlace, NotANumber};
use picked::{Picked, Stray};
use places::Places;
use replaced::Replaced;

/// Reads one run's output.
#[derive(Debug)]
pub(super) struct Pattern {
    regex: Regex,
    not_a_number: NotANumber,
    kind: MeasureKind,
    groups: Vec<Group>,
}

/// One group of the pattern. Each group picks among its own matches, so that an alternation
/// `prompt (?<pp>…)|decode (?<tg>…)` finds each value on a separate line.
#[derive(Debug)]
struct Group {
    index: usize,
    metric: Metric,
    picked: Picked,
    /// The units of the numbers that count; empty text if there is no unit.
    units: BTreeSet<String>,
    /// The forms of the lines with a match.
    forms: Forms,
    /// What the same lines say, with their numbers and paths.
    places: Places,
    /// The lines that show this metric.
    beginnings: Beginnings,
    /// NaN or an infinity in place of the first number.
    stray: Option<Stray>,
    /// Other words in place of a number.
    replaced: Replaced,
}

/// The text that a group has in a line.
struct Taken<'l> {
    text: Result<&'l str, Failure>,
    unit: String,
    /// Where the group's match ends; `None` for a text in place of a number.
    end: Option<usize>,
    /// False for a fact, for a part of a number, and for a text in place of a number.
    is_number: bool,
}

/// Where each match in a line begins, and where each of its groups begins.
type Starts = BTreeMap<usize, BTreeMap<usize, usize>>;

impl Pattern {
    /// Named groups yield `MEASURE.NAME`. Without named groups, the first unnamed group or the
    /// whole match yields `MEASURE`. Facts have no order and no sum, so every pick except
    /// `first` acts as `last`.
    pub(super) fn new(measure: &str, regex: &Regex, pick: Pick, kind: MeasureKind) -> Self {
        let named: Vec<_> = regex
            .capture_names()
            .enumerate()
            .filter_map(|(index, name)| Some((index, Metric::named(measure, name?))))
            .collect();
        let metrics = if named.is_empty() {
            vec![(usize::from(regex.captures_len() > 1), Metric::of(measure))]
        } else {
            named
        };
        let groups = metrics
            .into_iter()
            .map(|(index, metric)| Group {
                index,
                metric,
                picked: Picked::new(pick, kind),
                units: BTreeSet::new(),
                forms: Forms::default(),
                places: Places::default(),
                beginnings: Beginnings::default(),
                stray: None,
                replaced: Replaced::default(),
            })
            .collect();
        Self { regex: regex.clone(), not_a_number: NotANumber::default(), kind, groups }
    }

    /// Takes one line; true if the pattern matches, or if another text in place of its number
    /// counts.
    pub(super) fn line(&mut self, line: &str) -> bool {
        let mut starts = Starts::new();
        // By place in the line, since the first or the last one may count.
        let mut taken = BTreeMap::new();
        let absents = LazyCell::new(|| absent::in_line(line));
        for captures in self.regex.captures_iter(line) {
            let Some(whole) = captures.get(0) else { continue };
            let groups = starts.entry(whole.start()).or_default();
            let end = whole.end();
            for (number, group) in self.groups.iter().enumerate() {
                let Some(found) = captures.get(group.index) else { continue };
                groups.insert(number, found.start());
                let text = found.as_str().trim();
                let one = match self.kind {
                    MeasureKind::Number => {
                        let by = (&self.regex, group.index);
                        let metric = &group.metric;
                        let text = cut::refuse_part(metric, by, line, end, found)
                            .and_then(|()| duration::refuse_part(metric, by, line, end, found))
                            .and_then(|()| absent::refuse_other(metric, by, line, &absents, found))
                            .and_then(|()| sign::refuse_unsigned(metric, by, line, found))
                            .map(|()| text);
                        let unit = unit_of(line, [found.start(), found.end()], |place| {
                            place[0] >= end || asks_for(by, line, place, found)
                        });
                        Taken { is_number: text.is_ok(), text, unit, end: Some(found.end()) }
                    }
                    MeasureKind::Fact => {
                        Taken { end: Some(found.end()), ..Taken::without_number(text) }
                    }
                };
                taken.insert((found.start(), number), one);
            }
        }
        let is_number = self.kind == MeasureKind::Number;
        let has_stray = is_number && self.take_texts(line, &starts, &mut taken);
        if is_number && starts.is_empty() && taken.is_empty() {
            self.take_words(line, &mut taken);
        }
        let matched = !starts.is_empty() || !taken.is_empty() || has_stray;
        for ((start, number), one) in taken {
            self.groups[number].add(line, start, one);
        }
        matched
    }

    /// Takes texts such as `nan` that stand in place of a number; true if a group keeps one of
    /// these texts for the end of the output.
    fn take_texts<'l>(
        &mut self,
        line: &'l str,
        starts: &Starts,
        taken: &mut BTreeMap<(usize, usize), Taken<'l>>,
    ) -> bool {
        let mut has_stray = false;
        for lost in self.not_a_number.in_line(&self.regex, line) {
            let number = self.groups.iter().position(|group| group.index == lost.group);
            let Some(number) = number else { continue };
            let place = (lost.found.start(), number);
            let group = &mut self.groups[number];
            let is_lost = group.lacks_number(&line[..place.0]);
            let text = Taken::without_number(lost.text());
            match starts.get(&lost.start) {
                // A number that the pattern took here is only a part: `1.` of `1.#QNAN`.
                _ if taken.contains_key(&place) => {
                    if lost.text().contains('#') {
                        taken.insert(place, text);
                    }
                }
                None if is_lost => drop(taken.insert(place, text)),
                None => has_stray |= lost.is_not_finite() && group.add_stray(lost, line),
                // The pattern would have taken a number here, so it takes another one.
                Some(groups) if (lost.is_no_number() || is_lost) && lost.is_value_in(line) => {
                    let Some(other) = groups.get(&number) else { continue };
                    if !is_lost && lost.is_other_value(&self.regex, line, *other) {
                        continue;
                    }
                    let one = if is_lost {
                        text
                    } else {
                        Taken::refused(absent::other_number(&group.metric, lost.text()))
                    };
                    taken.insert((*other, number), one);
                }
                Some(_) => {}
            }
        }
        has_stray
    }

    /// Takes other words in place of a number, on a line on which the pattern matches nothing.
    fn take_words<'l>(&self, line: &'l str, taken: &mut BTreeMap<(usize, usize), Taken<'l>>) {
        for (number, group) in self.groups.iter().enumerate().filter(|(_, one)| one.is_known()) {
            let words = group.replaced.in_line(&self.regex, group.index, line);
            for found in words {
                if group.lacks_number(&line[..found.start()]) {
                    let one = Taken::refused(group.replaced_by(found.as_str(), line));
                    taken.insert((found.start(), number), one);
                }
            }
        }
    }

    /// The reading of a run that ended with exit code 0.
    pub(super) fn finish(self) -> Result<Reading, Failure> {
        let Self { regex, kind, groups, .. } = self;
        let (mut repeats, mut units) = (BTreeMap::new(), BTreeMap::new());
        let (mut forms, mut found) = (BTreeMap::new(), BTreeMap::new());
        let mut printed_decimals = BTreeMap::new();
        let mut values = Vec::new();
        for Group { metric, picked, units: printed, forms: lines, places, stray, .. } in groups {
            let own = places.of(picked.text(), matches!(picked, Picked::First(_)));
            found.extend(own.map(|own| (metric.clone(), own)));
            forms.extend(lines.of(picked.text()).map(|own| (metric.clone(), own)));
            if kind == MeasureKind::Number {
                units.insert(metric.clone(), printed.into_iter().collect());
                let count = picked.text().and_then(decimals);
                printed_decimals.extend(count.map(|count| (metric.clone(), count)));
            }
            if let Some(numbers) = picked.repeats() {
                repeats.insert(metric.clone(), numbers.to_vec());
            }
            let value = picked.value(&metric, kind, &regex, stray.as_ref());
            values.push((metric, value));
        }
        let (places, decimals) = (found, printed_decimals);
        Ok(Reading { repeats, units, forms, places, decimals, ..reading(values)? })
    }
}

impl<'l> Taken<'l> {
    fn without_number(text: &'l str) -> Self {
        Self { text: Ok(text), unit: String::new(), end: None, is_number: false }
    }

    fn refused(failure: Failure) -> Self {
        Self { text: Err(failure), unit: String::new(), end: None, is_number: false }
    }
}

impl Group {
    /// `start`: where in the line the text begins that was taken.
    fn add(&mut self, line: &str, start: usize, taken: Taken<'_>) {
        if let (Some(end), Ok(text)) = (taken.end, &taken.text) {
            let words = LazyCell::new(|| WordsAround::of(line, [start, end]));
            self.forms.add(&words, text);
            self.places.add(&words, text);
        }
        match self.picked {
            Picked::First(Some(_)) => return,
            Picked::First(None) => self.units.clear(),
            Picked::Last(_) => {
                self.units.clear();
                if taken.is_number {
                    self.beginnings.add(&line[..start]);
                }
            }
            Picked::Computed { .. } => {}
        }
        self.units.insert(taken.unit);
        self.picked.add(&self.metric, taken.text);
    }

    /// Keeps NaN or an infinity in place of a first number. False if the group has a number, or
    /// keeps such a text that is as certain.
    fn add_stray(&mut self, lost: InPlace<'_>, line: &str) -> bool {
        let is_certain = lost.is_certain_in(line);
        let is_known = self.stray.as_ref().is_some_and(|known| known.is_certain || !is_certain);
        if is_known || !self.picked.is_empty() {
            return false;
        }
        let (text, line) = (lost.text().to_owned(), excerpt(line.trim()));
        self.stray = Some(Stray { text, line, is_certain });
        true
    }

    /// The failure if another word is in place of the number, behind the last number.
    fn replaced_by(&self, word: &str, line: &str) -> Failure {
        let what = format!(
            "behind the last number, the line `{}` has `{}` in place of a number; if such a line \
             shows something else, put more text of the lines with a number into the pattern, or \
             choose another `pick`",
            excerpt(line.trim()),
            excerpt(word)
        );
        in_place_of_number(&self.metric, &what)
    }

    /// Whether the last match counts, and a line so far had a number.
    fn is_known(&self) -> bool {
        matches!(self.picked, Picked::Last(Some(_)))
    }

    /// Whether a text behind this beginning of a line is in place of a number: an earlier line with
    /// the same beginning had a number. Lines with other beginnings show other things. False unless
    /// the last match counts: the other picks may take a text from a warm-up, such as `speed: nan`.
    fn lacks_number(&self, before: &str) -> bool {
        matches!(self.picked, Picked::Last(_)) && self.beginnings.has(before)
    }
}

#[cfg(test)]
mod tests;
