use super::*;

/// A test as llama-bench prints it, with the fields that matter here.
fn test(prompt: u32, generated: u32, samples: &str, more: &str) -> String {
    format!(
        "{{\"build_commit\": \"c9c8575\", \"n_threads\": 4, {more}\"n_prompt\": {prompt}, \
         \"n_gen\": {generated}, \"test_time\": \"2026-01-01T00:00:00Z\", \"avg_ts\": 1.5, \
         \"stddev_ts\": 0.1, \"samples_ns\": [ 1, 2 ], \"samples_ts\": [ {samples} ]}}"
    )
}

/// The format of `-o json`: a list, with each test over several lines.
fn list(tests: &[String]) -> String {
    let tests: Vec<_> =
        tests.iter().map(|t| t.replace('{', "  {\n    ").replace('}', "\n  }")).collect();
    format!("[\n{}\n]\n", tests.join(",\n"))
}

fn read_with(pick: Pick, text: &str) -> Result<Reading, Failure> {
    Bench::new("speed", pick).finish(text)
}

fn read(text: &str) -> Result<Reading, Failure> {
    read_with(Pick::Median, text)
}

fn values(reading: &Reading) -> Vec<(String, f64)> {
    let values = reading.values.iter();
    values.map(|(metric, value)| (metric.to_string(), value.number().unwrap())).collect()
}

fn failure(text: &str) -> (FailureKind, String) {
    let failure = read(text).unwrap_err();
    (failure.kind, failure.detail)
}

#[test]
fn a_list_and_lines_say_the_same() {
    let tests = [test(512, 0, "80, 81, 79.5", ""), test(0, 128, "10.5, 9.25, 10", "")];
    for text in [list(&tests), format!("{}\n{}\n", tests[0], tests[1])] {
        for banner in ["", "register_backend: registered backend CPU (1 devices)\n"] {
            let reading = read(&format!("{banner}{text}")).unwrap();
            let expected = [("speed.pp512".to_owned(), 80.0), ("speed.tg128".to_owned(), 10.0)];
            assert_eq!(values(&reading), expected);
            assert_eq!(reading.repeats[&Metric::named("speed", "tg128")], [10.5, 9.25, 10.0]);
            let checks = reading.checks.unwrap().into_iter().collect::<Vec<_>>();
            assert_eq!(checks, ["pp512", "tg128"]);
        }
    }
    // A single test, as JSONL and as a list.
    for text in [list(&tests[..1]), tests[0].clone()] {
        assert_eq!(values(&read(&text).unwrap()), [("speed.pp512".to_owned(), 80.0)]);
    }
}

#[test]
fn tests_are_called_as_in_the_table_in_letters_of_a_metric() {
    let tests = [
        test(512, 128, "1", ""),
        test(512, 0, "2", "\"n_depth\": 4096, "),
        test(0, 32, "3", "\"n_depth\": 0, "),
        test(64, 16, "4", "\"n_depth\": 8, "),
    ];
    let reading = read(&list(&tests)).unwrap();
    let names: Vec<_> = reading.values.keys().map(ToString::to_string).collect();
    let expected = ["speed.pp512_d4096", "speed.pp512_tg128", "speed.pp64_tg16_d8", "speed.tg32"];
    assert_eq!(names, expected);
    for name in names {
        assert_eq!(name.parse::<Metric>().unwrap().to_string(), name);
    }
    // A single sample is not a repeat.
    assert_eq!(reading.repeats, BTreeMap::new());
}

#[test]
fn pick_makes_one_value_of_the_repetitions() {
    let text = list(&[test(0, 128, "10, 12, 20", "")]);
    let picked = |pick| values(&read_with(pick, &text).unwrap())[0].1;
    let picks = [Pick::First, Pick::Last, Pick::Min, Pick::Max, Pick::Median, Pick::Mean];
    let expected = [10.0, 20.0, 10.0, 20.0, 12.0, 14.0];
    assert_eq!(picks.map(picked).to_vec(), expected.to_vec());
}

#[test]
fn without_samples_the_average_counts() {
    let text = test(0, 128, "", "").replace("\"avg_ts\": 1.5", "\"avg_ts\": \"17.25\"");
    assert_eq!(values(&read(&text).unwrap())[0].1.to_bits(), 17.25_f64.to_bits());
    let none = text.replace("avg_ts", "ts");
    assert_eq!(
        failure(&none),
        (
            FailureKind::Unreadable,
            "speed.tg128: the test has neither `samples_ts` nor `avg_ts`".into()
        )
    );
}

#[test]
fn a_speed_that_is_no_number_is_nan() {
    for text in [list(&[test(0, 128, "10, nan", "")]), test(0, 128, "-nan, 10", "")] {
        assert_eq!(failure(&text), (FailureKind::Nan, "speed.tg128 is nan".into()));
    }
    assert_eq!(failure(&list(&[test(0, 128, "inf", "")])).0, FailureKind::Nan);
}

#[test]
fn one_test_with_two_settings_is_refused_by_name() {
    let tests =
        [test(0, 128, "10", "\"n_gpu_layers\": 0, "), test(0, 128, "90", "\"n_gpu_layers\": 99, ")];
    let expected = "tg128 was measured more than once, with n_gpu_layers 0 and 99: give one value \
                    of each option, and the others in measures of their own";
    assert_eq!(failure(&list(&tests)), (FailureKind::Unreadable, expected.into()));
    let same = [test(0, 128, "10", ""), test(0, 128, "11", "")];
    assert!(
        failure(&list(&same))
            .1
            .starts_with("tg128 was measured more than once, with the same settings: ")
    );
}

#[test]
fn what_ends_in_its_middle_is_incomplete() {
    let tests = [test(512, 0, "80", ""), test(0, 128, "10", "")];
    let whole = list(&tests);
    for end in [whole.len() - 3, whole.len() / 2, 5, 2] {
        assert_eq!(failure(&whole[..end]).0, FailureKind::Incomplete, "{end}");
    }
    let lines = format!("{}\n{}", tests[0], &tests[1][..40]);
    let detail = "the JSON is cut off after 1 complete test";
    assert_eq!(failure(&lines), (FailureKind::Incomplete, detail.into()));
}

#[test]
fn what_is_no_bench_is_unreadable() {
    let table = "| model | size | params | backend | threads | test | t/s |\n| --- | --- |\n";
    for (text, said) in [
        (table, "llama-bench printed its table; add `-o json` to the command"),
        ("[\n\n]\n", "the list of tests is empty"),
        ("", "nothing on stdout where a JSON document belongs"),
        ("error: unknown\n", "stdout is no JSON document; it begins with `error: unknown`"),
        ("{\"a\": 1}", "an entry without `n_prompt` and `n_gen` is no test of llama-bench"),
    ] {
        assert_eq!(failure(text), (FailureKind::Unreadable, said.to_owned()), "{text}");
    }
}
