//! What ccache and sccache print when they are asked.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::process::{Invocation, tool};

/// Time limit for one question to a cache. Usually milliseconds; a cache on a dead network disk must
/// not block a build.
pub(super) const LIMIT: Duration = Duration::from_secs(10);

/// The stdout of a program; `None` if it is missing or fails.
pub(super) fn stdout_of(words: &[&str], env: &BTreeMap<String, String>) -> Option<String> {
    let mut asked = Invocation::new(words[0]).args(&words[1..]).timeout(Some(LIMIT));
    for (name, value) in env {
        asked = asked.env(name, value);
    }
    let said = tool(&asked).ok().filter(|said| said.ended.is_success())?;
    Some(String::from_utf8_lossy(&said.stdout).into_owned())
}
