//! Whether the runs of an endpoint read a pointer of Git LFS in place of a file of the commit.
//! Pure: the oracle tells which pointers matter.

use crate::evaluation::{Finding, Outcome};
use crate::oracle::Observation;

const CURE: &str = "set `lfs = true` under [worktree] in oracle.toml and start a new hunt: then the \
                    hunt's checkouts have the files (`git lfs fetch --all` fetches those that are \
                    not here). If it is set, `git lfs install` is missing";

/// The finding that the runs of an endpoint read a pointer, so that its result says nothing about
/// the commit.
pub(super) fn read_pointer(good: &Observation, bad: &Observation) -> Option<Finding> {
    let (end, path) = [("good", good), ("bad", bad)].into_iter().find_map(|(end, seen)| {
        let evidence = seen.build_failure.as_ref()?.evidence.as_ref()?;
        Some((end, evidence.pointer.as_ref()?))
    })?;
    let summary = format!(
        "the runs of the {end} endpoint read {path}, which is a pointer of Git LFS in the hunt's \
         checkouts: what they show is not what the commit does"
    );
    let next = vec![CURE.to_owned()];
    Some(Finding { next, ..Finding::plain(Outcome::EndpointUnmeasurable, summary) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::{Evidence, Failure, FailureKind};
    use crate::oracle::fixture::at;

    #[test]
    fn the_end_with_the_pointer_is_told() {
        let [good, mut bad] = [at('1', &[7.0]), at('2', &[])];
        assert_eq!(read_pointer(&good, &bad), None);
        bad.build_failure = Some(Failure::plain(FailureKind::Checkout, "two names in one"));
        assert_eq!(read_pointer(&good, &bad), None, "another failure");
        let evidence = Evidence { pointer: Some("v/table.bin".to_owned()), ..Evidence::default() };
        bad.build_failure = Some(Failure::new(FailureKind::Checkout, evidence, "a pointer"));
        let finding = read_pointer(&good, &bad).unwrap();
        assert!(finding.summary.starts_with("the runs of the bad endpoint read v/table.bin,"));
        assert_eq!(finding.outcome, Outcome::EndpointUnmeasurable);
        assert!(finding.next[0].contains("`lfs = true`"));
    }
}
