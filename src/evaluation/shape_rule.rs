//! A rule over the properties of a sweep's cells, such as `d_in % 4 ≠ 0`. The cells for which it
//! holds show a regression.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

/// A property of a cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Property {
    /// A finite number.
    Number(f64),
    /// A word.
    Word(String),
}

/// The properties of a cell, by name.
pub(crate) type Properties = BTreeMap<String, Property>;

/// One or two conditions on the properties of a cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct ShapeRule {
    /// The conditions.
    pub conditions: Vec<Condition>,
    /// How two conditions are joined.
    #[serde(default)]
    pub join: Join,
}

/// How two conditions are joined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Join {
    /// Both must hold.
    #[default]
    And,
    /// One must hold.
    Or,
}

/// A condition on one property.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Condition {
    /// The property's name.
    pub property: String,
    /// What must hold.
    pub is: Comparison,
}

/// A comparison of a property.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Comparison {
    /// Greater than a border.
    Above(Border),
    /// At most a border.
    AtMost(Border),
    /// A multiple of this whole number.
    Multiple(u64),
    /// No multiple of this whole number.
    NoMultiple(u64),
    /// Equal.
    Equal(Property),
    /// Not equal.
    Unequal(Property),
}

/// A border between numbers. The cells show only that it lies between `low` (included) and `high`
/// (excluded).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Border {
    /// The largest value that is known to be at most the border.
    pub low: f64,
    /// The smallest value that is known to be above the border.
    pub high: f64,
}

impl Border {
    /// Whether the border is below a value; `None` if the value is between `low` and `high`.
    pub(crate) fn is_below(self, value: f64) -> Option<bool> {
        if value <= self.low {
            Some(false)
        } else if value >= self.high {
            Some(true)
        } else {
            None
        }
    }

    /// Whether `low` and `high` are whole numbers without another one in between.
    pub(crate) fn is_exact(self) -> bool {
        is_whole(self.low) && is_whole(self.high) && self.high - self.low <= 1.0
    }
}

impl Comparison {
    /// Whether a property meets the comparison. `None` if that is unknown, or if the property is of
    /// another kind.
    pub(crate) fn holds(&self, property: &Property) -> Option<bool> {
        match (self, property) {
            (Self::Above(border), Property::Number(x)) => border.is_below(*x),
            (Self::AtMost(border), Property::Number(x)) => border.is_below(*x).map(|is| !is),
            (Self::Multiple(of), Property::Number(x)) => is_multiple(*x, *of),
            (Self::NoMultiple(of), Property::Number(x)) => is_multiple(*x, *of).map(|is| !is),
            (Self::Equal(value), property) => Some(value == property),
            (Self::Unequal(value), property) => Some(value != property),
            (_, Property::Word(_)) => None,
        }
    }
}

impl ShapeRule {
    /// A rule of one condition.
    pub(crate) fn single(condition: Condition) -> Self {
        Self { conditions: vec![condition], join: Join::And }
    }

    /// Whether the rule holds for a cell. `None` if that is unknown: a border is not exact enough,
    /// or the cell lacks the property.
    pub(crate) fn holds(&self, cell: &Properties) -> Option<bool> {
        let decisive = self.join == Join::Or;
        let mut is_unknown = false;
        for condition in &self.conditions {
            match cell.get(&condition.property).and_then(|it| condition.is.holds(it)) {
                Some(is) if is == decisive => return Some(decisive),
                Some(_) => {}
                None => is_unknown = true,
            }
        }
        (!is_unknown).then_some(!decisive)
    }
}

fn is_multiple(x: f64, of: u64) -> Option<bool> {
    is_whole(x).then_some(x % of as f64 == 0.0)
}

fn is_whole(x: f64) -> bool {
    x.fract() == 0.0
}

impl fmt::Display for Property {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(x) => write!(f, "{x}"),
            Self::Word(word) => write!(f, "\"{word}\""),
        }
    }
}

/// `256`, or `some value in 256..299` if the cells do not show the exact value.
impl fmt::Display for Border {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { low, high } = *self;
        if self.is_exact() {
            write!(f, "{low}")
        } else if is_whole(low) && is_whole(high) {
            write!(f, "some value in {low}..{}", high - 1.0)
        } else {
            write!(f, "some value between {low} and {high}")
        }
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = &self.property;
        match &self.is {
            Comparison::Above(border) if border.is_exact() => write!(f, "{name} > {border}"),
            Comparison::Above(border) => write!(f, "{name} above {border}"),
            Comparison::AtMost(border) if border.is_exact() => write!(f, "{name} ≤ {border}"),
            Comparison::AtMost(border) => write!(f, "{name} up to {border}"),
            Comparison::Multiple(of) => write!(f, "{name} % {of} = 0"),
            Comparison::NoMultiple(of) => write!(f, "{name} % {of} ≠ 0"),
            Comparison::Equal(value) => write!(f, "{name} = {value}"),
            Comparison::Unequal(value) => write!(f, "{name} ≠ {value}"),
        }
    }
}

impl fmt::Display for ShapeRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let join = match self.join {
            Join::And => " and ",
            Join::Or => " or ",
        };
        for (number, condition) in self.conditions.iter().enumerate() {
            if number > 0 {
                f.write_str(join)?;
            }
            write!(f, "{condition}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(values: &[(&str, f64)]) -> Properties {
        let number = |(name, x): &(&str, f64)| ((*name).to_owned(), Property::Number(*x));
        values.iter().map(number).collect()
    }

    fn on(property: &str, is: Comparison) -> Condition {
        Condition { property: property.to_owned(), is }
    }

    #[test]
    fn a_border_is_claimed_only_as_sharply_as_it_is_known() {
        let above =
            |low, high| ShapeRule::single(on("length", Comparison::Above(Border { low, high })));
        assert_eq!(above(256.0, 257.0).to_string(), "length > 256");
        assert_eq!(above(256.0, 300.0).to_string(), "length above some value in 256..299");
        assert_eq!(above(0.5, 1.0).to_string(), "length above some value between 0.5 and 1");
        let rule = above(256.0, 300.0);
        for (x, holds) in [(256.0, Some(false)), (300.0, Some(true)), (270.0, None)] {
            assert_eq!(rule.holds(&cell(&[("length", x)])), holds, "{x}");
        }
        let at_most = on("length", Comparison::AtMost(Border { low: 64.0, high: 65.0 }));
        assert_eq!(at_most.to_string(), "length ≤ 64");
    }

    #[test]
    fn two_conditions_are_joined_also_where_one_is_not_known() {
        let wide = on("width", Comparison::Above(Border { low: 1.0, high: 9.0 }));
        let odd = on("threads", Comparison::NoMultiple(2));
        let rule = |join| ShapeRule { conditions: vec![wide.clone(), odd.clone()], join };
        let holds = |join, width, threads| {
            rule(join).holds(&cell(&[("width", width), ("threads", threads)]))
        };
        assert_eq!(holds(Join::And, 5.0, 2.0), Some(false));
        assert_eq!(holds(Join::And, 5.0, 3.0), None);
        assert_eq!(holds(Join::Or, 5.0, 3.0), Some(true));
        assert_eq!(holds(Join::Or, 5.0, 2.0), None);
        assert_eq!(rule(Join::Or).to_string(), "width above some value in 1..8 or threads % 2 ≠ 0");
        // A cell without the property, and half of a number.
        assert_eq!(rule(Join::And).holds(&cell(&[("width", 9.0)])), None);
        assert_eq!(holds(Join::And, 9.0, 1.5), None);
    }
}
