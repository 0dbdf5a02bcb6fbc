//! The errors of `init`. After an error, no file is written.

use std::io;
use std::path::{Path, PathBuf};

use crate::config::ConfigError;
use crate::git::GitError;
use crate::ui::{self, cite};

/// Why no configuration can be written without inventing parts of it.
#[derive(Debug, thiserror::Error)]
pub(crate) enum InitError {
    /// Git failed.
    #[error(transparent)]
    Git(#[from] GitError),
    /// The repository is bare, so there are no files to read.
    #[error("{} is a bare repository: there is no tree to read", .0.display())]
    Bare(PathBuf),
    /// No tracked build file was found. Has the path of an untracked build file, if there is one.
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
    #[error("no {option} was found in this checkout{}", named(.near))]
    NoInput {
        /// `model` or `text`.
        option: &'static str,
        /// Files that the user may mean, the likeliest first.
        near: Vec<NearMiss>,
    },
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
    /// The user named a folder as the model.
    #[error("--model {} is a folder; init needs the model's file", .path.display())]
    FolderAsModel {
        /// As given.
        path: PathBuf,
        /// The likeliest model in the folder.
        model: Option<PathBuf>,
    },
    /// A file name that is not UTF-8. A configuration cannot contain it.
    #[error("the name of {} is not UTF-8, and a configuration must be UTF-8", .0.display())]
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
    #[error("oracle.toml is not valid with these --set options:{}", lines(.0))]
    Settings(Vec<String>),
    /// The text that was made is not valid: a fault of this program.
    #[error("the generated oracle.toml is not valid: {0}")]
    Unsound(ConfigError),
}

/// A file that was not taken as an input although it may be one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct NearMiss {
    /// The path, relative to the user's current folder if it is below that.
    pub path: String,
    /// Why it was not taken.
    pub why: String,
}

fn untracked(file: Option<&str>) -> String {
    file.map(|file| format!("; {file} lies here, but git does not track it")).unwrap_or_default()
}

fn lines(problems: &[String]) -> String {
    problems.iter().fold(String::new(), |all, problem| format!("{all}\n  {problem}"))
}

fn named(near: &[NearMiss]) -> String {
    near.iter().fold(String::new(), |all, near| {
        format!("{all}\n  not taken: {} ({})", ui::printable_line(&near.path), near.why)
    })
}

impl InitError {
    /// What the user can do about the error.
    pub(crate) fn hint(&self) -> Option<String> {
        match self {
            Self::Git(error) => error.hint(),
            Self::Bare(_) => {
                Some("run it in a worktree (`git worktree add FOLDER`), or in a clone".to_owned())
            }
            Self::NoBuild(Some(file)) => {
                Some(format!("`git add {file}` and commit it: a hunt builds what is committed"))
            }
            Self::NoBuild(None) => Some(format!(
                "run it where the engine is built, or write oracle.toml by hand: {}",
                cite("oracle-toml")
            )),
            Self::NoProgram { example, .. } => Some(format!(
                "say what is run and which line of its output is read: bisect-ppl init --set 'measure.NAME.command={example}' --set measure.NAME.parser=regex --set 'measure.NAME.pattern=loss: ([0-9.]+)' --set guard.NAME.max_increase=0.05; recipes: {}",
                cite("engines/any-output")
            )),
            Self::NoOption { measure, path, .. } => Some(format!(
                "write its command: --set 'measure.{measure}.command={path} …', with {{inputs.model}} and {{inputs.text}} where they belong"
            )),
            Self::NoInput { option, near } => Some(match near.first() {
                Some(near) => format!(
                    "name one with --{option} FILE, such as --{option} {}",
                    shell(Path::new(&near.path))
                ),
                None => format!("name one with --{option} FILE"),
            }),
            Self::FolderAsModel { model: Some(model), .. } => {
                Some(format!("name the file: --model {}", shell(model)))
            }
            Self::FolderAsModel { model: None, .. } => {
                Some("name the file: --model FILE".to_owned())
            }
            Self::Input { .. } | Self::EmptyInput(_) => {
                Some("correct the path; it is relative to the current folder".to_owned())
            }
            Self::NotUtf8(path) => {
                Some(format!("make a link with another name: ln -s {} LINK", shell(path)))
            }
            Self::Set { .. } | Self::Settings(_) => {
                Some(format!("{} lists the keys; nothing was written", cite("oracle-toml")))
            }
            Self::Unsound(_) => Some("this is a fault of bisect-ppl; please report it".to_owned()),
        }
    }
}

fn shell(path: &Path) -> String {
    let text = path.to_string_lossy();
    shlex::try_quote(&text).map_or_else(|_| text.clone().into_owned(), std::borrow::Cow::into_owned)
}
