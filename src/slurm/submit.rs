//! Submits a job, and finds out whether it was submitted if sbatch does not say so.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::config::JobOptions;
use crate::evaluation::Ended;
use crate::store::publish;

use super::attempt::Attempt;
use super::client::{SlurmError, call, last_line};
use super::queue::named;

/// How long before its end Slurm warns a job. The command then ends its engine by itself. Slurm may
/// warn a minute earlier than asked.
const WARNING: &str = "--signal=B:TERM@60";

/// Time between two looks for a job that may have been submitted.
const LOOKUP_INTERVAL: Duration = Duration::from_secs(2);

/// How often to look for it.
const MOST_LOOKUPS: usize = 5;

/// What a job runs, and where.
#[derive(Clone, Debug)]
pub(crate) struct Order {
    /// This program.
    pub program: PathBuf,
    /// Its arguments.
    pub words: Vec<OsString>,
    /// Where it starts.
    pub folder: PathBuf,
    /// Nodes that must not run it.
    pub excluded: BTreeSet<String>,
}

/// Submits the job of an attempt; returns its number.
///
/// # Errors
///
/// After [`SlurmError::Refused`] there is no job. After [`SlurmError::Unanswered`] there may be
/// one.
pub(crate) fn submit(
    attempt: &Attempt,
    options: &JobOptions,
    order: &Order,
) -> Result<String, SlurmError> {
    publish(&attempt.script(), &script(order))?;
    let words = words(attempt, options, order);
    let mut complaint = String::new();
    // The complaint may mean that sbatch did not reach the controller, or that the controller
    // refused the job. If the controller answers that it has no such job, a second try shows which.
    for _ in 0..2 {
        let output = call("sbatch", words.iter().cloned())?;
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        // `ID`, or `ID;CLUSTER`.
        let id = said.trim().split(';').next().unwrap_or_default();
        if output.ended.is_success() && !id.is_empty() && id.chars().all(|c| c.is_ascii_digit()) {
            return Ok(id.to_owned());
        }
        complaint = last_line(&output);
        if let Some(id) = look_up(attempt.token(), &output.ended, &complaint)? {
            return Ok(id);
        }
    }
    Err(SlurmError::Refused(complaint))
}

/// Looks for a job of which sbatch did not give the number; `None` if there is none.
fn look_up(token: &str, ended: &Ended, complaint: &str) -> Result<Option<String>, SlurmError> {
    let mut last = None;
    for look in 0..MOST_LOOKUPS {
        if look > 0 {
            std::thread::sleep(LOOKUP_INTERVAL);
        }
        match named(token) {
            Ok(Some(job)) => return Ok(Some(job.id)),
            // sbatch was killed while it waited: the controller may take the job later.
            Ok(None) if !matches!(ended, Ended::Exited(_)) => {}
            Ok(None) => return Ok(None),
            Err(error @ SlurmError::Missing(_)) => return Err(error),
            Err(error) => last = Some(error),
        }
    }
    let said = complaint.to_owned();
    Err(last.unwrap_or(SlurmError::Unanswered { program: "sbatch", said }))
}

/// The arguments of sbatch.
fn words(attempt: &Attempt, options: &JobOptions, order: &Order) -> Vec<String> {
    let mut words: Vec<String> = options.sbatch_args.clone();
    let path = |path: &Path| path.to_string_lossy().into_owned();
    words.extend(
        ["--parsable", "--no-requeue", "--nodes=1", "--export=ALL", "--open-mode=append", WARNING]
            .map(str::to_owned),
    );
    words.push(format!("--job-name={}", attempt.token()));
    words.push(format!("--output={}", path(&attempt.output())));
    words.push(format!("--chdir={}", path(&order.folder)));
    for (name, value) in [
        ("partition", &options.partition),
        ("account", &options.account),
        ("gres", &options.gres),
        ("constraint", &options.constraint),
        ("container", &options.container),
    ] {
        words.extend(value.iter().map(|value| format!("--{name}={value}")));
    }
    words.extend(options.time.map(|time| format!("--time={}", time.as_secs().div_ceil(60))));
    if !order.excluded.is_empty() {
        // sbatch uses only the last `--exclude`, so ours repeats the nodes in `sbatch_args`.
        let theirs = options.sbatch_args.iter().filter_map(|word| word.strip_prefix("--exclude="));
        let all: Vec<&str> = theirs.chain(order.excluded.iter().map(String::as_str)).collect();
        words.push(format!("--exclude={}", all.join(",")));
    }
    words.push(path(&attempt.script()));
    words
}

/// The script of the job. It goes to the folder itself: in a container, Slurm does not. The shell
/// becomes this program, so the warning before the end reaches it.
fn script(order: &Order) -> Vec<u8> {
    let mut text = b"#!/bin/sh\ncd".to_vec();
    put_quoted(&mut text, order.folder.as_os_str());
    text.extend_from_slice(b" && exec");
    put_quoted(&mut text, order.program.as_os_str());
    for word in &order.words {
        put_quoted(&mut text, word);
    }
    text.push(b'\n');
    text
}

/// Adds a word of the shell.
fn put_quoted(text: &mut Vec<u8>, word: &OsStr) {
    text.extend_from_slice(b" '");
    for byte in word.as_bytes() {
        match byte {
            b'\'' => text.extend_from_slice(br"'\''"),
            other => text.push(*other),
        }
    }
    text.push(b'\'');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::slurm::Purpose;

    fn order(excluded: &[&str]) -> Order {
        Order {
            program: "/opt/it's/bisect-ppl".into(),
            words: vec!["resume".into(), "a b".into()],
            folder: "/data/engine".into(),
            excluded: excluded.iter().map(|node| (*node).to_owned()).collect(),
        }
    }

    #[test]
    fn the_script_becomes_this_program_with_its_words_as_they_are() {
        let text = String::from_utf8(script(&order(&[]))).unwrap();
        let command = "cd '/data/engine' && exec '/opt/it'\\''s/bisect-ppl' 'resume' 'a b'";
        assert_eq!(text, format!("#!/bin/sh\n{command}\n"));
    }

    #[test]
    fn sbatch_gets_the_keys_and_our_own_options_after_the_users() {
        let folder = tempfile::tempdir().unwrap();
        let attempt = Attempt::begin(folder.path(), Purpose::Drive).unwrap();
        let options = JobOptions {
            partition: Some("gpu".to_owned()),
            gres: Some("gpu:1".to_owned()),
            container: Some("/images/cuda".to_owned()),
            time: Some(Duration::from_secs(301)),
            max_jobs: 2,
            sbatch_args: vec!["--mem=4G".to_owned(), "--exclude=n9".to_owned()],
            ..JobOptions::default()
        };
        let words = words(&attempt, &options, &order(&["n1", "n2"]));
        assert_eq!(&words[..2], ["--mem=4G", "--exclude=n9"]);
        let name = format!("--job-name={}", attempt.token());
        let given = ["--partition=gpu", "--gres=gpu:1", "--container=/images/cuda", "--time=6"];
        for word in given.into_iter().chain(["--exclude=n9,n1,n2", &name]) {
            assert!(words.iter().any(|one| one == word), "{word}: {words:?}");
        }
        assert!(!words.iter().any(|word| word.starts_with("--account")));
        assert_eq!(words.last().unwrap(), &attempt.script().display().to_string());
    }
}
