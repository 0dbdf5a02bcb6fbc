//! From a file to a [`Config`], with overlays and overrides.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::document::{self, Data, Node};
use super::lay::lay_over;
use super::read;
use super::{Condition, Config, ConfigError};

/// What a [`Config`] was read from; what overrides are laid over.
#[derive(Debug, Default)]
pub(super) struct Source {
    name: String,
    text: String,
    /// Without `[[override]]`.
    document: Node,
    /// The bodies of `[[override]]`, as [`Config::overrides`] in order.
    bodies: Vec<Node>,
}

/// A text to be laid over a configuration, such as a scenario: its tables are merged, its
/// arrays replace, `measure.NAME.key` reaches into a measure; its `[scenario]` is not looked
/// at.
#[derive(Clone, Copy, Debug)]
pub struct Overlay<'a> {
    /// Its file, for messages.
    pub name: &'a str,
    /// TOML.
    pub text: &'a str,
}

/// A configuration file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// There is no such file.
    #[error("there is no {}{}", path.display(), if path.parent().is_some_and(|p| p.as_os_str().is_empty()) { " here" } else { "" })]
    Missing {
        /// The path tried.
        path: PathBuf,
    },
    /// The file cannot be read, or is not UTF-8.
    #[error("cannot read {}", path.display())]
    Unreadable {
        /// The path tried.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Its content is wrong.
    #[error(transparent)]
    Invalid(#[from] ConfigError),
}

impl LoadError {
    /// What to do about it, where that is not in the message.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            // The command line knows what `init` would write, and offers it.
            Self::Missing { .. } => None,
            Self::Unreadable { source, .. } => match source.kind() {
                io::ErrorKind::InvalidData => Some("save it as UTF-8"),
                io::ErrorKind::IsADirectory => Some("name the file in it with --config"),
                io::ErrorKind::PermissionDenied => Some("check its permissions"),
                _ => None,
            },
            Self::Invalid(_) => {
                Some("`bisect-ppl check` looks again; `bisect-ppl schema` teaches editors the keys")
            }
        }
    }
}

/// Overrides could not be laid over.
#[derive(Debug, thiserror::Error)]
pub enum ResolveError<E> {
    /// Whether a condition holds could not be found out.
    #[error("{0}")]
    Condition(E),
    /// Each override alone is sound, but those that hold together are not.
    #[error("the overrides that hold at this commit do not fit together: {0}")]
    Conflict(ConfigError),
}

impl Config {
    /// Reads a file; paths in it start from its folder.
    ///
    /// # Errors
    /// It is missing, unreadable, or wrong.
    pub fn load(path: &Path) -> Result<Self, LoadError> {
        Self::load_with(path, None)
    }

    /// The same with an overlay laid over it.
    ///
    /// # Errors
    /// It is missing, unreadable, or wrong, or the overlay makes it so.
    pub fn load_with(path: &Path, overlay: Option<Overlay<'_>>) -> Result<Self, LoadError> {
        let unreadable = |source| LoadError::Unreadable { path: path.to_owned(), source };
        let text = std::fs::read_to_string(path).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => LoadError::Missing { path: path.to_owned() },
            _ => unreadable(error),
        })?;
        let absolute = std::path::absolute(path).map_err(unreadable)?;
        let base = absolute.parent().unwrap_or(Path::new("/"));
        Ok(Self::parse_with(&text, overlay, base, &path.to_string_lossy())?)
    }

    /// Reads a text; paths in it start from `base`, and messages call it `name`.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn parse(text: &str, base: &Path, name: &str) -> Result<Self, ConfigError> {
        Self::parse_with(text, None, base, name)
    }

    /// The same with an overlay laid over it.
    ///
    /// # Errors
    /// Everything that is wrong with it, or with the overlay, or with both together.
    pub fn parse_with(
        text: &str,
        overlay: Option<Overlay<'_>>,
        base: &Path,
        name: &str,
    ) -> Result<Self, ConfigError> {
        let mut syntax = Vec::new();
        let mut problems = Vec::new();
        let mut document = document::parse(text, name, &mut syntax);
        if let Some(overlay) = overlay {
            let mut over = document::parse(overlay.text, overlay.name, &mut syntax);
            if let Some(table) = over.table_mut() {
                table.remove("scenario");
            }
            lay_over(&mut document, &over, "", &mut problems);
        }
        let effective = if overlay.is_some() { document.to_toml() } else { text.to_owned() };
        let (conditions, bodies) = read::take_overrides(&mut document, &mut problems);
        let (mut config, mut found) = read::read(&document, base);
        let with_overrides = read::check_overrides(&document, &bodies, base, &found);
        problems.append(&mut found);
        problems.extend(with_overrides);
        if !syntax.is_empty() {
            // What the reader had to guess or leave out around an error is no second error.
            problems.retain(|p| {
                !p.what.starts_with("is missing")
                    && !syntax
                        .iter()
                        .any(|s| (&s.place.file, s.place.line) == (&p.place.file, p.place.line))
            });
            problems.append(&mut syntax);
        }
        if !problems.is_empty() {
            return Err(failed(name, problems));
        }
        config.overrides = conditions;
        config.source =
            Arc::new(Source { name: name.to_owned(), text: effective, document, bodies });
        Ok(config)
    }

    /// The configuration for one commit: every override whose condition `holds` is laid over,
    /// in order, and of what is laid over the commit only that stays whose condition holds. The
    /// result has no conditions left.
    ///
    /// # Errors
    /// `holds` fails, or overrides that are sound alone do not fit together.
    pub fn resolve<E>(
        &self,
        holds: &mut dyn FnMut(&Condition) -> Result<bool, E>,
    ) -> Result<Self, ResolveError<E>> {
        if self.conditions().next().is_none() {
            return Ok(self.clone());
        }
        let mut document = self.source.document.clone();
        let mut problems = Vec::new();
        for (i, (condition, body)) in self.overrides.iter().zip(&self.source.bodies).enumerate() {
            if holds(condition).map_err(ResolveError::Condition)? {
                lay_over(&mut document, body, &format!("override[{}].", i + 1), &mut problems);
            }
        }
        let patches = self.patches.iter().map(|patch| patch.when.as_ref());
        keep_what_holds(&mut document, "patch", patches, holds)?;
        let overlays = self.overlays.iter().map(|overlay| overlay.when.as_ref());
        keep_what_holds(&mut document, "overlay", overlays, holds)?;
        let (mut config, found) = read::read(&document, &self.base);
        problems.extend(found);
        let name = self.source.name.clone();
        if !problems.is_empty() {
            return Err(ResolveError::Conflict(failed(&name, problems)));
        }
        let text = document.to_toml();
        config.source = Arc::new(Source { name, text, document, bodies: Vec::new() });
        Ok(config)
    }

    /// Every condition in it.
    pub fn conditions(&self) -> impl Iterator<Item = &Condition> {
        let patches = self.patches.iter().filter_map(|patch| patch.when.as_ref());
        let overlays = self.overlays.iter().filter_map(|overlay| overlay.when.as_ref());
        self.overrides.iter().chain(patches).chain(overlays)
    }

    /// The configuration as TOML: the file itself, or, where something was laid over it, the
    /// merged document. Read again from the same folder it yields the same `Config`.
    pub fn text(&self) -> &str {
        &self.source.text
    }
}

/// Leaves those tables of `[[key]]` whose condition holds, without it: two commits at which the
/// same ones hold have one and the same configuration.
fn keep_what_holds<'c, E>(
    document: &mut Node,
    key: &str,
    conditions: impl Iterator<Item = Option<&'c Condition>>,
    holds: &mut dyn FnMut(&Condition) -> Result<bool, E>,
) -> Result<(), ResolveError<E>> {
    let list = document.table_mut().and_then(|table| table.get_mut(key));
    let Some(Node { data: Data::List(tables), .. }) = list else { return Ok(()) };
    let mut kept = Vec::new();
    for (mut table, condition) in std::mem::take(tables).into_iter().zip(conditions) {
        let is_kept = condition.map_or(Ok(true), |c| holds(c).map_err(ResolveError::Condition))?;
        if is_kept {
            table.table_mut().map(|table| table.remove("when"));
            kept.push(table);
        }
    }
    *tables = kept;
    Ok(())
}

fn failed(name: &str, mut problems: Vec<super::Problem>) -> ConfigError {
    problems.sort();
    // The file itself before what was laid over it.
    problems.sort_by_key(|p| *p.place.file != *name);
    ConfigError { path: name.to_owned(), problems }
}
