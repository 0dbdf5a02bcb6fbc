//! Hunts for the commit that mended something: the older end is bad, the newer good.

use super::hunt;
use crate::kit::{graph, line};

#[test]
#[ignore = "long: scripts/test --long"]
fn it_lies_in_the_middle() {
    let told = hunt(line("b b b b g g g g")).for_the_fix().finds("4").costs(15, 7);
    let report = &told.hunt.report;
    assert_eq!(report["options"]["aim"], "fix");
    let own = report["culprit"]["effect"]["own_step"].as_f64().unwrap();
    assert!((own - 0.5).abs() < 1e-9, "what got better is positive: {own}");
    assert_eq!([told.verdict("3"), told.verdict("4")], ["bad", "good"]);
    let said = &told.hunt.output.stdout;
    assert!(said.contains("First fixed commit: ") && said.contains("0.5 better"), "{said}");
    for format in ["report.md", "report.html", "reproduce.sh"] {
        let text = told.hunt.file(format);
        assert!(text.to_lowercase().contains("first fixed commit"), "{format}");
        assert!(!text.to_lowercase().contains("first bad commit"), "{format}");
    }
}

#[test]
fn the_newer_end_is_head_where_none_is_named() {
    let row = hunt(line("b b g"));
    row.write_oracle();
    let output = row.env.run(&["start", "--find-fix", "--bad", "v1"]).expect(0);
    assert!(output.stdout.contains("First fixed commit: "), "{output:?}");
}

#[test]
#[ignore = "long: scripts/test --long"]
fn it_is_the_first_after_bad_or_the_good_end() {
    hunt(line("b g g g g g")).for_the_fix().finds("1").costs(12, 6);
    hunt(line("b b b b b g")).for_the_fix().finds("5").costs(14, 6);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn what_was_mended_in_two_steps_is_accounted_for() {
    let told = hunt(line("8.5 8.5 7.5 7.5 7.5 7.0 7.0")).for_the_fix().finds("2 5").costs(22, 11);
    let report = &told.hunt.report;
    assert_eq!(told.label(&report["culprit"]["commit"]), "2", "the larger one");
    for (of, expected) in [("total", 1.5), ("explained", 1.5), ("rest", 0.0)] {
        let found = report["account"][of].as_f64().unwrap();
        assert!((found - expected).abs() < 1e-9, "{of}: {found}");
    }
}

#[test]
#[ignore = "long: scripts/test --long"]
fn it_came_with_a_side_branch() {
    let plan = graph(&[
        "a: b",
        "b < a: b",
        "c < b: b",
        "s1 < a: b",
        "s2 < s1: g",
        "s3 < s2: g",
        "m < c s3: g",
        "e < m: g",
    ]);
    let told = hunt(plan).between("e", "a").with(&["--find-fix"]).finds("s2").costs(13, 7);
    assert_eq!(told.label(&told.hunt.report["culprit"]["parent"]), "s1");
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_merge_itself_mends() {
    let plan = graph(&["a: 7.6", "b < a: 7.6", "s < a: 7.5", "m < b s: 7.0", "e < m: 7.0"]);
    let told = hunt(plan).between("e", "a").with(&["--find-fix"]).finds("m").costs(17, 8);
    assert_eq!(told.label(&told.hunt.report["culprit"]["parent"]), "s", "the nearest one");
}

#[test]
fn a_crash_that_went_away_is_hunted_as_one() {
    let mut plan = line("g g g g g g");
    for label in 0..3 {
        plan = plan.with(label, "fate = crash:11");
    }
    let told = hunt(plan).for_the_fix().finds("3").costs(16, 7);
    assert!(told.hunt.output.stdout.contains("Works where its parents fail: crashes"));
}

#[test]
fn commits_that_cannot_be_built_leave_candidates() {
    let plan = line("b b b g g g").with(2, "build_exit = 1").with(3, "build_exit = 1");
    hunt(plan)
        .for_the_fix()
        .leaves("2 3 4")
        .saying(&["first fixed commit is one of 3"])
        .costs(6, 9);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn nobody_is_praised_for_a_ramp() {
    let levels: Vec<String> =
        (0..=20).map(|i| format!("{:.3}", 7.6 - 0.03 * f64::from(i))).collect();
    let told = hunt(line(&levels.join(" "))).for_the_fix().blames_nobody_for("14 7 6 13 15");
    let told = told.costs(28, 14);
    assert_eq!(told.hunt.report["culprits"], serde_json::json!([]));
}

#[test]
fn what_was_broken_on_the_way_to_bad_was_not_mended_on_the_way_to_good() {
    let plan = graph(&["a: g", "b < a: b", "c < a: g", "d < c: g"]);
    let row = hunt(plan).between("d", "b").with(&["--find-fix"]).shows_no_regression();
    row.saying(&["introduced on the way to bad, not mended on the way to good"]).costs(9, 5);
}

#[test]
fn both_ends_beside_each_other_are_searched_from_where_they_parted() {
    let plan = graph(&["a: b", "b < a: b", "c < a: b", "d < c: g", "e < d: g"]);
    hunt(plan).between("e", "b").with(&["--find-fix"]).finds("d").costs(15, 7);
}

#[test]
fn ends_in_the_order_of_a_regression_are_refused() {
    let row = hunt(line("g g b")).with(&["--find-fix"]);
    row.gets_refused(&["bad (", "is a descendant of good (", "the good revision is the newer one"])
        .costs(0, 0);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn in_noise_it_is_found_by_either_search() {
    let levels = "7.6 7.6 7.6 7.6 7.6 7.6 7.0 7.0 7.0 7.0";
    let plan =
        |noise: &str| line(levels).with_all(&format!("noise = {noise}")).with_all("seed = 3");
    // Steps of ten and of three standard deviations.
    for (noise, basis) in [("0.06", "sequential"), ("0.2", "posterior")] {
        let (hunt, history) = hunt(plan(noise)).for_the_fix().hunted();
        assert_eq!(hunt.culprits(&history), ["6"], "{}", hunt.output.stderr);
        assert_eq!(hunt.report["culprit"]["basis"], basis);
        let own = hunt.report["culprit"]["effect"]["own_step"].as_f64().unwrap();
        assert!((own - 0.6).abs() < 0.3, "{own}");
        let p_bad = |label: &str| hunt.commit(&history, label)["p_bad"].as_f64();
        if basis == "posterior" {
            assert!(p_bad("5") > Some(0.95) && p_bad("6") < Some(0.05), "{:?}", hunt.report);
        }
    }
}

#[test]
fn a_speed_that_came_back_on_a_machine_that_drifts() {
    let plan = line("g g g g g g g g")
        .with_all("tg = 200.0")
        .with_all("noise = 0.02")
        .with_all("seed = 11")
        .with_all("drift = 0.06 30");
    let plan = (0..5).fold(plan, |plan, label| plan.with(label, "tg = 170.0"));
    let row = hunt(plan).for_the_fix().oracle(|oracle| {
        oracle
            .measure("speed", "speed", "parser = \"regex\"\npattern = 'decode: (?<tg>[0-9.]+)'")
            .only_guard("metric = \"speed.tg\"\nmax_decrease_percent = 5.0")
    });
    // What the hunt measures next depends on how long builds took, so the drift may leave it open.
    let (hunt, history) = row.hunted();
    let named = hunt.culprits(&history);
    assert!(named == ["5"] || hunt.output.code() == Some(3), "{named:?}: {}", hunt.output.stderr);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn repeats_that_became_alike_again() {
    let plan = line("g g g g g g").with_all("seed = 5");
    let plan = (0..4).fold(plan, |plan, label| plan.with(label, "noise = 0.001"));
    let row = hunt(plan).for_the_fix().with(&["--target-of", "ppl=spread"]);
    let (hunt, history) = row.hunted();
    assert_eq!(hunt.culprits(&history), ["4"], "{}", hunt.output.stderr);
}

#[test]
fn its_log_replays_in_git() {
    let told = hunt(line("b b b b g g g g")).for_the_fix().finds("4").costs(15, 7);
    let env = told.env();
    let log = env.run(&["log"]).stdout;
    assert!(log.contains("'--term-old=broken'"), "{log}");
    let file = env.path("hunt.log");
    std::fs::write(&file, &log).unwrap();
    env.git(&["bisect", "replay", file.to_str().unwrap()]);
    let said = env.git(&["bisect", "log"]);
    let name = told.row.history.commit("4");
    assert!(
        said.contains(&format!("# first 'fixed' commit: [{name}]"))
            || said.contains(&format!("# first fixed commit: [{name}]")),
        "{said}"
    );
}

#[test]
fn by_hand_git_is_told_in_its_own_terms() {
    let row = hunt(line("b b b b g g g g"));
    let (env, history) = (&row.env, &row.history);
    row.write_oracle();
    let ends = [history.commit("7"), history.commit("0")];
    env.git(&["bisect", "start", "--term-old=broken", "--term-new=fixed", ends[0], ends[1]]);
    let said =
        env.tool(&env.repo(), "git", &["bisect", "run", "bisect-ppl", "oracle"]).expect(0).stdout;
    assert!(
        said.contains(&format!("{} is the first fixed commit", history.commit("4")))
            || said.contains(&format!("{} is the first 'fixed' commit", history.commit("4"))),
        "{said}"
    );
}
