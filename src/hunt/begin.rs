//! Begins a hunt: checks everything first, and only then creates the hunt's folder.

pub(crate) mod descend;
pub(crate) mod open;
pub(crate) mod unwatched;

use std::path::{Path, PathBuf};

use crate::config::{Config, Measure};
use crate::evaluation::{Aim, CommitId, CommitInfo, Metric};
use crate::git::{History, Range, Repository, pathspec};
use crate::oracle::{Facts, OracleError, Pins};
use crate::store::journal::{Begun, Event, Options, SearchBy};
use crate::store::{HuntDir, Store, config_digest, publish};

use super::{HuntError, UsageError};

/// The options of `bisect-ppl start`.
#[derive(Clone, Debug)]
pub struct Asked {
    /// The good revision.
    pub good: String,
    /// The bad revision.
    pub bad: String,
    /// Whether to look for the first bad commit or the first fixed commit.
    pub aim: Aim,
    /// What chooses the next commit to test.
    pub search: SearchBy,
    /// If set, look for the commit from which runs of this metric are not bit-identical.
    pub spread_of: Option<Metric>,
    /// Follow first parents only.
    pub first_parent: bool,
    /// End after the first culprit.
    pub first_only: bool,
    /// Revisions not to be tested.
    pub skip: Vec<String>,
    /// Pathspecs.
    pub paths: Vec<String>,
}

/// Checks the options and begins the hunt: its folder, its frozen configuration, its history and
/// the first line of its journal. While the returned store lives, no other process removes the
/// hunt.
pub fn begin(
    repository: &Repository,
    config: &Config,
    asked: &Asked,
) -> Result<(HuntDir, Store), HuntError> {
    let history = History::open(repository).map_err(UsageError::from)?;
    let resolve = |revision: &str| history.resolve(revision).map_err(UsageError::from);
    let (good, bad) = (resolve(&asked.good)?, resolve(&asked.bad)?);
    check_path(&history, &good, &bad, asked.aim)?;
    if let Some(metric) = &asked.spread_of {
        check_metric(config, metric)?;
    }
    if let Some(path) = &config.worktree.descend {
        check_dependency(&history, [&good, &bad], path)?;
    }
    let slots = text("the folder to build in", &slots_folder(config, repository))?;
    let base = text("the configuration", &config.base)?;
    let checkout = repository.top().map(|top| text("the checkout", top)).transpose()?;
    let options = Options {
        aim: asked.aim,
        search: asked.search,
        spread_of: asked.spread_of.clone(),
        first_parent: asked.first_parent,
        first_only: asked.first_only,
        skip: asked.skip.iter().map(|rev| resolve(rev)).collect::<Result<_, _>>()?,
        paths: pathspecs(config, &asked.paths),
    };
    let [old, new] = asked.aim.swap_if_fix([&good, &bad]);
    let range = Range {
        old: vec![old.clone()],
        new: new.clone(),
        first_parent: options.first_parent,
        paths: options.paths.clone(),
    };
    let commits = history.count(&range).map_err(UsageError::from)?;
    if commits == 0 {
        return Err(UsageError::NothingTouches(options.paths.join(" ")).into());
    }
    let found = Pins::find(config, &history).map_err(UsageError::from)?;
    let store = Store::open_to_measure(repository.common_dir())?;
    let facts = gather(config, &store)?;
    let Pins { revisions, patches } = found.keep(&store)?;
    let hunt = store.new_hunt()?;
    let begun = Begun {
        hunt: hunt.id().to_owned(),
        tool: concat!("bisect-ppl ", env!("CARGO_PKG_VERSION")).to_owned(),
        good: info(&history, &good)?,
        bad: info(&history, &bad)?,
        asked: (asked.good.clone(), asked.bad.clone()),
        revisions,
        patches,
        within: None,
        commits,
        options,
        config_sha256: config_digest(config.text()),
        base,
        slots,
        inputs: facts.inputs,
        environment: facts.environment,
        surroundings: facts.surroundings,
        machine: facts.machine,
        checkout,
        git: repository.version().to_string(),
    };
    write_beginning(&hunt, config, &history, begun)?;
    Ok((hunt, store))
}

/// Refuses a metric that no measure yields.
fn check_metric(config: &Config, metric: &Metric) -> Result<(), UsageError> {
    let known = |measure: &Measure| measure.parser.may_yield(metric.name.as_deref());
    if config.measure(&metric.measure).is_some_and(known) {
        return Ok(());
    }
    let names = config.measures.iter().flat_map(|measure| {
        let names = measure.parser.names().unwrap_or_else(|| vec![Some("NAME".to_owned())]);
        let of = |name| Metric { measure: measure.name.clone(), name }.to_string();
        names.into_iter().map(of).collect::<Vec<_>>()
    });
    Err(UsageError::NoSuchMetric {
        metric: metric.to_string(),
        known: names.collect::<Vec<_>>().join(", "),
    })
}

/// Refuses a dependency path that neither end has.
fn check_dependency(history: &History, ends: [&CommitId; 2], path: &str) -> Result<(), UsageError> {
    for end in ends {
        if history.at(end, path)?.may_be_a_folder() {
            return Ok(());
        }
    }
    Err(UsageError::NoDependency(path.to_owned()))
}

/// Writes a hunt's configuration, its history and its first journal entry. If that fails, removes
/// the hunt's folder: a hunt without that entry cannot be resumed.
pub(crate) fn write_beginning(
    hunt: &HuntDir,
    config: &Config,
    history: &History,
    begun: Begun,
) -> Result<(), HuntError> {
    let write = || -> Result<(), HuntError> {
        publish(&hunt.config(), config.text().as_bytes())?;
        let [old, new] = begun.ends();
        let all = Range::between(old, new);
        hunt.keep_history(&history.lineage(&all).map_err(UsageError::from)?)?;
        Ok(hunt.journal()?.append(Event::Begun(Box::new(begun)))?)
    };
    write().inspect_err(|_| drop(std::fs::remove_dir_all(hunt.path())))
}

/// The facts of a new hunt. A missing input is a usage error here.
pub(crate) fn gather(config: &Config, store: &Store) -> Result<Facts, HuntError> {
    Facts::gather(config, store).map_err(|error| match error {
        OracleError::Input(input) => HuntError::Usage(input.into()),
        other => other.into(),
    })
}

/// A folder's path as text. Commands and the journal contain it, so it must be UTF-8.
fn text(what: &'static str, path: &Path) -> Result<String, UsageError> {
    let text = path.to_str().map(str::to_owned);
    text.ok_or_else(|| UsageError::NotText { what, path: path.to_owned() })
}

fn check_path(
    history: &History,
    good: &CommitId,
    bad: &CommitId,
    aim: Aim,
) -> Result<(), UsageError> {
    if good == bad {
        return Err(UsageError::SameCommit(good.clone()));
    }
    let (good_name, bad_name) = (good.short().to_owned(), bad.short().to_owned());
    let [old, new] = aim.swap_if_fix([good, bad]);
    if history.is_ancestor(new, old)? {
        let names = [format!("good ({good_name})"), format!("bad ({bad_name})")];
        let [old, new] = aim.swap_if_fix(names);
        return Err(UsageError::Reversed { old, new, aim });
    }
    if history.merge_bases(good, bad)?.is_empty() {
        return Err(UsageError::NoPath { good: good_name, bad: bad_name });
    }
    Ok(())
}

/// `-- PATH…` and `ignore` and `paths` of `[build]`, as git's pathspecs. If they hide the first bad
/// commit, the confirmation notices: it measures the real parents.
fn pathspecs(config: &Config, asked: &[String]) -> Vec<String> {
    let mut specs: Vec<String> = asked.to_vec();
    specs.extend(config.build.paths.iter().map(|path| pathspec(path)));
    let ignored: Vec<String> =
        config.build.ignore.iter().map(|path| format!(":(top,glob,exclude){path}")).collect();
    if specs.is_empty() && !ignored.is_empty() {
        specs.push(":(top)".to_owned());
    }
    specs.extend(ignored);
    specs
}

/// The folder of the slots: the configured one, else the default in the user's cache folder.
pub(crate) fn slots_folder(config: &Config, repository: &Repository) -> PathBuf {
    match &config.worktree.dir {
        Some(dir) => config.base.join(dir).join(repository.id()).join("slots"),
        None => default_slots(repository),
    }
}

/// The folder of the slots if the configuration names none: in the user's cache folder.
pub fn default_slots(repository: &Repository) -> PathBuf {
    user_cache().join(repository.id()).join("slots")
}

/// The program's folder in the user's cache folder.
pub(crate) fn user_cache() -> PathBuf {
    let variable = |name| std::env::var_os(name).map(PathBuf::from).filter(|p| p.is_absolute());
    variable("XDG_CACHE_HOME")
        .or_else(|| variable("HOME").map(|home| home.join(".cache")))
        .unwrap_or_else(std::env::temp_dir)
        .join("bisect-ppl")
}

/// A commit with its subject, author and date.
pub(crate) fn info(history: &History, commit: &CommitId) -> Result<CommitInfo, HuntError> {
    let about = history.info(commit)?;
    Ok(CommitInfo {
        commit: commit.clone(),
        subject: about.subject,
        author: about.author,
        date: about.date,
    })
}

/// The user's checkout to link files from, if it still exists.
pub(crate) fn checkout_of(begun: &Begun) -> Option<PathBuf> {
    begun.checkout.as_deref().map(Path::new).filter(|path| path.exists()).map(Path::to_owned)
}
