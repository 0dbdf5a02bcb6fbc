//! `parser` of a measure, and the keys that belong to it.

use std::collections::BTreeMap;

use crate::evaluation::Resource;

use super::super::field::Field;
use super::super::parser::PICKS;
use super::super::parser_table::{PARSERS, ParserName, ParserRow};
use super::super::reader::Reader;
use super::super::table_reader::TableReader;
use super::super::{MeasureKind, PARSER_KEYS, Parser, Pick};
use super::name::{NOT_A_WORD, is_word};

/// The parser of a measure, with its keys.
pub(super) fn parser(
    reader: &mut Reader,
    section: &mut TableReader<'_>,
    kind: MeasureKind,
) -> Option<Parser> {
    let choices: Vec<(&str, &ParserRow)> = PARSERS.iter().map(|row| (row.name, row)).collect();
    let names = choices.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
    let line = "parser = \"llama-perplexity\"";
    let name_field = section.need_one_of(reader, "parser", line, &names);
    let row = name_field.as_ref().and_then(|field| field.choice(reader, &choices, &[]));
    let fields = PARSER_KEYS.map(|key| section.get(key));
    let row = row?;
    for (field, key) in fields.iter().zip(PARSER_KEYS) {
        if let Some(field) = field
            && !row.keys.contains(&key)
        {
            let owners = ParserRow::names_where(|row| row.keys.contains(&key)).join("` or `");
            let own = row.name;
            let what = format!("belongs to the parser `{owners}`; this measure's is `{own}`.");
            field.refuse(reader, what);
        }
    }
    let [pattern, pick, pointer, pointers, category] = fields;
    match row.parser {
        ParserName::LlamaPerplexity => Some(Parser::LlamaPerplexity),
        ParserName::LlamaBench => Some(bench(reader, pick)),
        ParserName::LlamaKld => Some(Parser::LlamaKld),
        ParserName::LlamaEvalCallback => match pattern {
            Some(field) => {
                field.pattern(reader).map(|p| Parser::LlamaEvalCallback { pattern: Some(p) })
            }
            None => Some(Parser::LlamaEvalCallback { pattern: None }),
        },
        ParserName::Logits => Some(Parser::Logits),
        ParserName::Text => {
            let category = category.and_then(|field| field.text(reader).map(str::to_owned));
            Some(Parser::Text { category })
        }
        ParserName::Tensors => Some(Parser::Tensors),
        ParserName::LmEval => Some(Parser::LmEval),
        ParserName::Parity => Some(Parser::Parity),
        ParserName::Junit => Some(Parser::Junit),
        ParserName::ExitCode => Some(Parser::ExitCode),
        ParserName::Regex => regex(reader, section, pattern, pick, kind),
        ParserName::Json => json(reader, section, pointer, pointers),
    }
}

fn bench(reader: &mut Reader, pick: Option<Field<'_>>) -> Parser {
    let read = pick.as_ref().and_then(|field| field.choice(reader, PICKS, &[]));
    if let (Some(field), Some(Pick::Sum)) = (pick, read) {
        field.refuse(
            reader,
            "speeds cannot be summed. Allowed: first, last, min, max, median, mean",
        );
    }
    // One disturbed repetition moves the mean, but hardly the median.
    Parser::LlamaBench { pick: read.unwrap_or(Pick::Median) }
}

fn regex(
    reader: &mut Reader,
    section: &TableReader<'_>,
    pattern: Option<Field<'_>>,
    pick_field: Option<Field<'_>>,
    kind: MeasureKind,
) -> Option<Parser> {
    let pick = pick_field.as_ref().and_then(|field| field.choice(reader, PICKS, &[]));
    let pick = pick.unwrap_or(Pick::Last);
    if let Some(field) = pick_field
        && kind == MeasureKind::Fact
        && !matches!(pick, Pick::First | Pick::Last)
    {
        field.refuse(reader, "facts are not numbers. Allowed: first, last");
    }
    let Some(field) = pattern else {
        let key = format!("{}.pattern", section.key);
        reader.report_missing(
            section.place,
            &key,
            "; e.g. `pattern = 'ppl: ([0-9.]+)'`: the parser `regex` needs it",
        );
        return None;
    };
    let pattern = field.pattern(reader)?;
    check_groups(reader, &field, &pattern);
    if needs_line_break(pattern.as_str()) {
        field.refuse(
            reader,
            "needs a line break, but each line of the output is matched on its own: write a pattern for the line with the value.",
        );
    }
    Some(Parser::Regex { pattern, pick })
}

/// Whether a pattern needs a line break outside of all groups and classes. A line has none, so
/// such a pattern never matches. Inside a group it may be optional.
fn needs_line_break(pattern: &str) -> bool {
    let (mut depth, mut is_in_class) = (0_u32, false);
    let mut found = false;
    let mut characters = pattern.chars().peekable();
    while let Some(character) = characters.next() {
        let escaped = if character == '\\' { characters.next() } else { None };
        match (character, escaped) {
            (_, Some('n')) | ('\n', None) if depth == 0 && !is_in_class => {
                found |= !matches!(characters.peek(), Some('?' | '*' | '{'));
            }
            (_, Some(_)) => {}
            ('[', _) => is_in_class = true,
            (']', _) => is_in_class = false,
            ('(', _) if !is_in_class => depth += 1,
            (')', _) if !is_in_class => depth = depth.saturating_sub(1),
            // One of the alternatives may have no line break.
            ('|', _) if depth == 0 && !is_in_class => return false,
            _ => {}
        }
    }
    found
}

fn check_groups(reader: &mut Reader, field: &Field<'_>, pattern: &regex::Regex) {
    let names: Vec<&str> = pattern.capture_names().flatten().collect();
    let unnamed = pattern.captures_len() - 1 - names.len();
    if !names.is_empty() && unnamed > 0 {
        field.refuse(
            reader,
            "has named and unnamed groups: name all, or write (?:…) for those that hold no value.",
        );
    } else if unnamed > 1 {
        let what = format!(
            "has {unnamed} unnamed groups: name them (?<name>…), or write (?:…) for those that hold no value."
        );
        field.refuse(reader, what);
    }
    for name in names {
        check_metric_name(reader, field, name);
    }
}

fn check_metric_name(reader: &mut Reader, field: &Field<'_>, name: &str) {
    if !is_word(name) {
        field.refuse(reader, format!("`{name}`: {NOT_A_WORD}"));
    } else if Resource::NAMES.contains(&name) {
        field.refuse(reader, format!("`{name}` is measured for every run; use another name."));
    }
}

fn json(
    reader: &mut Reader,
    section: &TableReader<'_>,
    pointer: Option<Field<'_>>,
    pointers: Option<Field<'_>>,
) -> Option<Parser> {
    let mut read = BTreeMap::new();
    match (pointer, pointers) {
        (None, None) => {
            let key = format!("{}.pointers", section.key);
            let rest = "; e.g. `pointer = \"/ppl\"`, or `pointers = { prefill = \"/pp\", decode = \"/tg\" }`: the parser `json` needs one of them";
            reader.report_missing(section.place, &key, rest);
            return None;
        }
        (Some(_), Some(both)) => {
            both.refuse(reader, "`pointer` and `pointers` are both given; one is enough.");
            return None;
        }
        (Some(one), None) => {
            read.insert(None, checked_pointer(reader, &one)?);
        }
        (None, Some(many)) => {
            let section = many.section(reader)?;
            for (name, _, field) in section.entries() {
                check_metric_name(reader, &field, name);
                read.insert(
                    Some(name.to_owned()),
                    checked_pointer(reader, &field).unwrap_or_default(),
                );
            }
            if read.is_empty() {
                many.refuse(reader, "may not be empty.");
            }
        }
    }
    Some(Parser::Json { pointers: read })
}

fn checked_pointer(reader: &mut Reader, field: &Field<'_>) -> Option<String> {
    let text = field.text(reader)?;
    let escapes = text.split('~').skip(1).all(|rest| rest.starts_with(['0', '1']));
    if !text.starts_with('/') || !escapes {
        field.refuse(
            reader,
            format!("`{text}` is not a JSON pointer (RFC 6901), such as /results/0/value."),
        );
    }
    Some(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_break_that_may_be_absent_is_no_fault() {
        for pattern in [r"a\n?b", r"a(\nb)?", r"[^\n]+", r"a\n|b", r"a\\n", "a{2}", r"\n*a"] {
            assert!(!needs_line_break(pattern), "{pattern}");
        }
        assert!(needs_line_break("a\nb") && needs_line_break(r"(a)\n(b)"));
    }
}
