//! `[failures]`: what a failure means for the verdict.

use super::super::reader::Reader;
use super::super::table_reader::TableReader;
use super::super::{FailureHunt, Failures, Policy};

/// The words for a policy.
pub(super) const POLICIES: &[(&str, Policy)] = &[("skip", Policy::Skip), ("bad", Policy::Bad)];

/// Reads the table.
pub(super) fn failures(reader: &mut Reader, root: &mut TableReader<'_>) -> Failures {
    let mut section = root.section(reader, "failures");
    let mut failures = Failures::default();
    if let Some(policy) = section.get("build").and_then(|s| s.choice(reader, POLICIES, &[])) {
        failures.build = policy;
    }
    run_failures(reader, &mut section, &mut failures);
    if let Some(field) = section.get("transient") {
        failures.transient = field.texts(reader);
    }
    if let Some(hunt) = section.get("hunt").and_then(|s| s.flag_or(reader, "ask")) {
        failures.hunt = match hunt {
            Some(true) => FailureHunt::Yes,
            Some(false) => FailureHunt::No,
            None => FailureHunt::Ask,
        };
    }
    if let Some(fields) = section.get("pauses").and_then(|field| field.list(reader)) {
        failures.pauses = fields.iter().filter_map(|field| field.duration(reader)).collect();
    }
    section.finish(reader);
    failures
}

/// The policies that a single measure may set too.
pub(super) fn run_failures(
    reader: &mut Reader,
    section: &mut TableReader<'_>,
    failures: &mut Failures,
) {
    let Failures { crash, nan, timeout, unreadable, .. } = failures;
    let keys = [("crash", crash), ("nan", nan), ("timeout", timeout), ("unreadable", unreadable)];
    for (key, policy) in keys {
        if let Some(read) = section.get(key).and_then(|s| s.choice(reader, POLICIES, &[])) {
            *policy = read;
        }
    }
}
