//! Puts a mark into the environment of every program that is started in a slot, and ends the
//! processes that carry the mark.
//!
//! Supervisor and guard end what a run leaves. If all of them are killed at once, only the mark
//! tells which processes are left. The next owner of the slot ends them, and so does a driver whose
//! supervisor died.
//!
//! The mark is device and inode of the slot's lock file. The slot's folders may be renamed, or
//! mounted elsewhere too; device and inode stay the same. The slot's owner holds the lock file
//! open, so no other file gets its inode meanwhile. All marks have the same length: the size of the
//! environment moves a program's stack, and results may depend on where the stack is.

use std::ffi::OsString;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// The variable that holds the mark.
const NAME: &str = "BISECT_PPL_SLOT";

/// Marks the programs of one slot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SlotMark(String);

impl SlotMark {
    /// The mark of the slot with this lock file; `None` if there is no such file.
    pub fn of_lock(lock: &Path) -> Option<Self> {
        let lock = lock.metadata().ok()?;
        Some(Self(format!("{:016x}-{:016x}", lock.dev(), lock.ino())))
    }

    /// Name and value of the variable.
    pub(super) fn variable(&self) -> (OsString, OsString) {
        (NAME.into(), self.0.clone().into())
    }

    /// Kills every process of this user that carries the mark, except this process and its
    /// ancestors. Call it only while no program of the slot should run. Returns the number of
    /// processes that no signal could end, nearly always 0. Does nothing without `/proc`.
    pub fn end_processes(&self) -> usize {
        #[cfg(target_os = "linux")]
        return carriers::end_all(format!("{NAME}={}", self.0).as_bytes());
        #[cfg(not(target_os = "linux"))]
        return 0;
    }
}

#[cfg(target_os = "linux")]
mod carriers {
    use std::fs;
    use std::path::PathBuf;
    use std::time::{Duration, Instant};

    use rustix::io::Errno;
    use rustix::process::{
        Pid, PidfdFlags, Signal, geteuid, getpid, kill_process, pidfd_open, pidfd_send_signal,
    };

    use super::super::descendants::{PATIENCE, ancestors};

    /// How long until the next look. A process that executes a program has no environment for a
    /// moment, so one look that finds nothing does not show that nothing is left.
    const PAUSE: Duration = Duration::from_millis(10);

    pub(super) fn end_all(mark: &[u8]) -> usize {
        let begin = Instant::now();
        let mut have_all_ended = true;
        loop {
            let left = kill_all(mark);
            if left == 0 && have_all_ended || begin.elapsed() > PATIENCE {
                return left;
            }
            have_all_ended = left == 0;
            std::thread::sleep(PAUSE);
        }
    }

    /// Sends KILL to each process with the mark once; returns their number.
    fn kill_all(mark: &[u8]) -> usize {
        let Ok(entries) = fs::read_dir("/proc") else { return 0 };
        let pids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        let mut above = None;
        let mut found = 0;
        for pid in pids.filter_map(Pid::from_raw) {
            let folder = PathBuf::from(format!("/proc/{}", pid.as_raw_pid()));
            let carries = || is_ours(&folder) && has_variable(&folder, mark);
            if !carries() {
                continue;
            }
            let own = getpid();
            let above = above.get_or_insert_with(|| ancestors(own));
            if pid == own || above.contains(&pid) {
                continue;
            }
            found += 1;
            match pidfd_open(pid, PidfdFlags::empty()) {
                // The number may belong to another process by now. The descriptor stays with the
                // process that was looked at.
                Ok(process) if carries() => {
                    // It does not matter if the process is gone, here and below.
                    let _ = pidfd_send_signal(process, Signal::KILL);
                }
                // Before Linux 5.3.
                Err(Errno::NOSYS) => {
                    let _ = kill_process(pid, Signal::KILL);
                }
                _ => {}
            }
        }
        found
    }

    /// Whether all four user IDs of the process are this user's. Those of a set-user-ID program are
    /// not.
    fn is_ours(folder: &std::path::Path) -> bool {
        let own = geteuid().as_raw();
        let Ok(status) = fs::read_to_string(folder.join("status")) else { return false };
        owners(&status).is_some_and(|owners| owners.iter().all(|owner| *owner == own))
    }

    /// Real, effective, saved and file system user in `/proc/PID/status`.
    fn owners(status: &str) -> Option<[u32; 4]> {
        let line = status.lines().find_map(|line| line.strip_prefix("Uid:"))?;
        let owners: Vec<u32> =
            line.split_whitespace().map(|word| word.parse().ok()).collect::<Option<_>>()?;
        owners.try_into().ok()
    }

    fn has_variable(folder: &std::path::Path, variable: &[u8]) -> bool {
        let environment = fs::read(folder.join("environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|found| found == variable)
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn all_four_owners_are_read() {
            let status = "Name:\tUid: 7 7 7 7\nUmask:\t0022\nUid:\t1000\t0\t1000\t1000\nGid:\t7\n";
            assert_eq!(owners(status), Some([1000, 0, 1000, 1000]));
            assert_eq!(owners("Uid:\t1000\t0\n"), None);
            assert_eq!(owners(""), None);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mark_stays_when_the_folder_is_renamed_and_differs_between_locks() {
        let top = tempfile::tempdir().unwrap();
        let [old, new] = ["old", "new"].map(|name| top.path().join(name));
        std::fs::create_dir(&old).unwrap();
        std::fs::write(old.join("0.lock"), "").unwrap();
        std::fs::write(old.join("1.lock"), "").unwrap();
        let first = SlotMark::of_lock(&old.join("0.lock")).unwrap();
        let second = SlotMark::of_lock(&old.join("1.lock")).unwrap();
        assert_ne!(first, second);
        assert_eq!(first.0.len(), 33);
        std::fs::rename(&old, &new).unwrap();
        assert_eq!(SlotMark::of_lock(&new.join("0.lock")), Some(first));
        assert_eq!(SlotMark::of_lock(&old.join("0.lock")), None);
    }
}
