//! The conditions for a hunt to begin. `start` names the first problem and begins nothing; `check`
//! names all problems. Both use these functions, so that they cannot differ. Nothing here writes.

use std::path::Path;

use crate::build::Slots;
use crate::config::{BuildMode, Config, Measure};
use crate::evaluation::{Aim, CommitId, CommitInfo, Metric};
use crate::files;
use crate::git::{History, Range, check_link, pathspec};
use crate::hunt::UsageError;
use crate::hunt::terms::SearchTerms;
use crate::oracle::{Pins, ResolvedPins, check_readable};
use crate::process::{check_sandbox, usable_cpus};
use crate::store::journal::Options;

use super::hunt_request::HuntRequest;
use super::slots_folder::{slots_folder, user_cache};

/// A range of history that a hunt can search.
#[derive(Clone, Debug)]
pub(crate) struct ExaminedRange {
    /// The good end.
    pub good: CommitInfo,
    /// The bad end.
    pub bad: CommitInfo,
    /// How many commits may be the first bad one.
    pub commits: usize,
    /// The options, with revisions as commits.
    pub options: Options,
}

/// The folders and revisions that a hunt uses.
pub(crate) struct CheckedEnvironment {
    /// The folder of the slots, where commits are built.
    pub slots: String,
    /// The folder that relative paths in the configuration start from.
    pub base: String,
    /// The top of the checkout; `None` in a bare repository.
    pub checkout: Option<String>,
    /// The revisions and patches that the configuration names.
    pub pins: ResolvedPins,
}

/// Checks the endpoints, and the options that belong to them.
pub(crate) fn range(
    history: &History,
    config: &Config,
    asked: &HuntRequest,
) -> Result<ExaminedRange, Vec<UsageError>> {
    let mut problems = Vec::new();
    if let Some(metric) = &asked.spread_of {
        note(&mut problems, check_metric(config, metric));
    }
    note(&mut problems, check_slots(config, asked.slots));
    let found = ends(history, asked).map_err(|mut of_ends| {
        of_ends.append(&mut problems);
        of_ends
    });
    let [good, bad] = found?;
    if let Some(path) = &config.worktree.descend {
        note(&mut problems, check_dependency(history, [&good.commit, &bad.commit], path));
    }
    let mut skip = Vec::new();
    for revision in &asked.skip {
        skip.extend(note(&mut problems, history.resolve(revision).map_err(UsageError::from)));
    }
    let options = Options {
        aim: asked.aim,
        search: asked.search,
        spread_of: asked.spread_of.clone(),
        first_parent: asked.first_parent,
        first_only: asked.first_only,
        localize: asked.localize,
        allow_failure_hunt: asked.allow_failure_hunt,
        skip,
        paths: pathspecs(config, &asked.paths),
        retry_failed: asked.retry_failed,
        slots: asked.slots,
        limits: asked.limits.clone(),
        changes: asked.changes.clone(),
    };
    let all = Range {
        first_parent: options.first_parent,
        paths: options.paths.clone(),
        ..SearchTerms::of(asked.aim).range_between(&good.commit, &bad.commit)
    };
    let counted = history.count(&all).map_err(UsageError::from).and_then(|commits| match commits {
        0 if asked.paths.is_empty() => Err(UsageError::AllIgnored(config.file().to_owned())),
        0 => Err(UsageError::NothingTouches(asked.paths.join(" "))),
        some => Ok(some),
    });
    match note(&mut problems, counted) {
        Some(commits) if problems.is_empty() => Ok(ExaminedRange { good, bad, commits, options }),
        _ => Err(problems),
    }
}

/// The good and the bad end: two commits with a path between them.
pub(crate) fn ends(
    history: &History,
    asked: &HuntRequest,
) -> Result<[CommitInfo; 2], Vec<UsageError>> {
    let mut problems = Vec::new();
    let mut end = |revision: &str| {
        let found = history.resolve(revision).and_then(|commit| history.named(&commit));
        note(&mut problems, found.map_err(UsageError::from))
    };
    let (good, bad) = (end(&asked.good), end(&asked.bad));
    let (Some(good), Some(bad)) = (good, bad) else { return Err(problems) };
    check_path(history, &good.commit, &bad.commit, asked.aim).map_err(|problem| vec![problem])?;
    Ok([good, bad])
}

/// Checks that the configuration lists as many slots as the command line asks for, and that its
/// build mode allows them.
fn check_slots(config: &Config, asked: Option<u32>) -> Result<(), UsageError> {
    let asked = asked.map(|asked| usize::try_from(asked).unwrap_or(usize::MAX));
    match (asked, config.executor.listed()) {
        (Some(asked), Some(listed)) if asked > listed => {
            Err(UsageError::TooFewSlots { file: config.file().to_owned(), asked, listed })
        }
        (Some(asked), _) if asked > 1 && config.build.mode == BuildMode::Auto => {
            Err(UsageError::SlotsInModeAuto { asked })
        }
        _ => Ok(()),
    }
}

/// Checks that this process may use the CPUs of all slots.
fn check_cpus(config: &Config) -> Result<(), UsageError> {
    let usable = usable_cpus().unwrap_or_default();
    for (slot, wanted) in config.executor.slots.iter().enumerate() {
        if let Some(cpu) = wanted.cpus.iter().copied().find(|cpu| !usable.contains(cpu)) {
            let (place, usable) = (config.place_of_cpus(slot), usable.into_iter().collect());
            return Err(UsageError::NoSuchCpu { place, slot: slot + 1, cpu, usable });
        }
    }
    Ok(())
}

/// Checks everything that does not depend on the endpoints: folders, links, inputs, patches.
pub(crate) fn surroundings(
    history: &History,
    config: &Config,
) -> Result<CheckedEnvironment, Vec<UsageError>> {
    let mut problems = Vec::new();
    let repository = history.repository();
    let folder = slots_folder(config, repository);
    let own = files::check_own(&user_cache(), None).and_then(|()| Slots::check_own(&folder));
    note(&mut problems, own.map_err(UsageError::from));
    let slots = text("the folder to build in", &folder);
    let slots = note(&mut problems, slots);
    let base = note(&mut problems, text("the configuration", &config.base));
    let top = repository.top();
    let checkout = top.map(|top| text("the checkout", top)).transpose();
    let checkout = note(&mut problems, checkout);
    if let Some(top) = top {
        for name in &config.worktree.link {
            note(&mut problems, check_link(top, name).map_err(UsageError::from));
        }
    }
    note(&mut problems, check_cpus(config));
    if config.run.sandbox {
        note(&mut problems, check_sandbox().map_err(UsageError::from));
    }
    for name in config.inputs.keys() {
        note(&mut problems, check_readable(config, name).map_err(UsageError::from));
    }
    let pins = note(&mut problems, Pins::find(config, history).map_err(UsageError::from));
    match (slots, base, checkout, pins) {
        (Some(slots), Some(base), Some(checkout), Some(pins)) if problems.is_empty() => {
            Ok(CheckedEnvironment { slots, base, checkout, pins })
        }
        _ => Err(problems),
    }
}

/// The value. If there is an error instead, adds it to the list and returns `None`.
fn note<T>(problems: &mut Vec<UsageError>, result: Result<T, UsageError>) -> Option<T> {
    result.map_err(|problem| problems.push(problem)).ok()
}

/// Refuses a metric that no measure yields.
fn check_metric(config: &Config, metric: &Metric) -> Result<(), UsageError> {
    let known = |measure: &Measure| measure.parser.may_yield(metric.name.as_deref());
    if config.measure(&metric.measure).is_some_and(known) {
        return Ok(());
    }
    let names = config.measures.iter().flat_map(|measure| {
        let names = measure.parser.names().unwrap_or_else(|| vec![Some("NAME".to_owned())]);
        let of = |name| Metric { measure: measure.name.clone(), name }.to_string();
        names.into_iter().map(of).collect::<Vec<_>>()
    });
    Err(UsageError::NoSuchMetric {
        metric: metric.to_string(),
        known: names.collect::<Vec<_>>().join(", "),
    })
}

/// Refuses a dependency path that neither end has.
fn check_dependency(history: &History, ends: [&CommitId; 2], path: &str) -> Result<(), UsageError> {
    for end in ends {
        if history.at(end, path)?.may_be_a_folder() {
            return Ok(());
        }
    }
    Err(UsageError::NoDependency(path.to_owned()))
}

/// A folder's path as text. Commands and the journal contain it, so it must be UTF-8.
pub(crate) fn text(what: &'static str, path: &Path) -> Result<String, UsageError> {
    let text = path.to_str().map(str::to_owned);
    text.ok_or_else(|| UsageError::NotText { what, path: path.to_owned() })
}

fn check_path(
    history: &History,
    good: &CommitId,
    bad: &CommitId,
    aim: Aim,
) -> Result<(), UsageError> {
    if good == bad {
        return Err(UsageError::SameCommit(good.clone()));
    }
    let (good_name, bad_name) = (good.short().to_owned(), bad.short().to_owned());
    let terms = SearchTerms::of(aim);
    let [old, new] = terms.older_and_newer([good, bad]);
    if history.is_ancestor(new, old)? {
        let old = format!("{} ({})", terms.older(), old.short());
        let new = format!("{} ({})", terms.newer(), new.short());
        return Err(UsageError::Reversed { old, new, aim });
    }
    if history.merge_bases(good, bad)?.is_empty() {
        return Err(UsageError::NoPath { good: good_name, bad: bad_name });
    }
    Ok(())
}

/// `-- PATH…` and `ignore` and `paths` of `[build]`, as git's pathspecs. If they hide the first bad
/// commit, the confirmation notices: it measures the parents of the claimed commit, hidden or not.
fn pathspecs(config: &Config, asked: &[String]) -> Vec<String> {
    let mut specs: Vec<String> = asked.to_vec();
    specs.extend(config.build.paths.iter().map(|path| pathspec(path)));
    let ignored: Vec<String> =
        config.build.ignore.iter().map(|path| format!(":(top,glob,exclude){path}")).collect();
    if specs.is_empty() && !ignored.is_empty() {
        specs.push(":(top)".to_owned());
    }
    specs.extend(ignored);
    specs
}
