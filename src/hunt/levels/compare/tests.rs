//! Which differences count on each level.

use serde_json::json;

use super::*;

fn reading(values: &[(&str, f64)]) -> Reading {
    let value = |(name, x): &(&str, f64)| (Metric::named("m", name), Value::Number(*x));
    Reading { values: values.iter().map(value).collect(), ..Reading::default() }
}

fn shown(
    of: &Parser,
    parents: &[Reading],
    commit: &Reading,
    allowed: LevelTolerance,
) -> (LevelShows, Option<String>) {
    let parents: Vec<&Reading> = parents.iter().collect();
    let check = compare("m", of, &parents, commit, allowed);
    (check.shows, check.metric.and_then(|metric| metric.name))
}

fn json() -> Parser {
    Parser::Json { pointers: std::collections::BTreeMap::new() }
}

#[test]
fn a_number_may_differ_by_the_tolerance_or_by_four_times_the_noise() {
    let of = LevelTolerance::Of(1e-3);
    let parent = [reading(&[("a", 1.0), ("b", 5.0)])];
    let fails = shown(&json(), &parent, &reading(&[("a", 1.002), ("b", 5.0)]), of);
    assert_eq!(fails, (LevelShows::Fails, Some("a".to_owned())));
    let passes = shown(&json(), &parent, &reading(&[("a", 1.0009), ("b", 5.0)]), of);
    assert_eq!(passes.0, LevelShows::Passes);
    let noisy = [reading(&[("a", 1.0)]), reading(&[("a", 1.001)])];
    assert_eq!(shown(&json(), &noisy, &reading(&[("a", 1.0039)]), of).0, LevelShows::Passes);
    assert_eq!(shown(&json(), &noisy, &reading(&[("a", 1.0041)]), of).0, LevelShows::Fails);
    // A tolerance of zero.
    let exact = LevelTolerance::Of(0.0);
    assert_eq!(shown(&json(), &parent, &parent[0].clone(), exact).0, LevelShows::Passes);
    let other = reading(&[("a", 1.0 + 1e-12), ("b", 5.0)]);
    assert_eq!(shown(&json(), &parent, &other, exact).0, LevelShows::Fails);
}

#[test]
fn checks_fail_if_more_of_them_fail_or_a_distance_grows() {
    let kernel = LevelTolerance::Of(1e-5);
    let shown = |before: &[(&str, f64)], after: &[(&str, f64)]| {
        shown(&Parser::Parity, &[reading(before)], &reading(after), kernel)
    };
    let before = [("failed", 0.0), ("passed", 3.0), ("q", 1e-6), ("max_diff", 1e-6)];
    assert_eq!(shown(&before, &before).0, LevelShows::Passes);
    let failed = [("failed", 1.0), ("passed", 2.0), ("q", 1e-6), ("max_diff", 1e-6)];
    assert_eq!(shown(&before, &failed), (LevelShows::Fails, Some("failed".to_owned())));
    let farther = [("failed", 0.0), ("passed", 3.0), ("q", 0.5), ("max_diff", 1e-6)];
    assert_eq!(shown(&before, &farther), (LevelShows::Fails, Some("q".to_owned())));
    // As far from the reference as the parent.
    let far = [("failed", 0.0), ("q", 0.5)];
    assert_eq!(shown(&far, &far).0, LevelShows::Passes);
    // Above the tolerance, and worse by more than that.
    assert_eq!(shown(&[("q", 0.0)], &[("q", 1.5e-5)]).0, LevelShows::Fails);
    assert_eq!(shown(&[("q", 0.9e-5)], &[("q", 1.5e-5)]).0, LevelShows::Passes);
    // A check that failed before, or did not run, says nothing.
    assert_eq!(shown(&[("failed", 1.0)], &[("failed", 1.0)]).0, LevelShows::Unknown);
    assert_eq!(shown(&[("failed", 1.0)], &[("failed", 0.0)]).0, LevelShows::Unknown);
    assert_eq!(shown(&before, &[("failed", 0.0)]).0, LevelShows::Unknown);
}

#[test]
fn losses_and_weights_have_tolerances_of_their_own() {
    let of = LevelTolerance::Training { loss: 0.01, weights: 1e-3 };
    let parent = [reading(&[("loss", 2.0), ("weights", 0.5)])];
    let at = |loss, weights| {
        shown(&json(), &parent, &reading(&[("loss", loss), ("weights", weights)]), of)
    };
    assert_eq!(at(2.009, 0.5).0, LevelShows::Passes);
    assert_eq!(at(2.02, 0.5), (LevelShows::Fails, Some("loss".to_owned())));
    assert_eq!(at(2.0, 0.502), (LevelShows::Fails, Some("weights".to_owned())));
}

#[test]
fn a_long_training_must_fall_alike() {
    let curve = |speed: f64| Reading {
        chunks: (0..200).map(|step| 4.0 * (-speed * f64::from(step) / 200.0).exp()).collect(),
        ..Reading::default()
    };
    let at =
        |commit: &Reading| shown(&Parser::Parity, &[curve(2.0)], commit, LevelTolerance::Trend).0;
    assert_eq!(at(&curve(1.5)), LevelShows::Passes);
    assert_eq!(at(&curve(0.3)), LevelShows::Fails);
    assert_eq!(at(&curve(-0.5)), LevelShows::Fails);
    assert_eq!(at(&Reading::default()), LevelShows::Unknown);
    let why = |parent: &Reading, commit: &Reading| {
        let allowed = LevelTolerance::Trend;
        compare("train", &Parser::Parity, &[parent, parent], commit, allowed).reason.unwrap()
    };
    let expected = "rank correlation of the losses -1.000; the parent's fall by 3.453, the \
                    commit's rise by 2.578";
    assert_eq!(why(&curve(2.0), &curve(-0.5)), expected);
    let none = Reading::default();
    assert_eq!(why(&none, &curve(2.0)), "its output has no loss for each step");
    assert_eq!(why(&curve(2.0), &none), "its output has no loss for each step");
}

#[test]
fn the_first_tensor_beyond_the_tolerance_counts() {
    let tensor = |name: &str, max_abs: f64, noise: f64| {
        json!({
            "name": name, "shape": [2, 4], "verdict": "beyond", "level": "layer",
            "tolerance": 1e-4, "noise": noise, "max_abs": max_abs, "non_finite": [0, 0],
        })
    };
    let change = |tensors: &[serde_json::Value], missing: &[&str]| -> TensorChange {
        let change = json!({
            "measure": "dump", "parent": "a".repeat(40), "commit": "b".repeat(40), "runs": [],
            "order": "listed", "printed_only": false, "compared": tensors.len(), "beyond": 0,
            "tensors": tensors, "inputs": [], "unmatched": [missing, []], "reordered": [],
            "axis": "layer", "growth": [], "patterns": [],
        });
        serde_json::from_value(change).unwrap()
    };
    let shown = |dumped: &[serde_json::Value], missing: &[&str], allowed| {
        let check = tensors(&change(dumped, missing), allowed);
        (check.shows, check.reason.filter(|_| check.metric.is_some()))
    };
    let layer = LevelTolerance::Of(1e-4);
    let noisy = [tensor("a", 3.9e-3, 1e-3), tensor("b", 0.02, 0.0), tensor("c", 9.0, 0.0)];
    let b = Some("b".to_owned());
    assert_eq!(shown(&noisy, &[], layer), (LevelShows::Fails, b));
    assert_eq!(shown(&noisy[..1], &[], layer).0, LevelShows::Passes);
    assert_eq!(shown(&noisy, &[], LevelTolerance::Of(10.0)).0, LevelShows::Passes);
    // A missing tensor did not pass.
    assert_eq!(shown(&noisy[..1], &["d"], layer), (LevelShows::Unknown, None));
    assert_eq!(shown(&noisy, &["d"], layer).0, LevelShows::Fails);
    assert_eq!(shown(&[], &[], layer).0, LevelShows::Unknown);
    assert_eq!(shown(&noisy, &[], LevelTolerance::Trend).0, LevelShows::Unknown);
}
