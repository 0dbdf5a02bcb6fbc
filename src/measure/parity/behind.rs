//! What may stand behind the result of a check.

use std::sync::LazyLock;

/// A time, as in `FAILED 0.01 sec`, `failed after 3s` and `ok <0.001s>`.
pub(super) const TIME: &str =
    r"(?:(?:in|after)\s+)?[<\[]?\s*\d+(?:\.\d+)?\s*(?:[um]?s|secs?|seconds?|min)\s*[>\]]?";
/// What may stand behind a result at the end of a line: a remark in brackets, pytest's progress
/// (`[ 50%]`), or a time.
pub(super) static BEHIND: LazyLock<String> =
    LazyLock::new(|| format!(r"(?:\s*\([^)]*\)|\s*\[\s*\d+%\s*\]|\s+{TIME})?$"));
