//! `[[measure]]`.

use std::time::Duration;

use super::super::field::Field;
use super::super::parser_table::{FileUse, ParserRow};
use super::super::reader::Reader;
use super::super::table_reader::TableReader;
use super::super::{Exclusive, Failures, Measure, MeasureKind, Parser, Placeholder, Values};
use super::failures::run_failures;
use super::matrix::Matrix;
use super::name::{NOT_A_WORD, is_word};
use super::parser::parser;
use super::sweep::SweepReader;
use crate::evaluation::Checks;

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
    let kind_field = section.get("kind");
    let kind = kind_field.as_ref().and_then(|field| {
        let kinds = [("number", MeasureKind::Number), ("fact", MeasureKind::Fact)];
        field.choice(reader, &kinds, &[])
    });
    let kind = kind.unwrap_or(MeasureKind::Number);
    let parser = parser(reader, &mut section, kind);
    if let (Some(field), Some(parser)) = (kind_field, &parser)
        && kind == MeasureKind::Fact
        && !parser.row().yields_facts
    {
        let facts = ParserRow::names_where(|row| row.yields_facts).join(" or ");
        field.refuse(reader, format!("this parser yields numbers; facts come from {facts}."));
    }
    let file_field = section.get("file");
    let file = file_field.as_ref().and_then(|field| file(reader, field, parser.as_ref()));
    if let (None, Some(row)) = (&file_field, parser.as_ref().map(Parser::row))
        && row.file == FileUse::Needed
    {
        let key = format!("{}.file", section.key);
        let rest = format!(
            "; e.g. `file = \"{{out}}/logits.npy\"`: the parser `{}` reads a file that the \
             command writes",
            row.name
        );
        reader.report_missing(section.place, &key, &rest);
    }
    let timeout = section.get("timeout").and_then(|field| field.duration(reader));
    let env = section.get("env").map(|field| field.env(reader));
    let cwd = section.get("cwd").and_then(|field| field.template(reader));
    let before = section.get("before").map(|field| field.commands(reader));
    let after = section.get("after").map(|field| field.commands(reader));
    let exclusive = section.get("exclusive").and_then(|field| field.flag_or(reader, "runs"));
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
        exclusive: match exclusive {
            None | Some(Some(false)) => Exclusive::No,
            Some(Some(true)) => Exclusive::All,
            Some(None) => Exclusive::Runs,
        },
        warmup: warmup.unwrap_or(0),
        left_out: Checks::default(),
    })
}

/// `file`: a path or pattern below `{out}`. Only that folder is empty before each run; a file in
/// another folder could come from another run.
fn file(reader: &mut Reader, field: &Field<'_>, parser: Option<&Parser>) -> Option<String> {
    let template = field.template(reader)?;
    if let Some(row) = parser.map(Parser::row)
        && row.file == FileUse::Refused
    {
        let what = format!("the parser `{}` reads nothing but the exit code.", row.name);
        field.refuse(reader, what);
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
