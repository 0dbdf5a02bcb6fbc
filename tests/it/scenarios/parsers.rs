//! Parsers for the output of programs other than llama-perplexity.

use super::{Row, hunt};
use crate::kit::{Plan, line};

/// The measure `speed`, with only this guard.
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
    let told = bench(plan, SLOWER).finds("2").costs(18, 6);
    let effect = &told.hunt.report["culprit"]["effect"];
    assert_eq!(effect["metric"], "speed.tg128");
    // The median of the repetitions, not their mean.
    assert_eq!((effect["parent"].as_f64(), effect["commit"].as_f64()), (Some(40.0), Some(30.0)));
}

#[test]
fn a_metric_that_the_good_end_does_not_yield_is_told_with_those_it_does() {
    let plan = line("g g g g").with_all("tg = 40").with(3, "tg = 30");
    let guard = SLOWER.replace("tg128", "tg64");
    let says =
        ["the good endpoint's runs did not yield speed.tg64 (they yielded: speed.peak_rss_mib, \
         speed.pp512, speed.tg128, speed.wall_s). Correct the guard"];
    bench(plan, &guard).saying(&says).cannot_be_measured().costs(2, 1);
}

#[test]
fn a_commit_that_measures_something_else_is_not_judged() {
    let plan = line("g g g g g g").with_all("tg = 40");
    let plan = plan.with(2, "tests = pp512").with(4, "tg = 30").with(5, "tg = 30");
    let told = bench(plan, SLOWER).finds("4").costs(21, 9);
    let commit = told.commit("2");
    assert_eq!(commit["skip"], "unreadable");
}

/// The measure `unit` with this guard; each run must have the same checks.
fn suite(plan: Plan, measure: &str, keys: &str, guard: &str) -> Row {
    let [measure, keys, guard] = [measure, keys, guard].map(str::to_owned);
    hunt(plan).oracle(move |oracle| {
        let require = "[[require]]\nmeasure = \"unit\"\nchecks = \"same-set\"";
        oracle.only_guard(&guard).measure("unit", &measure, &keys).section(require)
    })
}

const JUNIT: &str = "parser = \"junit\"\nfile = \"{out}/junit.xml\"";

#[test]
fn a_test_that_fails_is_hunted_by_the_report_in_its_file() {
    let plan = line("g g g g").with_all("checks = q k");
    let plan = plan.with(2, "checks = q:fail k").with(3, "checks = q:fail k");
    let told =
        suite(plan, "junit", JUNIT, "metric = \"unit.failures\"\nmax = 0").finds("2").costs(18, 6);
    assert_eq!(told.hunt.report["culprit"]["effect"]["commit"], 1.0);
    // The log has the report, so a reader can trace the value to its source.
    let sample = told.commit("2")["samples"].as_array().unwrap().iter();
    let log = sample.clone().find(|sample| sample["metric"] == "unit.failures").unwrap();
    let log = told.hunt.file(log["log"].as_str().unwrap());
    assert!(log.contains("\n1> tests are done\n") && log.contains("\n3> <testsuite>\n"), "{log}");
}

#[test]
fn a_run_without_its_report_is_untestable() {
    let plan = line("g g g g g g").with_all("checks = q k").with(2, "checks =");
    let plan = plan.with(4, "checks = q:fail k").with(5, "checks = q:fail k");
    let told =
        suite(plan, "junit", JUNIT, "metric = \"unit.failures\"\nmax = 0").finds("4").costs(21, 9);
    let commit = told.commit("2");
    assert_eq!(commit["skip"], "unreadable");
    assert!(
        commit["reason"]
            .as_str()
            .unwrap()
            .starts_with("there is nothing to read at {out}/junit.xml")
    );
}

#[test]
fn a_suite_that_is_skipped_is_not_good() {
    // Without `[[require]]` commit 3 would count as good, and 4 would be blamed.
    let broken = "checks = q:fail k:pass:1e-7";
    let plan = line("g g g g g g g").with_all("checks = q k:pass:1e-7");
    let plan = plan.with(2, broken).with(3, "checks = q:skip k:skip new");
    let plan = plan.with(4, broken).with(5, broken).with(6, broken);
    let told = suite(plan, "suite", "parser = \"parity\"", "metric = \"unit.failed\"\nmax = 0");
    let told = told.finds("2").costs(22, 10);
    let commit = told.commit("3");
    assert_eq!(commit["skip"], "other-checks");
    assert_eq!(
        commit["reason"],
        "unit ran other checks than the good end: 2 did not run (k, q), 1 ran in addition (new)"
    );
}

#[test]
fn endpoints_that_run_different_checks_cannot_be_compared() {
    let plan = line("g g g g").with_all("checks = q k").with(3, "checks = q:fail k:skip");
    let says = ["unit ran other checks there than at the good endpoint: 1 did not run (k)"];
    let guard = "metric = \"unit.failed\"\nmax = 0";
    let row = suite(plan, "suite", "parser = \"parity\"", guard).saying(&says);
    row.cannot_be_measured().costs(8, 2);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_distance_of_one_check_is_hunted_by_its_name() {
    let plan = line("g g g g").with_all("checks = q:pass:1e-7 k:pass:3e-7");
    let plan = plan.with(2, "checks = q:pass:2e-7 k:pass:3e-7");
    let plan = plan.with(3, "checks = q:pass:2e-7 k:pass:3e-7");
    let guard = "metric = \"unit.q\"\nunchanged = true";
    suite(plan, "suite", "parser = \"parity\"", guard).finds("2").costs(18, 6);
}

/// The measure `dump`, with a guard on one tensor.
fn tensors(plan: Plan) -> Row {
    let parser = "parser = \"llama-eval-callback\"\npattern = \"^(l_out|result)\"";
    let guard = "metric = \"dump.result_output\"\nmax_increase = 0.5";
    hunt(plan).oracle(move |oracle| oracle.only_guard(guard).measure("dump", "dump", parser))
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_tensor_that_drifts_is_hunted_and_a_sum_of_less_is_not_compared() {
    // Commit 3 adds up the shown values only, without the hidden 1. As a sum of all values it
    // would count as good.
    let broken = "tensors = l_out-0:1.5 result_output:3";
    let plan = line("g g g g g g g").with_all("tensors = l_out-0:1.5 result_output:2");
    let plan = plan.with(2, broken).with(3, &format!("{broken}\nsums = shown"));
    let plan = plan.with(4, broken).with(5, broken).with(6, broken);
    let told = tensors(plan).finds("2").costs(22, 10);
    let effect = &told.hunt.report["culprit"]["effect"];
    assert_eq!((effect["parent"].as_f64(), effect["commit"].as_f64()), (Some(3.0), Some(4.0)));
    let commit = told.commit("3");
    assert_eq!(commit["skip"], "unreadable");
    assert_eq!(commit["reason"], "dump.result_output was not printed by the run");
}

#[test]
#[ignore = "long: scripts/test --long"]
fn the_first_tensor_that_is_nan_is_named() {
    let plan = line("g g g g").with_all("tensors = l_out-0:1.5 result_output:2");
    let plan = plan.with(2, "tensors = attn-0:nan l_out-0:1.5 result_output:2");
    let plan = plan.with(3, "tensors = attn-0:nan l_out-0:1.5 result_output:2");
    let told = tensors(plan).finds("2").costs(18, 6);
    let failure = &told.hunt.report["target_failure"]["failure"];
    assert_eq!(failure["detail"], "the sum of tensor `attn-0` is nan");
}
