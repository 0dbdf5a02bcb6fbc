//! Commits that change the ruler: does the step come with the engine or with the ruler?

use super::{Row, hunt};
use crate::kit::{Hunt, Plan, line};

/// The bench sets values of the engine through this file.
const BENCH: &str = "kernels/bench.conf";

fn ruled(plan: Plan) -> Row {
    hunt(plan).oracle(|oracle| oracle.section("[ruler]\npaths = [\"kernels/**\"]"))
}

#[test]
fn a_step_that_goes_with_the_ruler_is_no_ones_fault() {
    let plan = line("g g g g g g").file(3, BENCH, "ppl = 7.5\n");
    let told = ruled(plan).saying(&["the ruler changed at"]).leaves("3").costs(19, 11);
    let summary = told.hunt.report["summary"].as_str().unwrap();
    let [zero, two, three, five] =
        ["0", "2", "3", "5"].map(|label| &told.row.history.commit(label)[..10]);
    assert_eq!(
        summary,
        format!(
            "the ruler changed at {three}, and the step depends on the ruler: {two} with the ruler \
             of {three} yields ppl 7.5, and {three} with that of {two} yields ppl 7; the ends \
             agree: {zero} with the ruler of {three} yields ppl 7.5, and {five} with the ruler of \
             {two} yields ppl 7"
        )
    );
    let page = told.hunt.file("report.md");
    assert!(page.lines().take(8).any(|line| line.contains("the ruler changed")), "{page}");
    // Runs with another commit's ruler are excluded, but the report still lists them.
    for (label, value) in [("2", 7.0), ("3", 7.5)] {
        let commit = told.commit(label);
        let samples = commit["samples"].as_array().unwrap().iter();
        let mut figures = samples.filter(|sample| sample["metric"] == "ppl");
        assert!(figures.all(|sample| sample["value"] == value), "{commit:#}");
        let apart = &commit["apart"][0];
        assert_eq!(apart["phase"], "ruler");
        assert!(!told.hunt.file(apart["log"].as_str().unwrap()).is_empty());
    }
}

#[test]
fn without_a_declared_ruler_it_is_blamed() {
    hunt(line("g g g g g g").file(3, BENCH, "ppl = 7.5\n")).finds("3").costs(15, 7);
}

#[test]
fn a_step_that_goes_with_the_engine_is_its_commits_and_the_ruler_is_noted() {
    let plan = line("g g g b b b").file(3, BENCH, "golden = new\n");
    let words = ["the ruler changed at", "the engine alone", "yields ppl 7, and", "yields ppl 7.5"];
    let told = ruled(plan).saying(&[]).finds("3").costs(17, 9);
    let page = told.hunt.file("report.md");
    assert!(words.iter().all(|words| page.contains(words)), "{page}");
    // Another hunt reuses all of these runs.
    told.again().finds("3").costs(0, 0);
}

#[test]
fn a_commit_that_leaves_the_ruler_alone_costs_nothing_more() {
    let plan = line("g g g b b b").file(5, BENCH, "golden = 2\n");
    ruled(plan).finds("3").costs(15, 7);
}

#[test]
fn a_commit_after_another_ruler_is_measured_with_that_of_good_too() {
    let plan = line("g g g b b b").file(1, BENCH, "golden = 1\n");
    ruled(plan).finds("3").costs(16, 8);
}

/// The candidates of a hunt, and its summary. A hunt as it proposes must name `found`.
fn candidates(plan: &Plan, found: &str) -> (Vec<String>, String) {
    let row = ruled(plan.clone());
    row.write_oracle();
    let hunt = row.run().expect(3, "candidates");
    finds_as_proposed(&hunt, plan, found);
    let summary = hunt.report["summary"].as_str().unwrap().to_owned();
    (hunt.candidates(&row.history), summary)
}

/// Whether the screen and the page show the overlay that the hunt proposes, and a hunt with it and
/// with the proposed ends names the commit.
fn finds_as_proposed(hunt: &Hunt, plan: &Plan, found: &str) {
    let next = hunt.report["next"][0].as_str().unwrap();
    let (words, overlay) = next.split_once('\n').unwrap();
    assert!(hunt.output.stdout.contains(&format!("\nNext: {words}\n  [[overlay]]\n")), "{next}");
    let page = hunt.file("report.md");
    assert!(page.contains(&format!("\n```toml\n{overlay}\n```\n")), "{page}");
    let (_, command) = words.split_once("`bisect-ppl start ").unwrap();
    let (options, _) = command.split_once('`').unwrap();
    let options: Vec<&str> = options.split(' ').collect();
    let [_, good, _, bad] = options.as_slice() else { panic!("{words}") };
    // The same plan makes the same commits.
    let mut row = ruled(plan.clone()).oracle(|oracle| oracle.section(overlay));
    (row.good, row.bad) = ((*good).to_owned(), (*bad).to_owned());
    let (hunt, history) = row.hunted();
    assert_eq!(hunt.culprits(&history), [found], "{}", hunt.output.stdout);
}

#[test]
fn a_new_ruler_hides_the_step_of_a_later_engine() {
    // The bench gets harder by as much as the engine gets worse.
    let plan = line("7.0 7.0 7.0 7.0 7.5 7.5").file(0, BENCH, "ppl+bench = 0\n");
    let plan = plan.file(1, BENCH, "ppl+bench = 0.5\n");
    let (commits, summary) = candidates(&plan, "4");
    assert_eq!(commits, ["1", "2", "3", "4", "5"], "{summary}");
    let words = "the newer ruler may hide the step of a later commit";
    assert!(summary.contains(words), "{summary}");
    assert!(!summary.contains("if the engine caused"), "{summary}");
}

#[test]
fn a_ruler_that_the_proposed_commit_lacks_is_not_proposed() {
    // The same, but the commit adds the bench: an overlay of nothing would be refused.
    let plan = line("7.0 7.0 7.0 7.0 7.5 7.5").file(1, BENCH, "ppl+bench = 0.5\n");
    let (hunt, _) = ruled(plan).hunted();
    let report = hunt.expect(3, "candidates").report;
    let summary = report["summary"].as_str().unwrap();
    assert!(summary.contains("the newer ruler may hide the step of a later commit"), "{summary}");
    assert!(report["next"].is_null(), "{report:#}");
}

#[test]
#[ignore = "long: scripts/test --long"]
fn an_end_with_the_other_ruler_already_needs_no_run() {
    let plan = line("7.0 7.0 7.0 7.0 7.5 7.5").file(0, BENCH, "ppl+bench = 0\n");
    let plan = plan.file(1, BENCH, "ppl+bench = 0.5\n").file(5, BENCH, "ppl+bench = 0\n");
    let (commits, summary) = candidates(&plan, "4");
    assert_eq!(commits, ["1", "2", "3", "4", "5"], "{summary}");
    assert!(summary.contains(", with the same ruler as "), "{summary}");
}

#[test]
#[ignore = "long: scripts/test --long"]
fn an_old_ruler_hides_the_step_of_an_earlier_engine() {
    // The old bench does not see what the engine adds from commit 2 on.
    let mut plan = line("g g g g g g").file(0, BENCH, "ppl+engine = 0\n");
    for label in 2..6 {
        plan = plan.with(label, "ppl+engine = 0.5");
    }
    let (commits, summary) = candidates(&plan.file(4, BENCH, "golden = new\n"), "2");
    assert_eq!(commits, ["1", "2", "3", "4"], "{summary}");
    let words = "the older ruler may hide the step of an earlier commit";
    assert!(summary.contains(words), "{summary}");
}

#[test]
fn a_mend_by_the_ruler_of_good_is_not_blamed() {
    // Commit 2 breaks the engine, commit 3 makes the golden file again from it, and commit 5 mends
    // the engine: only by the new golden file is that a step.
    let mut plan = line("g g g g g g g").file(0, BENCH, "ppl+mended = 0\n");
    for (label, setting) in [(2, "broken"), (3, "broken"), (4, "broken"), (5, "mended")] {
        plan = plan.with(label, &format!("ppl+{setting} = 0.5"));
    }
    let plan = plan.with(6, "ppl+mended = 0.5").file(3, BENCH, "ppl+broken = 0\n");
    let (commits, summary) = candidates(&plan, "2");
    assert_eq!(commits, ["1", "2", "3", "4", "5"], "{summary}");
    assert!(summary.contains("with the older ruler the step there is the reverse"), "{summary}");
}

#[test]
fn ends_that_only_an_easier_ruler_makes_equal_are_no_lack_of_a_regression() {
    let plan = line("7.0 7.0 7.5 7.5 7.5").file(0, BENCH, "ppl+bench = 0.5\n");
    let plan = plan.file(3, BENCH, "ppl+bench = 0\n");
    let row = ruled(plan.clone());
    row.write_oracle();
    let hunt = row.run().expect(4, "endpoint-unmeasurable");
    let page = &hunt.output.stdout;
    for words in ["with one ruler they differ", "yields ppl 8"] {
        assert!(page.contains(words), "{page}");
    }
    finds_as_proposed(&hunt, &plan, "2");
}

#[test]
fn where_both_make_a_step_nobody_is_named_for_sure() {
    let plan = line("g g g b b b").file(3, BENCH, "ppl = 7.6\n");
    let row = ruled(plan).saying(&["neither on the ruler alone nor", "yields ppl 7.6", "ppl 7.5"]);
    row.leaves("3").costs(18, 10);
}

#[test]
fn where_one_does_not_build_with_the_others_ruler_it_cannot_be_checked() {
    let mut plan = line("g g g b b b").file(3, BENCH, "build_exit =\n");
    for label in 3..6 {
        plan = plan.with(label, "build_exit = 1");
    }
    let row = ruled(plan).saying(&["cannot be checked", "nothing, since it does not build"]);
    row.leaves("3").costs(16, 10);
}

#[test]
fn an_overlay_that_is_everyones_ruler_leaves_nothing_to_check() {
    let plan = line("g g g b b b").file(3, BENCH, "golden = new\n");
    let overlay = "[[overlay]]\nfrom = \"main\"\npaths = [\"kernels/**\"]";
    ruled(plan).oracle(|oracle| oracle.section(overlay)).finds("3").costs(15, 7);
}

#[test]
fn a_merge_is_checked_against_each_parent_whose_ruler_differs() {
    let plan = crate::kit::graph(&["0: g", "a < 0: g", "c < 0: g", "m < a c: b", "9 < m: b"]);
    let plan = plan.file("c", BENCH, "golden = c\n").file("m", BENCH, "golden = m\n");
    ruled(plan).finds("m").costs(23, 12);
}
