//! `[[measure]]`.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::evaluation::Resource;

use super::super::reader::{Field, Reader, TableReader};
use super::super::{
    Failures, Measure, MeasureKind, PARSER_KEYS, Parser, Pick, Placeholder, Values,
};
use super::failures::run_failures;
use super::matrix::Matrix;
use super::name::{NOT_A_WORD, is_word};
use super::sweep::SweepReader;

const RUN_TIMEOUT: Duration = Duration::from_mins(20);

/// Maximum number of warm-ups. A larger number is a typing error: no warm-up counts.
const MOST_WARMUPS: u32 = 100;

/// A measure as guards and requirements may name it.
pub(super) struct Declared {
    pub(super) name: String,
    /// The name of the measure in each cell; only its own name if it has no cells.
    pub(super) cells: Vec<String>,
    /// The kind of its values, and the parser that names them. `None` if the parser could not be
    /// read; then its metrics are not reported as unknown.
    pub(super) yields: Option<(MeasureKind, Parser)>,
    /// [`Measure::for_cause`].
    pub(super) for_cause: bool,
}

/// A whole measure, for the message if there is none.
const MEASURE: &str = "`[[measure]]` and below it `name = \"ppl\"`, \
                       `command = \"{build}/ppl --text {src}/text.txt\"`, \
                       `parser = \"llama-perplexity\"`";

/// A command, for the message if there is none.
const COMMAND: &str = "command = \"{build}/ppl --text {src}/text.txt\"";

#[derive(Clone, Copy)]
enum ParserName {
    LlamaPerplexity,
    LlamaBench,
    LlamaKld,
    LlamaEvalCallback,
    Logits,
    Text,
    Tensors,
    LmEval,
    Parity,
    Junit,
    Regex,
    Json,
    ExitCode,
}

const PARSERS: &[(&str, ParserName)] = &[
    ("llama-perplexity", ParserName::LlamaPerplexity),
    ("llama-bench", ParserName::LlamaBench),
    ("llama-kld", ParserName::LlamaKld),
    ("llama-eval-callback", ParserName::LlamaEvalCallback),
    ("logits", ParserName::Logits),
    ("text", ParserName::Text),
    ("tensors", ParserName::Tensors),
    ("lm-eval", ParserName::LmEval),
    ("parity", ParserName::Parity),
    ("junit", ParserName::Junit),
    ("regex", ParserName::Regex),
    ("json", ParserName::Json),
    ("exit-code", ParserName::ExitCode),
];

const PICKS: &[(&str, Pick)] = &[
    ("first", Pick::First),
    ("last", Pick::Last),
    ("min", Pick::Min),
    ("max", Pick::Max),
    ("sum", Pick::Sum),
    ("median", Pick::Median),
    ("mean", Pick::Mean),
];

pub(super) fn measures(
    reader: &mut Reader,
    root: &mut TableReader<'_>,
    failures: &Failures,
    matrix: &Matrix,
    sweep: &SweepReader,
) -> (Vec<Measure>, Vec<Declared>) {
    let mut measures = Vec::new();
    let mut declared: Vec<Declared> = Vec::new();
    for mut section in root.some_sections(reader, "measure", MEASURE) {
        let name = name(reader, &mut section, &declared);
        let (place, key) = (section.place, format!("{}.command", section.key));
        let mut cells = Vec::new();
        let mut for_cause = false;
        let yields = measure(reader, section, name.as_deref(), failures).map(|mut measure| {
            let yields = (measure.kind, measure.parser.clone());
            measure.for_cause |= sweep.is_for_cause(reader, (place, &key), &measure, matrix);
            for_cause = measure.for_cause;
            if name.is_some() {
                let made = matrix.cells(reader, (place, &key), measure);
                cells.extend(made.iter().map(|cell| cell.name.clone()));
                measures.extend(made);
            }
            yields
        });
        declared.extend(name.map(|name| Declared { name, cells, yields, for_cause }));
    }
    (measures, declared)
}

/// Reads the name. From here on it is part of the section's key: `measure.NAME`.
fn name(
    reader: &mut Reader,
    section: &mut TableReader<'_>,
    declared: &[Declared],
) -> Option<String> {
    let field = section.need(reader, "name", "name = \"ppl\"")?;
    let name = field.text(reader)?;
    if !is_word(name) {
        field.refuse(reader, NOT_A_WORD);
    } else if declared.iter().any(|d| d.name == name) {
        field.refuse(reader, format!("there is a measure `{name}` already."));
    }
    section.key = format!("measure.{name}");
    Some(name.to_owned())
}

fn measure(
    reader: &mut Reader,
    mut section: TableReader<'_>,
    name: Option<&str>,
    failures: &Failures,
) -> Option<Measure> {
    let command = section.need(reader, "command", COMMAND).and_then(|field| field.command(reader));
    let kind_spot = section.get("kind");
    let kind = kind_spot.as_ref().and_then(|field| {
        let kinds = [("number", MeasureKind::Number), ("fact", MeasureKind::Fact)];
        field.choice(reader, &kinds, &[])
    });
    let kind = kind.unwrap_or(MeasureKind::Number);
    let parser = parser(reader, &mut section, kind);
    if let (Some(field), Some(parser)) = (kind_spot, &parser)
        && kind == MeasureKind::Fact
        && !matches!(parser, Parser::Regex { .. } | Parser::Json { .. })
    {
        field.refuse(reader, "this parser yields numbers; facts come from regex or json.");
    }
    let file_spot = section.get("file");
    let file = file_spot.as_ref().and_then(|field| file(reader, field, parser.as_ref()));
    if let (None, Some(Parser::Logits)) = (&file_spot, &parser) {
        let key = format!("{}.file", section.key);
        let what = "is missing; e.g. `file = \"{out}/logits.npy\"`: the parser `logits` reads a file \
                    that the command writes";
        reader.report_problem(section.place, &key, what);
    }
    let timeout = section.get("timeout").and_then(|field| field.duration(reader));
    let env = section.get("env").map(|field| field.env(reader));
    let cwd = section.get("cwd").and_then(|field| field.template(reader));
    let before = section.get("before").map(|field| field.commands(reader));
    let after = section.get("after").map(|field| field.commands(reader));
    let exclusive = section.get("exclusive").and_then(|field| field.flag(reader));
    let warmup = section.get("warmup").and_then(|field| field.count_to(reader, MOST_WARMUPS));
    let mut own = failures.clone();
    let mut policies = section.section(reader, "failures");
    run_failures(reader, &mut policies, &mut own);
    policies.finish(reader);
    section.finish(reader);
    let parser = parser?;
    Some(Measure {
        name: name.unwrap_or_default().to_owned(),
        // A measure whose command cannot be read still yields metrics; the reader has already
        // recorded why this configuration will not be used.
        command: command
            .unwrap_or_else(|| super::super::Command { text: String::new(), words: Vec::new() }),
        for_cause: matches!(parser, Parser::Tensors),
        parser,
        file,
        timeout: timeout.unwrap_or(RUN_TIMEOUT),
        env: env.unwrap_or_default(),
        cwd,
        before: before.unwrap_or_default(),
        after: after.unwrap_or_default(),
        kind,
        failures: own,
        exclusive: exclusive.unwrap_or(false),
        warmup: warmup.unwrap_or(0),
    })
}

fn parser(reader: &mut Reader, section: &mut TableReader<'_>, kind: MeasureKind) -> Option<Parser> {
    let names = PARSERS.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
    let line = "parser = \"llama-perplexity\"";
    let name_spot = section.need_one_of(reader, "parser", line, &names);
    let name = name_spot.as_ref().and_then(|field| field.choice(reader, PARSERS, &[]));
    let [pattern, pick, pointer, pointers, category] = PARSER_KEYS.map(|key| section.get(key));
    let name = name?;
    let written = PARSERS[name as usize].0;
    let owners: [(_, &[&str]); 5] = [
        (&pattern, &["regex", "llama-eval-callback"]),
        (&pick, &["regex", "llama-bench"]),
        (&pointer, &["json"]),
        (&pointers, &["json"]),
        (&category, &["text"]),
    ];
    for (field, owners) in owners {
        if let Some(field) = field
            && !owners.contains(&written)
        {
            let owners = owners.join("` or `");
            let what = format!("belongs to the parser `{owners}`; this measure's is `{written}`.");
            field.refuse(reader, what);
        }
    }
    match name {
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

/// `file`: a path or pattern below `{out}`. Only that folder is empty before each run; a file in
/// another folder could come from another run.
fn file(reader: &mut Reader, field: &Field<'_>, parser: Option<&Parser>) -> Option<String> {
    let template = field.template(reader)?;
    if matches!(parser, Some(Parser::ExitCode)) {
        field.refuse(reader, "the parser `exit-code` reads nothing but the exit code.");
        return None;
    }
    let placeholders: Vec<&Placeholder> = template.placeholders().collect();
    let path = (placeholders == [&Placeholder::Out])
        .then(|| template.fill(&Values::new().with(Placeholder::Out, "")).ok())
        .flatten()
        .and_then(|path| path.strip_prefix('/').map(str::to_owned))
        .filter(|path| template.text().starts_with("{out}/") && is_below(path));
    match path.as_deref().map(glob::Pattern::new) {
        None => field.refuse(reader, "must be a path below {out}, such as \"{out}/report.xml\"."),
        Some(Err(error)) => field.refuse(reader, format!("not a glob pattern: {}.", error.msg)),
        Some(Ok(_)) => {}
    }
    path
}

fn is_below(path: &str) -> bool {
    !path.is_empty() && path.split('/').all(|part| !matches!(part, "" | "." | ".."))
}

fn regex(
    reader: &mut Reader,
    section: &TableReader<'_>,
    pattern: Option<Field<'_>>,
    pick_spot: Option<Field<'_>>,
    kind: MeasureKind,
) -> Option<Parser> {
    let pick = pick_spot.as_ref().and_then(|field| field.choice(reader, PICKS, &[]));
    let pick = pick.unwrap_or(Pick::Last);
    if let Some(field) = pick_spot
        && kind == MeasureKind::Fact
        && !matches!(pick, Pick::First | Pick::Last)
    {
        field.refuse(reader, "facts are not numbers. Allowed: first, last");
    }
    let Some(field) = pattern else {
        let key = format!("{}.pattern", section.key);
        reader.report_problem(
            section.place,
            &key,
            "is missing; e.g. `pattern = 'ppl: ([0-9.]+)'`: the parser `regex` needs it",
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
            let what = "is missing; e.g. `pointer = \"/ppl\"`, or `pointers = { prefill = \"/pp\", decode = \"/tg\" }`: the parser `json` needs one of them";
            reader.report_problem(section.place, &key, what);
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
