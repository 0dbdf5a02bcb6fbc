//! The one walk from a tree to a [`Config`].

mod guard;
mod laid;
mod matrix;
mod measure;
mod overrides;
mod prepare;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use self::matrix::Matrix;
use super::document::Node;
use super::load::Source;
use super::problem::Problem;
use super::walk::{Section, Spot, Walk};
use super::{
    Build, BuildMode, Config, ConfirmBuild, Failures, Placeholder, Policy, Run, Statistics,
    Template, Worktree,
};

pub(super) use overrides::{WHOLE_HUNT, check_overrides, take_overrides};

const BUILD_TIMEOUT: Duration = Duration::from_mins(30);
const POLICIES: &[(&str, Policy)] = &[("skip", Policy::Skip), ("bad", Policy::Bad)];

/// Reads a tree without its overrides. The `Config` may be used only if there are no problems.
pub(super) fn read(document: &Node, base: &Path) -> (Config, Vec<Problem>) {
    let mut walk = Walk::default();
    let config = walk_over(&mut walk, document, base);
    (config, walk.problems)
}

/// Every table that a document has, with the keys it may have, and every key that takes one of
/// a few words, with those words.
#[cfg(test)]
pub(super) fn allowed(document: &mut Node) -> Vec<(String, Vec<String>)> {
    let mut walk = Walk::default();
    overrides::take(&mut walk, document);
    walk_over(&mut walk, document, Path::new("/"));
    walk.allowed
}

/// What [`read`] does, with all that the walk learns on the way.
fn walk_over(walk: &mut Walk, document: &Node, base: &Path) -> Config {
    let empty = super::document::Table::default();
    let table = document.table().unwrap_or(&empty);
    let mut root = Section::new("", &document.place, table);

    version(walk, &mut root);
    // Inputs and [run] come first, and [[prepare]] before measures: templates are checked against
    // them.
    walk.names.inputs = inputs(walk, &mut root);
    let run = run(walk, &mut root);
    let matrix = Matrix::read(walk, &mut root);
    let failures = failures(walk, &mut root);
    let worktree = worktree(walk, &mut root, base);
    let build = build(walk, &mut root, &matrix);
    let prepares = prepare::prepares(walk, &mut root, &matrix);
    let (measures, declared) = measure::measures(walk, &mut root, &failures, &matrix);
    matrix.finish(walk, &mut root, &measures);
    let requires = guard::requires(walk, &mut root, &declared);
    let guards = guard::guards(walk, &mut root, &declared);
    let statistics = statistics(walk, &mut root);
    let (probes, variables) = environment(walk, &mut root);
    let patches = laid::patches(walk, &mut root);
    let overlays = laid::overlays(walk, &mut root);
    let ruler = laid::ruler(walk, &mut root);
    // Taken out of the tree before; asked for here so that a typo can be told what was meant.
    root.get("override");
    root.finish(walk);

    Config {
        inputs: std::mem::take(&mut walk.names.inputs),
        base: base.to_owned(),
        worktree,
        build,
        prepares,
        measures,
        run,
        requires,
        guards,
        statistics,
        failures,
        overrides: Vec::new(),
        probes,
        variables,
        patches,
        overlays,
        ruler,
        source: Arc::<Source>::default(),
    }
}

fn version(walk: &mut Walk, root: &mut Section<'_>) {
    let Some(spot) = root.need(walk, "version") else { return };
    if spot.count(walk).is_some_and(|version| version != 1) {
        spot.refuse(walk, "this program reads version 1.");
    }
}

fn inputs(walk: &mut Walk, root: &mut Section<'_>) -> BTreeMap<String, String> {
    let Some(section) = root.get("inputs").and_then(|spot| spot.section(walk)) else {
        return BTreeMap::new();
    };
    let mut inputs = BTreeMap::new();
    for (name, place, spot) in section.entries() {
        if !is_word(name) {
            walk.complain(place, &spot.key, NOT_A_WORD);
        }
        // One that cannot be read is still declared: what names it is not wrong as well.
        let path = spot.text(walk).unwrap_or_default();
        if path.starts_with("~/") {
            spot.refuse(walk, "`~` means something only to a shell; write the whole path.");
        } else if let Err(error) = glob::Pattern::new(path) {
            spot.refuse(walk, format!("not a glob pattern: {}.", error.msg));
        }
        inputs.insert(name.to_owned(), path.to_owned());
    }
    inputs
}

const NOT_A_WORD: &str = "a name is made of letters, digits, `_` and `-`.";

/// What may be a part of a metric or placeholder.
fn is_word(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || c == '_' || c == '-')
}

fn worktree(walk: &mut Walk, root: &mut Section<'_>, base: &Path) -> Worktree {
    let mut section = root.section(walk, "worktree");
    let dir = section.get("dir").and_then(|spot| {
        let text = spot.text(walk)?;
        if text.starts_with('~') {
            spot.refuse(walk, "`~` means something only to a shell; write the whole path.");
        }
        Some(base.join(text))
    });
    let link = section.get("link").map(|spot| links(walk, &spot)).unwrap_or_default();
    let submodules = section.get("submodules").and_then(|spot| spot.flag(walk)).unwrap_or(true);
    let lfs = section.get("lfs").and_then(|spot| spot.flag(walk)).unwrap_or(false);
    let descend = section.get("descend").and_then(|spot| {
        if !submodules {
            spot.refuse(walk, "needs the submodules that `submodules = false` leaves out.");
        }
        let path = spot.inner_path(walk)?;
        Some(path.trim_start_matches("./").trim_end_matches('/').to_owned())
    });
    section.finish(walk);
    Worktree { dir, link, submodules, lfs, descend }
}

fn links(walk: &mut Walk, spot: &Spot<'_>) -> Vec<String> {
    let mut links = Vec::new();
    for spot in spot.list(walk).unwrap_or_default() {
        let Some(path) = spot.inner_path(walk) else { continue };
        match path.split('/').find(|part| !matches!(*part, "" | ".")) {
            None | Some(".git") => spot.refuse(walk, format!("`{path}` cannot be linked.")),
            Some(_) => links.push(path),
        }
    }
    links
}

fn build(walk: &mut Walk, root: &mut Section<'_>, matrix: &Matrix) -> Build {
    let mut section = root.section(walk, "build");
    let commands = section.get("commands").map(|spot| build_commands(walk, &spot, matrix));
    let env = section.get("env").map(|spot| build_env(walk, &spot, matrix));
    let mode = section.get("mode").and_then(|spot| {
        let modes = [("clean", BuildMode::Clean), ("incremental", BuildMode::Incremental)];
        spot.choice(walk, &modes, &[])
    });
    let timeout = section.get("timeout").and_then(|spot| spot.duration(walk));
    let ignore = section.get("ignore").map(|spot| pathspecs(walk, &spot));
    let paths = section.get("paths").map(|spot| pathspecs(walk, &spot));
    let jobs = section.get("jobs").and_then(|spot| spot.count(walk));
    let confirm = section.get("confirm").and_then(|spot| {
        let ways = [("rebuild", ConfirmBuild::Rebuild), ("reuse", ConfirmBuild::Reuse)];
        spot.choice(walk, &ways, &[])
    });
    section.finish(walk);
    Build {
        commands: commands.unwrap_or_default(),
        env: env.unwrap_or_default(),
        mode: mode.unwrap_or(BuildMode::Clean),
        timeout: timeout.unwrap_or(BUILD_TIMEOUT),
        ignore: ignore.unwrap_or_default(),
        paths: paths.unwrap_or_default(),
        jobs,
        confirm: confirm.unwrap_or(ConfirmBuild::Rebuild),
    }
}

fn build_commands(walk: &mut Walk, spot: &Spot<'_>, matrix: &Matrix) -> Vec<super::Command> {
    let mut commands = Vec::new();
    for spot in spot.list(walk).unwrap_or_default() {
        let Some(command) = spot.command(walk) else { continue };
        refuse_out(walk, &spot, &command.words);
        matrix.refuse_in_shared(walk, &spot, &command.words, "a build");
        commands.push(command);
    }
    commands
}

fn build_env(walk: &mut Walk, spot: &Spot<'_>, matrix: &Matrix) -> BTreeMap<String, Template> {
    let env = spot.env(walk);
    let values: Vec<Template> = env.values().cloned().collect();
    refuse_out(walk, spot, &values);
    matrix.refuse_in_shared(walk, spot, &values, "a build");
    env
}

fn refuse_out(walk: &mut Walk, spot: &Spot<'_>, words: &[Template]) {
    if words.iter().flat_map(Template::placeholders).any(|p| *p == Placeholder::Out) {
        spot.refuse(walk, "{out} belongs to a run; a build writes to {build}.");
    }
}

/// Patterns that get `:(top,glob)` put before them.
fn pathspecs(walk: &mut Walk, spot: &Spot<'_>) -> Vec<String> {
    let mut patterns = Vec::new();
    for spot in spot.list(walk).unwrap_or_default() {
        let Some(pattern) = spot.inner_path(walk) else { continue };
        if pattern.starts_with([':', '!']) {
            spot.refuse(
                walk,
                format!("`{pattern}`: only plain patterns; :(top,glob) is put before them."),
            );
        }
        patterns.push(pattern);
    }
    patterns
}

fn run(walk: &mut Walk, root: &mut Section<'_>) -> Run {
    let mut section = root.section(walk, "run");
    section.later(&["exclusive"]);
    let threads = section.get("threads").and_then(|spot| spot.count(walk));
    let chunks = section.get("chunks");
    walk.chunks = chunks.is_some();
    let chunks = chunks.and_then(|spot| spot.count(walk));
    section.finish(walk);
    Run { threads, chunks }
}

fn statistics(walk: &mut Walk, root: &mut Section<'_>) -> Statistics {
    let mut section = root.section(walk, "statistics");
    let confidence = section.get("confidence").and_then(|spot| {
        let confidence = spot.number(walk)?;
        if confidence <= 0.5 || confidence >= 1.0 {
            let what =
                format!("{confidence} is out of range; allowed: more than 0.5, less than 1.");
            spot.refuse(walk, what);
        }
        Some(confidence)
    });
    let max_runs = section.get("max_runs").and_then(|spot| spot.count(walk));
    let short_text = section.get("short_text").and_then(|spot| spot.flag(walk));
    section.finish(walk);
    Statistics {
        confidence: confidence.unwrap_or(0.99),
        max_runs: max_runs.unwrap_or(600),
        short_text: short_text.unwrap_or(true),
    }
}

fn failures(walk: &mut Walk, root: &mut Section<'_>) -> Failures {
    let mut section = root.section(walk, "failures");
    let mut failures = Failures::default();
    if let Some(policy) = section.get("build").and_then(|s| s.choice(walk, POLICIES, &[])) {
        failures.build = policy;
    }
    run_failures(walk, &mut section, &mut failures);
    if let Some(spot) = section.get("transient") {
        failures.transient = spot.texts(walk);
    }
    section.finish(walk);
    failures
}

/// The policies that a measure may set for itself too.
fn run_failures(walk: &mut Walk, section: &mut Section<'_>, failures: &mut Failures) {
    let Failures { crash, nan, timeout, unreadable, .. } = failures;
    let keys = [("crash", crash), ("nan", nan), ("timeout", timeout), ("unreadable", unreadable)];
    for (key, policy) in keys {
        if let Some(read) = section.get(key).and_then(|s| s.choice(walk, POLICIES, &[])) {
            *policy = read;
        }
    }
}

/// Probes, and variables that count. Probes describe the machine, not a commit: nothing is filled
/// in, so braces are literal.
fn environment(walk: &mut Walk, root: &mut Section<'_>) -> (Vec<Vec<String>>, Vec<String>) {
    let mut section = root.section(walk, "environment");
    let mut probes = Vec::new();
    for spot in section.get("probe").and_then(|spot| spot.list(walk)).unwrap_or_default() {
        let Some(text) = spot.text(walk) else { continue };
        // Read as a command for its checks only; a placeholder has no value here.
        match super::Command::parse(text, &walk.names) {
            Ok(command) if command.words.iter().any(|w| w.placeholders().next().is_some()) => {
                spot.refuse(walk, "a probe describes the machine and takes no placeholders.");
            }
            Ok(_) | Err(super::CommandError::Template(_)) => {
                probes.push(shlex::split(text).unwrap_or_default());
            }
            Err(error) => spot.refuse(walk, error.to_string()),
        }
    }
    let mut variables = Vec::new();
    for spot in section.get("vars").and_then(|spot| spot.list(walk)).unwrap_or_default() {
        let Some(name) = spot.text(walk) else { continue };
        let stem = name.strip_suffix('*').unwrap_or(name);
        let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if stem.is_empty() || !stem.chars().all(is_part) {
            let allowed = "must be a variable's name, or its beginning and `*`, e.g. `ENGINE_*`.";
            spot.refuse(walk, allowed);
        } else if stem.starts_with("GIT_") {
            spot.refuse(walk, "no command gets variables that begin with GIT_.");
        } else {
            variables.push(name.to_owned());
        }
    }
    section.finish(walk);
    (probes, variables)
}
