//! Finds texts such as `nan`, `---` or nothing at all where a pattern looks for a number. A pattern
//! of digits does not match such a line, so the number of an earlier line would count, or another
//! number of the same line. The caller decides whether such a text counts.
//!
//! The line must have all other text of the pattern. If the text right beside the number is no
//! fixed text, as in `.*([0-9.]+)`, only NaN, infinities and words such as `n/a` are found, and
//! they may be anywhere.

use std::sync::{LazyLock, OnceLock};

use regex::{Match, Regex};
use regex_syntax::hir::{Capture, Class, Hir, HirKind, Look};

use crate::evaluation::parse_number;

/// NaN and infinities, without what must follow.
pub(super) const NOT_FINITE: &str = r"(?i:[-+]?(?:nan\(\w*\)|nan|infinity|inf|1\.#[a-z]+\d*))";
/// Other words in place of a number.
pub(super) const NOTHING: &str = r"(?i:n/a|none|null)";
/// Dashes in place of a number.
pub(super) const DASHES: &str = "-{2,}";
/// Characters of fixed text that a pattern needs besides the number.
const LEAST_TEXT: usize = 2;
/// A class with more characters is no fixed text. `(?i)` makes a class of each letter.
const LARGEST_LETTER: u32 = 4;

/// A regular expression of the program itself.
pub(in crate::measure) fn own_pattern(text: &str) -> Regex {
    Regex::new(text).expect("a pattern of our own")
}

/// The syntax of a regular expression of the program itself.
pub(super) fn own_syntax(text: &str) -> Hir {
    regex_syntax::parse(text).expect("a pattern of our own")
}

/// A cheap test: only such lines can have one of these texts in place of a number.
static MAY_HAVE: LazyLock<Regex> =
    LazyLock::new(|| own_pattern(r"(?i)\b(?:nan|inf|infinity|n/a|none|null)|#|--|=\s*$"));
static WHOLE: LazyLock<Regex> =
    LazyLock::new(|| own_pattern(&format!("^(?:{NOT_FINITE}|{NOTHING}|{DASHES})$")));

/// A pattern's variants that also match where the number is not a number.
#[derive(Debug, Default)]
pub(super) struct NotANumber {
    /// Most runs need no variants, so they are built late.
    variants: OnceLock<Vec<Variant>>,
}

/// A text in place of a number.
#[derive(Clone, Copy, Debug)]
pub(super) struct InPlace<'l> {
    /// The index of the group.
    pub(super) group: usize,
    pub(super) found: Match<'l>,
    /// Where the match begins.
    pub(super) start: usize,
    /// Whether the match has no words besides those of the pattern.
    is_exact: bool,
}

impl<'l> InPlace<'l> {
    pub(super) fn text(&self) -> &'l str {
        self.found.as_str()
    }

    pub(super) fn is_not_finite(&self) -> bool {
        parse_number(self.text()).is_some_and(|number| !number.is_finite())
    }

    /// Whether the text says that there is no finite number. `none` does not count: it may be the
    /// value of a setting.
    pub(super) fn is_no_number(&self) -> bool {
        self.is_not_finite() || self.text().eq_ignore_ascii_case("n/a")
    }

    /// Whether the text is the value of a name, as in `ppl = nan (3 chunks)`, and no name itself, as
    /// in `counts: nan=0`.
    pub(super) fn is_value_in(&self, line: &str) -> bool {
        let (before, after) = (&line[..self.found.start()], &line[self.found.end()..]);
        let is_sign = |c: char| matches!(c, '=' | ':');
        before.trim_end().ends_with(is_sign) && !after.trim_start().starts_with(is_sign)
    }

    /// Whether this text belongs to another name than the number that the pattern takes, as in
    /// `ppl = 7.1, std = nan`. The number must stand before the text: behind it, as in
    /// `loss = inf, lr = 0.1`, the pattern takes the number only because the text is no number. The
    /// pattern must not have the name of the text.
    pub(super) fn is_other_value(&self, pattern: &Regex, line: &str, number: usize) -> bool {
        let start = self.found.start();
        let names = [start, number].map(|place| name_before(&line[..place]));
        let [Some(own), Some(other)] = names else { return false };
        let is_named = pattern.as_str().to_lowercase().contains(&own.to_lowercase());
        own != other && !is_named && number < start
    }

    /// Whether the line has no other words before the text than those of the pattern. `val loss =
    /// nan` may have nothing to do with a pattern that begins with `loss`.
    pub(super) fn is_certain_in(&self, line: &str) -> bool {
        self.is_exact && !line[..self.start].contains(char::is_alphabetic)
    }
}

impl NotANumber {
    /// The texts that groups of `pattern` find in this line in place of a number.
    pub(super) fn in_line<'l>(&self, pattern: &Regex, line: &'l str) -> Vec<InPlace<'l>> {
        if !MAY_HAVE.is_match(line) {
            return Vec::new();
        }
        let mut all: Vec<InPlace<'l>> = Vec::new();
        for Variant { regex, is_exact } in self.variants.get_or_init(|| variants(pattern)) {
            for captures in regex.captures_iter(line) {
                let start = captures.get(0).map_or(0, |whole| whole.start());
                for (group, found) in captures.iter().enumerate().skip(1) {
                    let Some(found) = found.filter(|found| is_in_place(line, *found)) else {
                        continue;
                    };
                    let is_known = all.iter().any(|one| one.group == group && one.found == found);
                    if !is_known {
                        all.push(InPlace { group, found, start, is_exact: *is_exact });
                    }
                }
            }
        }
        all
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

/// The name of a value, if a text ends with `NAME =` or `NAME:`.
fn name_before(text: &str) -> Option<&str> {
    let name = text.trim_end().strip_suffix(['=', ':'])?.trim_end();
    let is_of_name = |c: char| c.is_alphanumeric() || c == '_';
    name.rsplit(|c: char| !is_of_name(c)).next().filter(|name| !name.is_empty())
}

/// A variant of a pattern.
#[derive(Debug)]
struct Variant {
    regex: Regex,
    /// Whether a match has no words besides the number and those of the pattern.
    is_exact: bool,
}

/// In place of which numbers of a pattern a variant allows another text.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Beside {
    /// Those with fixed text right beside them.
    FixedText,
    /// All. The other text may only be NaN, an infinity or a word such as `n/a`.
    Anything,
}

/// The variants of a pattern; empty if none of its groups can have one.
fn variants(pattern: &Regex) -> Vec<Variant> {
    let Ok(original) = regex_syntax::parse(pattern.as_str()) else { return Vec::new() };
    let variant = |beside: Beside| {
        let variant = loosened(&original, beside);
        let regex = Regex::new(&variant.to_string()).ok().filter(|_| variant != original)?;
        let is_exact = beside == Beside::FixedText && has_own_words_only(&original);
        Some(Variant { regex, is_exact })
    };
    [Beside::FixedText, Beside::Anything].into_iter().filter_map(variant).collect()
}

/// Whether an expression matches only numbers and the words that it has itself.
fn has_own_words_only(hir: &Hir) -> bool {
    if is_number(hir) {
        return true;
    }
    match hir.kind() {
        HirKind::Class(_) => is_narrow(hir),
        kind => kind.subs().iter().all(has_own_words_only),
    }
}

/// The expression with NaN, an infinity or another word allowed in place of the numbers that
/// `beside` chooses.
fn loosened(hir: &Hir, beside: Beside) -> Hir {
    let inner = |hir: &Hir| loosened(hir, beside);
    match hir.kind() {
        HirKind::Concat(parts) => loosened_parts(parts, beside),
        _ if beside == Beside::Anything && is_number(hir) => number_or_not(hir, None, beside),
        HirKind::Alternation(parts) => Hir::alternation(parts.iter().map(inner).collect()),
        HirKind::Capture(capture) => with_sub(capture, inner(&capture.sub)),
        HirKind::Repetition(repeated) => Hir::repetition(repeated.with(inner(&repeated.sub))),
        HirKind::Empty | HirKind::Literal(_) | HirKind::Class(_) | HirKind::Look(_) => hir.clone(),
    }
}

fn loosened_parts(parts: &[Hir], beside: Beside) -> Hir {
    let has_text = has_text(parts);
    let loosened = parts.iter().enumerate().map(|(place, part)| {
        let (before, after) = (&parts[..place], &parts[place + 1..]);
        let has_text_beside =
            || has_text && (leads_to_text(before.iter().rev()) || leads_to_text(after.iter()));
        if is_number(part) && (beside == Beside::Anything || has_text_beside()) {
            number_or_not(part, after.first(), beside)
        } else {
            loosened(part, beside)
        }
    });
    Hir::concat(loosened.collect())
}

/// The number, or something else. `next`: the part of the pattern that follows.
fn number_or_not(number: &Hir, next: Option<&Hir>, beside: Beside) -> Hir {
    // `nan` must be a whole word, unless the pattern has a unit right behind the number.
    let has_unit = next.is_some_and(|next| match next.kind() {
        HirKind::Literal(text) => text.0.first().is_some_and(u8::is_ascii_alphanumeric),
        _ => false,
    });
    let end = if has_unit { "" } else { r"\b{end-half}" };
    let or_not = |number: &Hir| match beside {
        // At the end of the line there may be nothing.
        Beside::FixedText => Hir::alternation(vec![
            own_syntax(&format!("(?:{NOT_FINITE}|{NOTHING}){end}|{DASHES}")),
            number.clone(),
            Hir::look(Look::End),
        ]),
        Beside::Anything => {
            let other = own_syntax(&format!("(?:{NOT_FINITE}|{NOTHING}){end}"));
            Hir::alternation(vec![other, number.clone()])
        }
    };
    match number.kind() {
        HirKind::Capture(capture) => with_sub(capture, or_not(&capture.sub)),
        _ => or_not(number),
    }
}

fn with_sub(capture: &Capture, sub: Hir) -> Hir {
    Hir::capture(Capture { sub: Box::new(sub), ..capture.clone() })
}

/// Whether these parts have enough fixed text, with a letter.
pub(super) fn has_text(parts: &[Hir]) -> bool {
    let count = |wanted: fn(char) -> bool| -> usize {
        parts.iter().map(|part| fixed_characters(part, wanted)).sum()
    };
    count(is_visible) >= LEAST_TEXT && count(char::is_alphabetic) > 0
}

/// Whether these parts, seen from a number, begin with fixed text.
pub(super) fn leads_to_text<'h>(parts: impl Iterator<Item = &'h Hir>) -> bool {
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

/// How many characters for which `wanted` holds each match has in fixed text.
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
pub(super) fn is_number(hir: &Hir) -> bool {
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
