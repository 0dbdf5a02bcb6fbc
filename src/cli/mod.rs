//! The command line: parses arguments, runs commands, and returns exit codes.

mod args;
mod check;
mod completions;
mod configuration;
mod definition;
mod demo;
mod detach;
mod diff;
mod dry_run;
mod ended;
mod exit;
mod help;
mod help_command;
mod init;
mod jobs;
mod limits;
mod localize;
mod locate;
mod log;
mod man;
mod measure;
mod notify;
mod oracle;
mod output;
mod report;
mod schema;
mod start;
mod status;
mod stop;
mod store;
mod topics;
mod unavailable;
mod unnamed;
mod verify;
mod watch;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::ExitCode;
use std::time::SystemTime;

use anyhow::anyhow;
use clap::FromArgMatches;
use clap::error::ErrorKind;
use jiff::Timestamp;

use crate::process::Stop;
use crate::ui::{Ui, Verbosity};

use args::{Args, Command};
pub(crate) use exit::Failed;

/// Parses the command line, runs the command, and returns the exit code.
pub fn main() -> ExitCode {
    let mut words = std::env::args_os().skip(1);
    // Options before the command have no values.
    let command = words.find(|word| !word.as_encoded_bytes().starts_with(b"-"));
    let is_oracle = command.is_some_and(|word| word == "oracle");
    let parsed = definition::command().try_get_matches();
    let args = match parsed.and_then(|words| Args::from_arg_matches(&words)) {
        Ok(args) => args,
        Err(error) => {
            let is_help =
                matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion);
            // Ignored: without a terminal there is no place to report the error.
            let _ = error.print();
            return exit::of_words(is_oracle, is_help);
        }
    };
    // A panic must not exit with 101, which git bisect run reads as "bad".
    match catch_unwind(AssertUnwindSafe(|| run(args))) {
        Ok(code) => code,
        Err(_) => exit::of_panic(is_oracle),
    }
}

fn run(args: Args) -> ExitCode {
    let ui = Ui::with(match (args.quiet, args.verbose) {
        (true, _) => Verbosity::Quiet,
        (false, true) => Verbosity::Verbose,
        (false, false) => Verbosity::Normal,
    });
    let is_oracle = matches!(args.command, Command::Oracle(_));
    let result = dispatch(args, ui);
    match result {
        Ok(code) => ExitCode::from(code),
        Err(failed) => {
            ui.error(&failed.error, failed.hint.as_deref());
            ExitCode::from(failed.code_for(is_oracle))
        }
    }
}

fn dispatch(args: Args, ui: Ui) -> Result<u8, Failed> {
    let is_detached = matches!(&args.command, Command::Resume(resume) if resume.is_detached);
    let stop = if is_detached { detach::leave_terminal() } else { Stop::on_signals() };
    let stop = stop.map_err(|error| Failed::world(error.into(), None))?;
    check_clock()?;
    match args.command {
        Command::Demo(demo) => demo::run(&demo, ui, &stop),
        Command::Init(init) => init::run(&init, ui),
        Command::Check(check) => check::run(&check, ui, &stop),
        Command::Start(start) => start::run(&start, ui, &stop),
        Command::Resume(resume) => start::resume(&resume, ui, &stop),
        Command::Status(status) => status::run(&status, ui, &stop),
        Command::Stop(stop) => stop::run(&stop, ui),
        Command::Localize(localize) => localize::run(&localize, ui, &stop),
        Command::Log(log) => log::run(&log, ui),
        Command::Report(report) => report::run(&report, ui),
        Command::Verify(verify) => verify::run(&verify, ui, &stop),
        Command::Measure(measure) => measure::run(&measure, ui, &stop),
        Command::Diff(diff) => diff::run(&diff.command, ui, &stop),
        Command::Oracle(oracle) => oracle::run(&oracle, &stop),
        Command::Store(store) => store::run(&store.command, ui),
        Command::Schema => schema::run(ui),
        Command::Completions(completions) => completions::run(&completions, ui),
        Command::Man(man) => man::run(&man, ui),
        Command::Help(help) => help_command::run(&help, ui),
        Command::Unavailable(words) => Err(unavailable::command(&words)),
    }
}

/// Refuses a clock that shows a year after 9999: records could not say when they were made.
fn check_clock() -> Result<(), Failed> {
    Timestamp::try_from(SystemTime::now()).map(drop).map_err(|_| {
        let error = anyhow!("this machine's clock shows a year after 9999");
        Failed::world(error, Some("set the clock, then try again".to_owned()))
    })
}
