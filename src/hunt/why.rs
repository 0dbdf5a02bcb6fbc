//! Why a hunt has only candidates.

use std::fmt;

/// Why the hunt cannot decide between candidates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum CandidatesReason {
    /// Only the newest of the candidates can be tested.
    Untestable,
    /// Some of the candidates cannot be tested. The others are commits of a branch that a merge
    /// among these brings in, and that may have made the step.
    UntestableOrMerged,
    /// The ruler changed at the commit or before it. The candidates are all commits whose step a
    /// ruler may hide. `why` says what runs with the other ruler show; `next` is a hunt with one
    /// ruler, if such a hunt would decide.
    RulerChanged { why: String, next: Option<String> },
    /// The recipe changes at the commit, and the recipes do not both show the step. The candidates
    /// are all commits that may have made it. The text says what the recipes show.
    RecipeChanged(String),
    /// Any other reason, in words.
    Other(String),
}

impl CandidatesReason {
    /// What the user can try next because of this reason.
    pub(crate) fn next(&self) -> Option<&String> {
        match self {
            Self::RulerChanged { next, .. } => next.as_ref(),
            _ => None,
        }
    }
}

impl fmt::Display for CandidatesReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Untestable => "only the newest of them can be tested",
            Self::UntestableOrMerged => {
                "some of them cannot be tested, and a merge among these brings in a branch that \
                 may have made the step"
            }
            Self::RulerChanged { why, .. } | Self::RecipeChanged(why) | Self::Other(why) => why,
        })
    }
}

impl From<String> for CandidatesReason {
    fn from(text: String) -> Self {
        Self::Other(text)
    }
}

impl From<&str> for CandidatesReason {
    fn from(text: &str) -> Self {
        Self::Other(text.to_owned())
    }
}
