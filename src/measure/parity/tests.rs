use super::*;
use crate::evaluation::FailureKind;

fn read(output: &str) -> Result<Reading, Failure> {
    let mut parser = Parity::new("suite");
    for line in output.lines() {
        parser.line(line);
    }
    parser.finish()
}

fn values(output: &str) -> Vec<(String, f64)> {
    let values = read(output).unwrap().values;
    let number = |value: &Value| value.number().unwrap();
    values.iter().map(|(metric, value)| (metric.name.clone().unwrap(), number(value))).collect()
}

fn ran(output: &str) -> Vec<String> {
    read(output).unwrap().checks.unwrap().into_iter().collect()
}

fn named(pairs: &[(&str, f64)]) -> Vec<(String, f64)> {
    pairs.iter().map(|(name, x)| ((*name).to_owned(), *x)).collect()
}

#[test]
fn a_report_with_headings_colours_and_a_table_of_times() {
    let output = "
================================================================================
  TEST: GELU Forward
================================================================================
  CPU:        Some Processor
  ACCURACY
  Exact           max_diff=1.19e-07  tol=1e-05  [\u{1b}[92mPASS\u{1b}[0m]
  Fast (sigmoid)  max_diff=2.03e-02  tol=1e-01  [\u{1b}[92mPASS\u{1b}[0m]

  PERFORMANCE
  Kernel          PyTorch (us)     C Kernel (us)    Speedup    max_diff    tol
  Exact           12.1             3.4              \u{1b}[92m3.56x\u{1b}[0m  1.19e-07    1e-05

  \u{1b}[92mALL TESTS PASSED (2/2)\u{1b}[0m
  TEST: GELU Backward
  Exact           max_diff=4.00e-07  tol=1e-06  [\u{1b}[91mFAIL\u{1b}[0m]
  \u{1b}[91mSOME TESTS FAILED (0/1 passed)\u{1b}[0m
";
    let expected = [
        ("GELU_Backward-Exact", 4e-7),
        ("GELU_Forward-Exact", 1.19e-7),
        ("GELU_Forward-Fast_sigmoid", 2.03e-2),
        ("failed", 1.0),
        ("max_diff", 2.03e-2),
        ("passed", 2.0),
        ("skipped", 0.0),
    ];
    assert_eq!(values(output), named(&expected));
    let checks = ["GELU_Backward-Exact", "GELU_Forward-Exact", "GELU_Forward-Fast_sigmoid"];
    assert_eq!(ran(output), checks);
}

/// The result, the name and the distance of one line.
fn line(text: &str) -> Option<(State, String, Option<f64>)> {
    let Line { state, name, distance, .. } = Line::of(text);
    Some((state?, word(&name), distance))
}

#[test]
fn checks_in_every_convention() {
    use State::{Failed, Passed, Skipped};
    for (text, state, name, distance) in [
        ("  Q: max_diff=1.2e-07  [PASS]", Passed, "Q", Some(1.2e-7)),
        ("[PASS] Flash attention", Passed, "Flash_attention", None),
        ("  [FAIL] layer 3: shape mismatch C=(1, 2) PT=(2, 1)", Failed, "layer_3", None),
        ("[FAIL] T=1 B=2 max_diff=0.5000", Failed, "T_1_B_2", Some(0.5)),
        ("  [PASS] max_diff = 1.53e-05", Passed, "", Some(1.53e-5)),
        ("OK: Debug helpers compile", Passed, "Debug_helpers_compile", None),
        ("SKIP: Model files not found", Skipped, "Model_files_not_found", None),
        ("[       OK ] Rope.Interleaved (3 ms)", Passed, "Rope_Interleaved", None),
        ("[  FAILED  ] Rope.Split (1 ms)", Failed, "Rope_Split", None),
        ("  nth=4: max_diff=1.00e-07 PASS", Passed, "nth_4", Some(1e-7)),
        ("  v3 vs separate: 1.2e-06 PASS", Passed, "v3_vs_separate", None),
        ("gemv_q8_0   4096 4096   0.123 0.234 1.90x  PASS", Passed, "gemv_q8_0_4096_4096", None),
        ("  gelu: FAIL (max_diff=0.250000)", Failed, "gelu", Some(0.25)),
        ("  q4_k: SKIPPED (no PyTorch reference)", Skipped, "q4_k", None),
        ("  Case 3: PASS", Passed, "Case_3", None),
        ("split_q_gate forward parity: PASS", Passed, "split_q_gate_forward_parity", None),
        ("  Max diff:  1.25e-06  [OK]", Passed, "", Some(1.25e-6)),
        ("gemv: max_abs=1.0e-03, max_rel=0.5 [FAIL]", Failed, "gemv", Some(1e-3)),
        ("norm ERROR", Failed, "norm", None),
        ("norm: TIMEOUT (60 s)", Failed, "norm", None),
        ("norm CRASHED", Failed, "norm", None),
        ("norm max_diff=0.5 MISMATCH", Failed, "norm", Some(0.5)),
        ("norm NOK", Failed, "norm", None),
        ("norm Failed", Failed, "norm", None),
        ("norm ***Failed", Failed, "norm", None),
        ("norm***Failed", Failed, "norm", None),
        ("norm FAIL!", Failed, "norm", None),
        ("norm [ERROR]", Failed, "norm", None),
        // A time behind the word.
        ("norm FAILED (0.01 s)", Failed, "norm", None),
        ("norm ***Failed 0.01 sec", Failed, "norm", None),
        ("norm PASS 3 ms", Passed, "norm", None),
        ("norm failed after 3s", Failed, "norm", None),
        ("norm ok (0.3 s)", Passed, "norm", None),
        // Small letters behind a colon or dots.
        ("norm: pass", Passed, "norm", None),
        ("norm: failed (max_diff=0.5)", Failed, "norm", Some(0.5)),
        ("norm: mismatch", Failed, "norm", None),
        ("norm ... error", Failed, "norm", None),
        (
            "q4_0 absolute quantization error:    ok (0.002)",
            Passed,
            "q4_0_absolute_quantization_error",
            None,
        ),
        ("test ops::norm ... ok", Passed, "test_ops_norm", None),
        ("test ops::norm ... ok <0.001s>", Passed, "test_ops_norm", None),
        ("test ops::norm ... FAILED", Failed, "test_ops_norm", None),
        ("test ops::norm ... ignored, slow", Skipped, "test_ops_norm", None),
        // Test runners.
        (" 3/12 Test  #3: norm.f32 ........   Passed    0.02 sec", Passed, "norm_f32", None),
        ("12/12 Test #12: norm.f32 ........***Failed    0.01 sec", Failed, "norm_f32", None),
        ("1/1 Test #1: n .....Subprocess aborted***Exception:   0.1 sec", Failed, "n", None),
        ("1/1 Test #1: n .....***Not Run (Disabled)   0.00 sec", Skipped, "n", None),
        ("test_x.py::test_b[1-a] FAILED        [ 50%]", Failed, "test_x_py_test_b_1-a", None),
        ("FAILED test_x.py::test_b[1-a] - AssertionError: 3", Failed, "test_x_py_test_b_1-a", None),
        ("--- FAIL: TestNorm (0.00s)", Failed, "TestNorm", None),
        ("not ok 3 - norm", Failed, "norm", None),
        ("ok 3 - norm", Passed, "norm", None),
        ("not ok 4 - norm # TODO slow", Skipped, "norm", None),
        // Marks.
        ("  ✓ norm (3 ms)", Passed, "norm", None),
        ("norm: max_diff=0.5 ✗", Failed, "norm", Some(0.5)),
        ("❌ norm failed", Failed, "norm", None),
        ("❌ FAIL: norm", Failed, "norm", None),
        ("✅ norm: PASS", Passed, "norm", None),
    ] {
        assert_eq!(line(text), Some((state, name.to_owned(), distance)), "{text}");
    }
}

#[test]
fn totals_and_lines_that_only_look_like_checks_are_not_checks() {
    for text in [
        "ALL TESTS PASSED (3/3)",
        "  SOME TESTS FAILED (1/3 passed)",
        "PARITY TESTS: 2 FAILED",
        "  RESULT: 2 FAILED",
        "[  PASSED  ] 12 tests.",
        "  PASSED:    12",
        "  FAILED: 3",
        "2 FAILED",
        "passed the buffer to the kernel",
        "the token was OK'd",
        "FAILURES",
        "[INFO] loading",
        "[ERROR] no such file",
        "ERROR: no such file",
        "Failed to lock the memory",
        "the first try failed",
        "the first try failed after 3 s",
        "log level: error",
        "3 passed in 0.12s",
        "==== 1 failed, 3 passed in 0.12s ====",
        "test result: FAILED. 1 passed; 1 failed; 0 ignored; finished in 0.01s",
        "50% tests passed, 1 tests failed out of 2",
        "[  PASSED  ] 1 test.",
        "[  FAILED  ] 1 test, listed below:",
        "log level: ERROR",
        "KERNEL  SPEEDUP  MAX ERROR",
        "Kernel  Max Error",
        "Suite   Passed  Failed",
        "RESULT: 2 Failed",
        "ERROR",
        "*** ERROR",
        "[SKIPPED] Benchmark tests (--quick mode)",
        "Kernel   max_diff   tol",
        "✅ All tests passed",
        "✗ 2 of 3 failed",
        "✓ 12/12",
        "",
    ] {
        assert_eq!(line(text), None, "{text}");
    }
}

#[test]
fn a_summary_names_checks_that_already_failed() {
    for output in [
        "[==========] Running 2 tests from 1 test suite.\n[       OK ] Rope.A (3 ms)\n\
         [  FAILED  ] Rope.B (1 ms)\n[  PASSED  ] 1 test.\n\
         [  FAILED  ] 1 test, listed below:\n[  FAILED  ] Rope.B\n\n 1 FAILED TEST\n",
        "==== test session starts ====\ntest_x.py::test_a PASSED   [ 50%]\n\
         test_x.py::test_b FAILED   [100%]\n==== short test summary info ====\n\
         FAILED test_x.py::test_b - AssertionError: 3\n==== 1 failed, 1 passed in 0.12s ====\n",
        "running 2 tests\ntest a ... ok\ntest b ... FAILED\n\nfailures:\n\n\
         ---- b stdout ----\nthread 'b' panicked at src/lib.rs:3:5\n\nfailures:\n    b\n\n\
         test result: FAILED. 1 passed; 1 failed; 0 ignored\n",
        "    Start 1: a\n1/2 Test #1: a ....   Passed    0.02 sec\n    Start 2: b\n\
         2/2 Test #2: b ....***Failed    0.01 sec\n50% tests passed, 1 tests failed out of 2\n\
         The following tests FAILED:\n\t  2 - b (Failed)\nErrors while running CTest\n",
    ] {
        let wanted = [("failed", 1.0), ("passed", 1.0), ("skipped", 0.0)];
        assert_eq!(values(output), named(&wanted), "{output}");
        assert_eq!(ran(output).len(), 2, "{output}");
    }
    // Without a line for each check, the summary is all that there is.
    let output = "F.\n==== short test summary info ====\nFAILED test_x.py::test_b - E\n";
    assert_eq!(ran(output), ["test_x_py_test_b"]);
}

#[test]
fn distances_without_a_verdict_are_values_too() {
    let output = "Logits diff: max_abs=1.200e-05 mean_abs=3.000e-07\n\
                  logits: max_abs=2.0e-05 mean_abs=1e-6\n    max_diff=9.0e-06, tol=1e-05\n";
    let expected = [("Logits_diff", 1.2e-5), ("logits", 2e-5), ("max_diff", 2e-5)];
    assert_eq!(values(output), named(&expected));
    assert_eq!(ran(output), ["Logits_diff", "logits"]);
}

#[test]
fn repeated_and_reserved_names_are_changed() {
    let output = "Q: max_diff=1e-7 [PASS]\nQ: max_diff=2e-7 [PASS]\nloss: max_diff=3e-7 [PASS]\n\
                  [PASS]\n[FAIL]\n[SKIP] torch not available\n";
    let expected = [
        ("Q", 1e-7),
        ("Q_2", 2e-7),
        ("check-loss", 3e-7),
        ("failed", 1.0),
        ("max_diff", 3e-7),
        ("passed", 4.0),
        ("skipped", 1.0),
    ];
    assert_eq!(values(output), named(&expected));
    assert_eq!(ran(output), ["Q", "Q_2", "check-loss", "unnamed", "unnamed_2"]);
}

#[test]
fn losses_of_steps_are_a_series_and_the_last_is_the_value() {
    let output = "Step 1: loss = 3.500000\nstep 2 loss 3.25\nC loss: 3.125 | Torch loss: 3.126\n";
    let reading = read(output).unwrap();
    assert_eq!(reading.chunks, [3.5, 3.25]);
    assert_eq!(values(output), named(&[("loss", 3.125)]));
    let fallen = read("Step 1: loss = 3.5\nStep 2: loss = nan\n").unwrap_err();
    assert_eq!(fallen.kind, FailureKind::Nan);
    assert_eq!(fallen.detail, "the loss of step 2 is nan");
}

#[test]
fn nan_is_bad_and_nothing_is_unreadable() {
    let nan = read("[PASS] a\nb: max_diff=nan [FAIL]\n").unwrap_err();
    assert_eq!((nan.kind, nan.detail.as_str()), (FailureKind::Nan, "`b` is nan"));
    let none = read("loading\nALL TESTS PASSED (3/3)\n").unwrap_err();
    assert_eq!(none.kind, FailureKind::Unreadable);
}
