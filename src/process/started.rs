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

/// Reads field 22. The name may contain parentheses, so the last one ends it; field 3 follows.
fn in_stat(stat: &[u8]) -> Option<u64> {
    let end = stat.iter().rposition(|byte| *byte == b')')?;
    let rest = std::str::from_utf8(&stat[end + 1..]).ok()?;
    rest.split_whitespace().nth(19)?.parse().ok()
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
}
