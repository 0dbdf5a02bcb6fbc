//! Waits for several descriptors at once.

use std::io::{self, Read};
use std::os::fd::BorrowedFd;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

/// Which of the descriptors can be read (or are at their end), after at most `timeout`.
/// None may be, and before that time: a signal wakes too.
pub(super) fn ready<const N: usize>(
    descriptors: [Option<BorrowedFd<'_>>; N],
    timeout: Option<Duration>,
) -> io::Result<[bool; N]> {
    let mut polled: Vec<_> = descriptors
        .iter()
        .flatten()
        .map(|descriptor| PollFd::new(descriptor, PollFlags::IN))
        .collect();
    // A time too long for the kernel is as good as none.
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

/// One read of a descriptor that [`ready`] named; 0 at its end.
pub(super) fn read_some(mut from: impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    match from.read(buffer) {
        Err(error) if error.kind() == io::ErrorKind::ConnectionReset => Ok(0),
        other => other,
    }
}

/// Empties a wake-up socket; it does not block.
pub(super) fn drain(mut bell: impl Read) {
    let mut buffer = [0; 64];
    while matches!(bell.read(&mut buffer), Ok(n) if n > 0) {}
}

/// The time until `deadline`, if there is one.
pub(super) fn until(deadline: Option<Instant>) -> Option<Duration> {
    deadline.map(|deadline| deadline.saturating_duration_since(Instant::now()))
}

/// The earlier of two deadlines, where `None` is never.
pub(super) fn sooner(a: Option<Instant>, b: Option<Instant>) -> Option<Instant> {
    [a, b].into_iter().flatten().min()
}
