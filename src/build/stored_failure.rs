//! Failed builds from the store. Records of older versions lack details, so their logs are read
//! again.

use crate::evaluation::{Ended, Evidence, Failure, FailureKind, FailureLogParser, LONGEST_LINE};
use crate::process::{Log, log_bytes};
use crate::store::{BuildRecord, Store, StoreError};

/// The beginning of the line before each command's output in a build's log.
const COMMAND: &[u8] = b"# build: ";

/// The failure of a build command, before its output is read.
pub(super) fn failure(ended: &Ended, detail: String) -> Failure {
    Failure::new(FailureKind::Build, Evidence::of(ended), detail)
}

/// How a stored build failed, if it did. Old records have only a text; their log has the details.
pub(crate) fn failure_from_store(
    store: &Store,
    record: &BuildRecord,
) -> Result<Option<Failure>, StoreError> {
    let Some(failed) = &record.failure else { return Ok(None) };
    let ended = failed.ended_in_old_text();
    let (FailureKind::Build, None, Some(ended)) = (failed.kind, &failed.evidence, ended) else {
        return Ok(Some(failed.clone()));
    };
    let path = store.build_log(record);
    let bytes = match log_bytes(&path) {
        Ok(bytes) => bytes,
        // Without a log only the record is left.
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            return Ok(Some(failed.clone()));
        }
        Err(error) => return Err(StoreError::at(&path)(error)),
    };
    let mut complaints = FailureLogParser::default();
    for (stream, line) in Log::from(last_command(&bytes).to_vec()).lines() {
        complaints.feed(stream, line, line.len() < LONGEST_LINE);
    }
    let heard = complaints.finish(FailureKind::Build, &ended);
    Ok(Some(failure(&ended, failed.detail.clone()).heard(heard)))
}

/// The output of the failed command, which is the last one.
fn last_command(log: &[u8]) -> &[u8] {
    let starts = |at: usize| log[at..].starts_with(COMMAND) && (at == 0 || log[at - 1] == b'\n');
    let start = (0..log.len()).rev().find(|at| log[*at] == b'#' && starts(*at));
    &log[start.unwrap_or(0)..]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_command_that_failed_is_heard() {
        let log = b"# build: cmake\n1> error: x.c:1: not this\n# build: make\n1> # build: no\n2> a.c:1:2: error: this\n";
        assert!(last_command(log).starts_with(b"# build: make\n"));
        assert_eq!(last_command(b"nothing"), b"nothing");
    }
}
