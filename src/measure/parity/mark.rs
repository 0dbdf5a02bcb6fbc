//! Marks in place of words for a result: `✓ rope`, `rope: ✗ (3 ms)`.

use std::sync::LazyLock;

use regex::Regex;

use super::behind::BEHIND;
use super::runner::pattern;

const PASSED: &str = "✓✔✅☑";
const FAILED: &str = "✗✘❌✕✖☒";

/// A mark before the name of a check.
static FIRST: LazyLock<Regex> = LazyLock::new(|| {
    pattern(&format!(
        r"^(?:[-*•]\s+)?[\[(]?\s*([{PASSED}{FAILED}])\u{{FE0F}}?\s*[\])]?[\s:]*([^\s=:].*)$"
    ))
});
/// A mark behind the name of a check.
static LAST: LazyLock<Regex> = LazyLock::new(|| {
    pattern(&format!(
        r"^(.*?)[\s:.…|\[(]+([{PASSED}{FAILED}])\u{{FE0F}}?(?:\s*[\])|]+)?({})",
        *BEHIND
    ))
});
/// A word for the result beside a mark, at the end of the name.
static WORD: LazyLock<Regex> =
    LazyLock::new(|| pattern(r"(?i)[\s:.…–-]+(?:pass(?:ed)?|fail(?:ed)?|ok)[.!]?$"));
/// A count of results, which is no check.
static TOTAL: LazyLock<Regex> = LazyLock::new(|| {
    let words = "(?:pass|fail|skip)";
    let before = format!(r"\d\s+(?:tests?\s+)?{words}|\d\s+errors?\W*$");
    pattern(&format!(r"(?i){before}|\b{words}\w*\W+\d"))
});

/// The texts of a line with a mark at its beginning or its end: without the mark, and with `[PASS]`
/// or `[FAIL]` in its place. `None` for a line without such a mark, for a line with several marks,
/// such as a legend, and for a total.
pub(super) fn in_words(line: &str) -> Option<[String; 2]> {
    let is_mark = |c: char| PASSED.contains(c) || FAILED.contains(c);
    if line.chars().filter(|c| is_mark(*c)).count() != 1 || TOTAL.is_match(line) {
        return None;
    }
    let result = |mark: &str| if FAILED.contains(mark) { "[FAIL]" } else { "[PASS]" };
    if let Some(found) = FIRST.captures(line) {
        let name = WORD.replace(&found[2], "");
        return Some([found[2].to_owned(), format!("{} {name}", result(&found[1]))]);
    }
    let found = LAST.captures(line)?;
    let [name, mark, behind] = [1, 2, 3].map(|index| &found[index]);
    Some([format!("{name}{behind}"), format!("{name} {}{behind}", result(mark))])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_at_either_end_is_a_word() {
        for (line, words) in [
            ("✓ rope", "[PASS] rope"),
            ("✔\u{fe0f} rope (3 ms)", "[PASS] rope (3 ms)"),
            ("- [✗] rope: shapes differ", "[FAIL] rope: shapes differ"),
            ("❌ rope failed", "[FAIL] rope"),
            ("✅: rope - OK", "[PASS] rope"),
            ("✓ layer 3 error: 1e-5", "[PASS] layer 3 error: 1e-5"),
            ("rope ✘", "rope [FAIL]"),
            ("rope: ✗ (3 ms)", "rope [FAIL] (3 ms)"),
            ("rope ..... [✓] 0.01 sec", "rope [PASS] 0.01 sec"),
        ] {
            assert_eq!(in_words(line).map(|[_, words]| words).as_deref(), Some(words), "{line}");
        }
        for line in [
            "rope",
            "✓ = passed",
            "✓ passed, ✗ failed",
            "press ✓ to go on",
            "✗ 2 failed",
            "✅ 1 test passed",
            "❌ 3 errors",
            "❌ FAILED: 2",
            "✗",
        ] {
            assert_eq!(in_words(line), None, "{line}");
        }
    }
}
