//! Names that users choose: of inputs, axes, measures and steps.

/// The message for a name that is refused.
pub(super) const NOT_A_WORD: &str = "a name is made of letters, digits, `_` and `-`.";

/// Whether a text may be a part of a metric's name or of a placeholder.
pub(super) fn is_word(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-')
}
