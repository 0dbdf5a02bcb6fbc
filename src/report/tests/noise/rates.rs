//! A metric that is bad, or another one, in some runs of a commit: its failure rate in words.

use crate::evaluation::{Basis, Effect, GuardForm, Noise, NoiseKind, Value};
use crate::report::tests::markdown;
use crate::report::{Logs, html};
use crate::store::journal::SearchMethod;

use super::{NOISE, begun, confirmed, first, target, weighed};

const RATES: Noise =
    Noise { kind: NoiseKind::Breaks, good: 0.04, bad: 0.71, sd: 0.0, runs: 12, ..NOISE };

#[test]
fn a_number_beyond_its_tolerance_is_bad_in_some_runs() {
    let target = target(GuardForm::MaxIncrease(0.05), RATES);
    let mut hunt = begun(&target, SearchMethod::Posterior);
    weighed(&mut hunt, RATES, &[('c', 0.03, 0.03, 9), ('d', 0.97, 1.0, 7)], "d");
    confirmed(&mut hunt, first(Basis::Posterior));
    let page = markdown(&hunt.report());
    let said = "ppl is bad in 0 of 12 runs at the good end and in 9 of 12 at the bad end.";
    assert!(page.contains(said), "{page}");
}

#[test]
fn what_fails_more_often_is_told_in_runs() {
    let target = target(GuardForm::Unchanged, RATES);
    let mut hunt = begun(&target, SearchMethod::Posterior);
    weighed(&mut hunt, RATES, &[('c', 0.03, 0.03, 9), ('d', 0.97, 1.0, 7)], "d");
    let mut first = first(Basis::Posterior);
    let fails = |count: usize| Value::Fact(format!("fails in {count} of 8 runs"));
    first.effects[0] = Effect {
        parent: fails(0),
        commit: fails(6),
        own_step: None,
        interval: None,
        limit: 0.0,
        ..first.effects[0].clone()
    };
    confirmed(&mut hunt, first);
    let report = hunt.report();
    let page = markdown(&report);
    for said in [
        "ppl fails in 0 of 12 runs at the good end and in 9 of 12 at the bad end.",
        "- Own step: ppl: fails in 0 of 8 runs → fails in 6 of 8 runs\n",
        "| ppl | fails in 0 of 8 runs | fails in 6 of 8 runs | fails more often |  | 0 |",
    ] {
        assert!(page.contains(said), "no {said} in {page}");
    }
    let page = html(&report, &Logs::beside(&report));
    assert!(!page.contains("though it must not") && !page.contains("a dash is"), "{page}");
}
