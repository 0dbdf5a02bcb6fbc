//! `[[prepare]]`.

use std::time::Duration;

use super::super::field::Field;
use super::super::reader::Reader;
use super::super::table_reader::TableReader;
use super::super::{Command, Placeholder, Policy, Prepare, Template};
use super::failures::POLICIES;
use super::matrix::refuse_in_shared;
use super::name::{NOT_A_WORD, is_word};

/// What all cells of a matrix share, for a message.
const SHARED: &str = "the result of a [[prepare]]";

const PREPARE_TIMEOUT: Duration = Duration::from_mins(30);

pub(super) fn prepares(reader: &mut Reader, root: &mut TableReader<'_>) -> Vec<Prepare> {
    let mut prepares: Vec<Prepare> = Vec::new();
    for mut section in root.sections(reader, "prepare") {
        let name = name(reader, &mut section);
        // Added before the command is read: the step writes to its own folder.
        reader.names.prepares.extend(name.clone());
        let folder = format!("{{prepare.{}}}", name.as_deref().unwrap_or("NAME"));
        let line =
            format!("command = \"python3 {{src}}/convert.py --outfile {folder}/model.gguf\"");
        let command = section.need(reader, "command", &line);
        let command = command.and_then(|field| self::command(reader, &field));
        let timeout = section.get("timeout").and_then(|field| field.duration(reader));
        let env = section.get("env").map(|field| {
            let env = field.env(reader);
            refuse_run_placeholders(reader, &field, env.values());
            refuse_in_shared(reader, &field, env.values(), SHARED);
            env
        });
        let outputs = section.get("outputs").map(|field| {
            let fields = field.list(reader).unwrap_or_default();
            fields.iter().filter_map(|field| field.inner_path(reader)).collect()
        });
        let failure = section.get("failure").and_then(|field| field.choice(reader, POLICIES, &[]));
        section.finish(reader);
        let Some(name) = name else { continue };
        prepares.push(Prepare {
            name,
            command: command.unwrap_or_else(|| Command { text: String::new(), words: Vec::new() }),
            timeout: timeout.unwrap_or(PREPARE_TIMEOUT),
            env: env.unwrap_or_default(),
            outputs: outputs.unwrap_or_default(),
            failure: failure.unwrap_or(Policy::Skip),
        });
    }
    prepares
}

/// Reads the name. From here on it is part of the section's key: `prepare.NAME`.
fn name(reader: &mut Reader, section: &mut TableReader<'_>) -> Option<String> {
    let field = section.need(reader, "name", "name = \"gguf\"")?;
    let name = field.text(reader)?;
    if !is_word(name) {
        field.refuse(reader, NOT_A_WORD);
    } else if reader.names.prepares.iter().any(|known| known == name) {
        field.refuse(reader, format!("there is a prepare `{name}` already."));
    }
    section.key = format!("prepare.{name}");
    Some(name.to_owned())
}

fn command(reader: &mut Reader, field: &Field<'_>) -> Option<Command> {
    let command = field.command(reader)?;
    refuse_run_placeholders(reader, field, &command.words);
    refuse_in_shared(reader, field, &command.words, SHARED);
    Some(command)
}

/// Refuses placeholders of a single run, since all runs of a build share the step's result.
fn refuse_run_placeholders<'t>(
    reader: &mut Reader,
    field: &Field<'_>,
    words: impl IntoIterator<Item = &'t Template>,
) {
    for placeholder in words.into_iter().flat_map(Template::placeholders) {
        if matches!(placeholder, Placeholder::Out | Placeholder::Chunks) {
            let what = format!(
                "{placeholder} belongs to a single run; a [[prepare]] serves all runs, and writes \
                 to {{prepare.NAME}}."
            );
            field.refuse(reader, what);
        }
    }
}
