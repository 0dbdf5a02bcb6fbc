//! The types of a valid configuration. Code that has a [`Config`] checks nothing again.

mod build;
mod command;
mod failures;
mod measures;
mod overlays;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use crate::evaluation::{Checks, CommitId, Guard, Metric, TreeEntry};

use super::executor::Executor;
use super::level::Level;
use super::source::Source;
use super::{Parser, Placeholder, Sweep, Template};

pub use build::Build;
pub(crate) use build::{BuildMode, ConfirmBuild, HomeUse, UnreadCommits};
pub use command::Command;
pub use failures::Failures;
pub(crate) use failures::{FailureHunt, Policy};
pub use measures::Measure;
pub(crate) use measures::{Exclusive, MeasureKind, Prepare, Require, Required};
pub(crate) use overlays::{Condition, FileOverlay, Patch, PatchSource};

/// One checked oracle.toml. The only ways to make one are [`Config::load`], [`Config::parse`]
/// and [`Config::resolve`].
#[derive(Clone, Debug)]
pub struct Config {
    /// `[inputs]`: name → path as written (file, folder or glob), not yet resolved.
    pub inputs: BTreeMap<String, String>,
    /// The folder that relative paths in the file start from.
    pub base: PathBuf,
    /// `[worktree]`.
    pub(crate) worktree: Worktree,
    /// `[build]`.
    pub build: Build,
    /// `[[prepare]]`, in order, with unique names. A step refers only to itself and to earlier
    /// steps.
    pub(crate) prepares: Vec<Prepare>,
    /// `[[measure]]`, in order, with unique names.
    pub measures: Vec<Measure>,
    /// `[[level]]`, the lowest first; every measure that they name exists.
    pub levels: Vec<Level>,
    /// `[sweep]`; every measure and parameter that it names exists.
    pub(crate) sweep: Option<Sweep>,
    /// `[run]`.
    pub run: Run,
    /// `[[require]]`.
    pub(crate) requires: Vec<Require>,
    /// `[[guard]]`; at least one; every metric's measure exists.
    pub guards: Vec<Guard>,
    /// `[statistics]`.
    pub(crate) statistics: Statistics,
    /// `[failures]`.
    pub failures: Failures,
    /// The conditions of `[[override]]`, in order. [`Config::resolve`] merges the overrides whose
    /// conditions hold.
    pub(crate) overrides: Vec<Condition>,
    /// `[environment] probe`: commands, split into words.
    pub probes: Vec<Vec<String>>,
    /// `[environment] vars`: inherited variables that, besides the built-in list, are part of the
    /// build and run keys. A name that ends with `*` stands for all variables whose names begin so.
    pub variables: Vec<String>,
    /// `[environment] home`.
    pub(crate) home: HomeUse,
    /// `[[patch]]`, in order. [`Config::resolve`] keeps the patches whose conditions hold.
    pub(crate) patches: Vec<Patch>,
    /// `[[overlay]]`, in order. [`Config::resolve`] keeps the overlays whose conditions hold.
    pub(crate) overlays: Vec<FileOverlay>,
    /// `[ruler] paths`: git pathspecs (`:(top,glob)` is added) of the files that measure, not of
    /// the files that are measured.
    pub ruler: Vec<String>,
    /// `[report] commit_url`: the page of a commit, where `{commit}` stands for its full name.
    pub commit_url: Option<String>,
    /// `[executor]`.
    pub(crate) executor: Executor,
    /// `[limits]`.
    pub(crate) limits: DiskLimits,
    /// `[notify] command`: the words of the command that is told how a hunt ended.
    pub notify: Option<Vec<String>>,
    /// Files that replace a commit's own before its patches and overlays are applied. No key sets
    /// them: the search for the cause uses them to build a commit with part of a change.
    pub(crate) part: Arc<Vec<TreeEntry>>,
    /// Whether a submodule under test is put into the engine's tree as plain files. Then parts of a
    /// change and patches can be applied to these files. No key sets it.
    pub inline: bool,
    /// The text and tree that this configuration was read from.
    pub(super) source: Arc<Source>,
}

impl Config {
    /// This configuration with the ruler files of another commit, as the first overlay. The
    /// other overlays lie above it, since they are the same for both commits.
    #[must_use]
    pub(crate) fn with_ruler_of(&self, commit: &CommitId) -> Self {
        let mut exchanged = self.clone();
        let (from, paths) = (commit.to_string(), self.ruler.clone());
        exchanged.overlays.insert(0, FileOverlay { from, paths, when: None });
        exchanged
    }

    /// This configuration with these files put over the commit.
    #[must_use]
    pub(crate) fn with_part(&self, entries: Vec<TreeEntry>) -> Self {
        Self { part: Arc::new(entries), inline: true, ..self.clone() }
    }

    /// This configuration with a submodule under test as plain files.
    #[must_use]
    pub(crate) fn inlined(&self) -> Self {
        Self { inline: true, ..self.clone() }
    }

    /// This configuration with one more patch, applied after the others.
    #[must_use]
    pub(crate) fn with_patch(&self, file: String) -> Self {
        let mut patched = self.clone();
        patched.patches.push(Patch { source: PatchSource::File(file), when: None });
        patched
    }

    /// Whether the values of a measure may depend on the machine's speed: the measure is exclusive,
    /// or one of its guards is of a kind that depends on speed.
    pub(crate) fn is_timed(&self, measure: &str) -> bool {
        let mut guards = self.guards.iter().filter(|guard| guard.metric.measure == measure);
        guards.any(Guard::depends_on_speed)
            || self.measure(measure).is_some_and(Measure::is_exclusive)
    }

    /// The measure of that name.
    pub fn measure(&self, name: &str) -> Option<&Measure> {
        self.measures.iter().find(|m| m.name == name)
    }

    /// Leaves these checks out of what runs of a measure say, from now on.
    pub(crate) fn leave_out_checks(&mut self, measure: &str, checks: &Checks) {
        let mut measures = self.measures.iter_mut();
        if let Some(measure) = measures.find(|one| one.name == measure) {
            measure.left_out = measure.left_out.with(checks);
        }
    }

    /// The prepare steps that `templates` need, in order: the steps that the templates name,
    /// and the steps that those steps name.
    pub(crate) fn prepares_of<'c>(
        &'c self,
        templates: impl Iterator<Item = &'c Template>,
    ) -> Vec<&'c Prepare> {
        let mut wanted: Vec<&Placeholder> = templates.flat_map(Template::placeholders).collect();
        let mut found = Vec::new();
        // A step names only itself and earlier steps, so going backwards finds all of them.
        for prepare in self.prepares.iter().rev() {
            let is_it =
                |p: &&Placeholder| matches!(p, Placeholder::Prepare(n) if *n == prepare.name);
            if wanted.iter().any(is_it) {
                wanted.extend(prepare.templates().flat_map(Template::placeholders));
                found.push(prepare);
            }
        }
        found.reverse();
        found
    }

    /// Whether a metric is an exit code, which only says pass or fail.
    pub(crate) fn passes_or_fails(&self, metric: &Metric) -> bool {
        let is_code = |measure: &Measure| matches!(measure.parser, Parser::ExitCode);
        metric.name.is_none() && self.measure(&metric.measure).is_some_and(is_code)
    }

    /// The measures whose runs must make the same checks as the runs of the good end.
    pub(crate) fn same_checks(&self) -> Vec<String> {
        let requires = self.requires.iter();
        let same = requires.filter(|require| matches!(require.what, Required::SameChecks));
        same.map(|require| require.measure.clone()).collect()
    }

    /// This configuration with the number of chunks to read, if the measure takes `{chunks}`.
    pub fn reading(&self, measure: &Measure, chunks: Option<u32>) -> Cow<'_, Self> {
        match chunks {
            Some(chunks) if measure.takes_chunks() => {
                let mut shorter = self.clone();
                shorter.run.chunks = Some(chunks);
                Cow::Owned(shorter)
            }
            _ => Cow::Borrowed(self),
        }
    }

    /// The names of the measures that run at the endpoints and in the search.
    pub(crate) fn search_measures(&self) -> Vec<String> {
        let searched = self.measures.iter().filter(|measure| !measure.for_cause);
        searched.map(|measure| measure.name.clone()).collect()
    }

    /// The first guard of that metric, if any; a metric may have several of different forms.
    pub fn guard(&self, metric: &Metric) -> Option<&Guard> {
        self.guards.iter().find(|g| g.metric == *metric)
    }
}

/// `[worktree]`: how a checkout is prepared for a build.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Worktree {
    /// Where slots are. Default: a folder in the user's cache folder, named by the repository's id.
    pub dir: Option<PathBuf>,
    /// Paths of the user's checkout that are linked in, relative to its top.
    pub link: Vec<String>,
    /// Whether submodules are checked out at each commit's own pin.
    pub submodules: bool,
    /// Whether files that Git LFS stores are fetched. Otherwise they stay pointers.
    pub lfs: bool,
    /// A submodule, or a folder with a copy of another project. If the first bad commit moves that
    /// dependency to another commit, a new hunt searches the dependency's own commits.
    pub descend: Option<String>,
}

/// `[run]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// `{threads}`; default: the CPUs of a slot of `[executor]`, or all usable cores.
    pub threads: Option<u32>,
    /// `{chunks}`; `None` if the file does not set it.
    pub chunks: Option<u32>,
    /// Whether builds and runs have no network and can write only to folders of their own.
    pub sandbox: bool,
}

/// `[statistics]`.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Statistics {
    /// The confidence that a confirmation must reach, in (0.5, 1). The error rate of a sequential
    /// search is derived from it.
    pub confidence: f64,
    /// Maximum number of runs of a hunt.
    pub max_runs: u32,
    /// Whether the search may read a shorter text if the endpoints show that it is enough.
    pub short_text: bool,
}

/// `[limits]`: how much disk a hunt may use, in bytes; `None` is no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DiskLimits {
    /// All folders to build and run in.
    pub slots: Option<u64>,
    /// The built files in them.
    pub builds: Option<u64>,
    /// The logs in the store.
    pub logs: Option<u64>,
    /// The files with tensors in the store.
    pub tensors: Option<u64>,
}

impl Default for DiskLimits {
    /// 50 GiB of builds: about ten builds of an engine with GPU kernels.
    fn default() -> Self {
        Self { slots: None, builds: Some(50 << 30), logs: None, tensors: None }
    }
}
