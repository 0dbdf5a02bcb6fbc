//! Ends everything that is left below this process.

use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, kill_process_group, wait};

/// How long a killed process may take to vanish. One that sits in the kernel (a hung
/// driver, a dead network disk) does not go at all, and must not hold up the night.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);

/// Makes orphans below us our children, wherever they hide (Linux; elsewhere only the
/// group can be reached).
pub(super) fn adopt_orphans() {
    #[cfg(target_os = "linux")]
    {
        // Kernels since 3.4 know it; where it fails, the group is still ended.
        let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
    }
}

/// Kills the group and every descendant, however it detached itself, until none is left.
/// Gives the number of those that would not die within [`PATIENCE`].
pub(super) fn end_all(group: Pid) -> usize {
    // ESRCH: the usual case, nobody is left in it.
    let _ = kill_process_group(group, Signal::KILL);
    let begin = Instant::now();
    let mut pause = Duration::from_micros(200);
    loop {
        if !reap() {
            return 0;
        }
        // What a killed process leaves behind becomes our child: look again until done.
        let left = kill_descendants();
        if begin.elapsed() > PATIENCE {
            return left;
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}

/// Collects the dead; says whether any child is left.
fn reap() -> bool {
    loop {
        match wait(WaitOptions::NOHANG) {
            Ok(Some(_)) | Err(Errno::INTR) => {}
            Ok(None) => return true,
            Err(_) => return false,
        }
    }
}

/// Everyone who lives below us.
#[cfg(target_os = "linux")]
pub(super) fn living() -> Vec<i32> {
    tree::descendants(rustix::process::getpid().as_raw_pid(), &tree::parents())
}

#[cfg(not(target_os = "linux"))]
pub(super) fn living() -> Vec<i32> {
    Vec::new()
}

/// Sends KILL to each descendant, once; says how many there were.
#[cfg(target_os = "linux")]
fn kill_descendants() -> usize {
    let below = living();
    for pid in below.iter().filter_map(|pid| Pid::from_raw(*pid)) {
        // Gone already is as good.
        let _ = rustix::process::kill_process(pid, Signal::KILL);
    }
    below.len()
}

#[cfg(not(target_os = "linux"))]
fn kill_descendants() -> usize {
    1
}

#[cfg(target_os = "linux")]
mod tree {
    use std::collections::BTreeMap;

    /// Every living process and its parent. `/proc` rather than the kernel's lists of
    /// children, which not every kernel is built with.
    pub(super) fn parents() -> BTreeMap<i32, i32> {
        let Ok(entries) = std::fs::read_dir("/proc") else { return BTreeMap::new() };
        entries
            .flatten()
            .filter_map(|entry| {
                let pid = entry.file_name().to_str()?.parse().ok()?;
                let stat = std::fs::read(entry.path().join("stat")).ok()?;
                Some((pid, living_parent(&stat)?))
            })
            .collect()
    }

    /// The parent in a line of `/proc/PID/stat`, unless the process is dead. The name may
    /// hold anything, parentheses too: the last one ends it.
    pub(super) fn living_parent(stat: &[u8]) -> Option<i32> {
        let end = stat.iter().rposition(|byte| *byte == b')')?;
        let rest = std::str::from_utf8(&stat[end + 1..]).ok()?;
        let mut words = rest.split_whitespace();
        let state = words.next()?;
        let parent = words.next()?.parse().ok()?;
        (!matches!(state, "Z" | "X" | "x")).then_some(parent)
    }

    /// All below `root`.
    pub(super) fn descendants(root: i32, parents: &BTreeMap<i32, i32>) -> Vec<i32> {
        let mut found = vec![root];
        let mut next = 0;
        while let Some(&parent) = found.get(next) {
            found.extend(parents.iter().filter(|(_, of)| **of == parent).map(|(pid, _)| *pid));
            next += 1;
        }
        found.remove(0);
        found
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn the_parent_is_found_behind_a_hostile_name() {
            assert_eq!(living_parent(b"7 (a) R 1 (b) S 42 7 7 0"), Some(42));
            assert_eq!(living_parent(b"7 (dead) Z 42 7 7 0"), None);
            assert_eq!(living_parent(b""), None);
        }

        #[test]
        fn all_below_are_found_and_no_other() {
            let parents = BTreeMap::from([(2, 1), (3, 2), (4, 3), (5, 2), (6, 1), (7, 6)]);
            let mut below = descendants(2, &parents);
            below.sort_unstable();
            assert_eq!(below, [3, 4, 5]);
        }
    }
}
