//! The failed attempts of one build, and whether another attempt follows.

use crate::evaluation::{Ended, Failure, Fault, Phase};
use crate::store::AttemptsCost;

/// Most attempts of one build.
const MOST_ATTEMPTS: usize = 3;

/// The failed attempts of one build so far.
#[derive(Debug, Default)]
pub(super) struct FailedAttempts {
    failures: Vec<(Failure, Fault)>,
    wall_s: f64,
}

impl FailedAttempts {
    /// Adds an attempt that took so many seconds. Its log is not kept.
    pub(super) fn add(&mut self, failure: Failure, fault: Fault, wall_s: f64) {
        self.wall_s += wall_s;
        self.failures.push((failure, fault));
    }

    /// Whether the build is tried again after this failure. It is not if the same failure was seen
    /// before, or if the machine is or may be at fault. A control and a part of a change are tried
    /// again only after a lack of resources: the caller repeats a control, and no commit is judged
    /// by a part of a change.
    pub(super) fn is_tried_again(&self, phase: Phase, failure: &Failure, fault: Fault) -> bool {
        let is_possible = match fault {
            Fault::Resource => true,
            Fault::Commit => !matches!(phase, Phase::Control | Phase::Localize),
            Fault::Machine | Fault::Unclear => false,
        };
        let is_seen_again =
            self.failures.iter().any(|seen| is_same((&seen.0, seen.1), (failure, fault)));
        is_possible && !is_seen_again && self.failures.len() + 1 < MOST_ATTEMPTS
    }

    /// What these attempts cost; `None` without one.
    pub(super) fn cost(&self) -> Option<AttemptsCost> {
        let count = self.failures.len();
        (count > 0).then_some(AttemptsCost { count, wall_s: self.wall_s })
    }

    /// The failures, oldest first.
    pub(super) fn into_failures(self) -> Vec<Failure> {
        self.failures.into_iter().map(|(failure, _)| failure).collect()
    }
}

/// Whether two attempts show the same failure. Two time-outs do, and so do two failures for lack of
/// a resource. Two failures whose output gives no reason count as the same: their last lines come
/// from parallel jobs and differ by chance.
fn is_same(one: (&Failure, Fault), other: (&Failure, Fault)) -> bool {
    let both = |holds: fn(&Failure) -> bool| holds(one.0) && holds(other.0);
    let are_starved = [one.1, other.1].iter().all(|fault| *fault == Fault::Resource);
    are_starved
        || one.0.is_same_failure(other.0)
        || both(|failure| failure.ended() == Some(&Ended::TimedOut))
        || both(|failure| failure.ended() != Some(&Ended::TimedOut) && !failure.is_telling())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::{Evidence, FailureKind, FailureMessage, FailureReason};

    fn ended(ended: &Ended) -> Failure {
        Failure::new(FailureKind::Build, Evidence::of(ended), "")
    }

    /// A compiler's complaint.
    fn complaint(line: &str) -> Failure {
        let said = FailureMessage::Diagnostics(vec![line.to_owned()]);
        ended(&Ended::Exited(2)).heard(FailureReason { said, shown: String::new() })
    }

    /// Whether a build that fails so, one attempt after the other, is tried again each time.
    fn tries(phase: Phase, failures: &[(Failure, Fault)]) -> Vec<bool> {
        let mut seen = FailedAttempts::default();
        let of = |(failure, fault): &(Failure, Fault)| {
            let again = seen.is_tried_again(phase, failure, *fault);
            seen.add(failure.clone(), *fault, 1.0);
            again
        };
        failures.iter().map(of).collect()
    }

    #[test]
    fn the_same_failure_twice_counts() {
        let [a, b] = ["a.c: error: x", "b.c: error: y"].map(complaint);
        let [a, b] = [(a, Fault::Commit), (b, Fault::Commit)];
        assert_eq!(tries(Phase::Search, &[a.clone(), a.clone()]), [true, false]);
        assert_eq!(tries(Phase::Search, &[a.clone(), b.clone(), b.clone()]), [true, true, false]);
        let c = (complaint("c.c: error: z"), Fault::Commit);
        assert_eq!(tries(Phase::Search, &[a.clone(), b, c]), [true, true, false], "at most three");
        for phase in [Phase::Control, Phase::Localize] {
            assert_eq!(tries(phase, std::slice::from_ref(&a)), [false], "{phase}");
        }
    }

    #[test]
    fn without_a_reason_in_the_output_failures_are_alike() {
        let silent = |line: &str| {
            let said = FailureMessage::Reached(line.to_owned());
            let failure = ended(&Ended::Exited(2));
            (failure.heard(FailureReason { said, shown: String::new() }), Fault::Commit)
        };
        assert_eq!(tries(Phase::Search, &[silent("cc a.c"), silent("cc b.c")]), [true, false]);
        let late = (ended(&Ended::TimedOut), Fault::Commit);
        assert_eq!(tries(Phase::Search, &[late.clone(), late.clone()]), [true, false]);
        assert_eq!(tries(Phase::Search, &[silent("cc a.c"), late]), [true, true]);
    }

    #[test]
    fn two_attempts_without_memory_are_enough() {
        let starved = |line: &str| (complaint(line), Fault::Resource);
        assert_eq!(tries(Phase::Control, &[starved("a.c"), starved("b.c")]), [true, false]);
        let machine = (complaint("a.c"), Fault::Machine);
        assert_eq!(tries(Phase::Search, &[machine]), [false]);
    }
}
