//! Commands as they ran, for people.

/// As it could be typed.
pub(super) fn typed(words: &[String]) -> String {
    // A NUL cannot be in an argument that was run.
    shlex::try_join(words.iter().map(String::as_str)).unwrap_or_else(|_| words.join(" "))
}
