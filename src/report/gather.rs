//! Reads a hunt's folder and makes its report.

use std::path::PathBuf;

use crate::evaluation::{CommitId, Lineage};
use crate::store::HuntDir;
use crate::store::journal::{Event, JournalEntries, last_begun};

use super::ahead::Ahead;
use super::cost::Cost;
use super::gathered::Gathered;
use super::hosts;
use super::model::{InsideLine, Report, Totals};
use super::usage::Usage;
use super::{ReportError, change, inside, places, printed, recheck};

impl Report {
    /// The report of a hunt, from its folder alone.
    pub(crate) fn of(hunt: &HuntDir) -> Result<Self, ReportError> {
        Self::read(hunt, hunt.is_driven()?)
    }

    /// The report for the process that drove the hunt: it still holds the lock, but is done.
    pub(super) fn at_rest(hunt: &HuntDir) -> Result<Self, ReportError> {
        Self::read(hunt, false)
    }

    fn read(hunt: &HuntDir, is_driven: bool) -> Result<Self, ReportError> {
        let stored = Stored {
            entries: hunt.entries()?,
            history: hunt.history()?,
            is_driven,
            folder: hunt.path().to_owned(),
            inside: inside::of(hunt)?,
        };
        let entries = stored.entries.clone();
        let report = Self::from_stored(stored);
        let mut report = report.ok_or_else(|| ReportError::NotBegun(hunt.id().to_owned()))?;
        let named: Vec<CommitId> =
            report.culprits.iter().map(|first| first.commit.clone()).collect();
        let Usage { node_s, gpu_s, is_least } = Usage::of(hunt, &entries, None, &mut None);
        report.totals = Totals { node_s, gpu_s, usage_is_least: is_least, ..report.totals };
        report.recheck = recheck::of(hunt, &entries, &named)?;
        report.failed = printed::of(&report, hunt.path());
        report.forge = hunt.forge()?;
        for first in report.culprit.iter_mut().chain(&mut report.culprits) {
            first.change = change::read(hunt, first)?;
            let mut causes = report.cause.iter().chain(&report.other_causes);
            let cause = causes.find(|line| line.cause.commit == first.commit);
            if let (Some(change), Some(line)) = (&mut first.change, cause) {
                change::mark(change, &line.cause);
            }
            let Some(forge) = &report.forge else { continue };
            first.url = Some(forge.commit(&first.commit));
            let said = hunt.messages(&first.commit)?.unwrap_or_default();
            let mut said = [Some(said.commit), said.merge].into_iter().flatten();
            first.request = said.find_map(|message| forge.request(&message));
        }
        report.candidate_changes = change::of_candidates(hunt, &report)?;
        if hunt.config_text(&report.config_sha256)?.is_none() {
            report.notes.push(ALTERED.to_owned());
        }
        Ok(report)
    }

    /// The report from stored data; `None` before the hunt has begun.
    pub(super) fn from_stored(stored: Stored) -> Option<Self> {
        let Stored { entries, history, is_driven, folder, inside } = stored;
        let at = entries.first()?.at.as_str();
        let begun = last_begun(&entries)?;
        let compared = entries.iter().filter_map(|entry| match &entry.event {
            Event::Tensors(change) => Some(change.runs.iter().map(|run| run.attempt.as_str())),
            _ => None,
        });
        let dumped = compared.flatten().collect();
        let mut gathered = Gathered::new(is_driven, dumped);
        for entry in &entries {
            gathered.see(&entry.event);
        }
        let mut report = gathered.report(begun, at, history, &folder);
        for first in report.culprit.iter_mut().chain(&mut report.culprits) {
            let of = inside.iter().filter(|(commit, _)| *commit == first.commit);
            first.inside = of.map(|(_, line)| line.clone()).collect();
        }
        places::fill_in(&mut report.commits, &entries);
        report.totals = Cost::of(&entries);
        report.ahead = Ahead::of(&entries);
        let events = || entries.iter().map(|entry| &entry.event);
        hosts::count_runs(&mut report.hosts, events());
        report.build_nodes = hosts::that_build(events());
        report.until = entries.last().map(|entry| entry.at.clone()).unwrap_or_default();
        Some(report)
    }
}

/// The contents of a hunt's folder.
pub(super) struct Stored {
    pub(super) entries: JournalEntries,
    pub(super) history: Vec<Lineage>,
    /// Whether a process drives the hunt right now.
    pub(super) is_driven: bool,
    pub(super) folder: PathBuf,
    /// The hunts inside dependencies, each with the first bad commit that moves the dependency.
    pub(super) inside: Vec<(CommitId, InsideLine)>,
}

/// Note for a frozen configuration whose digest differs from the journal's.
const ALTERED: &str = "the oracle.toml in the hunt's folder is not the one that the hunt began with: \
                       it was changed or removed since, so that the hunt cannot be resumed";
