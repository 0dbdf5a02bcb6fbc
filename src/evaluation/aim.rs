//! What a hunt is for: the commit that broke something, or the one that mended it.

use serde::{Deserialize, Serialize};

use super::Verdict;

/// What is hunted. Good and bad mean the same either way, and so does the baseline, which is
/// the good end's; what turns around is which of them is older.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Aim {
    /// The first bad commit: the older end is good, the newer bad.
    #[default]
    Regression,
    /// The first good commit: the older end is bad ("broken"), the newer good ("fixed").
    Fix,
}

impl Aim {
    /// [older, newer] of [good, bad], and [good, bad] of [older, newer].
    pub fn swap_if_fix<T>(self, [a, b]: [T; 2]) -> [T; 2] {
        match self {
            Self::Regression => [a, b],
            Self::Fix => [b, a],
        }
    }

    /// The other one.
    #[must_use]
    pub fn opposite(self) -> Self {
        match self {
            Self::Regression => Self::Fix,
            Self::Fix => Self::Regression,
        }
    }

    /// What is true of the older end and of every parent of the commit that is sought.
    pub fn older(self) -> Verdict {
        self.swap_if_fix([Verdict::Good, Verdict::Bad])[0]
    }

    /// What is true of the newer end and of the commit that is sought.
    pub fn newer(self) -> Verdict {
        self.swap_if_fix([Verdict::Good, Verdict::Bad])[1]
    }

    /// The commit that is sought.
    pub fn sought(self) -> &'static str {
        match self {
            Self::Regression => "first bad commit",
            Self::Fix => "first fixed commit",
        }
    }

    /// Whether this is the ordinary hunt.
    pub fn is_regression(&self) -> bool {
        *self == Self::Regression
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fix_turns_the_ends_around_and_back() {
        assert_eq!(Aim::Regression.swap_if_fix(["good", "bad"]), ["good", "bad"]);
        assert_eq!(Aim::Fix.swap_if_fix(["good", "bad"]), ["bad", "good"]);
        assert_eq!(Aim::Fix.swap_if_fix(Aim::Fix.swap_if_fix([1, 2])), [1, 2]);
        assert_eq!((Aim::Fix.older(), Aim::Fix.newer()), (Verdict::Bad, Verdict::Good));
        assert_eq!((Aim::default().older(), Aim::default().newer()), (Verdict::Good, Verdict::Bad));
    }
}
