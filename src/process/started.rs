//! Start time of a process. PIDs are reused, so only PID and start time together identify a
//! process.

/// Start time in clock ticks since boot (`proc_pid_stat(5)`, field 22). `None` if there is no such
/// process or the system does not tell.
pub fn started(pid: i32) -> Option<u64> {
    if pid <= 0 {
        return None;
    }
    in_stat(&std::fs::read(format!("/proc/{pid}/stat")).ok()?)
}

/// Whether a process with this PID and this start time exists and has not ended. A process that
/// ended stays until its parent asks for its exit code.
pub(crate) fn is_alive(pid: i32, began: u64) -> bool {
    let Ok(stat) = std::fs::read(format!("/proc/{pid}/stat")) else { return false };
    let state = after_name(&stat).and_then(|rest| rest.split_whitespace().next());
    in_stat(&stat) == Some(began) && !matches!(state, Some("Z" | "X"))
}

/// Reads field 22.
fn in_stat(stat: &[u8]) -> Option<u64> {
    after_name(stat)?.split_whitespace().nth(19)?.parse().ok()
}

/// The fields from the third one on. The name may contain parentheses; the last one ends it.
pub(super) fn after_name(stat: &[u8]) -> Option<&str> {
    let end = stat.iter().rposition(|byte| *byte == b')')?;
    std::str::from_utf8(&stat[end + 1..]).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_time_is_found_behind_a_hostile_name() {
        let rest = (3..=52).map(|field| field.to_string()).collect::<Vec<_>>().join(" ");
        assert_eq!(in_stat(format!("7 (a) R 1 (b) {rest}").as_bytes()), Some(22));
        assert_eq!(in_stat(b"7 (a) R 1"), None);
        assert_eq!(in_stat(b""), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn this_process_has_begun_and_no_group_has() {
        let own = i32::try_from(std::process::id()).unwrap();
        assert!(started(own).is_some());
        assert_eq!(started(own), started(own));
        assert_eq!((started(0), started(-1)), (None, None));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_process_that_ended_is_not_alive_although_its_parent_has_not_asked() {
        let own = i32::try_from(std::process::id()).unwrap();
        let began = started(own).unwrap();
        assert!(is_alive(own, began) && !is_alive(own, began + 1));
        #[expect(clippy::disallowed_methods, reason = "only this module starts programs")]
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let pid = i32::try_from(child.id()).unwrap();
        let began = started(pid).unwrap();
        let end = std::time::Instant::now() + std::time::Duration::from_mins(1);
        while is_alive(pid, began) {
            assert!(std::time::Instant::now() < end);
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        assert_eq!(started(pid), Some(began));
        child.wait().unwrap();
    }
}
