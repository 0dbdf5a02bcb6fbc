//! Work without a hunt: `measure`, and an oracle in the user's own `git bisect`.

use crate::build::Slots;
use crate::config::Config;
use crate::evaluation::{CommitId, Judgement, Phase, Target, Verdict};
use crate::git::{History, Repository};
use crate::hunt::begin::open::overlay_builder;
use crate::hunt::endpoints::targets::all_guards_as_targets;
use crate::oracle::{
    ControlSlot, Engine, Launcher, Oracle, OracleError, Pins, Recipes, Recorder, References,
    Request, SlotPool, StoredRuns,
};
use crate::process::Stop;
use crate::store::Store;

use super::begin::gather;
use super::begin::slots_folder::{slots_folder, user_cache};
use super::cleanup::clean_slots;
use super::{HuntError, UsageError};

/// The current commits and patches that a configuration names.
pub(crate) fn pins(repository: &Repository, config: &Config) -> Result<Pins, HuntError> {
    let history = History::open(repository)?;
    let found = Pins::find(config, &history).map_err(UsageError::from)?;
    Ok(found.keep(&Store::open_to_measure(repository.common_dir())?)?)
}

/// An oracle that writes no journal.
pub(crate) fn standalone_oracle(
    repository: &Repository,
    config: Config,
    pins: Pins,
    stop: &Stop,
) -> Result<Oracle, HuntError> {
    let store = Store::open_to_measure(repository.common_dir())?;
    let facts = gather(&config, &store, repository.top())?;
    let slots = Slots::new(&slots_folder(&config, repository)).map_err(OracleError::from)?;
    Ok(Oracle {
        build_jobs: None,
        history: History::open(repository)?,
        recipes: Recipes {
            engine: Engine { history: History::open(repository)?, within: None },
            config,
            pins,
            overlay_builder: overlay_builder(repository, &store),
            facts,
            store: store.clone(),
            ends: Vec::new(),
        },
        store,
        pool: SlotPool::new(slots),
        checkout: repository.top().map(std::path::Path::to_owned),
        recorder: Recorder::none(),
        stop: stop.clone(),
        control: None,
        stored: StoredRuns::default(),
        references: References::at(None),
        launcher: Launcher::new(&user_cache()),
    })
}

/// Empties this oracle's slot and all unlocked ones, and removes their worktrees.
pub(crate) fn tidy(oracle: &mut Oracle) -> Result<(), HuntError> {
    oracle.pool.leave();
    clean_slots(oracle.recipes.engine.history.repository(), oracle.pool.slots())
}

/// The measured ends of a bisect that the user started.
pub(crate) struct Ends {
    /// Every guard, with the level at the good end as baseline.
    targets: Vec<Target>,
    /// The guards that the bad end breaks, and the values.
    pub reason: String,
}

/// Why no commit can be judged between two ends: one of them cannot be measured, or the bad end
/// breaks no guard.
pub(crate) struct UnusableEndpoints {
    /// The observed problem.
    pub what: String,
    /// What the user can do.
    pub cure: &'static str,
}

/// Measures the ends of the user's own bisect. Runs `good` once, and `bad` until its verdict is
/// decided.
pub(crate) fn measure_ends(
    oracle: &mut Oracle,
    good: &CommitId,
    bad: &CommitId,
) -> Result<Result<Ends, UnusableEndpoints>, HuntError> {
    oracle.control = None;
    oracle.references = References::at(Some(good.clone()));
    let measures: Vec<String> =
        oracle.recipes.config.guards.iter().map(|guard| guard.metric.measure.clone()).collect();
    let look = Request::look(good, &measures, Phase::Manual);
    let baseline = oracle.evaluate(Request { runs: 1, ..look })?;
    let (guards, checks) = (&oracle.recipes.config.guards, oracle.recipes.config.same_checks());
    let targets = match all_guards_as_targets(&baseline, guards, &checks) {
        Ok(targets) => targets,
        Err(what) => {
            return Ok(Err(UnusableEndpoints { what, cure: "choose another good commit" }));
        }
    };
    let build = oracle.pool.first();
    oracle.control = Some(ControlSlot { build, ..ControlSlot::unbuilt(good.clone()) });
    let judgement = judge_against(oracle, &targets, bad)?;
    let (name, reason) = (bad.short(), judgement.reason);
    Ok(match judgement.verdict {
        Verdict::Bad => Ok(Ends { targets, reason }),
        Verdict::Good => Err(UnusableEndpoints {
            what: format!(
                "the bad commit {name} breaks no guard ({reason}), so no commit before it can be \
                 named"
            ),
            cure: "choose another bad commit, or a smaller tolerance",
        }),
        Verdict::Skip | Verdict::Unknown => Err(UnusableEndpoints {
            what: format!(
                "the bad commit {name} cannot be measured ({reason}), so no guard can be judged \
                 there"
            ),
            cure: "choose another bad commit; if you look for this failure, let [failures] count \
                   it as bad",
        }),
    })
}

/// Judges a commit between the ends of the user's own bisect.
pub(crate) fn judge_between(
    oracle: &mut Oracle,
    ends: &Ends,
    commit: &CommitId,
) -> Result<Judgement, HuntError> {
    let judgement = judge_against(oracle, &ends.targets, commit)?;
    oracle.pool.free_all();
    Ok(judgement)
}

fn judge_against(
    oracle: &mut Oracle,
    targets: &[Target],
    commit: &CommitId,
) -> Result<Judgement, HuntError> {
    Ok(oracle.judge_until_decided(commit, targets, Phase::Manual, None)?.0)
}
