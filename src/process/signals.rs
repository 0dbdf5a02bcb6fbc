//! Requests to stop, by signal or by a call.

use std::io::Write;
use std::os::unix::net::UnixStream;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};
use std::time::{Duration, Instant};

use jiff::Timestamp;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::evaluation::ReachedLimit;

/// How often a wait checks for a request.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// A handle that asks runs to stop. Clones share one state.
///
/// The first request sends TERM and, after the grace time, KILL. The second sends KILL at once.
#[derive(Clone, Debug, Default)]
pub struct Stop {
    state: Arc<State>,
}

#[derive(Debug, Default)]
struct State {
    requests: AtomicUsize,
    signal: OnceLock<i32>,
    limit: OnceLock<ReachedLimit>,
    /// The wake-up sockets of waiting runs.
    waiting: Mutex<Vec<Weak<UnixStream>>>,
}

impl Stop {
    /// A handle without signals; [`Stop::request`] still works.
    pub fn never() -> Self {
        Self::default()
    }

    /// A handle that INT, TERM, and HUP trigger, until the process ends. A signal that was ignored
    /// at our start stays ignored, as `nohup` and a shell's `&` intend.
    pub fn on_signals() -> std::io::Result<Self> {
        Self::on(&[SIGINT, SIGTERM, SIGHUP])
    }

    /// The same for a process without a terminal. HUP says that the terminal closed, so such a
    /// process goes on.
    pub(crate) fn on_signals_but_hangup() -> std::io::Result<Self> {
        Self::on(&[SIGINT, SIGTERM])
    }

    fn on(requests: &'static [i32]) -> std::io::Result<Self> {
        let stop = Self::default();
        let ignored = ignored_signals();
        let wanted = [SIGINT, SIGTERM, SIGHUP];
        let mut signals =
            Signals::new(wanted.into_iter().filter(|signal| ignored >> (signal - 1) & 1 == 0))?;
        let told = stop.clone();
        std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
            for signal in signals.forever().filter(|signal| requests.contains(signal)) {
                told.note(Some(signal));
            }
        })?;
        Ok(stop)
    }

    /// A handle that this signal triggered.
    #[cfg(test)]
    pub(crate) fn after_signal(signal: i32) -> Self {
        let stop = Self::default();
        stop.note(Some(signal));
        stop
    }

    /// Asks every run that has this handle to end.
    pub fn request(&self) {
        self.note(None);
    }

    /// Asks every run that has this handle to end at a point in time, because a limit is then
    /// reached. If the machine sleeps at that time, the request comes when it wakes up. Has no
    /// effect once the returned value is dropped.
    pub(crate) fn expire_at(&self, at: Timestamp, limit: ReachedLimit) -> std::io::Result<Expiry> {
        self.expire_when(move || Timestamp::now() >= at, limit)
    }

    /// The same as soon as `is_reached` says so.
    pub(crate) fn expire_when(
        &self,
        mut is_reached: impl FnMut() -> bool + Send + 'static,
        limit: ReachedLimit,
    ) -> std::io::Result<Expiry> {
        let (stop, is_over) = (self.clone(), Arc::new(AtomicBool::new(false)));
        let flag = Arc::clone(&is_over);
        std::thread::Builder::new().name("limit".to_owned()).spawn(move || {
            while !flag.load(Ordering::SeqCst) && !stop.is_requested() {
                if is_reached() {
                    stop.expire(limit);
                    return;
                }
                std::thread::sleep(POLL_INTERVAL);
            }
        })?;
        Ok(Expiry { is_over })
    }

    fn expire(&self, limit: ReachedLimit) {
        if !self.is_requested() && self.state.limit.set(limit).is_ok() {
            self.note(None);
        }
    }

    /// The limit that asked for the end; `None` if a person asked too, or nobody did.
    pub fn limit(&self) -> Option<&ReachedLimit> {
        self.state.limit.get().filter(|_| self.requests() == 1)
    }

    /// Number of requests so far.
    pub fn requests(&self) -> usize {
        self.state.requests.load(Ordering::SeqCst)
    }

    /// Whether there was a request.
    pub(crate) fn is_requested(&self) -> bool {
        self.requests() > 0
    }

    /// Waits for `time` or until a request; returns whether there was one.
    pub fn within(&self, time: Duration) -> bool {
        let end = Instant::now() + time;
        while !self.is_requested() {
            let Some(left) = end.checked_duration_since(Instant::now()) else { return false };
            std::thread::sleep(left.min(POLL_INTERVAL));
        }
        true
    }

    /// The first signal, if one came.
    pub fn signal(&self) -> Option<i32> {
        self.state.signal.get().copied()
    }

    fn note(&self, signal: Option<i32>) {
        if let Some(signal) = signal {
            // `set` keeps only the first signal.
            let _ = self.state.signal.set(signal);
        }
        self.state.requests.fetch_add(1, Ordering::SeqCst);
        let mut waiting = self.state.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.retain(|run| match run.upgrade() {
            Some(socket) => {
                // A full socket has woken the run already.
                let _ = (&*socket).write(b".");
                true
            }
            None => false,
        });
    }

    /// A socket that becomes readable at each request.
    pub(super) fn alarm(&self) -> std::io::Result<Alarm> {
        let (bell, hand) = UnixStream::pair()?;
        bell.set_nonblocking(true)?;
        hand.set_nonblocking(true)?;
        let hand = Arc::new(hand);
        let mut waiting = self.state.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.retain(|run| run.strong_count() > 0);
        waiting.push(Arc::downgrade(&hand));
        Ok(Alarm { bell, _hand: hand })
    }
}

/// A limit in time that holds while this value lives.
#[derive(Debug)]
pub(crate) struct Expiry {
    is_over: Arc<AtomicBool>,
}

impl Drop for Expiry {
    fn drop(&mut self) {
        self.is_over.store(true, Ordering::SeqCst);
    }
}

/// A wake-up socket, registered while this value lives.
#[derive(Debug)]
pub(super) struct Alarm {
    pub(super) bell: UnixStream,
    _hand: Arc<UnixStream>,
}

/// The signals that this process ignores, as the kernel's bit mask.
fn ignored_signals() -> u64 {
    // No safe call returns a signal's disposition. Without Linux's `/proc`, no signal counts as
    // ignored.
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    status
        .lines()
        .find_map(|line| line.strip_prefix("SigIgn:"))
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::*;

    #[test]
    fn each_request_counts_and_rings() {
        let stop = Stop::never();
        let mut alarm = stop.alarm().unwrap();
        assert!(!stop.is_requested());
        stop.clone().request();
        stop.request();
        assert_eq!((stop.requests(), stop.signal()), (2, None));
        let mut rung = [0; 8];
        assert_eq!(alarm.bell.read(&mut rung).unwrap(), 2);
        drop(alarm);
        stop.request();
        assert!(stop.state.waiting.lock().unwrap().is_empty());
    }

    #[test]
    fn a_limit_asks_once_and_a_person_after_it_counts() {
        let limit = ReachedLimit::Time { seconds: 1 };
        let stop = Stop::never();
        let past = Timestamp::now();
        drop(stop.expire_at(past + Duration::from_hours(1), limit.clone()).unwrap());
        let _expiry = stop.expire_at(past, limit.clone()).unwrap();
        assert!(stop.within(Duration::from_mins(1)));
        assert_eq!((stop.requests(), stop.limit()), (1, Some(&limit)));
        stop.request();
        assert_eq!((stop.requests(), stop.limit()), (2, None));
    }

    #[test]
    fn a_wait_ends_when_it_is_asked_to() {
        let stop = Stop::never();
        assert!(!stop.within(Duration::from_millis(60)));
        let begun = Instant::now();
        let other = stop.clone();
        let asks = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_millis(60));
            other.request();
        });
        assert!(stop.within(Duration::from_mins(1)));
        assert!(begun.elapsed() < Duration::from_secs(30));
        asks.join().unwrap();
    }
}
