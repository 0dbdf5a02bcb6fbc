//! The time during which a process drove a hunt.

use jiff::Timestamp;

use crate::store::journal::{Entry, Event};

/// Adds up the sessions of a hunt, each from its first event to its last. A driver that pauses, or
/// that submits another job, has one session. A killed process counts up to its last event.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct DrivenTime {
    /// Seconds of the sessions that ended.
    ended: f64,
    session: Option<(Timestamp, Timestamp)>,
}

impl DrivenTime {
    /// Takes the next entry of the journal.
    pub(super) fn see(&mut self, entry: &Entry) {
        let Ok(at) = entry.at.parse::<Timestamp>() else { return };
        // A job that asks what builds depend on notes the beginning again, in the same session.
        let begins = matches!(entry.event, Event::Begun(_)) && self.session.is_none();
        match &entry.event {
            _ if begins => self.session = Some((at, at)),
            Event::Resumed { driver_since, .. } => {
                let since = driver_since.as_ref().and_then(|since| since.parse::<Timestamp>().ok());
                self.session = Some(match self.session {
                    // The driver was at work before: it paused, or waited for another job.
                    Some((from, to)) if since.is_some_and(|since| since <= to) => {
                        (from, to.max(at))
                    }
                    _ => {
                        self.ended = self.seconds();
                        (at, at)
                    }
                });
            }
            _ => self.session = self.session.map(|(from, to)| (from, to.max(at))),
        }
    }

    /// Seconds until the last event.
    pub(super) fn seconds(&self) -> f64 {
        self.ended + self.session.map_or(0.0, |(from, to)| to.duration_since(from).as_secs_f64())
    }

    /// Seconds until `now`, for a hunt that a process drives.
    pub(super) fn seconds_until(&self, now: Timestamp) -> f64 {
        let session = self.session.map_or(0.0, |(from, _)| now.duration_since(from).as_secs_f64());
        self.ended + session.max(0.0)
    }
}
