//! Folders that a build or a run gets for itself, in place of ones that all programs share: what one
//! commit leaves in them must not reach another commit.

use std::io::ErrorKind::{PermissionDenied, Unsupported};
use std::path::{Path, PathBuf};

use crate::config::HomeUse;
use crate::evaluation::Phase;

use super::{Slot, SlotError};

/// Entries of the home folder with tools, settings and downloads, but no results of an engine. An
/// empty home folder has links to them.
const TOOLS: [&str; 44] = [
    ".asdf",
    ".bun",
    ".cabal",
    ".cargo",
    ".ccache",
    ".conan",
    ".conan2",
    ".conda",
    ".condarc",
    ".config",
    ".deno",
    ".ghcup",
    ".git-credentials",
    ".gitconfig",
    ".gnupg",
    ".gradle",
    ".julia",
    ".juliaup",
    ".m2",
    ".mamba",
    ".netrc",
    ".nix-defexpr",
    ".nix-profile",
    ".npm",
    ".npmrc",
    ".nvm",
    ".opam",
    ".pyenv",
    ".rbenv",
    ".rustup",
    ".sdkman",
    ".ssh",
    ".stack",
    ".vcpkg",
    ".volta",
    "anaconda3",
    "go",
    "mambaforge",
    "micromamba",
    "miniconda3",
    "miniforge3",
    ".local/bin",
    ".local/lib",
    ".local/share/uv",
];

/// The same in the cache folder of the home folder.
const CACHES: [&str; 14] = [
    "bazel",
    "bazelisk",
    "ccache",
    "conan",
    "go-build",
    "huggingface",
    "llama.cpp",
    "nix",
    "pip",
    "sccache",
    "torch",
    "uv",
    "vcpkg",
    "zig",
];

/// The variables that name a build's or a run's private folders, which are emptied here. `TMPDIR`
/// is always one of them. `HOME` is one if this phase needs an empty home folder and the user has a
/// home folder.
pub(crate) fn private_folders(
    slot: &Slot,
    home: HomeUse,
    phase: Phase,
) -> Result<Vec<(&'static str, PathBuf)>, SlotError> {
    let own = std::env::var_os("HOME").map(PathBuf::from);
    folders(slot, own.filter(|own| own.is_absolute() && home.is_empty_in(phase)))
}

/// The private folders. `own`: the user's home folder, if it is replaced by an empty one.
fn folders(slot: &Slot, own: Option<PathBuf>) -> Result<Vec<(&'static str, PathBuf)>, SlotError> {
    let temporary = slot.root().join("tmp");
    slot.fresh(&temporary)?;
    let mut variables = vec![("TMPDIR", temporary)];
    if let Some(own) = own {
        let empty = slot.root().join("home");
        slot.fresh(&empty)?;
        let entries = TOOLS.iter().map(PathBuf::from);
        let caches = CACHES.iter().map(|name| Path::new(".cache").join(name));
        for entry in entries.chain(caches) {
            if !link(&own.join(&entry), &empty.join(&entry))? {
                return Ok(variables);
            }
        }
        variables.push(("HOME", empty));
    }
    Ok(variables)
}

/// Links to a file or folder, if it exists. False if the disk has no links (FAT, exFAT): then the
/// home folder stays the user's.
fn link(to: &Path, at: &Path) -> Result<bool, SlotError> {
    if std::fs::symlink_metadata(to).is_err() {
        return Ok(true);
    }
    if let Some(parent) = at.parent() {
        std::fs::create_dir_all(parent).map_err(SlotError::at(parent))?;
    }
    match std::os::unix::fs::symlink(to, at) {
        Ok(()) => Ok(true),
        // FUSE and the kernel's drivers report different errors.
        Err(error) if matches!(error.kind(), Unsupported | PermissionDenied) => Ok(false),
        Err(error) => Err(SlotError::at(at)(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::build::Slots;

    #[test]
    fn an_empty_home_has_tools_and_no_results() {
        let place = tempfile::tempdir().unwrap();
        let own = place.path().join("ada");
        for folder in [".cargo/bin", ".cache/ccache", ".cache/engine", ".engine", "models"] {
            std::fs::create_dir_all(own.join(folder)).unwrap();
        }
        let slot = Slots::new(&place.path().join("slots")).unwrap().acquire(|_| true).unwrap();
        let found = folders(&slot, Some(own.clone())).unwrap();
        let [("TMPDIR", temporary), ("HOME", home)] = &found[..] else { panic!("{found:?}") };
        assert_eq!(std::fs::read_link(home.join(".cargo")).unwrap(), own.join(".cargo"));
        assert!(home.join(".cache/ccache").is_dir());
        for hidden in [".cache/engine", ".engine", "models"] {
            assert!(!home.join(hidden).exists(), "{hidden}");
        }
        // What the commit before left is gone, and what the links lead to is not.
        std::fs::write(temporary.join("left"), "").unwrap();
        std::fs::write(home.join("left"), "").unwrap();
        folders(&slot, Some(own.clone())).unwrap();
        assert!(!temporary.join("left").exists() && !home.join("left").exists());
        assert!(own.join(".cargo/bin").is_dir() && own.join(".cache/ccache").is_dir());
        assert_eq!(folders(&slot, None).unwrap().len(), 1);
    }
}
