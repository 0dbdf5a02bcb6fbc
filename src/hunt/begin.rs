//! Begins a hunt: first checks everything, then creates the hunt's folder.

pub(crate) mod descend;
pub(crate) mod environment_changes;
pub(crate) mod examine;
pub(crate) mod hunt_request;
pub(crate) mod large_links;
pub(crate) mod open;
pub(crate) mod slots_folder;
pub(crate) mod tracked_inputs;

use std::path::{Path, PathBuf};

use crate::config::{Config, secrets_of};
use crate::evaluation::Forge;
use crate::git::{History, Range, Repository, git_version};
use crate::oracle::{Facts, OracleError, Pins};
use crate::store::journal::{Begun, Event};
use crate::store::{HuntDir, Store, config_digest, publish};

use super::{HuntError, UsageError};
use hunt_request::HuntRequest;

/// Checks the options and begins the hunt: its folder, its frozen configuration, its history and
/// the first line of its journal. While the returned store lives, no other process removes the
/// hunt.
pub(crate) fn begin(
    repository: &Repository,
    config: &Config,
    asked: &HuntRequest,
) -> Result<(HuntDir, Store), HuntError> {
    let git = git_version().map_err(UsageError::from)?;
    let history = History::open(repository).map_err(UsageError::from)?;
    let range = examine::range(&history, config, asked).map_err(first)?;
    let surroundings = examine::surroundings(&history, config).map_err(first)?;
    let store = Store::open_to_measure(repository.common_dir())?;
    let facts = gather(config, &store, repository.top())?;
    let Pins { revisions, patches } = surroundings.pins.keep(&store)?;
    let hunt = store.new_hunt()?;
    let begun = Begun {
        hunt: hunt.id().to_owned(),
        tool: concat!("bisect-ppl ", env!("CARGO_PKG_VERSION")).to_owned(),
        good: range.good,
        bad: range.bad,
        asked: (asked.good.clone(), asked.bad.clone()),
        revisions,
        patches,
        within: None,
        commits: range.commits,
        options: range.options,
        config_sha256: config_digest(config.text()),
        base: surroundings.base,
        slots: surroundings.slots,
        inputs: facts.inputs,
        links: facts.links,
        environment: facts.environment,
        surroundings: facts.surroundings,
        machine: facts.machine,
        build_node: None,
        checkout: surroundings.checkout,
        git: git.to_string(),
    };
    write_beginning(&hunt, config, &history, begun)?;
    Ok((hunt, store))
}

/// The problem that `start` names. `check` names all problems.
fn first(problems: Vec<UsageError>) -> UsageError {
    problems.into_iter().next().expect("a refusal has a problem")
}

/// Writes a hunt's configuration, its history and its first journal entry. If that fails, removes
/// the hunt's folder: a hunt without that entry cannot be resumed.
pub(crate) fn write_beginning(
    hunt: &HuntDir,
    config: &Config,
    history: &History,
    begun: Begun,
) -> Result<(), HuntError> {
    let write = || -> Result<(), HuntError> {
        publish(&hunt.config(), config.text().as_bytes())?;
        let [old, new] = begun.ends();
        let all = Range::between(old, new);
        hunt.keep_history(&history.lineage(&all).map_err(UsageError::from)?)?;
        if let Some(forge) = forge(config, history, &begun)? {
            hunt.keep_forge(&forge)?;
        }
        Ok(hunt.journal()?.append(Event::Begun(Box::new(begun)))?)
    };
    write().inspect_err(|_| drop(std::fs::remove_dir_all(hunt.path())))
}

/// Where people read the hunt's commits: the configured site, or that of `origin`.
///
/// The configured address is the engine's, not a dependency's. If the engine has a copy of a
/// project, the project's commits are in the engine's clone, but not at its `origin`.
fn forge(config: &Config, history: &History, begun: &Begun) -> Result<Option<Forge>, HuntError> {
    let repository = history.repository();
    let remote = match &begun.within {
        Some(within) if !within.files.is_empty() => repository.remote_with(begun.ends()[1]),
        _ => repository.origin(),
    };
    let remote = remote.map_err(UsageError::from)?.and_then(|url| Forge::of_remote(&url));
    let configured = config.commit_url.clone().filter(|_| begun.within.is_none());
    Ok(match configured {
        Some(commit_url) => {
            Some(Forge { commit_url, repository: remote.and_then(|forge| forge.repository) })
        }
        None => remote,
    })
}

/// The facts of a new hunt. A missing input is a usage error here. If the configuration has
/// secrets, nobody but this user can read the store from now on.
pub(crate) fn gather(
    config: &Config,
    store: &Store,
    checkout: Option<&Path>,
) -> Result<Facts, HuntError> {
    if !secrets_of(config.text()).is_empty() {
        store.make_private()?;
    }
    Facts::gather(config, store, checkout).map_err(|error| match error {
        OracleError::Input(input) => HuntError::Usage(input.into()),
        other => other.into(),
    })
}

/// The user's checkout from which files are linked, if it still exists.
pub(crate) fn checkout_of(begun: &Begun) -> Option<PathBuf> {
    begun.checkout.as_deref().map(Path::new).filter(|path| path.exists()).map(Path::to_owned)
}
