//! The exit codes of `oracle`, which are an API to `git bisect run`; known nowhere else.
//!
//! Git reads 0 as good, 125 as untestable, 1–124 and 126–127 as bad, and stops at 128 and
//! more with its state kept. So nothing that is not a verdict may ever end in 1–127.

use crate::evaluation::Verdict;

/// The commit is good.
pub const GOOD: u8 = 0;
/// The commit is bad.
pub const BAD: u8 = 1;
/// The commit cannot be tested.
pub const UNTESTABLE: u8 = 125;
/// No verdict: git stops and keeps its state.
pub const STOP: u8 = 128;
/// Wrong usage, `--help`, and a panic: git must stop at them too.
pub const USAGE: u8 = 129;

/// The code for a verdict.
pub fn code(verdict: Verdict) -> u8 {
    match verdict {
        Verdict::Good => GOOD,
        Verdict::Bad => BAD,
        Verdict::Skip => UNTESTABLE,
        Verdict::Unknown => STOP,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_verdict_is_read_as_one() {
        assert_eq!(code(Verdict::Good), 0);
        assert_eq!(code(Verdict::Bad), 1);
        assert_eq!(code(Verdict::Skip), 125);
        for stop in [code(Verdict::Unknown), STOP, USAGE] {
            assert!(stop >= 128);
        }
    }
}
