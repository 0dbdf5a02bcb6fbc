//! Writes a hunt's report and `reproduce.sh`.

use std::collections::BTreeMap;

use crate::config::{Command, Config, Measure, Parser, Part, Placeholder, Prepare, Template};
use crate::evaluation::CommitId;
use crate::git::{Layer, Repository, pathspec};
use crate::hunt::HuntError;
use crate::hunt::begin::open::open;
use crate::hunt::outcome::change::keep_changes;
use crate::oracle::Oracle;
use crate::process::Stop;
use crate::report::{
    self, Recipe, RecipeLayer, RecipeMeasure, RecipePart, RecipePrepare, RecipeWord, Report,
    ReportError,
};
use crate::store::{HuntDir, StoreError};

/// Stores what the report shows of the first bad commits, then writes `report.json`, `report.md`,
/// `report.html` and `reproduce.sh`. The script contains the recipes of both commits that it
/// compares.
pub(crate) fn publish(
    repository: &Repository,
    hunt: &HuntDir,
) -> Result<Result<Report, ReportError>, HuntError> {
    let (oracle, _) = open(repository, hunt, &Stop::never())?;
    let report = match Report::of(hunt) {
        Ok(report) => report,
        Err(error) => return Ok(Err(error)),
    };
    keep_changes(&oracle.history, hunt, &report)?;
    let [(_, older), (_, newer)] = report::sides(&report);
    let recipes = [recipe(&oracle, older)?, recipe(&oracle, newer)?];
    Ok(report::write_all(hunt, &recipes))
}

fn recipe(oracle: &Oracle, commit: &CommitId) -> Result<Recipe, HuntError> {
    let config = oracle.recipes.at(commit)?;
    let facts = &oracle.recipes.facts;
    let inputs = facts.inputs.iter().map(|(name, input)| (name.as_str(), input.path.as_str()));
    let words = Words {
        config: &config,
        cores: u32::try_from(facts.machine.cores).unwrap_or(u32::MAX),
        inputs: inputs.collect(),
    };
    let searched = config.measures.iter().filter(|measure| !measure.for_cause);
    Ok(Recipe {
        layers: layers(oracle, commit, &config)?,
        build: config.build.commands.iter().map(|command| words.command(command)).collect(),
        build_env: words.env(&config.build.env),
        prepares: config.prepares.iter().map(|prepare| words.prepare(prepare)).collect(),
        measures: searched.map(|measure| words.measure(measure)).collect(),
        links: config.worktree.link.clone(),
        submodules: config.worktree.submodules,
    })
}

fn layers(
    oracle: &Oracle,
    commit: &CommitId,
    config: &Config,
) -> Result<Vec<RecipeLayer>, HuntError> {
    let of = |layer| match layer {
        Layer::Pin { path, .. } => Ok(Some(RecipeLayer::Pin { path })),
        Layer::Vendored { folder, files, .. } => Ok(Some(RecipeLayer::Vendored { folder, files })),
        // Only localisation makes such trees, and the script compares whole commits.
        Layer::Entries(_) | Layer::Inline { .. } => Ok(None),
        Layer::Patch { name, file, .. } => {
            let diff = std::fs::read(&file).map_err(StoreError::at(&file))?;
            Ok(Some(RecipeLayer::Patch { name, diff }))
        }
        Layer::Files { from, paths } => {
            let paths = paths.iter().map(|path| pathspec(path)).collect();
            Ok(Some(RecipeLayer::Files { from, paths }))
        }
    };
    let exchanged = oracle.recipes.engine.exchanged(commit).into_iter();
    exchanged
        .chain(oracle.recipes.layers(config)?)
        .filter_map(|layer| of(layer).transpose())
        .collect()
}

/// Converts templates to words of the script: values that are the same at every commit become
/// text, other placeholders become variables.
struct Words<'a> {
    config: &'a Config,
    cores: u32,
    /// The paths of the inputs, by name.
    inputs: BTreeMap<&'a str, &'a str>,
}

impl Words<'_> {
    fn part(&self, part: &Part) -> RecipePart {
        let placeholder = match part {
            Part::Text(text) => return RecipePart::Text(text.clone()),
            Part::Placeholder(placeholder) => placeholder,
        };
        let number = |number: Option<u32>| number.map(|number| number.to_string());
        let value = match placeholder {
            Placeholder::Src => return RecipePart::Variable("src"),
            Placeholder::Build => return RecipePart::Variable("build"),
            Placeholder::Out => return RecipePart::Variable("out"),
            Placeholder::Cache => return RecipePart::Variable("cache"),
            Placeholder::Commit => return RecipePart::Variable("commit"),
            Placeholder::Short => return RecipePart::Variable("short"),
            Placeholder::Parent => return RecipePart::Variable("parent"),
            Placeholder::CommitDate => return RecipePart::Variable("commit_date"),
            Placeholder::Prepare(name) => return RecipePart::Prepared(name.clone()),
            Placeholder::Jobs => number(self.config.build.jobs.or(Some(self.cores))),
            Placeholder::Threads => number(self.config.run.threads.or(Some(self.cores))),
            Placeholder::Chunks => number(self.config.run.chunks),
            Placeholder::Input(name) => {
                self.inputs.get(name.as_str()).map(|path| (*path).to_owned())
            }
            // In a cell, values replace these names.
            Placeholder::Matrix(_) | Placeholder::Sweep(_) => None,
        };
        RecipePart::Text(value.unwrap_or_else(|| placeholder.to_string()))
    }

    fn word(&self, template: &Template) -> RecipeWord {
        template.parts().iter().map(|part| self.part(part)).collect()
    }

    fn command(&self, command: &Command) -> Vec<RecipeWord> {
        command.words.iter().map(|word| self.word(word)).collect()
    }

    fn env(&self, env: &BTreeMap<String, Template>) -> BTreeMap<String, RecipeWord> {
        env.iter().map(|(name, value)| (name.clone(), self.word(value))).collect()
    }

    fn prepare(&self, prepare: &Prepare) -> RecipePrepare {
        RecipePrepare {
            name: prepare.name.clone(),
            command: self.command(&prepare.command),
            env: self.env(&prepare.env),
        }
    }

    fn measure(&self, measure: &Measure) -> RecipeMeasure {
        let prepares = self.config.prepares_of(measure.templates()).into_iter();
        RecipeMeasure {
            prepares: prepares.map(|prepare| prepare.name.clone()).collect(),
            name: measure.name.clone(),
            command: self.command(&measure.command),
            env: self.env(&measure.env),
            cwd: measure.cwd.as_ref().map(|cwd| self.word(cwd)),
            before: measure.before.iter().map(|command| self.command(command)).collect(),
            after: measure.after.iter().map(|command| self.command(command)).collect(),
            file: measure.file.clone(),
            // Other parsers' patterns are not POSIX expressions, so the script shows the last
            // lines.
            shown: matches!(measure.parser, Parser::LlamaPerplexity)
                .then(|| "Final estimate: PPL".to_owned()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn only_what_differs_between_commits_is_a_variable() {
        let text = r#"
version = 1
[inputs]
model = "m.bin"
[run]
threads = 3
[[prepare]]
name = "gguf"
command = "true"
[[measure]]
name = "ppl"
command = "{build}/ppl -j{jobs} -t {threads} '{inputs.model}' {{src}} '{\"a\":1}' {prepare.gguf}"
parser = "llama-perplexity"
[[guard]]
metric = "ppl"
max = 6
"#;
        let config = Config::parse(text, Path::new("/"), "oracle.toml").unwrap();
        let inputs = BTreeMap::from([("model", "/data/it's here.bin")]);
        let words = Words { config: &config, cores: 8, inputs };
        let text = |text: &str| RecipePart::Text(text.to_owned());
        let expected = [
            vec![RecipePart::Variable("build"), text("/ppl")],
            vec![text("-j"), text("8")],
            vec![text("-t")],
            vec![text("3")],
            vec![text("/data/it's here.bin")],
            vec![text("{src}")],
            vec![text("{\"a\":1}")],
            vec![RecipePart::Prepared("gguf".to_owned())],
        ];
        assert_eq!(words.command(&config.measures[0].command), expected);
    }
}
