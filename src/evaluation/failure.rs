//! How a build or a run can fail, and whose fault that is.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::Value;

/// What went wrong, as far as the outcome alone tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FailureKind {
    /// A build command failed.
    Build,
    /// A patch of the configuration does not apply, so there is nothing to build.
    Patch,
    /// Its files cannot lie where commits are checked out.
    #[serde(alias = "folded-case")]
    Checkout,
    /// A `[[prepare]]` that the measure needs failed.
    Prepare,
    /// The engine died by a signal, or left with an exit code other than 0.
    Crash,
    /// The run outlived its time-out.
    Timeout,
    /// The engine printed NaN (or an infinity) where a number belongs.
    Nan,
    /// Exit code 0, and no value where the parser looks for one.
    Unreadable,
    /// Exit code 0, yet fewer chunks than announced or no final value.
    Incomplete,
    /// A `[[require]]` pattern did not show.
    Require,
}

impl FailureKind {
    /// Whether no command is started: the files to build cannot be had.
    pub fn leaves_nothing_to_build(self) -> bool {
        matches!(self, Self::Patch | Self::Checkout)
    }
}

impl fmt::Display for FailureKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Build => "does not build",
            Self::Patch => "does not take a patch",
            Self::Checkout => "cannot be checked out here",
            Self::Prepare => "cannot be prepared",
            Self::Crash => "crashes",
            Self::Timeout => "times out",
            Self::Nan => "prints NaN",
            Self::Unreadable => "prints no value",
            Self::Incomplete => "stops before its end",
            Self::Require => "does not show what is required",
        })
    }
}

/// A failed build or run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// What went wrong.
    pub kind: FailureKind,
    /// What tells this failure from others of its kind: `signal 11`, `exit code 3`, or empty.
    /// Two failures are alike when kind and signature are equal.
    pub signature: String,
    /// One sentence for people, with what to look at.
    pub detail: String,
}

impl Failure {
    /// A number that is none was printed at `place` (a metric, or `chunk 3`).
    pub fn not_finite(place: &str, number: f64) -> Self {
        Self {
            kind: FailureKind::Nan,
            signature: String::new(),
            detail: format!("{place} is {}", Value::Number(number)),
        }
    }

    /// What stood in a number's place, where that is the failure: NaN or an infinity.
    pub fn printed(&self) -> Option<Value> {
        let last = self.detail.rsplit(' ').next().filter(|_| self.kind == FailureKind::Nan)?;
        let number = last.parse::<f64>().ok().filter(|number| !number.is_finite())?;
        Some(Value::Number(number))
    }

    /// Whether two failures are the same trouble (DESIGN: "commits that fail alike are bad").
    pub fn alike(&self, other: &Self) -> bool {
        self.kind == other.kind && self.signature == other.signature
    }
}

/// Whose fault a failure is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fault {
    /// Plainly the commit's: SEGV, ABRT, BUS, ILL, FPE, SYS, NaN, a program it should have built.
    Commit,
    /// Plainly the world's: a tool outside the tree is missing, the disk is full.
    World,
    /// Not plain: the world's until the control (a run of the good endpoint's kept build)
    /// works; then the commit is skipped for want of a resource.
    Resource,
    /// Not plain: a control decides; if it works, the commit's.
    Unclear,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_printed_is_found_again() {
        for number in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let failure = Failure::not_finite("chunk 3", number);
            let printed = failure.printed().unwrap().number().unwrap();
            assert_eq!(printed.total_cmp(&number), std::cmp::Ordering::Equal);
        }
        let other = Failure { kind: FailureKind::Crash, ..Failure::not_finite("ppl", f64::NAN) };
        assert_eq!(other.printed(), None);
    }
}
