//! How commits of the past differ from today's in how they are built and measured.
//!
//! The tree is read at some revisions of the first-parent history as it is read today, and
//! between two that differ the change is pinned down. What a commit's own tree shows of the
//! change becomes the condition of an override. Only objects that are here are read: what a
//! partial clone left out tells nothing.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

use crate::evaluation::CommitId;
use crate::git::{GitError, History, Repository};

use super::Notes;
use super::differs::{Says, free, is_comparable, reading, says};
use super::draft::Draft;
use super::eras::{Era, Line};
use super::measures::{self, builds};
use super::objects::Objects;
use super::program::{Off, System};
use super::set::Setting;
use super::submodules::{Needed, needed};
use super::tree::{Tree, base, ending};
use super::when::{At, When, separate};

/// Revisions that are looked at at least, evenly over the history.
const SAMPLES: usize = 64;
/// Overrides that are written at most; a history that changes more often is cut off there.
const MOST: usize = 12;

/// The history behind a checkout.
pub(super) struct Past {
    objects: Rc<Objects>,
    /// Newest first.
    commits: Vec<CommitId>,
    /// The name of what is newer than the checkout, where something is.
    ahead: Option<String>,
    /// The submodules of the checkout's commit.
    submodules: Vec<String>,
}

/// How some commits differ.
#[derive(Clone, Debug)]
pub(super) struct Override {
    pub(super) when: When,
    /// As in `172c82568 (2024-06-12)`: the newest commit that was read so.
    pub(super) read_at: String,
    /// The draft there.
    pub(super) draft: Draft,
    /// What it says of the draft.
    pub(super) says: Says,
}

/// What the past says.
#[derive(Debug, Default)]
pub(super) struct Told {
    /// The newest first, so that the older ones win.
    pub(super) overrides: Vec<Override>,
    /// The same of what is only offered.
    pub(super) offered: Vec<Override>,
    /// Options to be off, of whatever time.
    pub(super) offs: Vec<Off>,
    /// Whether submodules of whatever time are not needed.
    pub(super) no_submodules: Option<String>,
    /// In a sentence, what was looked at.
    pub(super) looked: Option<String>,
    /// What to look at before trusting it.
    pub(super) unsure: Vec<String>,
}

/// What one revision says.
struct Revision {
    draft: Draft,
}

/// What is gathered on the way.
#[derive(Default)]
struct Gathered {
    offs: Vec<Off>,
    idle: BTreeSet<String>,
    absent: BTreeSet<String>,
    is_needed: bool,
    /// Options of two names, as the trees say that were read so far: the newer ones first.
    renames: Vec<(String, String)>,
}

impl Told {
    /// What is needed at some time is said for all times: CMake passes over options that a
    /// tree does not have.
    pub(super) fn lay_over(&mut self, draft: &mut Draft) {
        for off in &draft.offs {
            if !self.offs.iter().any(|known| known.option == off.option) {
                self.offs.push(off.clone());
            }
        }
        draft.offs.clone_from(&self.offs);
        for over in self.overrides.iter_mut().chain(&mut self.offered) {
            over.draft.offs.clone_from(&self.offs);
        }
        draft.no_submodules = self.no_submodules.take();
    }
}

impl Past {
    /// `None` where there is no commit yet.
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

    /// The newest tree, where the checkout is an older one.
    pub(super) fn newest(&self, checkout: &Tree) -> Result<Option<Tree>, GitError> {
        if self.ahead.is_none() {
            return Ok(None);
        }
        let snapshot = self.objects.history().snapshot(&self.commits[0])?;
        Ok(snapshot.map(|snapshot| checkout.at(snapshot, &self.objects)))
    }

    /// That what is written is about something newer than the checkout, in a sentence.
    pub(super) fn newer(&self) -> Result<String, GitError> {
        let name = self.ahead.as_deref().unwrap_or_default();
        let name = crate::ui::printable_line(name);
        Ok(format!("read from {name}, {}, which is ahead of what is checked out", self.shown(0)?))
    }

    /// A commit for people, with its day.
    fn shown(&self, at: usize) -> Result<String, GitError> {
        let info = self.objects.history().info(&self.commits[at])?;
        let day = info.date.get(..10).unwrap_or_default().to_owned();
        Ok(format!("{} ({day})", info.id.short()))
    }

    /// Looks through it. `newest` is what will be written of the newest commit.
    pub(super) fn tell(
        &self,
        checkout: &Tree,
        newest: &Draft,
        settings: &[Setting],
    ) -> Result<Told, GitError> {
        let free = free(newest, settings);
        let settings: Vec<Setting> = settings.iter().map(Setting::of_the_past).collect();
        let gathered = RefCell::new(Gathered::default());
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
        let eras = line.eras(step, |a, b| says(&a.draft, &b.draft, free) == Says::default());
        let overrides = self.overrides(&line, &eras, newest, free)?;
        let offered = self.offered(&mut line, step, newest)?;
        let looked = self.looked(&line, eras.len())?;
        let mut unsure = self.undeclared(&line, &eras, newest)?;
        drop(line);
        if let Some(error) = failed.into_inner() {
            return Err(error);
        }
        let Gathered { offs, idle, absent, is_needed, .. } = gathered.into_inner();
        if !is_needed && !absent.is_empty() {
            let absent: Vec<String> = absent.into_iter().collect();
            unsure.push(format!(
                "{} is left out, as your checkout has no such submodule; if builds need it: git submodule update --init, and `submodules = true`",
                crate::ui::printable_line(absent.join(", "))
            ));
        }
        let idle: Vec<String> = idle.into_iter().collect();
        let no_submodules = (!is_needed && !idle.is_empty()).then(|| idle.join(", "));
        Ok(Told { overrides, offered, offs, no_submodules, looked, unsure })
    }

    /// What a revision is built and measured with; `None` where it has nothing of the kind, or
    /// where that cannot be told from what is here.
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
        free: Says,
    ) -> Result<Vec<Override>, GitError> {
        let draft = |at: usize| line.answer(at).map(|revision| &revision.draft);
        // Each sets whatever any of them does, so that the last one that holds is the one that
        // counts.
        let drafts = eras.iter().filter_map(|era| draft(era.first));
        let all = drafts.map(|draft| says(draft, newest, free)).fold(Says::default(), Says::or);
        let mut overrides = Vec::new();
        for pair in eras.windows(2).take(MOST) {
            let (newer, older) = (pair[0], pair[1]);
            let Some((old, new)) = draft(older.first).zip(draft(newer.last)) else { continue };
            overrides.push(Override {
                when: self.when(line, newer, older, old, new)?,
                read_at: self.shown(older.first)?,
                draft: old.clone(),
                says: all,
            });
        }
        Ok(overrides)
    }

    /// The same for each measure that is only offered.
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
            // Where there is none there is nothing to say.
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
                    says: Says { commands: false, command: true, reading },
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

    /// Options that the user names and that only newer trees have: older ones are built as if
    /// nobody had asked.
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
                        "{name} has no effect in {since} and before: these trees have no such option, by no name that was found"
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
            format!("; what is older than {since} has no such program, or is not here")
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
