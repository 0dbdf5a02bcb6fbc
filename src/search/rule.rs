//! The simplest rules that separate the cells of a sweep, and the cell that distinguishes them
//! best. Pure and deterministic.
//!
//! Rules of one condition are simpler than rules of two. Among equally simple rules the order is:
//! borders, multiples (small numbers first), equalities, each over the properties by name. The
//! order decides only which rule is named first. It does not make a rule more likely.

use std::collections::BTreeSet;

use crate::evaluation::{Border, Comparison, Condition, Join, Properties, Property, ShapeRule};

/// Maximum number of rules of two conditions that are compared.
const MOST_RULES: usize = 256;

/// A rule may use multiples of each number up to this one.
const SMALL_MULTIPLES: u64 = 16;

/// Above [`SMALL_MULTIPLES`], a rule may use powers of two, and three times these, up to this one.
const LARGEST_MULTIPLE: u64 = 4096;

/// A range of at most this many numbers is tested completely.
const SMALL_RANGE: u64 = 1024;

/// In a larger range: how far around each tested number to look.
const AROUND: u64 = 16;

/// If a cell splits off fewer rules than this, that is a rounding error, and the cell distinguishes
/// nothing.
const NOTHING: f64 = 1e-9;

/// A cell that was judged.
#[derive(Clone, Debug)]
pub(crate) struct JudgedCell {
    /// Its properties.
    pub properties: Properties,
    /// Whether it shows the regression.
    pub shows: bool,
}

/// All rules with the fewest conditions that agree with every cell. Empty if no rule of at most two
/// conditions agrees, or if all cells are alike. Of rules of two conditions, at most 256.
pub(crate) fn separating_rules(cells: &[JudgedCell]) -> Vec<ShapeRule> {
    let shows = Mask::of(cells, |cell| cell.shows);
    let all = Mask::of(cells, |_| true);
    if shows == all || shows == Mask::of(cells, |_| false) {
        return Vec::new();
    }
    let conditions: Vec<(Condition, Mask)> = conditions(cells)
        .into_iter()
        .filter_map(|condition| {
            let holds =
                |cell: &JudgedCell| condition.is.holds(cell.properties.get(&condition.property)?);
            // A condition that is unknown for a cell explains nothing.
            let is_known = cells.iter().all(|cell| holds(cell).is_some());
            is_known.then(|| {
                let mask = Mask::of(cells, |cell| holds(cell) == Some(true));
                (condition.clone(), mask)
            })
        })
        .collect();
    let alone = conditions.iter().filter(|(_, mask)| *mask == shows);
    let rules: Vec<ShapeRule> =
        alone.map(|(condition, _)| ShapeRule::single(condition.clone())).collect();
    if rules.is_empty() { pairs(&conditions, &shows, &all) } else { rules }
}

/// The index of the candidate that splits the rules most evenly; the first of equal ones. `None` if
/// no candidate distinguishes rules or narrows a border.
pub(crate) fn most_informative_cell<'c>(
    rules: &[ShapeRule],
    candidates: impl IntoIterator<Item = &'c Properties>,
) -> Option<usize> {
    let mut best = (NOTHING, None);
    for (place, cell) in candidates.into_iter().enumerate() {
        let chances = rules.iter().filter_map(|rule| chance(rule, cell));
        let (holds, fails) = chances.fold((0.0, 0.0), |(holds, fails): (f64, f64), chance| {
            (holds + chance, fails + 1.0 - chance)
        });
        let smaller = holds.min(fails);
        if smaller > best.0 + NOTHING {
            best = (smaller, Some(place));
        }
    }
    best.1
}

/// Numbers of a range (both ends included) that may distinguish rules, the nearest to a tested
/// number first. All numbers of a small range.
pub(crate) fn distinguishing_numbers([low, high]: [u64; 2], tried: &BTreeSet<u64>) -> Vec<u64> {
    let mut numbers: BTreeSet<u64> = BTreeSet::new();
    if high - low < SMALL_RANGE {
        numbers.extend(low..=high);
    } else {
        let ordered: Vec<u64> = tried.iter().copied().collect();
        let middles = ordered.windows(2).map(|pair| u64::midpoint(pair[0], pair[1]));
        let centres: Vec<u64> = ordered.iter().copied().chain(middles).chain([low, high]).collect();
        for centre in centres {
            numbers.extend(centre.saturating_sub(AROUND)..=centre.saturating_add(AROUND));
            for of in multiples() {
                let below = centre / of * of;
                numbers.extend([below, below.saturating_add(of), below.saturating_add(2 * of)]);
            }
        }
        numbers.retain(|number| (low..=high).contains(number));
    }
    let distance = |number: u64| tried.iter().map(|own| own.abs_diff(number)).min();
    let mut numbers: Vec<u64> = numbers.into_iter().collect();
    numbers.sort_by_key(|number| distance(*number));
    numbers
}

/// The numbers of which a rule may use multiples, in order.
fn multiples() -> impl Iterator<Item = u64> {
    (2..=LARGEST_MULTIPLE).filter(|number| {
        *number <= SMALL_MULTIPLES
            || number.is_power_of_two()
            || (number % 3 == 0 && (number / 3).is_power_of_two())
    })
}

/// All conditions that these cells can decide, in the documented order.
fn conditions(cells: &[JudgedCell]) -> Vec<Condition> {
    let names: BTreeSet<&String> = cells.iter().flat_map(|cell| cell.properties.keys()).collect();
    let (mut borders, mut divisors, mut equalities) = (Vec::new(), Vec::new(), Vec::new());
    for name in names {
        let on = |is: Comparison| Condition { property: name.clone(), is };
        let values = cells.iter().filter_map(|cell| cell.properties.get(name));
        let (mut numbers, mut words) = (Vec::new(), BTreeSet::new());
        for value in values {
            match value {
                Property::Number(x) => numbers.push(*x),
                Property::Word(word) => {
                    words.insert(word);
                }
            }
        }
        numbers.sort_by(f64::total_cmp);
        numbers.dedup();
        for pair in numbers.windows(2) {
            let border = Border { low: pair[0], high: pair[1] };
            borders.extend([on(Comparison::Above(border)), on(Comparison::AtMost(border))]);
        }
        if numbers.iter().all(|x| x.fract() == 0.0 && *x >= 0.0) {
            let largest = numbers.last().copied().unwrap_or_default();
            for of in multiples().take_while(|of| *of as f64 <= largest) {
                divisors.extend([on(Comparison::Multiple(of)), on(Comparison::NoMultiple(of))]);
            }
        }
        let numbers = numbers.into_iter().map(Property::Number);
        // With two words, `≠` says the same as `=`.
        let has_unequal = words.len() != 2;
        for value in numbers.chain(words.into_iter().cloned().map(Property::Word)) {
            let is_told = has_unequal || matches!(value, Property::Number(_));
            equalities.push(on(Comparison::Equal(value.clone())));
            equalities.extend(is_told.then(|| on(Comparison::Unequal(value))));
        }
    }
    borders.into_iter().chain(divisors).chain(equalities).collect()
}

/// The rules of two conditions that agree with every cell.
fn pairs(conditions: &[(Condition, Mask)], shows: &Mask, all: &Mask) -> Vec<ShapeRule> {
    let mut rules = Vec::new();
    for join in [Join::And, Join::Or] {
        let may = |(_, mask): &&(Condition, Mask)| match join {
            Join::And => shows.is_within(mask) && mask != all,
            Join::Or => mask.is_within(shows) && !mask.is_empty(),
        };
        let parts: Vec<&(Condition, Mask)> = conditions.iter().filter(may).collect();
        for (place, (first, mask)) in parts.iter().enumerate() {
            for (second, other) in &parts[place + 1..] {
                let is_it = match join {
                    Join::And => mask.and(other) == *shows,
                    Join::Or => mask.or(other) == *shows,
                };
                if is_it && !is_list(first, second) {
                    let conditions = vec![first.clone(), second.clone()];
                    rules.push(ShapeRule { conditions, join });
                }
                if rules.len() == MOST_RULES {
                    return rules;
                }
            }
        }
    }
    rules
}

/// Whether two conditions only list values of one property. Such a list is no rule.
fn is_list(first: &Condition, second: &Condition) -> bool {
    let is_value =
        |one: &Condition| matches!(one.is, Comparison::Equal(_) | Comparison::Unequal(_));
    first.property == second.property && is_value(first) && is_value(second)
}

/// The probability that the rule holds for a cell, if all places of a border are equally likely.
/// `None` if the cell lacks a property.
fn chance(rule: &ShapeRule, cell: &Properties) -> Option<f64> {
    let of = |condition: &Condition| {
        let property = cell.get(&condition.property)?;
        if let Some(holds) = condition.is.holds(property) {
            return Some(f64::from(holds));
        }
        let Property::Number(x) = property else { return None };
        match condition.is {
            Comparison::Above(Border { low, high }) => Some((x - low) / (high - low)),
            Comparison::AtMost(Border { low, high }) => Some((high - x) / (high - low)),
            _ => None,
        }
    };
    let chances: Vec<f64> = rule.conditions.iter().map(of).collect::<Option<_>>()?;
    Some(match rule.join {
        Join::And => chances.iter().product(),
        Join::Or => 1.0 - chances.iter().map(|chance| 1.0 - chance).product::<f64>(),
    })
}

/// A set of cells, one bit each.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Mask(Vec<u64>);

impl Mask {
    fn of(cells: &[JudgedCell], is_in: impl Fn(&JudgedCell) -> bool) -> Self {
        let block = |cells: &[JudgedCell]| {
            let bits = cells.iter().enumerate().filter(|(_, cell)| is_in(cell));
            bits.fold(0, |block, (bit, _)| block | 1 << bit)
        };
        Self(cells.chunks(64).map(block).collect())
    }

    fn and(&self, other: &Self) -> Self {
        Self(self.0.iter().zip(&other.0).map(|(a, b)| a & b).collect())
    }

    fn or(&self, other: &Self) -> Self {
        Self(self.0.iter().zip(&other.0).map(|(a, b)| a | b).collect())
    }

    fn is_within(&self, other: &Self) -> bool {
        self.0.iter().zip(&other.0).all(|(a, b)| a & !b == 0)
    }

    fn is_empty(&self) -> bool {
        self.0.iter().all(|block| *block == 0)
    }
}

#[cfg(test)]
mod tests;
