//! Makes a build in a slot: checkout, commands, stamp.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::Write;
use std::path::Path;
use std::time::Instant;

use serde::{Deserialize, Serialize};

use crate::differ;
use crate::evaluation::{
    ChangedDuring, Compiled, Ended, Failure, FailureKind, FailureLogParser, Fault, LONGEST_LINE,
    Phase, WrittenFiles, fault_of,
};
use crate::git::{CommonFiles, GitError, Worktree};
use crate::process::{self, Invocation, Keep, LogFile};
use crate::store::{BuildRecord, PendingLog, StoreError, attempt_name, publish_log};

use super::compiler_cache::CompilerCaches;
use super::failed_attempts::FailedAttempts;
use super::git_questions::{GitWatch, git_events};
use super::linked::Linked;
use super::private_folders::private_folders;
use super::progress::Reporter;
use super::room::size_of;
use super::setup::{place, setup};
use super::slot::boot;
use super::stored_failure::failure;
use super::unbuilt::unbuildable_record;
use super::{BuildError, BuildRequest, Stamp};

/// Messages of a full or read-only disk: no commit can build then.
const DISK_FULL_MESSAGES: [&str; 2] = ["No space left on device", "Read-only file system"];

/// Messages of compilers and linkers that ran out of memory or were killed: this commit may need
/// more than others. In this order: gcc, gcc before 9, collect2, clang, LLVM, gcc's and GNU ld's
/// allocators, the C library, rustc, and a program in C++.
const OUT_OF_MEMORY_MESSAGES: [&str; 9] = [
    "Killed signal terminated program",
    "internal compiler error: Killed",
    "terminated with signal 9 [Killed]",
    "unable to execute command: Killed",
    "LLVM ERROR: out of memory",
    "memory exhausted",
    "Cannot allocate memory",
    "(signal: 9, SIGKILL: kill)",
    "std::bad_alloc",
];

/// Added to a failure's text if the kernel killed a process for lack of memory during the build.
const KILLED: &str = "the kernel killed a process for lack of memory meanwhile";

/// Added to a failure's text if the build ran in the sandbox, which may be the reason.
const SANDBOXED: &str =
    " ([run] sandbox is on: the build had no network, and could write only to its own folders)";

/// A finished build attempt.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Built {
    /// The record, as stored.
    pub record: BuildRecord,
    /// This machine cannot build the commit: the build twice ran out of memory or of another
    /// resource, or the disk refuses its files. The commit is untestable here.
    pub starved: bool,
    /// How the earlier attempts failed, if the build worked when it was tried again.
    pub failed_before: Vec<Failure>,
}

/// Checks the commit out into the slot and builds it. A build that fails is tried again, from an
/// empty folder, before its failure is stored. If the second attempt fails in another way, a third
/// one decides.
pub(crate) fn build(request: BuildRequest<'_>) -> Result<Built, BuildError> {
    let mut tried = attempt(request, is_incremental(request))?;
    let mut failed = FailedAttempts::default();
    while let (Some(failure), Some(fault)) = (&tried.record.failure, tried.fault)
        && !tried.record.commands.is_empty()
        && failed.is_tried_again(request.phase, failure, fault)
    {
        failed.add(failure.clone(), fault, tried.record.wall_s);
        tried = after(tried, attempt(request, false)?);
    }
    tried.record.failed_attempts = failed.cost();
    let starved = matches!(tried.fault, Some(Fault::Resource));
    if matches!(tried.fault, Some(Fault::Machine)) {
        let failure = tried.record.failure;
        if let Some(Ended::NotFound(program)) = failure.as_ref().and_then(Failure::ended) {
            return Err(BuildError::Missing(program.clone()));
        }
        let reason = failure.map_or_else(String::new, |failure| failure.detail);
        return Err(BuildError::MachineFault { commit: request.commit.short().to_owned(), reason });
    }
    let folder = request.store.build_log(&tried.record);
    publish_log(tried.log.path(), &folder)?;
    // These failures are not stored: one for lack of resources, since the commit may build another
    // day or on another disk; one of a control, which tells only about the machine; and the first
    // one of a build with an empty home folder that only checks the answer.
    let is_check =
        request.phase == Phase::Control || request.recipe.home.is_check_in(request.phase);
    let is_failed = tried.record.failure.is_some();
    let is_kept = !starved && (!is_check || !is_failed || is_known_to_fail(request)?);
    if is_kept {
        let kept = request.store.put_build(&tried.record);
        if kept.is_err() {
            // A log without a record is never read.
            std::fs::remove_file(&folder).ok();
        }
        kept?;
    }
    if tried.record.failure.is_none() {
        request.slots.set_last_size(size_of(request.slot))?;
        request.slot.set_stamp(&Stamp {
            build_key: request.key.clone(),
            commit: request.commit.clone(),
            phase: request.phase,
            hunt: request.hunt.map(str::to_owned),
            attempt: tried.record.attempt.clone(),
            finished: tried.record.finished.clone(),
            boot: boot(),
            kept: None,
            taken_by: None,
        })?;
    }
    let failed_before =
        if tried.record.failure.is_none() { failed.into_failures() } else { Vec::new() };
    Ok(Built { record: tried.record, starved, failed_before })
}

/// Whether a stored build with the same key failed, so that another failure may be stored too.
/// False for a control.
fn is_known_to_fail(request: BuildRequest<'_>) -> Result<bool, StoreError> {
    let builds = request.store.builds(request.key)?;
    Ok(request.phase != Phase::Control && builds.iter().any(|build| build.failure.is_some()))
}

/// One attempt, not yet stored.
struct Attempt {
    record: BuildRecord,
    log: PendingLog,
    fault: Option<Fault>,
    /// Whether commands wrote files that git tracks, among files of an earlier checkout.
    is_mixed: bool,
}

/// `keeps_build`: whether the build goes on from the files of the build before.
fn attempt(request: BuildRequest<'_>, keeps_build: bool) -> Result<Attempt, BuildError> {
    let tried = attempt_once(request, keeps_build)?;
    // What was made may depend on the commit that the slot held before. This attempt is the first
    // in the repository's slots of which that is known; those after it check out all files anew.
    if tried.is_mixed { Ok(after(tried, attempt_once(request, false)?)) } else { Ok(tried) }
}

/// The attempt after another one. It may find what the other one left in the common git folder.
fn after(before: Attempt, mut next: Attempt) -> Attempt {
    next.record.git_folder = before.record.git_folder.or(next.record.git_folder);
    next
}

fn attempt_once(request: BuildRequest<'_>, keeps_build: bool) -> Result<Attempt, BuildError> {
    let begun = Instant::now();
    let name = attempt_name();
    let slot = request.slot;
    slot.clear_stamp()?;
    let keeps_build = keeps_build && slot.is_whole();
    slot.clear_whole()?;
    let pending = request.store.pending_log(&name)?;
    let (worktree, is_kept) = match prepare(request, keeps_build) {
        Err(BuildError::Git(error @ GitError::CheckoutImpossible(_))) => {
            let record = unbuildable_record(request, name, pending.path(), &error)?;
            let fault = Some(Fault::Resource);
            return Ok(Attempt { record, log: pending, fault, is_mixed: false });
        }
        other => other?,
    };
    let log = pending.path();
    // Without build commands the log is empty, but it must exist.
    std::fs::File::create(log).map_err(StoreError::at(log))?;
    let linked = Linked::below(&slot.src(), &request.recipe.links);
    let env = &request.recipe.env;
    let own = private_folders(slot, request.recipe.home, request.phase)?;
    let mut own: Vec<(&str, OsString)> =
        own.into_iter().map(|(name, folder)| (name, folder.into())).collect();
    let caches = CompilerCaches::begin(slot.root(), env, may_use_direct_mode(request));
    own.extend(caches.variables().iter().cloned());
    let git = GitWatch::begin(slot);
    let shared = CommonFiles::of(request.repository);
    let mut commands = Vec::new();
    let mut printed = Compiled::default();
    let mut failed = None;
    for words in &request.recipe.commands {
        commands.push(words.clone());
        failed = run_command(request, words, (&own, env), log, &mut printed)?;
        if failed.is_some() {
            break;
        }
    }
    let asked_git = git.finish();
    let git_folder = shared.change(request.commit, ChangedDuring::Build);
    if failed.as_ref().is_none_or(|(failure, fault)| is_whole(failure, *fault)) {
        slot.set_whole()?;
    }
    linked.check("the build", request.commit.short())?;
    let counted = caches.end();
    let (failure, fault) = failed.unzip();
    // Read before `reset` restores lock files that the build changed.
    let setup = match fault {
        None | Some(Fault::Commit) if request.phase != Phase::Control => {
            setup_of(request, fault.is_none() && !keeps_build, printed)?
        }
        _ => None,
    };
    let reset = worktree.reset_and_compare()?;
    if reset.is_written {
        slot.set_rewrites_tracked_files()?;
    }
    let record = BuildRecord {
        attempt: name,
        build_key: request.key.clone(),
        commit: request.commit.clone(),
        phase: request.phase,
        commands,
        finished: jiff::Timestamp::now().to_string(),
        wall_s: begun.elapsed().as_secs_f64(),
        failure,
        prepare: None,
        compiler_cache: counted,
        setup,
        log_sha256: None,
        failed_attempts: None,
        asked_git,
        git_folder,
        written: WrittenFiles::of(&reset.changed),
        node: request.node.map(str::to_owned),
    };
    let is_mixed = reset.is_written && is_kept && !keeps_build;
    Ok(Attempt { record, log: pending, fault, is_mixed })
}

/// Whether a failed command ended by itself and finished the files that it wrote.
fn is_whole(failure: &Failure, fault: Fault) -> bool {
    fault == Fault::Commit && matches!(failure.ended(), Some(Ended::Exited(_)))
}

/// Stores the build's setup.
fn setup_of(
    request: BuildRequest<'_>,
    is_whole: bool,
    printed: Compiled,
) -> Result<Option<String>, StoreError> {
    // An incremental or failed build prints only a part of the compiler commands.
    let printed = if is_whole { printed } else { Compiled::default() };
    let mut setup = setup(request.slot, &request.checkout_spec.commit, printed, is_whole);
    setup.probes.clone_from(request.probes);
    request.store.keep_setup(&setup)
}

/// Prepares the slot: the exact checkout, the links, and fresh folders. Also returns whether the
/// checkout kept files of an earlier one.
fn prepare(request: BuildRequest<'_>, keeps_build: bool) -> Result<(Worktree, bool), BuildError> {
    let slot = request.slot;
    let checkout_spec = request.checkout_spec.clone();
    let mut worktree =
        Worktree::add_detached(request.repository, &slot.src(), &checkout_spec.commit)?;
    if !keeps_build && begins_empty(request) {
        worktree.remove_files()?;
    }
    let is_kept = worktree.has_files();
    worktree.check_out(checkout_spec)?;
    if let Some(checkout) = request.checkout {
        worktree.link(checkout, &request.recipe.links)?;
    }
    if !keeps_build || !slot.build().exists() {
        slot.remove_all_but_checkout()?;
        slot.fresh(&slot.build())?;
    }
    slot.fresh(&slot.cache())?;
    slot.fresh(&slot.out())?;
    Ok((worktree, is_kept))
}

/// Whether a clean build begins with an empty folder, so that the times of all files are those of a
/// clone. At the ends, such a build shows whether the commands write files that git tracks.
fn begins_empty(request: BuildRequest<'_>) -> bool {
    request.phase == Phase::Endpoint || request.slot.rewrites_tracked_files()
}

/// Whether the build is incremental, on top of the previous one.
fn is_incremental(request: BuildRequest<'_>) -> bool {
    request.recipe.is_incremental && matches!(request.phase, Phase::Search | Phase::Endpoint)
}

/// Whether the build may use the direct mode of a compiler cache. This mode may return an object of
/// another commit, so only builds of a search use it: a confirmation builds without it, and finds
/// such an error.
fn may_use_direct_mode(request: BuildRequest<'_>) -> bool {
    request.recipe.direct_mode && request.phase == Phase::Search
}

/// Runs one build command. Appends its output to the build's log and its printed compiler commands
/// to `printed`. `env`: our variables, and the declared ones, which replace them.
fn run_command(
    request: BuildRequest<'_>,
    words: &[String],
    env: (&[(&str, OsString)], &BTreeMap<String, String>),
    log: &Path,
    printed: &mut Compiled,
) -> Result<Option<(Failure, Fault)>, BuildError> {
    let part = log.with_extension("part");
    let is_sandboxed = request.recipe.sandbox;
    let mut invocation = Invocation::new(&words[0])
        .args(&words[1..])
        .cwd(request.slot.src())
        .timeout(Some(request.recipe.timeout))
        .cpus(&request.recipe.cpus)
        .sandbox(is_sandboxed.then(|| request.slot.sandbox()))
        .mark(request.slot.mark())
        .git_events(git_events(request.slot));
    for (name, value) in env.0 {
        invocation = invocation.env(name, value);
    }
    for (name, value) in env.1 {
        invocation = invocation.env(name, value);
    }
    let mut machine = None;
    let mut complaints = FailureLogParser::default();
    let transient = &request.recipe.transient;
    let file = LogFile { path: &part, header: &[], sync: false };
    let place = place(request.slot, &request.checkout_spec.commit);
    let mut progress = Reporter::new(request.progress);
    let killed = process::oom_kills(Path::new("/"));
    let finished = process::run(&invocation, request.stop, &file, &mut |stream, line| {
        let text = String::from_utf8_lossy(line);
        differ::printed_command(&text, &place, printed);
        progress.see(&text);
        let is_complaint = complaints.feed(stream, line, line.len() < LONGEST_LINE);
        let known = DISK_FULL_MESSAGES
            .iter()
            .chain(&OUT_OF_MEMORY_MESSAGES)
            .copied()
            .chain(transient.iter().map(String::as_str));
        for sign in known {
            if text.contains(sign) {
                machine = Some(sign.to_owned());
                return Keep::Yes;
            }
        }
        if is_complaint { Keep::Yes } else { Keep::No }
    })?;
    append(&part, log, words)?;
    if finished.ended == Ended::Stopped {
        let limit = request.stop.limit().cloned();
        return Err(limit.map_or(BuildError::Stopped, BuildError::Limit));
    }
    if finished.ended.is_success() {
        return Ok(None);
    }
    let killed = killed.zip(process::oom_kills(Path::new("/")));
    let is_out_of_memory = killed.is_some_and(|(before, after)| after > before);
    let mut detail = format!("`{}`: {}", words.join(" "), finished.ended);
    if let Some(sign) = &machine {
        detail = format!("{detail}; its output says `{sign}`");
    }
    if is_out_of_memory {
        detail = format!("{detail}; {KILLED}");
    }
    if is_sandboxed {
        detail += SANDBOXED;
    }
    let is_transient = machine.is_some() || is_out_of_memory;
    let heard = complaints.finish(FailureKind::Build, &finished.ended);
    let failure = failure(&finished.ended, detail).heard(heard);
    let program = match &finished.ended {
        // The missing program may be a script's interpreter.
        Ended::NotFound(missing) => Path::new(missing),
        _ => Path::new(&words[0]),
    };
    let in_tree =
        program.starts_with(request.slot.src()) || program.starts_with(request.slot.build());
    let is_disk = machine.as_deref().is_some_and(|sign| DISK_FULL_MESSAGES.contains(&sign));
    let fault = match fault_of(&finished.ended, &failure, is_transient, in_tree) {
        Fault::Resource if is_disk => Fault::Machine,
        // An unclear failure counts as the commit's. The oracle may make a control build later;
        // that costs a whole build, so it is rare.
        Fault::Unclear => Fault::Commit,
        other => other,
    };
    Ok(Some((failure, fault)))
}

/// Appends one command's log to the build's log.
fn append(part: &Path, log: &Path, words: &[String]) -> Result<(), StoreError> {
    let bytes = std::fs::read(part).map_err(StoreError::at(part))?;
    let mut file = std::fs::OpenOptions::new()
        .create(true)
        .append(true)
        .open(log)
        .map_err(StoreError::at(log))?;
    writeln!(file, "# build: {}", words.join(" ").escape_debug())
        .and_then(|()| file.write_all(&bytes))
        .and_then(|()| file.sync_all())
        .map_err(StoreError::at(log))?;
    std::fs::remove_file(part).map_err(StoreError::at(part))
}
