//! The types of a valid configuration. Code that has a [`Config`] checks nothing again.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::evaluation::{CommitId, FailureKind, Guard, Metric, Phase, TreeEntry};

use super::level::Level;
use super::source::Source;
use super::{Parser, Placeholder, Sweep, Template};

/// One checked oracle.toml. The only ways to make one are [`Config::load`], [`Config::parse`]
/// and [`Config::resolve`].
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
    /// `[[prepare]]`, in order, with unique names. A step refers only to itself and to earlier
    /// steps.
    pub prepares: Vec<Prepare>,
    /// `[[measure]]`, in order, with unique names.
    pub measures: Vec<Measure>,
    /// `[[level]]`, the lowest first; every measure that they name exists.
    pub levels: Vec<Level>,
    /// `[sweep]`; every measure and parameter that it names exists.
    pub sweep: Option<Sweep>,
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
    /// The conditions of `[[override]]`, in order. [`Config::resolve`] merges the overrides whose
    /// conditions hold.
    pub overrides: Vec<Condition>,
    /// `[environment] probe`: commands, split into words.
    pub probes: Vec<Vec<String>>,
    /// `[environment] vars`: inherited variables that are part of the keys besides the built-in
    /// list. A name that ends with `*` stands for all variables that begin so.
    pub variables: Vec<String>,
    /// `[environment] home`.
    pub home: HomeUse,
    /// `[[patch]]`, in order. [`Config::resolve`] keeps the patches whose conditions hold.
    pub patches: Vec<Patch>,
    /// `[[overlay]]`, in order. [`Config::resolve`] keeps the overlays whose conditions hold.
    pub overlays: Vec<FileOverlay>,
    /// `[ruler] paths`: git pathspecs (`:(top,glob)` is added) of the files that measure, not of
    /// the files that are measured.
    pub ruler: Vec<String>,
    /// `[report] commit_url`: the page of a commit, where `{commit}` stands for its full name.
    pub commit_url: Option<String>,
    /// `[limits]`.
    pub limits: DiskLimits,
    /// `[notify] command`: the words of the command that is told how a hunt ended.
    pub notify: Option<Vec<String>>,
    /// Files put over a commit before its patches and overlays. No key sets them: localisation uses
    /// them to build a commit with part of a change.
    pub part: Arc<Vec<TreeEntry>>,
    /// The text and tree that this configuration was read from.
    pub(super) source: Arc<Source>,
}

/// `[worktree]`: how a checkout is prepared for a build.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Worktree {
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
    /// Wall-clock limit of each command; default 30 minutes.
    pub timeout: Duration,
    /// Git pathspecs (`:(top,glob)` is added): commits touching only these change nothing.
    pub ignore: Vec<String>,
    /// Git pathspecs: only commits that touch these can change something.
    pub paths: Vec<String>,
    /// `{jobs}`; default: the cores of the slot.
    pub jobs: Option<u32>,
    /// Whether a confirmation builds again.
    pub confirm: ConfirmBuild,
    /// Whether commits that change nothing that both ends' builds read are built.
    pub unread: UnreadCommits,
}

/// `build.mode`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BuildMode {
    /// A fresh build folder for every commit.
    Clean,
    /// The build folder is kept between commits of the search (never for a confirmation).
    Incremental,
}

/// `environment.home`: which builds and runs get an empty home folder, so that nothing in it leads
/// from one commit to another.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HomeUse {
    /// Those of a confirmation. If they contradict the search, the hunt begins again with an empty
    /// home folder for all.
    #[default]
    Checked,
    /// None.
    Shared,
    /// All.
    Empty,
}

impl HomeUse {
    /// Whether the builds and runs of this phase get an empty home folder.
    pub fn is_empty_in(self, phase: Phase) -> bool {
        match self {
            Self::Checked => phase == Phase::Confirm,
            Self::Shared => false,
            Self::Empty => true,
        }
    }

    /// Whether they get one although other builds and runs of the hunt do not.
    pub fn is_check_in(self, phase: Phase) -> bool {
        self == Self::Checked && self.is_empty_in(phase)
    }
}

/// `build.confirm`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConfirmBuild {
    /// Make new clean builds.
    Rebuild,
    /// Use the builds of the search. The report says so.
    Reuse,
}

/// `build.unread`: what the search does with commits that change no file that the builds of both
/// ends read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnreadCommits {
    /// Leave them out.
    Skip,
    /// Build and judge them like others.
    Build,
}

/// One `[[prepare]]`: a step between build and measures that runs once for each build.
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
    /// Files that must be in the step's folder afterwards, as paths relative to that folder.
    pub outputs: Vec<String>,
    /// What a commit counts as if this step fails.
    pub failure: Policy,
}

impl Prepare {
    /// All templates of the step: its command and its environment.
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
    /// The file to read instead of stdout and stderr: a path or pattern below `{out}`.
    pub file: Option<String>,
    /// Wall-clock limit of one run; default 20 minutes.
    pub timeout: Duration,
    /// Declared environment.
    pub env: BTreeMap<String, Template>,
    /// Working folder; default `{src}`.
    pub cwd: Option<Template>,
    /// Commands to run before each run, in the same folder and environment.
    pub before: Vec<Command>,
    /// Commands to run after each run, in the same folder and environment.
    pub after: Vec<Command>,
    /// Whether the measure yields numbers or facts.
    pub kind: MeasureKind,
    /// `[failures]`, overridden by this measure's own settings.
    pub failures: Failures,
    /// Whether no other build or run of this program may happen meanwhile on this machine.
    pub exclusive: bool,
    /// Number of warm-ups: runs that do not count, before the first run that does.
    pub warmup: u32,
    /// Whether it only asks about the cause inside a first bad commit: it does not run at the
    /// endpoints, nor in the search.
    pub for_cause: bool,
}

/// `measure.kind`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MeasureKind {
    /// Values are parsed as numbers. A value that is not a number makes the run unreadable.
    Number,
    /// Values are kept as text.
    Fact,
}

impl Measure {
    /// All templates of the measure: its commands, environment and working folder.
    pub fn templates(&self) -> impl Iterator<Item = &Template> {
        let commands = std::iter::once(&self.command).chain(&self.before).chain(&self.after);
        let words = commands.flat_map(|command| &command.words);
        words.chain(self.env.values()).chain(&self.cwd)
    }

    /// Whether a command or variable of the measure uses `{chunks}`.
    pub fn takes_chunks(&self) -> bool {
        self.templates().flat_map(Template::placeholders).any(|p| *p == Placeholder::Chunks)
    }
}

impl Build {
    /// Whether a command or variable of the build uses `{chunks}`.
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
    /// `{chunks}`; `None` if the file does not set it.
    pub chunks: Option<u32>,
    /// Whether builds and runs have no network and can write only to folders of their own.
    pub sandbox: bool,
}

/// One `[[require]]`: what a run must show to count at all.
#[derive(Clone, Debug)]
pub struct Require {
    /// The measure whose runs are checked.
    pub measure: String,
    /// What each run must show.
    pub what: Required,
}

/// What a `[[require]]` asks for.
#[derive(Clone, Debug)]
pub enum Required {
    /// A pattern that must match some line of the output, on either stream.
    Pattern(regex::Regex),
    /// `checks = "same-set"`: the run must make the same checks as the runs of the good end.
    SameChecks,
}

/// `[statistics]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Statistics {
    /// The confidence that a confirmation must reach, in (0.5, 1). The error rate of a search that
    /// settles commits one by one is derived from it.
    pub confidence: f64,
    /// Maximum number of runs of a hunt.
    pub max_runs: u32,
    /// Whether the search may read a shorter text if the endpoints show that it is enough.
    pub short_text: bool,
}

/// `[limits]`: how much disk a hunt may use, in bytes; `None` is no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DiskLimits {
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

/// `[failures]`: what a commit that cannot be measured counts as.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failures {
    /// The commit does not build.
    pub build: Policy,
    /// A run crashes.
    pub crash: Policy,
    /// A run prints NaN.
    pub nan: Policy,
    /// A run times out.
    pub timeout: Policy,
    /// A run prints no value.
    pub unreadable: Policy,
    /// Substrings of the output that show a fault of the machine, not of the commit.
    pub transient: Vec<String>,
    /// Whether a hunt goes on if the bad end fails and the good end yields the guarded metrics.
    pub hunt: FailureHunt,
    /// The pauses before a hunt tries again after a fault of the machine.
    pub pauses: Vec<Duration>,
}

/// Whether a hunt may look for a failure although its guards are on metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureHunt {
    /// It may.
    Yes,
    /// It ends at the endpoints.
    No,
    /// On a terminal the user is asked; otherwise the hunt goes on.
    Ask,
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
    /// Every failure means untestable, except NaN, which means bad. `transient` holds what GPU
    /// drivers print when the machine is at fault.
    fn default() -> Self {
        let transient = ["no CUDA-capable device", "Xid", "uncorrectable ECC"];
        Self {
            build: Policy::Skip,
            crash: Policy::Skip,
            nan: Policy::Bad,
            timeout: Policy::Skip,
            unreadable: Policy::Skip,
            transient: transient.map(str::to_owned).to_vec(),
            hunt: FailureHunt::Ask,
            pauses: [1, 5, 30, 2 * 60, 10 * 60].map(Duration::from_secs).to_vec(),
        }
    }
}

impl Failures {
    /// The policy for a kind of failure. A failed prepare step has its own policy,
    /// [`Prepare::failure`]. A commit is never bad because a patch does not apply, it cannot be
    /// checked out, its output is incomplete, or a requirement is not met.
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

/// One `[[patch]]`: a change that is applied to commits before they are built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Patch {
    /// The file or revision that the patch comes from.
    pub source: PatchSource,
    /// Which commits; `None`: all commits.
    pub when: Option<Condition>,
}

/// Where a patch comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PatchSource {
    /// A unified diff; the path starts from [`Config::base`].
    File(String),
    /// The change of this revision against its first parent.
    Commit(String),
}

impl PatchSource {
    /// The file name or revision as the configuration has it.
    pub fn name(&self) -> &str {
        match self {
            Self::File(name) | Self::Commit(name) => name,
        }
    }
}

/// One `[[overlay]]`: files of one revision that replace those of every commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileOverlay {
    /// The revision, as written.
    pub from: String,
    /// Git pathspecs (`:(top,glob)` is added): matching files become exactly as at that revision.
    pub paths: Vec<String>,
    /// Which commits; `None`: all commits.
    pub when: Option<Condition>,
}

/// `when`: every condition that is given must hold.
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
    /// The commit does not descend from this revision, and is not this revision.
    pub lacks_ancestor: Option<String>,
}

impl Config {
    /// This configuration with the ruler files of another commit, as the first overlay. The
    /// other overlays lie above it, since they are the same for both commits.
    #[must_use]
    pub fn with_ruler_of(&self, commit: &CommitId) -> Self {
        let mut exchanged = self.clone();
        let (from, paths) = (commit.to_string(), self.ruler.clone());
        exchanged.overlays.insert(0, FileOverlay { from, paths, when: None });
        exchanged
    }

    /// This configuration with these files put over the commit.
    #[must_use]
    pub fn with_part(&self, entries: Vec<TreeEntry>) -> Self {
        Self { part: Arc::new(entries), ..self.clone() }
    }

    /// This configuration with one more patch, applied after the others.
    #[must_use]
    pub fn with_patch(&self, file: String) -> Self {
        let mut patched = self.clone();
        patched.patches.push(Patch { source: PatchSource::File(file), when: None });
        patched
    }

    /// The measure of that name.
    pub fn measure(&self, name: &str) -> Option<&Measure> {
        self.measures.iter().find(|m| m.name == name)
    }

    /// The prepare steps that `templates` need, in order: the steps that the templates name,
    /// and the steps that those steps name.
    pub fn prepares_of<'c>(
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
    pub fn passes_or_fails(&self, metric: &Metric) -> bool {
        let is_code = |measure: &Measure| matches!(measure.parser, Parser::ExitCode);
        metric.name.is_none() && self.measure(&metric.measure).is_some_and(is_code)
    }

    /// The measures whose runs must make the same checks as the runs of the good end.
    pub fn same_checks(&self) -> Vec<String> {
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
    pub fn search_measures(&self) -> Vec<String> {
        let searched = self.measures.iter().filter(|measure| !measure.for_cause);
        searched.map(|measure| measure.name.clone()).collect()
    }

    /// The first guard of that metric, if any; a metric may have several of different forms.
    pub fn guard(&self, metric: &Metric) -> Option<&Guard> {
        self.guards.iter().find(|g| g.metric == *metric)
    }
}
