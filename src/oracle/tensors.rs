//! Dumps of tensors: runs that write them, and how those of two commits differ.

use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use crate::config::Measure;
use crate::evaluation::{CommitId, Phase, TensorComparison};
use crate::process::read_log;
use crate::store::{MOST_DUMPED, Store, StoreError, StoredRun};
use crate::tensor::{DumpError, TensorNoise, TensorSet, compare_sets};

use super::{Oracle, OracleError, Request};

/// Runs of one measure to compare.
#[derive(Debug, Default)]
pub(crate) struct TensorRuns {
    /// Runs of the parent; at least one.
    pub parent: Vec<StoredRun>,
    /// Runs of the commit; at least one.
    pub commit: Vec<StoredRun>,
    /// Runs of a commit without an effect.
    pub harmless: Vec<StoredRun>,
}

impl Oracle {
    /// Returns at least this many runs of a measure at a commit, and makes those that the store
    /// lacks. The inner error says in words why there are none.
    pub(crate) fn dump_tensors(
        &mut self,
        commit: &CommitId,
        measure: &str,
        runs: usize,
        phase: Phase,
    ) -> Result<Result<Vec<StoredRun>, String>, OracleError> {
        let names = [measure.to_owned()];
        let recipe = self.recipes.at(commit)?;
        let Some(declared) = recipe.measure(measure) else {
            return Ok(Err("the measure is not in its recipe".to_owned()));
        };
        let key = self.recipes.run_key_of(commit, &recipe, declared)?;
        let look = Request::look(commit, &names, phase);
        let seen = self.evaluate(Request { runs, ..look })?;
        if let Some(failure) = seen.build_failure {
            return Ok(Err(failure.detail));
        }
        let mut found = Vec::new();
        for sample in seen.of(measure) {
            match &sample.result {
                Ok(_) => found.extend(self.store.run(key.as_str(), &sample.attempt)?),
                Err(failure) => return Ok(Err(failure.detail.clone())),
            }
        }
        Ok(Ok(found))
    }

    /// The number of tensors that a run of the measure dumps. The inner error says in words why
    /// they cannot be read.
    pub(crate) fn count_tensors(
        &mut self,
        commit: &CommitId,
        measure: &Measure,
    ) -> Result<Result<usize, String>, OracleError> {
        let parent = match self.dump_tensors(commit, &measure.name, 1, Phase::Manual)? {
            Ok(runs) => runs,
            Err(why) => return Ok(Err(why)),
        };
        let runs = TensorRuns { commit: parent.clone(), parent, harmless: Vec::new() };
        Ok(self.compare_tensors(measure, &runs)?.map(|comparison| comparison.compared))
    }

    /// Compares the tensors of a commit with those of its parent. The inner error says in words why
    /// that is not possible.
    pub(crate) fn compare_tensors(
        &self,
        measure: &Measure,
        runs: &TensorRuns,
    ) -> Result<Result<TensorComparison, String>, OracleError> {
        let folder = tempfile::tempdir().map_err(StoreError::at(&std::env::temp_dir()))?;
        let mut number = 0;
        let mut open = |run: &StoredRun| {
            number += 1;
            let place = folder.path().join(number.to_string());
            match laid_out(&self.store, measure, run, &place)? {
                Ok(path) => readable(TensorSet::open(&path), &place),
                Err(why) => Ok(Err(why)),
            }
        };
        let mut sides = Vec::new();
        for side in [&runs.parent, &runs.commit, &runs.harmless] {
            let sets = side.iter().map(&mut open).collect::<Result<Vec<_>, StoreError>>()?;
            match sets.into_iter().collect::<Result<Vec<_>, String>>() {
                Ok(sets) => sides.push(sets),
                Err(why) => return Ok(Err(why)),
            }
        }
        let [mut parent, mut commit, harmless] =
            <[Vec<TensorSet>; 3]>::try_from(sides).expect("there are three sides");
        let [base, candidate] = [parent.remove(0), commit.remove(0)];
        parent.extend(harmless);
        let noise = TensorNoise { of_base: parent, of_candidate: commit };
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let stop = self.stop.clone();
        let is_stopped = || stop.is_requested();
        match compare_sets(&base, &candidate, &noise, threads, &is_stopped) {
            Err(DumpError::Stopped) => Err(OracleError::stopped(&self.stop)),
            other => Ok(readable(other, folder.path())?),
        }
    }
}

/// Puts what a run dumped into a folder, under the run's own file names. The inner error says why
/// there is nothing.
fn laid_out(
    store: &Store,
    measure: &Measure,
    run: &StoredRun,
    place: &Path,
) -> Result<Result<PathBuf, String>, StoreError> {
    std::fs::create_dir_all(place).map_err(StoreError::at(place))?;
    let Some(pattern) = &measure.file else { return printed(run, place).map(Ok) };
    let depth = pattern.split('/').count();
    let mut root = None;
    for dumped in &run.record.dumps {
        let link = place.join(&dumped.path);
        let folder = link.parent().unwrap_or(place);
        std::fs::create_dir_all(folder).map_err(StoreError::at(folder))?;
        symlink(store.checked_dump(dumped)?, &link).map_err(StoreError::at(&link))?;
        root.get_or_insert_with(|| {
            place.join(Path::new(&dumped.path).components().take(depth).collect::<PathBuf>())
        });
    }
    let why = || {
        format!(
            "there is nothing to read at {{out}}/{pattern}: it was not written, several files \
             match, or it has more than {MOST_DUMPED} files and folders"
        )
    };
    Ok(root.ok_or_else(why))
}

/// Writes what a run printed into a file.
fn printed(run: &StoredRun, place: &Path) -> Result<PathBuf, StoreError> {
    let log = read_log(&run.log).map_err(StoreError::at(&run.log))?;
    let path = place.join("output.txt");
    let mut text = Vec::new();
    for (_, line) in log.lines() {
        text.extend_from_slice(line);
        text.push(b'\n');
    }
    std::fs::write(&path, text).map_err(StoreError::at(&path))?;
    Ok(path)
}

/// Turns the error of a malformed file into words; an unreadable disk stays an error.
fn readable<T>(
    result: Result<T, DumpError>,
    place: &Path,
) -> Result<Result<T, String>, StoreError> {
    match result {
        Ok(value) => Ok(Ok(value)),
        Err(DumpError::Open { path, source } | DumpError::Read { path, source, .. }) => {
            Err(StoreError::Io { path, source })
        }
        Err(DumpError::Format { path, what, .. }) => {
            // The temporary path means nothing to users.
            let name = path.strip_prefix(place).unwrap_or(&path);
            Ok(Err(format!("{}: {what}", name.display())))
        }
        Err(other) => Ok(Err(other.to_string())),
    }
}
