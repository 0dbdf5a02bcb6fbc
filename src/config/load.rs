//! Loads a file as a [`Config`], with overlays and overrides.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::changes::{self, Changes};
use super::document::{self, Data, Node};
use super::merge::merge_over;
use super::read;
use super::source::Source;
use super::{Condition, Config, ConfigError, Problem};
use crate::evaluation::OptionChange;

/// A text that is merged into a configuration, such as a scenario. Its tables are merged, its
/// arrays replace the old ones, and `measure.NAME.key` changes one measure. Its `[scenario]`
/// is ignored.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Overlay<'a> {
    /// The name of the overlay's file, for messages.
    pub name: &'a str,
    /// The overlay as TOML.
    pub text: &'a str,
}

/// Where each key is explained.
macro_rules! explained {
    () => {
        concat!(
            "`bisect-ppl help oracle-toml` explains each key (",
            env!("CARGO_PKG_REPOSITORY"),
            "/blob/main/docs/oracle-toml.md)"
        )
    };
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
    /// The content of the file is wrong.
    #[error(transparent)]
    Invalid(#[from] ConfigError),
}

impl LoadError {
    /// What the user can do about the error, if the message does not say so.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            // The command line offers `init` instead: it knows what `init` would write.
            Self::Missing { .. } => None,
            Self::Unreadable { source, .. } => match source.kind() {
                io::ErrorKind::InvalidData => Some("save it as UTF-8"),
                io::ErrorKind::IsADirectory => Some("name the file in it with --config"),
                io::ErrorKind::PermissionDenied => Some("check its permissions"),
                _ => None,
            },
            Self::Invalid(error) if error.is_of_options() => {
                Some("`bisect-ppl help oracle-toml` lists the keys; the file itself has no problem")
            }
            Self::Invalid(_) => Some(concat!(explained!(), "; `bisect-ppl check` looks again")),
        }
    }

    /// The same for `check`: whoever runs it knows how to check again.
    pub(crate) fn hint_in_check(&self) -> Option<&'static str> {
        match self {
            Self::Invalid(error) if !error.is_of_options() => Some(explained!()),
            _ => self.hint(),
        }
    }
}

/// The overrides of one commit could not be merged.
#[derive(Debug, thiserror::Error)]
pub enum ResolveError<E> {
    /// It is unknown whether a condition holds; why.
    #[error("{0}")]
    Condition(E),
    /// Each override is valid alone, but the overrides that hold here conflict.
    #[error("the overrides that apply at this commit conflict: {0}")]
    Conflict(ConfigError),
}

impl Config {
    /// Reads a file. Its relative paths start from its folder.
    ///
    /// # Errors
    /// The file is missing, unreadable, or wrong.
    pub fn load(path: &Path) -> Result<Self, LoadError> {
        Self::load_with(path, None)
    }

    /// As [`Config::load`], with an overlay merged into the file.
    ///
    /// # Errors
    /// The file is missing, unreadable, or wrong, or the overlay makes it wrong.
    pub(crate) fn load_with(path: &Path, overlay: Option<Overlay<'_>>) -> Result<Self, LoadError> {
        let read =
            |text: &str, base: &Path, name: &str| Self::parse_with(text, overlay, base, name);
        Self::load_by(path, read)
    }

    /// As [`Config::load`], with the changes of one command. Returns what they changed.
    ///
    /// # Errors
    /// The file is missing, unreadable, or wrong, or a change makes it wrong.
    pub(crate) fn load_changed(
        path: &Path,
        changes: Changes<'_>,
    ) -> Result<(Self, Vec<OptionChange>), LoadError> {
        let read =
            |text: &str, base: &Path, name: &str| Self::parse_changed(text, changes, base, name);
        Self::load_by(path, read)
    }

    fn load_by<T>(
        path: &Path,
        read: impl FnOnce(&str, &Path, &str) -> Result<T, ConfigError>,
    ) -> Result<T, LoadError> {
        let unreadable = |source| LoadError::Unreadable { path: path.to_owned(), source };
        let text = std::fs::read_to_string(path).map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => LoadError::Missing { path: path.to_owned() },
            _ => unreadable(error),
        })?;
        let absolute = std::path::absolute(path).map_err(unreadable)?;
        let base = absolute.parent().unwrap_or(Path::new("/"));
        Ok(read(&text, base, &path.to_string_lossy())?)
    }

    /// Reads a text. Its relative paths start from `base`, and messages call the text `name`.
    ///
    /// # Errors
    /// Everything that is wrong with the text.
    pub fn parse(text: &str, base: &Path, name: &str) -> Result<Self, ConfigError> {
        Self::parse_with(text, None, base, name)
    }

    /// As [`Config::parse`], with an overlay merged into the text.
    ///
    /// # Errors
    /// Everything that is wrong with the text, with the overlay, or with both together.
    pub(crate) fn parse_with(
        text: &str,
        overlay: Option<Overlay<'_>>,
        base: &Path,
        name: &str,
    ) -> Result<Self, ConfigError> {
        let mut file = Parsed::of(text, name);
        if let Some(overlay) = overlay {
            let mut over = document::parse(overlay.text, overlay.name, &mut file.syntax);
            if let Some(table) = over.table_mut() {
                table.remove("scenario");
            }
            merge_over(&mut file.document, &over, "", &mut file.problems);
            file.text = file.document.to_toml();
        }
        file.read(base, name, name)
    }

    /// As [`Config::parse`], with the changes of one command. Returns what they changed.
    ///
    /// # Errors
    /// Everything that is wrong with the text and with `--set`; if nothing is, everything that is
    /// wrong with `--arg`.
    pub(crate) fn parse_changed(
        text: &str,
        changes: Changes<'_>,
        base: &Path,
        name: &str,
    ) -> Result<(Self, Vec<OptionChange>), ConfigError> {
        let mut file = Parsed::of(text, name);
        let mut made = Vec::new();
        if !changes.set.is_empty() {
            made = changes::set_all(&mut file.document, changes.set, &mut file.problems);
            file.text = file.document.to_toml();
        }
        let mut document = file.document.clone();
        let mut config = file.read(base, name, &format!("{name} with --set"))?;
        // `--arg` is applied only to a valid configuration, so any problem found now is due to
        // `--arg`.
        if !changes.arg.is_empty() {
            let mut problems = Vec::new();
            made.extend(changes::append_all(&mut document, changes.arg, &mut problems));
            let text = document.to_toml();
            let file = Parsed { document, text, syntax: Vec::new(), problems };
            config = file.read(base, name, &format!("{name} with --arg"))?;
        }
        Ok((config, made))
    }

    /// The configuration for one commit. Every override whose condition `holds` is merged, in
    /// order. Patches and overlays whose condition does not hold are removed. The result has no
    /// conditions left.
    ///
    /// # Errors
    /// `holds` fails, or overrides that are valid alone conflict with each other.
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
                merge_over(&mut document, body, &format!("override[{}].", i + 1), &mut problems);
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
        // The merged text cannot give these: settings that no override may change, and settings that
        // a hunt changed.
        config.executor.own = self.executor.own;
        config.home = self.home;
        config.statistics = self.statistics.clone();
        config.build.direct_mode = self.build.direct_mode;
        for measure in &self.measures {
            config.leave_out_checks(&measure.name, &measure.left_out);
        }
        if self.build.always_clean {
            config.build.set_always_clean();
        }
        Ok(config)
    }

    /// Every condition of an override, a patch or an overlay.
    pub(crate) fn conditions(&self) -> impl Iterator<Item = &Condition> {
        let patches = self.patches.iter().filter_map(|patch| patch.when.as_ref());
        let overlays = self.overlays.iter().filter_map(|overlay| overlay.when.as_ref());
        self.overrides.iter().chain(patches).chain(overlays)
    }

    /// Every path of `[worktree] link`, those of overrides included.
    pub fn links(&self) -> BTreeSet<String> {
        let texts = |node: &Node| match &node.data {
            Data::List(items) => {
                items.iter().filter_map(Node::text).map(str::to_owned).collect::<Vec<_>>()
            }
            _ => Vec::new(),
        };
        let of = |body: &Node| body.table()?.get("worktree")?.table()?.get("link").map(texts);
        let in_overrides = self.source.bodies.iter().filter_map(of).flatten();
        self.worktree.link.iter().cloned().chain(in_overrides).collect()
    }

    /// The configuration as TOML: the file itself, or the merged document if something was
    /// merged into it. Parsing this text with the same base folder yields the same `Config`.
    pub fn text(&self) -> &str {
        &self.source.text
    }
}

/// A parsed file before its tree is read.
struct Parsed {
    /// The tree with its overrides.
    document: Node,
    /// The tree as TOML.
    text: String,
    /// Parts that are not valid TOML.
    syntax: Vec<Problem>,
    problems: Vec<Problem>,
}

impl Parsed {
    fn of(text: &str, name: &str) -> Self {
        let mut syntax = Vec::new();
        let document = document::parse(text, name, &mut syntax);
        Self { document, text: text.to_owned(), syntax, problems: Vec::new() }
    }

    /// Reads the tree. `changed`: the name in the error if only options of the command line are
    /// wrong.
    fn read(self, base: &Path, name: &str, changed: &str) -> Result<Config, ConfigError> {
        let Self { mut document, text, mut syntax, mut problems } = self;
        let (conditions, bodies) = read::take_overrides(&mut document, &mut problems);
        let (mut config, mut found) = read::read(&document, base);
        let with_overrides = read::check_overrides(&document, &bodies, base, &found);
        problems.append(&mut found);
        problems.extend(with_overrides);
        if !syntax.is_empty() {
            // Problems on the line of a syntax error, and missing keys, follow from that error:
            // the parser left something out there. They are not reported again.
            problems.retain(|p| {
                !p.is_missing
                    && !syntax
                        .iter()
                        .any(|s| (&s.place.file, s.place.line) == (&p.place.file, p.place.line))
            });
            problems.append(&mut syntax);
        }
        if !problems.is_empty() {
            let mut error = failed(name, problems);
            if error.is_of_options() {
                changed.clone_into(&mut error.path);
            }
            return Err(error);
        }
        config.overrides = conditions;
        config.source = Arc::new(Source { name: name.to_owned(), text, document, bodies });
        Ok(config)
    }
}

/// Keeps the tables of `[[key]]` whose condition holds, and removes the condition from them.
/// So two commits have the same configuration text if the same tables hold at both.
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
    // Problems of the file itself come before those of its overlay.
    problems.sort_by_key(|p| *p.place.file != *name);
    ConfigError { path: name.to_owned(), problems }
}
