//! Tests of how a report states a tolerance.

use crate::evaluation::{Aim, Guard, GuardForm, GuardTarget, Metric, Target, Value};
use crate::report::tests::markdown;
use crate::report::{Logs, html, terminal_answer};
use crate::store::journal::{Event, SearchMethod};

use super::fixture::{Hunt, culprit, found};

/// A hunt whose guard allows 0.05: 5 % of a good end of 1.
fn in_percent() -> Hunt {
    let mut hunt = Hunt::begun("v1.0", "engine: release");
    let form = GuardForm::MaxIncreasePercent(5.0);
    let guard = Guard { metric: Metric::of("ppl"), form };
    let [good, bad] = [1.0, 7.54].map(Value::Number);
    hunt.append(Event::Targets {
        targets: vec![Target::Guard(GuardTarget::between(&guard, good, bad, None))],
        steadiness: SearchMethod::BitIdentical,
        others: Vec::new(),
    });
    hunt.end(found(culprit("kv: pad the cache", "src/kv_cache.c")));
    hunt
}

#[test]
fn a_percentage_is_said_with_the_level_that_it_counts_from() {
    let report = in_percent().report();
    let step = "ppl: 7.21 → 7.52, +4.3 %, 0.31 worse (tolerance 0.05, 5 % of good)";
    let rest = "0.31 explained, 0.02 left (tolerance 0.05, 5 % of good)";
    let told = terminal_answer(&report);
    assert!(told.contains(step) && told.contains(rest), "{told}");
    assert!(markdown(&report).contains(step), "{}", markdown(&report));
    let page = html(&report, &Logs::beside(&report));
    assert!(page.contains("own step 0.31 worse, tolerance 0.05, 5 % of good"), "{page}");
}

#[test]
fn a_tolerance_of_another_level_is_not_called_a_percentage_of_good() {
    let mut report = in_percent().report();
    for first in report.culprit.iter_mut().chain(&mut report.culprits) {
        for effect in first.effects.iter_mut().chain(&mut first.effect) {
            effect.limit = Value::Number(0.25);
        }
    }
    let told = terminal_answer(&report);
    assert!(told.contains("0.31 worse (tolerance 0.25)"), "{told}");
}

#[test]
fn a_step_of_a_fix_is_better_with_an_interval_too() {
    let mut report = super::noise::posterior().report();
    report.options.aim = Aim::Fix;
    let told = terminal_answer(&report);
    assert!(told.contains("0.33 better (95 % interval 0.18 to 0.47; tolerance 0.05)"), "{told}");
}
