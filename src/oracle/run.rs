//! One run of a measure's command in a slot. The run is stored before it counts.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use glob::MatchOptions;
use jiff::Timestamp;

use crate::build::{Linked, Slot, Stamp, private_folders, written_in_home};
use crate::config::{Config, Measure, Values};
use crate::evaluation::{
    ChangedDuring, CommitId, Dumped, Ended, GitFolderChange, Host, Loaded, MachineState,
    MachineStates, Phase, Resources, RunRecord,
};
use crate::files::{self, Entries, below};
use crate::git::{CheckoutSpec, CommonFiles, Repository, Worktree};
use crate::measure::Reader;
use crate::process::{self, Finished, Keep, LogFile, ProcessError, Stop};
use crate::store::{BuildRecord, RunKey, Store, StoreError, StoredRun, attempt_name};
use crate::ui::text;

use super::find_program::find_program;
use super::loaded::{AllowedPaths, LoadWatch, is_older};
use super::port_watch::PortWatch;
use super::setting::Setting;
use super::{Facts, OracleError};

/// What to run, and where.
#[derive(Clone, Copy)]
pub(super) struct RunRequest<'a> {
    pub(super) repository: &'a Repository,
    pub(super) store: &'a Store,
    pub(super) slot: &'a Slot,
    /// The stamp of the slot's build.
    pub(super) stamp: &'a Stamp,
    pub(super) commit: &'a CommitId,
    /// The commit's files.
    pub(super) checkout_spec: &'a CheckoutSpec,
    /// Values of the placeholders.
    pub(super) values: &'a Values,
    /// The user's checkout. A run may load only linked folders and inputs from it.
    pub(super) checkout: Option<&'a Path>,
    pub(super) config: &'a Config,
    pub(super) measure: &'a Measure,
    pub(super) key: &'a RunKey,
    pub(super) facts: &'a Facts,
    pub(super) phase: Phase,
    /// Whether the run is a warm-up, which does not count.
    pub(super) warm_up: bool,
    /// Whether it matters that an older server may have answered the run.
    pub(super) asks_for_server: bool,
    pub(super) hunt: Option<&'a str>,
    /// When the hunt began.
    pub(super) hunt_began: Option<SystemTime>,
    /// Whether the search has not asked for the run yet.
    pub(super) ahead: bool,
    pub(super) stop: &'a Stop,
    /// Fails if a file from outside the slot differs from what other runs loaded.
    pub(super) same: &'a dyn Fn(&RunRecord) -> Result<(), OracleError>,
    /// For each run of the good endpoint that worked, the lines of its output which say that an
    /// address is in use.
    pub(super) at_good: &'a dyn Fn() -> Vec<Vec<String>>,
    /// The computer.
    pub(super) host: &'a Host,
    /// Reads the machine's state.
    pub(super) look: &'a dyn Fn() -> MachineState,
}

/// Runs the measure and stores the run, whatever the engine did. Errors: a stop, a failure to
/// run or store, files from outside the commit, or a changed input or linked folder.
pub(super) fn run(order: RunRequest<'_>) -> Result<StoredRun, OracleError> {
    let RunRequest { slot, measure, .. } = order;
    slot.fresh(&slot.out())?;
    let watch = LoadWatch::begin(slot)?;
    let linked = Linked::below(&slot.src(), &order.config.worktree.link);
    let empty_home = order.config.home.is_check_in(order.phase);
    let private = private_folders(slot, order.config.home, order.phase)?;
    let setting = Setting::of(order.config, measure, order.values, slot, &watch, private)?;
    let argv = setting.words(&measure.command)?;
    let attempt = attempt_name();
    let started = Timestamp::now().to_string();
    let pending = order.store.pending_log(&attempt)?;
    let log = pending.path();
    let quietly = |words: &[String]| {
        let quiet = LogFile { path: &log.with_extension("aside"), header: &[], sync: false };
        process::run(&setting.invocation(words), order.stop, &quiet, &mut |_, _| Keep::No)
    };

    let mut header = header(order.commit, &argv, &setting, &started);
    let shared = CommonFiles::of(order.repository);
    let failed_before = run_before(measure, &setting, &quietly, &mut header)?;
    if let Some(place) = find_program(slot, &argv[0]) {
        header.push(("elsewhere", place));
    }
    let output = LogFile { path: log, header: &header, sync: true };
    let mut machine = None;
    let mut mapped = Vec::new();
    let mut ports = PortWatch::begin(order.config.run.sandbox, order.asks_for_server);
    let (ended, used) = if let Some(ended) = failed_before {
        // The engine did not run; the log's header names the command that failed.
        let words = ["true".to_owned()];
        process::run(&setting.invocation(&words), order.stop, &output, &mut |_, _| Keep::No)?;
        (ended, Resources::default())
    } else {
        let mut reader = Reader::new(measure, &order.config.requires);
        let before = (order.look)();
        let invocation = setting.invocation(&argv);
        let done = process::run(&invocation, order.stop, &output, &mut |stream, line| {
            let is_kept = reader.line(stream, line) | ports.line(line);
            if is_kept { Keep::Yes } else { Keep::No }
        })?;
        let used = done.used();
        mapped = done.mapped;
        machine = Some(MachineStates { before, after: (order.look)() });
        (done.ended, used)
    };
    let ports = ports.finish(&ended, slot, order.stop, order.at_good);
    for command in &measure.after {
        quietly(&setting.words(command)?)?;
    }
    let git_folder = git_folder_change(&order, &shared)?;
    let wrote_home = empty_home.then(|| written_in_home(slot)).flatten();
    let loaded = loaded(&order, &setting, watch, &argv[0], &mapped);
    let dumps = keep_file(measure, slot, log, order.store, order.stop)?;
    reset_checkout(order.repository, slot, order.checkout_spec)?;
    if ended == Ended::Stopped || order.stop.is_requested() {
        return Err(OracleError::stopped(order.stop));
    }
    let mut loaded = loaded?;
    let put_back = put_back(order.store, order.stamp, &loaded)?;
    loaded.answered_by = ports.answered_by;
    linked.check(&format!("a run of {}", measure.name), order.commit.short())?;
    // An input that changed during the run makes the run invalid.
    order.facts.check_inputs(order.config, order.store)?;
    let record = RunRecord {
        attempt,
        run_key: order.key.to_string(),
        measure: measure.name.clone(),
        commit: order.commit.clone(),
        phase: order.phase,
        hunt: order.hunt.map(str::to_owned),
        argv,
        cwd: setting.cwd().to_string_lossy().into_owned(),
        slot: slot.root().to_string_lossy().into_owned(),
        cpus: order.config.executor.cpus().to_vec(),
        env: setting.env().clone(),
        started,
        used,
        ended,
        built: order.stamp.finished.clone(),
        warm_up: order.warm_up,
        prepare: None,
        ahead: order.ahead,
        alone: measure.is_exclusive(),
        host: Some(order.host.clone()),
        machine,
        loaded: Some(loaded),
        same_as: None,
        same_commit: None,
        empty_home,
        wrote_home,
        git_folder,
        put_back,
        dumps,
        taken_port: ports.taken,
        log_sha256: None,
    };
    (order.same)(&record)?;
    Ok(order.store.put_run(&record, log)?)
}

/// Runs the commands before the measure's own, and adds to the log's header how each ended. Returns
/// how the first one that failed ended.
fn run_before(
    measure: &Measure,
    setting: &Setting<'_>,
    run: &dyn Fn(&[String]) -> Result<Finished, ProcessError>,
    header: &mut Vec<(&'static str, String)>,
) -> Result<Option<Ended>, OracleError> {
    for command in &measure.before {
        let words = setting.words(command)?;
        let done = run(&words)?;
        header.push(("before", format!("{}: {}", text::typed(&words), done.ended)));
        if !done.ended.is_success() {
            return Ok(Some(done.ended));
        }
    }
    Ok(None)
}

/// What changed in the common git folder during the run, or else during its build.
fn git_folder_change(
    order: &RunRequest<'_>,
    shared: &CommonFiles,
) -> Result<Option<GitFolderChange>, StoreError> {
    let during = ChangedDuring::Run(order.measure.name.clone());
    if let Some(change) = shared.change(order.commit, during) {
        return Ok(Some(change));
    }
    let build = build_record(order.store, order.stamp)?;
    Ok(build.and_then(|build| build.git_folder))
}

/// The files that git tracks, that the build with this stamp wrote, and that a run of it opened.
/// They were put back after the build. Empty if the build's record is gone.
pub(super) fn put_back(
    store: &Store,
    stamp: &Stamp,
    loaded: &Loaded,
) -> Result<Vec<String>, StoreError> {
    let written = build_record(store, stamp)?.and_then(|build| build.written);
    Ok(written.map_or_else(Vec::new, |written| written.opened_in(loaded)))
}

/// Restores the tracked files of a slot's checkout. Marks the slots if one of them was written.
pub(super) fn reset_checkout(
    repository: &Repository,
    slot: &Slot,
    checkout_spec: &CheckoutSpec,
) -> Result<(), OracleError> {
    let worktree = Worktree::with_checkout(repository, &slot.src(), checkout_spec.clone())?;
    if slot.rewrites_tracked_files() {
        worktree.reset_unseen()?;
    } else if worktree.reset()? {
        slot.set_rewrites_tracked_files()?;
    }
    Ok(())
}

/// The files that the run loaded; an error if one does not belong to the commit.
fn loaded(
    order: &RunRequest<'_>,
    setting: &Setting<'_>,
    watch: LoadWatch,
    program: &str,
    mapped: &[PathBuf],
) -> Result<Loaded, OracleError> {
    let RunRequest { slot, measure, .. } = *order;
    let ground = AllowedPaths { slot, checkout: order.checkout, allowed: allowed(order) };
    let library_path = setting.library_path();
    let found = watch.finish(&ground, program, mapped, library_path.as_deref(), order.store)?;
    let mut loaded = found.map_err(|leak| OracleError::Leak {
        measure: measure.name.clone(),
        commit: order.commit.short().to_owned(),
        path: leak.path,
        whose: leak.whose,
    })?;
    if !loaded.copies.is_empty() {
        // The build or the run itself may install the commit. A build of an earlier hunt counts as
        // made when this hunt began: what it installed may be another commit's by now.
        let hunt_began = order.hunt_began.and_then(|time| Timestamp::try_from(time).ok());
        let built = build_begin(order)?;
        let began = built.map(|built| hunt_began.map_or(built, |hunt| hunt.max(built)));
        loaded.copies.retain(|copy| began.is_some_and(|time| is_older(copy.path.as_ref(), time)));
    }
    // The watch does not list the outputs of `[[prepare]]`, which depend on the build too.
    loaded.is_whole &= order.config.prepares_of(measure.templates()).is_empty();
    Ok(loaded)
}

/// When the build that runs began, with its failed attempts; `None` if its record is gone.
fn build_begin(order: &RunRequest<'_>) -> Result<Option<Timestamp>, StoreError> {
    Ok(build_record(order.store, order.stamp)?.and_then(|build| {
        let failed = build.failed_attempts.map_or(0.0, |cost| cost.wall_s);
        let took = Duration::try_from_secs_f64(build.wall_s + failed).ok()?;
        build.finished.parse::<Timestamp>().ok()?.checked_sub(took).ok()
    }))
}

/// The record of the build with this stamp; `None` if it is gone.
fn build_record(store: &Store, stamp: &Stamp) -> Result<Option<BuildRecord>, StoreError> {
    let builds = store.builds(&stamp.build_key)?;
    Ok(builds.into_iter().find(|build| build.attempt == stamp.attempt))
}

/// The paths that a run may load from the user's checkout: linked folders, and inputs.
fn allowed(order: &RunRequest<'_>) -> Vec<PathBuf> {
    let links = order.checkout.into_iter().flat_map(|checkout| {
        order.config.worktree.link.iter().map(move |link| checkout.join(link))
    });
    let inputs = order.facts.inputs.values().map(|input| PathBuf::from(&input.path));
    links.chain(inputs).collect()
}

/// The header of a run's log.
fn header(
    commit: &CommitId,
    argv: &[String],
    setting: &Setting<'_>,
    started: &str,
) -> Vec<(&'static str, String)> {
    let mut header = vec![
        ("command", text::typed(argv)),
        ("folder", setting.cwd().to_string_lossy().into_owned()),
        ("commit", commit.to_string()),
        ("started", started.to_owned()),
    ];
    let env = setting.env().iter();
    header.extend(env.map(|(name, value)| ("env", format!("{name}={value}"))));
    header
}

/// Appends the file that the measure is read from to the run's log. A file with tensors goes into
/// the store instead.
fn keep_file(
    measure: &Measure,
    slot: &Slot,
    log: &Path,
    store: &Store,
    stop: &Stop,
) -> Result<Vec<Dumped>, OracleError> {
    let wanted = measure.file.as_deref();
    let Some(file) = wanted.and_then(|pattern| only_match(&slot.out(), pattern, stop)) else {
        return Ok(Vec::new());
    };
    if measure.parser.keeps_dumps() {
        let inner = file.strip_prefix(slot.out()).unwrap_or(&file);
        return Ok(store.keep_dumps(&file, &inner.to_string_lossy())?);
    }
    let failed = |source| ProcessError::Log { path: log.to_owned(), source };
    process::attach(log, &file).map_err(failed)?;
    Ok(Vec::new())
}

/// Most entries of `{out}` that a pattern is compared with.
const MOST_ENTRIES: usize = 100_000;

/// The single file below a folder that matches; `None` if several match. Links that the engine left
/// there are not followed, not even on the way to the file.
fn only_match(folder: &Path, pattern: &str, stop: &Stop) -> Option<PathBuf> {
    let pattern = pattern.trim_start_matches("./");
    let plain = folder.join(pattern);
    if plain.symlink_metadata().is_ok() && files::is_plain_path(folder, Path::new(pattern)) {
        return Some(plain);
    }
    let pattern = glob::Pattern::new(pattern).ok()?;
    let options = MatchOptions { require_literal_separator: true, ..MatchOptions::new() };
    let is_stopped = || stop.is_requested();
    let is_link = !files::is_plain_path(folder, Path::new(""));
    let all = if is_link { Entries::default() } else { below(folder, MOST_ENTRIES, &is_stopped) };
    let mut found = all
        .found
        .iter()
        .filter(|(path, kind)| kind.is_file() && pattern.matches_path_with(path, options));
    let (first, _) = found.next()?;
    (found.next().is_none() && !all.is_cut).then(|| folder.join(first))
}
