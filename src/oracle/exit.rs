//! The exit codes of `oracle`, which are an API to `git bisect run`. Only this file defines them.
//!
//! Git reads 0 as old (good), 125 as untestable, 1–124 and 126–127 as new (bad). At 128 and more
//! git stops and keeps its state. So an exit without a verdict must never use 0–127.

use crate::evaluation::{Aim, Verdict};

/// The commit is like the older endpoint: good, or broken in a hunt for a fix.
pub(crate) const OLD: u8 = 0;
/// The commit is like the newer endpoint: bad, or fixed.
pub(crate) const NEW: u8 = 1;
/// The commit cannot be tested.
pub(crate) const UNTESTABLE: u8 = 125;
/// No verdict: git stops and keeps its state.
pub(crate) const STOP: u8 = 128;
/// Wrong usage, `--help`, and a panic: git must stop then too.
pub(crate) const USAGE: u8 = 129;

/// The code for a verdict.
pub(crate) fn code(verdict: Verdict, aim: Aim) -> u8 {
    match verdict {
        Verdict::Good | Verdict::Bad => {
            if verdict == aim.older() {
                OLD
            } else {
                NEW
            }
        }
        Verdict::Skip => UNTESTABLE,
        Verdict::Unknown => STOP,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_verdict_gives_a_code_below_128() {
        assert_eq!(code(Verdict::Good, Aim::Regression), 0);
        assert_eq!(code(Verdict::Bad, Aim::Regression), 1);
        // `git bisect run` reads 0 as the older side, whatever the sides are called.
        assert_eq!(code(Verdict::Bad, Aim::Fix), 0);
        assert_eq!(code(Verdict::Good, Aim::Fix), 1);
        for aim in [Aim::Regression, Aim::Fix] {
            assert_eq!(code(Verdict::Skip, aim), 125);
            for stop in [code(Verdict::Unknown, aim), STOP, USAGE] {
                assert!(stop >= 128);
            }
        }
    }
}
