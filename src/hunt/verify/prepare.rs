//! Reads a report without running any of its commands: whether it can be verified in this clone,
//! with which configuration, and what a verification would run.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::config::{Config, key_and_value};
use crate::evaluation::{Aim, CommitId, DependencyHunt, OptionChange};
use crate::git::{History, Repository, check_link};
use crate::hunt::begin::open::overlay_builder;
use crate::hunt::begin::slots_folder::{default_slots, slots_folder};
use crate::hunt::{HuntError, UsageError};
use crate::oracle::{Engine, Facts, Pins, Recipes};
use crate::report::Report;
use crate::store::Store;
use crate::store::journal::Machine;
use crate::ui::text;

use super::claims::Claimed;
use super::refusal::VerifyRefusal;
use super::requirements::{
    VerifyAsked, check_commits, claimed, configuration, found_here, patches, refused,
};

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
