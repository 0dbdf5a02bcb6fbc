//! `start` and `resume`: begin or continue a hunt.

use anyhow::anyhow;

use crate::config::Config;
use crate::evaluation::{Aim, Metric, Outcome, Within};
use crate::git::Repository;
use crate::hunt::{self, Asked};
use crate::process::Stop;
use crate::report;
use crate::store::journal::SearchBy;
use crate::store::{HuntDir, Store};
use crate::ui::{Ui, text};

use super::args::{Hunt, Start};
use super::configuration::configuration;
use super::locate::{here, hunt_here, program};
use super::watch::Watch;
use super::{Failed, exit, init, unavailable};

/// The default of `--good` and `--bad`.
const NEWEST: &str = "HEAD";

/// `start`.
pub fn run(args: &Start, ui: Ui, stop: &Stop) -> Result<u8, Failed> {
    unavailable::start(args)?;
    let repository = here()?;
    let new = args
        .recipe
        .is_given()
        .then(|| init::New::propose(&repository, &args.recipe, args.config.as_deref(), ui));
    let new = new.transpose()?;
    let config = match &new {
        Some(new) => new.config.clone(),
        None => configuration(args.config.as_deref(), &repository)?,
    };
    let asked = Asked {
        good: args.good.clone().unwrap_or_else(|| NEWEST.to_owned()),
        bad: args.bad.clone().unwrap_or_else(|| NEWEST.to_owned()),
        aim: if args.find_fix { Aim::Fix } else { Aim::Regression },
        search: search_by(&args.search)?,
        spread_of: args.target_of.as_deref().map(spread_of).transpose()?,
        first_parent: args.first_parent,
        first_only: args.first_only,
        skip: args.skip.clone(),
        paths: args.paths.clone(),
    };
    let (hunt, store) = begun(&repository, &config, &asked, ui)?;
    if let Some(new) = new {
        // Written only after the hunt began: wrong arguments must not leave a file.
        new.write(ui);
    }
    drive(&repository, &store, &hunt, ui, stop)
}

/// The metric of `METRIC=spread`.
fn spread_of(text: &str) -> Result<Metric, Failed> {
    let refused = |what: String| {
        let hint = "write METRIC=spread, as in --target-of ppl=spread";
        Failed::usage(anyhow!("--target-of {text}: {what}"), Some(hint.to_owned()))
    };
    let Some((metric, of)) = text.split_once('=') else {
        return Err(refused("what of it?".to_owned()));
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
pub fn begin(
    repository: &Repository,
    config: &Config,
    asked: &Asked,
    ui: Ui,
    stop: &Stop,
) -> Result<u8, Failed> {
    let (hunt, store) = begun(repository, config, asked, ui)?;
    drive(repository, &store, &hunt, ui, stop)
}

/// Begins a hunt; returns its folder and the store in use.
fn begun(
    repository: &Repository,
    config: &Config,
    asked: &Asked,
    ui: Ui,
) -> Result<(HuntDir, Store), Failed> {
    let begun = hunt::begin(repository, config, asked).map_err(Failed::hunt)?;
    ui.line(&format!("hunt: {}", begun.0.id()));
    Ok(begun)
}

/// `resume`.
pub fn resume(args: &Hunt, ui: Ui, stop: &Stop) -> Result<u8, Failed> {
    let (repository, hunt) = hunt_here(args.hunt.as_deref())?;
    let hunt = hunt::outermost(&hunt);
    ui.line(&format!("hunt: {}", hunt.id()));
    let store = Store::open_to_measure(repository.common_dir()).map_err(Failed::store)?;
    drive(&repository, &store, &hunt, ui, stop)
}

/// Runs a hunt to its end, and then the hunts inside dependencies that follow from it.
fn drive(
    repository: &Repository,
    store: &Store,
    hunt: &HuntDir,
    ui: Ui,
    stop: &Stop,
) -> Result<u8, Failed> {
    let code = drive_one(repository, hunt, ui, stop)?;
    while let Some(inner) = hunt::descend(repository, store, hunt).map_err(Failed::hunt)? {
        let begun = hunt::begun(&inner).map_err(Failed::hunt)?;
        if let Some(Within { path, commit, .. }) = begun.within {
            let name = text::commit(&commit.commit, &commit.subject);
            ui.line(&format!("hunt: {}, inside {} of {name}", inner.id(), text::line(&path)));
        }
        drive_one(repository, &inner, ui, stop)?;
    }
    if !hunt.inside().map_err(Failed::store)?.is_empty() {
        let written = hunt::publish(repository, hunt).map_err(Failed::hunt)?;
        let report = written.map_err(report_failed)?;
        ui.answer(&report::inside_answer(&report)).map_err(Failed::stdout)?;
    }
    Ok(code)
}

fn drive_one(repository: &Repository, hunt: &HuntDir, ui: Ui, stop: &Stop) -> Result<u8, Failed> {
    let _lock = hunt.lock().map_err(Failed::store)?;
    let watch = Watch::begin(hunt, ui.is_terminal());
    let result = hunt::drive(repository, hunt, program()?, stop);
    watch.end();
    // An interrupted hunt has a report too, so it is written before errors are returned.
    let written = hunt::publish(repository, hunt);
    let finding = result.map_err(Failed::hunt_under_way)?;
    let report = written.map_err(Failed::hunt)?.map_err(report_failed)?;
    ui.answer(&report::terminal_answer(&report)).map_err(Failed::stdout)?;
    debug_assert_ne!(finding.outcome, Outcome::Interrupted, "an answer is not an interruption");
    Ok(exit::of_outcome(finding.outcome))
}

/// The error of a report that cannot be made or written.
pub fn report_failed(error: report::ReportError) -> Failed {
    match error {
        report::ReportError::Store(error) => Failed::store(error),
        other => {
            let hint = other.hint();
            Failed::usage(other.into(), hint)
        }
    }
}
