//! `check`: lists the problems that would stop a hunt, before it starts; one line each, with the
//! remedy.

use std::path::{Path, PathBuf};

use crate::config::{Config, LoadError, Placeholder};
use crate::evaluation::{Guard, GuardForm, Resource};
use crate::git::{History, Repository, folds_case, git_version};
use crate::hunt;
use crate::oracle::{Pins, load_average, machine};
use crate::ui::{Ui, printable_line, text};

use super::args::Check;
use super::locate::{config_path, current_folder};
use super::unnamed::{Unnamed, unnamed};
use super::{Failed, exit, init};

/// Least free disk space: a checkout, a build, and a night's logs must fit.
const ENOUGH_MIB: u64 = 1024;

/// The lines so far, and whether a check failed.
#[derive(Default)]
struct Lines {
    text: String,
    failed: bool,
}

impl Lines {
    fn ok(&mut self, what: &str, about: &str) {
        self.add("ok", what, about);
    }

    fn bad(&mut self, what: &str, about: &str, cure: Option<String>) {
        self.failed = true;
        let cure = cure.map_or_else(String::new, |cure| format!("; {cure}"));
        self.add("FAIL", what, &format!("{about}{cure}"));
    }

    /// A problem that does not stop a hunt but matters.
    fn warn(&mut self, what: &str, about: &str, cure: &str) {
        self.add("warn", what, &format!("{about}; {cure}"));
    }

    fn add(&mut self, mark: &str, what: &str, about: &str) {
        let line = format!("{mark:<5} {what:<12} {}", printable_line(about));
        self.text.push_str(line.trim_end());
        self.text.push('\n');
    }
}

/// `check`.
pub fn run(args: &Check, ui: Ui) -> Result<u8, Failed> {
    let mut lines = Lines::default();
    match git_version() {
        Ok(version) => lines.ok("git", &version.to_string()),
        Err(error) => lines.bad("git", &error.to_string(), error.hint()),
    }
    let folder = current_folder()?;
    let repository = Repository::discover(&folder);
    match &repository {
        Ok(repository) => revisions(&mut lines, repository, args),
        Err(error) => lines.bad("repository", &error.to_string(), error.hint()),
    }
    let path = config_path(args.config.as_deref(), repository.as_ref().ok());
    let mut configured = None;
    match Config::load(&path) {
        Ok(config) => {
            configured.clone_from(&config.worktree.dir);
            lines.ok("config", &path.to_string_lossy());
            inputs(&mut lines, &config);
            tools(&mut lines, &config);
            named_later(&mut lines, &config);
            timed(&mut lines, &config);
            compiler_cache(&mut lines, &config);
            paths(&mut lines, &config, repository.as_ref().ok());
            if let Ok(repository) = &repository {
                laid(&mut lines, repository, &config);
                kept_elsewhere(&mut lines, repository, &config);
                descends(&mut lines, repository, &config);
            }
        }
        Err(error) => {
            for (index, line) in error.to_string().lines().enumerate() {
                let cure = match (&error, index) {
                    (LoadError::Missing { .. }, _) => Some(init::offer()),
                    (_, 0) => error.hint().map(str::to_owned),
                    _ => None,
                };
                lines.bad("config", line, cure);
            }
        }
    }
    if let Ok(repository) = &repository {
        let store = repository.common_dir().join("bisect-ppl");
        let cure = "what is measured is kept there; make it writable";
        writable(&mut lines, "store", &store, cure);
        let cache = hunt::default_slots(repository);
        let cure = "commits are built there; make it writable, set XDG_CACHE_HOME, or name \
                    another place with `dir` under [worktree]";
        let slots = configured.as_deref().unwrap_or(&cache);
        writable(&mut lines, "cache", slots, cure);
        spelling(&mut lines, repository, slots, args);
        disk(&mut lines, repository.common_dir());
    }
    let machine = machine();
    let gpus = if machine.gpus.is_empty() { "no GPU".to_owned() } else { machine.gpus.join(", ") };
    lines.ok(
        "machine",
        &format!("{}, {}, {gpus}", machine.cpu, text::plural(machine.cores, "core")),
    );
    ui.out(&lines.text).map_err(Failed::stdout)?;
    Ok(if lines.failed { exit::FAILED } else { exit::DONE })
}

fn revisions(lines: &mut Lines, repository: &Repository, args: &Check) {
    let top = repository.top().unwrap_or(repository.common_dir());
    lines.ok("repository", &top.to_string_lossy());
    let history = match History::open(repository) {
        Ok(history) => history,
        Err(error) => return lines.bad("history", &error.to_string(), error.hint()),
    };
    let mut asked: Vec<(&str, &str)> = vec![("bad", &args.bad)];
    if let Some(good) = &args.good {
        asked.insert(0, ("good", good));
    }
    for (name, revision) in asked {
        match history.resolve(revision).and_then(|commit| history.info(&commit)) {
            Ok(info) => lines.ok(name, &format!("{} {}", info.id.short(), info.subject)),
            Err(error) => lines.bad(name, &error.to_string(), error.hint()),
        }
    }
}

fn inputs(lines: &mut Lines, config: &Config) {
    for name in config.inputs.keys() {
        match config.input_paths(name) {
            Ok(paths) => {
                let shown = paths.first().map(|path| path.to_string_lossy().into_owned());
                lines.ok("input", &format!("{name}: {}", shown.unwrap_or_default()));
            }
            Err(error) => lines.bad("input", &error.to_string(), Some(error.hint())),
        }
    }
}

/// Warns of files that commands use but no run key contains.
fn paths(lines: &mut Lines, config: &Config, repository: Option<&Repository>) {
    for one in unnamed(config, repository.and_then(Repository::top)) {
        let Unnamed { written, place, input } = one;
        let stale = "if it changes, old figures are taken for new";
        let (about, cure) = match input {
            Some(name) => (
                format!(
                    "`{written}` is the input {name}, but {place} names it by its path: {stale}"
                ),
                format!("write {{inputs.{name}}}"),
            ),
            None => (
                format!("`{written}` is named in {place} and not in [inputs]: {stale}"),
                "add it to [inputs] and write {inputs.NAME}".to_owned(),
            ),
        };
        lines.warn("path", &about, &cure);
    }
}

/// Lists guards on metrics whose names only a run shows.
fn named_later(lines: &mut Lines, config: &Config) {
    for guard in &config.guards {
        let Some(measure) = config.measure(&guard.metric.measure) else { continue };
        let is_known = Resource::of(&guard.metric).is_some();
        if measure.parser.names().is_none() && !is_known {
            let about = format!(
                "{}: shows once {} has run; `bisect-ppl measure REV` lists what it yields",
                guard.metric, measure.name
            );
            lines.ok("metric", &about);
        }
    }
}

/// Reports compiler caches that are installed. They work well, since builds use fixed paths.
fn compiler_cache(lines: &mut Lines, config: &Config) {
    if config.build.commands.is_empty() {
        return;
    }
    for name in ["ccache", "sccache"] {
        let Some(path) = find(name) else { continue };
        let path = path.to_string_lossy().into_owned();
        let how = match said_to_use(config, name).or_else(|| masquerades(name)) {
            Some(how) => format!("used: {how}"),
            None => "not named in [build]".to_owned(),
        };
        let counted = match name {
            "sccache" => "the report counts its hits where its server runs before the build does",
            _ => "where a build uses it the report counts its hits",
        };
        lines.ok(name, &format!("{path}, {how}; {counted}"));
    }
}

/// The text of the configuration that names a compiler cache.
fn said_to_use(config: &Config, name: &str) -> Option<String> {
    let is_it = |word: &str| {
        // `sccache` contains `ccache`, so only whole words count.
        let mut parts = word.split(|c: char| !c.is_alphanumeric());
        parts.any(|part| part == name)
    };
    let env = config.build.env.iter().find(|(_, value)| is_it(value.text()));
    let mut words = config.build.commands.iter().flat_map(|command| &command.words);
    env.map(|(name, value)| format!("{name}={}", value.text()))
        .or_else(|| words.find(|word| is_it(word.text())).map(|word| word.text().to_owned()))
}

/// A compiler in PATH that is a link to the cache.
fn masquerades(name: &str) -> Option<String> {
    let is_it = |path: &PathBuf| {
        let real = path.canonicalize().ok();
        real.is_some_and(|real| real.file_name().is_some_and(|file| file == name))
    };
    let compilers = ["cc", "c++", "gcc", "g++", "clang", "clang++"];
    let path = compilers.into_iter().filter_map(find).find(is_it)?;
    Some(format!("{} is it", path.display()))
}

/// Warns of files in Git LFS if `lfs` is not set.
fn kept_elsewhere(lines: &mut Lines, repository: &Repository, config: &Config) {
    let Ok(history) = History::open(repository) else { return };
    let has_some = |head| history.file_contains(&head, ".gitattributes", "filter=lfs");
    if !config.worktree.lfs && history.resolve("HEAD").and_then(has_some).unwrap_or(false) {
        let about = "commits keep files in Git LFS, which stay pointers of three lines";
        lines.warn(
            "lfs",
            about,
            "set `lfs = true` under [worktree] where builds or runs read them",
        );
    }
}

/// Checks `descend`: the path is a submodule or a folder, and the submodule's commits are here.
fn descends(lines: &mut Lines, repository: &Repository, config: &Config) {
    let Some(path) = &config.worktree.descend else { return };
    let Ok(history) = History::open(repository) else { return };
    let Ok(head) = history.resolve("HEAD") else { return };
    let is_pinned = history.pin(&head, path).is_ok_and(|pin| pin.is_some());
    if is_pinned && !history.submodule(&head, path).is_ok_and(|place| place.is_some()) {
        let about = format!("this clone does not have the commits of {path}");
        lines.warn("descend", &about, &format!("`git submodule update --init {path}`"));
    } else if history.at(&head, path).is_ok_and(|there| !there.may_be_a_folder()) {
        let about = format!("{path} is neither a submodule nor a folder at HEAD");
        lines.warn("descend", &about, "correct `descend` under [worktree]");
    } else {
        lines.ok("descend", path);
    }
}

/// Checks that the patches and overlays exist.
fn laid(lines: &mut Lines, repository: &Repository, config: &Config) {
    let Ok(history) = History::open(repository) else { return };
    if let Err(error) = Pins::find(config, &history) {
        return lines.bad("laid over", &error.to_string(), error.hint());
    }
    for patch in &config.patches {
        lines.ok("patch", patch.source.name());
    }
    for overlay in &config.overlays {
        lines.ok("overlay", &format!("{} of {}", overlay.paths.join(" "), overlay.from));
    }
}

/// Warns of time measures that are not exclusive, and of a busy machine.
fn timed(lines: &mut Lines, config: &Config) {
    for measure in config.measures.iter().filter(|measure| !measure.exclusive) {
        let guards = config.guards.iter().filter(|guard| guard.metric.measure == measure.name);
        let yields_speeds = measure.parser.yields_speeds();
        if let Some(guard) = guards.into_iter().find(|guard| yields_speeds || is_of_time(guard)) {
            let about = format!("{} looks like a time or a speed", guard.metric);
            let cure = format!(
                "`exclusive = true` in the measure `{}` keeps our other builds and runs away \
                 from its runs",
                measure.name
            );
            lines.warn("measure", &about, &cure);
        }
    }
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    if config.measures.iter().any(|measure| measure.exclusive)
        && let Some(load) = load_average().filter(|load| is_busy(*load, cores))
    {
        let about = format!("the load average is {load} on {}", text::plural(cores, "core"));
        lines.warn("load", &about, "times are worth more when the machine is idle");
    }
}

/// Whether a guard is probably on a time or a speed: `wall_s`, or a decrease in percent, which
/// is the usual tolerance of a throughput.
fn is_of_time(guard: &Guard) -> bool {
    matches!(guard.form, GuardForm::MaxDecreasePercent(_))
        || Resource::of(&guard.metric) == Some(Resource::WallTime)
}

/// Whether the load average exceeds half the cores.
fn is_busy(load: f64, cores: usize) -> bool {
    load > cores as f64 / 2.0
}

/// Checks that the programs of all commands exist. Programs under `{src}` or `{build}` come from
/// the commit and are left out.
fn tools(lines: &mut Lines, config: &Config) {
    let measures = config.measures.iter().flat_map(|measure| {
        std::iter::once(&measure.command).chain(&measure.before).chain(&measure.after)
    });
    let prepares = config.prepares.iter().map(|prepare| &prepare.command);
    let mut programs: Vec<String> = config
        .build
        .commands
        .iter()
        .chain(prepares)
        .chain(measures)
        .filter_map(|command| command.words.first())
        .filter(|word| {
            !word.placeholders().any(|p| matches!(p, Placeholder::Src | Placeholder::Build))
        })
        .map(|word| word.text().to_owned())
        .chain(config.probes.iter().filter_map(|words| words.first().cloned()))
        .collect();
    programs.sort();
    programs.dedup();
    for program in programs {
        if let Some(path) = find(&program) {
            lines.ok("tool", &path.to_string_lossy());
        } else {
            let cure = "install it, or correct the command".to_owned();
            lines.bad("tool", &format!("`{program}` is not there"), Some(cure));
        }
    }
}

fn find(program: &str) -> Option<PathBuf> {
    if program.contains('/') {
        return Path::new(program).exists().then(|| PathBuf::from(program));
    }
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(program)).find(|file| file.is_file())
}

/// Checks that a folder is writable, or the first existing one above it. The test file has no
/// name and is removed at once.
fn writable(lines: &mut Lines, what: &str, folder: &Path, cure: &str) {
    let there = above(folder);
    match tempfile::tempfile_in(there) {
        Ok(_) => lines.ok(what, &folder.to_string_lossy()),
        Err(error) => {
            let about = format!("{}: {}", there.display(), error.kind());
            lines.bad(what, &about, Some(cure.to_owned()));
        }
    }
}

/// The folder, or the first existing one above it.
fn above(folder: &Path) -> &Path {
    folder.ancestors().find(|folder| folder.exists()).unwrap_or(Path::new("/"))
}

/// On a file system that ignores case: checks that the endpoints have no names that differ only in
/// case.
fn spelling(lines: &mut Lines, repository: &Repository, folder: &Path, args: &Check) {
    let Ok(true) = folds_case(above(folder)) else { return };
    let Ok(history) = History::open(repository) else { return };
    for revision in args.good.iter().chain([&args.bad]) {
        // An unknown revision is already reported.
        let Ok(commit) = history.resolve(revision) else { continue };
        if let Err(error) = history.check_names(&commit) {
            lines.bad("names", &format!("{revision}: {error}"), error.hint());
        }
    }
}

fn disk(lines: &mut Lines, folder: &Path) {
    match rustix::fs::statvfs(folder) {
        Ok(about) => {
            let free = about.f_bavail.saturating_mul(about.f_frsize) / (1024 * 1024);
            let shown = format!("{free} MiB free");
            if free < ENOUGH_MIB {
                lines.bad("disk", &shown, Some(format!("free {ENOUGH_MIB} MiB or more")));
            } else {
                lines.ok("disk", &shown);
            }
        }
        Err(error) => lines.bad("disk", &error.to_string(), None),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::Metric;

    #[test]
    fn a_compiler_cache_is_known_by_its_whole_name() {
        let config = |build: &str| {
            let text = format!(
                "version = 1\n[build]\n{build}\n[[measure]]\nname = 'a'\ncommand = 'a'\n\
                 parser = 'exit-code'\n[[guard]]\nmetric = 'a'\nmax = 0\n"
            );
            Config::parse(&text, Path::new("/"), "oracle.toml").unwrap()
        };
        let launcher = config("commands = ['cmake -DCMAKE_C_COMPILER_LAUNCHER=ccache']");
        let said = said_to_use(&launcher, "ccache");
        assert_eq!(said.as_deref(), Some("-DCMAKE_C_COMPILER_LAUNCHER=ccache"));
        assert_eq!(said_to_use(&launcher, "sccache"), None);
        let wrapped = config("commands = ['make']\nenv = { CC = '/usr/bin/sccache gcc' }");
        assert_eq!(said_to_use(&wrapped, "sccache").as_deref(), Some("CC=/usr/bin/sccache gcc"));
        assert_eq!(said_to_use(&wrapped, "ccache"), None);
    }

    #[test]
    fn a_machine_is_busy_when_more_than_half_its_cores_are() {
        assert!(!is_busy(0.2, 1) && is_busy(0.6, 1));
        assert!(!is_busy(8.0, 16) && is_busy(8.1, 16));
    }

    #[test]
    fn speeds_and_times_are_known_by_their_guards() {
        let of = |metric: Metric, form| is_of_time(&Guard { metric, form });
        assert!(of(Metric::named("speed", "tg"), GuardForm::MaxDecreasePercent(5.0)));
        assert!(of(Metric::named("ppl", "wall_s"), GuardForm::Max(60.0)));
        assert!(!of(Metric::of("ppl"), GuardForm::MaxIncrease(0.1)));
        assert!(!of(Metric::named("ppl", "peak_rss_mib"), GuardForm::MaxIncreasePercent(5.0)));
    }
}
