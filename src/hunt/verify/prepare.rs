//! Reads a report without running any of its commands: whether it can be verified in this clone,
//! with which configuration, and what a verification would run.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::config::{Changes, Config, HomeUse, LoadError, assignment, key_and_value};
use crate::evaluation::{Aim, CommitId, DependencyHunt, OptionChange};
use crate::git::{History, Repository, check_link};
use crate::hunt::begin::open::overlay_builder;
use crate::hunt::begin::slots_folder::{default_slots, slots_folder};
use crate::hunt::{HuntError, UsageError};
use crate::oracle::{
    Engine, Facts, InputError, OracleError, Pins, Recipes, check_readable, inputs, pin_of,
};
use crate::report::{FirstBad, Recheck, Report};
use crate::store::Store;
use crate::store::journal::Machine;
use crate::ui::text;

use super::claims::Claimed;
use super::refusal::VerifyRefusal;

/// What a user asks of a verification.
#[derive(Clone, Debug, Default)]
pub(crate) struct VerifyAsked {
    /// The name and the path of each `--input`.
    pub inputs: Vec<(String, PathBuf)>,
    /// `KEY=VALUE` of `--set`.
    pub set: Vec<String>,
    /// The revision of `--fix`.
    pub fix: Option<String>,
}

/// A report that can be verified here. Nothing of it was run yet.
pub(crate) struct Prepared {
    pub(super) report: Report,
    pub(super) config: Config,
    /// What the user changed in the configuration.
    pub(super) changes: Vec<OptionChange>,
    pub(super) claims: Vec<Claimed>,
    pub(super) fix: Option<(String, CommitId)>,
    /// The commit whose runs others are compared with; `None` if no guard needs one.
    pub(super) reference: Option<CommitId>,
    pub(super) within: Option<DependencyHunt>,
    pub(super) revisions: BTreeMap<String, CommitId>,
    pub(super) patches: BTreeMap<String, Vec<u8>>,
    pub(super) links: BTreeMap<String, String>,
    /// The folder to build in.
    pub(super) slots: PathBuf,
    /// What would be run, one line each.
    commands: Vec<String>,
}

impl Prepared {
    /// Checks everything that can be checked without running a command of the report.
    pub(crate) fn new(
        repository: &Repository,
        mut report: Report,
        asked: &VerifyAsked,
    ) -> Result<Self, HuntError> {
        if report.culprits.is_empty() {
            return Err(refused(VerifyRefusal::NoCommit(report.outcome)));
        }
        let recheck = report.recheck.take().ok_or_else(|| refused(VerifyRefusal::NotCarried))?;
        let (config, changes) = configuration(repository, &recheck, asked)?;
        let within = report.within.clone().map(|within| found_here(repository, within));
        let within = within.transpose()?;
        let history = match &within {
            None => History::open(repository),
            Some(within) => History::open(&repository.of_submodule(Path::new(&within.git_dir))?),
        };
        let history = history.map_err(UsageError::from)?;
        let engine = History::open(repository).map_err(UsageError::from)?;
        check_commits(&report, &recheck, &history, &engine)?;
        let claims: Vec<Claimed> = report
            .culprits
            .iter()
            .map(|first| claimed(&report, &recheck, first, &history))
            .collect::<Result<_, _>>()?;
        let fix = match &asked.fix {
            None => None,
            Some(_) if report.options.aim == Aim::Fix => {
                return Err(refused(VerifyRefusal::FixOfFix));
            }
            Some(revision) => {
                let fix = history.resolve(revision).map_err(UsageError::from)?;
                if report.culprits.iter().any(|first| first.commit == fix) {
                    return Err(refused(VerifyRefusal::FixIsCulprit(fix)));
                }
                Some((revision.clone(), fix))
            }
        };
        let reference = compared(&config).next().is_some();
        let reference = reference.then(|| reference_here(&report, &claims, &history));
        if let Some(top) = repository.top() {
            for name in &config.worktree.link {
                check_link(top, name).map_err(UsageError::from)?;
            }
        }
        let is_own =
            |set: &String| key_and_value(set).is_ok_and(|(keys, _)| keys == ["worktree", "dir"]);
        // A folder that the report names may be anything here.
        let slots = if asked.set.iter().any(is_own) {
            slots_folder(&config, repository)
        } else {
            default_slots(repository)
        };
        let mut prepared = Self {
            patches: patches(&config, &recheck)?,
            revisions: recheck.revisions,
            links: recheck.links,
            report,
            config,
            changes,
            claims,
            fix,
            reference,
            within,
            slots,
            commands: Vec::new(),
        };
        prepared.commands = prepared.would_run(repository)?;
        Ok(prepared)
    }

    /// What would be built and run, one line each, for the user to agree with.
    pub(crate) fn commands(&self) -> &[String] {
        &self.commands
    }

    /// All commits that would be built: the reference, those of each claim (parents first), the
    /// fix.
    fn commits(&self) -> Vec<CommitId> {
        let mut seen = BTreeSet::new();
        let of_claim = |claim: &Claimed| {
            let commit = claim.first.commit.clone();
            claim.parents.iter().cloned().chain([commit]).collect::<Vec<_>>()
        };
        let all = self.reference.iter().cloned().chain(self.claims.iter().flat_map(of_claim));
        let all = all.chain(self.fix.iter().map(|(_, fix)| fix.clone()));
        all.filter(|commit| seen.insert(commit.clone())).collect()
    }

    fn would_run(&self, repository: &Repository) -> Result<Vec<String>, HuntError> {
        let store = Store::open(repository.common_dir())?;
        // The facts of this machine are not known before commands run; no recipe depends on them.
        let facts = Facts {
            inputs: BTreeMap::new(),
            links: BTreeMap::new(),
            environment: BTreeMap::new(),
            surroundings: crate::evaluation::Surroundings::default(),
            machine: Machine::default(),
            build_node: None,
        };
        let recipes = Recipes {
            engine: Engine { history: History::open(repository)?, within: self.within.clone() },
            config: self.config.clone(),
            pins: Pins { revisions: self.revisions.clone(), patches: BTreeMap::new() },
            overlay_builder: overlay_builder(repository, &store),
            facts,
            store,
            ends: Vec::new(),
        };
        let mut lines = Vec::new();
        let mut add = |line: String| {
            if !lines.contains(&line) {
                lines.push(line);
            }
        };
        for (name, path) in &self.config.inputs {
            add(format!("reads the input {name}: {path}"));
        }
        for words in &self.config.probes {
            add(format!("probe: {}", text::typed(words)));
        }
        for commit in self.commits() {
            add(format!("the code of {commit}"));
            let recipe = recipes.at(&commit)?;
            each_command(&recipe, &mut add);
            for name in self.patches.keys() {
                add(format!("with a patch that the report carries: {name}"));
            }
            for overlay in &recipe.overlays {
                add(format!("with files of {}: {}", overlay.from, overlay.paths.join(" ")));
            }
            for link in &recipe.worktree.link {
                add(format!("with {link} of this checkout linked in"));
            }
        }
        Ok(lines)
    }
}

/// The guarded measures whose runs are compared with a run of the hunt's good end.
pub(super) fn compared(config: &Config) -> impl Iterator<Item = &str> {
    let guarded = config.guards.iter().map(|guard| guard.metric.measure.as_str());
    guarded.filter(|name| config.measure(name).is_some_and(|one| one.parser.is_compared()))
}

/// The good end of the hunt; if this clone lacks it, the good side of the first claim.
fn reference_here(report: &Report, claims: &[Claimed], history: &History) -> CommitId {
    let good = &report.good.commit;
    if history.info(good).is_ok() {
        return good.clone();
    }
    let [good, _] = claims[0].good_and_bad();
    good.clone()
}

/// Each command of a recipe with its variables.
fn each_command(recipe: &Config, add: &mut impl FnMut(String)) {
    let mut env = |of: &str, env: &BTreeMap<String, crate::config::Template>| {
        for (name, value) in env {
            add(format!("{of} with {name}={}", value.text()));
        }
    };
    env("build", &recipe.build.env);
    recipe.prepares.iter().for_each(|one| env(&one.name, &one.env));
    recipe.measures.iter().for_each(|one| env(&one.name, &one.env));
    for command in &recipe.build.commands {
        add(format!("build: {}", command.text));
    }
    for prepare in &recipe.prepares {
        add(format!("{}: {}", prepare.name, prepare.command.text));
    }
    for measure in &recipe.measures {
        for command in measure.before.iter().chain([&measure.command]).chain(&measure.after) {
            add(format!("{}: {}", measure.name, command.text));
        }
    }
}

fn refused(refusal: VerifyRefusal) -> HuntError {
    UsageError::from(refusal).into()
}

/// The report's configuration with the user's changes. Every commit is built anew.
fn configuration(
    repository: &Repository,
    recheck: &Recheck,
    asked: &VerifyAsked,
) -> Result<(Config, Vec<OptionChange>), HuntError> {
    let is_given = |key: &String| {
        asked.set.iter().any(|set| key_and_value(set).is_ok_and(|(keys, _)| keys.join(".") == *key))
    };
    let missing: Vec<String> =
        recheck.withheld.iter().filter(|key| !is_given(key)).cloned().collect();
    if !missing.is_empty() {
        return Err(refused(VerifyRefusal::Withheld(missing)));
    }
    let top = repository.top().unwrap_or_else(|| repository.common_dir());
    let base = recheck.base.as_deref().map(Path::new).filter(|base| is_below(base));
    let base = base.map_or_else(|| top.to_owned(), |base| top.join(base));
    let parse = |set: &[String]| {
        let changes = Changes { set, arg: &[] };
        Config::parse_changed(&recheck.config, changes, &base, "the report's oracle.toml")
            .map_err(|error| HuntError::from(UsageError::from(LoadError::from(error))))
    };
    let (plain, _) = parse(&[])?;
    let mut set = asked.set.clone();
    for (name, path) in &asked.inputs {
        if !plain.inputs.contains_key(name) {
            let known: Vec<&str> = plain.inputs.keys().map(String::as_str).collect();
            let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            return Err(refused(VerifyRefusal::UnknownInput { name: name.clone(), known }));
        }
        let Some(path) = path.to_str() else {
            return Err(UsageError::NotText { what: "an input", path: path.clone() }.into());
        };
        set.push(assignment(&["inputs", name], path));
    }
    let own = set.len();
    set.push(assignment(&["build", "confirm"], "rebuild"));
    let (wanted, _) = parse(&asked.set)?;
    if wanted.home == HomeUse::Checked {
        // There is no search here that an empty home folder could contradict.
        let home = if recheck.empty_home { "empty" } else { "shared" };
        set.push(assignment(&["environment", "home"], home));
    }
    let (config, mut changes) = parse(&set)?;
    changes.truncate(own);
    Ok((config, changes))
}

/// Whether a relative path stays in its folder.
fn is_below(path: &Path) -> bool {
    path.components().all(|part| matches!(part, std::path::Component::Normal(_)))
}

/// The dependency in this clone, for the report of a hunt inside a dependency.
fn found_here(
    repository: &Repository,
    within: DependencyHunt,
) -> Result<DependencyHunt, HuntError> {
    let engine = History::open(repository).map_err(UsageError::from)?;
    let lacking = || refused(VerifyRefusal::NoDependency(within.path.clone()));
    engine.info(&within.commit.commit).map_err(|_| lacking())?;
    let git_dir = if within.files.is_empty() {
        let place = engine.submodule(&within.commit.commit, &within.path)?;
        place.ok_or_else(lacking)?.git_dir().to_owned()
    } else {
        repository.common_dir().to_owned()
    };
    let git_dir = git_dir.to_str().map(str::to_owned).ok_or_else(lacking)?;
    Ok(DependencyHunt { git_dir, ..within })
}

/// Refuses a clone that lacks commits that have to be built.
fn check_commits(
    report: &Report,
    recheck: &Recheck,
    history: &History,
    engine: &History,
) -> Result<(), HuntError> {
    let named = report.culprits.iter().flat_map(|first| [&first.commit, &first.parent]);
    let missing = |history: &History, commit: &CommitId| history.info(commit).is_err();
    let mut lacking: BTreeSet<String> =
        named.filter(|commit| missing(history, commit)).map(CommitId::to_string).collect();
    for (name, commit) in &recheck.revisions {
        if missing(engine, commit) {
            lacking.insert(format!("{commit} (`{name}` in the configuration)"));
        }
    }
    if lacking.is_empty() {
        return Ok(());
    }
    Err(refused(VerifyRefusal::NoSuchCommits(lacking.into_iter().collect())))
}

/// A claim with the parents to measure: the report's own, and each other parent that had the older
/// side's verdict in the hunt. A hunt that set a side branch aside did not measure its parents.
fn claimed(
    report: &Report,
    recheck: &Recheck,
    first: &FirstBad,
    history: &History,
) -> Result<Claimed, HuntError> {
    let wanted = report.options.aim.older();
    let was_measured = |parent: &CommitId| {
        let mut commits = report.commits.iter();
        commits.any(|seen| seen.commit == *parent && seen.verdict == wanted)
    };
    let mut others = history.parents(&first.commit).map_err(UsageError::from)?;
    let is_parent = others.contains(&first.parent);
    if !is_parent {
        let lacks = vec![format!("{} as a parent of {}", first.parent, first.commit)];
        return Err(refused(VerifyRefusal::NoSuchCommits(lacks)));
    }
    others.retain(|parent| *parent != first.parent && was_measured(parent));
    if report.options.first_parent {
        others.clear();
    }
    let parents = [first.parent.clone()].into_iter().chain(others).collect();
    let line = recheck.claims.iter().find(|claim| claim.commit == first.commit);
    let targets = line.map(|claim| claim.targets.as_slice()).unwrap_or_default();
    if targets.is_empty() {
        return Err(refused(VerifyRefusal::NoTargets(first.commit.clone())));
    }
    Ok(Claimed::new(first.clone(), targets, parents, report.options.aim))
}

/// The patches that the report carries; refuses a patch that has another digest, and a patch of the
/// configuration that is missing.
fn patches(config: &Config, recheck: &Recheck) -> Result<BTreeMap<String, Vec<u8>>, HuntError> {
    let mut wanted = config.patches.iter().map(pin_of);
    if let Some(missing) = wanted.find(|name| !recheck.patches.contains_key(name)) {
        return Err(refused(VerifyRefusal::NoPatch(missing)));
    }
    let decoded = recheck.patches.iter().map(|(name, patch)| {
        let bytes = patch.content_b64.as_ref().and_then(|text| STANDARD.decode(text).ok());
        let bytes = bytes.filter(|bytes| crate::store::patch_digest(bytes) == patch.sha256);
        let bytes = bytes.ok_or_else(|| refused(VerifyRefusal::NoPatch(name.clone())))?;
        Ok((name.clone(), bytes))
    });
    decoded.collect()
}

/// Refuses inputs that are missing here or differ from the report's. Call it only after the user
/// agreed: a path in a stranger's report may name a device or the whole disk.
pub(super) fn check_inputs(
    repository: &Repository,
    config: &Config,
    report: &Report,
) -> Result<(), HuntError> {
    for name in config.inputs.keys() {
        check_readable(config, name).map_err(|error| no_input(name, &error))?;
    }
    let store = Store::open_to_measure(repository.common_dir())?;
    let here = inputs(config, &store).map_err(|error| match error {
        OracleError::Input(error) => UsageError::from(error).into(),
        other => HuntError::from(other),
    })?;
    for (name, input) in here {
        let reported = report.inputs.get(&name).map(|known| known.sha256.clone());
        let reported = reported.unwrap_or_else(|| "nothing of it".to_owned());
        if reported != input.sha256 {
            let (path, here) = (input.path, input.sha256);
            return Err(refused(VerifyRefusal::OtherInput { name, path, here, reported }));
        }
    }
    Ok(())
}

fn no_input(name: &str, error: &InputError) -> HuntError {
    refused(VerifyRefusal::NoInput { name: name.to_owned(), reason: error.to_string() })
}
