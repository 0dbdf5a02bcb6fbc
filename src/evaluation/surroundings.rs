//! The inherited variables and the compilers in PATH that can change results or speed. No IO.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// The relevant variables and compilers at the start of a hunt.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Surroundings {
    /// Inherited variables by name. A digest replaces the value of a secret.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub variables: BTreeMap<String, String>,
    /// The `--version` output of each compiler in PATH, by the compiler's name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub compilers: BTreeMap<String, String>,
}

type Values = BTreeMap<String, String>;

/// Names of compilers that builds call by default.
pub(crate) const COMPILERS: [&str; 9] =
    ["cc", "c++", "gcc", "g++", "clang", "clang++", "nvcc", "hipcc", "rustc"];

/// Variables that change the output of a compiler or build system. A final `*` matches any rest.
const OF_BUILDS: [&str; 45] = [
    "AR",
    "ASFLAGS",
    "CARGO_BUILD_*",
    "CARGO_ENCODED_RUSTFLAGS",
    "CARGO_PROFILE_*",
    "CC",
    "CFLAGS",
    "CMAKE_*",
    "COMPILER_PATH",
    "CONDA_PREFIX",
    "CPATH",
    "CPLUS_INCLUDE_PATH",
    "CPP",
    "CPPFLAGS",
    "CUDAARCHS",
    "CUDACXX",
    "CUDAFLAGS",
    "CUDAHOSTCXX",
    "CUDA_HOME",
    "CUDA_PATH",
    "CXX",
    "CXXFLAGS",
    "C_INCLUDE_PATH",
    "FC",
    "FFLAGS",
    "GGML_*",
    "HIPCXX",
    "HIPFLAGS",
    "HIP_PATH",
    "LD",
    "LDFLAGS",
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
    "LIBRARY_PATH",
    "LIBS",
    "LLAMA_*",
    "NVCC_*",
    "PKG_CONFIG_PATH",
    "ROCM_PATH",
    "RUSTC",
    "RUSTFLAGS",
    "RUSTUP_TOOLCHAIN",
    "TORCH_CUDA_ARCH_LIST",
    "VIRTUAL_ENV",
    "VLLM_*",
];

/// Variables that change a program's output or speed.
const OF_RUNS: [&str; 49] = [
    "AMD_*",
    "ATEN_*",
    "BLIS_*",
    "CANDLE_*",
    "CONDA_PREFIX",
    "CUBLAS_*",
    "CUDA_*",
    "CUDNN_*",
    "DNNL_*",
    "DYLD_*",
    "GGML_*",
    "GLIBC_TUNABLES",
    "GOMP_*",
    "GOTO_*",
    "GPU_*",
    "HIP_*",
    "HSA_*",
    "JAX_*",
    "KMP_*",
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
    "LLAMA_*",
    "MALLOC_*",
    "MIOPEN_*",
    "MKL_*",
    "NCCL_*",
    "NUMEXPR_*",
    "NVIDIA_*",
    "OMP_*",
    "ONEAPI_*",
    "ONEDNN_*",
    "OPENBLAS_*",
    "PYTHONHASHSEED",
    "PYTHONHOME",
    "PYTHONOPTIMIZE",
    "PYTHONPATH",
    "PYTORCH_*",
    "RAYON_*",
    "ROCM_*",
    "ROCR_*",
    "SYCL_*",
    "TF_*",
    "TORCH_*",
    "TRITON_*",
    "VECLIB_*",
    "VIRTUAL_ENV",
    "VLLM_*",
    "XLA_*",
    "ZE_*",
];

/// A variable is a secret if its name contains one of these.
const SECRET: [&str; 6] = ["TOKEN", "SECRET", "PASSWORD", "PASSWD", "CREDENTIAL", "API_KEY"];

impl Surroundings {
    /// Keeps the relevant variables. `added`: further names from the configuration. An empty value
    /// is kept: an unset `CUDA_VISIBLE_DEVICES` shows every GPU, an empty one shows none.
    pub(crate) fn of(
        variables: impl IntoIterator<Item = (String, String)>,
        added: &[String],
    ) -> Self {
        let counts = |name: &str| {
            is_among(&OF_BUILDS, name) || is_among(&OF_RUNS, name) || is_among(added, name)
        };
        let kept = variables.into_iter().filter(|(name, _)| counts(name));
        let variables = kept.map(|(name, value)| {
            let value = if is_secret(&name) { digest(&value) } else { value };
            (name, value)
        });
        Self { variables: variables.collect(), compilers: BTreeMap::new() }
    }

    /// The variables that a build may depend on.
    pub(crate) fn of_builds<'a>(
        &'a self,
        added: &'a [String],
    ) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.among(&OF_BUILDS, added)
    }

    /// The variables that a run may depend on.
    pub(crate) fn of_runs<'a>(
        &'a self,
        added: &'a [String],
    ) -> impl Iterator<Item = (&'a str, &'a str)> {
        self.among(&OF_RUNS, added)
    }

    fn among<'a>(
        &'a self,
        names: &'static [&'static str],
        added: &'a [String],
    ) -> impl Iterator<Item = (&'a str, &'a str)> {
        let all = self.variables.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        all.filter(move |(name, _)| is_among(names, name) || is_among(added, name))
    }

    /// The variables and compilers that differ from `before`, in words.
    pub(crate) fn changes_since(&self, before: &Self) -> Vec<String> {
        let kinds = [
            ("", &before.variables, &self.variables),
            ("version of ", &before.compilers, &self.compilers),
        ];
        let of_kind = |(kind, before, now): (&str, &Values, &Values)| {
            let names: BTreeSet<&String> = before.keys().chain(now.keys()).collect();
            let changed = names.into_iter().filter(|name| before.get(*name) != now.get(*name));
            let in_words = |name: &String| {
                let said = |value: Option<&String>, secret: &str| match value {
                    Some(_) if is_secret(name) => secret.to_owned(),
                    Some(value) => format!("`{}`", value.lines().next().unwrap_or_default()),
                    None => "not set".to_owned(),
                };
                let [now, before] =
                    [said(now.get(name), "a secret"), said(before.get(name), "another secret")];
                format!("{kind}{name}: {now}, was {before}")
            };
            changed.map(in_words).collect::<Vec<_>>()
        };
        kinds.into_iter().flat_map(of_kind).collect()
    }
}

/// Whether a variable's name says that its value is secret, so that only its digest is kept.
pub(crate) fn is_secret(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    SECRET.iter().any(|part| name.contains(part))
}

fn is_among(names: &[impl AsRef<str>], name: &str) -> bool {
    names.iter().any(|known| match known.as_ref().strip_suffix('*') {
        Some(beginning) => name.starts_with(beginning),
        None => known.as_ref() == name,
    })
}

fn digest(value: &str) -> String {
    let hash = Sha256::digest(value.as_bytes());
    hash.iter().take(8).fold("sha256:".to_owned(), |text, byte| format!("{text}{byte:02x}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(variables: &[(&str, &str)], added: &[&str]) -> Surroundings {
        let owned = variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let added: Vec<String> = added.iter().map(|name| (*name).to_owned()).collect();
        Surroundings::of(owned, &added)
    }

    #[test]
    fn what_changes_results_is_kept_and_nothing_else() {
        let shell = [
            ("HOME", "/root"),
            ("OMP_NUM_THREADS", "4"),
            ("OMPX", "1"),
            ("CFLAGS", "-O3"),
            ("MY_MODE", "fast"),
            ("CUDA_VISIBLE_DEVICES", ""),
        ];
        let kept = of(&shell, &["MY_*"]);
        let names: Vec<_> = kept.variables.keys().map(String::as_str).collect();
        assert_eq!(names, ["CFLAGS", "CUDA_VISIBLE_DEVICES", "MY_MODE", "OMP_NUM_THREADS"]);
        let mine = ["MY_MODE".to_owned()];
        let builds: Vec<_> = kept.of_builds(&mine).map(|(name, _)| name).collect();
        assert_eq!(builds, ["CFLAGS", "MY_MODE"]);
        let runs: Vec<_> = kept.of_runs(&mine).map(|(name, _)| name).collect();
        assert_eq!(runs, ["CUDA_VISIBLE_DEVICES", "MY_MODE", "OMP_NUM_THREADS"]);
    }

    #[test]
    fn a_secret_is_known_by_its_digest_only() {
        let told = |value| of(&[("VLLM_API_KEY", value)], &[]).variables["VLLM_API_KEY"].clone();
        assert!(told("hunter2").starts_with("sha256:") && !told("hunter2").contains("hunter"));
        assert_ne!(told("hunter2"), told("hunter3"));
        let [now, before] = ["a", "b"].map(|value| of(&[("VLLM_API_KEY", value)], &[]));
        let said = now.changes_since(&before).join("; ");
        assert_eq!(said, "VLLM_API_KEY: a secret, was another secret");
    }

    #[test]
    fn the_first_change_is_told_with_both_values() {
        let [four, unset] = [of(&[("OMP_NUM_THREADS", "4")], &[]), of(&[], &[])];
        assert!(four.changes_since(&four).is_empty());
        assert_eq!(four.changes_since(&unset), ["OMP_NUM_THREADS: `4`, was not set"]);
        let with = |version: &str| Surroundings {
            compilers: BTreeMap::from([("cc".to_owned(), format!("cc {version}\nCopyright"))]),
            ..Surroundings::default()
        };
        let said = with("13").changes_since(&with("12")).join("; ");
        assert_eq!(said, "version of cc: `cc 13`, was `cc 12`");
    }
}
