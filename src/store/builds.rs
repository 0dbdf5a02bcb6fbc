//! Records of builds: how long each took and how it failed.

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::evaluation::{CommitId, Failure, GitFolderChange, GitQuestion, Phase, WrittenFiles};

use super::record_files::{publish_record, record_files};
use super::runs::is_in_place;
use super::{BuildKey, Damage, Store, StoreError};

/// One build attempt. The built files are not stored here: a slot keeps them until its next build.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct BuildRecord {
    /// Unique name of this attempt; the log file has the same name.
    pub attempt: String,
    /// The build key.
    pub build_key: BuildKey,
    /// The commit.
    pub commit: CommitId,
    /// The purpose of the build.
    pub phase: Phase,
    /// The commands with placeholders filled in, one list of words each.
    pub commands: Vec<Vec<String>>,
    /// When the build ended (RFC 3339, UTC).
    pub finished: String,
    /// Wall-clock seconds, checkout included.
    pub wall_s: f64,
    /// The failure, if the build failed. A stored control may show that it was the machine's fault.
    pub failure: Option<Failure>,
    /// Name of the `[[prepare]]` step, if this records such a step and not a build.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prepare: Option<String>,
    /// Hits and misses of the compiler cache, if one was used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compiler_cache: Option<CompilerCache>,
    /// Digest of the build setup, if the build left files that show it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub setup: Option<String>,
    /// SHA-256 of the log, if there is one; `put_build` fills it in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_sha256: Option<String>,
    /// The attempts before this one, which failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed_attempts: Option<AttemptsCost>,
    /// What the build asked git about HEAD.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub asked_git: BTreeSet<GitQuestion>,
    /// What changed in the git folder that all worktrees share, during this attempt or one before
    /// it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub git_folder: Option<GitFolderChange>,
    /// The files that git tracks and that this build left with another content than the checkout's.
    /// They were put back after it. `None` also in records of older versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub written: Option<WrittenFiles>,
    /// The node that built, if a job of its own did (`[executor.build]`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node: Option<String>,
}

/// The cost of the attempts of a build that failed before the recorded one.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct AttemptsCost {
    /// How many.
    pub count: usize,
    /// Wall-clock seconds of all of them.
    pub wall_s: f64,
}

/// A compiler cache with readable counters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum CacheProgram {
    /// Records without a program are from ccache.
    #[default]
    Ccache,
    /// Mozilla's cache, which runs a server.
    Sccache,
}

impl fmt::Display for CacheProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Ccache => "ccache",
            Self::Sccache => "sccache",
        })
    }
}

/// Hits and misses of a compiler cache during a build.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct CompilerCache {
    /// The cache program that counted.
    #[serde(default)]
    pub program: CacheProgram,
    /// Compilations answered from the cache.
    pub hits: u64,
    /// Compilations that the cache could not answer.
    pub misses: u64,
}

impl Store {
    /// Publishes a build with the digest of its log; the log must already be in place.
    pub(crate) fn put_build(&self, record: &BuildRecord) -> Result<(), StoreError> {
        let log = self.build_log(record);
        let log_sha256 = log.exists().then(|| self.log_digest(&log)).transpose()?;
        let record = BuildRecord { log_sha256, ..record.clone() };
        publish_record(&log.with_extension("json"), &record)
    }

    /// All builds under a key that count, oldest first. Leaves out failures by the machine's fault
    /// and damaged builds, which are set aside.
    pub(crate) fn builds(&self, key: &BuildKey) -> Result<Vec<BuildRecord>, StoreError> {
        let mut builds = Vec::new();
        for path in record_files(&self.keyed("builds", key.as_str()))? {
            let Some(record) = self.record::<BuildRecord>(&path, "the build") else { continue };
            builds.extend(self.build_if_undamaged(&path, record)?);
        }
        Ok(builds)
    }

    /// All builds of a commit whose record parses, oldest first.
    pub(crate) fn builds_of(&self, commit: &CommitId) -> Result<Vec<BuildRecord>, StoreError> {
        let mut found = Vec::new();
        for attempt in self.attempts("builds")? {
            let Some(path) = attempt.record else { continue };
            let record = self.record::<BuildRecord>(&path, "the build");
            found.extend(record.filter(|record| record.commit == *commit));
        }
        found.sort_by(|a, b| a.finished.cmp(&b.finished));
        Ok(found)
    }

    /// The record if the build counts; `None` if it is damaged or its failure is the machine's
    /// fault.
    fn build_if_undamaged(
        &self,
        path: &Path,
        record: BuildRecord,
    ) -> Result<Option<BuildRecord>, StoreError> {
        let (control, mut damage) = self.control(&record.attempt);
        if !is_in_place(path, record.build_key.as_str(), &record.attempt) {
            damage = Some(Damage::Misplaced);
        } else if let (None, Some(kept)) = (&damage, &record.log_sha256) {
            damage = self.log_damage(&path.with_extension("log"), Some(kept))?;
        }
        if let Some(damage) = damage {
            let BuildRecord { commit, finished, .. } = &record;
            let what = format!("the build of {}, finished {finished},", commit.short());
            self.set_aside(path, what, damage);
            return Ok(None);
        }
        Ok(Some(record).filter(|_| control.is_none_or(|control| control.worked)))
    }

    /// Path of a build's log.
    pub(crate) fn build_log(&self, record: &BuildRecord) -> PathBuf {
        self.keyed("builds", record.build_key.as_str()).join(format!("{}.log", record.attempt))
    }
}
