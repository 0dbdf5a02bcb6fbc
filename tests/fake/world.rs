//! The state of the world, in files of `$FAKE_WORLD`: a log, counters, and what is broken.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::exit;

use crate::processes::die;

pub(crate) fn world() -> PathBuf {
    PathBuf::from(std::env::var_os("FAKE_WORLD").expect("the oracle.toml declares FAKE_WORLD"))
}

/// Appends a line in one write, so that lines of parallel processes do not mix.
pub(crate) fn log(line: &str) {
    let path = world().join("starts.log");
    let mut file = fs::OpenOptions::new().create(true).append(true).open(path).unwrap();
    file.write_all(format!("{line}\n").as_bytes()).unwrap();
}

pub(crate) fn world_has(name: &str) -> bool {
    world().join(name).exists()
}

/// Number of earlier calls for `what`.
pub(crate) fn count(what: &str) -> usize {
    let path = world().join(format!("count-{what}"));
    let before = fs::read_to_string(&path).ok().and_then(|t| t.trim().parse().ok()).unwrap_or(0);
    fs::write(path, (before + 1_usize).to_string()).unwrap();
    before
}

pub(crate) fn warn_of_git_variables() {
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy().into_owned();
        // The one that builds and runs get from us.
        if name.starts_with("GIT_") && name != "GIT_TRACE2_EVENT" {
            log(&format!("fault {name} is set"));
        }
    }
}

pub(crate) fn play_the_world() {
    if world_has("broken") {
        eprintln!("cannot allocate");
        exit(9);
    }
    if world_has("transient") {
        eprintln!("error: no CUDA-capable device is detected");
        exit(1);
    }
    if world_has("killer") {
        die(9);
    }
}
