use super::*;
use crate::evaluation::{FailureKind, Value};

struct Case {
    pattern: &'static str,
    pick: Pick,
    kind: MeasureKind,
}

fn number(pattern: &'static str, pick: Pick) -> Case {
    Case { pattern, pick, kind: MeasureKind::Number }
}

fn fact(pattern: &'static str, pick: Pick) -> Case {
    Case { pattern, pick, kind: MeasureKind::Fact }
}

impl Case {
    fn read(&self, lines: &[&str]) -> Result<Reading, Failure> {
        let regex = Regex::new(self.pattern).unwrap();
        let mut parser = Pattern::new("speed", &regex, self.pick, self.kind);
        for line in lines {
            parser.line(line);
        }
        parser.finish()
    }

    fn value(&self, lines: &[&str]) -> Value {
        self.read(lines).unwrap().values[&Metric::of("speed")].clone()
    }

    fn failure(&self, lines: &[&str]) -> FailureKind {
        self.read(lines).unwrap_err().kind
    }
}

#[test]
fn each_pick_counts_every_match_even_on_one_line() {
    let lines = ["t=3 t=1", "nothing", "t=4 t=2"];
    for (pick, wanted) in [
        (Pick::First, 3.0),
        (Pick::Last, 2.0),
        (Pick::Min, 1.0),
        (Pick::Max, 4.0),
        (Pick::Sum, 10.0),
        (Pick::Median, 2.5),
        (Pick::Mean, 2.5),
    ] {
        assert_eq!(number(r"t=(\d+)", pick).value(&lines), Value::Number(wanted), "{pick:?}");
    }
}

#[test]
fn a_part_of_a_number_is_refused() {
    for (pattern, line, whole) in [
        (r"t=([0-9]+)", "t=1,990 tok/s", "1,990"),
        (r"t=([0-9.]+)", "t=5e-05", "5e-05"),
        (r"t=([0-9.]+)", "t=1.2E+3 s", "1.2E+3"),
        (r"t=([0-9]+)", "t=12.5", "12.5"),
        (r"t=([0-9]{2})", "t=123", "123"),
        (r"t=.*([0-9]+)", "t=456", "456"),
        (r"t=([-0-9]+)", "t=-12.5", "-12.5"),
        (r"t=([0-9.]+)", "t=7,05", "7,05"),
        (r"t=([0-9.]+)", "t=1200,345", "1200,345"),
        (r"t=([0-9]+)", "t=1_990_000", "1_990_000"),
        (r"t=([0-9]+)", "t=1'990", "1'990"),
        (r"t=([0-9.]+)", "t=1.990,50", "1.990,50"),
        (r"t=([0-9.]+)", "t=1.990.000,5", "1.990.000,5"),
        // Thousands with spaces, powers of ten, hexadecimal numbers.
        (r"t=([0-9.]+)", "t=1 234.5", "1 234.5"),
        (r"t=([0-9.]+)", "t=1 234 567.8 ms", "1 234 567.8"),
        (r"t=([0-9.]+)", "t=1\u{202f}234", "1\u{202f}234"),
        (r"t=([0-9.]+)", "t=12\u{a0}345.5", "12\u{a0}345.5"),
        (r"([0-9.]+) s", "1\u{202f}234.5 s", "1\u{202f}234.5"),
        (r"t=([0-9.]+)", "t=7.1x10^2", "7.1x10^2"),
        (r"t=([0-9.]+)", "t=7.1*10**-2", "7.1*10**-2"),
        (r"t=([0-9.]+)", "t=7.1 × 10⁻²", "7.1 × 10⁻²"),
        (r"t=([0-9.]+)", "t=7.1 e5", "7.1 e5"),
        (r"t=([0-9.]+)", "t=0x1.cp+2", "0x1.cp+2"),
        // A pattern that takes any text behind its number.
        (r"t=([0-9]+).*", "t=12.5 s", "12.5"),
        (r"t=([0-9]+)\D.*", "t=1,990 s", "1,990"),
    ] {
        for pick in [Pick::Last, Pick::Max] {
            let failure = number(pattern, pick).read(&[line]).unwrap_err();
            assert!(failure.detail.contains(&format!("of the number `{whole}`")), "{failure:?}");
        }
    }
    for (pattern, line, wanted) in [
        // The pattern says what follows.
        (r"t=([0-9]+),", "t=1,990", 1.0),
        (r"t=([0-9]),[0-9]", "t=1,1", 1.0),
        (r"t=([0-9]+).[0-9]+", "t=12.5", 12.0),
        (r"t=([0-9]+).*", "t=12 s", 12.0),
        (r"([0-9]+)/[0-9]+ passed", "12/15 passed", 12.0),
        // Other columns, a unit, the end of a sentence, a version.
        (r"t=([0-9.]+)", "t=12.5,34", 12.5),
        (r"t=([0-9.]+)", "t=1200,345,6", 1200.0),
        (r"t=([0-9.]+)", "t=1.990,50.5", 1.99),
        (r"t=([0-9.]+)", "t=0.990,50", 0.99),
        (r"t=([0-9.]+),", "t=1.990,50", 1.99),
        (r"t=([0-9]+)", "t=12,3.5", 12.0),
        (r"q4,([0-9]+)", "q4,99,80", 99.0),
        (r"t=\[([0-9]+)", "t=[32,1]", 32.0),
        (r"t=([0-9]+)", "t=4_0", 4.0),
        (r"t=([0-9]+)", "t=3, 4", 3.0),
        (r"t=([0-9.]+)", "t=12.5e", 12.5),
        (r"t=([0-9]+)", "t=7.", 7.0),
        (r"v1\.([0-9]+)", "v1.23", 23.0),
        (r"t=([0-9.]+)", "t=7.1 512", 7.1),
        (r"t=([0-9.]+)", "t=7 512", 7.0),
        (r"t=([0-9.]+)", "t=7 5120.5", 7.0),
        (r"t=([0-9.]+) ", "t=7 512.5", 7.0),
        (r"t=([0-9]+)", "t=7 512.5", 7.0),
        (r"[a-z]+ 3 ([0-9.]+)", "pp 3 7 512.5", 7.0),
        (r"t=([0-9.]+)", "t=7.1x faster", 7.1),
        (r"t=([0-9.]+)", "t=7.1 x 10", 7.1),
        (r"t=([0-9.]+)", "t=7.1 e5m2", 7.1),
    ] {
        assert_eq!(number(pattern, Pick::Last).value(&[line]), Value::Number(wanted), "{line}");
    }
    let version = fact(r"v([0-9]+)", Pick::Last).value(&["v12.5"]);
    assert_eq!(version, Value::Fact("12".to_owned()));
}

#[test]
fn a_whole_number_with_too_many_digits_is_refused() {
    for pick in [Pick::Last, Pick::Max] {
        let failure = number("t=([0-9]+)", pick).read(&["t=12345678901234567890"]).unwrap_err();
        assert!(failure.detail.contains("set `kind = \"fact\"`"), "{failure:?}");
    }
    let exact = number("t=([0-9]+)", Pick::Last).value(&["t=9007199254740992"]);
    assert_eq!(exact, Value::Number(9_007_199_254_740_992.0));
}

#[test]
fn the_digits_behind_the_point_are_counted() {
    let metric = Metric::of("speed");
    let counted = |pick| {
        let reading = number(r"t=(\S+)", pick).read(&["t=1.25", "t=7.5"]).unwrap();
        reading.decimals.get(&metric).copied()
    };
    assert_eq!([Pick::First, Pick::Last, Pick::Max].map(counted), [Some(2), Some(1), None]);
}

#[test]
fn without_a_group_the_whole_match_counts() {
    assert_eq!(number(r"[0-9.]+e-5", Pick::Last).value(&["kld 1.5e-5 ok"]), Value::Number(1.5e-5));
}

#[test]
fn a_named_group_leaves_unnamed_ones_aside() {
    let reading = number(r"(pp|tg) (?<rate>[0-9.]+)", Pick::Last).read(&["tg 12.5"]).unwrap();
    let metrics: Vec<_> = reading.values.keys().map(ToString::to_string).collect();
    assert_eq!(metrics, ["speed.rate"]);
}

#[test]
fn each_group_picks_among_its_own_matches() {
    let case = number(r"prompt (?<pp>\S+)|decode (?<tg>\S+)", Pick::Last);
    let reading = case.read(&["decode 12", "prompt 300", "prompt 310"]).unwrap();
    assert_eq!(reading.values[&Metric::named("speed", "pp")], Value::Number(310.0));
    assert_eq!(reading.values[&Metric::named("speed", "tg")], Value::Number(12.0));

    let failure = case.read(&["prompt 300"]).unwrap_err();
    assert_eq!(failure.kind, FailureKind::Unreadable);
    assert!(failure.detail.starts_with("speed.tg: no line"), "{}", failure.detail);
}

#[test]
fn text_that_is_no_number_is_shown() {
    let failure = number(r"t=(\S+)", Pick::Last).read(&["t=3", "t=n/a"]).unwrap_err();
    assert_eq!(failure.kind, FailureKind::Unreadable);
    assert_eq!(failure.detail, "speed: `n/a` is not a number");
    assert!(number(r"t=(\S+)", Pick::First).read(&["t=3", "t=n/a"]).is_ok());
    for pick in [Pick::Min, Pick::Max, Pick::Sum] {
        assert_eq!(number(r"t=(\S+)", pick).failure(&["t=n/a", "t=3"]), FailureKind::Unreadable);
    }
}

#[test]
fn nan_is_never_a_number() {
    for pick in [Pick::First, Pick::Last, Pick::Min, Pick::Max, Pick::Sum] {
        assert_eq!(number(r"t=(\S+)", pick).failure(&["t=-nan"]), FailureKind::Nan, "{pick:?}");
        assert_eq!(number(r"t=(\S+)", pick).failure(&["t=inf"]), FailureKind::Nan, "{pick:?}");
    }
    for pick in [Pick::Min, Pick::Max, Pick::Sum] {
        let lines = ["t=3", "t=nan", "t=4"];
        assert_eq!(number(r"t=(\S+)", pick).failure(&lines), FailureKind::Nan, "{pick:?}");
    }
    // NaN is reported before a missing value.
    let two = number(r"a=(?<a>\S+)|b=(?<b>\S+)", Pick::Last);
    assert_eq!(two.failure(&["b=nan"]), FailureKind::Nan);
    assert_eq!(two.failure(&["a=x", "b=nan"]), FailureKind::Nan);
    assert_eq!(two.failure(&["a=nan", "b=x"]), FailureKind::Nan);
}

#[test]
fn facts_stay_text() {
    let lines = ["block=( 32,1 )", "block=(64,2)"];
    let fact_of = |pick| fact(r"block=\(([^)]*)\)", pick).value(&lines);
    assert_eq!(fact_of(Pick::First), Value::Fact("32,1".into()));
    for pick in [Pick::Last, Pick::Min, Pick::Max, Pick::Sum] {
        assert_eq!(fact_of(pick), Value::Fact("64,2".into()), "{pick:?}");
    }
    assert_eq!(
        fact(r"backend: (\S+)", Pick::Last).value(&["backend: nan"]),
        Value::Fact("nan".into())
    );
}

#[test]
fn repeats_are_kept_only_for_picks_that_use_all_of_them() {
    let lines = ["tg 10.0", "tg 12.0", "pp 300", "tg 30.0"];
    let pattern = r"tg (?<tg>\S+)|pp (?<pp>\S+)";
    let tg = Metric::named("speed", "tg");
    for pick in [Pick::Median, Pick::Mean, Pick::Min, Pick::Max] {
        let reading = number(pattern, pick).read(&lines).unwrap();
        // A single match is not a repeat.
        let wanted = BTreeMap::from([(tg.clone(), vec![10.0, 12.0, 30.0])]);
        assert_eq!(reading.repeats, wanted, "{pick:?}");
    }
    for pick in [Pick::First, Pick::Last, Pick::Sum] {
        assert!(number(pattern, pick).read(&lines).unwrap().repeats.is_empty(), "{pick:?}");
    }
    let reading = number(pattern, Pick::Median).read(&lines).unwrap();
    assert_eq!(reading.values[&tg], Value::Number(12.0));
    let other = number(pattern, Pick::Median).read(&["tg 12.0", "pp 300"]).unwrap();
    assert!(reading.same_bits(&other), "the value is what repeats from launch to launch");
}

#[test]
fn a_series_is_no_repetition() {
    let lines = vec!["t=1"; crate::measure::repeats::MOST + 1];
    let reading = number(r"t=(\d+)", Pick::Median).read(&lines).unwrap();
    assert!(reading.repeats.is_empty());
    assert_eq!(number(r"t=(\d+)", Pick::Mean).value(&lines), Value::Number(1.0));
}

#[test]
fn a_repeat_that_is_no_number_spoils_the_launch() {
    let median = number(r"t=(\S+)", Pick::Median);
    assert_eq!(median.failure(&["t=1", "t=nan", "t=2"]), FailureKind::Nan);
    assert_eq!(median.failure(&["t=1", "t=fast"]), FailureKind::Unreadable);
}

#[test]
fn another_word_in_place_of_the_last_number_is_not_passed_over() {
    for (pattern, figure, word) in [
        (r"bs [0-9]+: ([0-9.]+)", "bs 1: 10.2 ms", "bs 8: OOM"),
        (r"bs [0-9]+: ([0-9.]+) ms", "bs 1: 10.2 ms", "bs 8: -"),
        (r"ppl = ([0-9]+\.[0-9]+)", "chunk 1 ppl = 6.5", "chunk 2 ppl = 9"),
        (r"score = ([0-9.]+)", "chunk 1 score = 0.3", "chunk 2 score = -0.3"),
        (PLAIN, "ppl = 7", "ppl = nano"),
    ] {
        let lines = [figure, word];
        assert_eq!(last(pattern, &lines), Err(FailureKind::Unreadable), "{lines:?}");
        assert!(last(pattern, &[figure, word, figure]).is_ok(), "{lines:?}");
        for pick in [Pick::First, Pick::Max] {
            assert!(number(pattern, pick).read(&lines).is_ok(), "{pick:?}: {lines:?}");
        }
    }
    for (pattern, lines) in [
        (r"speed: ([0-9.]+) ms", ["speed: 7 ms", "speed: 9 tok/s"]),
        (r"([0-9.]+) ms", ["info: 7 ms", "info: saved"]),
        (r"loss ([0-9.]+)", ["train loss 7", "val loss none yet"]),
    ] {
        assert_eq!(last(pattern, &lines), Ok(Value::Number(7.0)), "{lines:?}");
    }
}

/// What a run with these lines is, by the last match.
fn last(pattern: &'static str, lines: &[&str]) -> Result<Value, FailureKind> {
    let reading = number(pattern, Pick::Last).read(lines).map_err(|failure| failure.kind)?;
    Ok(reading.values.into_values().next().unwrap())
}

const PLAIN: &str = r"ppl = ([0-9.]+)";

#[test]
fn a_line_with_another_text_in_place_of_the_number_counts() {
    for (pattern, number, line) in [
        (PLAIN, "chunk 9 ppl = 7.1", "chunk 10 ppl = nan"),
        (PLAIN, "chunk 2 ppl = 7.1, 3 s", "chunk 3 ppl = -nan(ind), 3 s"),
        (PLAIN, "ppl = 7.1", "ppl = 1.#QNAN"),
        (r"ppl = (-?\d+\.\d+)$", "ppl = 7.1", "ppl = inf"),
        (
            r"chunk \d+: *(?<ppl>[0-9.]+) \+/- [0-9.]+",
            "chunk 2:  7.1 +/- 0.1",
            "chunk 3: nan +/- nan",
        ),
        (r"loss [0-9.]+, ppl ([0-9.]+)", "loss 1.9, ppl 7.1", "loss nan, ppl NaN"),
        (
            r"([0-9.]+) tokens per second",
            "eval: 31 tokens per second",
            "eval: -nan tokens per second",
        ),
        (r"took .* ([0-9.]+)ms", "took all of 31ms", "took all of nanms"),
        (r"(?i)PPL: *([0-9.]+)", "ppl: 7.1", "ppl: NaN"),
        (r"a ([0-9.]+)x|ppl=([0-9.]+)", "a 3x", "a nanx"),
    ] {
        assert_eq!(last(pattern, &[number, line]), Err(FailureKind::Nan), "{pattern}: {line}");
    }
    for text in ["---", "n/a", "None", ""] {
        let line = format!("chunk 3 ppl = {text}");
        assert_eq!(
            last(PLAIN, &["chunk 2 ppl = 7", line.as_str()]),
            Err(FailureKind::Unreadable),
            "{line}"
        );
    }
    assert_eq!(last(PLAIN, &["ppl = 7", "ppl = nan", "ppl = 8"]), Ok(Value::Number(8.0)));
}

#[test]
fn a_text_in_place_of_a_number_of_another_line_says_nothing() {
    for (pattern, lines) in [
        (r"loss = ([0-9.]+)", ["train loss = 7", "val loss = nan"]),
        (r"loss = ([0-9.]+)", ["train loss = 7", "val loss = n/a"]),
        (PLAIN, ["ppl = 7", "draft ppl = None"]),
        (r"ppl ([0-9.]+)", ["model ppl 7", "total ppl ----"]),
        (PLAIN, ["ppl = 7", "final ppl ="]),
        (PLAIN, ["ppl = nan", "ppl = 7"]),
        (PLAIN, ["ppl = 6", "ppl = 7 ppl = inf"]),
    ] {
        assert_eq!(last(pattern, &lines), Ok(Value::Number(7.0)), "{lines:?}");
    }
    let lines = ["ppl = nan", "ppl = 7", "ppl = 7", "ppl = inf"];
    for pick in [Pick::First, Pick::Min, Pick::Max, Pick::Median] {
        assert_eq!(number(PLAIN, pick).value(&lines), Value::Number(7.0), "{pick:?}");
    }
    // The pattern takes `1.` here, which is no number of the output.
    assert_eq!(number(PLAIN, Pick::Min).failure(&["ppl = 1.#QNAN", "ppl = 7"]), FailureKind::Nan);
}

#[test]
fn nan_counts_if_the_output_has_no_number_and_only_the_words_of_the_pattern() {
    for pick in [Pick::First, Pick::Last, Pick::Min, Pick::Mean] {
        for line in ["ppl = nan", "[12:00:01] ppl = -nan(ind), 3 s", "ppl = Inf", "ppl = 1.#QNAN"] {
            let case = number(PLAIN, pick);
            assert_eq!(case.failure(&[line, "done", line]), FailureKind::Nan, "{pick:?}: {line}");
        }
    }
    for (pattern, line) in [
        (PLAIN, "val ppl = nan"),
        (r".*ppl = ([0-9.]+)", "val ppl = nan"),
        (r"\w+ = ([0-9.]+)", "loss = nan"),
        (r"ppl.*?([0-9.]+)", "ppl is no nan"),
        (r"([0-9.]+)", "nan"),
    ] {
        let failure = number(pattern, Pick::Last).read(&[line]).unwrap_err();
        assert_eq!(failure.kind, FailureKind::Unreadable, "{pattern}: {line}");
        let hint =
            format!("if `nan` of the line `{line}` is in place of the number, let the group");
        assert!(failure.detail.contains(&hint), "{}", failure.detail);
    }
    for text in ["---", "n/a", ""] {
        let line = format!("ppl = {text}");
        let failure = number(PLAIN, Pick::Last).read(&[line.as_str()]).unwrap_err();
        assert!(failure.detail.ends_with("matches `ppl = ([0-9.]+)`"), "{}", failure.detail);
    }
}

#[test]
fn the_units_are_those_of_the_numbers_that_count() {
    let lines = ["t=9 ms", "t=1 s"];
    for (pick, wanted) in [(Pick::First, "ms"), (Pick::Last, "s"), (Pick::Max, "ms and s")] {
        let reading = number(r"t=([0-9]+)", pick).read(&lines).unwrap();
        assert_eq!(reading.units[&Metric::of("speed")].to_string(), wanted, "{pick:?}");
    }
    for (pattern, wanted) in [
        (r"t=([0-9]+) ms", "ms"),
        (r"t=([0-9]+) *(?:ms|s)", "s"),
        // A pattern that takes any word has no unit.
        (r"t=([0-9]+).*", "no unit"),
        (r"t=([0-9]+) \w+", "no unit"),
    ] {
        let reading = number(pattern, Pick::Last).read(&lines).unwrap();
        assert_eq!(reading.units[&Metric::of("speed")].to_string(), wanted, "{pattern}");
    }
    assert!(fact(r"t=(.*)", Pick::Last).read(&lines).unwrap().units.is_empty());
}

mod forms;
mod in_place;
