//! `--detach`: the hunt goes on in a process of its own, without the terminal. That process runs
//! `resume --is-detached`. It also starts hunts of which only the folder exists.

use std::ffi::OsString;
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::Duration;

use crate::process::{self, Detached, Stop};
use crate::store::HuntDir;
use crate::ui::{Ui, Verbosity, text};

use super::args::Unattended;
use super::{Failed, exit};

/// How often to check whether the driver holds the hunt's lock.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// How much of a dead driver's output is shown, in bytes.
const MOST_SHOWN: u64 = 64 << 10;

/// Prepares this process, which `--detach` started.
pub(super) fn leave_terminal() -> io::Result<Stop> {
    process::leave_terminal()?;
    Stop::on_signals_but_hangup()
}

/// The arguments of `resume` for the driver, with the limits as they were typed.
pub(super) fn limits(typed: &Unattended) -> Vec<OsString> {
    let named = [
        ("--deadline", typed.deadline.clone()),
        ("--max-runs", typed.max_runs.map(|runs| runs.to_string())),
        ("--max-hours", typed.max_hours.map(|hours| hours.to_string())),
        ("--max-gpu-hours", typed.max_gpu_hours.map(|hours| hours.to_string())),
    ];
    let given = named.into_iter().filter_map(|(name, value)| Some((name, value?)));
    given.map(|(name, value)| format!("{name}={value}").into()).collect()
}

/// Starts a detached driver and waits until it holds the hunt's lock. If the driver ends before
/// that, prints what it said; the exit code is the driver's.
pub(super) fn begin(
    hunt: &HuntDir,
    limits: Vec<OsString>,
    on_finish: Option<&str>,
    ui: Ui,
    stop: &Stop,
) -> Result<u8, Failed> {
    if hunt.is_driven().map_err(Failed::store)? {
        return Err(Failed::store(hunt.locked()));
    }
    let mut words: Vec<OsString> = vec!["resume".into(), hunt.id().into(), "--is-detached".into()];
    words.extend(limits);
    words.extend(on_finish.map(|command| format!("--on-finish={command}").into()));
    words.extend(match ui.verbosity() {
        Verbosity::Quiet => Some("--quiet".into()),
        Verbosity::Normal => None,
        Verbosity::Verbose => Some("--verbose".into()),
    });
    let path = hunt.path().join("driver.log");
    let log = Log::open(&path).map_err(|error| world(error, &path))?;
    let mut driver = Detached::start(&words, &log.file).map_err(|error| {
        let error = anyhow::Error::new(error).context("cannot start the process of the hunt");
        Failed::world(error, None).resumable()
    })?;
    let code = wait(hunt, &mut driver, stop)?;
    if let Some(code) = code {
        let said = log.said().map_err(|error| world(error, &path))?;
        // This command has said the name.
        let name = format!("hunt: {}\n", hunt.id());
        ui.always(text::lines(&said).replacen(&name, "", 1).trim_end());
        return Ok(code);
    }
    for line in [
        format!("the hunt runs without this terminal, in process {}", driver.pid()),
        format!("its output: {}", path.display()),
        format!("`bisect-ppl status --watch {}` shows it", hunt.id()),
        format!("`bisect-ppl status --wait {}` waits for its answer", hunt.id()),
        format!("`bisect-ppl stop {}` ends it", hunt.id()),
    ] {
        ui.line(&line);
    }
    Ok(exit::DONE)
}

/// Waits until the driver has the lock (`None`), or has ended without it (its exit code).
fn wait(hunt: &HuntDir, driver: &mut Detached, stop: &Stop) -> Result<Option<u8>, Failed> {
    let failed = |error: io::Error| Failed::world(error.into(), None);
    // The PID is not reused before `ended` reports the end of the process.
    let began = process::started(driver.pid());
    let mut asked = false;
    loop {
        // Asked before the file is read: a short hunt may end in between.
        let code = driver.ended().map_err(failed)?;
        // Errors are ignored: if the file cannot be read or written, the driver ends and says why.
        let holder = hunt.holder().ok().flatten();
        if holder.is_some_and(|holder| holder.pid == driver.pid() && holder.began == began) {
            return Ok(None);
        }
        if code.is_some() {
            return Ok(code);
        }
        if stop.is_requested() && !std::mem::replace(&mut asked, true) {
            driver.end();
        }
        std::thread::sleep(POLL_INTERVAL);
    }
}

/// The file for the output of detached drivers; a later driver of the hunt appends.
struct Log {
    file: File,
    /// Its length before this driver.
    before: u64,
}

impl Log {
    fn open(path: &Path) -> io::Result<Self> {
        let mut file = OpenOptions::new().create(true).append(true).read(true).open(path)?;
        writeln!(file, "# {:.0}", jiff::Timestamp::now())?;
        let before = file.metadata()?.len();
        Ok(Self { file, before })
    }

    /// What the driver said: the last part of it if it is long.
    fn said(&self) -> io::Result<String> {
        let length = self.file.metadata()?.len();
        let from = self.before.max(length.saturating_sub(MOST_SHOWN));
        let mut bytes = vec![0; usize::try_from(length - from).unwrap_or_default()];
        self.file.read_exact_at(&mut bytes, from)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }
}

fn world(error: io::Error, path: &Path) -> Failed {
    let cure = match error.kind() {
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => "make it writable",
        _ => "free some space",
    };
    let error = anyhow::Error::new(error).context(format!("cannot write {}", path.display()));
    Failed::world(error, Some(cure.to_owned())).resumable()
}
