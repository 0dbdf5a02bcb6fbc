//! Opens a hunt from its folder, for the driver and for every oracle that git starts.

use std::path::{Path, PathBuf};

use crate::build::Slots;
use crate::config::{Config, HomeUse};
use crate::git::{GitError, History, OverlayBuilder, Repository};
use crate::hunt::HuntError;
use crate::hunt::begin::slots_folder::{slots_folder, user_cache};
use crate::hunt::begin::{checkout_of, gather};
use crate::oracle::{
    BuildJobs, ControlSlot, Engine, Facts, Launcher, Oracle, OracleError, Pins, Recipes, Recorder,
    References, SlotPool, SoughtFailures, StoredRuns,
};
use crate::process::{ProcessError, Stop};
use crate::store::journal::{Begun, Event, RunDone};
use crate::store::{HuntDir, Store};

/// An oracle for a hunt. Reads the hunt's journal and its stored configuration, never the
/// `oracle.toml` of the checkout, which changes from commit to commit.
pub(crate) fn open(
    repository: &Repository,
    hunt: &HuntDir,
    stop: &Stop,
) -> Result<(Oracle, Begun), HuntError> {
    let store = Store::open_to_measure(repository.common_dir())?;
    let (mut oracle, begun) = open_in(repository, hunt, store, stop)?;
    let listed = oracle.recipes.config.executor.listed().unwrap_or(1);
    let has_several_slots = begun.options.slots.map_or(listed > 1, |asked| asked > 1);
    oracle.pool.share(has_several_slots);
    // In a cluster, the other slots' builds are on other nodes.
    if has_several_slots && !oracle.recipes.config.executor.is_cluster() {
        oracle.pool.use_other_slots();
    }
    build_elsewhere(&mut oracle, repository, hunt)?;
    Ok((oracle, begun))
}

/// Lets the hunt's jobs that build make the oracle's builds, if the configuration has such jobs.
pub(crate) fn build_elsewhere(
    oracle: &mut Oracle,
    repository: &Repository,
    hunt: &HuntDir,
) -> Result<(), HuntError> {
    let slurm = oracle.recipes.config.executor.slurm.as_ref();
    if let Some(options) = slurm.and_then(|slurm| slurm.build.clone()) {
        let program = std::env::current_exe().map_err(ProcessError::Start)?;
        let folder = repository.stands().to_owned();
        oracle.build_jobs = Some(BuildJobs::new(options, hunt.clone(), program, folder));
    }
    Ok(())
}

/// An oracle for a hunt in `store`, which builds on this machine.
pub(crate) fn open_in(
    repository: &Repository,
    hunt: &HuntDir,
    store: Store,
    stop: &Stop,
) -> Result<(Oracle, Begun), HuntError> {
    open_with(repository, hunt, store, begun(hunt)?, Recorder::of(hunt)?, stop)
}

/// The same as [`open_in`], with the hunt's beginning and a recorder.
pub(crate) fn open_with(
    repository: &Repository,
    hunt: &HuntDir,
    store: Store,
    mut begun: Begun,
    recorder: Recorder,
    stop: &Stop,
) -> Result<(Oracle, Begun), HuntError> {
    let mut config = frozen(hunt, &begun)?;
    let configured_home = config.home;
    let mut stored = StoredRuns::new(begun.options.retry_failed);
    let launcher = Launcher::new(&user_cache());
    let entries = hunt.entries()?;
    stored.sought = SoughtFailures::of(&entries, [&begun.good.commit, &begun.bad.commit]);
    for entry in &entries {
        match &entry.event {
            // Written when the home folder turned out to matter. The last such event counts.
            Event::Home { empty: true } => config.home = HomeUse::Empty,
            Event::Home { empty: false } => config.home = HomeUse::Shared,
            Event::HomeChecked => config.home = configured_home,
            Event::NoDirectMode => config.build.direct_mode = false,
            Event::ChecksLeftOut { measure, checks } => {
                config.leave_out_checks(measure, checks);
            }
            Event::MachineChanged { measures, attempts } => {
                stored.set_outdated(measures, attempts);
            }
            Event::WarmsUp { measure, attempts } => stored.warm_up(measure, attempts),
            Event::Run(RunDone { host: Some(host), .. }) => stored.use_node(&host.name),
            Event::NodeSetAside { node, attempts, .. } => stored.leave_node(node, attempts),
            Event::OneSlot { attempts } => {
                stored.use_one_slot(attempts);
                begun.options.slots = Some(1);
            }
            _ => {}
        }
    }
    stored.use_node(&launcher.host.name);
    let facts = Facts {
        inputs: begun.inputs.clone(),
        links: begun.links.clone(),
        environment: begun.environment.clone(),
        surroundings: begun.surroundings.clone(),
        machine: begun.machine.clone(),
        build_node: begun.build_node.clone(),
    };
    let oracle = Oracle {
        build_jobs: None,
        history: history(repository, &begun)?,
        recipes: Recipes {
            engine: Engine { history: History::open(repository)?, within: begun.within.clone() },
            config,
            pins: Pins { revisions: begun.revisions.clone(), patches: begun.patches.clone() },
            overlay_builder: match submodule(&begun) {
                Some(git_dir) => overlay_builder(repository, &store).with_submodule(git_dir),
                None => overlay_builder(repository, &store),
            },
            facts,
            store: store.clone(),
            ends: begun.ends().map(Clone::clone).into(),
        },
        store,
        pool: SlotPool::new(Slots::new(Path::new(&begun.slots)).map_err(OracleError::from)?),
        checkout: checkout_of(&begun),
        recorder,
        stop: stop.clone(),
        control: ControlSlot::of(hunt),
        stored,
        references: References::at(Some(begun.good.commit.clone())),
        launcher,
    };
    Ok((oracle, begun))
}

/// The configuration with which the hunt began. A changed one would apply other rules to stored
/// runs, or measure something else in the middle of the hunt.
pub(crate) fn frozen(hunt: &HuntDir, begun: &Begun) -> Result<Config, HuntError> {
    let text = hunt.config_text(&begun.config_sha256)?;
    let text = text.ok_or_else(|| HuntError::ConfigurationChanged(hunt.config()))?;
    Ok(Config::parse(&text, Path::new(&begun.base), "the hunt's oracle.toml")?)
}

/// The command of `[notify]` with its words, and the folder of `oracle.toml`.
pub(crate) fn notify_command(hunt: &HuntDir) -> Result<Option<(Vec<String>, PathBuf)>, HuntError> {
    let begun = begun(hunt)?;
    let words = frozen(hunt, &begun)?.notify;
    Ok(words.map(|words| (words, PathBuf::from(begun.base))))
}

/// The history that a hunt searches: the repository's or a dependency's.
pub(crate) fn history(repository: &Repository, begun: &Begun) -> Result<History, GitError> {
    match &begun.within {
        None => History::open(repository),
        Some(within) => History::open(&repository.of_submodule(Path::new(&within.git_dir))?),
    }
}

/// The git folder of the submodule that a hunt searches.
fn submodule(begun: &Begun) -> Option<&Path> {
    let within = begun.within.as_ref().filter(|within| within.files.is_empty());
    within.map(|within| Path::new(&within.git_dir))
}

/// The builder of modified trees. It works in the store's folder `pending`, which is cleaned up
/// after killed processes.
pub(crate) fn overlay_builder(repository: &Repository, store: &Store) -> OverlayBuilder {
    OverlayBuilder::new(repository, &store.root().join("pending"))
}

/// How the hunt began. The last such event counts (see [`renew`]).
pub(crate) fn begun(hunt: &HuntDir) -> Result<Begun, HuntError> {
    beginnings(hunt)?.pop().ok_or(HuntError::NoBeginning)
}

/// How the hunt began, and each new beginning by [`renew`].
pub(crate) fn beginnings(hunt: &HuntDir) -> Result<Vec<Begun>, HuntError> {
    let entries = hunt.entries()?;
    let begun = entries.iter().filter_map(|entry| match &entry.event {
        Event::Begun(begun) => Some(begun.as_ref().clone()),
        _ => None,
    });
    Ok(begun.collect())
}

/// Reads the hunt's environment again on resume, so that a user can follow a hint such as "set
/// XDG_CACHE_HOME" or "install `cc`" first. The folder of the slots is always read again: no result
/// depends on it. Variables, compilers and probes are read again only if nothing was built or run
/// yet; afterwards they must stay the same.
///
/// The caller holds the hunt's lock.
pub(crate) fn renew(repository: &Repository, hunt: &HuntDir) -> Result<(), HuntError> {
    let entries = hunt.entries()?;
    let is_over = |event: &Event| match event {
        Event::Ended { finding, .. } => finding.limit.is_none(),
        _ => false,
    };
    if entries.iter().any(|entry| is_over(&entry.event)) {
        return Ok(());
    }
    let old = begun(hunt)?;
    let config = frozen(hunt, &old)?;
    let is_measured =
        entries.iter().any(|entry| matches!(entry.event, Event::Build(_) | Event::Run(_)));
    let slots = slots_folder(&config, repository);
    let mut new = Begun {
        slots: slots.to_str().map_or_else(|| old.slots.clone(), str::to_owned),
        ..old.clone()
    };
    if !is_measured {
        let store = Store::open_to_measure(repository.common_dir())?;
        let facts = gather(&config, &store, repository.top())?;
        new.links = facts.links;
        new.environment = facts.environment;
        new.surroundings = facts.surroundings;
        if config.executor.is_cluster() {
            // The hunt began on a machine that measures nothing.
            new.machine = facts.machine;
            new.build_node = None;
        }
    }
    let is_same = new.slots == old.slots
        && new.links == old.links
        && new.environment == old.environment
        && new.surroundings == old.surroundings
        && new.machine == old.machine
        && new.build_node == old.build_node;
    if !is_same {
        hunt.journal()?.append(Event::Begun(Box::new(new)))?;
    }
    Ok(())
}
