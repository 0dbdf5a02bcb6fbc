//! More than one regression in a range, or none to blame.

use crate::kit::{Oracle, TestEnvironment, line};

#[test]
fn the_hunt_goes_on_until_the_account_is_closed() {
    let env = TestEnvironment::new();
    let history = line("7.0 7.0 7.5 7.5 7.5 8.5 8.5 8.5").build(&env);
    Oracle::new(&env).write(&env);
    let hunt = env.hunt().names(&history, 5);
    assert_eq!(hunt.culprits(&history), ["2", "5"], "in order of history");
    let account = &hunt.report["account"];
    for (of, expected) in [("total", 1.5), ("explained", 1.5), ("rest", 0.0)] {
        assert!((account[of].as_f64().unwrap() - expected).abs() < 1e-9, "{account}");
    }
    let steps: Vec<f64> = hunt.report["culprits"]
        .as_array()
        .unwrap()
        .iter()
        .map(|c| c["effect"]["own_step"].as_f64().unwrap())
        .collect();
    assert!((steps[0] - 0.5).abs() < 1e-9 && (steps[1] - 1.0).abs() < 1e-9, "{steps:?}");
}

#[test]
fn first_only_ends_at_the_first() {
    let env = TestEnvironment::new();
    let history = line("7.0 7.0 7.5 7.5 7.5 8.5 8.5 8.5").build(&env);
    Oracle::new(&env).write(&env);
    let hunt = env.start(&["--good", "v1", "--first-only"]).names(&history, 2);
    assert_eq!(hunt.culprits(&history), ["2"]);
    let rest = hunt.report["account"]["rest"].as_f64().unwrap();
    assert!((rest - 1.0).abs() < 1e-9, "what is left is not hidden");
}

#[test]
fn three_in_a_row_are_all_found() {
    let env = TestEnvironment::new();
    let history = line("7.0 7.5 8.0 8.5").build(&env);
    Oracle::new(&env).write(&env);
    let hunt = env.hunt().expect(0, "culprit");
    assert_eq!(hunt.culprits(&history), ["1", "2", "3"]);
}

#[test]
fn a_regression_healed_on_the_way_and_a_later_one_are_not_confused() {
    let env = TestEnvironment::new();
    let history = line("7.0 7.0 7.0 7.5 7.5 7.0 7.0 7.6 7.6").build(&env);
    Oracle::new(&env).write(&env);
    let hunt = env.hunt().expect(0, "culprit");
    // Either step is real; whichever is named broke the guard while its parent did not.
    let named = hunt.culprits(&history);
    assert!(named.iter().all(|label| label == "3" || label == "7"), "{named:?}");
}

#[test]
fn nobody_is_blamed_for_a_ramp() {
    let env = TestEnvironment::new();
    let levels: Vec<String> =
        (0..=20).map(|i| format!("{:.3}", 7.0 + 0.03 * f64::from(i))).collect();
    let history = line(&levels.join(" ")).build(&env);
    Oracle::new(&env).write(&env);
    let hunt = env.hunt().expect(3, "gradual");
    assert!(hunt.report["culprit"].is_null());
    assert_eq!(hunt.report["culprits"], serde_json::json!([]));
    // The crossing commit comes first: 7.2 is allowed, the seventh step is beyond.
    let crossing = hunt.report["candidates"][0].as_str().unwrap();
    assert_eq!(history.label(crossing), "7", "{:#}", hunt.report["candidates"]);
}

#[test]
fn another_guard_broken_and_healed_on_the_way_does_not_hijack_the_hunt() {
    let env = TestEnvironment::new();
    let history = line("g g g g g g b b")
        .with(2, "tg = 50")
        .with(3, "tg = 50")
        .with(4, "tg = 50")
        .build(&env);
    let speed = "parser = \"regex\"\npattern = 'decode: (?<tg>[0-9.]+) tokens'";
    Oracle::new(&env)
        .measure("speed", "speed", speed)
        .guard("metric = \"speed.tg\"\nmax_decrease_percent = 5.0")
        .write(&env);
    env.hunt().names(&history, 6);
}
