//! The results of workers, which measure commits that the search may ask about next. A worker
//! writes no journal. It writes a file for each commit into the hunt's folder `ahead`, and the
//! process that needs the commit takes the result over.

use std::fs::File;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::evaluation::{CommitId, Phase, Verdict};
use crate::files;

use super::record_files::read_if_there;
use super::{BuildRecord, HuntDir, StoreError, publish};

/// What one worker measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct AheadRecord {
    /// The commit.
    pub commit: CommitId,
    /// What the commit was measured for.
    pub phase: Phase,
    /// The builds that were made, in order.
    pub builds: Vec<BuildRecord>,
    /// The builds of earlier hunts that were taken for the commit in place of new ones.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub taken: Vec<BuildRecord>,
    /// The slot in which a build of the commit began that has not ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub building: Option<PathBuf>,
    /// The names and the seconds of the runs that were made, in order.
    pub runs: Vec<(String, f64)>,
    /// Whether the worker has finished.
    pub is_done: bool,
    /// The verdict, if the worker finished and judged the commit.
    pub verdict: Option<Verdict>,
    /// The jobs of a cluster that were to build and were lost: what happened, each in a sentence.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lost: Vec<String>,
    /// Whether the worker's job gave its node back, because no build began for it in time.
    #[serde(default)]
    pub gave_node_back: bool,
    /// Whether a job of a cluster began to build the commit.
    #[serde(default)]
    pub has_build_begun: bool,
}

impl AheadRecord {
    /// The record of a worker that begins.
    pub(crate) fn new(commit: CommitId, phase: Phase) -> Self {
        Self {
            commit,
            phase,
            builds: Vec::new(),
            taken: Vec::new(),
            building: None,
            runs: Vec::new(),
            is_done: false,
            verdict: None,
            lost: Vec::new(),
            gave_node_back: false,
            has_build_begun: false,
        }
    }

    /// Whether a job that builds the commit has begun, or none is needed.
    pub(crate) fn has_left_queue(&self) -> bool {
        let has_build = !self.builds.is_empty() || !self.taken.is_empty();
        self.has_build_begun || has_build || self.is_done
    }

    /// Adds a build of an earlier hunt that was taken for the commit.
    pub(crate) fn take(&mut self, build: &BuildRecord) {
        if self.taken.iter().all(|known| known.attempt != build.attempt) {
            self.taken.push(build.clone());
        }
    }
}

/// The right to measure a commit for a phase; the system frees it when its holder dies.
#[derive(Debug)]
pub(crate) struct AheadClaim(#[expect(dead_code, reason = "held, never read")] File);

impl HuntDir {
    /// The folder of what is measured ahead.
    pub(super) fn ahead(&self) -> PathBuf {
        self.path().join("ahead")
    }

    /// Creates the folder if needed.
    pub(crate) fn make_ahead(&self) -> Result<(), StoreError> {
        let folder = self.ahead();
        std::fs::create_dir_all(&folder).map_err(StoreError::at(&folder))
    }

    fn ahead_file(&self, commit: &CommitId, phase: Phase, ending: &str) -> PathBuf {
        self.ahead().join(format!("{phase}-{commit}.{ending}"))
    }

    /// Locks the file with this ending; `None` if another process holds the lock.
    fn lock_ahead(
        &self,
        commit: &CommitId,
        phase: Phase,
        ending: &str,
    ) -> Result<Option<File>, StoreError> {
        let path = self.ahead_file(commit, phase, ending);
        files::try_lock_file(&path).map_err(StoreError::at(&path))
    }

    /// Claims the right to measure a commit; `None` if another process has it.
    pub(crate) fn claim(
        &self,
        commit: &CommitId,
        phase: Phase,
    ) -> Result<Option<AheadClaim>, StoreError> {
        Ok(self.lock_ahead(commit, phase, "lock")?.map(AheadClaim))
    }

    /// The lock of a job that has a node, and waits until the process that builds its commit leaves
    /// the commit to it. `None` if another process looks at the lock right now.
    pub(crate) fn await_builder(
        &self,
        commit: &CommitId,
        phase: Phase,
    ) -> Result<Option<File>, StoreError> {
        self.lock_ahead(commit, phase, "node")
    }

    /// Whether a job has a node and waits for the build of this commit. Only the process that holds
    /// the claim of the commit may ask: two that ask at once take each other for the job.
    pub(crate) fn is_builder_awaited(
        &self,
        commit: &CommitId,
        phase: Phase,
    ) -> Result<bool, StoreError> {
        let is_there = self.ahead_file(commit, phase, "node").exists();
        Ok(is_there && self.await_builder(commit, phase)?.is_none())
    }

    /// Tells the worker that has this commit: the hunt needs the commit now, and waits for it.
    pub(crate) fn want(&self, commit: &CommitId, phase: Phase) -> Result<(), StoreError> {
        publish(&self.ahead_file(commit, phase, "wanted"), b"")
    }

    /// Whether the hunt waits for this commit, or did.
    pub(crate) fn is_wanted(&self, commit: &CommitId, phase: Phase) -> bool {
        self.ahead_file(commit, phase, "wanted").exists()
    }

    /// Tells the crew that a process beside the driver has this commit's build: a job may run it.
    pub(crate) fn tell_built(&self, commit: &CommitId, phase: Phase) -> Result<(), StoreError> {
        publish(&self.ahead_file(commit, phase, "built"), b"")
    }

    /// Whether such a process has this commit's build.
    pub(crate) fn is_built(&self, commit: &CommitId, phase: Phase) -> bool {
        self.ahead_file(commit, phase, "built").exists()
    }

    /// What a worker measured at this commit. A record that cannot be read counts as missing.
    pub(crate) fn measured_ahead(
        &self,
        commit: &CommitId,
        phase: Phase,
    ) -> Result<Option<AheadRecord>, StoreError> {
        let bytes = read_if_there(&self.ahead_file(commit, phase, "json"))?.unwrap_or_default();
        Ok(serde_json::from_slice(&bytes).ok())
    }

    /// What workers measured in this hunt so far, also those that are at work. Records that cannot
    /// be read are left out.
    pub(crate) fn all_measured_ahead(&self) -> Vec<AheadRecord> {
        let entries = std::fs::read_dir(self.ahead()).into_iter().flatten().flatten();
        let paths = entries.map(|entry| entry.path());
        let records = paths.filter(|path| path.extension().is_some_and(|end| end == "json"));
        let bytes = records.filter_map(|path| read_if_there(&path).ok().flatten());
        bytes.filter_map(|bytes| serde_json::from_slice(&bytes).ok()).collect()
    }

    /// The record of a worker that begins. Of an earlier worker's record at this commit, only the
    /// builds that worked and those that were taken stay: they are found again, so the hunt counts
    /// them when it takes the record over. The slot of an interrupted build stays too: the build is
    /// made again there. The runs are in the store.
    pub(crate) fn begin_ahead(
        &self,
        commit: &CommitId,
        phase: Phase,
    ) -> Result<AheadRecord, StoreError> {
        self.remove_ahead(commit, phase, "built")?;
        let earlier = self.measured_ahead(commit, phase)?;
        let mut record = AheadRecord::new(commit.clone(), phase);
        if let Some(earlier) = earlier {
            record.builds = earlier.builds;
            record.builds.retain(|build| build.failure.is_none());
            record.taken = earlier.taken;
            record.building = earlier.building;
        }
        if record.building.is_some() || !record.builds.is_empty() || !record.taken.is_empty() {
            self.keep_ahead(&record)?;
            return Ok(record);
        }
        self.remove_ahead(commit, phase, "json")?;
        Ok(record)
    }

    /// Removes the file with this ending, if it is there.
    fn remove_ahead(
        &self,
        commit: &CommitId,
        phase: Phase,
        ending: &str,
    ) -> Result<(), StoreError> {
        let path = self.ahead_file(commit, phase, ending);
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(StoreError::at(&path)(error))
            }
            _ => Ok(()),
        }
    }

    /// Writes what this worker measured so far.
    pub(crate) fn keep_ahead(&self, record: &AheadRecord) -> Result<(), StoreError> {
        let bytes = serde_json::to_vec(record).expect("a record is plain data");
        publish(&self.ahead_file(&record.commit, record.phase, "json"), &bytes)
    }

    /// The other slots of the executor in which workers measure, with the files that say what they
    /// do. `None` if the hunt has one slot.
    pub(crate) fn slots_at_work(&self) -> Result<Option<Vec<(usize, PathBuf)>>, StoreError> {
        let folder = self.ahead();
        let Ok(entries) = std::fs::read_dir(&folder) else { return Ok(None) };
        let mut slots = Vec::new();
        for entry in entries {
            let path = entry.map_err(StoreError::at(&folder))?.path();
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            let slot = name.strip_prefix("now-").and_then(|rest| rest.strip_suffix(".json"));
            slots.extend(slot.and_then(|slot| slot.parse().ok()).map(|slot| (slot, path)));
        }
        slots.sort_unstable();
        Ok(Some(slots))
    }

    /// The file that says what happens in this slot of the executor right now. The first slot is
    /// the driver's.
    pub(crate) fn now_in_slot(&self, slot: usize) -> PathBuf {
        match slot {
            0 => self.now_path(),
            other => self.ahead().join(format!("now-{other}.json")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::{Ended, Evidence, Failure, FailureKind};
    use crate::store::Store;

    #[test]
    fn a_commit_is_claimed_once_and_its_record_is_read_back() {
        let folder = tempfile::tempdir().unwrap();
        let hunt = Store::open_to_measure(folder.path()).unwrap().new_hunt().unwrap();
        hunt.make_ahead().unwrap();
        let commit: CommitId = "1".repeat(40).parse().unwrap();
        let claim = hunt.claim(&commit, Phase::Search).unwrap();
        assert!(claim.is_some());
        assert!(hunt.claim(&commit, Phase::Search).unwrap().is_none());
        assert!(hunt.claim(&commit, Phase::Confirm).unwrap().is_some());
        drop(claim);
        assert!(hunt.claim(&commit, Phase::Search).unwrap().is_some());

        assert!(!hunt.is_wanted(&commit, Phase::Search));
        hunt.want(&commit, Phase::Search).unwrap();
        assert!(hunt.is_wanted(&commit, Phase::Search) && !hunt.is_wanted(&commit, Phase::Confirm));

        assert!(!hunt.is_built(&commit, Phase::Search));
        hunt.tell_built(&commit, Phase::Search).unwrap();
        assert!(hunt.is_built(&commit, Phase::Search) && !hunt.is_built(&commit, Phase::Confirm));

        assert!(!hunt.is_builder_awaited(&commit, Phase::Search).unwrap());
        let job = hunt.await_builder(&commit, Phase::Search).unwrap();
        assert!(job.is_some() && hunt.is_builder_awaited(&commit, Phase::Search).unwrap());
        assert!(!hunt.is_builder_awaited(&commit, Phase::Confirm).unwrap());
        drop(job);
        assert!(!hunt.is_builder_awaited(&commit, Phase::Search).unwrap());

        assert_eq!(hunt.measured_ahead(&commit, Phase::Search).unwrap(), None);
        let mut record = AheadRecord::new(commit.clone(), Phase::Search);
        record.runs.push(("a".to_owned(), 1.5));
        record.lost.push("job 7, which built, was cancelled".to_owned());
        hunt.keep_ahead(&record).unwrap();
        assert_eq!(hunt.measured_ahead(&commit, Phase::Search).unwrap(), Some(record.clone()));
        std::fs::write(hunt.now_in_slot(1), "{}").unwrap();
        assert_eq!(hunt.all_measured_ahead(), [record.clone()]);

        hunt.begin_ahead(&commit, Phase::Confirm).unwrap();
        assert_eq!(hunt.measured_ahead(&commit, Phase::Search).unwrap(), Some(record));
        for _ in 0..2 {
            let begun = hunt.begin_ahead(&commit, Phase::Search).unwrap();
            assert_eq!(begun, AheadRecord::new(commit.clone(), Phase::Search));
            assert_eq!(hunt.measured_ahead(&commit, Phase::Search).unwrap(), None);
            assert!(!hunt.is_built(&commit, Phase::Search), "of an earlier worker");
        }
    }

    #[test]
    fn a_worker_that_begins_again_keeps_the_builds_that_worked() {
        let folder = tempfile::tempdir().unwrap();
        let hunt = Store::open_to_measure(folder.path()).unwrap().new_hunt().unwrap();
        hunt.make_ahead().unwrap();
        let commit: CommitId = "1".repeat(40).parse().unwrap();
        let build = |attempt: &str, failure: Option<Failure>| -> BuildRecord {
            serde_json::from_value(serde_json::json!({
                "attempt": attempt,
                "build_key": "k",
                "commit": commit,
                "phase": "endpoint",
                "commands": [],
                "finished": "",
                "wall_s": 1.0,
                "failure": failure,
            }))
            .unwrap()
        };
        let failure = Failure::new(FailureKind::Build, Evidence::of(&Ended::Exited(1)), "");
        let mut record = AheadRecord::new(commit.clone(), Phase::Endpoint);
        record.builds = vec![build("a", Some(failure)), build("b", None)];
        record.taken = vec![build("t", None)];
        record.building = Some("/slots/1".into());
        record.runs.push(("c".to_owned(), 1.5));
        record.is_done = true;
        hunt.keep_ahead(&record).unwrap();
        let begun = hunt.begin_ahead(&commit, Phase::Endpoint).unwrap();
        assert_eq!(begun.builds, [build("b", None)]);
        assert_eq!(begun.taken, [build("t", None)]);
        assert_eq!(begun.building, record.building);
        assert!(begun.runs.is_empty() && !begun.is_done);
        assert_eq!(hunt.measured_ahead(&commit, Phase::Endpoint).unwrap(), Some(begun));
    }
}
