//! How many processes the kernel has killed for lack of memory. A rise during a run or a build
//! shows that the machine took a process away, even if only a child was killed and its parent
//! ended with an exit code.

use std::path::{Path, PathBuf};

/// The count of the control group that this process and its children are in (`memory.events`, or
/// `memory.oom_control` in version 1), from the files below `root` (`/` for the machine itself).
/// Without such a group: the count of the whole machine (`oom_kill` of `/proc/vmstat`). `None` if
/// the kernel does not say.
///
/// The group's count is better, since other groups of a shared machine do not change it. Source:
/// the kernel's `Documentation/admin-guide/cgroup-v2.rst` and `cgroup-v1/memory.rst`.
pub(crate) fn oom_kills(root: &Path) -> Option<u64> {
    let groups = std::fs::read_to_string(root.join("proc/self/cgroup")).unwrap_or_default();
    let machine = root.join("proc/vmstat");
    let files = groups.lines().flat_map(|line| counters(root, line)).chain([machine]);
    files.into_iter().find_map(|file| counted(&std::fs::read_to_string(file).ok()?))
}

/// The files that may have the count of one line of `/proc/self/cgroup`: `0::/user.slice`, or
/// `4:memory:/jobs/7` in version 1.
fn counters(root: &Path, line: &str) -> Vec<PathBuf> {
    let mut fields = line.splitn(3, ':');
    let (Some(_), Some(controllers), Some(group)) = (fields.next(), fields.next(), fields.next())
    else {
        return Vec::new();
    };
    let (places, file) = if controllers.is_empty() {
        (&["", "unified"][..], "memory.events")
    } else if controllers.split(',').any(|controller| controller == "memory") {
        (&["memory"][..], "memory.oom_control")
    } else {
        return Vec::new();
    };
    let folders = root.join("sys/fs/cgroup");
    let groups = places.iter().map(|place| folders.join(place));
    // In a container the group's own folder may be mounted as the topmost one.
    let tries = groups.flat_map(|top| [top.join(group.trim_start_matches('/')), top]);
    tries.map(|folder| folder.join(file)).collect()
}

/// The number in the line `oom_kill 3`.
fn counted(text: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix("oom_kill ")?.trim().parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The count of a machine with these files.
    fn count(files: &[(&str, &str)]) -> Option<u64> {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        oom_kills(root.path())
    }

    #[test]
    fn the_count_is_that_of_the_own_group() {
        let vmstat = ("proc/vmstat", "nr_free_pages 5\noom_kill 90\n");
        let events = "low 0\nhigh 0\nmax 7\noom 3\noom_kill 2\noom_group_kill 0\n";
        let own = ("proc/self/cgroup", "0::/user.slice/a\n");
        assert_eq!(
            count(&[own, vmstat, ("sys/fs/cgroup/user.slice/a/memory.events", events)]),
            Some(2)
        );
        assert_eq!(count(&[own, vmstat, ("sys/fs/cgroup/memory.events", events)]), Some(2));
        let old = ("proc/self/cgroup", "5:cpu,cpuacct:/x\n4:memory:/jobs/7\n0::/\n");
        let control = "oom_kill_disable 0\nunder_oom 0\noom_kill 4\n";
        let file = ("sys/fs/cgroup/memory/jobs/7/memory.oom_control", control);
        assert_eq!(count(&[old, vmstat, file]), Some(4));
    }

    #[test]
    fn without_a_group_the_whole_machine_counts() {
        let vmstat = ("proc/vmstat", "nr_free_pages 5\noom_kill 90\n");
        assert_eq!(count(&[("proc/self/cgroup", "0::/\n"), vmstat]), Some(90));
        assert_eq!(count(&[vmstat]), Some(90));
        assert_eq!(count(&[("proc/self/cgroup", "rubbish\n")]), None);
    }
}
