//! A program to run: arguments, folder, environment, and time limit.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::sandbox::Sandbox;
use super::slot_mark::SlotMark;

/// Default time between TERM and KILL.
const GRACE: Duration = Duration::from_secs(3);
/// Default limit for a tool's output on each stream, bytes.
const CAPTURE: usize = 4 << 20;
/// The same limit for git, which lists whole histories: a million commits take 41 MB.
const GIT_CAPTURE: usize = 256 << 20;

/// Variables that make git use another repository, index, or object store than that of its working
/// folder. `git bisect run` and hooks export some of them.
const GIT_REDIRECTS: [&str; 16] = [
    "GIT_DIR",
    "GIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_COMMON_DIR",
    "GIT_NAMESPACE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_QUARANTINE_PATH",
    "GIT_PREFIX",
    "GIT_CEILING_DIRECTORIES",
    "GIT_DISCOVERY_ACROSS_FILESYSTEM",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INTERNAL_SUPER_PREFIX",
    "GIT_SHALLOW_FILE",
    "GIT_GRAFT_FILE",
    "GIT_REPLACE_REF_BASE",
];

/// Variables that a git call changes: we set `LC_ALL`, and git extends `PATH`. An oracle runs
/// below such a call, but its engines must see the same values as the driver's engines. So the
/// user's values are saved under [`SAVED_PREFIX`] and restored for engines.
const SAVED: [&str; 2] = ["LC_ALL", "PATH"];
const SAVED_PREFIX: &str = "BISECT_PPL_SAVED_";

/// The variable with the file of [`Invocation::git_events`] (git 2.22 or newer).
const GIT_EVENTS: &str = "GIT_TRACE2_EVENT";

/// The kind of program, which decides about the `GIT_*` variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// An engine, build, or probe: gets no `GIT_*` variable.
    Foreign,
    /// Our own git call: gets all `GIT_*` variables except those in [`GIT_REDIRECTS`].
    Git,
}

/// A program to run, with all its settings. Its stdin is `/dev/null`, unless set.
#[derive(Clone, Debug)]
pub struct Invocation {
    program: OsString,
    args: Vec<OsString>,
    cwd: PathBuf,
    stdin: Option<PathBuf>,
    changes: BTreeMap<OsString, Option<OsString>>,
    timeout: Option<Duration>,
    grace: Duration,
    capture: usize,
    kind: Kind,
    sandbox: Option<Sandbox>,
    mark: Option<SlotMark>,
    git_events: Option<PathBuf>,
    cpus: Vec<usize>,
}

impl Invocation {
    /// An engine, build, or probe command. It gets the user's environment without variables that
    /// begin with `GIT_`.
    pub fn new(program: impl Into<OsString>) -> Self {
        Self {
            program: program.into(),
            args: Vec::new(),
            cwd: PathBuf::from("."),
            stdin: None,
            changes: BTreeMap::new(),
            timeout: None,
            grace: GRACE,
            capture: CAPTURE,
            kind: Kind::Foreign,
            sandbox: None,
            mark: None,
            git_events: None,
            cpus: Vec::new(),
        }
    }

    /// Another process of this program. As for our own git calls, it gets the user's environment
    /// except the variables that lead to another repository.
    pub fn own(program: impl Into<OsString>) -> Self {
        Self { kind: Kind::Git, ..Self::new(program) }
    }

    /// Our own git call: without hooks, file-system monitor, prompts, or translated messages. It
    /// inherits no variable that leads to another repository; those set by [`Invocation::env`]
    /// stay. Replacement objects (`git replace`) are ignored, since no other clone has them and
    /// libgit2 ignores them too.
    pub fn git<I, S>(args: I) -> Self
    where
        I: IntoIterator<Item = S>,
        S: Into<OsString>,
    {
        let fixed = ["-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false"];
        let mut git = Self::new("git").args(fixed).args(args);
        git.kind = Kind::Git;
        git.capture = GIT_CAPTURE;
        git.env("LC_ALL", "C")
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("GIT_OPTIONAL_LOCKS", "0")
            .env("GIT_NO_REPLACE_OBJECTS", "1")
    }

    /// Adds one argument.
    #[must_use]
    pub fn arg(mut self, arg: impl Into<OsString>) -> Self {
        self.args.push(arg.into());
        self
    }

    /// Adds arguments.
    #[must_use]
    pub fn args<I, S>(mut self, args: I) -> Self
    where
        I: IntoIterator<Item = S>,
        S: Into<OsString>,
    {
        self.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// Sets the working folder; default: ours.
    #[must_use]
    pub fn cwd(mut self, folder: impl Into<PathBuf>) -> Self {
        self.cwd = folder.into();
        self
    }

    /// Sets the file to read as stdin in a supervised run; [`super::tool()`] ignores it.
    #[must_use]
    pub fn stdin(mut self, file: impl Into<PathBuf>) -> Self {
        self.stdin = Some(file.into());
        self
    }

    /// Sets a variable. For engines, builds, and probes a name that begins with `GIT_` has no
    /// effect.
    #[must_use]
    pub fn env(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.changes.insert(name.into(), Some(value.into()));
        self
    }

    /// Removes a variable.
    #[must_use]
    pub fn env_remove(mut self, name: impl Into<OsString>) -> Self {
        self.changes.insert(name.into(), None);
        self
    }

    /// Sets the time limit; default: none.
    #[must_use]
    pub fn timeout(mut self, timeout: Option<Duration>) -> Self {
        self.timeout = timeout;
        self
    }

    /// Sets the time between TERM and KILL; default: 3 seconds.
    #[must_use]
    pub fn grace(mut self, grace: Duration) -> Self {
        self.grace = grace;
        self
    }

    /// Sets how many bytes of each stream [`super::tool()`] keeps; default: 4 MiB, for git 256 MiB.
    #[must_use]
    pub fn capture(mut self, bytes: usize) -> Self {
        self.capture = bytes;
        self
    }

    /// Sets the sandbox of a supervised run; default: none. [`super::tool()`] ignores it.
    #[must_use]
    pub fn sandbox(mut self, sandbox: Option<Sandbox>) -> Self {
        self.sandbox = sandbox;
        self
    }

    /// Marks the program as one of a slot; default: no mark. The mark is not a variable of the
    /// user, so no key and no record contains it.
    #[must_use]
    pub fn mark(mut self, mark: Option<SlotMark>) -> Self {
        self.mark = mark;
        self
    }

    /// Sets the file to which git commands below the program append their trace events
    /// (`GIT_TRACE2_EVENT`). Default: none. The user's own value of this variable is removed.
    #[must_use]
    pub(crate) fn git_events(mut self, file: impl Into<PathBuf>) -> Self {
        self.git_events = Some(file.into());
        self
    }

    /// Sets the CPUs that a supervised run may use; default: ours. [`super::tool()`] ignores them.
    #[must_use]
    pub fn cpus(mut self, cpus: &[usize]) -> Self {
        self.cpus = cpus.to_vec();
        self
    }

    /// The program's name as given, before the lookup.
    pub fn program(&self) -> &OsStr {
        &self.program
    }

    /// Program and arguments for records and messages; bytes that are not UTF-8 are replaced.
    pub fn argv(&self) -> Vec<String> {
        std::iter::once(&self.program)
            .chain(&self.args)
            .map(|word| word.to_string_lossy().into_owned())
            .collect()
    }

    /// The working folder.
    pub fn folder(&self) -> &Path {
        &self.cwd
    }

    pub(super) fn arguments(&self) -> &[OsString] {
        &self.args
    }

    pub(super) fn input(&self) -> Option<&Path> {
        self.stdin.as_deref()
    }

    pub(super) fn own_sandbox(&self) -> Option<&Sandbox> {
        self.sandbox.as_ref()
    }

    pub(super) fn slot_mark(&self) -> Option<&SlotMark> {
        self.mark.as_ref()
    }

    pub(super) fn own_cpus(&self) -> &[usize] {
        &self.cpus
    }

    pub(super) fn limit(&self) -> Option<Duration> {
        self.timeout
    }

    pub(super) fn patience(&self) -> Duration {
        self.grace
    }

    pub(super) fn capture_limit(&self) -> usize {
        self.capture
    }

    /// The complete environment of the child.
    pub(super) fn environment(&self) -> BTreeMap<OsString, OsString> {
        self.environment_over(std::env::vars_os())
    }

    fn environment_over(
        &self,
        ours: impl IntoIterator<Item = (OsString, OsString)>,
    ) -> BTreeMap<OsString, OsString> {
        let mut all: BTreeMap<_, _> = ours.into_iter().collect();
        match self.kind {
            Kind::Foreign => {
                restore(&mut all);
                self.apply(&mut all);
                // After the changes, so that the configuration cannot add such variables.
                all.retain(|name, _| !name.as_encoded_bytes().starts_with(b"GIT_"));
                all.extend(self.mark.as_ref().map(SlotMark::variable));
                if let Some(file) = &self.git_events {
                    all.insert(GIT_EVENTS.into(), file.into());
                }
            }
            Kind::Git => {
                save(&mut all);
                all.retain(|name, _| !GIT_REDIRECTS.iter().any(|redirect| name == redirect));
                self.apply(&mut all);
            }
        }
        all
    }

    fn apply(&self, all: &mut BTreeMap<OsString, OsString>) {
        for (name, value) in &self.changes {
            match value {
                Some(value) => all.insert(name.clone(), value.clone()),
                None => all.remove(name),
            };
        }
    }
}

fn saved_name(name: &str) -> OsString {
    format!("{SAVED_PREFIX}{name}").into()
}

/// Saves the user's values: `=value`, or an empty text for an unset variable. An earlier save
/// wins: in a git call below a git call, the current values are not the user's.
fn save(all: &mut BTreeMap<OsString, OsString>) {
    for name in SAVED {
        let mut note = OsString::new();
        if let Some(value) = all.get(OsStr::new(name)) {
            note.push("=");
            note.push(value);
        }
        all.entry(saved_name(name)).or_insert(note);
    }
}

fn restore(all: &mut BTreeMap<OsString, OsString>) {
    use std::os::unix::ffi::OsStrExt;

    for name in SAVED {
        let Some(note) = all.remove(&saved_name(name)) else { continue };
        match note.as_bytes().strip_prefix(b"=") {
            Some(value) => all.insert(name.into(), OsStr::from_bytes(value).to_owned()),
            None => all.remove(OsStr::new(name)),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vars(pairs: &[(&str, &str)]) -> Vec<(OsString, OsString)> {
        pairs.iter().map(|(name, value)| (name.into(), value.into())).collect()
    }

    fn get<'a>(all: &'a BTreeMap<OsString, OsString>, name: &str) -> Option<&'a str> {
        all.get(OsStr::new(name)).map(|value| value.to_str().unwrap())
    }

    #[test]
    fn engines_see_no_git_variable_even_a_configured_one() {
        let ours = vars(&[("GIT_DIR", "/x"), ("GIT_AUTHOR_NAME", "a"), ("GITHUB", "y")]);
        let all = Invocation::new("engine").env("GIT_TRACE", "1").env("A", "b");
        let all = all.env_remove("GONE").environment_over(ours);
        assert_eq!(all.into_iter().collect::<Vec<_>>(), vars(&[("A", "b"), ("GITHUB", "y")]));
        let ours = vars(&[("GIT_TRACE2_EVENT", "/users"), ("GIT_TRACE2_PARENT_SID", "s")]);
        let all = Invocation::new("engine").git_events("/mine").environment_over(ours);
        assert_eq!(all.into_iter().collect::<Vec<_>>(), vars(&[("GIT_TRACE2_EVENT", "/mine")]));
    }

    #[test]
    fn git_keeps_what_does_not_redirect_and_what_the_caller_sets() {
        let ours = vars(&[("GIT_DIR", "/x"), ("GIT_INDEX_FILE", "/y"), ("GIT_AUTHOR_NAME", "a")]);
        let all = Invocation::git(["status"]).env("GIT_INDEX_FILE", "/mine").environment_over(ours);
        assert_eq!(get(&all, "GIT_DIR"), None);
        assert_eq!(get(&all, "GIT_INDEX_FILE"), Some("/mine"));
        assert_eq!(get(&all, "GIT_AUTHOR_NAME"), Some("a"));
        assert_eq!(get(&all, "LC_ALL"), Some("C"));
    }

    #[test]
    fn an_engine_below_git_below_us_sees_what_an_engine_below_us_sees() {
        for ours in [
            vars(&[("PATH", "/bin"), ("LC_ALL", "de_DE.UTF-8"), ("X", "1")]),
            vars(&[("PATH", "/bin"), ("X", "1")]),
        ] {
            let direct = Invocation::new("engine").environment_over(ours.clone());
            let mut git = Invocation::git(["bisect", "run"]).environment_over(ours);
            git.insert("PATH".into(), "/usr/lib/git-core:/bin".into());
            let nested = Invocation::git(["log"]).environment_over(git);
            assert_eq!(Invocation::new("engine").environment_over(nested), direct);
        }
    }

    #[test]
    fn our_git_calls_run_no_hooks() {
        let argv = Invocation::git(["checkout", "x"]).argv().join(" ");
        assert_eq!(argv, "git -c core.hooksPath=/dev/null -c core.fsmonitor=false checkout x");
    }
}
