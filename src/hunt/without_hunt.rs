//! Work without a hunt: `measure`, and an oracle in the user's own `git bisect`.

use crate::build::Slots;
use crate::config::Config;
use crate::evaluation::{CommitId, Judgement, Phase, Target};
use crate::git::{History, Repository};
use crate::hunt::begin::open::laying;
use crate::hunt::endpoints::targets::standing;
use crate::oracle::{
    ControlSlot, Engine, Launcher, Oracle, OracleError, Pins, Recipes, Recorder, Request, SlotPool,
    StoredRuns,
};
use crate::process::Stop;
use crate::store::Store;

use super::begin::{gather, slots_folder, user_cache};
use super::cleanup::clean_slots;
use super::{HuntError, UsageError};

/// The commits and patches that a configuration names, as they are now.
pub fn pins(repository: &Repository, config: &Config) -> Result<Pins, HuntError> {
    let history = History::open(repository)?;
    let found = Pins::find(config, &history).map_err(UsageError::from)?;
    Ok(found.keep(&Store::open_to_measure(repository.common_dir())?)?)
}

/// An oracle that writes no journal.
pub fn alone(
    repository: &Repository,
    config: Config,
    pins: Pins,
    stop: &Stop,
) -> Result<Oracle, HuntError> {
    let store = Store::open_to_measure(repository.common_dir())?;
    let facts = gather(&config, &store)?;
    let slots = Slots::new(&slots_folder(&config, repository)).map_err(OracleError::from)?;
    Ok(Oracle {
        history: History::open(repository)?,
        recipes: Recipes {
            engine: Engine { history: History::open(repository)?, within: None },
            config,
            pins,
            laying: laying(repository, &store),
            facts,
            store: store.clone(),
        },
        store,
        pool: SlotPool::new(slots),
        checkout: repository.top().map(std::path::Path::to_owned),
        recorder: Recorder::none(),
        stop: stop.clone(),
        control: None,
        stored: StoredRuns::default(),
        launcher: Launcher::new(&user_cache()),
    })
}

/// Empties the unlocked slots and removes their worktrees.
pub fn tidy(oracle: &Oracle) -> Result<(), HuntError> {
    clean_slots(oracle.recipes.engine.history.repository(), oracle.pool.slots())
}

/// Judges a commit by every guard against the level at `good`, for an oracle without a hunt. `good`
/// runs once, the commit until its verdict is decided. An `Err` string says why `good` cannot be
/// the baseline.
pub fn judge_against(
    oracle: &mut Oracle,
    good: &CommitId,
    commit: &CommitId,
) -> Result<Result<Judgement, String>, HuntError> {
    oracle.control = None;
    let measures: Vec<String> =
        oracle.recipes.config.guards.iter().map(|guard| guard.metric.measure.clone()).collect();
    let look = Request::look(good, &measures, Phase::Manual);
    let baseline = oracle.evaluate(Request { runs: 1, ..look })?;
    let targets: Vec<Target> = match standing(
        &baseline,
        &oracle.recipes.config.guards,
        &oracle.recipes.config.same_checks(),
    ) {
        Ok(targets) => targets,
        Err(why) => return Ok(Err(why)),
    };
    let place = oracle.pool.first();
    oracle.control = Some(ControlSlot { commit: good.clone(), place });
    let (judgement, _) = oracle.judge_until_decided(commit, &targets, Phase::Manual, None)?;
    oracle.pool.free_all();
    Ok(Ok(judgement))
}
