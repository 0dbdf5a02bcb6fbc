//! `completions`: a completion script for a shell, made from the definition of the command line.

use clap::{Command, CommandFactory};
use clap_complete::Shell;

use crate::ui::Ui;

use super::args::{Args, Completions};
use super::{Failed, exit};

/// `completions`.
pub(crate) fn run(args: &Completions, ui: Ui) -> Result<u8, Failed> {
    let mut script = Vec::new();
    let mut command = visible(&Args::command());
    clap_complete::generate(args.shell, &mut command, "bisect-ppl", &mut script);
    let mut script = String::from_utf8_lossy(&script).into_owned();
    if args.shell == Shell::Bash {
        // For a program with a hyphen, clap_complete 4.6 names its states inconsistently, so
        // nothing completes after a command (clap-rs/clap#6421).
        script = script.replace("bisect__subcmd__ppl", "bisect__ppl");
    }
    ui.out(&script).map_err(Failed::stdout)?;
    Ok(exit::DONE)
}

/// The command line without hidden options, which are not for people: the generators would offer
/// them.
fn visible(command: &Command) -> Command {
    let commands = command.get_subcommands().map(|below| match below.get_name() {
        "resume" => shown(Command::new("resume"), below),
        "oracle" => shown(Command::new("oracle"), below),
        _ => below.clone(),
    });
    let version = env!("CARGO_PKG_VERSION");
    shown(Command::new("bisect-ppl"), command)
        .version(version)
        .disable_help_subcommand(true)
        .subcommands(commands)
}

/// An empty command with the text and the visible options of another.
fn shown(empty: Command, command: &Command) -> Command {
    let options = command.get_arguments().filter(|option| !option.is_hide_set());
    empty.about(command.get_about().cloned().unwrap_or_default()).args(options.cloned())
}
