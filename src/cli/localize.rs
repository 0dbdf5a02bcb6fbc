//! `localize`: looks for the cause inside one commit: a hunt from the commit's parent to the
//! commit.

use anyhow::anyhow;

use crate::config::Changes;
use crate::git::History;
use crate::hunt::{HuntRequest, UsageError};
use crate::process::Stop;
use crate::ui::Ui;

use super::args::Localize;
use super::configuration::changed;
use super::locate::here;
use super::{Failed, start};

/// `localize`.
pub(crate) fn run(args: &Localize, ui: Ui, stop: &Stop) -> Result<u8, Failed> {
    let repository = here()?;
    let changes = Changes { set: &args.set, arg: &args.arg };
    let (config, changes) = changed(args.config.as_deref(), &repository, changes)?;
    let refused = |error: UsageError| Failed::hunt(error.into());
    let history = History::open(&repository).map_err(|error| refused(error.into()))?;
    let commit = history.resolve(&args.commit).map_err(|error| refused(error.into()))?;
    let parents = history.parents(&commit).map_err(|error| refused(error.into()))?;
    let Some(parent) = parents.first() else {
        let error = anyhow!("{} has no parent to compare it with", commit.short());
        return Err(Failed::usage(error, None));
    };
    let asked = HuntRequest {
        good: parent.to_string(),
        bad: args.commit.clone(),
        // The commit itself, even if it is a merge.
        first_parent: true,
        first_only: true,
        localize: true,
        allow_failure_hunt: true,
        changes,
        ..HuntRequest::default()
    };
    start::begin(&repository, &config, &asked, ui, stop)
}
