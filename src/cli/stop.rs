//! `stop`: stops a running hunt cleanly, from anywhere in the repository.

use std::time::{Duration, Instant};

use anyhow::anyhow;
use rustix::process::{Pid, Signal, kill_process};

use crate::store::{Driver, HuntDir};
use crate::ui::Ui;

use super::args::Hunt;
use super::locate::hunt_here;
use super::{Failed, exit};

/// How long to wait for the hunt to end: an engine may end slowly.
const PATIENCE: Duration = Duration::from_mins(1);

/// How long to wait for a driver that has the hunt's lock to write down its process id.
const NAMING: Duration = Duration::from_secs(1);

/// `stop`.
pub(crate) fn run(args: &Hunt, ui: Ui) -> Result<u8, Failed> {
    let (_, hunt) = hunt_here(args.hunt.as_deref())?;
    let is_driven = || hunt.is_driven().map_err(Failed::store);
    let Some(driver) = driver(&hunt)? else {
        ui.line(&format!("hunt {} is not running", hunt.id()));
        return Ok(exit::DONE);
    };
    kill_process(driver, Signal::TERM).map_err(|error| {
        let pid = driver.as_raw_nonzero();
        let error = anyhow::Error::new(error).context(format!("cannot end process {pid}"));
        Failed::world(error, Some("whoever started the hunt can; so can Ctrl-C there".to_owned()))
    })?;
    let asked = Instant::now();
    while is_driven()? {
        if asked.elapsed() > PATIENCE {
            let pid = driver.as_raw_nonzero();
            return Err(Failed::world(
                anyhow!("hunt {} was asked to end a minute ago and has not", hunt.id()),
                Some(format!("kill -9 {pid} ends it; nothing measured is lost")),
            ));
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    ui.line(&format!("hunt {} is stopped; `bisect-ppl resume` goes on", hunt.id()));
    Ok(exit::DONE)
}

/// The process that drives a hunt; `None` if there is none. The process id in the hunt's folder
/// may be wrong, so the process must hold the hunt's lock.
fn driver(hunt: &HuntDir) -> Result<Option<Pid>, Failed> {
    let asked = Instant::now();
    loop {
        let about = match hunt.driver().map_err(Failed::store)? {
            Driver::Nobody => return Ok(None),
            Driver::Process(pid) => match Pid::from_raw(pid) {
                Some(pid) => return Ok(Some(pid)),
                None => format!("hunt {} runs, and does not say in which process", hunt.id()),
            },
            Driver::Unnamed => {
                format!("hunt {} runs, and does not say in which process", hunt.id())
            }
            Driver::Another(pid) => format!(
                "hunt {} runs, but process {pid}, which its folder names, is not the one that \
                 drives it",
                hunt.id()
            ),
        };
        // A driver writes its process id just after it takes the lock.
        if asked.elapsed() > NAMING {
            let cure = "nothing was ended; is it on another machine? Ctrl-C there ends it";
            return Err(Failed::world(anyhow!(about), Some(cure.to_owned())));
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}
