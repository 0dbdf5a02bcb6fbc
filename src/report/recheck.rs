//! Gathers what somebody else needs to measure the first bad commits again: the configuration, and
//! what the hunt claimed.

use std::path::Path;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use crate::config::without_secrets;
use crate::evaluation::{CommitId, Target};
use crate::store::journal::{Begun, Entry, Event, last_begun};
use crate::store::{HuntDir, StoreError};

use super::model::{ClaimLine, PatchText, Recheck};

/// What `verify` needs; `None` if the frozen configuration is not the one that the hunt began with.
pub(super) fn of(
    hunt: &HuntDir,
    entries: &[Entry],
    named: &[CommitId],
) -> Result<Option<Recheck>, StoreError> {
    let Some(begun) = last_begun(entries) else { return Ok(None) };
    let Some(text) = hunt.config_text(&begun.config_sha256)? else { return Ok(None) };
    let (config, withheld) = without_secrets(&text);
    let patch = |(name, sha256): (&String, &String)| {
        let content = hunt.patch(sha256)?.map(|bytes| STANDARD.encode(bytes));
        Ok((name.clone(), PatchText { sha256: sha256.clone(), content_b64: content }))
    };
    let claim = |commit: &CommitId| ClaimLine {
        commit: commit.clone(),
        targets: targets_of(entries, commit).to_vec(),
    };
    Ok(Some(Recheck {
        config,
        withheld,
        base: base(begun),
        revisions: begun.revisions.clone(),
        patches: begun.patches.iter().map(patch).collect::<Result<_, StoreError>>()?,
        links: begun.links.clone(),
        empty_home: has_empty_home(entries),
        claims: named.iter().map(claim).collect(),
    }))
}

/// Whether every build and run had an empty home folder when the hunt ended.
fn has_empty_home(entries: &[Entry]) -> bool {
    let last = entries.iter().rev().find_map(|entry| match entry.event {
        Event::Home { empty } => Some(empty),
        _ => None,
    });
    last.unwrap_or_default()
}

/// The targets of the search before the last confirmation of a commit.
fn targets_of<'e>(entries: &'e [Entry], commit: &CommitId) -> &'e [Target] {
    let mut now: &[Target] = &[];
    let mut found: &[Target] = &[];
    for entry in entries {
        match &entry.event {
            Event::Search { targets, .. } => now = targets,
            Event::Confirmed(culprit) if culprit.info.commit == *commit => found = now,
            _ => {}
        }
    }
    found
}

/// The folder of the configuration, relative to the top of the checkout.
fn base(begun: &Begun) -> Option<String> {
    let inside = Path::new(&begun.base).strip_prefix(begun.checkout.as_ref()?).ok()?;
    inside.to_str().map(str::to_owned)
}
