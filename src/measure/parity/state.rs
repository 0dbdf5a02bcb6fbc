//! The result of a check.

/// The result of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum State {
    Passed,
    Failed,
    Skipped,
}

impl State {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
        }
    }

    /// The result that a word such as `PASS`, `ok` or `ignored` says.
    pub(super) fn of(word: &str) -> Self {
        match word.as_bytes()[0].to_ascii_uppercase() {
            b'P' | b'O' => Self::Passed,
            b'S' | b'I' => Self::Skipped,
            _ => Self::Failed,
        }
    }
}
