//! Finds and ends all descendants of this process.

use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitOptions, kill_process_group, wait};

/// How long a killed process may take to disappear. A process that hangs in the kernel (a broken
/// driver, a dead network disk) may never disappear and must not block the hunt.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);

/// Makes this process the parent of all orphans below it (Linux only; elsewhere only the group can
/// be reached).
pub(super) fn adopt_orphans() {
    #[cfg(target_os = "linux")]
    {
        // Supported since Linux 3.4. If the call fails, the group is still ended.
        let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
    }
}

/// Kills the group, if one is given, and all descendants, detached ones too, until none is left.
/// Returns how many were still alive after [`PATIENCE`].
pub(super) fn end_all(group: Option<Pid>) -> usize {
    if let Some(group) = group {
        // ESRCH is the usual result: the group is empty.
        let _ = kill_process_group(group, Signal::KILL);
    }
    let begin = Instant::now();
    let mut pause = Duration::from_micros(200);
    loop {
        if !reap() {
            return 0;
        }
        // Children of a killed process become ours, so look again until none is left.
        let left = kill_descendants();
        if begin.elapsed() > PATIENCE {
            return left;
        }
        std::thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}

/// Reaps dead children; returns whether any child is left.
fn reap() -> bool {
    loop {
        match wait(WaitOptions::NOHANG) {
            Ok(Some(_)) | Err(Errno::INTR) => {}
            Ok(None) => return true,
            Err(_) => return false,
        }
    }
}

/// The PIDs of all living descendants.
#[cfg(target_os = "linux")]
pub(super) fn living() -> Vec<i32> {
    tree::descendants(rustix::process::getpid().as_raw_pid(), &tree::parents())
}

#[cfg(not(target_os = "linux"))]
pub(super) fn living() -> Vec<i32> {
    Vec::new()
}

/// The living children of one descendant.
#[cfg(target_os = "linux")]
pub(super) fn children(of: Pid) -> Vec<Pid> {
    let parents = tree::parents();
    let own = parents.iter().filter(|(_, parent)| **parent == of.as_raw_pid());
    own.filter_map(|(pid, _)| Pid::from_raw(*pid)).collect()
}

#[cfg(not(target_os = "linux"))]
pub(super) fn children(_of: Pid) -> Vec<Pid> {
    Vec::new()
}

/// The processes above one.
#[cfg(target_os = "linux")]
pub(super) fn ancestors(of: Pid) -> Vec<Pid> {
    let parents = tree::parents();
    let parent = |pid: &Pid| Pid::from_raw(*parents.get(&pid.as_raw_pid())?);
    // Processes that start and end meanwhile may make a circle.
    std::iter::successors(parent(&of), parent).take(parents.len()).collect()
}

/// Sends KILL to each descendant once; returns their number.
#[cfg(target_os = "linux")]
fn kill_descendants() -> usize {
    let below = living();
    for pid in below.iter().filter_map(|pid| Pid::from_raw(*pid)) {
        // It does not matter if the process is gone.
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

    use crate::process::started::after_name;

    /// Every living process with its parent. Reads `/proc`, since not every kernel lists children.
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

    /// The parent in a line of `/proc/PID/stat`; `None` for a dead process.
    pub(super) fn living_parent(stat: &[u8]) -> Option<i32> {
        let mut words = after_name(stat)?.split_whitespace();
        let state = words.next()?;
        let parent = words.next()?.parse().ok()?;
        (!matches!(state, "Z" | "X" | "x")).then_some(parent)
    }

    /// All descendants of `root`.
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
