//! Writes a hunt's report and `reproduce.sh`.

use std::collections::BTreeMap;

use crate::config::{Command, Config, Measure, Parser, Prepare, Template};
use crate::evaluation::CommitId;
use crate::git::{Layer, Repository, pathspec};
use crate::hunt::HuntError;
use crate::hunt::begin::open::open;
use crate::oracle::Oracle;
use crate::process::Stop;
use crate::report::{self, Recipe, RecipeLayer, RecipeMeasure, RecipePrepare, Report, ReportError};
use crate::store::{HuntDir, StoreError};

/// Writes `report.json`, `report.md`, `report.html` and `reproduce.sh`. The script contains the
/// recipes of both commits that it compares.
pub fn publish(
    repository: &Repository,
    hunt: &HuntDir,
) -> Result<Result<Report, ReportError>, HuntError> {
    let (oracle, _) = open(repository, hunt, &Stop::never())?;
    let report = match Report::of(hunt) {
        Ok(report) => report,
        Err(error) => return Ok(Err(error)),
    };
    let [(_, older), (_, newer)] = report::sides(&report);
    let recipes = [recipe(&oracle, older)?, recipe(&oracle, newer)?];
    Ok(report::write_all(hunt, &recipes))
}

fn recipe(oracle: &Oracle, commit: &CommitId) -> Result<Recipe, HuntError> {
    let config = oracle.recipes.at(commit)?;
    let cores = u32::try_from(oracle.recipes.facts.machine.cores).unwrap_or(u32::MAX);
    Ok(Recipe {
        layers: layers(oracle, commit, &config)?,
        build: config.build.commands.iter().map(words).collect(),
        build_env: env(&config.build.env),
        prepares: config.prepares.iter().map(prepare).collect(),
        measures: config.measures.iter().map(|one| measure(one, &config)).collect(),
        links: config.worktree.link.clone(),
        submodules: config.worktree.submodules,
        inputs: oracle
            .recipes
            .facts
            .inputs
            .iter()
            .map(|(name, input)| (name.clone(), input.path.clone()))
            .collect(),
        jobs: config.build.jobs.unwrap_or(cores),
        threads: config.run.threads.unwrap_or(cores),
        chunks: config.run.chunks,
    })
}

fn layers(
    oracle: &Oracle,
    commit: &CommitId,
    config: &Config,
) -> Result<Vec<RecipeLayer>, HuntError> {
    let of = |layer| match layer {
        Layer::Pin { path, .. } => Ok(RecipeLayer::Pin { path }),
        Layer::Vendored { folder, files, .. } => Ok(RecipeLayer::Vendored { folder, files }),
        Layer::Patch { name, file, .. } => {
            let diff = std::fs::read(&file).map_err(StoreError::at(&file))?;
            Ok(RecipeLayer::Patch { name, diff })
        }
        Layer::Files { from, paths } => {
            let paths = paths.iter().map(|path| pathspec(path)).collect();
            Ok(RecipeLayer::Files { from, paths })
        }
    };
    let exchanged = oracle.recipes.engine.exchanged(commit).into_iter();
    exchanged.chain(oracle.recipes.layers(config)?).map(of).collect()
}

fn words(command: &Command) -> Vec<String> {
    command.words.iter().map(|word| word.text().to_owned()).collect()
}

fn env(env: &BTreeMap<String, Template>) -> BTreeMap<String, String> {
    env.iter().map(|(name, value)| (name.clone(), value.text().to_owned())).collect()
}

fn prepare(prepare: &Prepare) -> RecipePrepare {
    RecipePrepare {
        name: prepare.name.clone(),
        command: words(&prepare.command),
        env: env(&prepare.env),
    }
}

fn measure(measure: &Measure, config: &Config) -> RecipeMeasure {
    let prepares = config.prepares_of(measure.templates()).into_iter();
    RecipeMeasure {
        prepares: prepares.map(|prepare| prepare.name.clone()).collect(),
        name: measure.name.clone(),
        command: words(&measure.command),
        env: env(&measure.env),
        cwd: measure.cwd.as_ref().map(|cwd| cwd.text().to_owned()),
        before: measure.before.iter().map(words).collect(),
        after: measure.after.iter().map(words).collect(),
        file: measure.file.clone(),
        // Other parsers' patterns are not POSIX expressions, so the script shows the last lines.
        shown: matches!(measure.parser, Parser::LlamaPerplexity)
            .then(|| "Final estimate: PPL".to_owned()),
    }
}
