use super::*;
use crate::evaluation::FailureKind;

/// The output format of a year.
#[derive(Clone, Copy)]
struct Year {
    function: &'static str,
    indent: usize,
    gap: &'static str,
    row_end: &'static str,
    /// Whether `sum` covers all values.
    sums_all: bool,
}

const YEAR_2024: Year =
    Year { function: "ggml_debug", indent: 37, gap: "..., ", row_end: "],", sums_all: false };
const YEAR_2025: Year = Year { sums_all: true, ..YEAR_2024 };
const YEAR_2026: Year = Year {
    function: "common_debug_cb_eval",
    indent: 4,
    gap: "   ..., ",
    row_end: "  ],",
    sums_all: true,
};

/// The first line, as of `Qcur-0`, `MUL_MAT`, `{6, 2, 1, 1}`.
fn head(year: Year, name: &str, kind: &str, operation: &str, shape: [usize; 4]) -> String {
    let shape = shape.map(|size| size.to_string()).join(", ");
    let function = year.function;
    format!(
        "{function}: {name:>24} = ({kind}) {operation:>10}(a{{{shape}}}, b (view){{{shape}}}}}) = {{{shape}}}\n"
    )
}

/// The indices of a dimension that are printed.
fn ends(length: usize) -> impl Iterator<Item = usize> {
    (0..length).filter(move |i| length <= 6 || *i < 3 || *i >= length - 3)
}

/// The text in place of values that are left out.
fn gap(before: usize, length: usize, gap: &str) -> &str {
    if length > 6 && before + 3 == length { gap } else { "" }
}

/// An f32 matrix without NaN, as that year prints it.
fn dump(year: Year, name: &str, operation: &str, rows: &[Vec<f64>]) -> String {
    let pad = " ".repeat(year.indent);
    let row = |row: &Vec<f64>| {
        let comma = |x: usize| if x + 1 < row.len() { ", " } else { "" };
        let shown = ends(row.len())
            .map(|x| format!("{}{:12.4}{}", gap(x, row.len(), year.gap), row[x], comma(x)));
        format!("{pad}  [{}{}\n", shown.collect::<String>(), year.row_end)
    };
    let dots = format!("{pad}  ..., \n");
    let body: String =
        ends(rows.len()).map(|y| gap(y, rows.len(), &dots).to_owned() + &row(&rows[y])).collect();
    let shown = || ends(rows.len()).flat_map(|y| ends(rows[y].len()).map(move |x| rows[y][x]));
    let sum: f64 = if year.sums_all { rows.iter().flatten().sum() } else { shown().sum() };
    let head = head(year, name, "f32", operation, [rows[0].len(), rows.len(), 1, 1]);
    format!("{head}{pad}[\n{pad} [\n{body}{pad} ],\n{pad}]\n{pad}sum = {sum:.6}\n")
}

fn wide() -> Vec<Vec<f64>> {
    vec![vec![0.5, -1.25, 3.0, 100.0, 7.0, 0.125, -2.0]]
}

fn read_of(wanted: Option<&str>, output: &str) -> Result<Reading, Failure> {
    let wanted = wanted.map(|pattern| Regex::new(pattern).unwrap());
    let mut parser = EvalCallback::new("dump", wanted.as_ref());
    for line in output.lines() {
        parser.line(line);
    }
    parser.finish()
}

fn read(output: &str) -> Result<Reading, Failure> {
    read_of(None, output)
}

fn values(reading: Reading) -> Vec<(String, f64)> {
    let number = |(metric, value): (Metric, Value)| (metric.name.unwrap(), value.number().unwrap());
    reading.values.into_iter().map(number).collect()
}

fn named(pairs: &[(&str, f64)]) -> Vec<(String, f64)> {
    pairs.iter().map(|(name, x)| ((*name).to_owned(), *x)).collect()
}

#[test]
fn the_sum_of_the_printed_values_is_the_same_in_every_year() {
    let small = vec![vec![1.0, 2.0], vec![-0.5, 0.25]];
    for year in [YEAR_2024, YEAR_2025, YEAR_2026] {
        let output = format!(
            "build: 0 (unknown)\n{}{}\nllama_perf_context_print: total time = 28.03 ms\n",
            dump(year, "norm-0", "RMS_NORM", &small),
            dump(year, "result_output", "MUL_MAT", &wide()),
        );
        let mut expected = vec![
            ("infinite", 0.0),
            ("norm-0", 2.75),
            ("norm-0-shown", 2.75),
            ("result_output-shown", 7.375),
            ("tensors", 2.0),
        ];
        // A sum of the printed values only has another name.
        if year.sums_all {
            expected.insert(3, ("result_output", 107.375));
        }
        assert_eq!(values(read(&output).unwrap()), named(&expected), "{}", year.function);
    }
}

#[test]
fn a_time_before_a_line_is_passed_over() {
    let plain = dump(YEAR_2026, "x", "ADD", &wide());
    let timed = plain.replacen("common", "0.01.664.817 E common", 1);
    assert_eq!(read(&plain).unwrap(), read(&timed).unwrap());
}

#[test]
fn tensors_with_one_name_get_their_operation_or_a_number_added() {
    let row = vec![vec![1.0]];
    let of = |name: &str, operation: &str| dump(YEAR_2026, name, operation, &row);
    let output = [
        of("Qcur-0", "MUL_MAT"),
        of("Qcur-0 (reshaped)", "RESHAPE"),
        of("Qcur-0", "ROPE"),
        of("norm-0", "RMS_NORM"),
        of("norm-0", "RMS_NORM"),
        of("", "CONT"),
        of("infinite", "ADD"),
    ];
    let reading = read(&output.concat()).unwrap();
    let names: Vec<String> = values(reading.clone())
        .into_iter()
        .map(|(name, _)| name)
        .filter(|name| !name.ends_with("-shown"))
        .collect();
    let expected = [
        "Qcur-0-MUL_MAT",
        "Qcur-0-ROPE",
        "Qcur-0_reshaped",
        "infinite",
        "norm-0-RMS_NORM",
        "norm-0-RMS_NORM_2",
        "tensor-infinite",
        "tensors",
        "unnamed",
    ];
    assert_eq!(names, expected);
    let checks: Vec<String> = reading.checks.unwrap().into_iter().collect();
    assert_eq!(checks.len(), 7);
    assert_eq!(checks[1], "Qcur-0 (reshaped) = (f32) RESHAPE {1, 1, 1, 1}");
    assert_eq!(checks[6], "norm-0 = (f32) RMS_NORM {1, 1, 1, 1} (2)");
}

#[test]
fn only_tensors_whose_names_match_are_read() {
    let output = [
        dump(YEAR_2026, "l_out-0", "ADD", &wide()),
        dump(YEAR_2026, "result_output", "MUL_MAT", &wide()),
    ];
    let reading = read_of(Some("^result_"), &output.concat()).unwrap();
    assert_eq!(reading.values[&Metric::named("dump", "tensors")], Value::Number(1.0));
    assert!(reading.values.contains_key(&Metric::named("dump", "result_output")));
    assert!(!reading.values.contains_key(&Metric::named("dump", "l_out-0")));
    let failure = read_of(Some("logits"), &output.concat()).unwrap_err();
    assert_eq!(failure.detail, "no tensor has a name that matches `logits`");
    assert_eq!(failure.kind, FailureKind::Unreadable);
}

#[test]
fn a_tensor_that_adds_up_to_nan_is_named_whether_or_not_the_program_stops() {
    let fine = dump(YEAR_2025, "norm-0", "RMS_NORM", &wide());
    let shape = [1, 1, 1, 1];
    let broken = head(YEAR_2025, "ffn_out-0", "f32", "MUL_MAT", shape)
        + "    [\n     [\n      [         nan],\n     ],\n    ]\n    sum = nan\n";
    let later = broken.replace("ffn_out-0", "l_out-0");
    for output in [
        format!("{fine}{broken}{fine}{later}"),
        format!("{fine}{broken}encountered NaN - aborting\n"),
    ] {
        // Also for a tensor that is not wanted, since the program may stop at NaN.
        for wanted in [None, Some("norm")] {
            let failure = read_of(wanted, &output).unwrap_err();
            assert_eq!(failure.kind, FailureKind::Nan);
            assert_eq!(failure.detail, "the sum of tensor `ffn_out-0` is nan");
        }
    }
}

#[test]
fn masks_are_infinite_by_design_and_counted() {
    let mask = head(YEAR_2026, "KQ_mask (copy)", "f16", "CPY", [2, 1, 1, 1])
        + "    [\n        [\n            [      0.0000,         -inf  ],\n        ],\n    ]\n    sum = -inf\n";
    let output = mask + &dump(YEAR_2026, "x", "ADD", &[vec![1.0]]);
    let expected = [("infinite", 1.0), ("tensors", 2.0), ("x", 1.0), ("x-shown", 1.0)];
    assert_eq!(values(read(&output).unwrap()), named(&expected));
}

#[test]
fn nothing_is_shown_of_quantized_tensors() {
    let cache = head(YEAR_2026, "cache_k_l0 (view)", "q8_0", "SET_ROWS", [128, 32, 1, 1]);
    let output = cache + &dump(YEAR_2026, "x", "ADD", &[vec![1.0]]);
    let expected = [("infinite", 0.0), ("tensors", 2.0), ("x", 1.0), ("x-shown", 1.0)];
    assert_eq!(values(read(&output).unwrap()), named(&expected));
}

#[test]
fn each_index_of_the_last_dimension_has_a_sum() {
    let slice = |x: f64| {
        format!(
            "    [\n     [\n      [{x:12.4}, {x:12.4}],\n     ],\n    ]\n    sum = {:.6}\n",
            9.0
        )
    };
    let head = head(YEAR_2025, "kqv-0", "f32", "MUL_MAT", [2, 1, 1, 2]);
    let whole = format!("{head}{}{}", slice(2.0), slice(2.5));
    let expected = [("infinite", 0.0), ("kqv-0", 9.0), ("kqv-0-shown", 9.0), ("tensors", 1.0)];
    assert_eq!(values(read(&whole).unwrap()), named(&expected));
    let failure = read(&format!("{head}{}", slice(2.0))).unwrap_err();
    assert_eq!(failure.kind, FailureKind::Incomplete);
}

#[test]
fn output_with_wrong_values_of_the_first_weeks_is_refused() {
    // The first value, plus four bytes for each further one.
    let ramp: Vec<f64> = (0..8).map(|i| 0.25 + 4.0 * f64::from(i)).collect();
    let output = dump(YEAR_2024, "inp_embd", "GET_ROWS", std::slice::from_ref(&ramp))
        + &dump(YEAR_2024, "norm-0", "RMS_NORM", &[ramp]);
    let failure = read(&output).unwrap_err();
    assert_eq!(failure.kind, FailureKind::Unreadable);
    assert_eq!(failure.signature(), "wrong values");
    // A single such tensor among others has correct values.
    let mixed = format!("{output}{0}{0}{0}", dump(YEAR_2024, "x", "ADD", &wide()));
    read(&mixed).unwrap();
}

#[test]
fn an_output_without_tensors_is_unreadable() {
    for output in ["", "sum = 3\n", "[1.0, 2.0]\nmain : failed to init\n"] {
        let failure = read(output).unwrap_err();
        assert_eq!(failure.kind, FailureKind::Unreadable, "{output}");
    }
}

#[test]
fn wherever_a_tensor_is_cut_it_is_seen() {
    let whole = dump(YEAR_2026, "l_out-0", "ADD", &wide());
    let last = dump(YEAR_2026, "result_output", "MUL_MAT", &vec![wide().remove(0); 9]);
    for cut in last.find('\n').unwrap()..last.trim_end().len() {
        let failure = read(&format!("{whole}{}", &last[..cut])).unwrap_err();
        assert_eq!(failure.kind, FailureKind::Incomplete, "{}", &last[..cut]);
        let expected = "the output ends inside tensor `result_output`, after 1 complete tensor";
        assert_eq!(failure.detail, expected);
    }
    read(&format!("{whole}{last}")).unwrap();
}

#[test]
fn kept_lines_are_enough() {
    let nan = head(YEAR_2025, "z", "f32", "ADD", [1, 1, 1, 1]) + "[nan],\nsum = nan\n";
    let cases = [None, Some("^x"), Some("y$")].map(|wanted| [(wanted, ""), (wanted, &nan)]);
    for (wanted, tail) in cases.into_iter().flatten() {
        let output = [
            dump(YEAR_2025, "x", "ADD", &wide()),
            dump(YEAR_2025, "y", "MUL", &wide()),
            dump(YEAR_2025, "x", "MUL", &wide()),
            tail.to_owned(),
        ];
        let output = output.concat();
        let pattern = wanted.map(|wanted| Regex::new(wanted).unwrap());
        let mut parser = EvalCallback::new("dump", pattern.as_ref());
        let kept: Vec<&str> = output.lines().filter(|line| parser.line(line)).collect();
        assert!(kept.len() < output.lines().count());
        assert_eq!(read_of(wanted, &kept.join("\n")), parser.finish());
    }
}

#[test]
fn a_set_of_tensors_has_no_values_and_may_have_nan() {
    let read_set = |output: &str| {
        let mut parser = EvalCallback::new("dump", None);
        for line in output.lines() {
            parser.line(line);
        }
        parser.finish_set()
    };
    let broken = head(YEAR_2025, "z", "f32", "ADD", [1, 1, 1, 1]) + "[nan],\nsum = nan\n";
    let output = dump(YEAR_2025, "x", "ADD", &wide()) + &broken;
    assert_eq!(read_set(&output), Ok(Reading::default()));
    let cut = &output[..output.len() - 5];
    assert_eq!(read_set(cut).unwrap_err().kind, FailureKind::Incomplete);
    assert_eq!(read_set("no tensor").unwrap_err().kind, FailureKind::Unreadable);
}
