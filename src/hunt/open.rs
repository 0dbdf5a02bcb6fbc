//! Takes up a hunt from its folder, as the driver and as every oracle that git calls.

use std::collections::BTreeSet;
use std::path::Path;

use crate::build::Slots;
use crate::config::Config;
use crate::git::{GitError, History, Laying, Repository};
use crate::oracle::{
    ControlSlot, Derivations, Engine, Facts, Launcher, Oracle, OracleError, Pins, Present, Recorder,
};
use crate::process::Stop;
use crate::store::journal::{Begun, Event};
use crate::store::{HuntDir, Store};

use super::HuntError;
use super::begin::{checkout_of, user_cache};

/// An oracle for a hunt, from its journal and its frozen configuration alone: never from the
/// file in the checkout, which changes from commit to commit.
pub fn open(
    repository: &Repository,
    hunt: &HuntDir,
    stop: &Stop,
) -> Result<(Oracle, Begun), HuntError> {
    let begun = begun(hunt)?;
    let config = frozen(hunt, &begun)?;
    let store = Store::open_to_measure(repository.common_dir())?;
    let oracle = Oracle {
        history: history(repository, &begun)?,
        engine: Engine { history: History::open(repository)?, within: begun.within.clone() },
        laying: laying(repository, &store),
        store,
        slots: Slots::new(Path::new(&begun.slots)).map_err(OracleError::from)?,
        config,
        facts: Facts {
            inputs: begun.inputs.clone(),
            environment: begun.environment.clone(),
            surroundings: begun.surroundings.clone(),
            machine: begun.machine.clone(),
        },
        checkout: checkout_of(&begun),
        recorder: Recorder::of(hunt)?,
        stop: stop.clone(),
        pins: Pins { revisions: begun.revisions.clone(), patches: begun.patches.clone() },
        control: ControlSlot::of(hunt),
        kept: Vec::new(),
        taken_over: BTreeSet::new(),
        present: Present::default(),
        launcher: Launcher::new(&user_cache()),
        derivations: Derivations::default(),
    };
    Ok((oracle, begun))
}

/// The configuration that a hunt began with. Another one would judge by other rules what was
/// measured under these, or measure something else in the middle of it.
pub(super) fn frozen(hunt: &HuntDir, begun: &Begun) -> Result<Config, HuntError> {
    let text = hunt.config_text(&begun.config_sha256)?;
    let text = text.ok_or_else(|| HuntError::Altered(hunt.config()))?;
    Ok(Config::parse(&text, Path::new(&begun.base), "the hunt's oracle.toml")?)
}

/// The commits that a hunt is about: the repository's, or a dependency's.
pub fn history(repository: &Repository, begun: &Begun) -> Result<History, GitError> {
    match &begun.within {
        None => History::open(repository),
        Some(within) => History::open(&repository.of_submodule(Path::new(&within.git_dir))?),
    }
}

/// Makes trees where what a killed process leaves is tidied away.
pub(super) fn laying(repository: &Repository, store: &Store) -> Laying {
    Laying::new(repository, &store.root().join("pending"))
}

/// How the hunt began.
pub fn begun(hunt: &HuntDir) -> Result<Begun, HuntError> {
    hunt.entries()?
        .into_iter()
        .find_map(|entry| match entry.event {
            Event::Begun(begun) => Some(*begun),
            _ => None,
        })
        .ok_or(HuntError::NoBeginning)
}
