//! What a hunt looks for: the commit that broke something, or the commit that fixed it.

use serde::{Deserialize, Serialize};

use super::Verdict;

/// What a hunt looks for. Good, bad and the baseline (the good endpoint's level) mean the same for
/// both aims. Only the order of the endpoints differs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Aim {
    /// The first bad commit: the older endpoint is good, the newer one bad.
    #[default]
    Regression,
    /// The first good commit: the older endpoint is bad ("broken"), the newer one good ("fixed").
    Fix,
}

impl Aim {
    /// Turns [good, bad] into [older, newer], and [older, newer] into [good, bad].
    pub(crate) fn swap_if_fix<T>(self, [a, b]: [T; 2]) -> [T; 2] {
        match self {
            Self::Regression => [a, b],
            Self::Fix => [b, a],
        }
    }

    /// The opposite aim.
    #[must_use]
    pub(crate) fn opposite(self) -> Self {
        match self {
            Self::Regression => Self::Fix,
            Self::Fix => Self::Regression,
        }
    }

    /// The verdict of the older endpoint and of every parent of the first bad or fixed commit.
    pub(crate) fn older(self) -> Verdict {
        self.swap_if_fix([Verdict::Good, Verdict::Bad])[0]
    }

    /// The verdict of the newer endpoint and of the first bad or fixed commit.
    pub(crate) fn newer(self) -> Verdict {
        self.swap_if_fix([Verdict::Good, Verdict::Bad])[1]
    }

    /// The name of the wanted commit, for people.
    pub(crate) fn sought(self) -> &'static str {
        match self {
            Self::Regression => "first bad commit",
            Self::Fix => "first fixed commit",
        }
    }

    /// Whether the aim is the default one.
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks it about a reference")]
    pub(crate) fn is_regression(&self) -> bool {
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
