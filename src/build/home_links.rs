//! What an empty home folder has links to: tools, their settings and their caches, and downloads.
//! Only entries that are known to hold nothing else are linked: an engine that keeps results in
//! `~/.config/engine` or `~/.local/lib/engine` must not find them in an empty home folder.

use std::ffi::OsString;
use std::path::{Component, Path, PathBuf};

/// Entries of the home folder that tools change whenever they work: package managers, toolchains,
/// and caches of compilers.
const TOOLS: [&str; 30] = [
    ".asdf",
    ".bun",
    ".cabal",
    ".cargo",
    ".ccache",
    ".conan",
    ".conan2",
    ".conda",
    ".deno",
    ".ghcup",
    ".gnupg",
    ".gradle",
    ".julia",
    ".juliaup",
    ".m2",
    ".mamba",
    ".nix-defexpr",
    ".nix-profile",
    ".npm",
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
    "go",
];

/// Entries of the home folder with settings and installed programs, which builds and runs only
/// read.
const INSTALLED: [&str; 11] = [
    ".condarc",
    ".git-credentials",
    ".gitconfig",
    ".netrc",
    ".npmrc",
    "anaconda3",
    "mambaforge",
    "micromamba",
    "miniconda3",
    "miniforge3",
    ".local/bin",
];

/// The folder of installed libraries below the home folder.
const LIBRARIES: &str = ".local/lib";

/// A folder for files of all programs.
struct XdgFolder {
    /// The variable that names it.
    variable: &'static str,
    /// Its path below the home folder, if the variable is not set.
    usual: &'static str,
    /// Its entries that tools change whenever they work, and downloads.
    tools: &'static [&'static str],
    /// Its entries that builds and runs only read.
    installed: &'static [&'static str],
}

const XDG_FOLDERS: [XdgFolder; 4] = [
    XdgFolder {
        variable: "XDG_CACHE_HOME",
        usual: ".cache",
        tools: &[
            "bazel",
            "bazelisk",
            "ccache",
            "conan",
            "go-build",
            "huggingface/datasets",
            "huggingface/hub",
            "huggingface/modules",
            "huggingface/stored_tokens",
            "huggingface/token",
            "huggingface/xet",
            "llama.cpp",
            "nix",
            "pip",
            "sccache",
            // Compiled kernels and extensions of PyTorch are beside it.
            "torch/hub",
            "uv",
            "vcpkg",
            "zig",
        ],
        installed: &[],
    },
    XdgFolder {
        variable: "XDG_CONFIG_HOME",
        usual: ".config",
        tools: &["gcloud", "go"],
        installed: &[
            "bazel",
            "cabal",
            "ccache",
            "conan",
            "conda",
            "containers",
            "gh",
            "git",
            "nix",
            "nixpkgs",
            "npm",
            "pip",
            "pnpm",
            "pypoetry",
            "rclone",
            "sccache",
            "stack",
            "uv",
            "vcpkg",
            "yarn",
        ],
    },
    XdgFolder { variable: "XDG_DATA_HOME", usual: ".local/share", tools: &["uv"], installed: &[] },
    XdgFolder {
        variable: "XDG_STATE_HOME",
        usual: ".local/state",
        tools: &["nix"],
        installed: &[],
    },
];

/// A link in an empty home folder to the same path in the user's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct HomeLink {
    /// The path below the home folder.
    pub(super) path: PathBuf,
    /// Whether builds and runs only read what is there, and change it only if they keep results in
    /// it or install something.
    pub(super) is_installed: bool,
}

/// The user's home folder.
pub(super) fn user_home() -> Option<PathBuf> {
    std::env::var_os("HOME").map(PathBuf::from).filter(|own| own.is_absolute())
}

/// The variables of this environment that put a folder for files of all programs below the home
/// folder `own`, and that folder's path below it.
pub(super) fn xdg_folders(
    own: &Path,
    variable: impl Fn(&str) -> Option<OsString>,
) -> Vec<(&'static str, PathBuf)> {
    let below = |folder: &XdgFolder| {
        let named = PathBuf::from(variable(folder.variable)?);
        let path = named.strip_prefix(own).ok()?;
        let is_plain = path.components().all(|part| matches!(part, Component::Normal(_)));
        is_plain.then(|| (folder.variable, path.to_owned()))
    };
    XDG_FOLDERS.iter().filter_map(below).collect()
}

/// The links of an empty home folder. No link is below another one. `own`: the user's home folder.
/// `shared`: the paths from [`xdg_folders`].
pub(super) fn home_links(own: &Path, shared: &[(&'static str, PathBuf)]) -> Vec<HomeLink> {
    let mut links: Vec<HomeLink> = Vec::new();
    let mut add = |path: PathBuf, is_installed: bool| {
        if !links.iter().any(|link| path.starts_with(&link.path)) {
            links.push(HomeLink { path, is_installed });
        }
    };
    for name in TOOLS {
        add(PathBuf::from(name), false);
    }
    for name in INSTALLED {
        add(PathBuf::from(name), true);
    }
    for name in libraries(&own.join(LIBRARIES)) {
        add(Path::new(LIBRARIES).join(name), true);
    }
    for folder in &XDG_FOLDERS {
        let named = shared.iter().filter(|(variable, _)| *variable == folder.variable);
        let paths = named.map(|(_, path)| path.as_path());
        for path in [Path::new(folder.usual)].into_iter().chain(paths) {
            folder.tools.iter().for_each(|name| add(path.join(name), false));
            folder.installed.iter().for_each(|name| add(path.join(name), true));
        }
    }
    links
}

/// The folders for files of all programs, by their paths below the home folder: the usual ones, and
/// `shared` from [`xdg_folders`].
pub(super) fn program_folders<'s>(
    shared: &'s [(&'static str, PathBuf)],
) -> impl Iterator<Item = &'s Path> {
    let usual = XDG_FOLDERS.iter().map(|folder| Path::new(folder.usual));
    usual.chain(shared.iter().map(|(_, path)| path.as_path()))
}

/// The entries of a folder of libraries that compilers and interpreters look for.
fn libraries(folder: &Path) -> Vec<OsString> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<OsString> = entries.map(|entry| entry.file_name()).collect();
    names.retain(|name| is_library(&name.to_string_lossy()));
    names
}

fn is_library(name: &str) -> bool {
    let is_file = name.starts_with("lib")
        && [".so", ".a", ".dylib"].iter().any(|end| {
            name.split_once(*end).is_some_and(|(_, version)| {
                version.is_empty() || (version.starts_with('.') && *end == ".so")
            })
        });
    is_file || name.starts_with("python") || ["cmake", "node_modules", "pkgconfig"].contains(&name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_engines_are_not_linked() {
        let home = tempfile::tempdir().unwrap();
        for folder in [".local/lib/python3.12", ".local/lib/engine", ".local/lib/libblas.so.3"] {
            std::fs::create_dir_all(home.path().join(folder)).unwrap();
        }
        let links = home_links(home.path(), &[]);
        let is_in = |path: &str| links.iter().any(|link| Path::new(path).starts_with(&link.path));
        for tool in [
            ".config/git/config",
            ".cache/ccache/0",
            ".cache/torch/hub/checkpoints",
            ".local/lib/python3.12/site-packages",
            ".local/lib/libblas.so.3",
        ] {
            assert!(is_in(tool), "{tool}");
        }
        for engine in [
            ".config/engine",
            ".local/lib/engine",
            ".local/share/engine",
            ".cache/engine",
            ".cache/torch/kernels",
            ".cache/huggingface/engine",
        ] {
            assert!(!is_in(engine), "{engine}");
        }
    }

    #[test]
    fn a_variable_that_names_a_folder_below_the_home_folder_counts() {
        let own = Path::new("/home/ada");
        let set = |name: &str| match name {
            "XDG_CACHE_HOME" => Some("/home/ada/.cache".into()),
            "XDG_CONFIG_HOME" => Some("/home/ada/settings".into()),
            "XDG_DATA_HOME" => Some("/scratch/ada".into()),
            "XDG_STATE_HOME" => Some("/home/ada/../eve".into()),
            _ => None,
        };
        let shared = xdg_folders(own, set);
        assert_eq!(
            shared,
            [
                ("XDG_CACHE_HOME", PathBuf::from(".cache")),
                ("XDG_CONFIG_HOME", PathBuf::from("settings"))
            ]
        );
        let links = home_links(own, &shared);
        let count = |path: &str| links.iter().filter(|link| link.path == Path::new(path)).count();
        assert_eq!([count(".cache/pip"), count("settings/git"), count(".config/git")], [1, 1, 1]);
    }

    #[test]
    fn no_link_leads_through_another_one() {
        let inside = [("XDG_CACHE_HOME", PathBuf::from(".cargo/cache"))];
        let links = home_links(Path::new("/home/ada"), &inside);
        assert!(!links.iter().any(|link| link.path.starts_with(".cargo/cache")));
        assert!(links.iter().any(|link| link.path == Path::new(".cache/pip")));
    }

    #[test]
    fn libraries_have_a_version_at_most() {
        for (name, expected) in [
            ("libblas.so", true),
            ("libblas.so.3.1", true),
            ("libblas.a", true),
            ("python3.12", true),
            ("pkgconfig", true),
            ("engine", false),
            ("libtables.db", false),
            ("tables.so", false),
        ] {
            assert_eq!(is_library(name), expected, "{name}");
        }
    }
}
