//! Finds files that commands use but no run key contains. If such a file changes, the store still
//! reuses old results.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::config::{Command, Config, Template};

/// Folders of the system: installed software and special files. `[environment] probe` covers
/// changes there.
const SYSTEMS: [&str; 9] =
    ["/usr", "/bin", "/sbin", "/lib", "/lib64", "/etc", "/dev", "/proc", "/sys"];

/// A file or folder that a command names by its path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Unnamed {
    /// The path as the configuration has it.
    pub(super) written: String,
    /// The configuration key that has the path: `measure.ppl.command`.
    pub(super) place: String,
    /// The `[inputs]` entry for this path, if any. The content is in a run key only if a command
    /// names it as `{inputs.NAME}`.
    pub(super) input: Option<String>,
}

/// The files, without repetitions. `checkout`: the folder from which `[worktree] link` links.
pub(super) fn unnamed(config: &Config, checkout: Option<&Path>) -> Vec<Unnamed> {
    let mut found: Vec<Unnamed> = Vec::new();
    for (place, text) in texts(config) {
        for written in paths(text) {
            let Some(path) = outside(&written, config, checkout) else { continue };
            if found.iter().any(|one| one.written == written) {
                continue;
            }
            let input = input(config, &path);
            found.push(Unnamed { written, place: place.clone(), input });
        }
    }
    found
}

/// All arguments and environment variables of commands with their keys, without the programs.
fn texts(config: &Config) -> Vec<(String, &str)> {
    let mut all: Vec<(String, &Template)> = Vec::new();
    let build = &config.build;
    for command in &build.commands {
        all.extend(arguments(command).map(|word| ("build.commands".to_owned(), word)));
    }
    all.extend(build.env.values().map(|value| ("build.env".to_owned(), value)));
    for prepare in &config.prepares {
        let at = |key: &str| format!("prepare.{}.{key}", prepare.name);
        all.extend(arguments(&prepare.command).map(|word| (at("command"), word)));
        all.extend(prepare.env.values().map(|value| (at("env"), value)));
    }
    for measure in &config.measures {
        // The user wrote one measure for all cells of a matrix.
        let name = measure.name.split('[').next().unwrap_or_default();
        let at = |key: &str| format!("measure.{name}.{key}");
        all.extend(arguments(&measure.command).map(|word| (at("command"), word)));
        all.extend(measure.before.iter().flat_map(arguments).map(|word| (at("before"), word)));
        all.extend(measure.after.iter().flat_map(arguments).map(|word| (at("after"), word)));
        all.extend(measure.env.values().map(|value| (at("env"), value)));
    }
    all.into_iter().map(|(place, template)| (place, template.text())).collect()
}

fn arguments(command: &Command) -> impl Iterator<Item = &Template> {
    command.words.iter().skip(1)
}

/// The parts of a word that may be paths: the whole word, the value after `=`, the items of a
/// list, and the words of a script.
fn paths(text: &str) -> BTreeSet<String> {
    let is_between = |c: char| c.is_whitespace() || "=:,;'\"()".contains(c);
    let parts = text.split(is_between).chain([text]);
    parts.filter(|part| part.contains('/')).map(str::to_owned).collect()
}

/// The existing file or folder at a path. `None` for a commit's file, the system's, or a program.
fn outside(written: &str, config: &Config, checkout: Option<&Path>) -> Option<PathBuf> {
    let below_src = written.strip_prefix("{src}/").unwrap_or(written);
    let path = if below_src.starts_with('/') {
        PathBuf::from(below_src)
    } else {
        // Commands start in {src}. All files there are the commit's, except linked ones.
        let is_linked =
            |link: &String| Path::new(below_src).starts_with(link.trim_end_matches('/'));
        checkout.filter(|_| config.worktree.link.iter().any(is_linked))?.join(below_src)
    };
    // /dev/shm is a disk in memory and may hold the user's files.
    let is_systems = path == Path::new("/")
        || (SYSTEMS.iter().any(|top| path.starts_with(top)) && !path.starts_with("/dev/shm"));
    let is_program = path.is_file() && is_executable(&path);
    (path.exists() && !is_systems && !is_program).then_some(path)
}

fn is_executable(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    std::fs::metadata(path).is_ok_and(|meta| meta.permissions().mode() & 0o111 != 0)
}

/// The `[inputs]` entry that is this path or contains it.
fn input(config: &Config, path: &Path) -> Option<String> {
    let real = path.canonicalize().ok()?;
    let is_it = |name: &&String| {
        let paths = config.input_paths(name).unwrap_or_default();
        paths.iter().filter_map(|one| one.canonicalize().ok()).any(|one| real.starts_with(one))
    };
    config.inputs.keys().find(is_it).cloned()
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    #[test]
    fn a_file_that_no_input_names_is_told_with_its_place() {
        let folder = tempfile::tempdir().unwrap();
        let at = |path: &str| folder.path().join(path).display().to_string();
        for path in ["x.gguf", "text.raw", "venv/lib.so", "tool"] {
            std::fs::create_dir_all(folder.path().join("venv")).unwrap();
            std::fs::write(folder.path().join(path), "").unwrap();
        }
        let executable = PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(folder.path().join("tool"), executable).unwrap();
        let text = format!(
            "version = 1\n[inputs]\ntext = '{text}'\n[worktree]\nlink = ['venv/']\n\
             [build]\ncommands = ['cmake -S {{src}} -DCMAKE_C_COMPILER={tool} -DX=/usr/lib']\n\
             [[measure]]\nname = 'a'\nparser = 'exit-code'\n\
             command = '{tool} --model={model} -f {text} -t {{inputs.text}} -o {{out}}/x -n 1/2'\n\
             env = {{ LD_LIBRARY_PATH = '/nowhere:{{src}}/venv', N = '/dev/null' }}\n\
             [[guard]]\nmetric = 'a'\nmax = 0\n",
            text = at("text.raw"),
            tool = at("tool"),
            model = at("x.gguf"),
        );
        let config = Config::parse(&text, folder.path(), "oracle.toml").unwrap();
        let told = |written: String, key: &str, input: Option<&str>| Unnamed {
            written,
            place: format!("measure.a.{key}"),
            input: input.map(str::to_owned),
        };
        assert_eq!(
            unnamed(&config, Some(folder.path())),
            [
                told(at("x.gguf"), "command", None),
                told(at("text.raw"), "command", Some("text")),
                told("{src}/venv".to_owned(), "env", None),
            ]
        );
    }
}
