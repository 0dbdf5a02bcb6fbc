//! Compares the forms of two places of the output word by word. A form has parts (lines, or texts
//! beside a value); their order does not matter. A word with digits or slashes is a name (`q4_0`,
//! `out/ref`), and so is a long word. `#` stands for a number, or for a name that varies from run to
//! run.

use std::collections::BTreeSet;

/// In place of a number, or of a name that varies.
const VARIES: &str = "#";
/// Maximum length of a word that is no name, in bytes.
pub(crate) const LONGEST_WORD: usize = 24;
/// Between the parts of a form.
const BETWEEN_PARTS: &str = "; ";

/// The form with these parts.
pub(crate) fn form_of_parts(parts: impl IntoIterator<Item = String>) -> String {
    let parts: BTreeSet<String> = parts.into_iter().collect();
    Vec::from_iter(parts).join(BETWEEN_PARTS)
}

/// The form with `#` in place of all names.
pub(crate) fn without_names(form: &str) -> String {
    let without = |part: &str| {
        let shown = |word| if is_name_in_form(word) { VARIES } else { word };
        let words = part.split(' ').map(shown);
        words.collect::<Vec<_>>().join(" ")
    };
    form_of_parts(form.split(BETWEEN_PARTS).map(without))
}

/// The form that stands for both, with `#` for names that differ. `None` if other words differ.
pub(super) fn united(one: &str, other: &str) -> Option<String> {
    let [one, other] = [one, other].map(parts);
    let found = |own: &BTreeSet<&str>, among: &BTreeSet<&str>| -> Option<Vec<String>> {
        let in_both = |part: &&str| {
            if among.contains(part) {
                return Some((*part).to_owned());
            }
            among.iter().find_map(|other| united_part(part, other))
        };
        own.iter().map(in_both).collect()
    };
    let (first, second) = (found(&one, &other)?, found(&other, &one)?);
    Some(form_of_parts(first.into_iter().chain(second)))
}

/// Whether both may be forms of one place: they are equal, except where one has `#`.
pub(super) fn are_alike(one: &str, other: &str) -> bool {
    let [one, other] = [one, other].map(parts);
    let are_all_in = |own: &BTreeSet<&str>, among: &BTreeSet<&str>| {
        own.iter().all(|part| among.iter().any(|other| is_part_alike(part, other)))
    };
    are_all_in(&one, &other) && are_all_in(&other, &one)
}

fn parts(form: &str) -> BTreeSet<&str> {
    form.split(BETWEEN_PARTS).collect()
}

fn united_part(one: &str, other: &str) -> Option<String> {
    if one.split(' ').count() != other.split(' ').count() {
        return None;
    }
    let pairs = one.split(' ').zip(other.split(' '));
    let words = pairs.map(|(one, other)| united_word(one, other));
    Some(words.collect::<Option<Vec<&str>>>()?.join(" "))
}

fn united_word<'w>(one: &'w str, other: &'w str) -> Option<&'w str> {
    if one == other {
        return Some(one);
    }
    (may_vary(one) && may_vary(other)).then_some(VARIES)
}

fn is_part_alike(one: &str, other: &str) -> bool {
    let is_alike = |(one, other): (&str, &str)| {
        let has_varying = one == VARIES || other == VARIES;
        one == other || (has_varying && may_vary(one) && may_vary(other))
    };
    one.split(' ').count() == other.split(' ').count()
        && one.split(' ').zip(other.split(' ')).all(is_alike)
}

fn may_vary(word: &str) -> bool {
    word == VARIES || is_name_in_form(word)
}

/// Whether a word of a form is a name with digits, with the folders of a path, or a long one.
pub(crate) fn is_name_in_form(word: &str) -> bool {
    word.len() > LONGEST_WORD || word.contains(|c: char| c.is_numeric() || c == '/')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_differ_vary() {
        let both = |one, other| united(one, other).unwrap_or_default();
        assert_eq!(both("q4_0 ppl VALUE", "q4_0 ppl VALUE"), "q4_0 ppl VALUE");
        assert_eq!(both("q4_0 v12 ppl VALUE", "q4_0 v13 ppl VALUE"), "q4_0 # ppl VALUE");
        assert_eq!(both("# ppl VALUE", "out/ref ppl VALUE"), "# ppl VALUE");
        let long = ["an-instruct-model-of-today VALUE", "an-instruct-model-of-before VALUE"];
        assert_eq!(both(long[0], long[1]), "# VALUE");
        assert_eq!(both("a VALUE; i1 VALUE; i2 VALUE", "a VALUE; i3 VALUE"), "# VALUE; a VALUE");
        for [one, other] in [
            ["ppl VALUE", "final VALUE"],
            ["q4_0 VALUE", "VALUE"],
            ["q4_0 VALUE", "final VALUE"],
            ["a VALUE; b VALUE", "a VALUE"],
        ] {
            assert_eq!([united(one, other), united(other, one)], [None, None], "{one}, {other}");
        }
    }

    #[test]
    fn other_names_are_other_places_unless_names_vary_there() {
        for (one, other, wanted) in [
            ("q4_0 VALUE", "q4_0 VALUE", true),
            ("q4_0 VALUE", "q8_0 VALUE", false),
            ("# VALUE", "q8_0 VALUE", true),
            ("# VALUE", "final VALUE", false),
            ("# VALUE", "# # VALUE", false),
            ("# VALUE", "i1 VALUE; i2 VALUE", true),
            ("wiki2 VALUE", "c4 VALUE; wiki2 VALUE", false),
        ] {
            let alike = [are_alike(one, other), are_alike(other, one)];
            assert_eq!(alike, [wanted; 2], "{one}, {other}");
        }
    }

    #[test]
    fn a_form_without_names_keeps_its_other_words() {
        assert_eq!(without_names("q4_0 ppl VALUE; q8_0 ppl VALUE"), "# ppl VALUE");
        assert_eq!(without_names("out/ref final VALUE"), "# final VALUE");
    }
}
