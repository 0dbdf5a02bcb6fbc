use proptest::prelude::*;

use super::*;

#[test]
fn durations_read_as_people_say_them() {
    for (s, said) in [
        (0.0, "0 s"),
        (0.42, "0.4 s"),
        (9.96, "10 s"),
        (12.4, "12 s"),
        (59.7, "1 min 00 s"),
        (185.0, "3 min 05 s"),
        (3900.0, "1 h 05 min"),
        (97_200.0, "1 d 03 h"),
        (-1.0, "0 s"),
        (f64::NAN, "0 s"),
    ] {
        assert_eq!(seconds(s), said, "{s}");
    }
    assert_eq!(clock(Duration::from_secs(12)), "0:12");
    assert_eq!(clock(Duration::from_secs(3723)), "1:02:03");
}

#[test]
fn a_budget_in_hours_is_the_number_that_was_typed() {
    for typed in ["0.004", "0.011", "0.5", "1", "2.3", "20", "8766000"] {
        let hours: f64 = typed.parse().unwrap();
        let time = Duration::from_secs_f64(hours * 3600.0);
        let seconds = time.as_secs() + u64::from(time.subsec_nanos() > 0);
        assert_eq!(typed_hours(seconds), typed);
    }
    assert_eq!(typed_hours(1), "0.000277778");
    assert_eq!(typed_hours(0), "0");
}

#[test]
fn sizes_read_as_people_say_them() {
    for (count, said) in [
        (0, "0 B"),
        (1023, "1023 B"),
        (1024, "1.0 KiB"),
        (1_048_570, "1.0 MiB"),
        (12_700_000, "12.1 MiB"),
        (5 << 40, "5.0 TiB"),
    ] {
        assert_eq!(bytes(count), said, "{count}");
    }
}

#[test]
fn the_last_of_several_names_has_an_and() {
    for (names, said) in [("", ""), ("a", "a"), ("a b", "a and b"), ("a b c", "a, b and c")] {
        assert_eq!(joined(names.split_whitespace().map(str::to_owned).collect()), said);
    }
}

#[test]
fn a_long_fact_is_shown_by_its_ends_or_where_it_differs() {
    let fact = |text: String| Value::Fact(text);
    assert_eq!(value(&fact("x".repeat(64))), "x".repeat(64));
    let long = fact(format!("Once upon a time{}the end of it all", "é".repeat(300)));
    let shown = format!("Once upon a time{} … he end of it all (333 characters)", "é".repeat(32));
    assert_eq!(value(&long), shown);
    assert_eq!(full_value(&long).chars().count(), 333);

    let [good, bad] =
        ["good", "evil"].map(|word| fact(format!("{}{word}{}", "a".repeat(200), "z".repeat(90))));
    let [before, after] = pair(&good, &bad);
    assert!(before.starts_with("…aaaaaaaaaaaaaaaagoodzzz"), "{before}");
    assert!(after.starts_with("…aaaaaaaaaaaaaaaaevilzzz"), "{after}");
    assert!(after.ends_with(" … zzzzzzzzzzzzzzzz (294 characters)"), "{after}");
    // One is the beginning of the other.
    let [before, after] = pair(&fact("b".repeat(100)), &fact("b".repeat(101)));
    assert!(before.ends_with("(100 characters)") && after.ends_with("(101 characters)"));
    assert_eq!(values(&Value::Number(7.5), &fact("nan".into())), "7.5 → nan");
}

#[test]
fn figures_keep_what_was_printed_and_round_what_was_computed() {
    for (x, said) in [
        (7.52 - 7.21, "0.31"),
        (6.123_456, "6.123456"),
        (12.345_678_901, "12.3457"),
        (-1_234.567_890_12, "-1234.57"),
        (123_456_789.0, "123456789"),
        (0.000_123_456_789_1, "0.000123457"),
        (1e-9, "1e-9"),
        (1.5e300, "1.5e300"),
        (100.0, "100"),
        (0.0, "0"),
        (f64::NAN, "nan"),
        (f64::NEG_INFINITY, "-inf"),
    ] {
        assert_eq!(figure(x), said);
    }
    for (x, said) in [(0.003_141_6, "0.0031"), (123.4, "120"), (0.0, "0"), (f64::NAN, "nan")] {
        assert_eq!(rounded(x), said);
    }
    assert_eq!(diff(0.31), "+0.31");
    assert_eq!(diff(-0.5), "-0.5");
    assert_eq!(diff(f64::NAN), "nan");
}

#[test]
fn a_change_is_told_in_percent() {
    for (before, after, said) in [
        (3601.0, 805.0, Some("\u{2212}78 %")),
        (5.461_641, 5.925_832, Some("+8.5 %")),
        (7.21, 7.52, Some("+4.3 %")),
        (100.0, 104.0, Some("+4 %")),
        (1.0, 53.4, Some("+5240 %")),
        (7.0, 7.000_41, Some("+0.0059 %")),
        (-2.0, -1.0, Some("+50 %")),
        (5.0, 0.0, Some("\u{2212}100 %")),
        (7.0, 7.0, None),
        (0.0, 1.0, None),
        (-1.0, 1.0, None),
        (1.0, f64::NAN, None),
        (1e-300, 1e300, None),
    ] {
        assert_eq!(change(before, after).as_deref(), said, "{before} {after}");
    }
}

#[test]
fn certainty_is_never_rounded_up() {
    for (p, said) in [
        (1.0, "100 %"),
        (0.997, "99.7 %"),
        (0.95, "95 %"),
        (0.999_96, "99.996 %"),
        (0.999_999_9, "more than 99.9999 %"),
    ] {
        assert_eq!(percent(p), said);
    }
}

#[test]
fn verdicts_stand_in_columns() {
    let id: CommitId = "1a2b3c4d5e6f708192a3b4c5d6e7f8091a2b3c4d".parse().unwrap();
    let value = Value::Number(6.1234);
    let good = verdict_line(Verdict::Good, &id, Some(("ppl", &value)), Some(6.18), "a\n\x1b[1mb");
    let skip = verdict_line(Verdict::Skip, &id, None, None, "does not build");
    assert_eq!(good, "good     1a2b3c4d5e  ppl 6.1234      (threshold 6.18)      a b");
    assert_eq!(good.find("a b"), skip.find("does"));
    let skip = skip_line(Verdict::Skip, &id, "does not build", "a b");
    assert_eq!(good.find("a b"), skip.find("a b"));
    assert_eq!(skip_line(Verdict::Skip, &id, "crashes", ""), "skip     1a2b3c4d5e  crashes");
}

#[test]
fn a_difference_has_three_digits() {
    for (x, said) in [
        (0.464_191, "0.464"),
        (-0.5, "-0.5"),
        (2_796.951, "2797"),
        (27.96, "28"),
        (0.031_000_4, "0.031"),
        (1.459e-6, "1.46e-6"),
        (0.0, "0"),
        (f64::NAN, "nan"),
        (f64::NEG_INFINITY, "-inf"),
    ] {
        assert_eq!(difference(x), said);
    }
}

proptest! {
    #[test]
    fn a_line_is_one_line_without_control(text in any::<String>()) {
        let clean = line(&text);
        prop_assert!(clean.chars().all(|c| !c.is_control()));
        prop_assert_eq!(line(&clean), clean);
    }

    #[test]
    fn any_number_has_a_figure(x in any::<f64>()) {
        let text = figure(x);
        prop_assert!(text.len() < 24, "{}", text);
        if x.is_finite() && x != 0.0 {
            let back: f64 = text.parse().unwrap();
            prop_assert!(((back - x) / x).abs() < 1e-5, "{} {}", x, text);
        }
    }
}
