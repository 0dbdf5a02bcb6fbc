//! The jobs of a hunt whose executor is a cluster: their folder, and the lock of the job that
//! drives the hunt.

use std::fs::File;
use std::path::PathBuf;

use crate::files;

use super::folder::refuse_link;
use super::record_files::read_if_there;
use super::{HuntDir, StoreError, publish};

/// The right to drive the hunt in a job; the system frees it when the job's process dies. Whoever
/// holds it may write into the journal.
#[derive(Debug)]
pub(crate) struct JobLock(#[expect(dead_code, reason = "held, never read")] File);

impl HuntDir {
    /// The folder of the jobs: one folder for each attempt.
    pub(crate) fn jobs(&self) -> PathBuf {
        self.path().join("jobs")
    }

    /// Creates the folder if needed.
    pub(crate) fn make_jobs(&self) -> Result<(), StoreError> {
        let folder = self.jobs();
        std::fs::create_dir_all(&folder).map_err(StoreError::at(&folder))?;
        refuse_link(&folder)
    }

    /// The folder in which all processes of this user share what Slurm says of their jobs, for all
    /// hunts of the store. Slurm may hide the jobs of one user from another.
    pub(crate) fn squeue(&self) -> PathBuf {
        let user = rustix::process::geteuid().as_raw();
        self.all_hunts().with_file_name("squeue").join(user.to_string())
    }

    /// Takes the lock; `None` if a job's process holds it.
    pub(crate) fn lock_jobs(&self) -> Result<Option<JobLock>, StoreError> {
        let path = self.jobs().join("lock");
        let lock = files::try_lock_file(&path).map_err(StoreError::at(&path))?;
        Ok(lock.map(JobLock))
    }

    /// Names the attempt that drives the hunt from now on. A job of an earlier one ends itself.
    pub(crate) fn set_current_job(&self, token: &str) -> Result<(), StoreError> {
        publish(&self.jobs().join("current"), token.as_bytes())
    }

    /// Whether this is the attempt that drives the hunt.
    pub(crate) fn is_current_job(&self, token: &str) -> Result<bool, StoreError> {
        let bytes = read_if_there(&self.jobs().join("current"))?;
        Ok(bytes.is_some_and(|bytes| bytes == token.as_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use crate::store::Store;

    #[test]
    fn all_hunts_of_a_store_share_what_slurm_says() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open_to_measure(folder.path()).unwrap();
        let [one, other] = [(); 2].map(|()| store.new_hunt().unwrap().squeue());
        assert_eq!(one, other);
        assert!(one.starts_with(folder.path().join("bisect-ppl/squeue")), "{}", one.display());
    }

    #[test]
    fn one_job_drives_and_an_earlier_one_sees_that_it_does_not_any_more() {
        let folder = tempfile::tempdir().unwrap();
        let hunt = Store::open_to_measure(folder.path()).unwrap().new_hunt().unwrap();
        hunt.make_jobs().unwrap();
        assert!(!hunt.is_current_job("a").unwrap());
        hunt.set_current_job("a").unwrap();
        let lock = hunt.lock_jobs().unwrap();
        assert!(lock.is_some() && hunt.lock_jobs().unwrap().is_none());
        hunt.set_current_job("b").unwrap();
        assert!(!hunt.is_current_job("a").unwrap() && hunt.is_current_job("b").unwrap());
        drop(lock);
        assert!(hunt.lock_jobs().unwrap().is_some());
    }
}
