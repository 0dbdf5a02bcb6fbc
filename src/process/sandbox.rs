//! Runs a program in bubblewrap: without network, and without the right to write files, except its
//! own.
//!
//! bubblewrap stays as the parent of the program and passes on its exit code; a signal that ended
//! the program comes as 128 and its number. The program has a session and a group of its own, so
//! that TERM reaches the program and not bubblewrap: the run ends when bubblewrap ends. If the
//! kernel cannot execute the file, for example because it is for another processor, a shell in the
//! sandbox runs it, and the run ends with an exit code of the shell.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use super::{Stream, program};
use crate::evaluation::Ended;

/// The program, from the package of the same name.
const PROGRAM: &str = "bwrap";

/// How bubblewrap begins its own messages.
const OWN_MESSAGE: &[u8] = b"bwrap: ";
/// How it begins the message of a program that could not be executed.
const EXEC_MESSAGE: &[u8] = b"bwrap: execvp ";

/// What a program in the sandbox may write to, besides the temporary folder, the folders of
/// compiler caches, and devices.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sandbox {
    /// Folders that the program may write to.
    pub writable: Vec<PathBuf>,
    /// Files in these folders that it may only read.
    pub protected: Vec<PathBuf>,
}

/// The sandbox does not work here.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// bubblewrap is not installed.
    #[error("[run] sandbox = true needs bubblewrap, and there is no program bwrap in PATH")]
    Missing,
    /// bubblewrap cannot make a sandbox.
    #[error("[run] sandbox = true: bubblewrap cannot make a sandbox here: {0}")]
    Refused(String),
}

impl SandboxError {
    /// What the user can do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Missing => {
                "install it, e.g. apt-get install bubblewrap; or set sandbox = false under [run]"
            }
            Self::Refused(_) => {
                "allow user namespaces (in a container: run it with --security-opt \
                 seccomp=unconfined); or set sandbox = false under [run]"
            }
        }
    }
}

impl Sandbox {
    /// bubblewrap's arguments up to the program, for a program in this folder with this
    /// environment. Of two rules for a path, the one for the deeper folder holds.
    pub(super) fn words(&self, cwd: &Path, env: &BTreeMap<OsString, OsString>) -> Vec<OsString> {
        let mut rules: BTreeMap<PathBuf, &str> = BTreeMap::new();
        let mut rule = |path: PathBuf, option| {
            if let Ok(path) = path.canonicalize() {
                rules.insert(path, option);
            }
        };
        rule("/dev".into(), "--dev-bind");
        rule(temporary(env), "--bind");
        for home in variable(env, "HOME") {
            rule(home, "--ro-bind");
        }
        for cache in compiler_caches(env) {
            rule(cache, "--bind");
        }
        for folder in &self.writable {
            rule(folder.clone(), "--bind");
        }
        for file in &self.protected {
            rule(file.clone(), "--ro-bind");
        }
        // The whole file system comes first.
        rules.insert("/".into(), "--ro-bind");
        let fixed = ["--die-with-parent", "--new-session", "--unshare-net", "--cap-drop", "ALL"];
        let mut words: Vec<OsString> = fixed.map(OsString::from).to_vec();
        // A folder sorts before what is in it.
        for (path, option) in rules {
            words.extend([option.into(), path.clone().into_os_string(), path.into_os_string()]);
        }
        words.extend(["--chdir".into(), cwd.as_os_str().to_owned(), "--".into()]);
        words
    }
}

/// bubblewrap's file, if it is installed.
pub(super) fn find() -> Option<PathBuf> {
    let path = std::env::var_os("PATH");
    program::find(OsStr::new(PROGRAM), Path::new("/"), path.as_deref()).ok()
}

/// How a program in the sandbox ended, from bubblewrap's exit code.
pub(super) fn ended_inside(ended: Ended) -> Ended {
    match ended {
        Ended::Exited(code @ 129..=192) => Ended::Signaled(code - 128),
        other => other,
    }
}

/// Why the program did not run, from the first line on stderr of a sandbox that ended with exit
/// code 1. `Ok`: the program itself could not be executed. `Err`: bubblewrap could not make the
/// sandbox.
pub(super) fn refusal(first: &[u8]) -> Option<Result<Ended, String>> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    if let Some(why) = first.strip_prefix(EXEC_MESSAGE) {
        return Some(Ok(Ended::NotStarted(text(why))));
    }
    first.strip_prefix(OWN_MESSAGE).map(|why| Err(text(why)))
}

/// The first line on stderr, which may be bubblewrap's own message.
#[derive(Debug, Default)]
pub(super) struct FirstLine(Option<Vec<u8>>);

impl FirstLine {
    pub(super) fn see(&mut self, stream: Stream, line: &[u8]) {
        if stream == Stream::Err && self.0.is_none() {
            self.0 = Some(line.to_vec());
        }
    }

    pub(super) fn refusal(&self) -> Option<Result<Ended, String>> {
        refusal(self.0.as_deref()?)
    }
}

fn temporary(env: &BTreeMap<OsString, OsString>) -> PathBuf {
    variable(env, "TMPDIR").next().unwrap_or_else(|| "/tmp".into())
}

/// Folders of ccache and sccache: the configured ones and the usual ones.
fn compiler_caches(env: &BTreeMap<OsString, OsString>) -> Vec<PathBuf> {
    let below = |name, inner: &'static str| variable(env, name).map(move |dir| dir.join(inner));
    variable(env, "CCACHE_DIR")
        .chain(variable(env, "SCCACHE_DIR"))
        .chain(below("XDG_CACHE_HOME", "ccache"))
        .chain(below("XDG_CACHE_HOME", "sccache"))
        .chain(below("HOME", ".cache/ccache"))
        .chain(below("HOME", ".cache/sccache"))
        .chain(below("HOME", ".ccache"))
        .collect()
}

/// The folder that a variable names, if it is absolute.
fn variable(
    env: &BTreeMap<OsString, OsString>,
    name: &str,
) -> impl Iterator<Item = PathBuf> + use<> {
    let value = env.get(OsStr::new(name)).map(PathBuf::from);
    value.filter(|path| path.is_absolute()).into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deeper_rule_comes_after_the_one_for_the_folder_around_it() {
        let top = tempfile::tempdir().unwrap();
        let at = |name: &str| top.path().canonicalize().unwrap().join(name);
        for folder in ["home/.cache/ccache", "slot/build"] {
            std::fs::create_dir_all(at(folder)).unwrap();
        }
        std::fs::write(at("slot/lock"), "").unwrap();
        let sandbox =
            Sandbox { writable: vec![at("slot"), at("missing")], protected: vec![at("slot/lock")] };
        let env = [("HOME", at("home")), ("TMPDIR", at(""))]
            .map(|(name, value)| (OsString::from(name), value.into_os_string()));
        let words = sandbox.words(&at("slot/build"), &BTreeMap::from(env));
        let text = words.iter().map(|word| word.to_str().unwrap()).collect::<Vec<_>>().join(" ");
        let text = text.replace(top.path().canonicalize().unwrap().to_str().unwrap(), "T");
        assert!(text.starts_with("--die-with-parent --new-session --unshare-net"), "{text}");
        assert!(text.contains("--ro-bind / / --dev-bind /dev /dev --bind T"), "{text}");
        let end = "--ro-bind T/home T/home --bind T/home/.cache/ccache T/home/.cache/ccache \
                   --bind T/slot T/slot --ro-bind T/slot/lock T/slot/lock --chdir T/slot/build --";
        assert!(text.ends_with(end), "{text}");
    }

    #[test]
    fn signals_and_refusals_are_told_from_exit_codes_and_messages() {
        assert_eq!(ended_inside(Ended::Exited(139)), Ended::Signaled(11));
        assert_eq!(ended_inside(Ended::Exited(128)), Ended::Exited(128));
        assert_eq!(ended_inside(Ended::Exited(255)), Ended::Exited(255));
        assert_eq!(refusal(b"bwrap: No permissions"), Some(Err("No permissions".to_owned())));
        let exec = refusal(b"bwrap: execvp /x: Exec format error");
        assert_eq!(exec, Some(Ok(Ended::NotStarted("/x: Exec format error".to_owned()))));
        assert_eq!(refusal(b"error: bwrap"), None);
    }
}
