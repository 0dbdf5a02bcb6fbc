//! Another text in place of a number, for patterns that do not fix the text beside it.

use super::*;

#[test]
fn nan_behind_any_text_counts_on_a_line_like_an_earlier_one() {
    for (pattern, lines) in [
        (r"([0-9.]+)", ["chunk 2 ppl = 7.1", "chunk 3 ppl = nan"]),
        (r"ppl.*?([0-9.]+)", ["ppl = 7.1", "ppl = nan"]),
        (r"ppl.*?([0-9.]+)", ["ppl = 7.1 (3 chunks)", "ppl = nan (3 chunks)"]),
    ] {
        assert_eq!(last(pattern, &lines), Err(FailureKind::Nan), "{lines:?}");
    }
    for (pattern, lines) in [
        (r"([0-9.]+)", ["chunk 2 ppl = 7.1", "chunk 3 ppl = n/a"]),
        (r"ppl.*?([0-9.]+)", ["ppl = 7.1 lr = 3", "ppl = None lr = 3"]),
    ] {
        assert_eq!(last(pattern, &lines), Err(FailureKind::Unreadable), "{lines:?}");
    }
}

#[test]
fn another_number_of_the_line_is_not_read_in_place_of_nan() {
    for (pattern, line) in [
        (r"ppl.*?([0-9.]+)", "ppl = nan (3 chunks)"),
        (r"PPL.* ([0-9.]+)", "PPL over 24 chunks: nan"),
        (r"ppl.*= ([0-9.]+)", "ppl = 7 of ppl = nan"),
        (r"ppl.*?([0-9.]+)", "ppl = None (3 chunks)"),
    ] {
        assert_eq!(last(pattern, &[line]), Err(FailureKind::Unreadable), "{line}");
        let failure = number(pattern, Pick::Max).failure(&[line]);
        assert_eq!(failure, FailureKind::Unreadable, "{line}");
    }
    // The values of two names.
    for (pattern, line) in [
        (r".*= ([0-9.]+)", "ppl = 7, std = nan"),
        (r".*= ([0-9.]+)", "ppl = 7, std = n/a"),
        (r"eval.*?([0-9.]+)", "eval: filter = none, ppl = 7"),
    ] {
        assert_eq!(last(pattern, &[line]), Ok(Value::Number(7.0)), "{line}");
    }
    for (pattern, line) in [
        (r"eval.*?([0-9.]+)", "eval: loss = nan, lr = 7"),
        (r"loss.*?([0-9.]+)", "loss = inf, lr = 7"),
        (r"train.*?([0-9.]+)", "train: loss=inf lr=7"),
        (r"train.*?([0-9.]+)", "train: loss=n/a lr=7"),
        (r"eval.*?([0-9.]+)", "eval: best = inf, now = 7"),
    ] {
        assert_eq!(last(pattern, &[line]), Err(FailureKind::Unreadable), "{line}");
    }
    for line in ["ppl (no nan): 7", "ppl stats: nan=7", "ppl 7: nan"] {
        assert_eq!(last(r"ppl.*?([0-9.]+)", &[line]), Ok(Value::Number(7.0)), "{line}");
    }
}

#[test]
fn ordinary_lines_are_not_taken_for_a_lost_number() {
    for (pattern, line) in [
        (r"ppl = ([0-9.]+)", "ppl: nan"),
        (r"ppl ([0-9.]+)", "ppl nan-free"),
        (r"ppl ([0-9.]+)", "ppl infers"),
        (r"ppl: ([0-9.]+)", "ppl: "),
        // The words between may be any.
        (r"ppl.*?([0-9.]+)", "ppl is no nan"),
        // A rule of a table, and any NaN of any line.
        (r"\| ([0-9.]+) \|", "| --- |"),
        (r"([0-9.]+)", "nan"),
        // The pattern takes another number of this line.
        (r"ppl.*= ([0-9.]+)", "ppl = nan of ppl = 7"),
    ] {
        let lines = ["ppl = 7 ppl 7 ppl: 7 | 7 |", line];
        assert_eq!(last(pattern, &lines), Ok(Value::Number(7.0)), "{pattern}: {line}");
    }
}
