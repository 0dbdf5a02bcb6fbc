//! The CPUs that a process may use.

use std::collections::BTreeSet;
use std::io;

/// The CPUs that this process may use; `None` if the system does not tell.
#[cfg(target_os = "linux")]
pub(crate) fn usable_cpus() -> Option<BTreeSet<usize>> {
    let set = rustix::thread::sched_getaffinity(None).ok()?;
    Some((0..rustix::thread::CpuSet::MAX_CPU).filter(|cpu| set.is_set(*cpu)).collect())
}

/// Keeps this process, and all that it starts, on these CPUs.
#[cfg(target_os = "linux")]
pub(super) fn pin(cpus: &[usize]) -> io::Result<()> {
    let mut set = rustix::thread::CpuSet::new();
    for cpu in cpus.iter().filter(|cpu| **cpu < rustix::thread::CpuSet::MAX_CPU) {
        set.set(*cpu);
    }
    Ok(rustix::thread::sched_setaffinity(None, &set)?)
}

/// Other systems do not tell.
#[cfg(not(target_os = "linux"))]
pub(crate) fn usable_cpus() -> Option<BTreeSet<usize>> {
    None
}

#[cfg(not(target_os = "linux"))]
pub(super) fn pin(_cpus: &[usize]) -> io::Result<()> {
    Err(io::Error::other("programs can be kept on some CPUs only on Linux"))
}
