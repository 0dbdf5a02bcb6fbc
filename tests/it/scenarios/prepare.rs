//! Steps between build and measures: each commit's own tool converts a model.

use super::{PassedHunt, Row, hunt};
use crate::kit::{Plan, line};

const RUN: &str = "{build}/engine run ppl src={src} cache={cache} out={out} model={prepare.gguf}";

fn converted(plan: Plan, keys: &str) -> Row {
    hunt(plan).oracle(|oracle| {
        let world = oracle.world();
        oracle.ppl_command(RUN).section(&format!(
            "[[prepare]]\nname = \"gguf\"\ncommand = \"{{build}}/engine convert \
             {{prepare.gguf}}\"\nenv = {{ FAKE_WORLD = '{world}' }}\noutputs = \
             [\"model.conf\"]\n{keys}"
        ))
    })
}

/// Labels of the commits whose tool converted, in order.
fn conversions(told: &PassedHunt) -> Vec<String> {
    let lines = told.env().log();
    let of = |line: &String| Some(line.strip_prefix("convert ")?.split(' ').next()?.to_owned());
    lines.iter().filter_map(of).collect()
}

/// From commit 3 on the converter makes the model worse.
fn badly_converting() -> Plan {
    let plan = line("g g g g g g");
    (3..6).fold(plan, |plan, label| plan.with(label, "convert_ppl = 7.5"))
}

#[test]
fn each_commit_converts_with_its_own_tool_once_a_build() {
    let told = converted(badly_converting(), "").finds("3").costs(15, 7);
    let builds = told.env().starts().iter().filter(|start| start.kind == "build").count();
    assert_eq!(conversions(&told).len(), builds);
    let faults: Vec<_> =
        told.env().log().into_iter().filter(|line| line.starts_with("fault")).collect();
    assert!(faults.is_empty(), "{faults:?}");
    // The conversion's log is kept, and the report distinguishes it from a build.
    let builds = told.commit("3")["builds"].as_array().unwrap();
    let made = builds.iter().find(|build| build["prepare"] == "gguf").unwrap();
    assert!(told.hunt.file(made["log"].as_str().unwrap()).contains("# prepare: gguf"));
    let script = told.hunt.folder.join("reproduce.sh");
    let shown = told.env().tool(&told.env().repo(), "sh", &[script.to_str().unwrap()]).stdout;
    assert!(shown.contains("PPL = 7.0") && shown.contains("7.5"), "{shown}");
    // Another hunt converts nothing.
    let told = told.again().finds("3").costs(0, 0);
    assert_eq!(conversions(&told).len(), 7 + 2, "the script's two besides");
}

#[test]
fn what_cannot_be_converted_is_untestable_unless_it_is_said_to_be_bad() {
    let plan = || {
        let plan = line("g g g b b b");
        (3..5).fold(plan, |plan, label| plan.with(label, "convert_exit = 3"))
    };
    let told = converted(plan(), "").leaves("3 4 5").costs(7, 5);
    for label in ["3", "4"] {
        assert_eq!(told.verdict(label), "skip");
        assert_eq!(told.commit(label)["skip"], "prepare");
    }
    // The bad end, commit 5, converts again and has a worse value. Commits 3 and 4 do not convert,
    // so any of 3, 4 and 5 may have made the value worse.
    converted(plan(), "failure = \"bad\"").leaves("3 4 5").costs(12, 7);
}

#[test]
fn what_is_not_made_is_a_failure_too() {
    let plan = line("g g g b b b").with(3, "convert_none = yes");
    let told = converted(plan, "").leaves("3 4").costs(6, 5);
    let reason = told.commit("3")["reason"].as_str().unwrap();
    assert!(reason.contains("the step gguf failed: it made no model.conf"), "{reason}");
}

#[test]
fn a_conversion_that_fails_at_the_bad_end_alone_is_what_is_hunted() {
    let plan = line("g g g g g g");
    let plan = (3..6).fold(plan, |plan, label| plan.with(label, "convert_exit = 3"));
    let row = converted(plan, "").saying(&["cannot be prepared"]);
    // Each failure needs a control run, which converts and measures. Three runs of each side
    // confirm a failure.
    row.finds("3").costs(10, 7);
}

#[test]
fn a_converter_that_the_machine_broke_blames_nobody() {
    let mut plan = badly_converting();
    for label in 1..5 {
        plan = plan.with(label, "break_world = convert-broken");
    }
    let told = converted(plan, "failure = \"bad\"").gets_stopped().costs(5, 4);
    told.env().world("convert-broken", false);
    told.resumed().finds("3").counting(15, 8).costs(10, 4);
}

#[test]
fn measures_that_do_not_name_it_neither_wait_for_it_nor_fail_with_it() {
    let plan = line("g g g b b b").with_all("tg = 20");
    let plan = (0..6).fold(plan, |plan, label| plan.with(label, "convert_exit = 3"));
    let row = hunt(plan).oracle(|oracle| {
        oracle.section(
            "[[prepare]]\nname = \"gguf\"\ncommand = \"{build}/engine convert {prepare.gguf}\"",
        )
    });
    let told = row.finds("3").costs(15, 7);
    assert!(conversions(&told).is_empty());
}
