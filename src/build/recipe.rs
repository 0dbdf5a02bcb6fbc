//! What one build reads of the configuration, with its placeholders filled in. A job on another node
//! gets it as JSON.

use std::collections::BTreeMap;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::config::{BuildMode, Config, HomeUse, MissingValue, Values, fill_env};

/// How a commit is built.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct BuildRecipe {
    /// The commands, one list of words each.
    pub commands: Vec<Vec<String>>,
    /// The declared environment.
    pub env: BTreeMap<String, String>,
    /// Whether a build of the search goes on from the files of the build before.
    pub is_incremental: bool,
    /// Wall-clock limit of each command.
    pub timeout: Duration,
    /// Whether the commands run in the sandbox.
    pub sandbox: bool,
    /// The CPUs that the commands may use; empty for all.
    pub cpus: Vec<usize>,
    /// Texts in a command's output that show a fault of the machine.
    pub transient: Vec<String>,
    /// Paths of the user's checkout that are linked in.
    pub links: Vec<String>,
    /// Which builds get an empty home folder.
    pub home: HomeUse,
    /// Whether builds of a search may use the direct mode of a compiler cache.
    pub direct_mode: bool,
}

impl BuildRecipe {
    /// The recipe of a configuration for one commit.
    ///
    /// # Errors
    /// A placeholder has no value.
    pub(crate) fn of(config: &Config, values: &Values) -> Result<Self, MissingValue> {
        let commands = config.build.commands.iter().map(|command| command.fill(values));
        Ok(Self {
            commands: commands.collect::<Result<_, _>>()?,
            env: fill_env(&config.build.env, values)?,
            is_incremental: config.build.mode == BuildMode::Incremental,
            timeout: config.build.timeout,
            sandbox: config.run.sandbox,
            cpus: config.executor.cpus().to_vec(),
            transient: config.failures.transient.clone(),
            links: config.worktree.link.clone(),
            home: config.home,
            direct_mode: config.build.direct_mode,
        })
    }
}
