use super::*;
use crate::init::literals::literals;

fn of_perplexity(source: &str, is_rust: bool) -> Option<Regex> {
    let (_, pattern) = perplexity(&literals(source)[0], is_rust)?;
    Some(Regex::new(&pattern).unwrap())
}

#[test]
fn a_figure_is_found_in_the_words_it_is_printed_with() {
    for (source, is_rust, printed) in [
        (r#"printf("perplexity: %.6f\n", x)"#, false, "perplexity: 5.125000"),
        (
            r#"printf("done\nppl over %d chunks (%s) = %8.3lf +/- %g\n")"#,
            false,
            "ppl over 7 chunks (x) =    5.125 +/- 1",
        ),
        (r#"println!("PPL {:.4} of {}%", x, y)"#, true, "PPL 5.1250 of 3%"),
        (r#"println!("100% {name}: perplexity={p}")"#, true, "100% a: perplexity=5.125"),
        (r#"std::cout << "final ppl: " << x"#, false, "final ppl: 5.125"),
        (r#"std::print("[{}] perplexity: {:.3f}", i, x)"#, false, "[3] perplexity: 5.125"),
    ] {
        let pattern = of_perplexity(source, is_rust).unwrap_or_else(|| panic!("{source}"));
        let found = pattern.captures(printed).unwrap_or_else(|| panic!("{pattern} {printed}"));
        assert_eq!(found[1].parse::<f64>(), Ok(5.125), "{source}");
        let nan =
            printed.replace("5.125000", "nan").replace("5.1250", "-nan").replace("5.125", "NaN");
        assert!(pattern.captures(&nan).is_some_and(|c| c[1].to_lowercase().ends_with("nan")));
    }
}

#[test]
fn help_and_prose_are_no_figures() {
    for source in [
        r#"puts("  --ppl  compute the perplexity, %f")"#,
        r#"puts("computes perplexity")"#,
        r#"printf("apple %f")"#,
        r#"printf("perplexity over %d chunks")"#,
    ] {
        assert!(of_perplexity(source, false).is_none(), "{source}");
    }
}

#[test]
fn the_final_figure_ranks_highest() {
    let rank = |source: &str| perplexity(&literals(source)[0], false).unwrap().0;
    assert!(rank(r#""final ppl %f""#) > rank(r#""ppl %f""#));
    assert!(rank(r#""ppl %f""#) > rank(r#""chunk %d: ppl %f""#));
}

#[test]
fn speeds_are_named_by_the_word_before_them() {
    let of = |source: &str| speeds(&literals(source)[0], source.contains("ln!"));
    let found = of(r#"printf("prefill: %.1f tokens per second\ndecode: %.1f tok/s\n")"#);
    let names: Vec<_> = found.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["prefill", "decode"]);
    let decode = Regex::new(&found[1].1).unwrap();
    assert_eq!(&decode.captures("decode: 12.5 tok/s").unwrap()["decode"], "12.5");
    let found = of(r#"fprintf(stderr, "achieved tok/s: %f\n")"#);
    assert_eq!(found[0].0, "achieved");
    assert!(Regex::new(&found[0].1).unwrap().is_match("achieved tok/s: 110.5"));
    assert!(of(r#"printf("%d tokens in %f s")"#).is_empty());
    assert_eq!(of(r#"println!("{:.2} tokens/s", x)"#)[0].0, "tps");
}
