//! Makes a regular expression from the format string with which a program prints a figure.

use std::sync::LazyLock;

use crate::evaluation::Resource;
use regex::Regex;

use super::literals::{Literal, Literals};
use super::text::{Fact, Text};

/// A number as programs print it. NaN is included: otherwise a broken result would look like a
/// missing one.
const NUMBER: &str = "[-+]?(?:[0-9]+(?:\\.[0-9]*)?(?:[eE][-+]?[0-9]+)?|(?i:nan|inf(?:inity)?))";

fn regex(pattern: &str) -> Regex {
    Regex::new(pattern).expect("the patterns of this file are right")
}

static PRINTF: LazyLock<Regex> = LazyLock::new(|| {
    regex(r"%[-+ #0']*(?:\*|\d+)?(?:\.(?:\*|\d+))?(?:hh|ll|[hlLzjt])?([diouxXeEfFgGaAcspn%])")
});
static BRACES: LazyLock<Regex> = LazyLock::new(|| regex(r"\{\{|\}\}|\{[\w.]*(?::[^{}]*)?\}"));
static PERPLEXITY: LazyLock<Regex> =
    LazyLock::new(|| regex(r"(?i)(?:^|[^a-z])(?:ppl|perplexity)(?:[^a-z]|$)"));
static RATE: LazyLock<Regex> = LazyLock::new(|| {
    regex(r"(?i)(?:\b(?:tokens?|toks?|t)\s*(?:/|per) ?s(?:ec(?:ond)?)?\b|\btps\b)")
});

/// A part of a printed line.
#[derive(Debug, PartialEq)]
enum Part {
    Text(String),
    /// A value, and whether it may be a fraction.
    Value(bool),
}

/// The lines that a literal prints, each split into parts.
fn lines(literal: &Literal, is_rust: bool) -> Vec<Vec<Part>> {
    let count = literal.text.split('\n').count();
    let numbered = literal.text.split('\n').enumerate();
    numbered
        .map(|(index, line)| {
            let mut parts = parts(line, is_rust);
            if literal.streamed && index + 1 == count {
                parts.push(Part::Value(true));
            }
            parts
        })
        .collect()
}

fn parts(line: &str, is_rust: bool) -> Vec<Part> {
    let in_braces = is_rust || !PRINTF.is_match(line);
    let conversion: &Regex = if in_braces { &BRACES } else { &PRINTF };
    let mut parts = Vec::new();
    let mut text = String::new();
    let mut end = 0;
    for found in conversion.captures_iter(line) {
        let whole = found.get(0).expect("there is always a whole match");
        text.push_str(&line[end..whole.start()]);
        end = whole.end();
        let kind = found.get(1).map(|kind| kind.as_str());
        match (whole.as_str(), kind) {
            ("{{", _) => text.push('{'),
            ("}}", _) => text.push('}'),
            (_, Some("%")) => text.push('%'),
            (_, kind) => {
                parts.push(Part::Text(std::mem::take(&mut text)));
                parts.push(Part::Value(kind.is_none_or(|kind| "eEfFgGaA".contains(kind))));
            }
        }
    }
    text.push_str(&line[end..]);
    parts.push(Part::Text(text));
    parts
}

/// Whether a text may contain a literal that prints a perplexity, or a speed. The check is cheap,
/// so that not every source of a large tree is parsed.
pub(super) struct MayPrint {
    pub(super) perplexity: bool,
    pub(super) speed: bool,
}

impl Fact for MayPrint {
    fn read(text: &Text) -> Self {
        Self { perplexity: may_print_perplexity(text), speed: may_print_speed(text) }
    }
}

/// The speeds that a text prints: the line of the literal, the name, and the pattern.
pub(super) struct Speeds<const RUST: bool>(pub(super) Vec<(usize, String, String)>);

impl<const RUST: bool> Fact for Speeds<RUST> {
    fn read(text: &Text) -> Self {
        let literals = text.fact::<Literals>();
        let of = |literal: &Literal| -> Vec<(usize, String, String)> {
            let found = speeds(literal, RUST).into_iter();
            found.map(|(name, pattern)| (literal.line, name, pattern)).collect()
        };
        Self(literals.0.iter().flat_map(of).collect())
    }
}

/// The perplexities that a text prints. Each has the line of the literal, a rank (higher is better),
/// and the pattern.
pub(super) struct Perplexities<const RUST: bool>(pub(super) Vec<(usize, u32, String)>);

impl<const RUST: bool> Fact for Perplexities<RUST> {
    fn read(text: &Text) -> Self {
        let literals = text.fact::<Literals>();
        let of = |literal: &Literal| {
            let (rank, pattern) = perplexity(literal, RUST)?;
            Some((literal.line, rank, pattern))
        };
        Self(literals.0.iter().filter_map(of).collect())
    }
}

fn may_print_perplexity(text: &str) -> bool {
    static WORDS: LazyLock<Regex> = LazyLock::new(|| regex("ppl|PPL|Ppl|erplexity|PERPLEXITY"));
    WORDS.is_match(text)
}

/// The same for a speed. `avg_ts` is the speed in llama-bench's JSON.
fn may_print_speed(text: &str) -> bool {
    static WORDS: LazyLock<Regex> = LazyLock::new(|| regex("/s|/ s|per s|tps|TPS|avg_ts"));
    WORDS.is_match(text)
}

/// Text as a pattern. Each run of spaces matches any number of them.
fn escaped(text: &str) -> String {
    let words: Vec<String> = text.split([' ', '\t']).map(regex::escape).collect();
    let mut pattern = String::new();
    for (index, word) in words.iter().enumerate() {
        if index > 0 && !pattern.ends_with(" +") {
            pattern.push_str(" +");
        }
        pattern.push_str(word);
    }
    pattern
}

/// A pattern with one group for the perplexity that this literal prints, and a rank: higher if
/// the line looks like the final result.
pub(super) fn perplexity(literal: &Literal, is_rust: bool) -> Option<(u32, String)> {
    if !may_print_perplexity(&literal.text) {
        return None;
    }
    let lines = lines(literal, is_rust);
    lines.iter().filter_map(|parts| perplexity_in(parts)).max_by_key(|(rank, _)| *rank)
}

fn perplexity_in(parts: &[Part]) -> Option<(u32, String)> {
    let named = parts.iter().position(
        |part| matches!(part, Part::Text(text) if PERPLEXITY.is_match(text) && !is_help(text)),
    )?;
    let value = named + parts[named..].iter().position(|part| *part == Part::Value(true))?;
    let mut pattern = String::new();
    for (index, part) in parts[named..value].iter().enumerate() {
        match part {
            Part::Text(text) if index == 0 => pattern.push_str(&escaped(text.trim_start())),
            Part::Text(text) => pattern.push_str(&escaped(text)),
            Part::Value(_) => pattern.push_str(".*?"),
        }
    }
    let is_final = parts[..value].iter().any(|part| {
        matches!(part, Part::Text(text) if ["final", "total", "overall", "mean", "average"]
            .iter().any(|word| text.to_lowercase().contains(word)))
    });
    // `chunk 3: ppl …` is one of many lines. A line without a value before the name is more
    // likely the result.
    let is_first = !parts[..named].iter().any(|part| matches!(part, Part::Value(_)));
    Some((2 * u32::from(is_final) + u32::from(is_first), format!("{pattern}({NUMBER})")))
}

/// Whether the text describes options and is not a printed result.
fn is_help(text: &str) -> bool {
    text.trim_start().starts_with('-') || text.contains(" --") || text.contains("usage")
}

/// The speeds in tokens per second that this literal prints, each as a name and a pattern with a
/// group of that name.
pub(super) fn speeds(literal: &Literal, is_rust: bool) -> Vec<(String, String)> {
    if !may_print_speed(&literal.text) {
        return Vec::new();
    }
    lines(literal, is_rust).iter().filter_map(|parts| speed_in(parts)).collect()
}

fn speed_in(parts: &[Part]) -> Option<(String, String)> {
    let text = |at: Option<usize>| match at.and_then(|at| parts.get(at)) {
        Some(Part::Text(text)) if !is_help(text) => text.as_str(),
        _ => "",
    };
    let unit_behind = |index: usize| RATE.find(text(Some(index + 1))).filter(|u| u.start() <= 2);
    let value = parts.iter().enumerate().position(|(index, part)| {
        let before = text(index.checked_sub(1));
        *part == Part::Value(true) && (RATE.is_match(before) || unit_behind(index).is_some())
    })?;
    let before = text(value.checked_sub(1)).trim_start();
    let unit = unit_behind(value).map_or("", |unit| &text(Some(value + 1))[..unit.end()]);
    let name = speed_name(before);
    let pattern = format!("{}(?<{name}>{NUMBER}){}", escaped(before), escaped(unit));
    Some((name, pattern))
}

/// The name of a speed: the last word before the value that is not part of the unit.
fn speed_name(before: &str) -> String {
    let without_unit = RATE.replace_all(before, " ");
    let words = without_unit.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    let mut words: Vec<String> = words.map(str::to_ascii_lowercase).collect();
    words.retain(|word| {
        word.starts_with(|c: char| c.is_ascii_alphabetic())
            && !matches!(word.as_str(), "speed" | "at" | "is" | "rate")
            && !Resource::NAMES.contains(&word.as_str())
    });
    words.pop().unwrap_or_else(|| "tps".to_owned())
}

#[cfg(test)]
mod tests;
