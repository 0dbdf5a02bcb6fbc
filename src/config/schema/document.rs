//! `oracle.toml` as types, for the schema alone: the reader in `read` reads it.
#![expect(dead_code, reason = "only their schema is made; no value ever is")]
#![expect(rustdoc::broken_intra_doc_links, reason = "editors show these comments as they are")]

use std::collections::BTreeMap;

use schemars::{JsonSchema, json_schema};

use super::failures::Failures;
use super::guards::{Guard, Level};
use super::measures::{Measure, Prepare, Require};
use super::sweep::Sweep;
use super::values::{Count, Env, Matrix, Size, Text, Time};

/// How commits are built and measured, and what counts as worse.
#[derive(JsonSchema)]
#[schemars(rename = "oracle.toml", deny_unknown_fields)]
pub(super) struct Document {
    /// The version of this format.
    #[schemars(schema_with = "one")]
    version: u32,
    /// Files that builds and runs read: NAME = "PATH", a file, a folder or a glob. Commands name an
    /// input as {inputs.NAME}. If its content changes, stored results of the commands that name it
    /// are not reused.
    inputs: Option<BTreeMap<String, Text>>,
    /// Values for which measures are repeated, with one build: AXIS = [VALUES]. The axes
    /// `threads` and `chunks` set {threads} and {chunks}. Commands name another axis as
    /// {inputs.AXIS} if its values are paths, or as {matrix.AXIS} if they are text. A measure that
    /// names an axis has a cell for each value of the axis.
    matrix: Option<Matrix>,
    sweep: Option<Sweep>,
    worktree: Option<Worktree>,
    build: Option<Build>,
    /// Steps between build and measures that run once for each build, such as the conversion of a
    /// model by each commit's own tool. Measures name the folder of a step as {prepare.NAME}.
    prepare: Option<Vec<Prepare>>,
    /// Commands to run. Each yields metrics called MEASURE or MEASURE.NAME, and always
    /// MEASURE.wall_s (seconds) and MEASURE.peak_rss_mib (MiB).
    #[schemars(length(min = 1))]
    measure: Vec<Measure>,
    run: Option<Run>,
    /// What a run must show to count. A run that does not show it makes its commit untestable.
    require: Option<Vec<Require>>,
    /// Tolerances. A commit is bad when it breaks any of them.
    #[schemars(length(min = 1))]
    guard: Vec<Guard>,
    /// Checks of the engine from its kernels up, the lowest first. They run at the first bad commit
    /// and its parent.
    level: Option<Vec<Level>>,
    statistics: Option<Statistics>,
    failures: Option<Failures>,
    environment: Option<Environment>,
    /// Changes that are applied to commits before they are built, in order.
    patch: Option<Vec<Patch>>,
    /// Files of one revision that are put into every commit before it is built.
    overlay: Option<Vec<FileOverlay>>,
    ruler: Option<Ruler>,
    report: Option<Report>,
    executor: Option<Executor>,
    limits: Option<Limits>,
    notify: Option<Notify>,
    /// Differences for some commits. Every override whose condition holds is applied, in order:
    /// tables are merged, everything else is replaced, arrays as a whole.
    r#override: Option<Vec<Override>>,
}

fn one(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
    json_schema!({ "const": 1 })
}

/// Where and how commits are checked out.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Worktree {
    /// The folder in which commits are checked out and built. A relative path starts from the
    /// folder of this file. Default: the user's cache folder.
    dir: Option<Text>,
    /// Paths of your checkout that are linked into each commit's checkout: relative, inside the
    /// checkout, not .git.
    link: Option<Vec<Text>>,
    /// Whether submodules are checked out, each at the revision that the commit pins.
    #[schemars(extend("default" = true))]
    submodules: Option<bool>,
    /// Whether the files of Git LFS are fetched. Otherwise they stay pointers of three lines.
    #[schemars(extend("default" = false))]
    lfs: Option<bool>,
    /// A submodule, or a folder with a copy of another project. If a first bad commit updates it,
    /// a second hunt searches that project's commits.
    descend: Option<Text>,
}

/// How a commit is built.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Build {
    /// The commands that build a commit. They run in order in {src}. Each is split into words as a
    /// shell would split it; no shell runs. Placeholders: {src} {build} {cache} {jobs} {threads}
    /// {commit} {short} {parent} {commit_date} {inputs.NAME}. Without commands, nothing is built.
    #[schemars(extend("default" = []))]
    commands: Option<Vec<Text>>,
    /// Environment variables. Placeholders are filled in.
    #[schemars(extend("default" = {}))]
    env: Option<Env>,
    /// Whether the build folder is empty for each commit (clean) or kept between the commits of a
    /// search (incremental). With auto it is kept as with incremental, but is empty for the ends.
    /// For a confirmation it is always empty.
    #[schemars(extend("default" = "clean"))]
    mode: Option<BuildMode>,
    /// The longest time of each command: "90s", "30m", "1h 30m".
    #[schemars(extend("default" = "30m"))]
    timeout: Option<Time>,
    /// Commits that touch only these files cannot change the result. Git pathspecs, such as
    /// "docs/**" or "*.md".
    #[schemars(extend("default" = []))]
    ignore: Option<Vec<Text>>,
    /// Only commits that touch these files can change the result. Git pathspecs, such as "src/**".
    #[schemars(extend("default" = []))]
    paths: Option<Vec<Text>>,
    /// The value of {jobs}. Default: the CPUs of a slot of [executor], or the cores of this
    /// machine.
    jobs: Option<Count>,
    /// Whether the first bad commit and its parents are built again for the confirmation (rebuild)
    /// or the builds of the search are used (reuse).
    #[schemars(extend("default" = "rebuild"))]
    confirm: Option<ConfirmBuild>,
    /// A build that took at least this long stays in its slot for later hunts. "8760h" keeps no build.
    #[schemars(extend("default" = "30s"))]
    keep: Option<Time>,
    /// Whether the search leaves out commits that change no file that either end's build read
    /// (skip), or builds them like others (build).
    #[schemars(extend("default" = "skip"))]
    unread: Option<UnreadCommits>,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "kebab-case")]
enum BuildMode {
    Clean,
    Incremental,
    Auto,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "kebab-case")]
enum UnreadCommits {
    Skip,
    Build,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "kebab-case")]
enum ConfirmBuild {
    Rebuild,
    Reuse,
}

/// The values of {threads} and {chunks}.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Run {
    /// The value of {threads}. Default: the CPUs of a slot of [executor], or the cores of this
    /// machine.
    threads: Option<Count>,
    /// The value of {chunks}. Without this key, no command may name {chunks}.
    chunks: Option<Count>,
    /// Whether builds and runs happen in a sandbox, without network, where they can write only to
    /// folders of their own. Needs bubblewrap.
    #[schemars(extend("default" = false))]
    sandbox: Option<bool>,
}

/// The confidence of an answer, and the cost of a hunt.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Statistics {
    /// The confidence that a confirmation must reach; more than 0.5, less than 1.
    #[schemars(extend("default" = 0.99, "exclusiveMinimum" = 0.5, "exclusiveMaximum" = 1))]
    confidence: Option<f64>,
    /// The most runs that a hunt may make. Results from the store do not count.
    #[schemars(extend("default" = 600))]
    max_runs: Option<Count>,
    /// Whether the search may read fewer chunks if a command takes {chunks} and the endpoints show
    /// that fewer are enough. The endpoints and the confirmation read all chunks.
    #[schemars(extend("default" = true))]
    short_text: Option<bool>,
}

/// Where a hunt builds and measures. Several slots let it measure several commits at the same time.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Executor {
    /// Where the slots are.
    #[schemars(extend("default" = "local"))]
    kind: Option<ExecutorKind>,
    /// What each slot may use. All slots need equally many CPUs and the same variables.
    #[schemars(length(min = 1))]
    slots: Option<Vec<ExecutorSlot>>,
    /// With kind = "slurm": what all jobs ask Slurm for, or, with [executor.build], those that
    /// measure.
    #[schemars(flatten)]
    jobs: JobOptions,
    /// With kind = "slurm": the jobs that measure. Either this table or the same keys of
    /// [executor].
    measure: Option<JobOptions>,
    /// With kind = "slurm": commits are built in jobs of their own, which ask Slurm for this.
    build: Option<JobOptions>,
    /// With kind = "slurm": where a change of speed is confirmed: on the node of the search, or on
    /// another one, where the good endpoint is measured too.
    #[schemars(extend("default" = "same-node"))]
    confirm: Option<ConfirmNode>,
}

/// What jobs of a Slurm cluster ask for.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct JobOptions {
    /// With kind = "slurm": the partition of the jobs. Default: the cluster's.
    partition: Option<Text>,
    /// With kind = "slurm": the account that the jobs are charged to. Default: yours.
    account: Option<Text>,
    /// With kind = "slurm": the devices of each job, such as gpu:1.
    gres: Option<Text>,
    /// With kind = "slurm": the features that a node must have.
    constraint: Option<Text>,
    /// With kind = "slurm": the folder of an OCI bundle. The jobs run in that container.
    #[schemars(regex(pattern = "^/"))]
    container: Option<Text>,
    /// With kind = "slurm": the longest that one job may take, at least 5m. A hunt that takes
    /// longer goes on in a new job. Default: the partition's.
    time: Option<Time>,
    /// With kind = "slurm": the nodes of each job; only 1 is available.
    #[schemars(extend("default" = 1, "const" = 1))]
    nodes: Option<Count>,
    /// With kind = "slurm": the most jobs of this kind at the same time.
    #[schemars(extend("default" = 1, "maximum" = 64))]
    max_jobs: Option<Count>,
    /// With kind = "slurm": further options for sbatch, each as --NAME=VALUE.
    #[schemars(extend("default" = []))]
    sbatch_args: Option<Vec<Text>>,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "kebab-case")]
enum ExecutorKind {
    /// On this machine.
    Local,
    /// In jobs of a Slurm cluster.
    Slurm,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "kebab-case")]
enum ConfirmNode {
    /// On the node on which the search ran.
    SameNode,
    /// On another node, if there is one.
    OtherNode,
}

/// One of several measurements at the same time.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct ExecutorSlot {
    /// Variables for the runs and the prepare steps in this slot, such as CUDA_VISIBLE_DEVICES. If
    /// a value differs between slots, results must not depend on it.
    env: Option<Env>,
    /// The CPUs that builds and runs in this slot may use, such as 0-7 or 0-3,8. The default of
    /// {jobs} and {threads} is their number.
    cpus: Option<Text>,
}

/// How much disk a hunt may use.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Limits {
    /// All folders to build and run in. Above this size, finished builds that nobody uses are
    /// removed before the next build, oldest first.
    slots: Option<Size>,
    /// The built files in these folders. Above this size, finished builds that nobody uses are
    /// removed before the next build, oldest first.
    #[schemars(extend("default" = "50 GiB"))]
    builds: Option<Size>,
    /// The logs in the store. Above this size, the hunt stops before the next build.
    logs: Option<Size>,
    /// The files with tensors in the store. Above this size, the hunt stops before the next build.
    tensors: Option<Size>,
}

/// What else the values depend on.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Environment {
    /// Commands that describe the machine. If their output changes, stored results are not reused.
    /// The report shows the output. Placeholders are not filled in.
    #[schemars(extend("default" = []))]
    probe: Option<Vec<Text>>,
    /// More environment variables that change results, besides the built-in list. A `*` at the end
    /// matches any ending.
    #[schemars(extend("default" = []))]
    vars: Option<Vec<Text>>,
    /// Which builds and runs get an empty home folder.
    #[schemars(extend("default" = "checked"))]
    home: Option<HomeUse>,
}

#[derive(JsonSchema)]
#[schemars(rename_all = "kebab-case")]
enum HomeUse {
    /// Those of a confirmation; if they contradict the search, all.
    Checked,
    /// None.
    Shared,
    /// All.
    Empty,
}

/// Differences for some commits.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Override {
    /// Which commits: all given conditions must hold.
    when: When,
}

/// A change that is applied to commits before they are built, from a file or from a commit. A
/// commit that already has the change is left as it is. If the patch does not apply, the commit is
/// untestable.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, extend("oneOf" = [{ "required": ["file"] }, { "required": ["commit"] }]))]
struct Patch {
    /// A unified diff, as `git diff` writes it. A relative path starts from the folder of this
    /// file.
    file: Option<Text>,
    /// The change of this revision against its first parent.
    commit: Option<Text>,
    /// Which commits: all given conditions must hold. Default: all commits.
    when: Option<When>,
}

/// Files of one revision that are put into every commit before it is built.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct FileOverlay {
    /// The revision that the files come from. It is resolved when the hunt starts.
    from: Text,
    /// Git pathspecs, such as "bench/**". Matching files become exactly as at that revision.
    #[schemars(length(min = 1))]
    paths: Vec<Text>,
    /// Which commits: all given conditions must hold. Default: all commits.
    when: Option<When>,
}

/// Files that measure, not files that are measured, such as a benchmark. If the first bad commit
/// changes them, the commit is measured with its parent's files too, and the parent with the
/// commit's. The report says whether the step comes from these files.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Ruler {
    /// Git pathspecs, such as "bench/**" or "tests/golden/**".
    #[schemars(length(min = 1))]
    paths: Vec<Text>,
}

/// Settings of the report.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Report {
    /// The page of a commit in a browser; {commit} stands for its full name. Default: the page on
    /// the site of the remote `origin`, if it is GitHub, GitLab or Gitea. A hunt inside a dependency
    /// uses the dependency's own remote.
    commit_url: Option<Text>,
}

/// Who is told how a hunt ended.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
struct Notify {
    /// Run at the end of a hunt, however it ends, with JSON on stdin and in BISECT_PPL_* variables.
    /// Split into words as a shell does; no shell, no placeholders. `--on-finish` replaces it.
    command: Option<Text>,
}

#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, extend("minProperties" = 1))]
struct When {
    /// This path is not in the commit's tree.
    missing: Option<Text>,
    /// This path is in the commit's tree.
    exists: Option<Text>,
    /// [FILE, TEXT]: the file is in the tree and contains the text.
    contains: Option<[Text; 2]>,
    /// The commit is this revision, or descends from it.
    has_ancestor: Option<Text>,
    /// The commit is not this revision, and does not descend from it.
    lacks_ancestor: Option<Text>,
}
