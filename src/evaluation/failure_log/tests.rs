mod outputs;

use proptest::prelude::*;

use super::*;
use outputs::{ABRT, BUILDS, EXIT, RUNS, SEGV};

fn heard(kind: FailureKind, ended: &Ended, err: &str, out: &str) -> FailureReason {
    let mut complaints = FailureLogParser::default();
    for (stream, text) in [(Stream::Out, out), (Stream::Err, err)] {
        for line in text.lines() {
            complaints.feed(stream, line.as_bytes(), true);
        }
    }
    complaints.finish(kind, ended)
}

fn run(ended: &Ended, err: &str) -> FailureReason {
    heard(FailureKind::Crash, ended, err, "")
}

/// `D`: diagnostics, `R`: a specific reason, `r`: a reason that others share, `L`: the last line.
fn words(said: &FailureMessage) -> String {
    match said {
        FailureMessage::Diagnostics(lines) => format!("D {}", lines.join(" | ")),
        FailureMessage::Reason { lines, telling: true } => format!("R {}", lines.join(" | ")),
        FailureMessage::Reason { lines, telling: false } => format!("r {}", lines.join(" | ")),
        FailureMessage::Reached(line) => format!("L {line}"),
    }
}

#[test]
fn the_line_that_decides_is_found_in_the_form_of_each_tool() {
    let runs = RUNS.iter().map(|(ended, output, wanted)| (run(ended, output), output, wanted));
    let build = |output| heard(FailureKind::Build, &Ended::Exited(2), "", output);
    let builds = BUILDS.iter().map(|(output, wanted)| (build(output), output, wanted));
    let wrong: Vec<String> = runs
        .chain(builds)
        .filter(|(heard, _, wanted)| words(&heard.said) != **wanted)
        .map(|(heard, output, wanted)| {
            format!("{output}\n  wanted: {wanted}\n  found:  {}\n", words(&heard.said))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn no_two_of_them_are_the_same_failure() {
    let said: Vec<FailureMessage> =
        RUNS.iter().map(|(ended, output, _)| run(ended, output).said).collect();
    for (i, one) in said.iter().enumerate() {
        for (j, other) in said.iter().enumerate() {
            assert_eq!(one.is_same_failure(other), i == j, "{one:?} {other:?}");
        }
    }
}

#[test]
fn people_are_shown_the_line_as_it_was_printed() {
    for (ended, output, shown) in [
        (&ABRT, "arena: 76800 floats wanted, 17664 left", "arena: 76800 floats wanted, 17664 left"),
        (&EXIT, RUNS[0].1, "AssertionError: shape mismatch"),
        (&EXIT, RUNS[2].1, "RuntimeError: engine core failed"),
        (&ABRT, RUNS[10].1, "/w/ggml/src/ggml.c:3061: GGML_ASSERT(ggml_can_mul_mat(a, b)) failed"),
        (&EXIT, "\x1b[31merror: red\x1b[0m", "error: red"),
        (&SEGV, "", ""),
    ] {
        assert_eq!(run(ended, output).shown, shown);
    }
}

#[test]
fn jobs_in_parallel_print_errors_in_any_order() {
    let build = |output: &str| heard(FailureKind::Build, &EXIT, output, "").said;
    let (a, b, c) = ("a.c:1:2: error: x\n", "b.c:1:2: error: y\n", "c.c:1:2: error: z\n");
    assert!(build(&[a, b].concat()).is_same_failure(&build(&[b, a].concat())));
    assert!(build(&[a, b].concat()).is_same_failure(&build(b)));
    assert!(!build(&[a, b].concat()).is_same_failure(&build(c)));
}

#[test]
fn an_error_that_a_program_survives_decides_nothing() {
    let output = |rest: &str| format!("error: no GPU, using the CPU\n{rest}");
    let died = |rest: &str, ended: &Ended| run(ended, &output(rest)).said;
    // A specific reason overrides the survived error.
    let reason = "x.c:3: f: Assertion `a' failed.";
    assert!(died(reason, &ABRT).is_same_failure(&run(&ABRT, reason).said));
    // Two failures that both print the survived error differ in their other errors.
    assert!(!died("error: no tensor", &EXIT).is_same_failure(&died("error: no token", &EXIT)));
    // An error long before the end does not explain the exit code.
    assert!(!died(&"loading\n".repeat(30), &EXIT).is_telling());
    assert!(died("bye", &EXIT).is_telling());
}

#[test]
fn streams_are_heard_apart() {
    let mut complaints = FailureLogParser::default();
    for (stream, line) in [
        (Stream::Err, "Traceback (most recent call last):"),
        (Stream::Out, "[1]7.0,"),
        (Stream::Err, "  File \"a.py\", line 1, in f"),
        (Stream::Out, "ValueError"),
        (Stream::Err, "KeyError: 3"),
        (Stream::File, "error: of a report"),
    ] {
        complaints.feed(stream, line.as_bytes(), true);
    }
    let heard = complaints.finish(FailureKind::Crash, &EXIT);
    assert_eq!(words(&heard.said), "R KeyError: # in a.py f | ValueError");
}

#[test]
fn what_is_kept_is_bounded_whatever_is_printed() {
    let mut complaints = FailureLogParser::default();
    let long = vec![b'x'; 1 << 20];
    let mut kept = 0;
    for number in 0..3000 {
        kept += usize::from(complaints.feed(
            Stream::Err,
            format!("error: no {number}x{number}").as_bytes(),
            true,
        ));
    }
    assert_eq!(kept, KEPT);
    assert!(!complaints.feed(Stream::Out, &long, false));
    assert!(!complaints.feed(Stream::Out, b"error: within a line", true));
    assert!(complaints.feed(Stream::Out, b"10%\rerror: after progress", true));
}

/// Random output lines, complete or not, that may or may not matter.
fn lines() -> impl Strategy<Value = Vec<(bool, &'static str)>> {
    let line = prop::sample::select(vec![
        "loading",
        "",
        "Traceback (most recent call last):",
        "  File \"a.py\", line 1, in f",
        "    f()",
        "KeyError: 3",
        "x.c:1: f: Assertion `a' failed.",
        "error: bad",
        "note: so",
        "terminate called after throwing an instance of 'E'",
        "  what():  it",
        "CMake Error at a:1 (m):",
        "  indented",
        "a.c:1:2: error: x",
        "#1 0x5 in f ()",
        "panicked at a.rs:1:2:",
        "Aborted",
        "Fatal Python error: Aborted",
        "  File \"b.py\", line 1 in g",
        "make: *** [all] Error 1",
    ]);
    prop::collection::vec((any::<bool>(), line), 0..30)
}

proptest! {
    #[test]
    fn the_kept_lines_say_the_same_again(lines in lines()) {
        let mut first = FailureLogParser::default();
        let stream = |err: bool| if err { Stream::Err } else { Stream::Out };
        let kept: Vec<_> = lines
            .iter()
            .filter(|(err, line)| first.feed(stream(*err), line.as_bytes(), true))
            .collect();
        let mut again = FailureLogParser::default();
        for (err, line) in kept {
            prop_assert!(again.feed(stream(*err), line.as_bytes(), true), "{line}");
        }
        let (first, again) = (first.finish(FailureKind::Build, &EXIT), again.finish(FailureKind::Build, &EXIT));
        let is_reached = |reason: &FailureReason| matches!(reason.said, FailureMessage::Reached(_));
        // The log keeps the last line anyway.
        if !(is_reached(&first) && is_reached(&again)) {
            prop_assert_eq!(first, again);
        }
    }

    #[test]
    fn other_numbers_addresses_and_folders_are_the_same_failure(
        row in 0..RUNS.len(), n in 100_u32..9999, folder in "[a-z]{3,8}",
    ) {
        let (ended, output, _) = RUNS[row];
        let other = output
            .replace("/w/x/", &format!("/tmp/{folder}/"))
            .replace("0x7f9c1f8b76a8", &format!("0x{n:x}"))
            .replace("line 9", &format!("line {n}"))
            .replace("3061", &n.to_string())
            .replace("76800", &n.to_string());
        prop_assert!(run(ended, output).said.is_same_failure(&run(ended, &other).said));
    }
}
