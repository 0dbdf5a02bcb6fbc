//! `store forget`: removes what is stored of a commit, so that it is measured again.

use std::fmt::Write as _;

use crate::cli::args::StoreForget;
use crate::cli::{Failed, exit};
use crate::git::{History, Repository};
use crate::hunt::{UsageError, remove_leftovers};
use crate::store::{Forget, Store};
use crate::ui::{Ui, text};

/// `store forget`.
pub(crate) fn run(
    args: &StoreForget,
    repository: &Repository,
    store: &Store,
    ui: Ui,
) -> Result<u8, Failed> {
    let git = |error| Failed::hunt(UsageError::from(error).into());
    let history = History::open(repository).map_err(git)?;
    let commit = history.resolve(&args.commit).map_err(git)?;
    let name = text::commit(&commit, &history.info(&commit).map_err(git)?.subject);
    let what = match (args.builds, args.runs) {
        (false, false) => Forget { runs: true, builds: true },
        (builds, runs) => Forget { runs, builds },
    };
    if !store.root().exists() {
        ui.out(&nothing(&name)).map_err(Failed::stdout)?;
        return Ok(exit::DONE);
    }
    let tidying = store.tidy().map_err(Failed::store)?;
    let (waste, hunts) = tidying.of_commit(&commit, what).map_err(Failed::store)?;
    if waste.runs + waste.builds == 0 {
        ui.out(&nothing(&name)).map_err(Failed::stdout)?;
        return Ok(exit::DONE);
    }
    if what.builds {
        // A slot of a killed hunt may still hold the build.
        remove_leftovers(repository, store).map_err(Failed::hunt)?;
    }
    tidying.remove(&waste).map_err(Failed::store)?;
    let records = [(waste.runs, "run"), (waste.builds, "build record")];
    let records = records.into_iter().filter(|(count, _)| *count > 0);
    let records: Vec<String> = records.map(|(count, noun)| text::plural(count, noun)).collect();
    let mut out = format!("removed {} of {name}\n", records.join(" and "));
    if waste.others > 0 {
        let others = text::plural(waste.others, "record");
        // Writing to a string cannot fail.
        let _ = writeln!(out, "removed with them: {others} of confirmations and controls");
    }
    if !hunts.is_empty() {
        let _ = writeln!(
            out,
            "{} used these ({}): answers, reports and logs stay; a stopped hunt measures again",
            text::plural(hunts.len(), "hunt"),
            hunts.join(", ")
        );
    }
    ui.out(&out).map_err(Failed::stdout)?;
    Ok(exit::DONE)
}

fn nothing(name: &str) -> String {
    format!("nothing is stored of {name}\n")
}
