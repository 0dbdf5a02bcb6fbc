//! The planted regressions of the demo.

use serde::Deserialize;

use crate::config::{Config, LoadError, Overlay};
use crate::evaluation::CommitId;

use super::embedded::DEMO;

/// Why a scenario cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ScenarioError {
    /// There is no scenario with this name; the names that exist.
    #[error("there is no scenario `{0}`; there are: {1}")]
    Unknown(String, String),
    /// The scenario's file is not valid: a bug of this program.
    #[error("demo/scenarios/{name}.toml: {reason}")]
    Wrong {
        /// The scenario.
        name: String,
        /// The reason.
        reason: String,
    },
}

/// One planted regression.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// What the regression does.
    pub title: String,
    /// A good revision.
    pub good: String,
    /// A bad revision.
    pub bad: String,
    /// The first bad commit, which a hunt should find.
    pub expect: CommitId,
    /// TOML that the scenario's file lays over the project's `oracle.toml`.
    #[serde(skip)]
    pub overlay: String,
}

#[derive(Deserialize)]
struct File {
    scenario: Scenario,
}

/// The scenarios' names, in order.
pub fn names() -> Vec<String> {
    let mut names: Vec<String> = DEMO
        .get_dir("scenarios")
        .into_iter()
        .flat_map(include_dir::Dir::files)
        .filter_map(|file| Some(file.path().file_stem()?.to_str()?.to_owned()))
        .collect();
    names.sort();
    names
}

/// A scenario by name.
pub fn scenario(name: &str) -> Result<Scenario, ScenarioError> {
    let text = DEMO
        .get_file(format!("scenarios/{name}.toml"))
        .and_then(include_dir::File::contents_utf8)
        .ok_or_else(|| ScenarioError::Unknown(name.to_owned(), names().join(", ")))?;
    let file: File = toml::from_str(text).map_err(|error| ScenarioError::Wrong {
        name: name.to_owned(),
        reason: error.to_string(),
    })?;
    Ok(Scenario { overlay: text.to_owned(), ..file.scenario })
}

impl Scenario {
    /// The configuration of the scenario's hunt: the file at `oracle_toml` with the overlay.
    pub fn config(&self, oracle_toml: &std::path::Path) -> Result<Config, LoadError> {
        let overlay = Overlay { name: "the scenario", text: &self.overlay };
        Config::load_with(oracle_toml, Some(overlay))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_six_read_and_fit_the_worked_example() {
        assert_eq!(names(), ["crash", "fused", "launch", "quant", "repack", "rope"]);
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("oracle.toml");
        std::fs::write(&file, crate::demo::ORACLE_TOML).unwrap();
        for name in names() {
            let scenario = scenario(&name).unwrap();
            scenario.config(&file).unwrap_or_else(|error| panic!("{name}: {error}"));
        }
    }

    #[test]
    fn an_unknown_one_is_refused_with_the_names_there_are() {
        let error = scenario("../plan").unwrap_err().to_string();
        assert!(error.contains("crash, fused, launch"), "{error}");
    }
}
