//! Waits for several descriptors at once.

use std::io::{self, Read};
use std::os::fd::BorrowedFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

/// Waits until a descriptor is readable or at its end, for at most `timeout`. Returns which ones
/// are ready; none after a time-out or a signal.
pub(super) fn ready<const N: usize>(
    descriptors: [Option<BorrowedFd<'_>>; N],
    timeout: Option<Duration>,
) -> io::Result<[bool; N]> {
    let mut polled: Vec<_> = descriptors
        .iter()
        .flatten()
        .map(|descriptor| PollFd::new(descriptor, PollFlags::IN))
        .collect();
    // A time too long for the kernel counts as no limit.
    let timeout = timeout.and_then(|time| Timespec::try_from(time).ok());
    match poll(&mut polled, timeout.as_ref()) {
        Ok(_) => {}
        Err(Errno::INTR) => return Ok([false; N]),
        Err(error) => return Err(error.into()),
    }
    let mut events = polled.iter().map(|polled| !polled.revents().is_empty());
    Ok(descriptors
        .map(|descriptor| descriptor.is_some() && events.next().expect("one for each polled")))
}

/// Reads once from a ready descriptor; 0 at its end.
pub(super) fn read_some(mut from: impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    match from.read(buffer) {
        Err(error) if error.kind() == io::ErrorKind::ConnectionReset => Ok(0),
        other => other,
    }
}

/// Empties a non-blocking wake-up socket.
pub(super) fn drain(mut bell: impl Read) {
    let mut buffer = [0; 64];
    while matches!(bell.read(&mut buffer), Ok(n) if n > 0) {}
}

/// The time until `deadline`, if there is one.
pub(super) fn until(deadline: Option<Instant>) -> Option<Duration> {
    deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()))
}

/// The earlier of two deadlines; `None` means never.
pub(super) fn sooner(a: Option<Instant>, b: Option<Instant>) -> Option<Instant> {
    [a, b].into_iter().flatten().min()
}
