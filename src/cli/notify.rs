//! Tells people how a hunt ended: `[notify] command` and `--on-finish`. What the command does never
//! changes the result of the hunt.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context, anyhow};

use crate::config::plain_words;
use crate::evaluation::Ended;
use crate::hunt;
use crate::process::{self, Invocation, Keep, LogFile, Stop};
use crate::report::{Notice, Report};
use crate::store::{HuntDir, publish};
use crate::ui::{Ui, text};

use super::args::Unattended;
use super::{Failed, exit};

/// The time limit of the command.
const LIMIT: Duration = Duration::from_mins(1);

/// How often to check for a new request to stop.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// A command that is told how a hunt ended.
pub(crate) struct Notify {
    words: Vec<String>,
    /// Where it runs.
    folder: PathBuf,
}

/// The command of `--on-finish`; it runs in the current folder.
pub(crate) fn on_finish(args: &Unattended) -> Result<Option<Notify>, Failed> {
    let Some(text) = &args.on_finish else { return Ok(None) };
    let words = plain_words(text).map_err(|error| {
        let hint = "write a program and its arguments, such as --on-finish './tell.sh me'";
        Failed::usage(anyhow!("--on-finish: {error}"), Some(hint.to_owned()))
    })?;
    let folder = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("."));
    Ok(Some(Notify { words, folder }))
}

/// Tells people how the driver of a hunt ended. `given`: the command of `--on-finish`; without one,
/// the hunt's own configuration counts. Does nothing if this process did not drive the hunt.
pub(crate) fn tell(
    hunt: &HuntDir,
    given: Option<&Notify>,
    result: &Result<u8, Failed>,
    ui: Ui,
    stop: &Stop,
) {
    let code = match result {
        Ok(code) => *code,
        Err(failed) => failed.code_for(false),
    };
    if code == exit::USAGE {
        return;
    }
    let configured = || {
        let (words, folder) = hunt::notify_command(hunt).ok().flatten()?;
        Some(Notify { words, folder })
    };
    let own = if given.is_none() { configured() } else { None };
    let Some(notify) = given.or(own.as_ref()) else { return };
    let error = result.as_ref().err().map(|failed| format!("{:#}", failed.error));
    let report = Report::of(hunt).map_err(anyhow::Error::from);
    let told = report.and_then(|report| {
        let is_person = code == exit::INTERRUPTED;
        run(notify, hunt, &Notice::of(&report, code, error.as_deref(), is_person), stop)
    });
    if let Err(error) = told {
        let error = text::line(&format!("{error:#}"));
        ui.warn(&format!("nobody was told how the hunt ended: {error}"));
        ui.hint(&format!("its output: {}", log(hunt).display()));
        // If the log cannot be written either, the warning is all there is.
        if let Ok(mut file) = OpenOptions::new().create(true).append(true).open(log(hunt)) {
            let _ = writeln!(file, "# failed: {error}");
        }
    }
}

fn log(hunt: &HuntDir) -> PathBuf {
    hunt.path().join("logs/notify.log")
}

fn run(notify: &Notify, hunt: &HuntDir, notice: &Notice, stop: &Stop) -> Result<(), anyhow::Error> {
    let input = hunt.path().join("notify.json");
    publish(&input, notice.json().as_bytes()).context("cannot write the JSON")?;
    let mut invocation = Invocation::new(&notify.words[0])
        .args(&notify.words[1..])
        .cwd(&notify.folder)
        .stdin(&input)
        .timeout(Some(LIMIT));
    for (name, value) in notice.variables() {
        invocation = invocation.env(name, value);
    }
    let path = log(hunt);
    let header = [("event", notice.event.name().to_owned())];
    let file = LogFile { path: &path, header: &header, sync: false };
    let ended = until_asked(stop, |own| {
        process::run(&invocation, own, &file, &mut |_, _| Keep::No).map(|done| done.ended)
    });
    match ended.with_context(|| format!("`{}`", notify.words[0]))? {
        ended if ended.is_success() => Ok(()),
        Ended::TimedOut => {
            Err(anyhow!("`{}` ran longer than {}", notify.words[0], text::duration(LIMIT)))
        }
        ended => Err(anyhow!("`{}`: {ended}", notify.words[0])),
    }
}

/// Calls a function with a fresh `Stop`: only a new request to stop ends it, not the request that
/// ended the hunt.
fn until_asked<T>(stop: &Stop, does: impl FnOnce(&Stop) -> T) -> T {
    let (own, is_over) = (Stop::never(), AtomicBool::new(false));
    let before = stop.requests();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::SeqCst) {
                if stop.requests() > before {
                    own.request();
                    return;
                }
                std::thread::sleep(POLL_INTERVAL);
            }
        });
        let done = does(&own);
        is_over.store(true, Ordering::SeqCst);
        done
    })
}
