//! Finds the records of one commit, so that they can be removed and the commit is measured again.

use std::collections::BTreeSet;

use serde::de::DeserializeOwned;

use crate::evaluation::{CommitId, RunRecord};

use super::gc::{Garbage, GcLock, freed};
use super::inventory::{Attempt, files_below};
use super::journal::Event;
use super::record_files::read_json;
use super::{BuildRecord, Confirmation, StoreError};

/// Which records of a commit to forget.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Forget {
    /// Its runs.
    pub runs: bool,
    /// Its builds.
    pub builds: bool,
}

/// A record with its files.
struct Stored<R> {
    record: R,
    attempt: Attempt,
}

impl GcLock {
    /// Collects what the store has of a commit, and the names of the hunts that used it.
    ///
    /// Commits with equal trees share keys, so all records under the commit's keys are collected,
    /// whichever commit they were made for. Results reused from these runs for identical builds are
    /// collected too, and so are confirmations that rest on one of the runs.
    pub(crate) fn of_commit(
        &self,
        commit: &CommitId,
        what: Forget,
    ) -> Result<(Garbage, Vec<String>), StoreError> {
        let (mut runs, mut builds) = (self.all::<RunRecord>("runs")?, self.all("builds")?);
        runs.retain(|_| what.runs);
        builds.retain(|_| what.builds);
        let mut keys = BTreeSet::new();
        let runs_of = runs.iter().filter(|run| run.record.commit == *commit);
        keys.extend(runs_of.map(|run| run.record.run_key.clone()));
        let builds_of =
            builds.iter().filter(|one: &&Stored<BuildRecord>| one.record.commit == *commit);
        keys.extend(builds_of.map(|one| one.record.build_key.to_string()));
        let mut used = Vec::new();
        for hunt in self.store().hunts()? {
            let mut attempts = BTreeSet::new();
            for entry in &hunt.entries()? {
                match &entry.event {
                    Event::Run(run) => {
                        keys.extend((run.commit == *commit).then(|| run.run_key.clone()));
                        attempts.insert(run.attempt.clone());
                    }
                    Event::Build(one) => {
                        keys.extend((one.commit == *commit).then(|| one.build_key.clone()));
                        attempts.insert(one.attempt.clone());
                    }
                    _ => {}
                }
            }
            used.push((hunt.id().to_owned(), attempts));
        }
        let mut gone: BTreeSet<String> = builds
            .iter()
            .filter(|one| keys.contains(one.record.build_key.as_str()))
            .map(|one| one.attempt.name.clone())
            .collect();
        // Each pass finds results that were reused from runs that the pass before found.
        loop {
            let is_gone = |run: &&Stored<RunRecord>| {
                let same = run.record.same_as.as_ref();
                keys.contains(&run.record.run_key) || same.is_some_and(|same| gone.contains(same))
            };
            let found = runs.iter().filter(is_gone).map(|run| run.attempt.name.clone());
            let found: Vec<String> = found.filter(|name| !gone.contains(name)).collect();
            if found.is_empty() {
                break;
            }
            gone.extend(found);
        }
        let waste = self.with_what_rests_on(&gone, runs, builds)?;
        let hunts = used.into_iter().filter(|(_, attempts)| !attempts.is_disjoint(&gone));
        Ok((waste, hunts.map(|(id, _)| id).collect()))
    }

    /// The files to remove, in order: a confirmation goes before its runs, a record before its log.
    fn with_what_rests_on(
        &self,
        gone: &BTreeSet<String>,
        runs: Vec<Stored<RunRecord>>,
        builds: Vec<Stored<BuildRecord>>,
    ) -> Result<Garbage, StoreError> {
        let mut waste = Garbage::default();
        for file in files_below(&self.store().root().join("confirmations"))? {
            let Some(made) = read_json::<Confirmation>(&file) else { continue };
            if made.attempts.iter().any(|attempt| gone.contains(attempt)) {
                waste.others += 1;
                waste.files.push(file);
            }
        }
        for run in runs.into_iter().filter(|run| gone.contains(&run.attempt.name)) {
            waste.runs += 1;
            waste.take(run.attempt);
        }
        for build in builds.into_iter().filter(|build| gone.contains(&build.attempt.name)) {
            waste.builds += 1;
            waste.take(build.attempt);
        }
        self.controls(gone, &mut waste)?;
        waste.bytes = freed(&waste)?;
        Ok(waste)
    }

    /// All records of a kind that are whole. Damaged ones are left for a person to look at.
    fn all<R: DeserializeOwned>(&self, kind: &str) -> Result<Vec<Stored<R>>, StoreError> {
        let attempts = self.store().attempts(kind)?.into_iter();
        let read = |attempt: Attempt| {
            let record = read_json(attempt.record.as_deref()?)?;
            Some(Stored { record, attempt })
        };
        Ok(attempts.filter_map(read).collect())
    }
}
