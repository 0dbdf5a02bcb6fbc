//! Finds texts such as `nan`, `---` or nothing at all where a pattern looks for a number. A pattern
//! of digits does not match such a line, so the number of an earlier line would count. The caller
//! decides whether such a text counts.
//!
//! The line must have all other text of the pattern, and the text right beside the number must be
//! fixed text: `.*` does not lead to a NaN elsewhere in the line.

use std::sync::{LazyLock, OnceLock};

use regex::{Match, Regex};
use regex_syntax::hir::{Capture, Class, Hir, HirKind, Look};

/// Texts in place of a number, without what must follow.
pub(super) const WORD: &str =
    r"(?i:[-+]?(?:nan\(\w*\)|nan|infinity|inf|1\.#[a-z]+\d*)|n/a|none|null)";
/// Dashes in place of a number.
const DASHES: &str = "-{2,}";
/// Characters of fixed text that a pattern needs besides the number.
const LEAST_TEXT: usize = 2;
/// A class with more characters is no fixed text. `(?i)` makes a class of each letter.
const LARGEST_LETTER: u32 = 4;

/// A regular expression of the program itself.
pub(super) fn own_pattern(text: &str) -> Regex {
    Regex::new(text).expect("a pattern of our own")
}

/// A cheap test: only such lines can have one of these texts in place of a number.
static MAY_HAVE: LazyLock<Regex> =
    LazyLock::new(|| own_pattern(r"(?i)\b(?:nan|inf|infinity|n/a|none|null)|#|--|=\s*$"));
static WHOLE: LazyLock<Regex> = LazyLock::new(|| own_pattern(&format!("^(?:{WORD}|{DASHES})$")));

/// A pattern's variant that also matches where the number is not a number.
#[derive(Debug, Default)]
pub(super) struct NotANumber {
    /// `None` if there is no such variant. Most runs need none, so it is built late.
    variant: OnceLock<Option<Regex>>,
}

impl NotANumber {
    /// The groups of `pattern` that find such a text in this line, by their index. `starts`: where
    /// the matches of the pattern itself begin, so that the line has a number there.
    pub(super) fn groups<'l>(
        &self,
        pattern: &Regex,
        line: &'l str,
        starts: &[usize],
    ) -> Vec<(usize, Match<'l>)> {
        if !MAY_HAVE.is_match(line) {
            return Vec::new();
        }
        let Some(variant) = self.variant.get_or_init(|| variant(pattern)) else {
            return Vec::new();
        };
        let mut found = Vec::new();
        for captures in variant.captures_iter(line) {
            let start = captures.get(0).map_or(0, |whole| whole.start());
            let has_number = starts.contains(&start);
            for (index, group) in captures.iter().enumerate().skip(1) {
                let Some(group) = group else { continue };
                // The pattern takes `1.` of `1.#QNAN`.
                let is_new = !has_number || group.as_str().contains('#');
                if is_new && is_in_place(line, group) {
                    found.push((index, group));
                }
            }
        }
        found
    }
}

/// Whether the group has such a text, as a word of its own.
fn is_in_place(line: &str, group: Match<'_>) -> bool {
    let (before, after) = (&line[..group.start()], &line[group.end()..]);
    if group.is_empty() {
        // `ppl = ` lacks its value; `ppl:` may be a heading.
        return after.is_empty() && before.trim_end().ends_with('=');
    }
    let is_part = before.chars().next_back().is_some_and(char::is_alphanumeric)
        || after.starts_with(['-', '_']);
    WHOLE.is_match(group.as_str()) && !is_part
}

/// The variant of a pattern; `None` if none of its groups can have one.
fn variant(pattern: &Regex) -> Option<Regex> {
    let original = regex_syntax::parse(pattern.as_str()).ok()?;
    let variant = loosened(&original);
    if variant == original { None } else { Regex::new(&variant.to_string()).ok() }
}

/// The expression in which a number with fixed text beside it may also be something else.
fn loosened(hir: &Hir) -> Hir {
    match hir.kind() {
        HirKind::Concat(parts) => loosened_parts(parts),
        HirKind::Alternation(parts) => Hir::alternation(parts.iter().map(loosened).collect()),
        HirKind::Capture(capture) => with_sub(capture, loosened(&capture.sub)),
        HirKind::Repetition(repeated) => Hir::repetition(repeated.with(loosened(&repeated.sub))),
        HirKind::Empty | HirKind::Literal(_) | HirKind::Class(_) | HirKind::Look(_) => hir.clone(),
    }
}

fn loosened_parts(parts: &[Hir]) -> Hir {
    let count = |wanted: fn(char) -> bool| -> usize {
        parts.iter().map(|part| fixed_characters(part, wanted)).sum()
    };
    let has_text = count(is_visible) >= LEAST_TEXT && count(char::is_alphabetic) > 0;
    let loosened = parts.iter().enumerate().map(|(place, part)| {
        let is_number = has_text && is_number(part);
        let (before, after) = (&parts[..place], &parts[place + 1..]);
        if is_number && (leads_to_text(before.iter().rev()) || leads_to_text(after.iter())) {
            number_or_not(part, after.first())
        } else {
            loosened(part)
        }
    });
    Hir::concat(loosened.collect())
}

/// The number, or something else. `next`: the part of the pattern that follows.
fn number_or_not(number: &Hir, next: Option<&Hir>) -> Hir {
    // `nan` must be a whole word, unless the pattern has a unit right behind the number.
    let has_unit = next.is_some_and(|next| match next.kind() {
        HirKind::Literal(text) => text.0.first().is_some_and(u8::is_ascii_alphanumeric),
        _ => false,
    });
    let end = if has_unit { "" } else { r"\b{end-half}" };
    let other = regex_syntax::parse(&format!("{WORD}{end}|{DASHES}"));
    let other = other.expect("a pattern of our own");
    // At the end of the line there may be nothing.
    let or_not =
        |number: &Hir| Hir::alternation(vec![other.clone(), number.clone(), Hir::look(Look::End)]);
    match number.kind() {
        HirKind::Capture(capture) => with_sub(capture, or_not(&capture.sub)),
        _ => or_not(number),
    }
}

fn with_sub(capture: &Capture, sub: Hir) -> Hir {
    Hir::capture(Capture { sub: Box::new(sub), ..capture.clone() })
}

/// Whether these parts, seen from a number, begin with fixed text.
fn leads_to_text<'h>(parts: impl Iterator<Item = &'h Hir>) -> bool {
    for part in parts {
        if !is_narrow(part) && !is_number(part) {
            return false;
        }
        if fixed_characters(part, is_visible) > 0 {
            return true;
        }
    }
    false
}

/// Whether no words match besides those of the pattern.
fn is_narrow(hir: &Hir) -> bool {
    let has_letters = |(first, last): (char, char)| {
        (first <= 'Z' && last >= 'A') || (first <= 'z' && last >= 'a')
    };
    match hir.kind() {
        HirKind::Class(class) => is_letter(class) || !ranges(class).into_iter().any(has_letters),
        kind => kind.subs().iter().all(is_narrow),
    }
}

/// How many such characters each match has in fixed text.
fn fixed_characters(hir: &Hir, wanted: fn(char) -> bool) -> usize {
    let of_parts = |parts: &[Hir]| -> Vec<usize> {
        parts.iter().map(|part| fixed_characters(part, wanted)).collect()
    };
    match hir.kind() {
        HirKind::Literal(text) => {
            let text = String::from_utf8_lossy(&text.0);
            text.chars().filter(|character| wanted(*character)).count()
        }
        HirKind::Class(class) => usize::from(is_letter(class)),
        HirKind::Repetition(repeated) if repeated.min == 0 => 0,
        HirKind::Alternation(parts) => of_parts(parts).into_iter().min().unwrap_or(0),
        kind => of_parts(kind.subs()).into_iter().sum(),
    }
}

fn is_visible(character: char) -> bool {
    !character.is_whitespace()
}

/// Whether an expression matches numbers only.
fn is_number(hir: &Hir) -> bool {
    has_digits(hir) && has_number_characters_only(hir)
}

fn has_digits(hir: &Hir) -> bool {
    match hir.kind() {
        HirKind::Class(class) => {
            ranges(class).into_iter().any(|(first, last)| (first..=last).any(char::is_numeric))
        }
        kind => kind.subs().iter().any(has_digits),
    }
}

fn has_number_characters_only(hir: &Hir) -> bool {
    let is_its = |character: char| character.is_numeric() || "+-.,_eE".contains(character);
    match hir.kind() {
        HirKind::Literal(text) => String::from_utf8_lossy(&text.0).chars().all(is_its),
        HirKind::Class(class) => {
            ranges(class).into_iter().all(|(first, last)| (first..=last).all(is_its))
        }
        kind => kind.subs().iter().all(has_number_characters_only),
    }
}

/// Whether a class stands for one letter in either case.
fn is_letter(class: &Class) -> bool {
    let ranges = ranges(class);
    let size: u32 =
        ranges.iter().map(|(first, last)| u32::from(*last) - u32::from(*first) + 1).sum();
    size <= LARGEST_LETTER && ranges.iter().all(|(first, _)| first.is_alphabetic())
}

fn ranges(class: &Class) -> Vec<(char, char)> {
    match class {
        Class::Unicode(class) => {
            class.ranges().iter().map(|range| (range.start(), range.end())).collect()
        }
        Class::Bytes(class) => {
            let ranges = class.ranges().iter();
            ranges.map(|range| (char::from(range.start()), char::from(range.end()))).collect()
        }
    }
}
