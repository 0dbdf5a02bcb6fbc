//! Opens a hunt from its folder, for the driver and for every oracle that git starts.

use std::path::Path;

use crate::build::Slots;
use crate::config::Config;
use crate::git::{GitError, History, Laying, Repository};
use crate::hunt::HuntError;
use crate::hunt::begin::{checkout_of, user_cache};
use crate::oracle::{
    ControlSlot, Engine, Facts, Launcher, Oracle, OracleError, Pins, Recipes, Recorder, SlotPool,
    StoredRuns,
};
use crate::process::Stop;
use crate::store::journal::{Begun, Event};
use crate::store::{HuntDir, Store};

/// An oracle for a hunt. Reads the hunt's journal and its stored configuration, never the
/// `oracle.toml` of the checkout, which changes from commit to commit.
pub fn open(
    repository: &Repository,
    hunt: &HuntDir,
    stop: &Stop,
) -> Result<(Oracle, Begun), HuntError> {
    let begun = begun(hunt)?;
    let config = frozen(hunt, &begun)?;
    let store = Store::open_to_measure(repository.common_dir())?;
    let facts = Facts {
        inputs: begun.inputs.clone(),
        environment: begun.environment.clone(),
        surroundings: begun.surroundings.clone(),
        machine: begun.machine.clone(),
    };
    let oracle = Oracle {
        history: history(repository, &begun)?,
        recipes: Recipes {
            engine: Engine { history: History::open(repository)?, within: begun.within.clone() },
            config,
            pins: Pins { revisions: begun.revisions.clone(), patches: begun.patches.clone() },
            laying: laying(repository, &store),
            facts,
            store: store.clone(),
        },
        store,
        pool: SlotPool::new(Slots::new(Path::new(&begun.slots)).map_err(OracleError::from)?),
        checkout: checkout_of(&begun),
        recorder: Recorder::of(hunt)?,
        stop: stop.clone(),
        control: ControlSlot::of(hunt),
        stored: StoredRuns::default(),
        launcher: Launcher::new(&user_cache()),
    };
    Ok((oracle, begun))
}

/// The configuration with which the hunt began. A changed configuration would apply other rules to
/// stored runs, or measure something else in the middle of the hunt.
pub(crate) fn frozen(hunt: &HuntDir, begun: &Begun) -> Result<Config, HuntError> {
    let text = hunt.config_text(&begun.config_sha256)?;
    let text = text.ok_or_else(|| HuntError::Altered(hunt.config()))?;
    Ok(Config::parse(&text, Path::new(&begun.base), "the hunt's oracle.toml")?)
}

/// The history that a hunt searches: the repository's or a dependency's.
pub fn history(repository: &Repository, begun: &Begun) -> Result<History, GitError> {
    match &begun.within {
        None => History::open(repository),
        Some(within) => History::open(&repository.of_submodule(Path::new(&within.git_dir))?),
    }
}

/// Makes modified trees in the store's folder `pending`, which is cleaned up after killed
/// processes.
pub(crate) fn laying(repository: &Repository, store: &Store) -> Laying {
    Laying::new(repository, &store.root().join("pending"))
}

/// The event with which the hunt's journal begins.
pub fn begun(hunt: &HuntDir) -> Result<Begun, HuntError> {
    hunt.entries()?
        .into_iter()
        .find_map(|entry| match entry.event {
            Event::Begun(begun) => Some(*begun),
            _ => None,
        })
        .ok_or(HuntError::NoBeginning)
}
