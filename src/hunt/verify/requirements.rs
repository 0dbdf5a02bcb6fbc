//! What a report needs in this clone: the user's changes to its configuration, the commits, the
//! patches and the inputs. What is missing is refused by name.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::config::{Changes, Config, HomeUse, LoadError, assignment, key_and_value};
use crate::evaluation::{CommitId, DependencyHunt, OptionChange};
use crate::git::{History, Repository};
use crate::hunt::{HuntError, UsageError};
use crate::oracle::{InputError, OracleError, check_readable, inputs, pin_of};
use crate::report::{FirstBad, Recheck, Report};
use crate::store::Store;

use super::claims::Claimed;
use super::refusal::VerifyRefusal;

/// What a user asks of a verification.
#[derive(Clone, Debug, Default)]
pub(crate) struct VerifyAsked {
    /// The name and the path of each `--input`.
    pub inputs: Vec<(String, PathBuf)>,
    /// `KEY=VALUE` of `--set`.
    pub set: Vec<String>,
    /// The revision of `--fix`.
    pub fix: Option<String>,
}

/// The report's configuration with the user's changes. Every commit is built anew.
pub(super) fn configuration(
    repository: &Repository,
    recheck: &Recheck,
    asked: &VerifyAsked,
) -> Result<(Config, Vec<OptionChange>), HuntError> {
    let is_given = |key: &String| {
        asked.set.iter().any(|set| key_and_value(set).is_ok_and(|(keys, _)| keys.join(".") == *key))
    };
    let missing: Vec<String> =
        recheck.withheld.iter().filter(|key| !is_given(key)).cloned().collect();
    if !missing.is_empty() {
        return Err(refused(VerifyRefusal::Withheld(missing)));
    }
    let top = repository.top().unwrap_or_else(|| repository.common_dir());
    let base = recheck.base.as_deref().map(Path::new).filter(|base| is_below(base));
    let base = base.map_or_else(|| top.to_owned(), |base| top.join(base));
    let parse = |set: &[String]| {
        let changes = Changes { set, arg: &[] };
        Config::parse_changed(&recheck.config, changes, &base, "the report's oracle.toml")
            .map_err(|error| HuntError::from(UsageError::from(LoadError::from(error))))
    };
    let (plain, _) = parse(&[])?;
    let mut set = asked.set.clone();
    for (name, path) in &asked.inputs {
        if !plain.inputs.contains_key(name) {
            let known: Vec<&str> = plain.inputs.keys().map(String::as_str).collect();
            let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            return Err(refused(VerifyRefusal::UnknownInput { name: name.clone(), known }));
        }
        let Some(path) = path.to_str() else {
            return Err(UsageError::NotText { what: "an input", path: path.clone() }.into());
        };
        set.push(assignment(&["inputs", name], path));
    }
    let own = set.len();
    set.push(assignment(&["build", "confirm"], "rebuild"));
    let (wanted, _) = parse(&asked.set)?;
    if wanted.home == HomeUse::Checked {
        // There is no search here that an empty home folder could contradict.
        let home = if recheck.empty_home { "empty" } else { "shared" };
        set.push(assignment(&["environment", "home"], home));
    }
    let (config, mut changes) = parse(&set)?;
    changes.truncate(own);
    Ok((config, changes))
}

/// Whether a relative path stays in its folder.
fn is_below(path: &Path) -> bool {
    path.components().all(|part| matches!(part, std::path::Component::Normal(_)))
}

/// The dependency in this clone, for the report of a hunt inside a dependency.
pub(super) fn found_here(
    repository: &Repository,
    within: DependencyHunt,
) -> Result<DependencyHunt, HuntError> {
    let engine = History::open(repository).map_err(UsageError::from)?;
    let lacking = || refused(VerifyRefusal::NoDependency(within.path.clone()));
    engine.info(&within.commit.commit).map_err(|_| lacking())?;
    let git_dir = if within.files.is_empty() {
        let place = engine.submodule(&within.commit.commit, &within.path)?;
        place.ok_or_else(lacking)?.git_dir().to_owned()
    } else {
        repository.common_dir().to_owned()
    };
    let git_dir = git_dir.to_str().map(str::to_owned).ok_or_else(lacking)?;
    Ok(DependencyHunt { git_dir, ..within })
}

/// Refuses a clone that lacks commits that have to be built.
pub(super) fn check_commits(
    report: &Report,
    recheck: &Recheck,
    history: &History,
    engine: &History,
) -> Result<(), HuntError> {
    let named = report.culprits.iter().flat_map(|first| [&first.commit, &first.parent]);
    let missing = |history: &History, commit: &CommitId| history.info(commit).is_err();
    let mut lacking: BTreeSet<String> =
        named.filter(|commit| missing(history, commit)).map(CommitId::to_string).collect();
    for (name, commit) in &recheck.revisions {
        if missing(engine, commit) {
            lacking.insert(format!("{commit} (`{name}` in the configuration)"));
        }
    }
    if lacking.is_empty() {
        return Ok(());
    }
    Err(refused(VerifyRefusal::NoSuchCommits(lacking.into_iter().collect())))
}

/// A claim with the parents to measure: the report's own, and each other parent that had the older
/// side's verdict in the hunt. A hunt that set a side branch aside did not measure its parents.
pub(super) fn claimed(
    report: &Report,
    recheck: &Recheck,
    first: &FirstBad,
    history: &History,
) -> Result<Claimed, HuntError> {
    let wanted = report.options.aim.older();
    let was_measured = |parent: &CommitId| {
        let mut commits = report.commits.iter();
        commits.any(|seen| seen.commit == *parent && seen.verdict == wanted)
    };
    let mut others = history.parents(&first.commit).map_err(UsageError::from)?;
    let is_parent = others.contains(&first.parent);
    if !is_parent {
        let lacks = vec![format!("{} as a parent of {}", first.parent, first.commit)];
        return Err(refused(VerifyRefusal::NoSuchCommits(lacks)));
    }
    others.retain(|parent| *parent != first.parent && was_measured(parent));
    if report.options.first_parent {
        others.clear();
    }
    let parents = [first.parent.clone()].into_iter().chain(others).collect();
    let line = recheck.claims.iter().find(|claim| claim.commit == first.commit);
    let targets = line.map(|claim| claim.targets.as_slice()).unwrap_or_default();
    if targets.is_empty() {
        return Err(refused(VerifyRefusal::NoTargets(first.commit.clone())));
    }
    Ok(Claimed::new(first.clone(), targets, parents, report.options.aim))
}

/// The patches that the report carries; refuses a patch that has another digest, and a patch of the
/// configuration that is missing.
pub(super) fn patches(
    config: &Config,
    recheck: &Recheck,
) -> Result<BTreeMap<String, Vec<u8>>, HuntError> {
    let mut wanted = config.patches.iter().map(pin_of);
    if let Some(missing) = wanted.find(|name| !recheck.patches.contains_key(name)) {
        return Err(refused(VerifyRefusal::NoPatch(missing)));
    }
    let decoded = recheck.patches.iter().map(|(name, patch)| {
        let bytes = patch.content_b64.as_ref().and_then(|text| STANDARD.decode(text).ok());
        let bytes = bytes.filter(|bytes| crate::store::patch_digest(bytes) == patch.sha256);
        let bytes = bytes.ok_or_else(|| refused(VerifyRefusal::NoPatch(name.clone())))?;
        Ok((name.clone(), bytes))
    });
    decoded.collect()
}

/// Refuses inputs that are missing here or differ from the report's. Call it only after the user
/// agreed: a path in a stranger's report may name a device or the whole disk.
pub(super) fn check_inputs(
    repository: &Repository,
    config: &Config,
    report: &Report,
) -> Result<(), HuntError> {
    for name in config.inputs.keys() {
        check_readable(config, name).map_err(|error| no_input(name, &error))?;
    }
    let store = Store::open_to_measure(repository.common_dir())?;
    let here = inputs(config, &store).map_err(|error| match error {
        OracleError::Input(error) => UsageError::from(error).into(),
        other => HuntError::from(other),
    })?;
    for (name, input) in here {
        let reported = report.inputs.get(&name).map(|known| known.sha256.clone());
        let reported = reported.unwrap_or_else(|| "nothing of it".to_owned());
        if reported != input.sha256 {
            let (path, here) = (input.path, input.sha256);
            return Err(refused(VerifyRefusal::OtherInput { name, path, here, reported }));
        }
    }
    Ok(())
}

fn no_input(name: &str, error: &InputError) -> HuntError {
    refused(VerifyRefusal::NoInput { name: name.to_owned(), reason: error.to_string() })
}

/// The error of a refused verification.
pub(super) fn refused(refusal: VerifyRefusal) -> HuntError {
    UsageError::from(refusal).into()
}
