//! The programs and shared objects that an engine and its descendants have mapped, from the kernel
//! (Linux). The checks are frequent at first and rare later, so that they hardly disturb a long
//! run. A file that is mapped only between two checks is missed.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::process::Pid;

use super::descendants;

/// From this pause on, a check reads the descendants too; before, only the engine (with a sandbox,
/// always both). Such a check takes milliseconds, since it reads every process on the machine.
const DESCENDANTS_FROM: Duration = Duration::from_millis(16);

/// Pause after the first check; each later pause is twice as long as the one before.
const FIRST_PAUSE: Duration = Duration::from_millis(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);

/// The files seen so far.
#[derive(Debug)]
pub(super) struct Mapped {
    files: BTreeSet<String>,
    /// The file of bubblewrap, if the engine runs in it. A process that has this file mapped is
    /// bubblewrap, or has not become the engine yet.
    wrapper: Option<String>,
    pause: Duration,
    next: Option<Instant>,
}

impl Mapped {
    /// Starts empty; no checks before [`Mapped::begin`].
    pub(super) fn new(wrapper: Option<&Path>) -> Self {
        let wrapper = wrapper.and_then(|file| file.canonicalize().ok());
        let wrapper = wrapper.map(|file| file.to_string_lossy().into_owned());
        Self { files: BTreeSet::new(), wrapper, pause: FIRST_PAUSE, next: None }
    }

    /// Begins the checks: the engine has started.
    pub(super) fn begin(&mut self) {
        self.next = cfg!(target_os = "linux").then(Instant::now);
    }

    /// When the next check is due.
    pub(super) fn next(&self) -> Option<Instant> {
        self.next
    }

    /// Checks the engine and its descendants, if a check is due.
    pub(super) fn look_if_due(&mut self, engine: Pid) {
        if self.next.is_some_and(|next| next <= Instant::now()) {
            let engine_only = || vec![engine.as_raw_pid()];
            let is_early = self.pause < DESCENDANTS_FROM && self.wrapper.is_none();
            for pid in if is_early { engine_only() } else { descendants::living() } {
                let maps = std::fs::read(format!("/proc/{pid}/maps")).unwrap_or_default();
                let files: Vec<String> = programs(&maps).collect();
                if !files.iter().any(|file| Some(file) == self.wrapper.as_ref()) {
                    self.files.extend(files);
                }
            }
            self.next = Some(Instant::now() + self.pause);
            self.pause = (self.pause * 2).min(LONGEST_PAUSE);
        }
    }

    /// All files that were seen.
    pub(super) fn into_files(self) -> Vec<String> {
        self.files.into_iter().collect()
    }
}

/// The files with an executable mapping in `/proc/PID/maps`. A line has six columns; the last is
/// the path, which may contain blanks. Leaves out deleted files, since another file may be at that
/// path now, and paths that are not UTF-8.
fn programs(maps: &[u8]) -> impl Iterator<Item = String> {
    maps.split(|byte| *byte == b'\n').filter_map(|line| {
        let line = std::str::from_utf8(line).ok()?;
        let (_, rest) = line.split_once(' ')?;
        let (rights, _) = rest.split_once(' ')?;
        let path = &line[line.find('/')?..];
        let is_one = rights.contains('x') && !path.ends_with(" (deleted)");
        is_one.then(|| unescaped(path))
    })
}

/// The kernel escapes only the newline in a path, as `\012`.
fn unescaped(path: &str) -> String {
    path.replace("\\012", "\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_mapped_to_be_executed_counts() {
        let maps = b"\
55d0-55d1 r--p 00000000 fe:00 1234                       /slot/0/build/ppl
55d1-55d2 r-xp 00001000 fe:00 1234                       /slot/0/build/ppl
7f00-7f01 r-xp 00000000 fe:00 99                         /opt/my libs/lib\\012a.so
7f01-7f02 r--p 00000000 fe:00 98                         /data/model.gguf
7f02-7f03 r-xp 00000000 fe:00 97                         /slot/0/build/old.so (deleted)
7f03-7f04 r-xp 00000000 00:00 0                          [vdso]
7f04-7f05 rwxp 00000000 00:00 0 
7f05-7f06 r-xp 00000000 fe:00 96                         /odd/\xff.so
";
        let found: Vec<String> = programs(maps).collect();
        assert_eq!(found, ["/slot/0/build/ppl", "/opt/my libs/lib\na.so"]);
        assert_eq!(programs(b"").count(), 0);
    }
}
