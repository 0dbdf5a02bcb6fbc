//! Commands that are planned but not available: each one is refused by name.

use anyhow::anyhow;
use clap::CommandFactory;

use crate::ui::text;

use super::Failed;
use super::args::Args;

/// Planned commands.
pub(super) const COMMANDS: &[&str] = &["compare", "gate", "track", "reproduce"];

/// The error for a command that does not exist.
pub(crate) fn command(words: &[String]) -> Failed {
    let name = words.first().map_or("", String::as_str);
    if COMMANDS.contains(&name) {
        return Failed::usage(
            anyhow!("`bisect-ppl {name}` is not available yet"),
            Some("`bisect-ppl --help` lists what is".to_owned()),
        );
    }
    let line = Args::command();
    let near = line.get_subcommands().map(clap::Command::get_name).chain(COMMANDS.iter().copied());
    let near = nearest(name, near).map(|known| format!("did you mean `bisect-ppl {known}`?"));
    let hint = near.or_else(|| Some("`bisect-ppl --help` lists the commands".to_owned()));
    Failed::usage(anyhow!("there is no command `{name}`"), hint)
}

/// The error for an unknown word after `diff`.
pub(crate) fn diff(words: &[String]) -> Failed {
    let name = words.first().map_or("", String::as_str);
    let hint = "there are `bisect-ppl diff logits A B` and `bisect-ppl diff tensors A B`";
    let what = anyhow!("`bisect-ppl diff {}` does not exist", text::line(name));
    Failed::usage(what, Some(hint.to_owned()))
}

/// The known word nearest to a misspelt one. At most a third of the letters may be wrong.
pub(super) fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    known
        .into_iter()
        .map(|known| (strsim::damerau_levenshtein(known, name), known))
        .min_by_key(|(distance, _)| *distance)
        .filter(|(distance, _)| distance * 3 <= name.chars().count())
        .map(|(_, known)| known)
}
