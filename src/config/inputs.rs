//! Finds the files that the names in `[inputs]` stand for.

use std::io;
use std::path::{Path, PathBuf};

use super::Config;

/// An input cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum InputError {
    /// No input has this name.
    #[error("[inputs] has no `{name}`")]
    Undeclared {
        /// The name asked for.
        name: String,
    },
    /// There is nothing at the path.
    #[error("inputs.{name}: there is nothing at {}", path.display())]
    Missing {
        /// The input.
        name: String,
        /// The path tried.
        path: PathBuf,
    },
    /// No file matches the pattern.
    #[error("inputs.{name}: no file matches {pattern}")]
    NoMatch {
        /// The input.
        name: String,
        /// The whole pattern tried.
        pattern: String,
    },
    /// The folder has nothing in it.
    #[error("inputs.{name}: the folder {} is empty", path.display())]
    Empty {
        /// The input.
        name: String,
        /// The folder.
        path: PathBuf,
    },
    /// The path cannot be read.
    #[error("inputs.{name}: cannot look at {}: {source}", path.display())]
    Unreadable {
        /// The input.
        name: String,
        /// The path.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

impl InputError {
    /// What the user can do about the error.
    pub(crate) fn hint(&self) -> String {
        match self {
            Self::Undeclared { name } => format!("add `{name} = \"PATH\"` to [inputs]"),
            Self::Missing { name, .. } | Self::NoMatch { name, .. } | Self::Empty { name, .. } => {
                // A value of an axis or of a parameter is an input named AXIS[VALUE].
                let (name, table) = match name.split_once('[') {
                    Some((axis, _)) => (axis, "matrix] or [sweep"),
                    None => (name.as_str(), "inputs"),
                };
                format!(
                    "fetch it, or correct `{name}` in [{table}]; its path starts from the folder of the file that names it"
                )
            }
            Self::Unreadable { .. } => "check the permissions on the way to it".to_owned(),
        }
    }
}

impl Config {
    /// The paths that an input stands for: sorted, never empty, and absolute if
    /// [`Config::base`] is. A folder is one path. If a file has exactly the written name, its
    /// glob characters are not a pattern.
    ///
    /// # Errors
    /// The input is not declared, not there, or empty.
    pub(crate) fn input_paths(&self, name: &str) -> Result<Vec<PathBuf>, InputError> {
        let written = self
            .inputs
            .get(name)
            .ok_or_else(|| InputError::Undeclared { name: name.to_owned() })?;
        let path = self.base.join(written);
        match std::fs::metadata(&path) {
            Ok(about) => {
                if about.is_dir() {
                    refuse_empty(name, &path)?;
                }
                Ok(vec![path])
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let is_pattern = written.contains(['*', '?', '[']);
                if is_pattern && glob::Pattern::new(written).is_ok() {
                    self.matches(name, written)
                } else {
                    Err(InputError::Missing { name: name.to_owned(), path })
                }
            }
            Err(source) => Err(InputError::Unreadable { name: name.to_owned(), path, source }),
        }
    }

    /// The value of `{inputs.NAME}`: the path, or the first match of a glob. An engine that
    /// reads a split model takes the first part.
    ///
    /// # Errors
    /// As [`Config::input_paths`].
    pub(crate) fn input_value(&self, name: &str) -> Result<PathBuf, InputError> {
        let mut paths = self.input_paths(name)?;
        Ok(paths.swap_remove(0))
    }

    fn matches(&self, name: &str, written: &str) -> Result<Vec<PathBuf>, InputError> {
        let unreadable = |path: &Path, source: io::Error| InputError::Unreadable {
            name: name.to_owned(),
            path: path.to_owned(),
            source,
        };
        let pattern = if Path::new(written).is_absolute() {
            written.to_owned()
        } else {
            // Brackets in the name of the folder are not part of the pattern.
            let base = self.base.to_str().ok_or_else(|| {
                let why = "a pattern needs a folder whose name is UTF-8";
                unreadable(&self.base, io::Error::new(io::ErrorKind::InvalidInput, why))
            })?;
            format!("{}/{written}", glob::Pattern::escape(base))
        };
        let matches =
            glob::glob(&pattern).expect("the pattern was checked, and the folder is escaped");
        // `glob` yields the matches in alphabetical order.
        let paths = matches
            .collect::<Result<Vec<_>, _>>()
            .map_err(|error| unreadable(&PathBuf::from(error.path()), error.into()))?;
        if paths.is_empty() {
            return Err(InputError::NoMatch { name: name.to_owned(), pattern });
        }
        Ok(paths)
    }
}

fn refuse_empty(name: &str, path: &Path) -> Result<(), InputError> {
    let mut inside = std::fs::read_dir(path).map_err(|source| InputError::Unreadable {
        name: name.to_owned(),
        path: path.to_owned(),
        source,
    })?;
    match inside.next() {
        Some(_) => Ok(()),
        None => Err(InputError::Empty { name: name.to_owned(), path: path.to_owned() }),
    }
}
