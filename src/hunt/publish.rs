//! Writes a hunt's report, with the recipe that `reproduce.sh` repeats.

use std::collections::BTreeMap;

use crate::config::{Command, Measure, Parser, Template};
use crate::evaluation::CommitId;
use crate::git::Repository;
use crate::oracle::Oracle;
use crate::process::Stop;
use crate::report::{self, Recipe, RecipeMeasure, Report, ReportError};
use crate::store::HuntDir;

use super::{HuntError, open};

/// Writes `report.json`, `report.md`, `report.html` and `reproduce.sh`, which has the recipes of
/// both commits it compares.
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
    let config = oracle.recipe(commit)?;
    let cores = u32::try_from(oracle.facts.machine.cores).unwrap_or(u32::MAX);
    Ok(Recipe {
        build: config.build.commands.iter().map(words).collect(),
        build_env: env(&config.build.env),
        measures: config.measures.iter().map(measure).collect(),
        links: config.worktree.link.clone(),
        submodules: config.worktree.submodules,
        inputs: oracle
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

fn words(command: &Command) -> Vec<String> {
    command.words.iter().map(|word| word.text().to_owned()).collect()
}

fn env(env: &BTreeMap<String, Template>) -> BTreeMap<String, String> {
    env.iter().map(|(name, value)| (name.clone(), value.text().to_owned())).collect()
}

fn measure(measure: &Measure) -> RecipeMeasure {
    RecipeMeasure {
        name: measure.name.clone(),
        command: words(&measure.command),
        env: env(&measure.env),
        cwd: measure.cwd.as_ref().map(|cwd| cwd.text().to_owned()),
        before: measure.before.iter().map(words).collect(),
        after: measure.after.iter().map(words).collect(),
        file: measure.file.clone(),
        // Other parsers' patterns are no POSIX expressions: the last lines are shown.
        shown: matches!(measure.parser, Parser::LlamaPerplexity)
            .then(|| "Final estimate: PPL".to_owned()),
    }
}
