//! Whether a file changed so shortly before it was read that it may change again and keep its times:
//! the kernel's clock for files has steps.

use std::time::{Duration, SystemTime};

/// If a file changed less than this before it is read, it may change again and keep that time.
pub(super) const SHORTLY: Duration = Duration::from_millis(100);

/// Whether a file changed shortly before `now`, or (on a disk with another clock) shortly after it.
/// `changed_ns`: when its inode last changed, nanoseconds since 1970.
pub(super) fn is_recent(changed_ns: i128, now: SystemTime) -> bool {
    let now = now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let age = i128::try_from(now.as_nanos()).unwrap_or(i128::MAX) - changed_ns;
    age.unsigned_abs() < SHORTLY.as_nanos()
}
