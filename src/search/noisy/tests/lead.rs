//! The one claim after all commits had their maximum of runs.

use crate::search::belief::UntestableSpan;

use super::*;

/// A search in which commits 2 and 3 were run, and commit 3 with this share of the posterior.
fn search(graph: &Graph, scale: Option<Scale>) -> Noisy<'_> {
    let of = settings(8, 4.0, 6);
    let scale = scale.unwrap_or(of.scale);
    let mut search = Noisy::new(graph, Settings { scale, ..of });
    let samples = [(2, 0.0), (3, 4.0)].map(|(commit, x)| (MeasuredCommit::Commit(commit), x));
    search.samples.extend(samples);
    search
}

fn lead(commit: usize, mass: f64) -> UntestableSpan {
    UntestableSpan { commit, span: vec![commit], frontier: vec![commit - 1], mass }
}

#[test]
fn the_candidate_in_the_lead_is_claimed_once() {
    let graph = Graph::line(8);
    let stopped = Advice::Stop(EndReason::Exhausted);
    let mut levels = search(&graph, None);
    assert_eq!(levels.claim_lead(None), stopped);
    assert_eq!(levels.claim_lead(Some(lead(3, 0.4))), stopped);
    // A commit that never ran is run before it is claimed.
    let unmeasured = Advice::Measure(vec![MeasuredCommit::Commit(4)]);
    assert_eq!(levels.claim_lead(Some(lead(5, 0.6))), unmeasured);
    let claimed = levels.claim_lead(Some(lead(3, 0.6)));
    assert!(matches!(&claimed, Advice::Confirm(candidate) if candidate.span == [3]), "{claimed:?}");
    assert_eq!(levels.claim_lead(Some(lead(3, 0.6))), stopped);
    let rates = Rates { good: 0.1, bad: 0.9 };
    assert_eq!(search(&graph, Some(Scale::Rates(rates))).claim_lead(Some(lead(3, 0.6))), stopped);
}
