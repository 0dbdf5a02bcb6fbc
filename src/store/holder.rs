//! Names the process that drives a hunt, in the file `driver` of the hunt's folder.

use std::fmt;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::process::{host_name, started};

/// The process that took the lock last, as the file `driver` names it: PID, start time, host, and
/// when it took the lock. An older program wrote only the first two.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Holder {
    /// The process id.
    pub pid: i32,
    /// The start time of the process, see [`started`].
    pub began: Option<u64>,
    /// The name of the machine.
    pub host: Option<String>,
    /// When it took the lock.
    pub since: Option<Timestamp>,
}

impl Holder {
    /// This process, which takes the lock now.
    pub(super) fn own() -> Self {
        let pid = i32::try_from(std::process::id()).unwrap_or_default();
        Self {
            pid,
            began: started(pid),
            host: Some(host_name()),
            since: Some(whole_seconds(Timestamp::now())),
        }
    }

    /// The line of the file. A word that is not known is a dash.
    pub(super) fn line(&self) -> String {
        let Self { pid, began, host, since } = self;
        let began = began.map_or_else(|| "-".to_owned(), |began| began.to_string());
        let host = host.as_deref().unwrap_or("-");
        let since = since.map_or_else(|| "-".to_owned(), |since| since.to_string());
        format!("{pid} {began} {host} {since}\n")
    }

    /// Reads the line; `None` if it names no process.
    pub(super) fn read(text: &str) -> Option<Self> {
        let mut words = text.split_whitespace();
        let pid = words.next()?.parse().ok().filter(|pid| *pid > 1)?;
        let began = words.next().and_then(|word| word.parse().ok());
        let host = words.next().filter(|word| *word != "-").map(str::to_owned);
        let since = words.next().and_then(|word| word.parse().ok());
        Some(Self { pid, began, host, since })
    }

    /// Whether this is a process of this machine. PIDs are reused, so the start time must match
    /// too.
    pub(super) fn is_here(&self) -> bool {
        self.host.as_ref().is_none_or(|host| *host == host_name())
            && self.began.is_some()
            && self.began == started(self.pid)
    }
}

/// The same moment without its fraction of a second.
fn whole_seconds(at: Timestamp) -> Timestamp {
    Timestamp::from_second(at.as_second()).unwrap_or(at)
}

impl fmt::Display for Holder {
    /// `process 1234 on alpha, since 2026-11-23 22:15`, in local time.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "process {}", self.pid)?;
        if let Some(host) = &self.host {
            write!(f, " on {host}")?;
        }
        match self.since {
            Some(since) => {
                let since = since.to_zoned(TimeZone::system());
                write!(f, ", since {}", since.strftime("%Y-%m-%d %H:%M"))
            }
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_of_a_driver_is_read_as_it_was_written() {
        let own = Holder::own();
        assert_eq!(Holder::read(&own.line()), Some(own));
        let unknown = Holder { pid: 7, began: None, host: None, since: None };
        assert_eq!(Holder::read(&unknown.line()), Some(unknown.clone()));
        assert_eq!(unknown.to_string(), "process 7");
    }
}
