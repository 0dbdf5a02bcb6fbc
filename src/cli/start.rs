//! `start` and `resume`: begin or continue a hunt.

use std::ffi::OsString;

use anyhow::anyhow;

use crate::config::{Changes, Config};
use crate::evaluation::{Aim, DependencyHunt, Finding, Limits, Metric, Outcome};
use crate::git::Repository;
use crate::hunt::{self, HuntRequest, JobKind};
use crate::process::Stop;
use crate::report;
use crate::store::journal::SearchBy;
use crate::store::{HuntDir, Store};
use crate::ui::{Ui, text};

use super::args::{Resume, Start};
use super::configuration::changed;
use super::ended::report_failed;
use super::locate::{config_path, here, hunt_here, program};
use super::watch::Watch;
use super::{Failed, detach, dry_run, exit, init, jobs, limits, notify};

/// The default of `--good` and `--bad`.
pub(super) const NEWEST: &str = "HEAD";

/// `start`.
pub(crate) fn run(args: &Start, ui: Ui, stop: &Stop) -> Result<u8, Failed> {
    let on_finish = notify::on_finish(&args.unattended)?;
    let repository = here()?;
    let changes = Changes { set: &args.set, arg: &args.arg };
    let is_there = || config_path(args.config.as_deref(), Some(&repository)).symlink_metadata();
    let writes = args.recipe.is_given() || (!args.set.is_empty() && is_there().is_err());
    let new = writes.then(|| {
        let options = (&args.recipe, &*args.set, &*args.arg);
        init::New::propose(&repository, options, args.config.as_deref())
    });
    let new = new.transpose()?;
    let (config, changes) = match &new {
        Some(new) => (new.config.clone(), new.changes.clone()),
        None => changed(args.config.as_deref(), &repository, changes)?,
    };
    let asked = HuntRequest {
        good: args.good.clone().unwrap_or_else(|| NEWEST.to_owned()),
        bad: args.bad.clone().unwrap_or_else(|| NEWEST.to_owned()),
        aim: if args.find_fix { Aim::Fix } else { Aim::Regression },
        search: search_by(&args.search)?,
        spread_of: args.target_of.as_deref().map(spread_of).transpose()?,
        first_parent: args.first_parent,
        first_only: args.first_only,
        localize: !args.no_localize,
        allow_failure_hunt: args.allow_failure_hunt,
        skip: args.skip.clone(),
        paths: args.paths.clone(),
        retry_failed: args.retry_failed,
        slots: args.slots,
        limits: limits::of(&args.unattended)?.unwrap_or_default(),
        changes,
    };
    limits::check_gpus(&asked.limits, &config.executor, config.file())?;
    if args.dry_run {
        return dry_run::run(&repository, &config, &asked, ui);
    }
    let (hunt, store) = begun(&repository, &config, &asked, ui)?;
    if let Some(new) = new {
        // Written only after the hunt began: wrong arguments must not leave a file.
        new.write(ui);
    }
    if args.detach {
        // The limits are stored with the hunt, so the driver needs no arguments for them.
        return detach::begin(&hunt, Vec::new(), args.unattended.on_finish.as_deref(), ui, stop);
    }
    let result = drive(&repository, &store, &hunt, (Course::New, Vec::new()), ui, stop);
    notify::tell(&hunt, on_finish.as_ref(), &result, ui, stop);
    result
}

/// The metric of `METRIC=spread`.
pub(super) fn spread_of(text: &str) -> Result<Metric, Failed> {
    let refused = |what: String| {
        let hint = "write METRIC=spread, as in --target-of ppl=spread";
        Failed::usage(anyhow!("--target-of {text}: {what}"), Some(hint.to_owned()))
    };
    let Some((metric, of)) = text.split_once('=') else {
        return Err(refused("`=spread` is missing".to_owned()));
    };
    if of != "spread" {
        return Err(refused(format!("`{of}` is not a known target")));
    }
    metric.parse().map_err(|error| refused(format!("{error}")))
}

fn search_by(how: &str) -> Result<SearchBy, Failed> {
    match how {
        "auto" => Ok(SearchBy::Auto),
        "git-bisect" => Ok(SearchBy::GitBisect),
        "posterior" => Ok(SearchBy::Posterior),
        other => Err(Failed::usage(
            anyhow!("--search {other}: unknown search method"),
            Some("allowed are auto, git-bisect and posterior".to_owned()),
        )),
    }
}

/// Begins a hunt and runs it to its end.
pub(crate) fn begin(
    repository: &Repository,
    config: &Config,
    asked: &HuntRequest,
    ui: Ui,
    stop: &Stop,
) -> Result<u8, Failed> {
    let (hunt, store) = begun(repository, config, asked, ui)?;
    let result = drive(repository, &store, &hunt, (Course::New, Vec::new()), ui, stop);
    notify::tell(&hunt, None, &result, ui, stop);
    result
}

/// Begins a hunt; returns its folder and the store in use.
fn begun(
    repository: &Repository,
    config: &Config,
    asked: &HuntRequest,
    ui: Ui,
) -> Result<(HuntDir, Store), Failed> {
    let begun = hunt::begin(repository, config, asked).map_err(Failed::hunt)?;
    ui.always(&format!("hunt: {}", begun.0.id()));
    Ok(begun)
}

/// `resume`.
pub(crate) fn resume(args: &Resume, ui: Ui, stop: &Stop) -> Result<u8, Failed> {
    let limits = limits::of(&args.unattended)?;
    let on_finish = notify::on_finish(&args.unattended)?;
    let (repository, hunt) = hunt_here(args.hunt.as_deref())?;
    let hunt = hunt::outermost(&hunt);
    if let Some(limits) = limits.as_ref().filter(|limits| limits.max_gpu_seconds.is_some()) {
        let executor = hunt::executor_of(&hunt).map_err(Failed::hunt_under_way)?;
        limits::check_gpus(limits, &executor, "the hunt's configuration")?;
    }
    ui.always(&format!("hunt: {}", hunt.id()));
    if args.detach {
        let on_finish = args.unattended.on_finish.as_deref();
        return detach::begin(&hunt, detach::limits(&args.unattended), on_finish, ui, stop);
    }
    let store = Store::open_to_measure(repository.common_dir()).map_err(Failed::store)?;
    if let Some(token) = &args.job {
        return jobs::inside(&repository, &hunt, token, JobKind::Drive, stop, || {
            drive_held(&repository, &store, &hunt, Course::Resumed(limits.as_ref()), ui, stop)
        });
    }
    let words = detach::limits(&args.unattended);
    let course = Course::Resumed(limits.as_ref());
    let result = drive(&repository, &store, &hunt, (course, words), ui, stop);
    notify::tell(&hunt, on_finish.as_ref(), &result, ui, stop);
    result
}

/// Whether the hunt began in another process.
#[derive(Clone, Copy)]
enum Course<'a> {
    New,
    /// With new limits, if any.
    Resumed(Option<&'a Limits>),
}

impl Course<'_> {
    /// Shows the hunt.
    fn watch(self, hunt: &HuntDir, ui: Ui) -> Watch {
        match self {
            Self::New => Watch::begin(hunt, ui),
            Self::Resumed(_) => Watch::resumed(hunt, ui),
        }
    }
}

/// Runs a hunt to its end, here or in jobs, and holds its lock meanwhile. `words`: further
/// arguments of `resume` for the first job.
fn drive(
    repository: &Repository,
    store: &Store,
    hunt: &HuntDir,
    (course, words): (Course<'_>, Vec<OsString>),
    ui: Ui,
    stop: &Stop,
) -> Result<u8, Failed> {
    let _lock = hunt.lock().map_err(Failed::store)?;
    if hunt::slurm_of(hunt).map_err(Failed::hunt_under_way)?.is_some() {
        return jobs::drive(repository, hunt, course.watch(hunt, ui), words, ui, stop);
    }
    drive_held(repository, store, hunt, course, ui, stop)
}

/// Runs a hunt to its end on this machine, and then the hunts inside dependencies that follow from
/// it. The caller, or the driver outside this job, holds the hunt's lock.
fn drive_held(
    repository: &Repository,
    store: &Store,
    hunt: &HuntDir,
    course: Course<'_>,
    ui: Ui,
    stop: &Stop,
) -> Result<u8, Failed> {
    let found = drive_one(repository, hunt, course, ui, stop)?;
    while let Some(inner) =
        hunt::descend(repository, store, hunt).map_err(Failed::hunt_under_way)?
    {
        let begun = hunt::begun(&inner).map_err(Failed::hunt_under_way)?;
        if let Some(DependencyHunt { path, commit, .. }) = begun.within {
            let name = text::commit(&commit.commit, &commit.subject);
            ui.always(&format!("hunt: {}, inside {} of {name}", inner.id(), text::line(&path)));
        }
        let _lock = inner.lock().map_err(Failed::store)?;
        if drive_one(repository, &inner, course, ui, stop)?.limit.is_some() {
            break;
        }
    }
    if !hunt.inside().map_err(Failed::store)?.is_empty() {
        let written = hunt::publish(repository, hunt).map_err(Failed::hunt_under_way)?;
        let report = written.map_err(|error| report_failed(error).resumable())?;
        ui.answer(&report::inside_answer(&report)).map_err(Failed::stdout)?;
    }
    Ok(exit::of_outcome(found.outcome))
}

/// Runs one hunt to its end. The caller holds its lock.
fn drive_one(
    repository: &Repository,
    hunt: &HuntDir,
    course: Course<'_>,
    ui: Ui,
    stop: &Stop,
) -> Result<Finding, Failed> {
    let limits = match course {
        Course::New => None,
        Course::Resumed(limits) => {
            hunt::renew(repository, hunt).map_err(Failed::hunt_under_way)?;
            limits
        }
    };
    let watch = course.watch(hunt, ui);
    let asker = |question: &str| watch.ask(question, stop);
    let program = program()?;
    let page = hunt::LivePage::begin(repository, hunt);
    let result = hunt::drive(repository, hunt, &program, stop, limits, &asker);
    // The live page ends here, so that it does not overwrite the final report, written next.
    drop(page);
    watch.end();
    // An interrupted hunt has a report too, so it is written before errors are returned.
    let written = hunt::publish(repository, hunt);
    let finding = result.map_err(Failed::hunt_under_way)?;
    let report = written
        .map_err(Failed::hunt_under_way)?
        .map_err(|error| report_failed(error).resumable())?;
    ui.answer(&report::terminal_answer(&report)).map_err(Failed::stdout)?;
    debug_assert_ne!(finding.outcome, Outcome::Interrupted, "an answer is not an interruption");
    Ok(finding)
}
