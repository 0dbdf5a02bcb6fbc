//! How a commit is built and measured. The script fills in values that differ between commits.

use std::collections::BTreeMap;

use crate::evaluation::CommitId;

/// A word of a command, the value of a variable or a path: its parts in order.
pub(crate) type RecipeWord = Vec<RecipePart>;

/// A part of a [`RecipeWord`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RecipePart {
    /// Literal text.
    Text(String),
    /// A variable of the script: `src`, `build`, `out`, `cache`, `commit`, `short`, `parent` or
    /// `commit_date`.
    Variable(&'static str),
    /// The folder that the prepare step of this name fills.
    Prepared(String),
}

/// How a commit is built and measured: the part of the frozen configuration that applies to the
/// commit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Recipe {
    /// Changes that are applied to the commit, the first one first.
    pub layers: Vec<RecipeLayer>,
    /// The build commands, one word per entry.
    pub build: Vec<Vec<RecipeWord>>,
    /// Environment variables declared for the build.
    pub build_env: BTreeMap<String, RecipeWord>,
    /// The steps between build and measures, in order.
    pub prepares: Vec<RecipePrepare>,
    /// The measures.
    pub measures: Vec<RecipeMeasure>,
    /// Paths that are linked from the user's checkout, relative to its top.
    pub links: Vec<String>,
    /// Whether submodules are checked out.
    pub submodules: bool,
}

/// A change that a [`Recipe`] applies to a commit before the build.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RecipeLayer {
    /// Sets a submodule to the commit in question.
    Pin {
        /// The submodule's path.
        path: String,
    },
    /// Replaces files of a folder with those of the commit in question.
    Vendored {
        /// The folder.
        folder: String,
        /// Paths of the files, from the top of that commit.
        files: Vec<String>,
    },
    /// Applies a unified diff, unless the tree already contains its content.
    Patch {
        /// The patch's name for people.
        name: String,
        /// The diff.
        diff: Vec<u8>,
    },
    /// Restores matching files from another commit.
    Files {
        /// The source commit of the files.
        from: CommitId,
        /// Pathspecs of the files.
        paths: Vec<String>,
    },
}

/// One prepare step of a [`Recipe`], between the build and the measures.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RecipePrepare {
    /// Its name.
    pub name: String,
    /// The command, one word per entry.
    pub command: Vec<RecipeWord>,
    /// Environment variables declared for it.
    pub env: BTreeMap<String, RecipeWord>,
}

/// One measure of a [`Recipe`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct RecipeMeasure {
    /// Its name.
    pub name: String,
    /// Names of the prepare steps that the measure needs.
    pub prepares: Vec<String>,
    /// The command, one word per entry.
    pub command: Vec<RecipeWord>,
    /// Environment variables declared for it.
    pub env: BTreeMap<String, RecipeWord>,
    /// The working folder, relative to `{src}`; `{src}` if not set.
    pub cwd: Option<RecipeWord>,
    /// Commands to run before the measured one.
    pub before: Vec<Vec<RecipeWord>>,
    /// Commands to run after the measured one.
    pub after: Vec<Vec<RecipeWord>>,
    /// The file below `{out}` with the value, a path or pattern; the output if not set.
    pub file: Option<String>,
    /// A POSIX extended regular expression for the output lines with the value. If not set, the
    /// script shows the last lines.
    pub shown: Option<String>,
}
