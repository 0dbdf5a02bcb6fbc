//! Finds how older commits differ from the newest in the way they are built and measured.
//!
//! The trees of some revisions of the first-parent history are read in the same way as the
//! newest tree. If two of them differ, the revisions between them are read until the change is
//! found. A difference between the trees becomes the condition of an override. Nothing is
//! fetched: objects that a partial clone lacks are skipped.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

use crate::evaluation::CommitId;
use crate::git::{GitError, History, Repository};

use super::builds::builds;
use super::differs::{OverrideKeys, differing_keys, free, is_comparable, reading};
use super::draft::Draft;
use super::eras::{Era, Line};
use super::ignores::is_read;
use super::measures;
use super::notes::Notes;
use super::objects::Objects;
use super::program::{OptionToDisable, System};
use super::set::Setting;
use super::submodules::{Needed, needed};
use super::tree::{Tree, base, ending};
use super::when::{At, When, separate};

/// Minimum number of revisions to read, evenly spread. A shorter history is read completely.
const SAMPLES: usize = 64;
/// Maximum number of overrides to write. Older changes than these are left out.
const MOST: usize = 12;

/// The history behind a checkout.
pub(super) struct Past {
    objects: Rc<Objects>,
    /// The first-parent history, newest first.
    commits: Vec<CommitId>,
    /// The name of the branch that is ahead of the checkout; `None` if no branch is.
    ahead: Option<String>,
    /// The submodules of the checkout's commit.
    submodules: Vec<String>,
}

/// How some commits differ.
#[derive(Clone, Debug)]
pub(super) struct Override {
    pub(super) when: When,
    /// The newest commit with this draft, for people: `172c82568 (2024-06-12)`.
    pub(super) read_at: String,
    /// The draft of that commit.
    pub(super) draft: Draft,
    /// Which keys of the draft the override sets.
    pub(super) differing_keys: OverrideKeys,
}

/// What was found in the history.
#[derive(Debug, Default)]
pub(super) struct HistoryFindings {
    /// Overrides, newest first. If several apply to a commit, the last one in the file wins: the
    /// oldest.
    pub(super) overrides: Vec<Override>,
    /// Overrides of the measures that the file has only as comments.
    pub(super) offered: Vec<Override>,
    /// Options that some revision needs switched off.
    pub(super) offs: Vec<OptionToDisable>,
    /// Patterns for files that the measured programs of no revision read.
    pub(super) unread: Vec<String>,
    /// Why submodules are not checked out; `None` if they are, since some revision needs them.
    pub(super) no_submodules: Option<String>,
    /// A sentence that says which commits were read.
    pub(super) looked: Option<String>,
    /// What the user should check before they trust the file.
    pub(super) unsure: Vec<String>,
}

/// What was read from one revision.
struct Revision {
    draft: Draft,
}

/// What is collected while revisions are read.
#[derive(Default)]
struct Gathered {
    offs: Vec<OptionToDisable>,
    /// Why submodules are not needed, one sentence for each.
    idle: BTreeSet<String>,
    /// Submodules that the user's checkout does not have.
    absent: BTreeSet<String>,
    /// Whether some revision may need a submodule that is missing.
    is_needed: bool,
    /// The newest tree's patterns, without those that another revision reads.
    unread: Vec<String>,
    /// Renamed options as pairs of names, from all trees read so far. Those of the newest tree come
    /// first.
    renames: Vec<(String, String)>,
}

impl HistoryFindings {
    /// Puts the options that some revision needs switched off into all drafts: CMake ignores
    /// options that a tree does not have.
    pub(super) fn merge_over(&mut self, draft: &mut Draft) {
        for off in &draft.offs {
            if !self.offs.iter().any(|known| known.option == off.option) {
                self.offs.push(off.clone());
            }
        }
        draft.offs.clone_from(&self.offs);
        for over in self.overrides.iter_mut().chain(&mut self.offered) {
            over.draft.offs.clone_from(&self.offs);
        }
        draft.unread = std::mem::take(&mut self.unread);
        draft.no_submodules = self.no_submodules.take();
    }
}

impl Past {
    /// Opens the history; `None` if there is no commit yet.
    pub(super) fn open(repository: &Repository) -> Result<Option<Self>, GitError> {
        let history = History::open(repository)?;
        let Ok(here) = history.resolve("HEAD") else { return Ok(None) };
        let submodules = history.snapshot(&here)?.map(|snapshot| snapshot.submodules);
        let (ahead, newest) = match history.ahead_of(&here)? {
            Some((name, tip)) => (Some(name), tip),
            None => (None, here),
        };
        let commits = history.first_parents(&newest)?;
        let submodules = submodules.unwrap_or_default();
        Ok(Some(Self { objects: Objects::new(history), commits, ahead, submodules }))
    }

    /// The newest tree; `None` if the checkout itself is the newest.
    pub(super) fn newest(&self, checkout: &Tree) -> Result<Option<Tree>, GitError> {
        if self.ahead.is_none() {
            return Ok(None);
        }
        let snapshot = self.objects.history().snapshot(&self.commits[0])?;
        Ok(snapshot.map(|snapshot| checkout.at(snapshot, &self.objects)))
    }

    /// A sentence that says that the file is written for a newer commit than the checkout.
    pub(super) fn newer(&self) -> Result<String, GitError> {
        let name = self.ahead.as_deref().unwrap_or_default();
        let name = crate::ui::printable_line(name);
        Ok(format!("read from {name}, {}, which is newer than your checkout", self.shown(0)?))
    }

    /// A commit with its date, for people.
    fn shown(&self, at: usize) -> Result<String, GitError> {
        let info = self.objects.history().info(&self.commits[at])?;
        let day = info.date.get(..10).unwrap_or_default().to_owned();
        Ok(format!("{} ({day})", info.id.short()))
    }

    /// Reads the history and finds the overrides. `newest` is the draft of the newest commit.
    pub(super) fn find_overrides(
        &self,
        checkout: &Tree,
        newest: &Draft,
        settings: &[Setting],
    ) -> Result<HistoryFindings, GitError> {
        let free = free(newest, settings);
        let settings: Vec<Setting> = settings.iter().map(Setting::of_the_past).collect();
        let unread = newest.unread.clone();
        let gathered = RefCell::new(Gathered { unread, ..Gathered::default() });
        let failed = RefCell::new(None);
        let mut line = Line::new(self.commits.len(), |at| {
            match self.read(at, checkout, newest, &settings, &gathered) {
                Ok(revision) => revision,
                Err(error) => {
                    failed.borrow_mut().get_or_insert(error);
                    None
                }
            }
        });
        let step = self.commits.len() / SAMPLES;
        let eras = line
            .eras(step, |a, b| differing_keys(&a.draft, &b.draft, free) == OverrideKeys::default());
        let overrides = self.overrides(&line, &eras, newest, free)?;
        let offered = self.offered(&mut line, step, newest)?;
        let looked = self.looked(&line, eras.len())?;
        let mut unsure = self.undeclared(&line, &eras, newest)?;
        drop(line);
        if let Some(error) = failed.into_inner() {
            return Err(error);
        }
        let Gathered { offs, idle, absent, is_needed, unread, .. } = gathered.into_inner();
        if !is_needed && !absent.is_empty() {
            let absent: Vec<String> = absent.into_iter().collect();
            unsure.push(format!(
                "{} is left out, as your checkout has no such submodule; if builds need it: git submodule update --init, and `submodules = true`",
                crate::ui::printable_line(absent.join(", "))
            ));
        }
        let idle: Vec<String> = idle.into_iter().collect();
        let no_submodules = (!is_needed && !idle.is_empty()).then(|| idle.join(", "));
        Ok(HistoryFindings { overrides, offered, offs, unread, no_submodules, looked, unsure })
    }

    /// Reads how one revision is built and measured. `None` if it has no program to measure, if
    /// it measures something else than the newest, or if objects are missing here.
    fn read(
        &self,
        at: usize,
        checkout: &Tree,
        newest: &Draft,
        settings: &[Setting],
        gathered: &RefCell<Gathered>,
    ) -> Result<Option<Revision>, GitError> {
        let Some(snapshot) = self.objects.history().snapshot(&self.commits[at])? else {
            return Ok(None);
        };
        let submodules = snapshot.submodules.clone();
        let tree = checkout.at(snapshot, &self.objects);
        let mut gathered = gathered.borrow_mut();
        let mut builds = builds(&tree, settings);
        for build in &mut builds {
            for pair in &build.renames {
                if !gathered.renames.contains(pair) {
                    gathered.renames.push(pair.clone());
                }
            }
            build.renames.clone_from(&gathered.renames);
        }
        for (folder, needed) in needed(&tree, &builds, &submodules, &self.submodules, settings) {
            match needed {
                Needed::Yes => gathered.is_needed = true,
                Needed::Only(option) => {
                    gathered.idle.insert(format!("{folder} is built only with {option}"));
                }
                Needed::Absent => {
                    gathered.idle.insert(format!("{folder} is not in your checkout"));
                    gathered.absent.insert(folder);
                }
            }
        }
        if at == 0 && self.ahead.is_none() {
            return Ok(Some(Revision { draft: newest.clone() }));
        }
        let Ok(draft) = measures::draft(&tree, builds, settings, &mut Notes::default()) else {
            return Ok(None);
        };
        let own = |file: &str| draft.rests_on.iter().take(4).any(|known| known == file);
        if tree.lacks(|file| is_of_the_build(file) || own(file)) || !is_comparable(&draft, newest) {
            return Ok(None);
        }
        gathered.unread.retain(|pattern| !is_read(pattern, &draft.reads));
        for off in &draft.offs {
            if !gathered.offs.iter().any(|known| known.option == off.option) {
                gathered.offs.push(off.clone());
            }
        }
        Ok(Some(Revision { draft }))
    }

    fn overrides(
        &self,
        line: &Line<'_, Revision>,
        eras: &[Era],
        newest: &Draft,
        free: OverrideKeys,
    ) -> Result<Vec<Override>, GitError> {
        let draft = |at: usize| line.answer(at).map(|revision| &revision.draft);
        // Every override sets all keys that any of them sets. So the last one that holds decides
        // all of these keys.
        let drafts = eras.iter().filter_map(|era| draft(era.first));
        let all = drafts
            .map(|draft| differing_keys(draft, newest, free))
            .fold(OverrideKeys::default(), OverrideKeys::or);
        let mut overrides = Vec::new();
        for pair in eras.windows(2).take(MOST) {
            let (newer, older) = (pair[0], pair[1]);
            let Some((old, new)) = draft(older.first).zip(draft(newer.last)) else { continue };
            overrides.push(Override {
                when: self.when(line, newer, older, old, new)?,
                read_at: self.shown(older.first)?,
                draft: old.clone(),
                differing_keys: all,
            });
        }
        Ok(overrides)
    }

    /// The overrides for each measure that the file has only as a comment.
    fn offered(
        &self,
        line: &mut Line<'_, Revision>,
        step: usize,
        newest: &Draft,
    ) -> Result<Vec<Override>, GitError> {
        let mut overrides = Vec::new();
        for measured in newest.measures.iter().skip(1) {
            let of = |draft: &Draft| -> Option<(String, Vec<String>)> {
                let found = draft.measures.iter().skip(1).find(|m| m.name == measured.name)?;
                Some((found.command.clone(), reading(found)))
            };
            // A revision without this measure counts as equal: there is nothing to override.
            let alike = |a: &Revision, b: &Revision| {
                of(&a.draft).zip(of(&b.draft)).is_none_or(|(a, b)| a == b)
            };
            let eras = line.eras(step, alike);
            let draft = |at: usize| line.answer(at).map(|revision| &revision.draft);
            let drafts = eras.iter().filter_map(|era| of(draft(era.first)?));
            let reading = drafts.map(|(_, read)| read).any(|read| read != reading(measured));
            for pair in eras.windows(2).take(MOST) {
                let (newer, older) = (pair[0], pair[1]);
                let Some((old, new)) = draft(older.first).zip(draft(newer.last)) else { continue };
                let mut draft = old.clone();
                draft.measures.retain(|m| m.name == measured.name);
                overrides.push(Override {
                    when: self.when(line, newer, older, old, new)?,
                    read_at: self.shown(older.first)?,
                    draft,
                    differing_keys: OverrideKeys { commands: false, command: true, reading },
                });
            }
        }
        Ok(overrides)
    }

    fn when(
        &self,
        line: &Line<'_, Revision>,
        newer: Era,
        older: Era,
        old: &Draft,
        new: &Draft,
    ) -> Result<When, GitError> {
        let commits = |from: usize, to: usize| -> Vec<&CommitId> {
            let asked = line.answered().filter(|at| (from..=to).contains(at));
            asked.map(|at| &self.commits[at]).collect()
        };
        let old = At { commit: &self.commits[older.first], draft: old };
        let new = At { commit: &self.commits[newer.last], draft: new };
        let (holds, fails) = (commits(older.first, older.last), commits(0, newer.last));
        separate(&self.objects, old, new, &holds, &fails)
    }

    /// Warnings for options that the user names and that older trees do not have. There the
    /// options have no effect.
    fn undeclared(
        &self,
        line: &Line<'_, Revision>,
        eras: &[Era],
        newest: &Draft,
    ) -> Result<Vec<String>, GitError> {
        let mut told: Vec<String> = newest.undeclared.clone();
        let mut unsure = Vec::new();
        for era in eras {
            let Some(revision) = line.answer(era.first) else { continue };
            for name in &revision.draft.undeclared {
                if !told.contains(name) {
                    told.push(name.clone());
                    let since = self.shown(era.first)?;
                    unsure.push(format!(
                        "{name} has no effect in {since} and before: no such option was found there, under any name"
                    ));
                }
            }
        }
        Ok(unsure)
    }

    fn looked(&self, line: &Line<'_, Revision>, eras: usize) -> Result<Option<String>, GitError> {
        let (Some(last), true) = (line.answered().last(), self.commits.len() > 1) else {
            return Ok(None);
        };
        let since = self.shown(last)?;
        let far = if last + 1 == self.commits.len() {
            String::new()
        } else {
            format!("; commits older than {since} have no such program, or are not in this clone")
        };
        let count = self.commits.len();
        let kinds = match eras {
            1 => "all are built and measured as the newest".to_owned(),
            eras => format!("they are built and measured in {eras} ways"),
        };
        Ok(Some(format!("{count} commits along first parents: {kinds}{far}")))
    }
}

fn is_of_the_build(file: &str) -> bool {
    let systems = [System::Cmake, System::Cargo, System::Make];
    systems.iter().any(|system| system.owns(base(file), ending(file)))
}
