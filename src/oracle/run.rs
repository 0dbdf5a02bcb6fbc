//! One execution of one measure's command in a slot, stored before it counts.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::build::{Slot, Stamp};
use crate::config::{Command, Config, Measure, Placeholder, Values};
use crate::evaluation::{Around, CommitId, Ended, MachineState, Phase, RunRecord};
use crate::git::{History, Worktree};
use crate::measure::Reader;
use crate::process::{self, Invocation, Keep, LogFile, ProcessError, Stop};
use crate::store::{RunKey, Store, StoredRun, attempt_name};

use super::{Facts, OracleError, caches};

/// What to run, where, and for whom.
#[derive(Clone, Copy)]
pub(super) struct Order<'a> {
    pub(super) history: &'a History,
    pub(super) store: &'a Store,
    pub(super) slot: &'a Slot,
    /// What the slot holds.
    pub(super) stamp: &'a Stamp,
    pub(super) commit: &'a CommitId,
    pub(super) config: &'a Config,
    pub(super) measure: &'a Measure,
    pub(super) key: &'a RunKey,
    pub(super) facts: &'a Facts,
    pub(super) phase: Phase,
    /// It does not count.
    pub(super) warm_up: bool,
    pub(super) hunt: Option<&'a str>,
    pub(super) stop: &'a Stop,
    /// Looks at the machine.
    pub(super) look: &'a dyn Fn() -> MachineState,
}

/// Values of the placeholders for a commit in a slot.
pub(super) fn values(
    history: &History,
    slot: &Slot,
    commit: &CommitId,
    config: &Config,
    facts: &Facts,
) -> Result<Values, OracleError> {
    let cores = facts.machine.cores.to_string();
    let number = |n: Option<u32>| n.map_or_else(|| cores.clone(), |n| n.to_string());
    let path = |path: PathBuf| path.to_string_lossy().into_owned();
    let mut values = Values::new()
        .with(Placeholder::Src, path(slot.src()))
        .with(Placeholder::Build, path(slot.build()))
        .with(Placeholder::Out, path(slot.out()))
        .with(Placeholder::Cache, path(slot.cache()))
        .with(Placeholder::Jobs, number(config.build.jobs))
        .with(Placeholder::Threads, number(config.run.threads))
        .with(Placeholder::Commit, commit.as_str())
        .with(Placeholder::Short, commit.short())
        .with(Placeholder::CommitDate, history.info(commit)?.date);
    if let Some(chunks) = config.run.chunks {
        values.set(Placeholder::Chunks, chunks.to_string());
    }
    if let Some(parent) = history.parents(commit)?.first() {
        values.set(Placeholder::Parent, parent.as_str());
    }
    for (name, input) in &facts.inputs {
        values.set(Placeholder::Input(name.clone()), input.path.clone());
    }
    Ok(values)
}

/// Runs it. Whatever the engine did, the answer is a stored run; only being stopped, or a
/// world in which nothing can be run or kept, is an error.
pub(super) fn run(order: Order<'_>) -> Result<StoredRun, OracleError> {
    let Order { slot, measure, .. } = order;
    let values = values(order.history, slot, order.commit, order.config, order.facts)?;
    slot.fresh(&slot.out())?;
    let cwd = match &measure.cwd {
        Some(template) => slot.src().join(template.fill(&values)?),
        None => slot.src(),
    };
    let mut env = BTreeMap::new();
    for (name, template) in &measure.env {
        env.insert(name.clone(), template.fill(&values)?);
    }
    let fill = |command: &Command| {
        command.words.iter().map(|word| word.fill(&values)).collect::<Result<Vec<_>, _>>()
    };
    let argv = fill(&measure.command)?;
    let caches = caches::variables(&slot.cache(), |name| std::env::var_os(name));
    let attempt = attempt_name();
    let started = jiff::Timestamp::now().to_string();
    let pending = order.store.pending_log(&attempt)?;
    let log = pending.path();
    let invoke = |words: &[String]| {
        let mut invocation =
            Invocation::new(&words[0]).args(&words[1..]).cwd(&cwd).timeout(Some(measure.timeout));
        for (name, folder) in &caches {
            invocation = invocation.env(name, folder);
        }
        env.iter().fold(invocation, |invocation, (name, value)| invocation.env(name, value))
    };

    let mut header = header(order.commit, &argv, &cwd, &env, &started);
    let aside = log.with_extension("aside");
    let mut failed_before = None;
    for command in &measure.before {
        let words = fill(command)?;
        let quiet = LogFile { path: &aside, header: &[], sync: false };
        let done = process::run(&invoke(&words), order.stop, &quiet, &mut |_, _| Keep::No)?;
        header.push(("before", format!("{}: {}", shlex_line(&words), done.ended)));
        if !done.ended.is_success() {
            failed_before = Some(done.ended);
            break;
        }
    }

    let output = LogFile { path: log, header: &header, sync: true };
    let mut machine = None;
    let (ended, wall_s, peak_rss_mib) = if let Some(ended) = failed_before {
        // Nothing of the engine ran; its log says what stood in the way.
        let words = ["true".to_owned()];
        process::run(&invoke(&words), order.stop, &output, &mut |_, _| Keep::No)?;
        (ended, 0.0, None)
    } else {
        let mut reader = Reader::new(measure, &order.config.requires);
        let before = (order.look)();
        let done = process::run(&invoke(&argv), order.stop, &output, &mut |stream, line| {
            if reader.line(stream, line) { Keep::Yes } else { Keep::No }
        })?;
        machine = Some(Around { before, after: (order.look)() });
        (done.ended, done.wall.as_secs_f64(), done.peak_rss_mib)
    };
    for command in &measure.after {
        let words = fill(command)?;
        let quiet = LogFile { path: &aside, header: &[], sync: false };
        process::run(&invoke(&words), order.stop, &quiet, &mut |_, _| Keep::No)?;
    }
    keep_file(measure, slot, log)?;
    Worktree::holding(
        order.history.repository(),
        &slot.src(),
        order.commit,
        order.config.worktree.submodules,
    )?
    .reset()?;
    if ended == Ended::Stopped || order.stop.is_requested() {
        return Err(OracleError::Stopped);
    }
    // A text that was swapped under the run is no run of the one that was hashed.
    order.facts.check_inputs(order.config, order.store)?;
    let record = RunRecord {
        attempt,
        run_key: order.key.to_string(),
        measure: measure.name.clone(),
        commit: order.commit.clone(),
        phase: order.phase,
        hunt: order.hunt.map(str::to_owned),
        argv,
        cwd: cwd.to_string_lossy().into_owned(),
        slot: slot.root().to_string_lossy().into_owned(),
        env,
        started,
        wall_s,
        peak_rss_mib,
        ended,
        built: order.stamp.finished.clone(),
        warm_up: order.warm_up,
        alone: measure.exclusive,
        machine,
    };
    Ok(order.store.put_run(&record, log)?)
}

/// What stands at the top of a run's log.
fn header(
    commit: &CommitId,
    argv: &[String],
    cwd: &Path,
    env: &BTreeMap<String, String>,
    started: &str,
) -> Vec<(&'static str, String)> {
    let mut header = vec![
        ("command", shlex_line(argv)),
        ("folder", cwd.to_string_lossy().into_owned()),
        ("commit", commit.to_string()),
        ("started", started.to_owned()),
    ];
    header.extend(env.iter().map(|(name, value)| ("env", format!("{name}={value}"))));
    header
}

/// Takes the file that the measure is read from into the run's log.
fn keep_file(measure: &Measure, slot: &Slot, log: &Path) -> Result<(), ProcessError> {
    let wanted = measure.file.as_deref();
    let Some(file) = wanted.and_then(|pattern| only_match(&slot.out(), pattern)) else {
        return Ok(());
    };
    process::attach(log, &file).map_err(|source| ProcessError::Log { path: log.to_owned(), source })
}

/// The one file below a folder that matches; none where several do.
fn only_match(folder: &Path, pattern: &str) -> Option<PathBuf> {
    let plain = folder.join(pattern);
    if plain.exists() {
        return Some(plain);
    }
    // Brackets in the folder's own name are no pattern.
    let pattern = format!("{}/{pattern}", glob::Pattern::escape(folder.to_str()?));
    let mut found = glob::glob(&pattern).ok()?.filter_map(Result::ok).filter(|path| path.is_file());
    let first = found.next()?;
    found.next().is_none().then_some(first)
}

/// A command as it could be typed.
fn shlex_line(words: &[String]) -> String {
    shlex::try_join(words.iter().map(String::as_str)).unwrap_or_else(|_| words.join(" "))
}
