//! A history with two failures. One is in commits 22 to 35 and is mended. The hunt looks for the
//! other one, which starts at commit 50. Both end in the same way; only their output differs.

use super::hunt;
use crate::kit::{Hunt, Plan, line};

/// The settings of a commit with the mended failure, and of one with the hunted failure.
type Failures = [&'static [&'static str]; 2];

/// 64 commits with both failures.
fn plan([mended, hunted]: Failures) -> Plan {
    let failures = (22..=35).map(|label| (label, mended)).chain((50..64).map(|l| (l, hunted)));
    let plan = line(&"g ".repeat(64)).with_all("backend = none");
    failures
        .flat_map(|(label, settings)| settings.iter().map(move |setting| (label, setting)))
        .fold(plan, |plan, (label, setting)| plan.with(label, setting))
}

/// Hunts, and fails unless 50 is named.
#[track_caller]
fn finds_50(failures: Failures) -> Hunt {
    let (hunt, history) = hunt(plan(failures)).oracle(|oracle| oracle.timeout("2s")).hunted();
    hunt.names(&history, 50)
}

#[test]
#[ignore = "long: scripts/test --long"]
fn exceptions_of_python() {
    let hunt = finds_50([
        &["fate = exit:1", "say_err = ImportError: cannot import name 'rope' from 'engine'"],
        &["fate = exit:1", "say_err = AssertionError: shape mismatch: 4096 against 4095"],
    ]);
    assert!(hunt.output.stderr.contains("AssertionError: shape mismatch: 4096 against 4095"));
}

#[test]
fn segmentation_faults_in_different_places() {
    let hunt = finds_50([
        &["fate = crash:11", "say_err = loading model"],
        &["fate = crash:11", "say_err = warming up the cache, 3 of 12"],
    ]);
    let printed = ["What ppl printed at", "  | warming up the cache, 3 of 12\n"];
    hunt.output.says(&["This hunt looked for a failure", printed[0], printed[1]]);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn time_outs_in_different_phases() {
    finds_50([
        &["fate = hang", "say_err = loading model"],
        &["fate = hang", "say_err = evaluating batch 1 of 9"],
    ]);
}

#[test]
fn compilers_and_linkers() {
    finds_50([
        &[
            "build_exit = 2",
            "build_log = cc -O2 -Werror -c all.c\\nsrc/quant.c:12:3: error: 'y' undeclared",
        ],
        &[
            "build_exit = 2",
            "build_log = cc -O2 -Werror -c all.c\\n/usr/bin/ld: b.o: undefined reference to `helper'",
        ],
    ]);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn compilers_in_different_files() {
    finds_50([
        &[
            "build_exit = 2",
            "build_log = cc -O2 -Werror -c all.c\\nsrc/quant.c:12:3: error: expected ';'",
        ],
        &[
            "build_exit = 2",
            "build_log = cc -O2 -Werror -c all.c\\nsrc/matmul.cu(14): error: expected a \";\"",
        ],
    ]);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn what_cmake_lacks_and_what_a_compiler_lacks() {
    finds_50([
        &[
            "build_exit = 1",
            "build_log = cc -O2 -Werror -c all.c\\nCMake Error at CMakeLists.txt:3 (find_package):\\n  Could NOT find CURL",
        ],
        &[
            "build_exit = 1",
            "build_log = cc -O2 -Werror -c all.c\\na.c:1:10: fatal error: rope.h: No such file",
        ],
    ]);
}

#[test]
#[ignore = "long: scripts/test --long"]
fn infinity_and_nan() {
    finds_50([&["fate = inf"], &["fate = nan"]]);
}
