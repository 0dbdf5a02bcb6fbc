//! What a placeholder in a command stands for, and its value.

use std::collections::BTreeMap;
use std::fmt;

/// A placeholder: what `{…}` stands for.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Placeholder {
    /// `{src}`: the worktree at the commit.
    Src,
    /// `{build}`: the build folder.
    Build,
    /// `{out}`: a folder, fresh and empty for each run.
    Out,
    /// `{cache}`: a folder, fresh and empty for each evaluation.
    Cache,
    /// `{jobs}`: parallel build jobs.
    Jobs,
    /// `{threads}`: threads of a run.
    Threads,
    /// `{chunks}`: chunks of text to measure.
    Chunks,
    /// `{commit}`: the commit, 40 digits.
    Commit,
    /// `{short}`: the commit, abbreviated.
    Short,
    /// `{parent}`: the commit's first parent, 40 digits.
    Parent,
    /// `{commit_date}`: the commit's date.
    CommitDate,
    /// `{inputs.NAME}`: the path of an input.
    Input(String),
    /// `{matrix.NAME}`: the value of an axis in a cell.
    Matrix(String),
    /// `{sweep.NAME}`: the value of a parameter in a cell of the sweep.
    Sweep(String),
    /// `{prepare.NAME}`: the folder that a `[[prepare]]` filled.
    Prepare(String),
}

/// The names that the configuration declares and that templates may use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    /// `[inputs]`: name → path.
    pub inputs: BTreeMap<String, String>,
    /// `[[prepare]]`: the names of the steps that come before the template.
    pub prepares: Vec<String>,
}

pub(super) const PLAIN: [(&str, Placeholder); 11] = [
    ("src", Placeholder::Src),
    ("build", Placeholder::Build),
    ("out", Placeholder::Out),
    ("cache", Placeholder::Cache),
    ("jobs", Placeholder::Jobs),
    ("threads", Placeholder::Threads),
    ("chunks", Placeholder::Chunks),
    ("commit", Placeholder::Commit),
    ("short", Placeholder::Short),
    ("parent", Placeholder::Parent),
    ("commit_date", Placeholder::CommitDate),
];

impl Placeholder {
    /// Whether the value differs between commits that have the same tree. Then a key made from
    /// the unfilled text must contain the commit too.
    pub(crate) fn depends_on_commit(&self) -> bool {
        matches!(self, Self::Commit | Self::Short | Self::Parent | Self::CommitDate)
    }
}

impl fmt::Display for Placeholder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Input(name) => write!(f, "{{inputs.{name}}}"),
            Self::Matrix(name) => write!(f, "{{matrix.{name}}}"),
            Self::Sweep(name) => write!(f, "{{sweep.{name}}}"),
            Self::Prepare(name) => write!(f, "{{prepare.{name}}}"),
            plain => {
                let name = PLAIN.iter().find(|(_, p)| p == plain).map_or("", |(name, _)| name);
                write!(f, "{{{name}}}")
            }
        }
    }
}

/// The values of placeholders.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Values(BTreeMap<Placeholder, String>);

impl Values {
    /// No values.
    pub fn new() -> Self {
        Self::default()
    }

    /// These values with one more. An earlier value of the placeholder is replaced.
    #[must_use]
    pub fn with(mut self, placeholder: Placeholder, value: impl Into<String>) -> Self {
        self.set(placeholder, value);
        self
    }

    /// Sets a value. An earlier value of the placeholder is replaced.
    pub fn set(&mut self, placeholder: Placeholder, value: impl Into<String>) {
        self.0.insert(placeholder, value.into());
    }

    /// The value, if set.
    pub fn get(&self, placeholder: &Placeholder) -> Option<&str> {
        self.0.get(placeholder).map(String::as_str)
    }
}

/// A template needs a value that was not given, such as `{parent}` at a root commit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` needs {placeholder}, which has no value here")]
pub struct MissingValue {
    /// The placeholder without a value.
    pub placeholder: Placeholder,
    /// The template as written.
    pub text: String,
}
