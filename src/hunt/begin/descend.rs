//! Hunts inside a dependency that a first bad commit moves (`[worktree] descend`). The new hunt
//! covers the dependency's commits, each built into the same commit of the engine.
//!
//! The engine's commit is the first bad commit of the outer hunt. It moves the dependency from one
//! commit to another; these two are the ends of the new hunt. If an end cannot be measured, a
//! second hunt uses the parent of the engine's commit instead.

use crate::config::Config;
use crate::evaluation::{
    Aim, Cause, CommitId, CommitInfo, Culprit, Dependency, DependencyHunt, FileRole, Finding,
    Outcome, Revert, Target, TouchedFile,
};
use crate::git::{History, Range, Repository};
use crate::hunt::begin::write_beginning;
use crate::hunt::driver::Driver;
use crate::hunt::open_doubt::MOST_CERTAIN;
use crate::hunt::terms::SearchTerms;
use crate::hunt::{HuntError, UsageError};
use crate::store::journal::{Begun, Event, LimitsInForce, Options};
use crate::store::{FollowUpAttempt, FollowUpResult, HuntDir, Store};
use crate::ui::text;

use super::open::{begun, frozen};

/// The next hunt inside a dependency of a finished hunt, either new or to be resumed; `None` if
/// there is none.
///
/// If a hunt cannot begin, the reason is stored beside the finished hunt, and the next call tries
/// again. The caller holds the finished hunt's lock.
pub(crate) fn descend(
    repository: &Repository,
    store: &Store,
    outer: &HuntDir,
) -> Result<Option<HuntDir>, HuntError> {
    let about = begun(outer)?;
    let config = frozen(outer, &about)?;
    let Some(path) = &config.worktree.descend else { return Ok(None) };
    let Some(finding) = ended(outer)?.filter(|finding| finding.limit.is_none()) else {
        return Ok(None);
    };
    let mut tried = outer.inside()?;
    tried.retain(|one| one.went.on().is_some());
    for culprit in &finding.culprits {
        let Some(moved) = DependencyUpdate::by(&finding, culprit, path) else { continue };
        let commit = &culprit.info.commit;
        let own = finding.cause.as_ref().filter(|cause| cause.commit == *commit);
        if own.is_some_and(|cause| is_needless(cause, finding.outcome)) {
            continue;
        }
        let hunts: Vec<HuntDir> = tried
            .iter()
            .filter(|one| one.commit == *commit)
            .filter_map(|one| one.went.on().map(|id| outer.beside(id)))
            .collect();
        let base = match hunts.as_slice() {
            [] => commit,
            // The user removed that hunt: do not begin it again.
            [.., last] if !last.journal_path().exists() => continue,
            [.., last] => match (ended(last)?, hunts.len()) {
                (None, _) => return Ok(Some(last.clone())),
                (Some(found), _) if found.limit.is_some() => return Ok(Some(last.clone())),
                (Some(found), 1) if moved.is_worth_another(&found) => &culprit.parent,
                _ => continue,
            },
        };
        let next = begin(repository, store, &about, &config, moved, base)?;
        let went = match &next {
            Ok(hunt) => FollowUpResult::On(hunt.id().to_owned()),
            Err(why) => FollowUpResult::Nowhere(why.clone()),
        };
        tried.push(FollowUpAttempt { commit: commit.clone(), path: path.clone(), went });
        outer.keep_inside(&tried)?;
        if let Ok(hunt) = next {
            return Ok(Some(hunt));
        }
    }
    Ok(None)
}

impl Driver<'_> {
    /// The finding of a hunt inside a dependency, no surer than the outer hunt is of the commit
    /// that moves the dependency. Any other finding stays as it is.
    pub(crate) fn no_surer_than_outside(&self, mut finding: Finding) -> Finding {
        if let Some(within) = &self.begun.within {
            for culprit in &mut finding.culprits {
                culprit.confidence = within.most_confidence(culprit.confidence);
            }
        }
        finding
    }

    /// Adds to a finding how to hunt among the commits of a submodule that its main first bad
    /// commit moves, unless this hunt does so.
    pub(crate) fn with_dependency_hunt(&self, mut finding: Finding) -> Finding {
        let is_asked = self.oracle.recipes.config.worktree.descend.is_some();
        if is_asked || self.begun.within.is_some() || finding.outcome != Outcome::Culprit {
            return finding;
        }
        let next = finding.culprit().and_then(|culprit| {
            let is_innocent = |path: &str| {
                let of = |file: &&TouchedFile| file.path == path;
                culprit.files.iter().find(of).is_some_and(|one| one.role == FileRole::Innocent)
            };
            culprit.dependencies.iter().find_map(|one| {
                let commits = one.commits.filter(|commits| *commits > 1)?;
                let path = &one.path;
                (one.is_submodule && !is_innocent(path)).then(|| {
                    format!(
                        "the same `start` with `--set worktree.descend={path}` hunts among the \
                         {commits} commits of {path}"
                    )
                })
            })
        });
        finding.next.extend(next);
        finding
    }
}

/// The hunt around a hunt inside a dependency; for any other hunt, the hunt itself.
pub(crate) fn outermost(hunt: &HuntDir) -> HuntDir {
    let within = begun(hunt).ok().and_then(|begun| begun.within);
    let around = within.map(|within| hunt.beside(&within.hunt));
    // If the outer hunt was removed, treat the inner one as any other hunt.
    around.filter(|around| around.journal_path().exists()).unwrap_or_else(|| hunt.clone())
}

/// Whether a hunt inside the dependency would name a commit that the bad end does not need: the bad
/// end does not have the outer commit's change, or stays bad without it. A bad end that is like
/// neither end without it ([`Revert::Unlike`]) does not tell, so the hunt inside is still worth it.
fn is_needless(cause: &Cause, outcome: Outcome) -> bool {
    match cause.revert {
        Some(Revert::Absent) => true,
        Some(Revert::StillBad) => outcome != Outcome::Culprit && !cause.in_part,
        _ => false,
    }
}

fn ended(hunt: &HuntDir) -> Result<Option<Finding>, HuntError> {
    let last = hunt.entries()?.iter().rev().find_map(|entry| match &entry.event {
        Event::Ended { finding, .. } => Some(Some(finding.as_ref().clone())),
        // A limit ended the hunt, and the hunt was resumed.
        Event::Resumed { .. } => Some(None),
        _ => None,
    });
    Ok(last.flatten())
}

/// A dependency that a first bad commit moves.
#[derive(Clone, Copy)]
struct DependencyUpdate<'c> {
    culprit: &'c Culprit,
    dependency: &'c Dependency,
    path: &'c str,
    /// Whether the hunt that found the commit names no commit as its answer.
    is_undecided: bool,
}

impl<'c> DependencyUpdate<'c> {
    /// The submodule at this path, or the project that the folder there is a copy of.
    fn by(finding: &Finding, culprit: &'c Culprit, path: &'c str) -> Option<Self> {
        let all = &culprit.dependencies;
        let submodule = all.iter().find(|one| one.is_submodule && one.path == path);
        let touches = || culprit.files.iter().any(|file| is_below(&file.path, path));
        let copied = || all.iter().find(|one| !one.is_submodule && touches());
        let dependency = submodule.or_else(copied)?;
        let is_undecided = finding.outcome != Outcome::Culprit;
        Some(Self { culprit, dependency, path, is_undecided })
    }

    /// How sure the outer hunt is that the bad end needs the commit. The commit's own confidence
    /// does not tell that if the hunt ended undecided.
    fn confidence(self) -> f64 {
        let own = self.culprit.confidence;
        if self.is_undecided { own.min(MOST_CERTAIN) } else { own }
    }

    /// Whether a second hunt, with the parent, may succeed: the first one could not measure an end,
    /// and the commit changes more than the dependency.
    fn is_worth_another(self, found: &Finding) -> bool {
        let Self { culprit, dependency, path, .. } = self;
        let is_its = |file: &str| file == path || file == dependency.path || is_below(file, path);
        found.outcome == Outcome::EndpointUnmeasurable
            && !culprit.files.iter().all(|file| is_its(&file.path))
    }
}

fn is_below(file: &str, folder: &str) -> bool {
    file.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
}

/// A dependency's repository and, for a copy, the files to replace.
struct Source {
    repository: Repository,
    files: Vec<String>,
}

/// Finds a dependency's repository and files. The inner `Err` says why that is impossible.
fn source(
    engine: &History,
    moved: DependencyUpdate<'_>,
    hunt: &str,
) -> Result<Result<Source, String>, HuntError> {
    let DependencyUpdate { culprit, dependency, path, .. } = moved;
    let here = engine.repository();
    if dependency.is_submodule {
        return Ok(match engine.submodule(&culprit.info.commit, path)? {
            Some(repository) => Ok(Source { repository, files: Vec::new() }),
            None => Err(format!(
                "this clone does not have the submodule; `git submodule update --init {path}`, then \
                 `bisect-ppl resume {hunt}`"
            )),
        });
    }
    for commit in [&dependency.from, &dependency.to] {
        if engine.info(commit).is_err() {
            let short = commit.short();
            return Ok(Err(format!(
                "this clone does not have {short} of the project it is a copy of; `git fetch` \
                 that project's URL, then `bisect-ppl resume {hunt}`"
            )));
        }
    }
    let ends = [(&culprit.parent, &dependency.from), (&culprit.info.commit, &dependency.to)];
    Ok(match engine.vendored(path, ends)? {
        Ok(files) if files.is_empty() => {
            Err(format!("the commits that {} names touch no file of the copy", dependency.path))
        }
        Ok(files) => Ok(Source { repository: here.of_submodule(here.common_dir())?, files }),
        Err(others) => Err(format!(
            "{} that the project changed {} from the project's version ({}{})",
            text::plural(others.len(), "file"),
            if others.len() == 1 { "differs" } else { "differ" },
            others.iter().take(3).cloned().collect::<Vec<_>>().join(", "),
            if others.len() > 3 { ", …" } else { "" }
        )),
    })
}

/// Begins a hunt inside a dependency. The inner `Err` says why that is impossible.
fn begin(
    repository: &Repository,
    store: &Store,
    outer: &Begun,
    config: &Config,
    moved: DependencyUpdate<'_>,
    base: &CommitId,
) -> Result<Result<HuntDir, String>, HuntError> {
    let DependencyUpdate { culprit, dependency, path, is_undecided } = moved;
    let engine = History::open(repository)?;
    let Source { repository: place, files } = match source(&engine, moved, &outer.hunt)? {
        Ok(source) => source,
        Err(why) => return Ok(Err(why)),
    };
    let history = History::open(&place)?;
    let ends = match ends(&history, dependency, outer.options.aim) {
        Ok(ends) => ends,
        Err(why) => {
            return Ok(Err(format!(
                "{why}; `git -C {path} fetch`, then `bisect-ppl resume {}`",
                outer.hunt
            )));
        }
    };
    let Some(Ends { aim, good, bad }) = ends else {
        return Ok(Err("the dependency's old and new commits share no history".to_owned()));
    };
    let whole = SearchTerms::of(aim).range_between(&good.commit, &bad.commit);
    let range = Range { first_parent: outer.options.first_parent, ..whole };
    let within = DependencyHunt {
        hunt: outer.hunt.clone(),
        commit: engine.named(base)?,
        path: path.to_owned(),
        git_dir: place.git_dir().to_string_lossy().into_owned(),
        files,
        failure: culprit.failure.clone(),
        confidence: Some(moved.confidence()),
        is_undecided,
    };
    let commits = history.count(&range).map_err(UsageError::from)?;
    let limits = LimitsInForce::of(&store.hunt(Some(&outer.hunt))?.entries()?).left();
    let hunt = store.new_hunt()?;
    let begun = Begun {
        hunt: hunt.id().to_owned(),
        asked: (good.commit.short().to_owned(), bad.commit.short().to_owned()),
        good,
        bad,
        within: Some(within),
        commits,
        options: Options {
            aim,
            skip: Vec::new(),
            paths: Vec::new(),
            limits,
            ..outer.options.clone()
        },
        ..outer.clone()
    };
    write_beginning(&hunt, config, &history, begun)?;
    Ok(Ok(hunt))
}

/// The dependency's commits before and after the change, as the ends of a hunt.
struct Ends {
    aim: Aim,
    good: CommitInfo,
    bad: CommitInfo,
}

/// Decides which of the dependency's two commits is good and which is bad. If the change goes back
/// in history, it may lose a fix, so the aim is reversed. Errors if a commit is missing; `None` if
/// the two share no history.
fn ends(history: &History, moved: &Dependency, aim: Aim) -> Result<Option<Ends>, HuntError> {
    let [good, bad] = SearchTerms::of(aim).good_and_bad([&moved.from, &moved.to]);
    let (good, bad) = (history.named(good)?, history.named(bad)?);
    if history.merge_bases(&moved.from, &moved.to)?.is_empty() {
        return Ok(None);
    }
    let goes_back = history.is_ancestor(&moved.to, &moved.from)?;
    let aim = if goes_back { aim.opposite() } else { aim };
    Ok(Some(Ends { aim, good, bad }))
}

/// Whether the inner hunt's targets match what the outer hunt found. Another failure, such as an
/// interface that the dependency's commit lacks, does not match.
pub(crate) fn matches_outer_hunt(within: &DependencyHunt, targets: &[Target]) -> bool {
    let shown = |target: &Target| match target {
        Target::Guard(target) => target.failure.as_deref().cloned(),
        Target::Failure { failure, .. } => Some(failure.clone()),
    };
    targets.iter().all(|target| match (shown(target), &within.failure) {
        (None, None) => true,
        (Some(shown), Some(wanted)) => shown.is_same_failure(wanted),
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::evaluation::CauseEnd;
    use crate::oracle::fixture::{commit, culprit};

    #[test]
    fn a_hunt_inside_is_needless_only_if_a_test_shows_that_the_bad_end_stays_bad() {
        let needless = |revert: Revert, outcome: Outcome, in_part: bool| {
            let cause = Cause {
                commit: commit('2'),
                parent: commit('1'),
                sets: Vec::new(),
                end: CauseEnd::Complete,
                dependents: Vec::new(),
                trials: Vec::new(),
                roles: BTreeMap::new(),
                without: None,
                revert: Some(revert),
                broken_too: None,
                in_part,
                backport: None,
            };
            is_needless(&cause, outcome)
        };
        assert!(needless(Revert::Absent, Outcome::Culprit, false));
        assert!(needless(Revert::StillBad, Outcome::Candidates, false));
        // Other named commits explain the rest, or a part of the change was not removed.
        assert!(!needless(Revert::StillBad, Outcome::Culprit, false));
        assert!(!needless(Revert::StillBad, Outcome::Candidates, true));
        for open in [Revert::Unlike, Revert::Unknown, Revert::Heals] {
            assert!(!needless(open, Outcome::Candidates, false));
        }
    }

    #[test]
    fn a_commit_of_an_undecided_hunt_is_an_open_doubt() {
        let path = "lib".to_owned();
        let (from, to) = (commit('6'), commit('7'));
        let lib = Dependency { path, from, to, commits: None, is_submodule: true };
        let named = Culprit { confidence: 0.9945, dependencies: vec![lib], ..culprit('2', '1') };
        let confidence = |outcome: Outcome| {
            let finding = Finding::plain(outcome, "");
            DependencyUpdate::by(&finding, &named, "lib").unwrap().confidence().to_string()
        };
        assert_eq!(confidence(Outcome::Culprit), "0.9945");
        assert_eq!(confidence(Outcome::Candidates), "0.98");
    }
}
