//! The keys of builds and runs: a digest of everything that a result depends on, and nothing else.
//! Parser, pattern, guards, and time-outs are in neither key: readings are derived again from the
//! output.

use std::collections::BTreeMap;

use crate::config::{Command, Config, Exclusive, HomeUse, Measure, Placeholder, Prepare, Template};
use crate::evaluation::{CommitId, Surroundings};
use crate::store::journal::{BuildNode, InputFile, Machine};
use crate::store::{BuildKey, KeyHasher, RunKey};

/// Inputs of the keys that are equal for all commits of a hunt.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Circumstances<'a> {
    /// Input files with their digests.
    pub inputs: &'a BTreeMap<String, InputFile>,
    /// The digests of what `[worktree] link` links in, by name.
    pub links: &'a BTreeMap<String, String>,
    /// `[environment] probe`: command → output.
    pub probes: &'a BTreeMap<String, String>,
    /// The environment that commands inherit.
    pub surroundings: &'a Surroundings,
    /// The machine. Its class separates runs; its core count is the default of `{jobs}` and
    /// `{threads}`.
    pub machine: &'a Machine,
    /// The nodes that build, if they are others than those that run.
    pub build_node: Option<&'a BuildNode>,
}

impl Circumstances<'_> {
    fn or_cores(&self, number: Option<u32>) -> String {
        number.map_or_else(|| self.machine.cores.to_string(), |number| number.to_string())
    }

    /// `{jobs}`: the number, or else the cores of the machine that builds.
    pub(crate) fn jobs(&self, number: Option<u32>) -> String {
        let builds = self.build_node.map_or(self.machine, |node| &node.machine);
        number.map_or_else(|| builds.cores.to_string(), |number| number.to_string())
    }
}

/// The key of a commit's build. Inputs: the tree with its submodule pins, the recipe before paths
/// are filled in, what is linked in, the input files that the recipe names, the declared and
/// inherited environment, the compilers, the probes' output, and the commit if the recipe names it.
/// If other nodes build than run, then compilers, probes and inherited environment are those of the
/// nodes that build, and their class of machine is an input too: a compiler may use all that its
/// own processor can do.
pub(crate) fn build_key(
    tree: &str,
    commit: &CommitId,
    config: &Config,
    around: Circumstances<'_>,
) -> BuildKey {
    let build = &config.build;
    let templates =
        || build.commands.iter().flat_map(|command| &command.words).chain(build.env.values());
    let mut hasher = KeyHasher::new("build")
        .field("tree", tree)
        .list("link", &config.worktree.link)
        .field("submodules", &config.worktree.submodules.to_string())
        .field("mode", &format!("{:?}", build.mode))
        .field("jobs", &around.jobs(build.jobs))
        .field("threads", &around.or_cores(config.run.threads));
    // Added only if set, so that older builds keep their keys.
    if config.home == HomeUse::Empty {
        hasher = hasher.field("home", "empty");
    }
    // A build of a search that used this mode may have an object of another commit.
    if !config.build.direct_mode {
        hasher = hasher.field("direct mode", "off");
    }
    if config.worktree.lfs {
        hasher = hasher.field("lfs", "true");
    }
    // The sandbox can change a build (no network) and a run (no settings to load). The run key
    // contains the build key, so one field is enough for both.
    if config.run.sandbox {
        hasher = hasher.field("sandbox", "true");
    }
    for name in &config.worktree.link {
        if let Some(digest) = around.links.get(name) {
            hasher = hasher.field("linked", name).field("digest", digest);
        }
    }
    for command in &build.commands {
        hasher = command_field(hasher, command);
    }
    hasher = env_field(hasher, &build.env);
    let (probes, surroundings) = match around.build_node {
        None => (around.probes, around.surroundings),
        Some(node) => {
            hasher = hasher.field("build machine", &node.machine.class);
            (&node.environment, &node.surroundings)
        }
    };
    hasher = machine_fields(hasher, probes, surroundings);
    let inherited = surroundings.of_builds(&config.variables);
    hasher = inherited_fields(hasher, inherited, &build.env);
    hasher = input_fields(hasher, templates, around.inputs);
    commit_field(hasher, templates(), commit).build_key()
}

/// The key of a prepare step, which runs between build and measures. Inputs: the build, the step's
/// command and required outputs, the content of the input files that it names, its environment,
/// and the keys of the steps whose folders it names.
pub(crate) fn prepare_key(
    build: &BuildKey,
    commit: &CommitId,
    prepare: &Prepare,
    config: &Config,
    around: Circumstances<'_>,
) -> BuildKey {
    let templates = || prepare.templates();
    let mut hasher = KeyHasher::new("prepare")
        .field("build", build.as_str())
        .field("name", &prepare.name)
        .field("threads", &around.or_cores(config.run.threads))
        .list("outputs", &prepare.outputs);
    hasher = command_field(hasher, &prepare.command);
    hasher = run_environment(hasher, &prepare.env, config, around);
    for before in config.prepares_of(templates()).into_iter().filter(|p| p.name != prepare.name) {
        let key = prepare_key(build, commit, before, config, around);
        hasher = hasher.field("prepare", key.as_str());
    }
    hasher = input_fields(hasher, templates, around.inputs);
    commit_field(hasher, templates(), commit).build_key()
}

/// The key of a measure's run. Inputs: the build, the measure's name and commands, the content of
/// the input files that it names, its prepare steps, its environment, and the machine's class and
/// usable cores. Two measures with the same command run separately, so each reading has its own
/// run and log.
pub(crate) fn run_key(
    build: &BuildKey,
    commit: &CommitId,
    measure: &Measure,
    config: &Config,
    around: Circumstances<'_>,
) -> RunKey {
    let commands =
        || std::iter::once(&measure.command).chain(&measure.before).chain(&measure.after);
    let templates = || measure.templates();
    let mut hasher = KeyHasher::new("run")
        .field("build", build.as_str())
        .field("measure", &measure.name)
        .field("machine", &around.machine.class)
        .field("cores", &around.machine.cores.to_string())
        .field("threads", &around.or_cores(config.run.threads))
        .field("chunks", &format!("{:?}", config.run.chunks))
        .field("before", &measure.before.len().to_string())
        .field("cwd", measure.cwd.as_ref().map_or("{src}", Template::text));
    // The key of the build has those of the nodes that build.
    if around.build_node.is_some() {
        hasher = machine_fields(hasher, around.probes, around.surroundings);
    }
    // Added only if set, so that older runs keep their keys.
    match measure.exclusive {
        Exclusive::No => {}
        Exclusive::Runs => hasher = hasher.field("exclusive", "runs"),
        Exclusive::All => hasher = hasher.field("exclusive", "true"),
    }
    if measure.warmup > 0 {
        hasher = hasher.field("warmup", &measure.warmup.to_string());
    }
    // The log contains the file's content.
    if let Some(file) = &measure.file {
        hasher = hasher.field("file", file);
    }
    for prepare in config.prepares_of(templates()) {
        let key = prepare_key(build, commit, prepare, config, around);
        hasher = hasher.field("prepare", key.as_str());
    }
    for command in commands() {
        hasher = command_field(hasher, command);
    }
    hasher = run_environment(hasher, &measure.env, config, around);
    hasher = input_fields(hasher, templates, around.inputs);
    commit_field(hasher, templates(), commit).run_key()
}

/// Adds what a machine says of itself: the output of probes, and its compilers.
fn machine_fields(
    mut hasher: KeyHasher,
    probes: &BTreeMap<String, String>,
    surroundings: &Surroundings,
) -> KeyHasher {
    for (probe, output) in probes {
        hasher = hasher.field("probe", probe).field("output", output);
    }
    for (name, version) in &surroundings.compilers {
        hasher = hasher.field("compiler", name).field("version", version);
    }
    hasher
}

/// Adds the input files that the templates name, by content.
fn input_fields<'a, I: Iterator<Item = &'a Template>>(
    mut hasher: KeyHasher,
    templates: impl Fn() -> I,
    inputs: &BTreeMap<String, InputFile>,
) -> KeyHasher {
    for (name, input) in inputs {
        let is_named = |p: &Placeholder| matches!(p, Placeholder::Input(n) if n == name);
        if templates().any(|template| template.placeholders().any(is_named)) {
            hasher = hasher.field("input", name).field("sha256", &input.sha256);
        }
    }
    hasher
}

fn command_field(hasher: KeyHasher, command: &Command) -> KeyHasher {
    hasher.list("command", command.words.iter().map(Template::text))
}

fn env_field(mut hasher: KeyHasher, env: &BTreeMap<String, Template>) -> KeyHasher {
    for (name, value) in env {
        hasher = hasher.field("env", name).field("value", value.text());
    }
    hasher
}

/// Adds the variables of a run or of a `[[prepare]]` step: those that it declares, those of the
/// executor's slots, and the inherited ones.
fn run_environment(
    hasher: KeyHasher,
    declared: &BTreeMap<String, Template>,
    config: &Config,
    around: Circumstances<'_>,
) -> KeyHasher {
    let hasher = executor_fields(env_field(hasher, declared), config);
    let inherited = around.surroundings.of_runs(&config.variables);
    let inherited = inherited.filter(|(name, _)| !config.executor.sets(name));
    inherited_fields(hasher, inherited, declared)
}

/// Adds the variables of the executor's slots. A value that differs between slots picks a device:
/// it is not in the key, so that runs of all slots of a hunt are compared.
fn executor_fields(mut hasher: KeyHasher, config: &Config) -> KeyHasher {
    for (name, value) in config.executor.variables() {
        hasher = hasher.field("slot", name).field("value", value.unwrap_or("differs"));
    }
    hasher
}

/// Adds inherited variables that the recipe does not set.
fn inherited_fields<'a>(
    hasher: KeyHasher,
    inherited: impl Iterator<Item = (&'a str, &'a str)>,
    declared: &BTreeMap<String, Template>,
) -> KeyHasher {
    let kept = inherited.filter(|(name, _)| !declared.contains_key(*name));
    hasher.list("inherited", kept.flat_map(|(name, value)| [name, value]))
}

/// Adds the commit if the recipe names it. Otherwise equal trees give equal builds.
fn commit_field<'a>(
    hasher: KeyHasher,
    templates: impl Iterator<Item = &'a Template>,
    commit: &CommitId,
) -> KeyHasher {
    let mut templates = templates;
    if templates.any(|t| t.placeholders().any(Placeholder::depends_on_commit)) {
        hasher.field("commit", commit.as_str())
    } else {
        hasher
    }
}

#[cfg(test)]
mod tests;
