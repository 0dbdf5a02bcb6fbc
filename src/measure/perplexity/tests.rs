use std::fmt::Write as _;

use proptest::prelude::*;

use super::*;
use crate::evaluation::TextLength;

use Stream::{Err as E, Out as O};

fn read(output: &[(Stream, &str)]) -> Result<Reading, Failure> {
    let mut parser = Perplexity::new();
    for (stream, text) in output {
        for line in text.lines() {
            parser.feed(*stream, line.as_bytes(), true);
        }
    }
    parser.finish("ppl")
}

fn ppl(reading: &Reading) -> f64 {
    reading.values[&Metric::of("ppl")].number().unwrap()
}

fn failure(output: &[(Stream, &str)]) -> (FailureKind, String) {
    let failure = read(output).unwrap_err();
    (failure.kind, failure.detail)
}

const CHUNKS: [f64; 4] = [17.125, 16.5, 18.0, 17.0805];

#[test]
fn output_of_2023() {
    let reading = read(&[
        (E, "perplexity: calculating perplexity over 4 chunks, batch_size=512\n"),
        (E, "perplexity: 1.52 seconds per pass - ETA 0 minutes\n"),
        (O, "[1]17.1250,[2]16.5000,[3]18.0000,[4]17.0805,\n"),
        (O, "Final estimate: PPL = 17.0805 +/- 0.44526\n"),
        (E, "\nllama_print_timings:        load time =     12.34 ms\n"),
    ])
    .unwrap();
    assert_eq!(reading.chunks, CHUNKS);
    assert_eq!(ppl(&reading).to_bits(), 17.0805_f64.to_bits());
    assert_eq!(reading.values.len(), 1);
    assert_eq!(reading.text_length(), Some(TextLength { chunks: 4, context: None }));
}

#[test]
fn output_of_2025() {
    let reading = read(&[
        (E, "perplexity: calculating perplexity over 4 chunks, n_ctx=512, batch_size=2048, n_seq=4\n"),
        (O, "[1]17.1250,[2]16.5000,[3]18.0000,[4]17.0805,"),
        (E, "perplexity: 0.32 seconds per pass - ETA Final estimate: PPL = 17.0805 +/- 0.44526\n"),
    ])
    .unwrap();
    assert_eq!(reading.chunks, CHUNKS);
    assert_eq!(ppl(&reading).to_bits(), 17.0805_f64.to_bits());
    assert_eq!(reading.text_length(), Some(TextLength { chunks: 4, context: Some(512) }));
}

#[test]
fn output_of_2026_with_times_and_line_breaks_in_between() {
    let reading = read(&[
        (E, "0.00.412.001 I perplexity: calculating perplexity over 4 chunks, n_ctx=512, batch_size=512, n_seq=1\n"),
        (O, "[1]17.1250,0.00.733.120 W a warning with [2] and [7]3, in it\n"),
        (O, "[2]16.5000,\n[3]18.0000,\n\n"),
        (O, "0.01.501.000 I [4]17.0805,"),
        (E, "0.01.664.817 I Final estimate: PPL = 17.0805 +/- 0.44526"),
    ])
    .unwrap();
    assert_eq!(reading.chunks, CHUNKS);
    assert_eq!(ppl(&reading).to_bits(), 17.0805_f64.to_bits());
}

#[test]
fn output_of_the_first_months_ends_with_its_last_chunk() {
    for announced in [
        "perplexity : calculating perplexity over 4 chunks\n",
        "perplexity: calculating perplexity over 4 chunks, batch_size=512\n",
    ] {
        let reading = read(&[
            (E, announced),
            (O, "4.20 seconds per pass - ETA 0.03 hours\n"),
            (O, "[1]17.1250,[2]16.5000,[3]18.0000,[4]17.0805,\n"),
            (E, "\nllama_print_timings:        load time =     12.34 ms\n"),
        ])
        .unwrap();
        assert_eq!(ppl(&reading).to_bits(), 17.0805_f64.to_bits());
        let cut = failure(&[(E, announced), (O, "[1]17.1250,[2]16.5000,[3]18.0000,")]);
        assert_eq!(cut, (FailureKind::Incomplete, "3 of 4 chunks, no final estimate".into()));
    }
}

#[test]
fn output_of_early_2024_with_several_sequences_and_a_progress_line() {
    let reading = read(&[
        (E, "perplexity: tokenizing the input ..\n"),
        (E, "perplexity: tokenization took 4.2 ms\n"),
        (E, "perplexity: calculating perplexity over 4 chunks, n_ctx=512, batch_size=2048, n_seq=4\n"),
        (E, "loading 10%\rloading 100%\rperplexity: 0.32 seconds per pass - ETA 0.02 minutes\n"),
        (O, "[1]17.1250,[2]16.5000,[3]18.0000,[4]17.0805,\n"),
        (O, "Final estimate: PPL = 17.0805 +/- 0.44526\n"),
    ])
    .unwrap();
    assert_eq!(reading.chunks, CHUNKS);
    assert_eq!(reading.text_length(), Some(TextLength { chunks: 4, context: Some(512) }));
}

#[test]
fn output_of_2026_in_colour_and_all_on_one_stream() {
    let text = "\u{1b}[34m0.00.412.001\u{1b}[0m \u{1b}[32mI \u{1b}[0mperplexity: calculating \
                perplexity over 4 chunks, n_ctx=512, batch_size=2048, n_seq=4\n\
                \u{1b}[34m0.00.733.120\u{1b}[0m \u{1b}[35mW a warning with [3]1, in it\n\u{1b}[0m\
                [1]17.1250,[2]16.5000,[3]18.0000,\u{1b}[0m[4]17.0805,\n\
                \u{1b}[34m0.01.664.817\u{1b}[0m \u{1b}[32mI \u{1b}[0mFinal estimate: PPL = 17.0805 \
                +/- 0.44526\u{1b}[0m\n";
    for stream in [O, E] {
        // Chunks are read from stdout only, so on stderr they are missing.
        let read = read(&[(stream, text)]);
        match stream {
            E => assert_eq!(read.unwrap_err().detail, "0 of 4 chunks"),
            _ => assert_eq!(read.unwrap().chunks, CHUNKS),
        }
    }
}

#[test]
fn a_strided_run_ends_with_its_last_chunk() {
    for announced in [
        "perplexity_v2: calculating perplexity over 4 chunks, batch_size=512\n",
        "0.00.412.001 I perplexity_v2: computing over 4 chunks, n_ctx=640, batch_size=2048, n_seq=3\n",
    ] {
        let stride = "perplexity_v2: have 2432 tokens. Calculation chunk = 640\n";
        let chunks = "[1]17.1250,[2]16.5000,[3]18.0000,[4]17.0805,\n";
        let reading = read(&[(E, stride), (E, announced), (O, chunks)]).unwrap();
        assert_eq!(reading.chunks, CHUNKS);
        assert_eq!(ppl(&reading).to_bits(), 17.0805_f64.to_bits());
        let cut = failure(&[(E, stride), (E, announced), (O, "[1]17.1250,\n")]);
        assert_eq!(cut, (FailureKind::Incomplete, "1 of 4 chunks, no final estimate".into()));
        let nan =
            failure(&[(E, stride), (E, announced), (O, "[1]17.1250,[2]-nan,[3]-nan,[4]-nan,")]);
        assert_eq!(nan, (FailureKind::Nan, "chunk 2 is nan".into()));
    }
}

#[test]
fn all_chunks_without_the_final_estimate_are_incomplete() {
    let announced =
        "perplexity: calculating perplexity over 2 chunks, n_ctx=512, batch_size=2048, n_seq=4\n";
    let whole = failure(&[(E, announced), (O, "[1]5.0,[2]6.0,\n")]);
    assert_eq!(whole, (FailureKind::Incomplete, "2 of 2 chunks, no final estimate".into()));
}

#[test]
fn a_fork_names_chunks_and_context_in_its_estimate() {
    let reading = read(&[(O, "Final estimate: PPL over 4 chunks for n_ctx=512 = 17.5 +/- 0.1\n")]);
    assert_eq!(ppl(&reading.unwrap()).to_bits(), 17.5_f64.to_bits());
}

#[test]
fn the_last_estimate_counts() {
    let twice =
        "[1]5.0,\nFinal estimate: PPL = 5.0 +/- 1\n[1]7.0,\nFinal estimate: PPL = 7.0 +/- 1\n";
    let reading = read(&[(O, twice)]).unwrap();
    assert_eq!(ppl(&reading).to_bits(), 7.0_f64.to_bits());
    assert_eq!(reading.chunks, [7.0]);
}

#[test]
fn two_streams_that_say_different_estimates_say_none() {
    let on_both = |err: &str| {
        let whole = "perplexity: calculating perplexity over 1 chunks\n[1]7.0,\n";
        let out = "Final estimate: PPL = 7.0 +/- 1\n";
        let orders = [[(O, out), (E, err)], [(E, err), (O, out)]];
        orders.map(|[first, second]| read(&[(O, whole), first, second]))
    };
    for read in on_both("Final estimate: PPL = 7.0 +/- 1\n") {
        assert_eq!(ppl(&read.unwrap()).to_bits(), 7.0_f64.to_bits());
    }
    for read in on_both("Final estimate: PPL = 1.0 +/- 1\n") {
        let failure = read.unwrap_err();
        assert_eq!(failure.kind, FailureKind::Unreadable);
        assert_eq!(failure.detail, "the final estimate is 7 on stdout and 1 on stderr");
    }
}

#[test]
fn nan_is_bad_in_every_spelling_and_place() {
    for nan in ["nan", "-nan", "-nan(ind)", "inf", "1.#QNAN"] {
        let chunk = format!("[1]{nan},[2]{nan},\n");
        let output = [
            (E, "perplexity: calculating perplexity over 2 chunks, n_ctx=512\n"),
            (O, chunk.as_str()),
            (E, "Unexpected negative standard deviation of log(prob)\n"),
        ];
        let (kind, detail) = failure(&output);
        assert_eq!(kind, FailureKind::Nan, "{nan}");
        assert!(detail.starts_with("chunk 1 is "), "{detail}");

        let last = format!("[1]5.0,[2]6.0,\nFinal estimate: PPL = {nan} +/- {nan}\n");
        assert_eq!(failure(&[(O, &last)]).0, FailureKind::Nan, "{nan}");
    }
    // Also before all chunks are there, and after a finite chunk.
    let early = "calculating perplexity over 24 chunks\n[1]5.0,[2]nan,";
    assert_eq!(failure(&[(O, early)]), (FailureKind::Nan, "chunk 2 is nan".into()));
    // A second pass does not clear the first pass's NaN.
    let healed = "[1]nan,\n[1]5.0,\nFinal estimate: PPL = 5.0 +/- 1\n";
    assert_eq!(failure(&[(O, healed)]).0, FailureKind::Nan);
}

#[test]
fn what_stops_before_its_end_is_incomplete() {
    let announced = "perplexity: calculating perplexity over 24 chunks, n_ctx=512\n";
    let seven = "[1]5.0,[2]5.1,[3]5.2,[4]5.3,[5]5.4,[6]5.5,[7]5.6,";
    assert_eq!(
        failure(&[(E, announced), (O, seven)]),
        (FailureKind::Incomplete, "7 of 24 chunks, no final estimate".into())
    );
    // The eighth chunk is cut in the middle, so it does not count.
    assert_eq!(
        failure(&[(E, announced), (O, seven), (O, "[8]5.")]),
        (FailureKind::Incomplete, "7 of 24 chunks, no final estimate".into())
    );
    let estimate = "Final estimate: PPL = 5.6 +/- 0.1\n";
    assert_eq!(
        failure(&[(E, announced), (O, seven), (E, estimate)]),
        (FailureKind::Incomplete, "7 of 24 chunks".into())
    );
    assert_eq!(
        failure(&[(O, seven)]),
        (FailureKind::Incomplete, "7 chunks, no final estimate".into())
    );
    assert_eq!(
        failure(&[(E, announced)]),
        (FailureKind::Incomplete, "0 of 24 chunks, no final estimate".into())
    );
}

#[test]
fn a_lost_chunk_is_noticed() {
    let output =
        "calculating perplexity over 3 chunks\n[1]5.0,[3]5.2,\nFinal estimate: PPL = 5.2 +/- 1\n";
    assert_eq!(failure(&[(O, output)]), (FailureKind::Incomplete, "1 of 3 chunks".into()));
}

#[test]
fn logits_without_deviation_still_have_a_perplexity() {
    let announced = "calculating perplexity over 2 chunks\n";
    let complaint = "Unexpected negative standard deviation of log(prob)\n";
    let reading = read(&[(E, announced), (O, "[1]2048.0,[2]2048.0,\n"), (E, complaint)]).unwrap();
    assert_eq!(ppl(&reading).to_bits(), 2048.0_f64.to_bits());
    // Only in place of the estimate: not when chunks are missing.
    let cut = failure(&[(E, announced), (O, "[1]2048.0,\n"), (E, complaint)]);
    assert_eq!(cut.0, FailureKind::Incomplete);
}

#[test]
fn output_of_another_program_is_unreadable() {
    let kind = failure(&[(O, "usage: ppl [options]\n"), (E, "[1]5.0,\n")]).0;
    assert_eq!(kind, FailureKind::Unreadable);
    assert_eq!(failure(&[]).0, FailureKind::Unreadable);
}

#[test]
fn a_piece_that_breaks_off_the_beginning_of_an_item_is_kept() {
    let mut parser = Perplexity::new();
    let kept = ["[1", "x", "y", "]5,"].map(|piece| parser.feed(O, piece.as_bytes(), false));
    // Without the `x`, the rest would read `[1]5,`.
    assert_eq!(kept, [true, true, false, false]);
}

/// Two streams of one run, as text.
fn output() -> impl Strategy<Value = (String, String)> {
    let number =
        prop_oneof![8 => (1.0..1e4_f64).prop_map(|x| format!("{x:.4}")), 1 => Just("nan".into())];
    let noise = prop_oneof![
        Just(""),
        Just("\n"),
        Just("0.01.664.817 I [x] text, Final estimate\n"),
        Just("[12]"),
        Just("calculating perplexity "),
        Just("Calculation chunk = 640\n"),
        Just("computing over all"),
    ];
    (
        prop::collection::vec((number, noise), 0..12),
        0_usize..14,
        prop::option::of(1.0..1e4_f64),
        any::<bool>(),
    )
        .prop_map(|(chunks, announced, estimate, on_stdout)| {
            let mut out = String::new();
            for (i, (number, noise)) in chunks.iter().enumerate() {
                write!(out, "{noise}[{}]{number},", i + 1).unwrap();
            }
            let mut err = format!("calculating perplexity over {announced} chunks, n_seq=4\n");
            if let Some(x) = estimate {
                let last = if on_stdout { &mut out } else { &mut err };
                write!(last, " ETA Final estimate: PPL = {x:.4} +/- 0.4").unwrap();
            }
            (out, err)
        })
}

/// A line or a piece of one, and whether its line ends with it.
type Piece<'a> = (&'a str, bool);

/// The lines of `text`, cut at `cuts` (modulo the length).
fn pieces<'a>(text: &'a str, cuts: &[usize]) -> Vec<Piece<'a>> {
    let mut at: Vec<usize> = cuts.iter().map(|cut| cut % (text.len() + 1)).collect();
    at.extend(text.match_indices('\n').map(|(end, _)| end + 1));
    at.extend([0, text.len()]);
    at.sort_unstable();
    let cut = at.windows(2).map(|pair| &text[pair[0]..pair[1]]);
    cut.map(|piece| piece.strip_suffix('\n').map_or((piece, false), |line| (line, true))).collect()
}

/// Feeds both streams in turn; returns the reading and, per stream, the pieces to keep.
fn run<'a>(streams: &[Vec<Piece<'a>>; 2]) -> (Result<Reading, Failure>, [Vec<Piece<'a>>; 2]) {
    let mut parser = Perplexity::new();
    let mut kept = [Vec::new(), Vec::new()];
    for i in 0..streams[0].len().max(streams[1].len()) {
        for (at, stream) in [O, E].into_iter().enumerate() {
            let Some((piece, whole)) = streams[at].get(i) else { continue };
            if parser.feed(stream, piece.as_bytes(), *whole) {
                kept[at].push((*piece, *whole));
            }
        }
    }
    (parser.finish("ppl"), kept)
}

proptest! {
    #[test]
    fn cuts_do_not_change_the_reading(
        (out, err) in output(),
        cuts in prop::collection::vec(any::<usize>(), 0..20),
    ) {
        let (whole, _) = run(&[pieces(&out, &[]), pieces(&err, &[])]);
        let (cut, _) = run(&[pieces(&out, &cuts), pieces(&err, &cuts)]);
        prop_assert_eq!(whole, cut);
    }

    #[test]
    fn what_is_kept_gives_the_same_reading(
        (out, err) in output(),
        cuts in prop::collection::vec(any::<usize>(), 0..20),
    ) {
        let (first, kept) = run(&[pieces(&out, &cuts), pieces(&err, &cuts)]);
        let (again, kept_again) = run(&kept);
        prop_assert_eq!(first, again);
        prop_assert_eq!(kept, kept_again);
    }

    #[test]
    fn lines_without_figures_are_not_kept(line in "[a-z ,0-9]{0,40}") {
        prop_assert!(!Perplexity::new().feed(O, line.as_bytes(), true));
    }

    #[test]
    fn nan_never_yields_a_number((out, err) in output()) {
        if out.contains("nan") {
            let failure = run(&[pieces(&out, &[]), pieces(&err, &[])]).0.unwrap_err();
            prop_assert_eq!(failure.kind, FailureKind::Nan);
        }
    }
}
