//! What the results of a hunt depend on besides the commit: inputs, probes, the machine.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::build::Circumstances;
use crate::config::Config;
use crate::evaluation::{COMPILERS, Phase, Surroundings};
use crate::process::{Invocation, tool};
use crate::store::journal::{InputFile, Machine};
use crate::store::{Digests, KeyHasher, Store, StoreError};

use super::OracleError;

/// An input that cannot be trusted.
#[derive(Debug, thiserror::Error)]
pub enum InputError {
    /// It is not there.
    #[error(transparent)]
    Missing(#[from] crate::config::InputError),
    /// It is there, and cannot be read.
    #[error("inputs.{name}: cannot read {}", path.display())]
    Unreadable {
        /// Its name in the configuration.
        name: String,
        /// The file, which may lie in a folder that is the input.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// Its content is not what the hunt began with.
    #[error("inputs.{name}: {path} changed since the hunt began")]
    Changed {
        /// Its name in the configuration.
        name: String,
        /// Where it lies.
        path: String,
    },
}

impl InputError {
    /// What to do about it.
    pub fn hint(&self) -> String {
        match self {
            Self::Missing(error) => error.hint(),
            Self::Unreadable { .. } => {
                "check its permissions and its disk; whoever hunts must read every input".to_owned()
            }
            Self::Changed { .. } => {
                "put the input back as it was and `bisect-ppl resume`, or start a new hunt"
                    .to_owned()
            }
        }
    }
}

/// The facts, gathered once and written into the journal.
#[derive(Clone, Debug)]
pub struct Facts {
    /// `[inputs]`, with digests.
    pub inputs: BTreeMap<String, InputFile>,
    /// `[environment] probe`: command → output.
    pub environment: BTreeMap<String, String>,
    /// What commands inherit.
    pub surroundings: Surroundings,
    /// The machine.
    pub machine: Machine,
}

impl Facts {
    /// Gathers them.
    pub fn gather(config: &Config, store: &Store) -> Result<Self, OracleError> {
        let mut digests = Digests::open(store);
        let mut inputs = BTreeMap::new();
        for name in config.inputs.keys() {
            let sha256 = digest(&mut digests, config, store, name)?;
            let value = config.input_value(name).map_err(InputError::from)?;
            let path = value.to_string_lossy().into_owned();
            inputs.insert(name.clone(), InputFile { path, sha256 });
        }
        Ok(Self {
            inputs,
            environment: probed(config)?,
            surroundings: surroundings(config),
            machine: machine(),
        })
    }

    /// What keys are made from.
    pub(super) fn circumstances(&self) -> Circumstances<'_> {
        Circumstances {
            inputs: &self.inputs,
            probes: &self.environment,
            surroundings: &self.surroundings,
            machine: &self.machine,
        }
    }

    /// Whether the inputs are still what they were; cheap where nothing touched them.
    pub fn check_inputs(&self, config: &Config, store: &Store) -> Result<(), OracleError> {
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

/// The digest of an input. What cannot be read is the input, unless it is the cache itself.
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

/// What the probes say when a build is made that is compared with another one in the end, since
/// the machine may have changed under way.
pub(super) fn probed_for(
    phase: Phase,
    config: &Config,
) -> Result<BTreeMap<String, String>, OracleError> {
    if phase == Phase::Confirm { probed(config) } else { Ok(BTreeMap::new()) }
}

/// What each probe says now, by its command.
fn probed(config: &Config) -> Result<BTreeMap<String, String>, OracleError> {
    let asked = config.probes.iter();
    asked.map(|words| Ok((words.join(" "), probe(words)?))).collect()
}

/// What commands get from whoever started this program, and the compilers that they find.
fn surroundings(config: &Config) -> Surroundings {
    let text = |value: OsString| value.to_string_lossy().into_owned();
    let variables = std::env::vars_os().map(|(name, value)| (text(name), text(value)));
    let compilers = if config.build.commands.is_empty() { BTreeMap::new() } else { compilers() };
    Surroundings { compilers, ..Surroundings::of(variables, &config.variables) }
}

/// The compilers in PATH and what they say of their version; one that says nothing is left out.
/// Each is asked by its own name: behind all of them may stand one wrapper such as ccache.
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

/// What a compiler says of its version.
fn version(program: &Path) -> Option<String> {
    let invocation =
        Invocation::new(program).args(["--version"]).timeout(Some(Duration::from_secs(20)));
    let output = tool(&invocation).ok().filter(|output| output.ended.is_success())?;
    let text = String::from_utf8_lossy(&output.stdout);
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// A probe's output; a probe that cannot run says so, which is a fact as well.
fn probe(words: &[String]) -> Result<String, OracleError> {
    let invocation =
        Invocation::new(&words[0]).args(&words[1..]).timeout(Some(Duration::from_secs(20)));
    let output = tool(&invocation)?;
    let text = String::from_utf8_lossy(&output.stdout);
    let text = text.trim();
    Ok(if output.ended.is_success() { text.to_owned() } else { output.ended.to_string() })
}

/// Reads what the machine tells of itself.
pub fn machine() -> Machine {
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

/// The GPUs with their driver, where there is a driver to ask; a machine without one is asked
/// nothing.
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
