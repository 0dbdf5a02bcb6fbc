//! What a hunt's results depend on apart from the commit: inputs, probes, inherited variables,
//! compilers, machine.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::build::{Circumstances, MISSING, linked_digest};
use crate::config::Config;
use crate::evaluation::{COMPILERS, Phase, Surroundings};
use crate::process::{Invocation, tool};
use crate::store::journal::{BuildNode, InputFile, Machine};
use crate::store::{self, Digests, KeyHasher, Store, StoreError};

use super::{InputError, OracleError};

/// The circumstances of a hunt, gathered once and written into the journal.
#[derive(Clone, Debug)]
pub(crate) struct Facts {
    /// `[inputs]`, with digests.
    pub inputs: BTreeMap<String, InputFile>,
    /// The digests of what `[worktree] link` links in, by name.
    pub links: BTreeMap<String, String>,
    /// `[environment] probe`: command → output.
    pub environment: BTreeMap<String, String>,
    /// The relevant inherited variables and compilers.
    pub surroundings: Surroundings,
    /// The machine.
    pub machine: Machine,
    /// The nodes that build, if they are others than those that run.
    pub build_node: Option<BuildNode>,
}

impl Facts {
    /// Gathers all facts. `checkout`: the user's checkout, which links lead to.
    pub(crate) fn gather(
        config: &Config,
        store: &Store,
        checkout: Option<&Path>,
    ) -> Result<Self, OracleError> {
        let inputs = inputs(config, store)?;
        let machine = machine();
        let links = checkout.into_iter().flat_map(|checkout| {
            config.links().into_iter().map(|name| {
                let digest = linked_digest(&checkout.join(&name));
                (name, digest)
            })
        });
        Ok(Self {
            inputs,
            links: links.collect(),
            environment: probed(config)?,
            surroundings: surroundings(config),
            machine: with_cores_of_slot(machine, config.executor.cores()),
            build_node: None,
        })
    }

    /// The facts that build and run keys depend on.
    pub(super) fn circumstances(&self) -> Circumstances<'_> {
        Circumstances {
            inputs: &self.inputs,
            links: &self.links,
            probes: &self.environment,
            surroundings: &self.surroundings,
            machine: &self.machine,
            build_node: self.build_node.as_ref(),
        }
    }

    /// Fails if an input changed since the hunt began; cheap for unmodified files.
    pub(crate) fn check_inputs(&self, config: &Config, store: &Store) -> Result<(), OracleError> {
        let mut digests = Digests::open(store);
        for (name, known) in &self.inputs {
            if digest(&mut digests, config, store, name)? != known.sha256 {
                let path = known.path.clone();
                return Err(InputError::Changed { name: name.clone(), path }.into());
            }
        }
        Ok(())
    }
}

impl Facts {
    /// The GPUs of the hunt that the driver does not list now, in words; `None` if all are there.
    /// Asks the driver only if the hunt began with GPUs.
    pub(super) fn lost_gpus(&self) -> Option<String> {
        let began = &self.machine.gpus;
        if began.is_empty() { None } else { lost(began, &gpus()) }
    }
}

/// What is missing of the GPUs that there were.
fn lost(before: &[String], now: &[String]) -> Option<String> {
    let count = |all: &[String], gpu: &String| all.iter().filter(|one| *one == gpu).count();
    let gone = before.iter().find(|gpu| count(now, gpu) < count(before, gpu))?;
    Some(format!("nvidia-smi lists {} of {} GPUs now; {gone} is gone", now.len(), before.len()))
}

impl Facts {
    /// Fails if something that is linked in changed since the hunt began. A target that was missing
    /// at the start may appear, since no earlier build could use it.
    pub(crate) fn check_links(&self, checkout: Option<&Path>) -> Result<(), OracleError> {
        let Some(checkout) = checkout else { return Ok(()) };
        for (name, known) in self.links.iter().filter(|(_, known)| *known != MISSING) {
            if linked_digest(&checkout.join(name)) != *known {
                return Err(InputError::LinkChanged(name.clone()).into());
            }
        }
        Ok(())
    }
}

/// `[inputs]` with their digests. Runs nothing.
pub(crate) fn inputs(
    config: &Config,
    store: &Store,
) -> Result<BTreeMap<String, InputFile>, OracleError> {
    let mut digests = Digests::open(store);
    let mut inputs = BTreeMap::new();
    for name in config.inputs.keys() {
        let sha256 = digest(&mut digests, config, store, name)?;
        let value = config.input_value(name).map_err(InputError::from)?;
        let path = value.to_string_lossy().into_owned();
        inputs.insert(name.clone(), InputFile { path, sha256 });
    }
    Ok(inputs)
}

/// Checks that an input exists and can be read, without reading it.
pub(crate) fn check_readable(config: &Config, name: &str) -> Result<(), InputError> {
    let files = config.input_paths(name)?;
    store::check_readable(&files).map_err(|error| match error {
        StoreError::Io { path, source } => {
            InputError::Unreadable { name: name.to_owned(), path, source }
        }
        other => unreachable!("only a file can be unreadable: {other}"),
    })
}

/// The digest of an input. A read error counts as the input's, unless it concerns a file of the
/// store.
fn digest(
    digests: &mut Digests,
    config: &Config,
    store: &Store,
    name: &str,
) -> Result<String, OracleError> {
    let files = config.input_paths(name).map_err(InputError::from)?;
    digests.of(&files).map_err(|error| match error {
        StoreError::Io { path, source } if !path.starts_with(store.root()) => {
            InputError::Unreadable { name: name.to_owned(), path, source }.into()
        }
        other => other.into(),
    })
}

/// The probes' output for a confirmation's build. The probes run again, since the machine may have
/// changed during the hunt. Empty in other phases.
pub(super) fn probed_for(
    phase: Phase,
    config: &Config,
) -> Result<BTreeMap<String, String>, OracleError> {
    if phase == Phase::Confirm { probed(config) } else { Ok(BTreeMap::new()) }
}

/// What builds on this node depend on.
pub(crate) fn build_node(config: &Config) -> Result<BuildNode, OracleError> {
    let (surroundings, environment) = (surroundings(config), probed(config)?);
    Ok(BuildNode { machine: machine(), surroundings, environment })
}

/// The current output of each probe, by its command.
fn probed(config: &Config) -> Result<BTreeMap<String, String>, OracleError> {
    let asked = config.probes.iter();
    asked.map(|words| Ok((words.join(" "), probe(words)?))).collect()
}

/// The relevant variables that commands inherit, and the compilers in PATH.
fn surroundings(config: &Config) -> Surroundings {
    let text = |value: OsString| value.to_string_lossy().into_owned();
    let variables = std::env::vars_os().map(|(name, value)| (text(name), text(value)));
    let variables = variables.filter(|(name, _)| !config.executor.chooses_devices_by(name));
    let compilers = if config.build.commands.is_empty() { BTreeMap::new() } else { compilers() };
    Surroundings { compilers, ..Surroundings::of(variables, &config.variables) }
}

/// The `--version` output of the compilers in PATH; compilers without output are left out.
/// Each is started by its own name, since all may be links to one wrapper such as ccache.
fn compilers() -> BTreeMap<String, String> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders: Vec<PathBuf> = std::env::split_paths(&path).collect();
    let said = COMPILERS.into_iter().filter_map(|name| {
        let mut here = folders.iter().map(|folder| folder.join(name));
        let program = here.find(|program| program.is_file())?;
        Some((name.to_owned(), version(&program)?))
    });
    said.collect()
}

/// The `--version` output of a compiler.
fn version(program: &Path) -> Option<String> {
    let invocation =
        Invocation::new(program).args(["--version"]).timeout(Some(Duration::from_secs(20)));
    let output = tool(&invocation).ok().filter(|output| output.ended.is_success())?;
    let text = String::from_utf8_lossy(&output.stdout);
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// A probe's output, or how a failed probe ended, which is compared too.
fn probe(words: &[String]) -> Result<String, OracleError> {
    let invocation =
        Invocation::new(&words[0]).args(&words[1..]).timeout(Some(Duration::from_secs(20)));
    let output = tool(&invocation)?;
    let text = String::from_utf8_lossy(&output.stdout);
    let text = text.trim();
    Ok(if output.ended.is_success() { text.to_owned() } else { output.ended.to_string() })
}

/// The machine as runs see it. `cores`: how many a slot has, if the configuration says it.
fn with_cores_of_slot(machine: Machine, cores: Option<usize>) -> Machine {
    let Some(cores) = cores else { return machine };
    Machine { cores, all_cores: Some(machine.cores), ..machine }
}

/// Reads the machine's CPU, memory, GPUs and kernel.
pub(crate) fn machine() -> Machine {
    let cpuinfo = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let field = |name: &str| {
        cpuinfo
            .lines()
            .find(|line| line.starts_with(name))
            .and_then(|line| line.split_once(':'))
            .map_or_else(String::new, |(_, value)| value.trim().to_owned())
    };
    let cpu = field("model name");
    let flags = field("flags") + &field("Features");
    let memory = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let memory_kib: u64 = memory
        .lines()
        .find_map(|line| line.strip_prefix("MemTotal:"))
        .and_then(|rest| rest.trim().trim_end_matches("kB").trim().parse().ok())
        .unwrap_or(0);
    let gpus = gpus();
    let mut class = KeyHasher::new("machine")
        .field("cpu", &cpu)
        .field("flags", &flags)
        .list("gpu", &gpus)
        .hex();
    class.truncate(16);
    let uname = rustix::system::uname();
    Machine {
        cpu: if cpu.is_empty() { std::env::consts::ARCH.to_owned() } else { cpu },
        cores: std::thread::available_parallelism().map_or(1, usize::from),
        all_cores: None,
        memory_mib: memory_kib / 1024,
        gpus,
        kernel: format!(
            "{} {}",
            uname.sysname().to_string_lossy(),
            uname.release().to_string_lossy()
        ),
        class,
    }
}

/// Name, driver and memory of each NVIDIA GPU. Starts no `nvidia-smi` if there is no driver.
fn gpus() -> Vec<String> {
    if !Path::new("/proc/driver/nvidia/version").exists() {
        return Vec::new();
    }
    let query = ["--query-gpu=name,driver_version,memory.total", "--format=csv,noheader"];
    let invocation =
        Invocation::new("nvidia-smi").args(query).timeout(Some(Duration::from_secs(20)));
    match tool(&invocation) {
        Ok(output) if output.ended.is_success() => String::from_utf8_lossy(&output.stdout)
            .lines()
            .map(|line| line.trim().to_owned())
            .collect(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gpu_that_is_gone_is_missed_also_beside_its_like() {
        let gpus = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
        let two = gpus(&["H100, 550, 81559 MiB", "H100, 550, 81559 MiB"]);
        assert_eq!(lost(&two, &two), None);
        let said = lost(&two, &two[1..]).unwrap();
        assert_eq!(said, "nvidia-smi lists 1 of 2 GPUs now; H100, 550, 81559 MiB is gone");
        assert!(lost(&two, &[]).unwrap().contains("0 of 2 GPUs"));
        assert_eq!(lost(&two, &gpus(&["A100, 550, 40960 MiB", &two[0], &two[0]])), None);
    }
}
