//! `schema`: the JSON schema of `oracle.toml`, for editors.

use crate::config;
use crate::ui::Ui;

use super::{Failed, exit};

/// `schema`.
pub(crate) fn run(ui: Ui) -> Result<u8, Failed> {
    ui.out(&config::schema()).map_err(Failed::stdout)?;
    Ok(exit::DONE)
}
