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

/// Whether a text is a whole number that an `f64` cannot hold exactly, such as most checksums of 20
/// digits. Another number may give the same `f64`.
pub(crate) fn is_rounded(text: &str) -> bool {
    let text = text.trim();
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    if !digits.bytes().all(|byte| byte.is_ascii_digit()) {
        return false;
    }
    let digits = digits.trim_start_matches('0');
    let is_other = |number: f64| number.is_finite() && format!("{number:.0}") != digits;
    digits.parse::<f64>().is_ok_and(is_other)
}

/// How many digits a printed number has behind its point; `None` for a number with an exponent.
pub(crate) fn decimals(text: &str) -> Option<usize> {
    let text = text.trim();
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    let are_digits = |part: &str| part.bytes().all(|byte| byte.is_ascii_digit());
    (are_digits(whole) && are_digits(fraction)).then_some(fraction.len())
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

    #[test]
    fn whole_numbers_with_too_many_digits_are_rounded() {
        for text in ["12345678901234567890", "-9007199254740993", " 012345678901234567891 "] {
            assert!(is_rounded(text), "{text}");
        }
        for text in ["9007199254740992", "-9007199254740994", "18446744073709551616", "0", "007"] {
            assert!(!is_rounded(text), "{text}");
        }
        // Only whole numbers name something.
        for text in ["", "-", "nan", "1e30", "0.12345678901234567890", "12345678901234567890.5"] {
            assert!(!is_rounded(text), "{text}");
        }
    }

    #[test]
    fn digits_behind_the_point_are_counted() {
        for (text, number) in [("7.0", 1), ("-0.250", 3), (" 7 ", 0), ("7.", 0), (".5", 1)] {
            assert_eq!(decimals(text), Some(number), "{text}");
        }
        for text in ["7.1e-5", "nan", "1.#INF"] {
            assert_eq!(decimals(text), None, "{text}");
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
