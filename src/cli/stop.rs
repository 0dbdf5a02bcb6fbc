//! `stop`: ends a running hunt cleanly, from anywhere in the repository.

use std::time::{Duration, Instant};

use anyhow::anyhow;
use rustix::process::{Pid, Signal, kill_process};

use crate::ui::Ui;

use super::args::Hunt;
use super::{Failed, exit, hunt_here};

/// An engine may take its own grace to end.
const PATIENCE: Duration = Duration::from_mins(1);

/// `stop`.
pub fn run(args: &Hunt, ui: Ui) -> Result<u8, Failed> {
    let (_, hunt) = hunt_here(args.hunt.as_deref())?;
    let is_driven = || hunt.is_driven().map_err(Failed::store);
    if !is_driven()? {
        ui.line(&format!("hunt {} is not running", hunt.id()));
        return Ok(exit::DONE);
    }
    let driver = hunt.driver().map_err(Failed::store)?.and_then(Pid::from_raw);
    let Some(driver) = driver else {
        return Err(Failed::world(
            anyhow!("hunt {} runs, and does not say in which process", hunt.id()),
            Some("is it on another machine? Ctrl-C there ends it".to_owned()),
        ));
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
