//! `man`: manual pages, made from the definition of the command line.

use clap::{Command, CommandFactory};
use clap_mangen::Man as Page;
use clap_mangen::roff::{Roff, roman};

use crate::store::publish;
use crate::ui::Ui;

use super::args::{Args, Man};
use super::{Failed, exit};

/// `man`.
pub(crate) fn run(args: &Man, ui: Ui) -> Result<u8, Failed> {
    let mut command = Args::command();
    // Sets the display names of the subcommands, which name their pages.
    command.build();
    let Some(folder) = &args.dir else {
        let text = page(&command).map_err(|error| Failed::world(error.into(), None))?;
        ui.out(&text).map_err(Failed::stdout)?;
        return Ok(exit::DONE);
    };
    let folder = std::path::absolute(folder).map_err(|error| Failed::world(error.into(), None))?;
    for (name, text) in pages(&command).map_err(|error| Failed::world(error.into(), None))? {
        publish(&folder.join(format!("{name}.1")), text.as_bytes()).map_err(Failed::store)?;
    }
    Ok(exit::DONE)
}

/// The pages of a command and of all its subcommands, with their names.
fn pages(command: &Command) -> std::io::Result<Vec<(String, String)>> {
    let name = command.get_display_name().unwrap_or_else(|| command.get_name());
    let mut all = vec![(name.to_owned(), page(command)?)];
    for below in command.get_subcommands().filter(|below| !below.is_hide_set()) {
        all.extend(pages(below)?);
    }
    Ok(all)
}

/// The page of a command. The paragraphs after the options of `--help`, such as `Examples:`,
/// become sections that keep their line breaks.
fn page(command: &Command) -> std::io::Result<String> {
    let after = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let page = Page::new(command.clone())
        .source(concat!("bisect-ppl ", env!("CARGO_PKG_VERSION")))
        .manual("bisect-ppl");
    let mut text = Vec::new();
    page.render_title(&mut text)?;
    page.render_name_section(&mut text)?;
    page.render_synopsis_section(&mut text)?;
    page.render_description_section(&mut text)?;
    page.render_options_section(&mut text)?;
    if command.has_subcommands() {
        page.render_subcommands_section(&mut text)?;
    }
    let mut roff = Roff::new();
    for paragraph in after.split("\n\n") {
        let mut lines = paragraph.lines();
        let head = lines.next().unwrap_or_default();
        let Some(heading) = head.strip_suffix(':') else {
            roff.control("PP", []);
            roff.text([roman(paragraph)]);
            continue;
        };
        roff.control("SH", [heading.to_uppercase().as_str()]);
        roff.control("nf", []);
        for line in lines {
            roff.text([roman(line.strip_prefix("  ").unwrap_or(line))]);
        }
        roff.control("fi", []);
    }
    roff.to_writer(&mut text)?;
    Ok(String::from_utf8_lossy(&text).into_owned())
}
