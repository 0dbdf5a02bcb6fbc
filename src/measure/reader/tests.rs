use proptest::prelude::*;

use super::*;
use crate::config::Pick;
use crate::evaluation::{FailureMessage, Metric, Value};

use Stream::{Err as E, Out as O};

const SEGV: Ended = Ended::Signaled(11);
const KILL: Ended = Ended::Signaled(9);
const OK: Ended = Ended::Exited(0);

fn regex(pattern: &str) -> Parser {
    Parser::Regex { pattern: Regex::new(pattern).unwrap(), pick: Pick::Last }
}

/// A reader of measure `m`.
fn reader(parser: &Parser, requires: &[(&str, &str)], transient: &[&str]) -> Reader {
    let transient: Vec<String> = transient.iter().map(|&text| text.to_owned()).collect();
    let spec =
        Spec { name: "m", parser, file: None, kind: MeasureKind::Number, transient: &transient };
    let requires: Vec<Require> = requires
        .iter()
        .map(|(measure, pattern)| Require {
            measure: (*measure).to_owned(),
            what: Required::Pattern(Regex::new(pattern).unwrap()),
        })
        .collect();
    Reader::of(spec, &requires)
}

fn feed(reader: &mut Reader, output: &str) {
    for line in output.lines() {
        reader.line(O, line.as_bytes());
    }
}

fn said(mut reader: Reader, output: &str, ended: &Ended) -> Result<Value, (FailureKind, String)> {
    feed(&mut reader, output);
    match reader.finish(ended) {
        Ok(reading) => Ok(reading.values[&Metric::of("m")].clone()),
        Err(failure) => Err((failure.kind, failure.signature())),
    }
}

fn t(requires: &[(&str, &str)]) -> Reader {
    reader(&regex(r"t=(\S+)"), requires, &[])
}

#[test]
fn how_a_run_ended_comes_first() {
    let crash = |signature: &str| Err((FailureKind::Crash, signature.to_owned()));
    assert_eq!(said(t(&[]), "t=5\n", &OK), Ok(Value::Number(5.0)));
    assert_eq!(said(t(&[]), "t=5\n", &Ended::Exited(1)), crash("exit code 1"));
    assert_eq!(said(t(&[]), "t=5\n", &Ended::Exited(127)), crash("exit code 127"));
    assert_eq!(said(t(&[]), "t=5\n", &SEGV), crash("signal 11 (SIGSEGV)"));
    assert_eq!(said(t(&[]), "", &KILL), crash("signal 9 (SIGKILL)"));
    assert_eq!(said(t(&[]), "", &Ended::NotFound("x".into())), crash("not found"));
    assert_eq!(said(t(&[]), "", &Ended::NotStarted("x".into())), crash("not started"));
    assert_eq!(said(t(&[]), "t=5\n", &Ended::TimedOut), Err((FailureKind::Timeout, String::new())));
}

#[test]
fn a_file_takes_the_place_of_what_is_printed() {
    let pointers = [(None, "/x".to_owned())];
    let pattern = Regex::new("backend: cpu").unwrap();
    for parser in [regex(r#""x": (\d+)"#), Parser::Json { pointers: pointers.into() }] {
        let new = || {
            let spec = Spec {
                name: "m",
                parser: &parser,
                file: Some("a.json"),
                kind: MeasureKind::Number,
                transient: &[],
            };
            Reader::of(
                spec,
                &[Require { measure: "m".to_owned(), what: Required::Pattern(pattern.clone()) }],
            )
        };
        let mut with = new();
        with.line(E, b"backend: cpu");
        with.line(O, b"{\"x\": 1}");
        with.line(Stream::File, b"{\"x\": 5,");
        with.line(Stream::File, b" \"y\": 6}");
        with.line(O, b"{\"x\": 2}");
        let reading = with.finish(&OK).unwrap();
        assert_eq!(reading.values[&Metric::of("m")], Value::Number(5.0));
        let mut without = new();
        without.line(O, b"{\"x\": 1} backend: cpu");
        let failure = without.finish(&OK).unwrap_err();
        assert_eq!(failure.kind, FailureKind::Unreadable);
        assert_eq!(
            failure.detail,
            "there is nothing to read at {out}/a.json: it was not written, is empty or larger than \
             64 MiB, or several files match"
        );
        assert_eq!(new().finish(&Ended::Exited(3)).unwrap_err().kind, FailureKind::Crash);
    }
}

#[test]
fn nan_is_one_defect_however_the_engine_takes_it() {
    let nan = Err((FailureKind::Nan, String::new()));
    for ended in [OK, Ended::Exited(1), SEGV] {
        assert_eq!(said(t(&[]), "t=nan\n", &ended), nan, "{ended}");
    }
    for ended in [KILL, Ended::TimedOut, Ended::Stopped] {
        let kind = said(t(&[]), "t=nan\n", &ended).unwrap_err().0;
        assert_ne!(kind, FailureKind::Nan, "{ended}");
    }
}

#[test]
fn the_exit_code_is_a_reading_and_a_signal_is_none() {
    let code =
        |ended, requires: &[_]| said(reader(&Parser::ExitCode, requires, &[]), "hello\n", ended);
    assert_eq!(code(&OK, &[]), Ok(Value::Number(0.0)));
    assert_eq!(code(&Ended::Exited(127), &[("m", "hello")]), Ok(Value::Number(127.0)));
    assert_eq!(code(&SEGV, &[]), Err((FailureKind::Crash, "signal 11 (SIGSEGV)".into())));
    assert_eq!(code(&Ended::TimedOut, &[]), Err((FailureKind::Timeout, String::new())));
    assert_eq!(
        code(&Ended::Exited(1), &[("m", "goodbye")]),
        Err((FailureKind::Require, "goodbye".into()))
    );
}

#[test]
fn a_suite_in_which_a_test_failed_may_leave_with_an_error() {
    let junit =
        |case: &str| format!("<testsuite><testcase name=\"a\">{case}</testcase></testsuite>\n");
    for (parser, good, bad, name) in [
        (Parser::Parity, "[PASS] a\n".to_owned(), "[FAIL] a\n".to_owned(), "failed"),
        (Parser::Junit, junit(""), junit("<failure/>"), "failures"),
        (Parser::Junit, junit("<skipped/>"), junit("<error/>"), "errors"),
    ] {
        let said = |output: &str, ended: &Ended| {
            let mut reader = reader(&parser, &[], &[]);
            feed(&mut reader, output);
            let failure = |failure: Failure| (failure.kind, failure.signature());
            reader.finish(ended).map_err(failure).map(|reading| {
                reading.values[&Metric::named("m", name)].number().unwrap().to_string()
            })
        };
        let crash = |signature: &str| Err((FailureKind::Crash, signature.to_owned()));
        assert_eq!(said(&good, &OK), Ok("0".to_owned()));
        assert_eq!(said(&bad, &OK), Ok("1".to_owned()));
        assert_eq!(said(&bad, &Ended::Exited(1)), Ok("1".to_owned()));
        // An error without a failed test is the program's own.
        assert_eq!(said(&good, &Ended::Exited(1)), crash("exit code 1"));
        assert_eq!(said(&bad, &SEGV), crash("signal 11 (SIGSEGV)"));
        assert_eq!(said("", &Ended::Exited(2)), crash("exit code 2"));
    }
}

#[test]
fn a_run_that_lacks_a_requirement_does_not_count() {
    let gpu = [("m", "backend: gpu")];
    assert_eq!(said(t(&gpu), "backend: gpu\nt=5\n", &OK), Ok(Value::Number(5.0)));
    let lacks = Err((FailureKind::Require, "backend: gpu".to_owned()));
    assert_eq!(said(t(&gpu), "backend: cpu\nt=5\n", &OK), lacks);
    // An unmet requirement outranks NaN.
    assert_eq!(said(t(&gpu), "backend: cpu\nt=nan\n", &OK), lacks);
    assert_eq!(said(t(&gpu), "backend: cpu\n", &OK), lacks);
    assert_eq!(said(t(&gpu), "t=nan\n", &Ended::Exited(1)).unwrap_err().0, FailureKind::Crash);
    // Requirements of other measures are ignored.
    assert_eq!(said(t(&[("other", "backend: gpu")]), "t=5\n", &OK), Ok(Value::Number(5.0)));
}

#[test]
fn an_incomplete_run_is_incomplete_even_if_a_requirement_is_unmet() {
    let cut = "calculating perplexity over 24 chunks\n[1]5.0,";
    let perplexity = reader(&Parser::LlamaPerplexity, &[("m", "backend: cpu")], &[]);
    assert_eq!(said(perplexity, cut, &OK).unwrap_err().0, FailureKind::Incomplete);
}

#[test]
fn every_parser_is_wired() {
    let perplexity = reader(&Parser::LlamaPerplexity, &[], &[]);
    assert_eq!(
        said(perplexity, "[1]5.0,\nFinal estimate: PPL = 5.0 +/- 1\n", &OK),
        Ok(Value::Number(5.0))
    );
    let json = Parser::Json { pointers: [(None, "/x".to_owned())].into() };
    assert_eq!(said(reader(&json, &[], &[]), "{\"x\":\n 7}\n", &OK), Ok(Value::Number(7.0)));
}

#[test]
fn the_first_transient_pattern_is_reported_and_kept() {
    let mut reader = reader(&Parser::ExitCode, &[], &["Xid", "no CUDA-capable device"]);
    assert!(!reader.line(E, b"loading"));
    assert_eq!(reader.transient_hit(), None);
    // Also in a line that is not ended yet.
    assert!(reader.piece(E, b"CUDA error: no CUDA-", false));
    assert!(reader.piece(E, b"capable device", false));
    assert_eq!(reader.transient_hit(), Some("no CUDA-capable device"));
    assert!(reader.line(E, b" is detected"));
    assert!(reader.line(E, b"current device: 0"), "it belongs to the error");
    assert!(!reader.line(E, b"NVRM: Xid 79"));
    assert_eq!(reader.transient_hit(), Some("no CUDA-capable device"));
}

#[test]
fn only_lines_that_matter_are_kept() {
    let mut reader = reader(&regex(r"t=(\S+)"), &[("m", "cpu")], &["Xid"]);
    let kept: Vec<bool> = ["loading", "cpu", "cpu", "t=5", "bye"]
        .iter()
        .map(|line| reader.line(O, line.as_bytes()))
        .collect();
    assert_eq!(kept, [false, true, false, true, false]);
}

#[test]
fn progress_and_bytes_that_are_no_text() {
    assert_eq!(said(t(&[]), "10% t=1\r20% t=2\r", &OK), Ok(Value::Number(2.0)));
    let mut reader = t(&[]);
    reader.line(O, b"\xff\xfe t=3 \xff");
    let reading = reader.finish(&OK).unwrap();
    assert_eq!(reading.values[&Metric::of("m")], Value::Number(3.0));
}

#[test]
fn a_number_cut_in_two_is_one_number() {
    for (parser, text) in [
        (regex(r"t=(\S+)"), "t=12."),
        (Parser::LlamaPerplexity, "[1]12.5,Final estimate: PPL = 12."),
        (Parser::Json { pointers: [(None, "/x".to_owned())].into() }, "{\"x\": 12."),
    ] {
        let mut reader = reader(&parser, &[], &[]);
        let piece = [" ".repeat(LONGEST_LINE - text.len()).as_str(), text].concat();
        assert!(reader.line(O, piece.as_bytes()), "{text}");
        assert!(reader.line(O, if text.starts_with('{') { b"5}" } else { b"5 " }), "{text}");
        let reading = reader.finish(&OK).unwrap();
        assert_eq!(reading.values[&Metric::of("m")], Value::Number(12.5), "{text}");
    }
}

/// A parser of each kind that reads lines.
fn parsers() -> [Parser; 9] {
    let json = Parser::Json { pointers: [(None, "/x".to_owned())].into() };
    [
        regex(r"t=(\d+)"),
        json,
        Parser::LlamaPerplexity,
        Parser::LlamaBench { pick: Pick::Median },
        Parser::LlamaKld,
        Parser::LmEval,
        Parser::Parity,
        Parser::Junit,
        Parser::ExitCode,
    ]
}

proptest! {
    #[test]
    fn what_is_kept_gives_the_same_reading(
        parser in prop::sample::select(parsers().to_vec()),
        output in prop::collection::vec((any::<bool>(), any::<bool>(), "(t=[0-9]{1,3}|\\{\"x\": 1\\}|\\[[12]\\]5,|cpu|Xid|a| |\r|\\[PASS\\] q|max_diff=1|loss=2|TEST: b|Mean KLD: 1|chunk PPL){0,8}"), 0..10),
        ended in prop::sample::select(vec![OK, Ended::Exited(1), SEGV]),
    ) {
        let new = || reader(&parser, &[("m", "cpu")], &["Xid"]);
        let mut first = new();
        let kept: Vec<_> = output
            .iter()
            .map(|(err, whole, bytes)| (if *err { E } else { O }, *whole, bytes.as_bytes()))
            .filter(|(stream, whole, bytes)| first.piece(*stream, bytes, *whole))
            .collect();
        let mut again = new();
        for (stream, whole, bytes) in &kept {
            prop_assert!(again.piece(*stream, bytes, *whole), "what was kept once is kept again");
        }
        prop_assert_eq!(first.transient_hit(), again.transient_hit());
        // The log keeps the last line anyhow, which shows how far a run came.
        let but_last = |mut failure: Failure| {
            let said = failure.evidence.as_mut().and_then(|evidence| evidence.said.take());
            (failure.kind, failure.signature(), said.filter(FailureMessage::is_telling))
        };
        let (first, again) = (first.finish(&ended), again.finish(&ended));
        prop_assert_eq!(first.map_err(but_last), again.map_err(but_last));
    }
}

#[test]
fn a_suite_whose_only_failed_check_is_left_out_has_no_failure() {
    let read = |output: &str, ended: &Ended| -> Result<[f64; 2], FailureKind> {
        let mut reader = reader(&Parser::Parity, &[], &[]);
        reader.left_out = ["softmax".to_owned()].into_iter().collect();
        feed(&mut reader, output);
        let reading = reader.finish(ended).map_err(|failure| failure.kind)?;
        let count = |name: &str| reading.values[&Metric::named("m", name)].number().unwrap();
        Ok([count("failed"), count("passed")])
    };
    let failed = Ended::Exited(1);
    assert_eq!(read("[PASS] rope\n[FAIL] softmax\n", &failed), Ok([0.0, 1.0]));
    assert_eq!(read("[FAIL] rope\n[PASS] softmax\n", &failed), Ok([1.0, 0.0]));
    let crash = read("[PASS] rope\n[PASS] softmax\n", &failed);
    assert_eq!(crash, Err(FailureKind::Crash));
}
