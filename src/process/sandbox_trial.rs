//! Tries the sandbox before a hunt, so that no commit is blamed for a sandbox that does not work.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use super::sandbox::{Sandbox, SandboxError, find};
use super::{Invocation, tool};

/// Time for the trial.
const LIMIT: Duration = Duration::from_secs(20);

/// Runs `true` in a sandbox.
pub fn check_sandbox() -> Result<(), SandboxError> {
    let bwrap = find().ok_or(SandboxError::Missing)?;
    let words = Sandbox::default().words(Path::new("/"), &BTreeMap::new());
    let trial = Invocation::new(bwrap).args(words).arg("true").timeout(Some(LIMIT));
    let said = match tool(&trial) {
        Ok(done) if done.ended.is_success() => return Ok(()),
        Ok(done) if done.stderr.is_empty() => done.ended.to_string(),
        Ok(done) => String::from_utf8_lossy(&done.stderr).trim().to_owned(),
        Err(error) => error.to_string(),
    };
    Err(SandboxError::Refused(said))
}
