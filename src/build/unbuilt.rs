//! Records for commits that cannot be built because their files cannot be checked out.

use std::collections::BTreeSet;
use std::path::Path;

use crate::evaluation::{CommitId, Evidence, Failure, FailureKind, Phase};
use crate::git::{CheckoutImpossible, GitError, OverlayFailure, OverlayFailureCause};
use crate::store::{BuildKey, BuildRecord, Store, StoreError, attempt_name, publish_log};

use super::{BuildError, BuildRequest};

/// Title of the log of a failed checkout.
const CHECKOUT: &str = "checkout";

/// Records that a commit cannot be built: a patch does not apply, or git refuses the commit. Only
/// a failed patch is stored; failed checkouts never are.
pub(crate) fn refuse(
    store: &Store,
    commit: &CommitId,
    key: &BuildKey,
    phase: Phase,
    refusal: &OverlayFailure,
) -> Result<BuildRecord, BuildError> {
    let name = attempt_name();
    let pending = store.pending_log(&name)?;
    let log = pending.path();
    let first = refusal.said.lines().next().unwrap_or_default();
    let (of, failure) = match &refusal.what {
        OverlayFailureCause::Patch(patch) => (
            format!("patch: {}", patch.escape_debug()),
            Failure::new(
                FailureKind::Patch,
                Evidence { patch: Some(patch.clone()), ..Evidence::default() },
                format!("{patch} does not apply: {first}"),
            ),
        ),
        OverlayFailureCause::Commit => {
            let detail = CheckoutImpossible::Refused(first.to_owned()).to_string();
            (CHECKOUT.to_owned(), not_checked_out(detail))
        }
    };
    write_log(log, &of, &refusal.said)?;
    let record = unbuilt(name, commit, key, phase, failure);
    publish_log(log, &store.build_log(&record))?;
    if matches!(refusal.what, OverlayFailureCause::Patch(_)) {
        store.put_build(&record)?;
    }
    Ok(record)
}

/// The record and log of a commit whose files this disk refuses. They are not stored: another disk
/// may accept the files.
pub(super) fn unbuildable_record(
    request: BuildRequest<'_>,
    attempt: String,
    log: &Path,
    why: &GitError,
) -> Result<BuildRecord, StoreError> {
    let cure = why.hint().map_or_else(String::new, |cure| format!("; {cure}"));
    let detail = format!("{why}{cure}");
    write_log(log, CHECKOUT, &detail)?;
    Ok(unbuilt(attempt, request.commit, request.key, request.phase, not_checked_out(detail)))
}

fn not_checked_out(detail: String) -> Failure {
    Failure::plain(FailureKind::Checkout, detail)
}

/// Writes a log with the reason.
fn write_log(log: &Path, of: &str, said: &str) -> Result<(), StoreError> {
    let mut text = format!("# {of}\n");
    for line in said.lines() {
        text.push_str("2> ");
        text.push_str(line);
        text.push('\n');
    }
    std::fs::write(log, text).map_err(StoreError::at(log))
}

/// The record of a commit without a build.
fn unbuilt(
    attempt: String,
    commit: &CommitId,
    key: &BuildKey,
    phase: Phase,
    failure: Failure,
) -> BuildRecord {
    BuildRecord {
        attempt,
        build_key: key.clone(),
        commit: commit.clone(),
        phase,
        commands: Vec::new(),
        finished: jiff::Timestamp::now().to_string(),
        wall_s: 0.0,
        failure: Some(failure),
        prepare: None,
        compiler_cache: None,
        setup: None,
        log_sha256: None,
        failed_attempts: None,
        asked_git: BTreeSet::new(),
        git_folder: None,
        written: None,
        node: None,
    }
}
