//! `store`: lists, shows and removes stored measurements.

mod forget;
mod gc;
mod ls;
mod show;

use crate::store::Store;
use crate::ui::Ui;

use super::Failed;
use super::args::StoreCommand;
use super::locate::here;

/// `store`.
pub(crate) fn run(command: &StoreCommand, ui: Ui) -> Result<u8, Failed> {
    let repository = here()?;
    let store = Store::open(repository.common_dir()).map_err(Failed::store)?;
    match command {
        StoreCommand::Ls(args) => ls::run(args, &store, ui),
        StoreCommand::Show(args) => show::run(args, &repository, &store, ui),
        StoreCommand::Forget(args) => forget::run(args, &repository, &store, ui),
        StoreCommand::Gc(args) => gc::run(args, &repository, &store, ui),
    }
}
