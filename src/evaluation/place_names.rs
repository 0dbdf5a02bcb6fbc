//! The names beside a number in the output, without words that depend on the order of the output.
//! If a commit changes the order of two things, each number keeps its names.

/// Words that say where something is in an order, and not what it is.
const OF_AN_ORDER: [&str; 7] = ["first", "second", "third", "next", "previous", "last", "final"];

/// The words of a place, in order. Digits are left out, since they may count the places
/// (`chunk 1`, `run2`), and so are words that begin with one, such as `3.2s`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct PlaceNames(Vec<String>);

impl PlaceNames {
    /// The names in a text, such as a line of the output.
    pub(crate) fn in_text(text: &str) -> Self {
        let words = text.split(|c: char| !c.is_alphanumeric());
        let words = words.filter(|word| !word.starts_with(char::is_numeric));
        let names = words.map(|word| word.replace(char::is_numeric, "").to_lowercase());
        let is_name = |name: &String| !name.is_empty() && !OF_AN_ORDER.contains(&name.as_str());
        Self(names.filter(is_name).collect())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_times_and_an_order_are_no_names() {
        let same = |one: &str, two: &str| PlaceNames::in_text(one) == PlaceNames::in_text(two);
        assert!(same("[1] run1: ppl = 7.01, took 3.2s", "[2] run2: ppl = 7.5e0, took 950s"));
        assert!(same("first ppl = 7.01", "second ppl = 7.50"));
        assert!(same("\u{1b}[32m7.01 PPL\u{1b}[0m", "7.50 ppl"));
        assert!(!same("model q4_0 ppl = 7.01", "model f16 ppl = 7.01"));
        assert!(!same("7.01 (exact)", "7.01 (approx)"));
        assert!(PlaceNames::in_text("| 1 | 7.01 |").is_empty());
        assert!(!PlaceNames::in_text("a,7.01").is_empty());
    }
}
