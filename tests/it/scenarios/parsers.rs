//! Parsers of what programs other than llama-perplexity print.

use super::{Row, hunt};
use crate::kit::{Plan, line};

/// The measure `speed`, and a guard on its generation alone.
fn bench(plan: Plan, guard: &str) -> Row {
    let guard = guard.to_owned();
    hunt(plan).oracle(move |oracle| {
        oracle.only_guard(&guard).measure("speed", "bench", "parser = \"llama-bench\"")
    })
}

const SLOWER: &str = "metric = \"speed.tg128\"\nmax_decrease_percent = 10";

#[test]
fn a_speed_of_llama_bench_is_hunted_by_the_name_it_prints() {
    let plan = line("g g g g").with_all("tg = 40").with(2, "tg = 30").with(3, "tg = 30");
    let told = bench(plan, SLOWER).finds("2").costs(12, 6);
    let effect = &told.hunt.report["culprit"]["effect"];
    assert_eq!(effect["metric"], "speed.tg128");
    // The middle of the repetitions, not their mean.
    assert_eq!((effect["parent"].as_f64(), effect["commit"].as_f64()), (Some(40.0), Some(30.0)));
}

#[test]
fn a_metric_that_the_good_end_does_not_yield_is_told_with_those_it_does() {
    let plan = line("g g g g").with_all("tg = 40").with(3, "tg = 30");
    let guard = SLOWER.replace("tg128", "tg64");
    let says =
        ["speed.tg64 is not among what the good endpoint's runs yielded: speed.peak_rss_mib, \
         speed.pp512, speed.tg128, speed.wall_s. Correct the guard"];
    bench(plan, &guard).saying(&says).cannot_be_measured().costs(2, 1);
}

#[test]
fn a_commit_that_measures_something_else_is_not_judged() {
    let plan = line("g g g g g g").with_all("tg = 40");
    let plan = plan.with(2, "tests = pp512").with(4, "tg = 30").with(5, "tg = 30");
    let told = bench(plan, SLOWER).finds("4").costs(13, 7);
    let commit = told.commit("2");
    assert_eq!(commit["skip"], "unreadable");
}
