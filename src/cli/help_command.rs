//! `help`: a command's help, or a document that is embedded in the program.

use anyhow::anyhow;

use crate::ui::{Ui, document, text, url};

use super::args::Help;
use super::topics::{TOPICS, Topic};
use super::{Failed, definition, exit, unavailable};

/// The columns of a document that is not shown on a terminal.
const COLUMNS: usize = 80;
/// The most columns of a document: longer lines are hard to read.
const MOST_COLUMNS: usize = 100;

/// `help`.
pub(crate) fn run(args: &Help, ui: Ui) -> Result<u8, Failed> {
    let shown = match args.words.as_slice() {
        [word] if word == "topics" => topics(),
        [word] if let Some(topic) = TOPICS.iter().find(|topic| topic.name() == word) => {
            whole(topic, ui)
        }
        words => command_help(words)?,
    };
    ui.out(&shown).map_err(Failed::stdout)?;
    Ok(exit::DONE)
}

/// The help of a command, or of a command of a command: `store gc`.
fn command_help(words: &[String]) -> Result<String, Failed> {
    let mut command = &definition::command();
    for word in words {
        let below = command.find_subcommand(word);
        command = below.ok_or_else(|| unknown(command, word))?;
    }
    let typed = ["bisect-ppl"].into_iter().chain(words.iter().map(String::as_str));
    let help = definition::command().try_get_matches_from(typed.chain(["--help"]));
    Ok(help.map_or_else(|help| help.render().ansi().to_string(), |_| String::new()))
}

/// The error for a word that names neither a command nor a document.
fn unknown(command: &clap::Command, word: &str) -> Failed {
    let mut known: Vec<&str> = command.get_subcommands().map(clap::Command::get_name).collect();
    known.extend(TOPICS.iter().map(Topic::name));
    let planned = unavailable::COMMANDS;
    if planned.contains(&word) {
        return unavailable::command(&[word.to_owned()]);
    }
    let hint = match unavailable::nearest(word, known) {
        Some(near) => format!("did you mean `bisect-ppl help {near}`?"),
        None => "`bisect-ppl --help` lists the commands, `bisect-ppl help topics` the documents"
            .to_owned(),
    };
    Failed::usage(anyhow!("there is no help on `{}`", text::line(word)), Some(hint))
}

/// The documents, one line each.
fn topics() -> String {
    let lines = TOPICS.iter().map(|topic| format!("  {:<14} {}\n", topic.name(), topic.about));
    format!("bisect-ppl help TOPIC shows a document:\n{}", lines.collect::<String>())
}

/// A document with its address.
fn whole(topic: &Topic, ui: Ui) -> String {
    let columns = ui.columns().unwrap_or(COLUMNS).min(MOST_COLUMNS);
    format!("{}\nOn the web: {}\n", document(topic.text, columns), url(topic.path))
}
