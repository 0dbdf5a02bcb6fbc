//! The errors of `init`. After an error, no file is written.

use std::io;
use std::path::{Path, PathBuf};

use crate::config::ConfigError;
use crate::git::GitError;

/// Why no configuration can be written without inventing parts of it.
#[derive(Debug, thiserror::Error)]
pub enum InitError {
    /// Git failed.
    #[error(transparent)]
    Git(#[from] GitError),
    /// The repository is bare, so there are no files to read.
    #[error("{} is a bare repository: there is no tree to read", .0.display())]
    Bare(PathBuf),
    /// No build file was found. With the path of an untracked one, if there is one.
    #[error("no build file was found: neither CMakeLists.txt, Cargo.toml nor Makefile is tracked here, above, or one folder below{}", untracked(.0.as_deref()))]
    NoBuild(Option<String>),
    /// No program that measures was found.
    #[error("{looked}")]
    NoProgram {
        /// A sentence that says what was read.
        looked: String,
        /// A command as an example for `--set`.
        example: String,
    },
    /// The sources of the program do not show how it takes its model or text.
    #[error("how `{program}` takes its {role} is not known: its sources name no such option")]
    NoOption {
        /// The program.
        program: String,
        /// `model` or `text`.
        role: &'static str,
        /// The measure.
        measure: &'static str,
        /// The path of the program, as the first word of a command.
        path: String,
    },
    /// No model or text was given, and none was found in the checkout.
    #[error("no {0} was found in this checkout")]
    NoInput(&'static str),
    /// The file that the user named cannot be used.
    #[error("--{option} {}: {source}", path.display())]
    Input {
        /// `model` or `text`.
        option: &'static str,
        /// As given.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The folder that the user named is empty.
    #[error("{} is empty", .0.display())]
    EmptyInput(PathBuf),
    /// A file name that is not UTF-8. A configuration cannot contain it.
    #[error("the name of {} is not UTF-8, which a configuration must be", .0.display())]
    NotUtf8(PathBuf),
    /// A `--set` that is not `KEY=VALUE`, or whose key does not exist.
    #[error("--set {written}: {why}")]
    Set {
        /// As given.
        written: String,
        /// What is wrong.
        why: String,
    },
    /// The configuration is not valid after the settings are applied.
    #[error("what --set asks for does not fit:{}", lines(.0))]
    Settings(Vec<String>),
    /// The text that was made is not valid: a fault of this program.
    #[error("what would be written is not accepted: {0}")]
    Unsound(ConfigError),
}

fn untracked(file: Option<&str>) -> String {
    file.map(|file| format!("; {file} lies here, but git does not track it")).unwrap_or_default()
}

fn lines(problems: &[String]) -> String {
    problems.iter().fold(String::new(), |all, problem| format!("{all}\n  {problem}"))
}

impl InitError {
    /// What the user can do about the error.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Git(error) => error.hint(),
            Self::Bare(_) => {
                Some("run it in a worktree (`git worktree add FOLDER`), or in a clone".to_owned())
            }
            Self::NoBuild(Some(file)) => {
                Some(format!("`git add {file}` and commit it: a hunt builds what is committed"))
            }
            Self::NoBuild(None) => Some(
                "run it where the engine is built, or write oracle.toml by hand (docs/oracle-toml.md)"
                    .to_owned(),
            ),
            Self::NoProgram { example, .. } => Some(format!(
                "name one: bisect-ppl init --set 'measure.ppl.command={example}' --set measure.ppl.parser=llama-perplexity --set guard.ppl.max_increase=0.05"
            )),
            Self::NoOption { measure, path, .. } => Some(format!(
                "write its command: --set 'measure.{measure}.command={path} …', with {{inputs.model}} and {{inputs.text}} where they belong"
            )),
            Self::NoInput(option) => Some(format!("name one with --{option} FILE")),
            Self::Input { .. } | Self::EmptyInput(_) => {
                Some("correct the path; it is relative to the current folder".to_owned())
            }
            Self::NotUtf8(path) => Some(format!(
                "make a link with another name: ln -s {} LINK",
                shell(path)
            )),
            Self::Set { .. } | Self::Settings(_) => {
                Some("docs/oracle-toml.md lists the keys; nothing was written".to_owned())
            }
            Self::Unsound(_) => Some("this is a fault of bisect-ppl; please report it".to_owned()),
        }
    }
}

fn shell(path: &Path) -> String {
    let text = path.to_string_lossy();
    shlex::try_quote(&text).map_or_else(|_| text.clone().into_owned(), std::borrow::Cow::into_owned)
}
