//! What a run prints or writes as its result, for each measure.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::exit;
use std::time::Duration;

use crate::chance::{self, Chance};
use crate::script::Script;
use crate::world::count;

pub(crate) fn tokens_per_second(script: &Script) -> String {
    let plain = script.turn("tg").unwrap_or_else(|| "100".to_owned());
    if script.get("noise").is_none() {
        return plain;
    }
    let level: f64 = plain.parse().expect("tokens per second");
    format!("{:.3}", level * (-Chance::of(script).stray(script)).exp())
}

/// Prints what `llama-bench -o json` prints: three samples a test, with the same median.
pub(crate) fn bench(script: &Script) {
    let tg: f64 = tokens_per_second(script).parse().expect("tokens per second");
    let tests = script.get("tests").unwrap_or("pp512 tg128").split_whitespace().map(|test| {
        let (prompt, generated, speed) = match test.split_at(2) {
            ("pp", count) => (count, "0", 8.0 * tg),
            (_, count) => ("0", count, tg),
        };
        format!(
            "  {{\n    \"build_commit\": \"{}\",\n    \"n_threads\": 2,\n    \"n_prompt\": {prompt},\n    \
             \"n_gen\": {generated},\n    \"avg_ts\": {speed},\n    \"samples_ts\": [ {}, {speed}, {} ]\n  }}",
            script.id(),
            speed - 1.0,
            speed + 2.0
        )
    });
    println!("[\n{}\n]", tests.collect::<Vec<_>>().join(",\n"));
}

/// Prints the script's `tensors` as llama-eval-callback does, up to the first NaN.
/// Each has eight values. Two are not shown, and one of these two is 1.
pub(crate) fn dump(script: &Script) {
    let hidden = if script.get("sums") == Some("shown") { 0.0 } else { 1.0 };
    for tensor in script.get("tensors").unwrap_or_default().split_whitespace() {
        let (name, x) = tensor.split_once(':').expect("a name and a value");
        let x: f64 = x.parse().expect("a number");
        println!(
            "common_debug_cb_eval: {name:>24} = (f32) {:>10}(a{{8, 1, 1, 1}}, }}) = {{8, 1, 1, 1}}",
            "ADD"
        );
        let row = format!("{x:12.4}, 0.0000, 0.0000,    ..., 0.0000, 0.0000, 0.0000");
        println!("    [\n        [\n            [{row}  ],\n        ],\n    ]");
        println!("    sum = {:.6}", x + hidden);
        if x.is_nan() {
            println!("encountered NaN - aborting");
            return;
        }
    }
}

/// Writes the logits of four positions as NumPy does. With one thread they are 1e-6 higher.
pub(crate) fn logits(script: &Script, is_single: bool, path: &Path) {
    let real = |key: &str| script.get(key).map_or(0.0, |text| text.parse::<f64>().expect("real"));
    let (shift, wiggle) = (real("shift"), real("wiggle"));
    let vocab = script.number("vocab").unwrap_or(8);
    let mut chance = Chance::of(script);
    let mut bytes = b"\x93NUMPY\x01\x00\x76\x00".to_vec();
    let shape = format!("(4, {vocab})");
    let header = format!("{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}");
    bytes.extend(format!("{header:<117}\n").bytes());
    for position in 0..4 {
        for token in 0..vocab {
            let mut x = ((position * 7 + token * 3) % 11) as f64;
            x += if is_single { 1e-6 } else { 0.0 };
            x += if position >= 2 && token == 1 { shift } else { 0.0 };
            x += wiggle * (chance.uniform() - 0.5);
            bytes.extend(x.to_le_bytes());
        }
    }
    fs::write(path, bytes).unwrap();
}

/// Prints the script's `checks` as a test program does, or writes them to `junit.xml` in `report`.
/// Exits with 1 if a check fails.
pub(crate) fn suite(script: &Script, report: Option<&Path>) {
    let mut lines = Vec::new();
    let mut cases = Vec::new();
    let is_first = script.get("flaky_checks").is_some() && count("flaky-checks") == 0;
    let checks = script.get(if is_first { "flaky_checks" } else { "checks" });
    for check in checks.unwrap_or_default().split_whitespace() {
        let mut parts = check.split(':');
        let (name, state) = (parts.next().unwrap(), parts.next().unwrap_or("pass"));
        let far = parts.next().map(|far| format!("  max_diff={far}")).unwrap_or_default();
        lines.push(format!("  {name}{far}  [{}]\n", state.to_uppercase()));
        let inner = match state {
            "fail" => "<failure message=\"too far\"/>",
            "skip" => "<skipped/>",
            _ => "",
        };
        cases.push(format!("<testcase classname=\"kernels\" name=\"{name}\">{inner}</testcase>\n"));
    }
    let (lines, cases) = (lines.concat(), cases.concat());
    match report {
        None => print!("{lines}"),
        Some(folder) => {
            println!("tests are done");
            let text = format!("<?xml version=\"1.0\"?>\n<testsuite>\n{cases}</testsuite>\n");
            if !cases.is_empty() {
                fs::write(folder.join("junit.xml"), text).unwrap();
            }
        }
    }
    exit(i32::from(lines.contains("[FAIL]")));
}

/// Prints the perplexity of the first `most` chunks as llama-perplexity does.
pub(crate) fn perplexity(script: &Script, verb: &str, leaked: bool, most: u64) {
    let mut values = cumulative(script, leaked);
    values.truncate(usize::try_from(most).unwrap_or(usize::MAX));
    let chunks = values.len();
    if script.get("wobble").is_some() && count("wobble") == 0 {
        *values.last_mut().unwrap() += 0.001;
    }
    let context = script.get("n_ctx").unwrap_or("512");
    let pause = Duration::from_millis(script.number("chunk_ms").unwrap_or(0));
    eprintln!(
        "perplexity: calculating perplexity over {chunks} chunks, n_ctx={context}, batch_size=2048, n_seq=4"
    );
    let mut out = std::io::stdout();
    let cut = if verb == "cut" { chunks / 2 } else { chunks };
    for (number, value) in (1..).zip(&values[..cut]) {
        std::thread::sleep(pause);
        match verb {
            "nan" | "inf" => print!("[{number}]{verb},"),
            _ => print!("[{number}]{value:.4},"),
        }
        out.flush().unwrap();
    }
    println!();
    match verb {
        "nan" | "inf" => println!("Unexpected negative standard deviation of log(prob)"),
        "cut" => {}
        _ => println!("Final estimate: PPL = {:.4} +/- 0.04452", values.last().unwrap()),
    }
}

/// The cumulative perplexity after each chunk of the whole text.
fn cumulative(script: &Script, leaked: bool) -> Vec<f64> {
    let more = if leaked { 100.0 } else { 0.0 };
    if let Some(nll) = script.get("nll") {
        let parts = nll.split_whitespace().map(|part| part.split_once('x').expect("COUNTxNATS"));
        let each = parts.flat_map(|(count, nats)| {
            let nats: f64 = nats.parse().expect("a number");
            vec![nats; count.parse().expect("a number")]
        });
        let mut sum = 0.0;
        let after = |(count, nats): (u32, f64)| {
            sum += nats;
            (sum / f64::from(count)).exp() + more
        };
        return (1..).zip(each).map(after).collect();
    }
    let chunks: u32 = script.turn("chunks").map_or(4, |word| word.parse().expect("a number"));
    let value: f64 = script.turn("ppl").map_or(7.0, |word| word.parse().expect("a perplexity"));
    let value = chance::disturbed(script).unwrap_or(value + script.added("ppl"));
    let is_moved = ["noise", "jump"].iter().any(|key| script.get(key).is_some());
    let stray = if is_moved { Chance::of(script).stray(script) } else { 0.0 };
    let more = more + stray;
    (1..=chunks).map(|chunk| value + more + f64::from(chunks - chunk) / 16.0).collect()
}
