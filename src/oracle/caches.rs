//! Variables that put run-time compilation caches below `{cache}`, so that no commit runs a kernel
//! that another commit compiled.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Variables that set the folder of compiled kernels, and that folder's name below `{cache}`.
const KERNEL_CACHE_DIRS: [(&str, &str); 17] = [
    ("XDG_CACHE_HOME", "xdg"),
    // The NVIDIA driver, for PTX and for shaders.
    ("CUDA_CACHE_PATH", "cuda"),
    ("__GL_SHADER_DISK_CACHE_PATH", "gl"),
    ("CUPY_CACHE_DIR", "cupy"),
    ("NUMBA_CACHE_DIR", "numba"),
    ("TRITON_CACHE_DIR", "triton"),
    ("TORCHINDUCTOR_CACHE_DIR", "inductor"),
    ("TORCH_EXTENSIONS_DIR", "torch-extensions"),
    ("VLLM_CACHE_ROOT", "vllm"),
    ("FLASHINFER_WORKSPACE_BASE", "flashinfer"),
    ("DG_JIT_CACHE_DIR", "deep-gemm"),
    ("TILELANG_CACHE_DIR", "tilelang"),
    ("MIOPEN_USER_DB_PATH", "miopen-db"),
    ("MIOPEN_CUSTOM_CACHE_DIR", "miopen"),
    // Intel's and Mesa's.
    ("SYCL_CACHE_DIR", "sycl"),
    ("NEO_CACHE_DIR", "neo"),
    ("MESA_SHADER_CACHE_DIR", "mesa"),
];

/// Variables that set the folder of downloads such as weights. By default this folder is below
/// `XDG_CACHE_HOME`. Runs get another `XDG_CACHE_HOME`, so these variables point to the user's
/// downloads.
const DOWNLOAD_DIRS: [(&str, &str); 3] =
    [("HF_HOME", "huggingface"), ("TORCH_HOME", "torch"), ("LLAMA_CACHE", "llama.cpp")];

/// Variables for the environment of every run. The measure's `env` overrides them. `own` reads
/// this process's environment.
pub(super) fn variables(
    cache: &Path,
    own: impl Fn(&str) -> Option<OsString>,
) -> Vec<(&'static str, PathBuf)> {
    let mut variables: Vec<_> =
        KERNEL_CACHE_DIRS.into_iter().map(|(name, folder)| (name, cache.join(folder))).collect();
    let absolute = |name| own(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let shared =
        absolute("XDG_CACHE_HOME").or_else(|| absolute("HOME").map(|home| home.join(".cache")));
    if let Some(shared) = shared {
        let unset = DOWNLOAD_DIRS.into_iter().filter(|(name, _)| own(name).is_none());
        variables.extend(unset.map(|(name, folder)| (name, shared.join(folder))));
    }
    variables
}

/// Whether the folder has any entry.
pub(super) fn is_used(cache: &Path) -> bool {
    std::fs::read_dir(cache).is_ok_and(|mut entries| entries.next().is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_go_below_the_cache_and_weights_stay() {
        let own = |name: &str| match name {
            "HOME" => Some("/home/ada".into()),
            "HF_HOME" => Some("/data/hf".into()),
            _ => None,
        };
        let found = variables(Path::new("/slot/cache"), own);
        let of = |name: &str| {
            found.iter().find(|(known, _)| *known == name).map(|(_, path)| path.to_str().unwrap())
        };
        assert_eq!(of("XDG_CACHE_HOME"), Some("/slot/cache/xdg"));
        assert_eq!(of("TRITON_CACHE_DIR"), Some("/slot/cache/triton"));
        assert_eq!(of("LLAMA_CACHE"), Some("/home/ada/.cache/llama.cpp"));
        assert_eq!(of("HF_HOME"), None, "what is set is left");
        let found = variables(Path::new("/c"), |name| {
            (name == "XDG_CACHE_HOME").then(|| "/big/cache".into())
        });
        assert!(found.contains(&("HF_HOME", "/big/cache/huggingface".into())), "{found:?}");
    }
}
