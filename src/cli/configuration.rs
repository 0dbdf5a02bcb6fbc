//! Loads the configuration of a command.

use std::path::Path;

use crate::config::{Changes, Config, LoadError};
use crate::evaluation::OptionChange;
use crate::git::Repository;
use crate::hunt::UsageError;

use super::locate::config_path;
use super::{Failed, init};

/// The configuration. If there is no file, the error's hint offers `init`.
pub(super) fn configuration(
    named: Option<&Path>,
    repository: &Repository,
) -> Result<Config, Failed> {
    load(&config_path(named, Some(repository)))
}

/// The configuration in this file.
pub(super) fn load(path: &Path) -> Result<Config, Failed> {
    Config::load(path).map_err(failed)
}

/// The configuration with the `--set` and `--arg` of a command, and a list of what they changed.
pub(super) fn changed(
    named: Option<&Path>,
    repository: &Repository,
    changes: Changes<'_>,
) -> Result<(Config, Vec<OptionChange>), Failed> {
    Config::load_changed(&config_path(named, Some(repository)), changes).map_err(failed)
}

fn failed(error: LoadError) -> Failed {
    match error {
        LoadError::Missing { .. } => {
            let hint = init::offer();
            Failed::usage(error.into(), Some(hint))
        }
        other => Failed::hunt(UsageError::from(other).into()),
    }
}
