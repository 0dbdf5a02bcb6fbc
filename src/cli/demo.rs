//! `demo`: writes the bundled engine's history as a git repository and hunts in it.

use std::path::PathBuf;

use anyhow::anyhow;

use crate::demo::{self, LayoutError};
use crate::git::Repository;
use crate::hunt::{HuntRequest, UsageError};
use crate::process::Stop;
use crate::store::{Store, publish};
use crate::ui::Ui;

use super::args::Demo;
use super::{Failed, ended, exit, start};

/// `demo`.
pub(crate) fn run(args: &Demo, ui: Ui, stop: &Stop) -> Result<u8, Failed> {
    let scenario = demo::scenario(&args.scenario).map_err(|error| {
        Failed::usage(error.into(), Some("`bisect-ppl demo --help` names the scenarios".to_owned()))
    })?;
    let folder = match &args.dir {
        Some(folder) => folder.clone(),
        None => temporary().map_err(|error| {
            Failed::world(error.into(), Some("name a folder with --dir".to_owned()))
        })?,
    };
    ui.line(&format!("scenario {}: {}", args.scenario, scenario.title));
    ui.line(&format!("laying the bundled engine's history out in {}", folder.display()));
    demo::lay_out(&folder).map_err(failed)?;
    let git = |error: crate::git::GitError| Failed::hunt(UsageError::from(error).into());
    let repository = Repository::discover(&folder).map_err(git)?;
    let oracle_toml = folder.join("oracle.toml");
    let config = scenario
        .config(&oracle_toml)
        .map_err(|error| Failed::hunt(UsageError::from(error).into()))?;
    // The hunt's configuration lies in the folder, so that the user can repeat the hunt by hand.
    publish(&oracle_toml, config.text().as_bytes()).map_err(Failed::store)?;
    ui.line(&format!(
        "the same by hand: cd {} && bisect-ppl start --good {} --bad {}",
        folder.display(),
        scenario.good,
        scenario.bad
    ));
    let asked = HuntRequest {
        good: scenario.good.clone(),
        bad: scenario.bad.clone(),
        localize: true,
        ..HuntRequest::default()
    };
    let code = start::begin(&repository, &config, &asked, ui, stop)?;
    if code != exit::DONE {
        return Ok(code);
    }
    let hunt = Store::open(repository.common_dir())
        .and_then(|store| store.hunt(None))
        .map_err(Failed::store)?;
    let report = crate::report::Report::of(&hunt).map_err(ended::report_failed)?;
    let found = report.culprit.map(|culprit| culprit.commit);
    if found.as_ref() == Some(&scenario.expect) {
        ui.line("that is the commit in which the regression was planted");
        Ok(exit::DONE)
    } else {
        let error = anyhow!("the regression was planted in {}", scenario.expect);
        Err(Failed::unmet(error))
    }
}

fn temporary() -> std::io::Result<PathBuf> {
    tempfile::Builder::new().prefix("bisect-ppl-demo-").tempdir().map(tempfile::TempDir::keep)
}

fn failed(error: LayoutError) -> Failed {
    match &error {
        LayoutError::NotEmpty(_) => {
            Failed::usage(error.into(), Some("name an empty or a new folder with --dir".into()))
        }
        LayoutError::Git(git) => {
            let hint = git.hint();
            Failed::world(error.into(), hint)
        }
        LayoutError::Io { .. } => Failed::world(
            error.into(),
            Some("name another folder with --dir, one that can be written to".to_owned()),
        ),
        LayoutError::OtherIds { .. } | LayoutError::Plan(_) => {
            Failed::world(error.into(), Some("try another version of git".to_owned()))
        }
    }
}
