//! A valid configuration. Whoever holds a [`Config`] needs to check nothing again.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::evaluation::{CommitId, FailureKind, Guard, Metric};

use super::load::Source;
use super::{Parser, Placeholder, Template};

/// One oracle.toml, checked. Made only by reading one: [`Config::load`], [`Config::parse`],
/// [`Config::resolve`].
#[derive(Clone, Debug)]
pub struct Config {
    /// `[inputs]`: name → path as written (file, folder or glob), not yet resolved.
    pub inputs: BTreeMap<String, String>,
    /// The folder that relative paths in the file start from.
    pub base: PathBuf,
    /// `[worktree]`.
    pub worktree: Worktree,
    /// `[build]`.
    pub build: Build,
    /// `[[prepare]]`, in order, with unique names; each names only itself and those before it.
    pub prepares: Vec<Prepare>,
    /// `[[measure]]`, in order, with unique names.
    pub measures: Vec<Measure>,
    /// `[run]`.
    pub run: Run,
    /// `[[require]]`.
    pub requires: Vec<Require>,
    /// `[[guard]]`; at least one; every metric's measure exists.
    pub guards: Vec<Guard>,
    /// `[statistics]`.
    pub statistics: Statistics,
    /// `[failures]`.
    pub failures: Failures,
    /// `[[override]]`: the conditions, in order; [`Config::resolve`] lays over those that hold.
    pub overrides: Vec<Condition>,
    /// `[environment] probe`: commands, split into words.
    pub probes: Vec<Vec<String>>,
    /// `[environment] vars`: inherited variables that count besides the usual ones; `*` ends a
    /// beginning.
    pub variables: Vec<String>,
    /// `[[patch]]`, in order; [`Config::resolve`] leaves those that hold.
    pub patches: Vec<Patch>,
    /// `[[overlay]]`, in order; [`Config::resolve`] leaves those that hold.
    pub overlays: Vec<FileOverlay>,
    /// `[ruler] paths`: git pathspecs (`:(top,glob)` is added) of what measures, rather than of
    /// what is measured.
    pub ruler: Vec<String>,
    /// What it was read from.
    pub(super) source: Arc<Source>,
}

/// `[worktree]`: how a checkout is made ready.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Worktree {
    /// Where slots live; default: the user's cache folder and the repository's id.
    pub dir: Option<PathBuf>,
    /// Paths of the user's checkout that are linked in, relative to its top.
    pub link: Vec<String>,
    /// Whether submodules are checked out at each commit's own pin.
    pub submodules: bool,
    /// Whether files that Git LFS keeps elsewhere are fetched; they stay pointers otherwise.
    pub lfs: bool,
    /// The submodule, or the copy of another project, that a hunt goes on inside where a first bad
    /// commit moves it.
    pub descend: Option<String>,
}

/// A command, split as a shell would; placeholders are filled in after the split.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// As written.
    pub text: String,
    /// The words; never empty.
    pub words: Vec<Template>,
}

/// `[build]`.
#[derive(Clone, Debug)]
pub struct Build {
    /// Commands, run in order in `{src}`; may be empty (nothing to build).
    pub commands: Vec<Command>,
    /// Declared environment.
    pub env: BTreeMap<String, Template>,
    /// `clean` or `incremental`.
    pub mode: BuildMode,
    /// For each command; default 30 minutes.
    pub timeout: Duration,
    /// Git pathspecs (`:(top,glob)` is added): commits touching only these change nothing.
    pub ignore: Vec<String>,
    /// The other way round.
    pub paths: Vec<String>,
    /// `{jobs}`; default: the cores of the slot.
    pub jobs: Option<u32>,
    /// What a confirmation does with builds.
    pub confirm: ConfirmBuild,
}

/// `build.mode`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BuildMode {
    /// A fresh build folder for every commit.
    Clean,
    /// The build folder is kept between commits of the search (never for a confirmation).
    Incremental,
}

/// `build.confirm`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConfirmBuild {
    /// Clean builds newer than the search's.
    Rebuild,
    /// The search's builds are good enough; the report says so.
    Reuse,
}

/// One `[[prepare]]`: a step between build and measures, made once for each build.
#[derive(Clone, Debug)]
pub struct Prepare {
    /// Its name, unique; `{prepare.NAME}` is the folder that it fills.
    pub name: String,
    /// What to run.
    pub command: Command,
    /// Wall-clock limit; default 30 minutes.
    pub timeout: Duration,
    /// Declared environment.
    pub env: BTreeMap<String, Template>,
    /// What must lie in its folder then; paths relative to that.
    pub outputs: Vec<String>,
    /// What a commit counts as where it fails.
    pub failure: Policy,
}

impl Prepare {
    /// Everything in it that is filled in.
    pub fn templates(&self) -> impl Iterator<Item = &Template> {
        self.command.words.iter().chain(self.env.values())
    }
}

/// One `[[measure]]`.
#[derive(Clone, Debug)]
pub struct Measure {
    /// Its name, unique.
    pub name: String,
    /// What to run.
    pub command: Command,
    /// How to read the output.
    pub parser: Parser,
    /// Where to read in place of stdout and stderr: a path or pattern below `{out}`.
    pub file: Option<String>,
    /// Wall-clock limit of one run; default 20 minutes.
    pub timeout: Duration,
    /// Declared environment.
    pub env: BTreeMap<String, Template>,
    /// Working folder; default `{src}`.
    pub cwd: Option<Template>,
    /// Commands to run before and after each run, in the same folder and environment.
    pub before: Vec<Command>,
    /// See `before`.
    pub after: Vec<Command>,
    /// Whether it yields numbers or facts.
    pub kind: MeasureKind,
    /// `[failures]` with this measure's own settings laid over.
    pub failures: Failures,
    /// Whether nothing of ours may build or run beside it on this machine.
    pub exclusive: bool,
    /// Launches that do not count, before the first that does.
    pub warmup: u32,
}

/// `measure.kind`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MeasureKind {
    /// Values are parsed as numbers; one that is not is unreadable.
    Number,
    /// Values are kept as text.
    Fact,
}

impl Measure {
    /// Everything in it that is filled in.
    pub fn templates(&self) -> impl Iterator<Item = &Template> {
        let commands = std::iter::once(&self.command).chain(&self.before).chain(&self.after);
        let words = commands.flat_map(|command| &command.words);
        words.chain(self.env.values()).chain(&self.cwd)
    }

    /// Whether its runs depend on `{chunks}`.
    pub fn takes_chunks(&self) -> bool {
        self.templates().flat_map(Template::placeholders).any(|p| *p == Placeholder::Chunks)
    }
}

impl Build {
    /// Whether its builds depend on `{chunks}`.
    pub fn takes_chunks(&self) -> bool {
        let words = self.commands.iter().flat_map(|command| &command.words);
        let templates = words.chain(self.env.values());
        templates.flat_map(Template::placeholders).any(|p| *p == Placeholder::Chunks)
    }
}

/// `[run]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// `{threads}`; default: the cores of the slot.
    pub threads: Option<u32>,
    /// `{chunks}`, where a command takes it.
    pub chunks: Option<u32>,
}

/// One `[[require]]`: what a run must show to count at all.
#[derive(Clone, Debug)]
pub struct Require {
    /// The measure whose runs are looked at.
    pub measure: String,
    /// What of them.
    pub what: Required,
}

/// What a `[[require]]` asks for.
#[derive(Clone, Debug)]
pub enum Required {
    /// Must match some line of the output, on either stream.
    Pattern(regex::Regex),
    /// `checks = "same-set"`: the checks that ran are those of the good end.
    SameChecks,
}

/// `[statistics]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Statistics {
    /// Of the whole hunt, in (0.5, 1).
    pub confidence: f64,
    /// Budget of runs.
    pub max_runs: u32,
    /// Whether the search may read a shorter text, where the endpoints show that it is enough.
    pub short_text: bool,
}

/// `[failures]`: what a commit that cannot be measured counts as.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failures {
    /// Does not build.
    pub build: Policy,
    /// Crashes.
    pub crash: Policy,
    /// Prints NaN.
    pub nan: Policy,
    /// Times out.
    pub timeout: Policy,
    /// Prints no value.
    pub unreadable: Policy,
    /// Output that betrays the machine's fault, whoever runs (substrings).
    pub transient: Vec<String>,
}

/// What a failure counts as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// Untestable.
    Skip,
    /// Bad.
    Bad,
}

impl Default for Failures {
    /// Untestable, but for NaN; and what GPU drivers say of a sick machine.
    fn default() -> Self {
        let transient = ["no CUDA-capable device", "Xid", "uncorrectable ECC"];
        Self {
            build: Policy::Skip,
            crash: Policy::Skip,
            nan: Policy::Bad,
            timeout: Policy::Skip,
            unreadable: Policy::Skip,
            transient: transient.map(str::to_owned).to_vec(),
        }
    }
}

impl Failures {
    /// The policy for a kind of failure; what does not take a patch of ours, cannot lie on our
    /// disk, is incomplete, or lacks a requirement is never bad.
    pub fn policy(&self, kind: FailureKind) -> Policy {
        match kind {
            FailureKind::Build => self.build,
            FailureKind::Crash => self.crash,
            FailureKind::Nan => self.nan,
            FailureKind::Timeout => self.timeout,
            FailureKind::Unreadable => self.unreadable,
            FailureKind::Patch
            | FailureKind::Checkout
            | FailureKind::Prepare
            | FailureKind::Incomplete
            | FailureKind::Require => Policy::Skip,
        }
    }
}

/// One `[[patch]]`: a change that is made to commits before they are built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Patch {
    /// Where it comes from.
    pub source: PatchSource,
    /// Which commits; all where there is none.
    pub when: Option<Condition>,
}

/// Where a patch comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PatchSource {
    /// A unified diff; the path starts from [`Config::base`].
    File(String),
    /// What this revision changes against its first parent.
    Commit(String),
}

impl PatchSource {
    /// What the configuration calls it.
    pub fn name(&self) -> &str {
        match self {
            Self::File(name) | Self::Commit(name) => name,
        }
    }
}

/// One `[[overlay]]`: files of one revision that are laid over every commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileOverlay {
    /// The revision, as written.
    pub from: String,
    /// Git pathspecs (`:(top,glob)` is added): what matches is exactly as at that revision.
    pub paths: Vec<String>,
    /// Which commits; all where there is none.
    pub when: Option<Condition>,
}

/// `when`: all that is given must hold.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Condition {
    /// This path is not in the commit's tree.
    pub missing: Option<String>,
    /// This path is in the commit's tree.
    pub exists: Option<String>,
    /// This file is in the tree and contains the text.
    pub contains: Option<(String, String)>,
    /// The commit descends from (or is) this revision.
    pub has_ancestor: Option<String>,
    /// It does not.
    pub lacks_ancestor: Option<String>,
}

impl Config {
    /// The same with the ruler of another commit, below the overlays: those are the same for
    /// both.
    #[must_use]
    pub fn with_ruler_of(&self, commit: &CommitId) -> Self {
        let mut exchanged = self.clone();
        let (from, paths) = (commit.to_string(), self.ruler.clone());
        exchanged.overlays.insert(0, FileOverlay { from, paths, when: None });
        exchanged
    }

    /// The measure of that name.
    pub fn measure(&self, name: &str) -> Option<&Measure> {
        self.measures.iter().find(|m| m.name == name)
    }

    /// What must be prepared before something that is filled in with `templates`, in order:
    /// what they name, and what that needs.
    pub fn prepares_of<'c>(
        &'c self,
        templates: impl Iterator<Item = &'c Template>,
    ) -> Vec<&'c Prepare> {
        let mut wanted: Vec<&Placeholder> = templates.flat_map(Template::placeholders).collect();
        let mut found = Vec::new();
        // Each names only those before it.
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
    pub fn passes_or_fails(&self, metric: &Metric) -> bool {
        let is_code = |measure: &Measure| matches!(measure.parser, Parser::ExitCode);
        metric.name.is_none() && self.measure(&metric.measure).is_some_and(is_code)
    }

    /// The measures whose runs must all make the checks that the good end's runs make.
    pub fn same_checks(&self) -> Vec<String> {
        let requires = self.requires.iter();
        let same = requires.filter(|require| matches!(require.what, Required::SameChecks));
        same.map(|require| require.measure.clone()).collect()
    }

    /// The first guard of that metric, if any; a metric may have several of different forms.
    pub fn guard(&self, metric: &Metric) -> Option<&Guard> {
        self.guards.iter().find(|g| g.metric == *metric)
    }
}
