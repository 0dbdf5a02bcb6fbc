//! What a run loads: the report names the files that differ, a run that loads a file from outside
//! the commit is void, and no commit is blamed if no file differs.

use std::fs;

use serde_json::{Value, json};

use super::{Row, hunt};
use crate::kit::{History, Plan, TestEnvironment, line};

/// A bench in Python that imports a module of its own and reads a list of bad commits.
const BENCH: &str = "
import sys
import rounding
bad = open(sys.argv[2]).read().split()
print(f'[1]{rounding.to(7.0)},')
print(f'Final estimate: PPL = {rounding.to(7.5 if sys.argv[1] in bad else 7.0)} +/- 0.01')
";
const ROUNDING: &str = "def to(x):\n    return f'{x:.4f}'\n";

fn benched(plan: Plan) -> Plan {
    plan.file(0, "m.py", BENCH).file(0, "rounding.py", ROUNDING)
}

/// Makes these commits bad.
fn bad(env: &TestEnvironment, history: &History, labels: &[&str]) {
    let names: Vec<&str> = labels.iter().map(|label| history.commit(label)).collect();
    fs::write(env.path("world/bad"), names.join("\n")).unwrap();
}

/// Uses the bench as the measure.
fn run(row: Row) -> Row {
    row.oracle(|oracle| {
        let command = format!("python3 {{src}}/m.py {{commit}} {}/bad", oracle.world());
        oracle.ppl_command(&command)
    })
}

/// A hunt in which each Python process imports a module from the user's checkout.
fn with_an_editable_install(plan: Plan) -> Row {
    let row = hunt(plan).given(|env, history| {
        bad(env, history, &[]);
        fs::create_dir(env.repo().join("editable")).unwrap();
        fs::write(env.repo().join("editable/sitecustomize.py"), "import mine\n").unwrap();
        fs::write(env.repo().join("editable/mine.py"), "").unwrap();
    });
    let editable = row.env.repo().join("editable");
    row.variable("PYTHONPATH", editable)
}

#[test]
fn what_differs_between_the_first_bad_commit_and_its_parent_is_told() {
    let told = hunt(line("g g g b b")).finds("3").costs(14, 6);
    let ran = &told.hunt.report["culprit"]["ran"];
    let conf = json!({ "path": "build/engine.conf", "how": "content" });
    assert_eq!(ran["unlike"], json!([conf]), "{ran:#}");
    let page = told.hunt.file("report.md");
    assert!(page.contains("these differ from its parent's: build/engine.conf"), "{page}");
    // Each digest belongs to a file that a reader can inspect.
    let records = told.env().git_folder().join("bisect-ppl/runs");
    let mut seen = 0;
    for record in records_below(&records) {
        let own = record["loaded"]["own"].as_object().unwrap();
        assert!(own.contains_key("build/engine.conf"));
        assert!(own.values().all(|sha| sha.as_str().unwrap().len() == 64), "{own:#?}");
        seen += 1;
    }
    assert_eq!(seen, 14);
}

fn records_below(folder: &std::path::Path) -> Vec<Value> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(records_below(&path));
        } else if path.extension().is_some_and(|ending| ending == "json") {
            found.push(serde_json::from_slice(&fs::read(&path).unwrap()).unwrap());
        }
    }
    found
}

#[test]
fn where_both_ran_the_same_files_nobody_is_blamed() {
    let row =
        hunt(benched(line("g g g g g g"))).given(|env, history| bad(env, history, &["4", "5"]));
    let row = run(row);
    let row = row.saying(&["identical file", "it did not cause the difference"]);
    let (hunt, history) = row.leaves("4").hunted();
    assert_eq!(hunt.report["outcome"], "candidates", "{}", hunt.output.stderr);
    assert!(hunt.report["candidates"].as_array().unwrap().contains(&json!(history.commit("4"))));
    let summary = hunt.report["summary"].as_str().unwrap();
    assert!(summary.contains("identical file"), "{summary}");
}

#[test]
fn a_module_of_the_commits_own_is_told() {
    // The module makes the step, and no build contains the module.
    let plan = benched(line("g g g g g")).file(3, "rounding.py", "def to(x):\n    return x + 1\n");
    let row = hunt(plan).given(|env, history| bad(env, history, &[]));
    let row = run(row);
    let (hunt, history) = row.finds("3").hunted();
    let hunt = hunt.names(&history, "3");
    let module = json!({ "path": "src/rounding.py", "how": "content" });
    assert_eq!(hunt.report["culprit"]["ran"]["unlike"], json!([module]));
}

#[test]
fn a_module_of_the_users_checkout_voids_the_run() {
    let plan = benched(line("g g g b b"));
    let row = run(with_an_editable_install(plan));
    let words = ["/editable/mine.py from your own checkout, not from the commit's build"];
    row.gets_stopped().saying(&words).costs(0, 1);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn what_is_linked_in_may_be_loaded() {
    let plan = benched(line("g g g g g")).file(3, "rounding.py", "def to(x):\n    return x + 1\n");
    let row = run(with_an_editable_install(plan));
    let row = row.oracle(|oracle| oracle.section("[worktree]\nlink = [\"editable\"]"));
    let (hunt, history) = row.hunted();
    hunt.names(&history, "3");
}

#[test]
fn a_program_of_the_users_checkout_voids_the_run() {
    let row = hunt(line("g g g b b")).given(|env, _| {
        fs::copy("/bin/sh", env.repo().join("sh")).unwrap();
    });
    let program = row.env.repo().join("sh").display().to_string();
    let row = row.oracle(|oracle| {
        let engine = "{build}/engine run ppl";
        oracle.ppl_command(&format!("{program} -c \"{engine}; exit $?\""))
    });
    row.gets_stopped().saying(&["/sh from your own checkout"]).counting(0, 1).costs(1, 1);
}

#[test]
fn a_build_that_would_run_the_very_same_files_is_not_run() {
    // Only the module sets the value; nothing reads the other changes.
    let mut plan = benched(line("g g g g g g g g g"));
    plan = plan.file(6, "rounding.py", "def to(x):\n    return x + 1\n");
    let row = hunt(plan).given(|env, history| bad(env, history, &[]));
    let row = row.oracle(|oracle| {
        let command = format!("python3 {{src}}/m.py x {}/bad", oracle.world());
        oracle.ppl_command(&command)
    });
    // The search runs nothing for commits 4 and 5: they have the files of the good end.
    let told = row.finds("6").counting(14, 10).costs(0, 10);
    assert!(told.hunt.file("report.md").contains("its 2 files are identical to those of"));
    let reused = |label: &str| told.commit(label)["samples"][0]["reused"] == true;
    assert!(reused("4") && reused("5"), "{:#}", told.hunt.report["commits"]);
    let sample = &told.commit("4")["samples"][0];
    assert!(sample["same_as"].is_string() && sample["stored_at"].is_null(), "{sample:#}");
    // Another hunt reuses the records of this one.
    told.again().finds("6").counting(0, 0).costs(0, 0);
}

/// A benchmark in Python whose result depends on two things of `tool.sh` beside it: its text, and
/// whether it is executable.
const ASKS: &str = "
import os, sys
tool = os.path.join(os.path.dirname(sys.argv[0]), 'tool.sh')
open(tool).read()
ppl = 7.0 if os.access(tool, os.X_OK) else 7.5
print(f'[1]{ppl},')
print(f'Final estimate: PPL = {ppl} +/- 0.01')
";

#[test]
#[ignore = "long: scripts/test --long"]
fn the_right_to_execute_a_file_is_told_where_the_repository_does_not_keep_it() {
    let plan = line("g g g g g").file(0, "m.py", ASKS);
    let plan = plan.program(0, "tool.sh", "exit\n").file(3, "tool.sh", "exit\n");
    let row = hunt(plan).given(|env, _| {
        env.git(&["config", "core.fileMode", "false"]);
    });
    let row = row.oracle(|oracle| oracle.ppl_command("python3 {src}/m.py"));
    let (hunt, history) = row.hunted();
    let hunt = hunt.names(&history, "3");
    let tool = json!({ "path": "src/tool.sh", "how": "mode" });
    assert_eq!(hunt.report["culprit"]["ran"]["unlike"], json!([tool]));
}

/// A benchmark in Python whose result depends on an answer that no opened file has. `bad`: the
/// comparison that holds if the result is bad.
fn asking(question: &str, bad: &str) -> String {
    format!(
        "import os, subprocess, sys\nasked = {question}\nppl = 7.5 if asked {bad} else 7.0\n\
         print(f'[1]{{ppl}},')\nprint(f'Final estimate: PPL = {{ppl}} +/- 0.01')\n"
    )
}

#[test]
#[ignore = "long: scripts/test --long"]
fn a_run_that_asks_git_is_not_taken_for_that_of_another_commit() {
    let question = "int(subprocess.check_output(['git', 'rev-list', '--count', 'HEAD']))";
    let plan = line("g g g g g g g g g").file(0, "m.py", &asking(question, "> int(sys.argv[1])"));
    let row = hunt(plan);
    let count = row.env.git(&["rev-list", "--count", row.history.commit("5")]);
    let last_good = count.trim().parse::<u32>().unwrap() - 1;
    let command = format!("python3 {{src}}/m.py {last_good}");
    let (hunt, history) = row.oracle(|oracle| oracle.ppl_command(&command)).hunted();
    let said = hunt.names(&history, "5").output.stderr;
    assert!(
        !said.contains("is not confirmed") && !said.contains("whose result is reused"),
        "{said}"
    );
}

#[test]
fn where_runs_with_identical_files_differ_no_result_is_reused() {
    let question = "os.stat(os.path.join(os.path.dirname(sys.argv[0]), 'weights')).st_size";
    let plan = line("g g g g g g g g g").file(0, "m.py", &asking(question, "> 4"));
    let row = hunt(plan.file(0, "weights", "123\n").file(5, "weights", "1234567\n"));
    let (hunt, history) = row.oracle(|oracle| oracle.ppl_command("python3 {src}/m.py")).hunted();
    let hunt = hunt.expect(3, "candidates");
    let candidates = hunt.candidates(&history);
    let said = hunt.output.says(&["reads something that is not seen", "identical file"]).stderr;
    assert!(candidates.contains(&"5".to_owned()), "{said}");
    assert!(!said.contains("whose result is reused"), "{said}");
}
