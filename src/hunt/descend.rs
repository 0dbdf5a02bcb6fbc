//! Goes on inside a dependency that a first bad commit moves (`[worktree] descend`): a hunt of its
//! own over the submodule's commits, each built into one and the same commit of the engine.
//!
//! That is the first bad commit itself, whose old pin is the good end then and whose own is the
//! bad one. Where it no longer works with the old pin, its parent is taken, with the new one.

use crate::config::Config;
use crate::evaluation::{
    Aim, CommitId, CommitInfo, Culprit, Dependency, Finding, Outcome, Target, Within,
};
use crate::git::{History, Range, Repository};
use crate::store::journal::{Begun, Event, Options};
use crate::store::{HuntDir, Inside, Store, Went};

use super::begin::{info, write_beginning};
use super::open::{begun, frozen};
use super::{HuntError, UsageError};

/// The next hunt inside a dependency that a finished hunt asks for, just begun or to be taken
/// up; `None` when there is nothing left to do.
///
/// What cannot be hunted is written down beside the finished hunt, with the reason, and is
/// tried again the next time.
pub fn descend(
    repository: &Repository,
    store: &Store,
    outer: &HuntDir,
) -> Result<Option<HuntDir>, HuntError> {
    let _lock = outer.lock()?;
    let about = begun(outer)?;
    let config = frozen(outer, &about)?;
    let (Some(path), Some(finding)) = (&config.worktree.descend, ended(outer)?) else {
        return Ok(None);
    };
    let mut tried = outer.inside()?;
    tried.retain(|one| matches!(one.went, Went::On(_)));
    for culprit in &finding.culprits {
        let moved = culprit.dependencies.iter().find(|one| one.is_submodule && one.path == *path);
        let Some(moved) = moved else { continue };
        let of = |one: &&Inside| one.commit == culprit.info.commit;
        let last = tried.iter().rfind(of).map(|one| one.went.clone());
        let base = match &last {
            None => culprit.info.commit.clone(),
            Some(Went::On(id)) => match ended(&outer.beside(id))? {
                // One that was tidied away is not begun again.
                None if !outer.beside(id).journal_path().exists() => continue,
                None => return Ok(Some(outer.beside(id))),
                Some(found) if is_worth_another(&found, culprit, path) => culprit.parent.clone(),
                Some(_) => continue,
            },
            Some(Went::Nowhere(_)) => continue,
        };
        if tried.iter().filter(of).count() > 1 {
            continue;
        }
        let begun = begin(repository, store, &about, &config, (culprit, moved), &base)?;
        let (next, went) = match begun {
            Ok(hunt) => (Some(hunt.clone()), Went::On(hunt.id().to_owned())),
            Err(why) => (None, Went::Nowhere(why)),
        };
        tried.push(Inside { commit: culprit.info.commit.clone(), path: path.clone(), went });
        outer.keep_inside(&tried)?;
        if next.is_some() {
            return Ok(next);
        }
    }
    Ok(None)
}

/// The hunt that a person means by this one: one inside a dependency is a part of another.
pub fn outermost(hunt: &HuntDir) -> Result<HuntDir, HuntError> {
    let around = begun(hunt)?.within.map(|within| hunt.beside(&within.hunt));
    // One that was tidied away is not missed.
    Ok(around.filter(|around| around.journal_path().exists()).unwrap_or_else(|| hunt.clone()))
}

fn ended(hunt: &HuntDir) -> Result<Option<Finding>, HuntError> {
    Ok(hunt.entries()?.into_iter().rev().find_map(|entry| match entry.event {
        Event::Ended { finding, .. } => Some(*finding),
        _ => None,
    }))
}

/// Whether the parent may tell what the commit did not: an end could not be measured, and the
/// commit changes more than the pin.
fn is_worth_another(found: &Finding, culprit: &Culprit, path: &str) -> bool {
    found.outcome == Outcome::EndpointUnmeasurable
        && culprit.files.iter().any(|file| file.path != path)
}

/// Begins a hunt inside; an `Err` string says why there can be none.
fn begin(
    repository: &Repository,
    store: &Store,
    outer: &Begun,
    config: &Config,
    (culprit, moved): (&Culprit, &Dependency),
    base: &CommitId,
) -> Result<Result<HuntDir, String>, HuntError> {
    let engine = History::open(repository)?;
    let path = &moved.path;
    let Some(submodule) = engine.submodule(&culprit.info.commit, path)? else {
        return Ok(Err(format!(
            "this clone does not have the submodule; `git submodule update --init {path}`, then \
             `bisect-ppl resume {}`",
            outer.hunt
        )));
    };
    let history = History::open(&submodule)?;
    let ends = match ends(&history, moved, outer.options.aim) {
        Ok(ends) => ends,
        Err(why) => {
            return Ok(Err(format!(
                "{why}; `git -C {path} fetch`, then `bisect-ppl resume {}`",
                outer.hunt
            )));
        }
    };
    let Some(Ends { aim, good, bad }) = ends else {
        return Ok(Err("the two pins have no history in common".to_owned()));
    };
    let [old, new] = aim.turned([&good.commit, &bad.commit]);
    let range = Range { first_parent: outer.options.first_parent, ..Range::between(old, new) };
    let git_dir = submodule.git_dir().to_string_lossy().into_owned();
    let within = Within {
        hunt: outer.hunt.clone(),
        commit: info(&engine, base)?,
        path: path.clone(),
        git_dir,
        failure: culprit.failure.clone(),
    };
    let commits = history.count(&range).map_err(UsageError::from)?;
    let hunt = store.new_hunt()?;
    let begun = Begun {
        hunt: hunt.id().to_owned(),
        asked: (good.commit.to_string(), bad.commit.to_string()),
        good,
        bad,
        within: Some(within),
        commits,
        options: Options { aim, skip: Vec::new(), paths: Vec::new(), ..outer.options.clone() },
        ..outer.clone()
    };
    let written = write_beginning(&hunt, config, &history, begun);
    if written.is_err() {
        std::fs::remove_dir_all(hunt.path()).ok();
    }
    written.map(|()| Ok(hunt))
}

/// The pins as ends of a hunt.
struct Ends {
    aim: Aim,
    good: CommitInfo,
    bad: CommitInfo,
}

/// Which pin is which. One that goes back loses what mended something, so that is what is sought
/// then. An error where one of them is not there; `None` where nothing leads from one to the
/// other.
fn ends(history: &History, moved: &Dependency, aim: Aim) -> Result<Option<Ends>, HuntError> {
    let [good, bad] = aim.turned([&moved.from, &moved.to]);
    let (good, bad) = (info(history, good)?, info(history, bad)?);
    if history.merge_bases(&moved.from, &moved.to)?.is_empty() {
        return Ok(None);
    }
    let goes_back = history.is_ancestor(&moved.to, &moved.from)?;
    let aim = if goes_back { aim.opposite() } else { aim };
    Ok(Some(Ends { aim, good, bad }))
}

/// Whether a hunt inside a dependency is after what the hunt around it found: another failure,
/// such as an interface that its other commits do not have yet, is none of its business.
pub(super) fn is_the_same(within: &Within, targets: &[Target]) -> bool {
    targets.iter().all(|target| match (target, &within.failure) {
        (Target::Guard(_), None) => true,
        (Target::Failure { failure, .. }, Some(wanted)) => failure.alike(wanted),
        _ => false,
    })
}
