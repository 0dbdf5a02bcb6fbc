//! `completions`: a completion script for a shell, made from the definition of the command line.

use clap::CommandFactory;
use clap_complete::Shell;

use crate::ui::Ui;

use super::args::{Args, Completions};
use super::{Failed, exit};

/// `completions`.
pub fn run(args: &Completions, ui: Ui) -> Result<u8, Failed> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Args::command(), "bisect-ppl", &mut script);
    let mut script = String::from_utf8_lossy(&script).into_owned();
    if args.shell == Shell::Bash {
        // For a program with a hyphen, clap_complete 4.6 names its states inconsistently, so
        // nothing completes after a command (clap-rs/clap#6421).
        script = script.replace("bisect__subcmd__ppl", "bisect__ppl");
    }
    ui.out(&script).map_err(Failed::stdout)?;
    Ok(exit::DONE)
}
