//! The record of a worker that measures ahead. It has no journal; the process that takes its results
//! over reads this record.

use std::path::Path;

use crate::evaluation::CommitId;
use crate::store::{AheadRecord, StoreError};

use super::{Recorder, Sink};

impl Recorder {
    /// Whether this process measures ahead.
    pub(crate) fn is_ahead(&self) -> bool {
        matches!(self.hunt, Some((_, Sink::Ahead { .. })))
    }

    /// What this worker did.
    pub(crate) fn ahead_record(&self) -> Option<&AheadRecord> {
        match &self.hunt {
            Some((_, Sink::Ahead { record, .. })) => Some(record),
            _ => None,
        }
    }

    /// Notes that a worker's build begins in this slot. If the build is interrupted, the hunt makes
    /// it again there.
    pub(in crate::oracle) fn begin_build(
        &mut self,
        commit: &CommitId,
        slot: &Path,
    ) -> Result<(), StoreError> {
        match &mut self.hunt {
            Some((hunt, Sink::Ahead { record, .. })) if record.commit == *commit => {
                record.building = Some(slot.to_owned());
                hunt.keep_ahead(record)
            }
            _ => Ok(()),
        }
    }

    /// Records that a job was lost that built for this worker; the hunt's driver adds the note to
    /// the journal. Does nothing in the driver itself, which gets the error.
    pub(in crate::oracle) fn lost_job(&mut self, reason: &str) -> Result<(), StoreError> {
        self.in_record(|record| record.lost.push(reason.to_owned()))
    }

    /// Records that the job has begun that builds for this worker.
    pub(in crate::oracle) fn build_has_begun(&mut self) -> Result<(), StoreError> {
        self.in_record(|record| record.has_build_begun = true)
    }

    /// Records that this worker's job gives its node back, because no build began in time.
    pub(in crate::oracle) fn gave_node_back(&mut self) -> Result<(), StoreError> {
        self.in_record(|record| record.gave_node_back = true)
    }

    /// Changes the record of this worker; does nothing in a process that is none.
    fn in_record(&mut self, change: impl FnOnce(&mut AheadRecord)) -> Result<(), StoreError> {
        match &mut self.hunt {
            Some((hunt, Sink::Ahead { record, .. })) => {
                change(record);
                hunt.keep_ahead(record)
            }
            Some((_, Sink::Journal(_))) | None => Ok(()),
        }
    }
}
