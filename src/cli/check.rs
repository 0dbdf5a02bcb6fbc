//! `check`: lists the problems that would stop a hunt, before it starts; one line each, with the
//! remedy.

mod compiler_cache;
mod disk;
mod lines;
mod programs;
mod shared_cache;
mod slurm;
mod timed;
mod trial;

use crate::config::{Config, LoadError};
use crate::evaluation::{Aim, CommitId, Resource};
use crate::git::{GitError, History, Repository, check_link, git_version};
use crate::hunt::{self, HuntRequest, UsageError};
use crate::oracle::{check_readable, machine};
use crate::process::Stop;
use crate::search::steps_of;
use crate::store::Store;
use crate::ui::{Ui, text};

use super::args::Check;
use super::locate::{config_path, current_folder};
use super::start::{NEWEST, spread_of};
use super::unnamed::{Unnamed, unnamed};
use super::{Failed, exit, init};
use disk::{disk, spelling, writable};
use lines::Lines;
use timed::timed;

/// `check`.
pub(crate) fn run(args: &Check, ui: Ui, stop: &Stop) -> Result<u8, Failed> {
    let mut lines = Lines::default();
    match git_version() {
        Ok(version) => lines.ok("git", &version.to_string()),
        Err(error) => lines.fail("git", &error.to_string(), error.hint()),
    }
    let folder = current_folder()?;
    let repository = match Repository::discover(&folder) {
        Ok(repository) => Some(repository),
        Err(error) => {
            lines.fail("repository", &error.to_string(), error.hint());
            None
        }
    };
    let repository = repository.as_ref();
    let config = configuration(&mut lines, args, repository);
    let history = repository.and_then(|repository| history(&mut lines, repository));
    let asked = asked(args)?;
    let mut commit = None;
    if let Some(history) = &history {
        commit = revisions(&mut lines, history, config.as_ref(), args, &asked);
    }
    if let Some(config) = &config {
        if let Some(history) = &history {
            surroundings(&mut lines, history, config);
            git_lfs(&mut lines, history, config);
            descends(&mut lines, history, config);
        }
        programs::check(&mut lines, config);
        named_later(&mut lines, config);
        timed(&mut lines, config);
        compiler_cache::check(&mut lines, config);
        paths(&mut lines, config, repository);
        slurm::check(&mut lines, config);
    }
    if let Some(repository) = repository {
        store(&mut lines, repository);
        let cache = hunt::default_slots(repository);
        let cure = "commits are built there; make it writable, set XDG_CACHE_HOME, or name \
                    another place with `dir` under [worktree]";
        let configured = config.as_ref().and_then(|config| config.worktree.dir.as_deref());
        let slots = configured.unwrap_or(&cache);
        writable(&mut lines, "cache", slots, cure);
        if let Some(history) = &history {
            spelling(&mut lines, history, slots, &asked);
        }
        disk(&mut lines, repository.common_dir());
    }
    let machine = machine();
    let gpus = if machine.gpus.is_empty() { "no GPU".to_owned() } else { machine.gpus.join(", ") };
    lines.ok(
        "machine",
        &format!("{}, {}, {gpus}", machine.cpu, text::plural(machine.cores, "core")),
    );
    if args.build
        && lines.is_well()
        && let (Some(repository), Some(config), Some(commit)) = (repository, &config, &commit)
    {
        trial::check(&mut lines, repository, config, commit, (ui, stop))?;
    }
    let next = if has_range(args) {
        start(args)
    } else {
        "bisect-ppl check --good REV, which checks the range too".to_owned()
    };
    let out = if args.json { lines.json() } else { lines.text(&next) };
    ui.out(&out).map_err(Failed::stdout)?;
    Ok(if lines.is_well() { exit::DONE } else { exit::FAILED })
}

/// Whether the arguments give both ends of a range. In a hunt for a fix the good end is the newest
/// commit unless it is given.
fn has_range(args: &Check) -> bool {
    args.good.is_some() || args.find_fix
}

/// The command that hunts in the range that was checked, quoted for a shell.
fn start(args: &Check) -> String {
    let mut words = vec!["bisect-ppl", "start"];
    if let Some(good) = &args.good {
        words.extend(["--good", good]);
    }
    if let Some(bad) = &args.bad {
        words.extend(["--bad", bad]);
    }
    let config = args.config.as_ref().map(|path| path.display().to_string());
    if let Some(config) = &config {
        words.extend(["--config", config]);
    }
    words.extend(args.find_fix.then_some("--find-fix"));
    words.extend(args.first_parent.then_some("--first-parent"));
    for skip in &args.skip {
        words.extend(["--skip", skip]);
    }
    if let Some(target) = &args.target_of {
        words.extend(["--target-of", target]);
    }
    if !args.paths.is_empty() {
        words.push("--");
        words.extend(args.paths.iter().map(String::as_str));
    }
    // An argument cannot contain NUL, so quoting does not fail.
    let command = shlex::try_join(words.iter().copied());
    text::line(&command.unwrap_or_else(|_| words.join(" ")))
}

/// The request that `start` would make with these arguments.
fn asked(args: &Check) -> Result<HuntRequest, Failed> {
    Ok(HuntRequest {
        good: args.good.clone().unwrap_or_else(|| NEWEST.to_owned()),
        bad: args.bad.clone().unwrap_or_else(|| NEWEST.to_owned()),
        aim: if args.find_fix { Aim::Fix } else { Aim::Regression },
        spread_of: args.target_of.as_deref().map(spread_of).transpose()?,
        first_parent: args.first_parent,
        skip: args.skip.clone(),
        paths: args.paths.clone(),
        ..HuntRequest::default()
    })
}

fn configuration(
    lines: &mut Lines,
    args: &Check,
    repository: Option<&Repository>,
) -> Option<Config> {
    let path = config_path(args.config.as_deref(), repository);
    match Config::load(&path) {
        Ok(config) => {
            lines.ok("config", &path.to_string_lossy());
            Some(config)
        }
        Err(error) => {
            for (index, line) in error.to_string().lines().enumerate() {
                let cure = match (&error, index) {
                    (LoadError::Missing { .. }, _) => Some(init::offer()),
                    (_, 0) => error.hint_in_check().map(str::to_owned),
                    _ => None,
                };
                lines.fail("config", line, cure);
            }
            None
        }
    }
}

fn history(lines: &mut Lines, repository: &Repository) -> Option<History> {
    let top = repository.top().unwrap_or(repository.common_dir());
    lines.ok("repository", &top.to_string_lossy());
    match History::open(repository) {
        Ok(history) => Some(history),
        Err(error) => {
            lines.fail("history", &error.to_string(), error.hint());
            None
        }
    }
}

/// The ends, and the range between them if both are given. Returns the commit that `--build`
/// tries: the good end, else the bad one.
fn revisions(
    lines: &mut Lines,
    history: &History,
    config: Option<&Config>,
    args: &Check,
    asked: &HuntRequest,
) -> Option<CommitId> {
    let has_range = has_range(args);
    let mut found = Vec::new();
    let good = has_range.then_some(("good", &asked.good));
    for (name, revision) in good.into_iter().chain([("bad", &asked.bad)]) {
        match history.resolve(revision).and_then(|commit| history.info(&commit)) {
            Ok(info) => {
                lines.ok(name, &format!("{} {}", info.id.short(), info.subject));
                found.push(info.id);
            }
            // With a range, the check of the range below reports this error.
            Err(error) if !has_range => lines.fail(name, &error.to_string(), error.hint()),
            Err(_) => {}
        }
    }
    if has_range {
        let checked = match config {
            Some(config) => hunt::range(history, config, asked).map(|range| Some(range.commits)),
            None => hunt::ends(history, asked).map(|_| None),
        };
        match checked {
            Ok(Some(commits)) => {
                let steps = text::plural(steps_of(commits), "step");
                lines.ok("range", &format!("{}, about {steps}", text::plural(commits, "commit")));
            }
            Ok(None) => {}
            Err(problems) => refused(lines, &problems),
        }
    }
    found.into_iter().next()
}

/// What `start` checks besides the configuration file. Adds a line for each problem, and one for
/// each input, link, patch and overlay without a problem.
fn surroundings(lines: &mut Lines, history: &History, config: &Config) {
    for name in config.inputs.keys().filter(|name| check_readable(config, name).is_ok()) {
        let shown = config.input_value(name).map(|path| path.to_string_lossy().into_owned());
        lines.ok("input", &format!("{name}: {}", shown.unwrap_or_default()));
    }
    if let Some(top) = history.repository().top() {
        for name in config.worktree.link.iter().filter(|name| check_link(top, name).is_ok()) {
            lines.ok("link", name);
        }
    }
    match hunt::surroundings(history, config) {
        Ok(_) => {
            for patch in &config.patches {
                lines.ok("patch", patch.source.name());
            }
            for overlay in &config.overlays {
                lines.ok("overlay", &format!("{} of {}", overlay.paths.join(" "), overlay.from));
            }
        }
        Err(problems) => refused(lines, &problems),
    }
}

/// The problems for which `start` would refuse.
fn refused(lines: &mut Lines, problems: &[UsageError]) {
    for problem in problems {
        let what = match problem {
            UsageError::Git(GitError::LinkName(_) | GitError::LinkSourceMissing { .. }) => "link",
            UsageError::Git(
                GitError::UnknownRevision { .. }
                | GitError::Ambiguous { .. }
                | GitError::NotACommit { .. },
            ) => "revision",
            UsageError::Git(_) | UsageError::Pin(_) => "laid over",
            UsageError::Input(_) => "input",
            UsageError::NotText { .. } | UsageError::Shared(_) => "folder",
            UsageError::NoDependency(_) => "descend",
            UsageError::NoSuchMetric { .. } => "metric",
            UsageError::Sandbox(_) => "sandbox",
            UsageError::TooFewSlots { .. }
            | UsageError::SlotsInModeAuto { .. }
            | UsageError::NoSuchCpu { .. } => "slots",
            UsageError::Config(_) => "config",
            UsageError::Verify(_) => "report",
            UsageError::SameCommit(_)
            | UsageError::Reversed { .. }
            | UsageError::NoPath { .. }
            | UsageError::NothingTouches(_)
            | UsageError::AllIgnored(_) => "range",
        };
        let mut about = problem.to_string();
        let mut cause = std::error::Error::source(problem);
        while let Some(error) = cause {
            let said = error.to_string();
            if !about.contains(&said) {
                about = format!("{about}: {said}");
            }
            cause = error.source();
        }
        lines.fail(what, &about, problem.hint());
    }
}

/// The store: whether this program knows its format, and may write to it.
fn store(lines: &mut Lines, repository: &Repository) {
    let common = repository.common_dir();
    let checked = Store::open(common).and_then(|store| store.check_own(common));
    if let Err(error) = checked {
        return lines.fail("store", &error.to_string(), error.hint());
    }
    let store = common.join("bisect-ppl");
    writable(lines, "store", &store, "what is measured is kept there; make it writable");
}

/// Warns of files that commands use but no run key contains.
fn paths(lines: &mut Lines, config: &Config, repository: Option<&Repository>) {
    for one in unnamed(config, repository.and_then(Repository::top)) {
        let Unnamed { written, place, input } = one;
        let stale = "if it changes, stored results of the old file are used again";
        let (about, cure) = match input {
            Some(name) => (
                format!(
                    "`{written}` is the input {name}, but {place} names it by its path: {stale}"
                ),
                format!("write {{inputs.{name}}}"),
            ),
            None if place.starts_with("build.") => (
                format!(
                    "`{written}` is named in {place} and not in [inputs]: stored results do not \
                     depend on its content"
                ),
                "if the build reads it, add it to [inputs] and write {inputs.NAME}; if the build \
                 writes it, let it write below {build}, since all commits share this place"
                    .to_owned(),
            ),
            None => (
                format!("`{written}` is named in {place} and not in [inputs]: {stale}"),
                "add it to [inputs] and write {inputs.NAME}".to_owned(),
            ),
        };
        lines.warn("path", &about, &cure);
    }
}

/// Lists guards on metrics whose names only a run shows.
fn named_later(lines: &mut Lines, config: &Config) {
    for guard in &config.guards {
        let Some(measure) = config.measure(&guard.metric.measure) else { continue };
        let is_known = Resource::of(&guard.metric).is_some();
        if measure.parser.names().is_none() && !is_known {
            let about = format!(
                "{}: known only after a run of {}; `bisect-ppl measure REV` lists what it yields",
                guard.metric, measure.name
            );
            lines.ok("metric", &about);
        }
    }
}

/// Warns of files in Git LFS if `lfs` is not set.
fn git_lfs(lines: &mut Lines, history: &History, config: &Config) {
    let has_some = |head| history.file_contains(&head, ".gitattributes", "filter=lfs");
    if !config.worktree.lfs && history.resolve("HEAD").and_then(has_some).unwrap_or(false) {
        let about = "commits keep files in Git LFS; these files stay pointers of three lines";
        lines.warn(
            "lfs",
            about,
            "set `lfs = true` under [worktree] where builds or runs read them",
        );
    }
}

/// Checks `descend`: the path is a submodule or a folder, and the submodule's commits are here.
fn descends(lines: &mut Lines, history: &History, config: &Config) {
    let Some(path) = &config.worktree.descend else { return };
    let Ok(head) = history.resolve("HEAD") else { return };
    let is_pinned = history.pin(&head, path).is_ok_and(|pin| pin.is_some());
    if is_pinned && !history.submodule(&head, path).is_ok_and(|place| place.is_some()) {
        let about = format!("this clone does not have the commits of {path}");
        lines.warn("descend", &about, &format!("`git submodule update --init {path}`"));
    } else if history.at(&head, path).is_ok_and(|there| !there.may_be_a_folder()) {
        let about = format!("{path} is neither a submodule nor a folder at HEAD");
        lines.warn("descend", &about, "correct `descend` under [worktree]");
    } else {
        lines.ok("descend", path);
    }
}
