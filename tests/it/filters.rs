//! Path filters, right ones and those that hide the answer.

use crate::kit::{History, Oracle, TestEnvironment, line};

/// Commit 3 is it, by `engine.conf`; commits 2 and 5 touch kernels without effect.
fn laid_out(oracle: impl Fn(Oracle) -> Oracle) -> (TestEnvironment, History) {
    let env = TestEnvironment::new();
    let history = line("g g g b b b b")
        .file(0, "kernels/note", "# 0\n")
        .file(2, "kernels/note", "# 2\n")
        .file(5, "kernels/note", "# 5\n")
        .build(&env);
    oracle(Oracle::new(&env)).write(&env);
    (env, history)
}

#[test]
fn a_right_filter_saves_runs() {
    for keys in ["paths = [\"engine.conf\"]", "ignore = [\"kernels/**\", \"version\"]"] {
        let (env, history) = laid_out(|oracle| oracle.build(keys));
        env.hunt().names(&history, 3);
        for label in ["1", "4", "5"] {
            assert_eq!(env.runs_of(label), 0, "{keys}: {:?}", env.runs());
        }
    }
}

#[test]
fn a_right_filter_of_the_command_line_saves_runs() {
    let (env, history) = laid_out(|oracle| oracle);
    env.start(&["--good", "v1", "--bad", "HEAD", "--", "engine.conf"]).names(&history, 3);
    assert_eq!(env.runs_of(4), 0);
}

#[test]
fn a_filter_that_hid_the_answer_is_dropped_and_the_path_named() {
    let (env, history) = laid_out(|oracle| oracle);
    let hunt = env.start(&["--good", "v1", "--", "kernels"]).names(&history, 3);
    assert!(hunt.file("report.md").contains("engine.conf"), "{}", hunt.file("report.md"));
    assert!(hunt.output.stderr.contains("engine.conf"), "{}", hunt.output.stderr);
}

#[test]
fn a_filter_of_the_configuration_that_hid_the_answer_is_dropped_too() {
    for keys in ["paths = [\"kernels/**\"]", "ignore = [\"engine.conf\", \"version\"]"] {
        let (env, history) = laid_out(|oracle| oracle.build(keys));
        let hunt = env.hunt().names(&history, 3);
        assert!(hunt.output.stderr.contains("engine.conf"), "{keys}: {}", hunt.output.stderr);
    }
}

#[test]
fn a_filter_that_leaves_no_commit_is_dropped_too() {
    let (env, history) = laid_out(|oracle| oracle);
    let hunt = env.start(&["--good", "v1", "--", "no/such/path"]);
    match hunt.output.code() {
        // Either it is refused as typed wrongly, or noticed and dropped.
        Some(2) => assert!(hunt.output.stderr.contains("no/such/path")),
        _ => drop(hunt.names(&history, 3)),
    }
}
