//! Turns a tree into a [`Config`] in one pass.

mod condition;
mod executor;
mod failures;
mod guard;
mod jobs;
mod laid;
mod levels;
mod limits;
mod matrix;
mod measure;
mod name;
mod overrides;
mod parser;
mod pathspecs;
mod prepare;
mod sweep;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use self::failures::failures;
use self::matrix::{Matrix, refuse_in_shared};
use self::name::{NOT_A_WORD, is_word};
use self::pathspecs::pathspecs;
use self::sweep::SweepReader;
use super::document::Node;
use super::field::Field;
use super::problem::Problem;
use super::reader::Reader;
use super::reserved_names;
use super::source::Source;
use super::table_reader::TableReader;
use super::{
    Build, BuildMode, Config, ConfirmBuild, HomeUse, Placeholder, Run, Statistics, Template,
    UnreadCommits, Worktree,
};

#[cfg(test)]
pub(super) use overrides::take;
pub(super) use overrides::{WHOLE_HUNT, check_overrides, take_overrides};

const BUILD_TIMEOUT: Duration = Duration::from_mins(30);
/// A build that took less time is not kept: building it again costs less than its space on the disk.
const KEPT_BUILD_TIME: Duration = Duration::from_secs(30);

/// Reads a tree that has no overrides. The `Config` is usable only if there are no problems.
pub(super) fn read(document: &Node, base: &Path) -> (Config, Vec<Problem>) {
    let mut reader = Reader::default();
    let config = read_document(&mut reader, document, base);
    (config, reader.problems)
}

/// As [`read`], with a given reader, which keeps the problems and the names.
pub(super) fn read_document(reader: &mut Reader, document: &Node, base: &Path) -> Config {
    let empty = super::document::Table::default();
    let table = document.table().unwrap_or(&empty);
    let mut root = TableReader::new("", &document.place, table);

    version(reader, &mut root);
    // Templates are checked against inputs, [run] and [[prepare]], so these are read before the
    // commands that may name them.
    reader.names.inputs = inputs(reader, &mut root, base);
    let run = run(reader, &mut root);
    let matrix = Matrix::read(reader, &mut root);
    let sweep = SweepReader::read(reader, &mut root, &matrix);
    let failures = failures(reader, &mut root);
    let worktree = worktree(reader, &mut root, base);
    let build = build(reader, &mut root);
    let prepares = prepare::prepares(reader, &mut root);
    let (mut measures, declared) = measure::measures(reader, &mut root, &failures, &matrix, &sweep);
    matrix.finish(reader, &mut root, &measures);
    let requires = guard::requires(reader, &mut root, &declared);
    let guards = guard::guards(reader, &mut root, &declared);
    let sweep = sweep.finish(reader, &mut root, &measures, &guards);
    let levels = levels::levels(reader, &mut root, &declared);
    levels::mark_for_cause(&mut measures, &levels, &guards);
    let statistics = statistics(reader, &mut root);
    let Environment { probes, variables, home } = environment(reader, &mut root);
    let patches = laid::patches(reader, &mut root);
    let overlays = laid::overlays(reader, &mut root);
    let ruler = laid::ruler(reader, &mut root);
    let commit_url = report(reader, &mut root);
    let executor = executor::executor(reader, &mut root, build.mode, &measures, &prepares);
    let limits = limits::limits(reader, &mut root);
    let notify = notify(reader, &mut root);
    // [[override]] is no longer in the tree. Asking for it makes it a known key, which the message
    // for a misspelt key can suggest.
    root.get("override");
    root.finish(reader);

    Config {
        inputs: std::mem::take(&mut reader.names.inputs),
        base: base.to_owned(),
        worktree,
        build,
        prepares,
        measures,
        levels,
        sweep,
        run,
        requires,
        guards,
        statistics,
        failures,
        overrides: Vec::new(),
        probes,
        home,
        variables,
        patches,
        overlays,
        ruler,
        commit_url,
        executor,
        limits,
        notify,
        part: Arc::default(),
        inline: false,
        source: Arc::<Source>::default(),
    }
}

fn version(reader: &mut Reader, root: &mut TableReader<'_>) {
    let Some(field) = root.need(reader, "version", "version = 1") else { return };
    if field.count(reader).is_some_and(|version| version != 1) {
        field.refuse(reader, "this program reads version 1.");
    }
}

fn inputs(
    reader: &mut Reader,
    root: &mut TableReader<'_>,
    base: &Path,
) -> BTreeMap<String, String> {
    let Some(section) = root.get("inputs").and_then(|field| field.section(reader)) else {
        return BTreeMap::new();
    };
    let mut inputs = BTreeMap::new();
    for (name, place, field) in section.entries() {
        if !is_word(name) {
            reader.report_problem(place, &field.key, NOT_A_WORD);
        }
        // An input whose path cannot be read is still declared, so its uses are not
        // reported as further problems.
        let path = field.text(reader).unwrap_or_default();
        if path.starts_with("~/") {
            field.refuse(reader, "`~` means something only to a shell; write the whole path.");
        } else if let Err(error) = glob::Pattern::new(path)
            // A file may have such a name; then the name is no pattern.
            && !base.join(path).exists()
        {
            field.refuse(reader, format!("not a glob pattern: {}.", error.msg));
        }
        inputs.insert(name.to_owned(), path.to_owned());
    }
    inputs
}

fn worktree(reader: &mut Reader, root: &mut TableReader<'_>, base: &Path) -> Worktree {
    let mut section = root.section(reader, "worktree");
    let dir = section.get("dir").and_then(|field| {
        let text = field.text(reader)?;
        if text.starts_with('~') {
            field.refuse(reader, "`~` means something only to a shell; write the whole path.");
        }
        Some(base.join(text))
    });
    let link = section.get("link").map(|field| links(reader, &field)).unwrap_or_default();
    let submodules = section.get("submodules").and_then(|field| field.flag(reader)).unwrap_or(true);
    let lfs = section.get("lfs").and_then(|field| field.flag(reader)).unwrap_or(false);
    let descend = section.get("descend").and_then(|field| {
        if !submodules {
            field.refuse(reader, "needs the submodules that `submodules = false` leaves out.");
        }
        let path = field.inner_path(reader)?;
        Some(path.trim_start_matches("./").trim_end_matches('/').to_owned())
    });
    section.finish(reader);
    Worktree { dir, link, submodules, lfs, descend }
}

fn links(reader: &mut Reader, field: &Field<'_>) -> Vec<String> {
    let mut links = Vec::new();
    for field in field.list(reader).unwrap_or_default() {
        let Some(path) = field.inner_path(reader) else { continue };
        match path.split('/').find(|part| !matches!(*part, "" | ".")) {
            None | Some(".git") => field.refuse(reader, format!("`{path}` cannot be linked.")),
            Some(_) => links.push(path),
        }
    }
    links
}

fn build(reader: &mut Reader, root: &mut TableReader<'_>) -> Build {
    let mut section = root.section(reader, "build");
    let commands = section.get("commands").map(|field| build_commands(reader, &field));
    let env = section.get("env").map(|field| build_env(reader, &field));
    let mode = section.get("mode").and_then(|field| {
        let modes = [
            ("clean", BuildMode::Clean),
            ("incremental", BuildMode::Incremental),
            ("auto", BuildMode::Auto),
        ];
        field.choice(reader, &modes, &[])
    });
    let timeout = section.get("timeout").and_then(|field| field.duration(reader));
    let ignore = section.get("ignore").map(|field| pathspecs(reader, &field));
    let paths = section.get("paths").map(|field| pathspecs(reader, &field));
    let jobs = section.get("jobs").and_then(|field| field.count(reader));
    let confirm = section.get("confirm").and_then(|field| {
        let ways = [("rebuild", ConfirmBuild::Rebuild), ("reuse", ConfirmBuild::Reuse)];
        let way = field.choice(reader, &ways, &[]);
        if mode == Some(BuildMode::Auto) && way == Some(ConfirmBuild::Reuse) {
            let why = "`reuse` needs a search with clean builds; mode = \"auto\" builds the search \
                       on top of other builds and confirms with clean ones.";
            field.refuse(reader, why);
        }
        way
    });
    let keep = section.get("keep").and_then(|field| field.duration(reader));
    let unread = section.get("unread").and_then(|field| {
        let ways = [("skip", UnreadCommits::Skip), ("build", UnreadCommits::Build)];
        field.choice(reader, &ways, &[])
    });
    section.finish(reader);
    Build {
        commands: commands.unwrap_or_default(),
        env: env.unwrap_or_default(),
        mode: mode.unwrap_or(BuildMode::Clean),
        timeout: timeout.unwrap_or(BUILD_TIMEOUT),
        ignore: ignore.unwrap_or_default(),
        paths: paths.unwrap_or_default(),
        jobs,
        confirm: confirm.unwrap_or(ConfirmBuild::Rebuild),
        keep: keep.unwrap_or(KEPT_BUILD_TIME),
        unread: unread.unwrap_or(UnreadCommits::Skip),
        direct_mode: true,
        always_clean: false,
    }
}

fn build_commands(reader: &mut Reader, field: &Field<'_>) -> Vec<super::Command> {
    let mut commands = Vec::new();
    for field in field.list(reader).unwrap_or_default() {
        let Some(command) = field.command(reader) else { continue };
        refuse_out(reader, &field, &command.words);
        refuse_in_shared(reader, &field, &command.words, "a build");
        commands.push(command);
    }
    commands
}

fn build_env(reader: &mut Reader, field: &Field<'_>) -> BTreeMap<String, Template> {
    let env = field.env(reader);
    let values: Vec<Template> = env.values().cloned().collect();
    refuse_out(reader, field, &values);
    refuse_in_shared(reader, field, &values, "a build");
    env
}

fn refuse_out(reader: &mut Reader, field: &Field<'_>, words: &[Template]) {
    if words.iter().flat_map(Template::placeholders).any(|p| *p == Placeholder::Out) {
        field.refuse(reader, "{out} belongs to a run; a build writes to {build}.");
    }
}

fn run(reader: &mut Reader, root: &mut TableReader<'_>) -> Run {
    let mut section = root.section(reader, "run");
    section.later(reserved_names::RUN_KEYS);
    let threads = section.get("threads").and_then(|field| field.count(reader));
    let chunks = section.get("chunks");
    reader.chunks = chunks.is_some();
    let chunks = chunks.and_then(|field| field.count(reader));
    let sandbox = section.get("sandbox").and_then(|field| field.flag(reader));
    section.finish(reader);
    Run { threads, chunks, sandbox: sandbox.unwrap_or(false) }
}

fn statistics(reader: &mut Reader, root: &mut TableReader<'_>) -> Statistics {
    let mut section = root.section(reader, "statistics");
    let confidence = section.get("confidence").and_then(|field| {
        let confidence = field.number(reader)?;
        if confidence <= 0.5 || confidence >= 1.0 {
            let what =
                format!("{confidence} is out of range; allowed: more than 0.5, less than 1.");
            field.refuse(reader, what);
        }
        Some(confidence)
    });
    let max_runs = section.get("max_runs").and_then(|field| field.count(reader));
    let short_text = section.get("short_text").and_then(|field| field.flag(reader));
    section.finish(reader);
    Statistics {
        confidence: confidence.unwrap_or(0.99),
        max_runs: max_runs.unwrap_or(600),
        short_text: short_text.unwrap_or(true),
    }
}

/// `[environment]`.
struct Environment {
    probes: Vec<Vec<String>>,
    variables: Vec<String>,
    home: HomeUse,
}

/// `[environment]`: the probes, the variables that are part of the keys, and the home folder. A
/// probe describes the machine, not a commit, so it has no placeholders and its braces are literal.
fn environment(reader: &mut Reader, root: &mut TableReader<'_>) -> Environment {
    let mut section = root.section(reader, "environment");
    let mut probes = Vec::new();
    for field in section.get("probe").and_then(|field| field.list(reader)).unwrap_or_default() {
        let Some(text) = field.text(reader) else { continue };
        // Parsed as a command only for the checks: a placeholder would have no value here.
        match super::Command::parse(text, &reader.names) {
            Ok(command) if command.words.iter().any(|w| w.placeholders().next().is_some()) => {
                field.refuse(reader, "a probe describes the machine and takes no placeholders.");
            }
            Ok(_) | Err(super::CommandError::Template(_)) => {
                probes.push(shlex::split(text).unwrap_or_default());
            }
            Err(error) => field.refuse(reader, error.to_string()),
        }
    }
    let mut variables = Vec::new();
    for field in section.get("vars").and_then(|field| field.list(reader)).unwrap_or_default() {
        let Some(name) = field.text(reader) else { continue };
        let stem = name.strip_suffix('*').unwrap_or(name);
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if stem.is_empty() || !stem.chars().all(is_part) {
            let allowed = "must be a variable's name, or its beginning and `*`, e.g. `ENGINE_*`.";
            field.refuse(reader, allowed);
        } else if stem.starts_with("GIT_") {
            field.refuse(reader, "no command gets variables that begin with GIT_.");
        } else {
            variables.push(name.to_owned());
        }
    }
    let home = section.get("home").and_then(|field| {
        let choices =
            [("checked", HomeUse::Checked), ("shared", HomeUse::Shared), ("empty", HomeUse::Empty)];
        field.choice(reader, &choices, &[])
    });
    section.finish(reader);
    Environment { probes, variables, home: home.unwrap_or_default() }
}

/// `[report] commit_url`. It becomes the target of a link, so it must be a plain web address.
fn report(reader: &mut Reader, root: &mut TableReader<'_>) -> Option<String> {
    let mut section = root.section(reader, "report");
    let url = section.get("commit_url").and_then(|field| {
        let url = field.text(reader)?;
        let is_web = ["https://", "http://"].iter().any(|scheme| url.starts_with(scheme));
        let is_plain = url.chars().all(|c| c.is_ascii_graphic() && !"\"'`<>()\\^|".contains(c));
        if !is_web || !is_plain || !url.contains("{commit}") {
            let allowed = "must be a web address with the placeholder {commit}, e.g. \
                           `https://example.org/engine/commit/{commit}`.";
            field.refuse(reader, allowed);
        }
        Some(url.to_owned())
    });
    section.finish(reader);
    url
}

/// `[notify] command`: its words. It belongs to no commit, so it has no placeholders and its braces
/// are literal.
fn notify(reader: &mut Reader, root: &mut TableReader<'_>) -> Option<Vec<String>> {
    let mut section = root.section(reader, "notify");
    let words = section.get("command").and_then(|field| {
        let words = super::plain_words(field.text(reader)?);
        words.map_err(|error| field.refuse(reader, error.to_string())).ok()
    });
    section.finish(reader);
    words
}
