//! Builds that were made: how long they took and, where one failed, how.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::evaluation::{CommitId, Failure, Phase};

use super::runs::is_in_place;
use super::{BuildKey, Damage, Store, StoreError, publish, record_files};

/// One build, as it happened. The artifacts themselves are not kept here: a slot has them
/// until it is used again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BuildRecord {
    /// Unique name of this attempt; its log carries it.
    pub attempt: String,
    /// The key.
    pub build_key: BuildKey,
    /// The commit.
    pub commit: CommitId,
    /// What it was built for.
    pub phase: Phase,
    /// The commands with placeholders filled in, a word an entry.
    pub commands: Vec<Vec<String>>,
    /// When it was finished (RFC 3339, UTC).
    pub finished: String,
    /// Wall-clock seconds, checkout included.
    pub wall_s: f64,
    /// How it failed, if it did, and that was the commit's fault.
    pub failure: Option<Failure>,
    /// The `[[prepare]]` that was made with a build, where it is no build itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prepare: Option<String>,
    /// What a compiler cache answered, where it was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compiler_cache: Option<CompilerCache>,
    /// Digest of what it was configured with, where it left something that tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub setup: Option<String>,
    /// SHA-256 of its log, where it has one; filled in when it is stored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_sha256: Option<String>,
}

/// A compiler cache that tells what it answered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CacheProgram {
    /// What records are of that do not say.
    #[default]
    Ccache,
    /// Mozilla's, which has a server.
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

/// What a compiler cache answered while a build went on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CompilerCache {
    /// Whose counters these are.
    #[serde(default)]
    pub program: CacheProgram,
    /// Compilations it had the result of.
    pub hits: u64,
    /// Compilations it had not.
    pub misses: u64,
}

impl Store {
    /// Publishes a build, with the digest of its log, which lies in its place already.
    pub fn put_build(&self, record: &BuildRecord) -> Result<(), StoreError> {
        let log = self.build_log(record);
        let log_sha256 = log.exists().then(|| self.log_digest(&log)).transpose()?;
        let record = BuildRecord { log_sha256, ..record.clone() };
        let bytes = serde_json::to_vec_pretty(&record).expect("a record is plain data");
        publish(&log.with_extension("json"), &bytes)
    }

    /// Every build under a key, oldest first. Failures that a control proved to be the world's
    /// are left out: they count for nothing. So are damaged ones, which are set aside.
    pub fn builds(&self, key: &BuildKey) -> Result<Vec<BuildRecord>, StoreError> {
        let mut builds = Vec::new();
        for path in record_files(&self.keyed("builds", key.as_str()))? {
            let Some(record) = self.record::<BuildRecord>(&path, "the build")? else { continue };
            builds.extend(self.believed_build(&path, record)?);
        }
        Ok(builds)
    }

    /// Every build of a commit, oldest first, but for damaged ones.
    pub fn builds_of(&self, commit: &CommitId) -> Result<Vec<BuildRecord>, StoreError> {
        let mut found = Vec::new();
        for attempt in self.attempts("builds")? {
            let Some(path) = attempt.record else { continue };
            let record = self.record::<BuildRecord>(&path, "the build")?;
            found.extend(record.filter(|record| record.commit == *commit));
        }
        found.sort_by(|a, b| a.finished.cmp(&b.finished));
        Ok(found)
    }

    /// The record of a build that counts, unless something about it is damaged.
    fn believed_build(
        &self,
        path: &Path,
        record: BuildRecord,
    ) -> Result<Option<BuildRecord>, StoreError> {
        let (control, mut damage) = self.control(&record.attempt)?;
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

    /// Where a build's log lies.
    pub fn build_log(&self, record: &BuildRecord) -> PathBuf {
        self.keyed("builds", record.build_key.as_str()).join(format!("{}.log", record.attempt))
    }
}
