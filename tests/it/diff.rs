//! `diff logits` on files of every format.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;

use crate::kit::{Output, TestEnvironment};

/// A `.npy` file of f32, as NumPy writes it.
fn npy(path: &Path, rows: &[Vec<f32>]) {
    let shape = format!("({}, {})", rows.len(), rows[0].len());
    let values = rows.iter().flatten().flat_map(|value| value.to_le_bytes());
    write_npy(path, "<f4", "False", &shape, &values.collect::<Vec<u8>>());
}

fn write_npy(path: &Path, descr: &str, fortran: &str, shape: &str, values: &[u8]) {
    let literal = format!("{{'descr': '{descr}', 'fortran_order': {fortran}, 'shape': {shape}, }}");
    let padded =
        format!("{literal:<width$}\n", width = (literal.len() + 11).next_multiple_of(64) - 11);
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend(u16::try_from(padded.len()).unwrap().to_le_bytes());
    bytes.extend(padded.as_bytes());
    bytes.extend(values);
    fs::write(path, bytes).unwrap();
}

/// A `.safetensors` file of bfloat16 tensors with one row each.
fn safetensors(path: &Path, tensors: &[(&str, &[f32])]) {
    let mut data = Vec::new();
    let mut entries = Vec::new();
    for (name, row) in tensors {
        let begin = data.len();
        data.extend(
            row.iter().flat_map(|value| (value.to_bits() >> 16).to_le_bytes()[..2].to_vec()),
        );
        let (length, end) = (row.len(), data.len());
        entries.push(format!(
            r#""{name}":{{"dtype":"BF16","shape":[1,{length}],"data_offsets":[{begin},{end}]}}"#
        ));
    }
    let header = format!("{{{}}}", entries.join(","));
    let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
    bytes.extend(header.as_bytes());
    bytes.extend(data);
    fs::write(path, bytes).unwrap();
}

/// Three positions of four logits, and the same with a change in each.
fn example() -> [Vec<Vec<f32>>; 2] {
    let base =
        vec![vec![1.0, 2.0, 4.0, -1.0], vec![0.5, 3.0, -2.0, 0.0], vec![-1.0, 0.0, 2.0, 1.5]];
    let mut candidate = base.clone();
    candidate[0][1] = 2.000_5;
    candidate[1][0] = 0.75;
    candidate[2][3] = 2.5;
    [base, candidate]
}

/// An environment with the example in `a.npy` and `b.npy` of its `tmp`.
fn with_example() -> TestEnvironment {
    let env = TestEnvironment::new();
    let [base, candidate] = example();
    npy(&env.path("tmp/a.npy"), &base);
    npy(&env.path("tmp/b.npy"), &candidate);
    env
}

fn diff(env: &TestEnvironment, args: &[&str]) -> Output {
    let words: Vec<&str> = ["diff", "logits"].iter().chain(args).copied().collect();
    env.run_in(&env.path("tmp"), &words)
}

fn json(env: &TestEnvironment, args: &[&str]) -> Value {
    let words: Vec<&str> = args.iter().copied().chain(["--json"]).collect();
    serde_json::from_str(&diff(env, &words).stdout).unwrap()
}

#[test]
fn the_figures_are_shown_with_their_places() {
    let env = with_example();
    insta::assert_snapshot!(diff(&env, &["a.npy", "b.npy"]).expect(0).stdout, @r"
    A  a.npy (npy, f32)
    B  b.npy (npy, f32)
    3 positions × 4 values

                                            first position  worst position
    max |Δ|       1                                      0               2
    mean |Δ|      0.104                                  0               2
    RMS of Δ      0.298                                  0               2
    min cosine    0.96886                                0               2
    mean cosine   0.98887
    max KL(A‖B)   0.12 nats                              0               2
    99 % KL       0.12 nats
    mean KL       0.0407 nats
    same top-1    66.6 % (2 of 3)                        2               2
    Largest difference: 1.5 → 2.5, at index 3 of position 2
    A difference above 0.01 is beyond rounding.
    ");
    let broken = diff(&env, &["a.npy", "b.npy", "--guard", "lossless-f16"]).expect(1).stdout;
    let (_, guard) = broken.split_once("beyond rounding.\n\n").unwrap();
    insta::assert_snapshot!(guard, @r"
    Guard lossless-f16: broken
      max |Δ| 1 is above 0.001, first at position 1
    ");
    let same = diff(&env, &["a.npy", "a.npy", "--guard", "bitwise"]).expect(0).stdout;
    insta::assert_snapshot!(same, @r"
    A  a.npy (npy, f32)
    B  a.npy (npy, f32)
    3 positions × 4 values
    The files are equal, bit for bit.

    Guard bitwise: holds
    ");
}

#[test]
fn json_has_the_figures_by_their_definitions() {
    let env = with_example();
    let found = json(&env, &["a.npy", "b.npy"]);
    let rows = example().map(|rows| {
        let exact = |row: &Vec<f32>| row.iter().map(|x| f64::from(*x)).collect::<Vec<f64>>();
        rows.iter().map(exact).collect::<Vec<_>>()
    });
    let softmax = |row: &[f64]| {
        let sum: f64 = row.iter().map(|x| x.exp()).sum();
        row.iter().map(|x| x.exp() / sum).collect::<Vec<f64>>()
    };
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let pairs = || rows[0].iter().zip(&rows[1]);
    let deltas: Vec<f64> =
        pairs().flat_map(|(a, b)| a.iter().zip(b).map(|(a, b)| (b - a).abs())).collect();
    let cosines: Vec<f64> =
        pairs().map(|(a, b)| dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()).collect();
    let kls: Vec<f64> = pairs()
        .map(|(a, b)| softmax(a).iter().zip(softmax(b)).map(|(p, q)| p * (p / q).ln()).sum())
        .collect();
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let expected = [
        ("max_abs", 1.0),
        ("mean_abs", mean(&deltas)),
        ("rms", (dot(&deltas, &deltas) / 12.0).sqrt()),
        ("min_cosine", cosines.iter().copied().fold(1.0, f64::min)),
        ("mean_cosine", mean(&cosines)),
        ("mean_kl", mean(&kls)),
        ("p99_kl", kls[2]),
        ("max_kl", kls[2]),
        ("top1_agreement", 2.0 / 3.0),
        ("positions", 3.0),
        ("vocab", 4.0),
    ];
    for (key, expected) in expected {
        let value = found[key].as_f64().unwrap();
        assert!((value - expected).abs() < 1e-6, "{key}: {value}, not {expected}");
    }
    assert_eq!(found["worst"]["kl"], 2);
    assert_eq!(found["first"]["max_abs"], 0);
    assert_eq!(found["first"]["top1"], 2);
    assert_eq!(found["beyond_rounding"], true);
    assert_eq!((&found["identical"], &found["guard"]), (&Value::Bool(false), &Value::Null));
    let guarded = json(&env, &["a.npy", "b.npy", "--guard", "lossy"]);
    assert_eq!(guarded["guard"]["holds"], false);
    assert_eq!(guarded["first"]["cosine"], 1);
}

#[test]
fn nan_and_infinity_are_found_with_their_places() {
    let env = with_example();
    let [_, mut candidate] = example();
    candidate[1][2] = f32::NAN;
    candidate[2][0] = f32::NEG_INFINITY;
    npy(&env.path("tmp/bad.npy"), &candidate);
    let said = diff(&env, &["a.npy", "bad.npy", "--guard", "lossy"]).expect(1);
    said.says(&[
        "B: 1 value is nan, at index 2 of position 1",
        "B: 1 value is -inf, at index 0 of position 2",
        "leave out 2 positions",
        "Guard lossy: broken",
    ]);
    let found = json(&env, &["a.npy", "bad.npy"]);
    assert_eq!(found["positions_left_out"], 2);
    assert_eq!(found["non_finite"][0]["value"], "nan");
}

#[test]
fn formats_and_types_can_be_mixed() {
    let env = with_example();
    let row = [1.0_f32, 2.0, 4.0, -1.0];
    npy(&env.path("tmp/row.npy"), &[row.to_vec()]);
    safetensors(&env.path("tmp/one.safetensors"), &[("logits", &row)]);
    safetensors(&env.path("tmp/two.safetensors"), &[("logits", &row), ("hidden", &[1.0, 2.0])]);
    let found = json(&env, &["row.npy", "one.safetensors"]);
    assert_eq!(
        (&found["max_abs"], &found["b"]["values"]),
        (&Value::from(0.0), &Value::from("bf16"))
    );
    diff(&env, &["row.npy", "one.safetensors", "--guard", "bitwise"])
        .expect(1)
        .says(&["the files store different types: f32 and bf16"]);
    diff(&env, &["row.npy", "two.safetensors"])
        .expect(2)
        .says(&["it has 2 tensors: `logits`, `hidden`", "--tensor NAME"]);
    diff(&env, &["row.npy", "two.safetensors", "--tensor", "logits", "--guard", "lossless-f32"])
        .expect(0);
    diff(&env, &["row.npy", "two.safetensors", "--tensor", "hidden"])
        .expect(2)
        .says(&["rows have 4 and 2 values (the vocabulary)"]);
    diff(&env, &["a.npy", "b.npy", "--tensor", "x"]).expect(2).says(&["leave --tensor out"]);
}

/// A base file with one chunk of four tokens: one position, the third token.
fn kl_base(path: &Path, tokens: [i32; 4], steps: [u16; 4]) {
    let numbers = [4, 4, 1].into_iter().chain(tokens).flat_map(i32::to_le_bytes);
    let scale = [16.0 / 65_535.0, -17.0_f32].into_iter().flat_map(f32::to_le_bytes);
    let steps = steps.into_iter().flat_map(u16::to_le_bytes);
    let bytes = b"_logits_".iter().copied().chain(numbers).chain(scale).chain(steps);
    fs::write(path, bytes.collect::<Vec<u8>>()).unwrap();
}

#[test]
fn base_files_of_llama_cpp_are_compared_on_the_same_tokens() {
    let env = TestEnvironment::new();
    let steps = [65_535, 60_000, 0, 4];
    kl_base(&env.path("tmp/a.kld"), [1, 2, 3, 4], steps);
    kl_base(&env.path("tmp/b.kld"), [1, 2, 3, 4], [65_535, 60_001, 0, 4]);
    kl_base(&env.path("tmp/other.kld"), [1, 2, 3, 5], steps);
    let found = json(&env, &["a.kld", "b.kld"]);
    assert!((found["max_abs"].as_f64().unwrap() - 16.0 / 65_535.0).abs() < 2e-6, "{found}");
    assert_eq!(
        (&found["positions"], &found["log_probabilities"]),
        (&Value::from(1), &Value::from(true))
    );
    diff(&env, &["a.kld", "b.kld"]).expect(0).says(&["These are log-probabilities"]);
    diff(&env, &["a.kld", "a.kld", "--guard", "bitwise"]).expect(0);
    diff(&env, &["a.kld", "other.kld"]).expect(2).says(&["they differ in token 3", "hint: "]);
}

#[test]
fn files_that_cannot_be_compared_are_refused_with_a_cure() {
    let env = with_example();
    let at = |name: &str| env.path(&format!("tmp/{name}"));
    write_npy(&at("fortran.npy"), "<f4", "True", "(3, 4)", &[0; 48]);
    write_npy(&at("big.npy"), ">f4", "False", "(3, 4)", &[0; 48]);
    write_npy(&at("short.npy"), "<f4", "False", "(3, 4)", &[0; 40]);
    write_npy(&at("empty.npy"), "<f4", "False", "(0, 4)", &[]);
    write_npy(&at("ids.npy"), "<i4", "False", "(3, 4)", &[0; 48]);
    fs::write(at("text"), "no dump").unwrap();
    let refusals = [
        ("fortran.npy", "the array is in Fortran order"),
        ("big.npy", "its values are big-endian (>f4)"),
        ("short.npy", "the file ends early"),
        ("empty.npy", "it has no values"),
        ("ids.npy", "its values are not floats (<i4)"),
        ("text", "it is no .npy"),
        ("missing", "No such file"),
        (".", "it is a folder"),
    ];
    for (name, why) in refusals {
        let said = diff(&env, &["a.npy", name]).expect(2).says(&[why, "hint: "]);
        assert_eq!(said.stdout, "", "{name}");
    }
    env.run(&["diff", "nothing"]).expect(2).says(&["does not exist"]);
}

/// A Python with NumPy, if there is one.
fn python(env: &TestEnvironment) -> Option<&'static str> {
    let has_numpy = |python: &&str| {
        let check = format!("command -v {python} && {python} -c 'import numpy'");
        env.tool(&env.repo(), "sh", &["-c", &check]).code() == Some(0)
    };
    let found = ["python3", "/usr/bin/python3"].into_iter().find(has_numpy);
    if found.is_none() {
        println!("NumPy is not here");
    }
    found
}

/// Writes two arrays of a type, and prints the figures by their definitions.
const NUMPY: &str = "
import json, sys
import numpy as np
kind = sys.argv[1]
random = np.random.default_rng(7)
a = (random.standard_normal((40, 3001)) * 3).astype(kind)
b = (a + random.standard_normal(a.shape) * random.uniform(0, 0.5, (40, 1))).astype(kind)
np.save(f'a-{kind}.npy', a)
np.save(f'b-{kind}.npy', b)
a, b = a.astype(np.float64), b.astype(np.float64)
log = lambda x: x - np.log(np.exp(x).sum(axis=1, keepdims=True))
kl = (np.exp(log(a)) * (log(a) - log(b))).sum(axis=1)
cosine = (a * b).sum(axis=1) / np.sqrt((a * a).sum(axis=1) * (b * b).sum(axis=1))
print(json.dumps({
    'max_abs': np.abs(b - a).max(), 'mean_abs': np.abs(b - a).mean(),
    'rms': np.sqrt(np.square(b - a).mean()), 'min_cosine': cosine.min(),
    'mean_cosine': cosine.mean(), 'mean_kl': kl.mean(), 'max_kl': kl.max(),
    'p99_kl': np.sort(kl)[int(np.ceil(40 * 0.99)) - 1],
    'top1_agreement': (a.argmax(axis=1) == b.argmax(axis=1)).mean(),
    'worst': int(kl.argmax()),
}))
";

#[test]
fn numpy_computes_the_same() {
    let env = TestEnvironment::new();
    let Some(python) = python(&env) else { return };
    for kind in ["float16", "float32", "float64"] {
        let printed = env.tool(&env.path("tmp"), python, &["-c", NUMPY, kind]).expect(0).stdout;
        let expected: serde_json::Map<String, Value> = serde_json::from_str(&printed).unwrap();
        let names = ["a", "b"].map(|name| format!("{name}-{kind}.npy"));
        let found = json(&env, &[&names[0], &names[1]]);
        for (key, expected) in &expected {
            let value = if key == "worst" { &found["worst"]["kl"] } else { &found[key] };
            let (value, expected) = (value.as_f64().unwrap(), expected.as_f64().unwrap());
            assert!(
                (value - expected).abs() <= 2e-6 * expected,
                "{kind} {key}: {value}, not {expected}"
            );
        }
    }
}

/// Peak resident memory of `diff WHAT` on these files, in MiB, as the system last reported it. The
/// value of `wait4` would include the memory of this test before the program began.
fn peak(env: &TestEnvironment, what: &str, names: [&str; 2], threads: &str) -> u64 {
    let mut command = env.command(TestEnvironment::product(), &env.path("tmp"));
    command.args(["diff", what, names[0], names[1], "--threads", threads]);
    let mut child = command.stdout(Stdio::null()).spawn().unwrap();
    let status = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    loop {
        // A program that has ended has no such line.
        let text = fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kib = line.and_then(|line| line.trim().strip_suffix(" kB")?.trim().parse().ok());
        peak = kib.unwrap_or(peak);
        if let Some(end) = child.try_wait().unwrap() {
            assert!(end.success());
            return peak >> 10;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn memory_does_not_grow_with_the_files() {
    let env = TestEnvironment::new();
    let row: Vec<u8> =
        (0..16_384_u16).flat_map(|i| (f32::from(i % 97) * 0.1).to_le_bytes()).collect();
    for name in ["a.safetensors", "b.safetensors"] {
        let size = row.len() * 1024;
        let header =
            format!(r#"{{"x":{{"dtype":"F32","shape":[1024,16384],"data_offsets":[0,{size}]}}}}"#);
        let mut file = BufWriter::new(File::create(env.path("tmp").join(name)).unwrap());
        file.write_all(&(header.len() as u64).to_le_bytes()).unwrap();
        file.write_all(header.as_bytes()).unwrap();
        for _ in 0..1024 {
            file.write_all(&row).unwrap();
        }
    }
    for what in ["logits", "tensors"] {
        let peak = peak(&env, what, ["a.safetensors", "b.safetensors"], "4");
        assert!((1..32).contains(&peak), "{what}: {peak} MiB for two files of 64 MiB");
    }
}
