//! Measures in several cells, with one build a commit.

use serde_json::json;

use super::{Row, hunt};
use crate::kit::line;

/// The measure in three cells. In a cell, a commit's `ppl@CELL` replaces its `ppl`.
fn in_cells(row: Row) -> Row {
    row.oracle(|oracle| {
        oracle
            .ppl_command(
                "{build}/engine run ppl src={src} cache={cache} out={out} cell={matrix.kernel}",
            )
            .section("[matrix]\nkernel = [\"f16\", \"q4\", \"q8\"]")
    })
}

#[test]
#[ignore = "long: scripts/test --long"]
fn one_cell_alone_gets_worse() {
    let mut plan = line("g g g g g g g g");
    for label in 4..8 {
        plan = plan.with(label, "ppl@q4 = 7.5");
    }
    // Two runs of each of the three cells at each end. After that only the broken cell runs.
    let told = in_cells(hunt(plan)).finds("4").costs(23, 7);
    let report = &told.hunt.report;
    assert_eq!(report["culprit"]["effect"]["metric"], "ppl[kernel=q4]");
    assert_eq!(report["matrix"][0]["cells"][1]["broken"], json!(true));
    let said = &told.hunt.output.stdout;
    assert!(said.contains("Broken in 1 of 3 cells of ppl, all of it by this commit"), "{said}");
}

#[test]
fn one_commit_explains_every_cell_that_broke() {
    let mut plan = line("g g g g g g");
    for label in 3..6 {
        plan = plan.with(label, "ppl@q4 = 7.5").with(label, "ppl@q8 = 7.3");
    }
    let told = in_cells(hunt(plan)).finds("3").costs(34, 7);
    let report = &told.hunt.report;
    let cells = &report["matrix"][0]["cells"];
    assert_eq!([&cells[0]["broken"], &cells[1]["broken"]], [&json!(false), &json!(true)]);
    let commit = told.row.history.commit("3");
    for (cell, step) in [(1, 0.5), (2, 0.3)] {
        let [own] = cells[cell]["steps"].as_array().unwrap().as_slice() else { panic!("{cells}") };
        assert_eq!(own["commit"], commit);
        assert!((own["own_step"].as_f64().unwrap() - step).abs() < 1e-9, "{cells}");
    }
    for format in ["report.md", "report.html"] {
        let page = told.hunt.file(format);
        assert!(page.contains("Broken in 2 of 3 cells of ppl, all of it by this commit"));
    }
}

#[test]
#[ignore = "long: scripts/test --long"]
fn several_commits_explain_several_cells() {
    let mut plan = line("g g g g g g g g");
    for label in 2..8 {
        plan = plan.with(label, "ppl@q4 = 7.5");
    }
    for label in 6..8 {
        plan = plan.with(label, "ppl@q8 = 8.0");
    }
    let told = in_cells(hunt(plan)).finds("2 6").costs(46, 11);
    let said = &told.hunt.output.stdout;
    assert!(said.contains("Broken in 2 of 3 cells of ppl, by 2 commits"), "{said}");
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_cell_has_a_model_of_its_own() {
    let mut plan = line("g g g g");
    for label in 2..4 {
        plan = plan.with(label, "ppl = 7.5");
    }
    let row = hunt(plan).oracle(|oracle| {
        oracle
            .ppl_command("{build}/engine run ppl src={src} -m {inputs.model} -t {threads}")
            .section("[matrix]\nmodel = [\"../inputs/model.bin\", \"../inputs/other.bin\"]\nthreads = [1, 2]")
    });
    let row = row.given(|env, _| std::fs::write(env.path("inputs/other.bin"), "others\n").unwrap());
    let told = row.finds("2").costs(56, 6);
    let inputs = told.hunt.report["inputs"].as_object().unwrap();
    let names: Vec<_> = inputs.keys().collect();
    assert_eq!(names, ["model[model]", "model[other]"]);
    assert!(told.hunt.output.stdout.contains("4 of 4 cells of ppl"));
    let issue = told.env().run(&["report", "--format", "issue"]).stdout;
    assert!(issue.contains("Broken in 4 of 4 cells"), "{issue}");
}
