//! Parses numbers as engines print them with any C library.

/// Reads a number: decimal or scientific, with an optional sign; NaN and infinities as in C (`nan`,
/// `-nan(ind)`, `inf`), C++ on Windows (`1.#QNAN`), Rust and Python. Thousands separators and units
/// are not accepted, since `1,234` may be two numbers.
///
/// A NaN loses its sign and payload, so that one NaN equals another bit for bit.
pub(crate) fn parse_number(text: &str) -> Option<f64> {
    let text = text.trim();
    if let Ok(number) = text.parse::<f64>() {
        return Some(if number.is_nan() { f64::NAN } else { number });
    }
    let (sign, bare) = match text.strip_prefix('-') {
        Some(rest) => (-1.0, rest),
        None => (1.0, text.strip_prefix('+').unwrap_or(text)),
    };
    let bare = bare.to_ascii_lowercase();
    if bare.starts_with("nan(") && bare.ends_with(')') {
        return Some(f64::NAN);
    }
    // `%.4f` of Visual C++ before 2015: 1.#INF00, 1.#QNAN, 1.#IND; rounded to 1.#J, 1.#R, 1.#IO.
    match bare.strip_prefix("1.#")? {
        what if what.starts_with("inf") || what.starts_with('j') => Some(sign * f64::INFINITY),
        _ => Some(f64::NAN),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn plain_and_scientific_numbers() {
        for (text, number) in
            [("17.0805", 17.0805), ("1e-5", 1e-5), ("+3", 3.0), (" -2.5E3 ", -2500.0), ("7", 7.0)]
        {
            assert_eq!(parse_number(text), Some(number), "{text}");
        }
        assert_eq!(parse_number("inf"), Some(f64::INFINITY));
        assert_eq!(parse_number("-Infinity"), Some(f64::NEG_INFINITY));
        assert_eq!(parse_number("-1.#INF00"), Some(f64::NEG_INFINITY));
    }

    #[test]
    fn every_spelling_of_nan_is_the_same_nan() {
        for text in ["nan", "-nan", "NaN", "nan(ind)", "-nan(ind)", "1.#QNAN", "-1.#IND"] {
            let number = parse_number(text).expect(text);
            assert_eq!(number.to_bits(), f64::NAN.to_bits(), "{text}");
        }
    }

    #[test]
    fn what_is_not_a_number() {
        for text in ["", "1,234", "12ms", "0x10", "1_000", "n/a", "--3", "nan("] {
            assert_eq!(parse_number(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn what_is_printed_is_read_back(number in proptest::num::f64::NORMAL) {
            prop_assert_eq!(parse_number(&format!("{number}")), Some(number));
            prop_assert_eq!(parse_number(&format!("{number:e}")), Some(number));
        }
    }
}
