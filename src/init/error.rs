//! Why nothing was written.

use std::io;
use std::path::{Path, PathBuf};

use crate::config::ConfigError;
use crate::git::GitError;

/// A tree for which no configuration can be written without inventing it.
#[derive(Debug, thiserror::Error)]
pub enum InitError {
    /// Git said no.
    #[error(transparent)]
    Git(#[from] GitError),
    /// There are no files to read.
    #[error("{} is a bare repository: there is no tree to read", .0.display())]
    Bare(PathBuf),
    /// Nothing that builds.
    #[error("no build file was found: neither CMakeLists.txt, Cargo.toml nor Makefile is tracked here, above, or one folder below{}", untracked(.0.as_deref()))]
    NoBuild(Option<String>),
    /// Nothing that measures.
    #[error("{looked}")]
    NoProgram {
        /// What was looked at, in a sentence.
        looked: String,
        /// What may be built, as `--set` would have it.
        example: String,
    },
    /// A program whose options its sources do not tell.
    #[error("how `{program}` takes its {role} is not known: its sources name no such option")]
    NoOption {
        /// The program.
        program: String,
        /// `model` or `text`.
        role: &'static str,
        /// Its measure.
        measure: &'static str,
        /// Its path, as a command begins.
        path: String,
    },
    /// No model or text was given, and none lies here.
    #[error("no {0} was found in this checkout")]
    NoInput(&'static str),
    /// The file that was named cannot be used.
    #[error("--{option} {}: {source}", path.display())]
    Input {
        /// `model` or `text`.
        option: &'static str,
        /// As given.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The folder that was named has nothing in it.
    #[error("{} is empty", .0.display())]
    EmptyInput(PathBuf),
    /// A name that cannot stand in a configuration.
    #[error("the name of {} is not UTF-8, which a configuration must be", .0.display())]
    NotUtf8(PathBuf),
    /// A `--set` that is no `KEY=VALUE`, or that reaches nothing.
    #[error("--set {written}: {why}")]
    Set {
        /// As given.
        written: String,
        /// What is wrong.
        why: String,
    },
    /// What was set does not make a configuration.
    #[error("what --set asks for does not fit:{}", lines(.0))]
    Settings(Vec<String>),
    /// What was written does not read: a fault of this program.
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
    /// What to do about it.
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
                Some("correct the path; it starts from the folder you stand in".to_owned())
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
