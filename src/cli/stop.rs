//! `stop`: stops a running hunt cleanly, from anywhere in the repository.

use std::time::{Duration, Instant};

use anyhow::anyhow;
use rustix::process::{Pid, Signal, kill_process};

use crate::process::is_alive;
use crate::store::{Driver, Holder, HuntDir};
use crate::ui::Ui;

use super::args::Hunt;
use super::locate::hunt_here;
use super::{Failed, exit};

/// How long to wait for the hunt to end: an engine may end slowly.
const PATIENCE: Duration = Duration::from_mins(1);

/// How long to wait for the process to end after its hunt: it runs the command of `--on-finish`,
/// which may take a minute.
const TELLING: Duration = Duration::from_secs(70);

/// How often to check.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// How long to wait for a driver that has the hunt's lock to write down its process id.
const NAMING: Duration = Duration::from_secs(1);

/// `stop`.
pub(crate) fn run(args: &Hunt, ui: Ui) -> Result<u8, Failed> {
    let (_, hunt) = hunt_here(args.hunt.as_deref())?;
    let is_driven = || hunt.is_driven().map_err(Failed::store);
    let Some((pid, holder)) = driver(&hunt)? else {
        ui.line(&format!("hunt {} is not running", hunt.id()));
        return Ok(exit::DONE);
    };
    kill_process(pid, Signal::TERM).map_err(|error| {
        let pid = holder.pid;
        let error = anyhow::Error::new(error).context(format!("cannot end process {pid}"));
        let cure = "the user who started the hunt can end it, also with Ctrl-C in its terminal";
        Failed::world(error, Some(cure.to_owned()))
    })?;
    let asked = Instant::now();
    while is_driven()? {
        if asked.elapsed() > PATIENCE {
            let pid = holder.pid;
            return Err(Failed::world(
                anyhow!("hunt {} was asked to end a minute ago and has not", hunt.id()),
                Some(format!("kill -9 {pid} ends it; nothing measured is lost")),
            ));
        }
        std::thread::sleep(POLL_INTERVAL);
    }
    // After its hunt, a driver runs the command of `--on-finish`.
    let stopped = Instant::now();
    while holder.began.is_some_and(|began| is_alive(holder.pid, began)) {
        if stopped.elapsed() > TELLING {
            ui.warn(&format!("process {} still runs the command of --on-finish", holder.pid));
            break;
        }
        std::thread::sleep(POLL_INTERVAL);
    }
    ui.line(&format!("hunt {} is stopped; `bisect-ppl resume` goes on", hunt.id()));
    Ok(exit::DONE)
}

/// The process that drives a hunt: its id for signals, and the id as the hunt's folder has it.
/// `None` if there is none. The id in the folder may be out of date, so the process must hold the
/// hunt's lock.
fn driver(hunt: &HuntDir) -> Result<Option<(Pid, Holder)>, Failed> {
    let asked = Instant::now();
    loop {
        let about = match hunt.driver().map_err(Failed::store)? {
            Driver::Nobody => return Ok(None),
            Driver::Process(holder) => match Pid::from_raw(holder.pid) {
                Some(pid) => return Ok(Some((pid, holder))),
                None => format!("hunt {} runs, and does not say in which process", hunt.id()),
            },
            Driver::Unnamed => {
                format!("hunt {} runs, and does not say in which process", hunt.id())
            }
            Driver::Another(holder) => format!(
                "hunt {} runs, but not in the process of this machine that its folder names \
                 ({holder})",
                hunt.id()
            ),
        };
        // A driver writes its process id just after it takes the lock.
        if asked.elapsed() > NAMING {
            let cure =
                "nothing was ended; is it on another machine? `bisect-ppl stop` there ends it";
            return Err(Failed::world(anyhow!(about), Some(cure.to_owned())));
        }
        std::thread::sleep(POLL_INTERVAL);
    }
}
