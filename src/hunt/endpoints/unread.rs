//! Leaves out commits that cannot matter: those that change nothing that the builds of both ends
//! read. If a run or a build reads a file without a record after all, the confirmation contradicts
//! the search, and the search goes on without this filter.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

use crate::config::{BuildMode, Config, Measure, Placeholder, Prepare, Template, UnreadCommits};
use crate::evaluation::{CommitId, Setup};
use crate::git::{BlobId, Range, TouchedPath, TouchedPaths};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::hunt::path_filter::PathFilter;
use crate::store::journal::{Event, Unread};
use crate::unread::{BuiltTree, Commands, UnreadFiles, keeps_no_records, runs_a_script};

/// Largest text that is looked through, bytes.
const LONGEST: u64 = 16 << 20;

/// Maximum number of paths that git is told to exclude. With more, each of git's steps would be
/// slow.
const MOST_PATHS: usize = 1000;

/// Why no commit is left out, in a sentence.
type WhyNot = String;

impl Driver<'_> {
    /// The paths to leave out, decided once a hunt: a resumed hunt keeps its first decision.
    pub(crate) fn leave_out_unread(&mut self) -> Result<Vec<String>, HuntError> {
        let entries = self.hunt.entries()?;
        let decided = entries.iter().find_map(|entry| match &entry.event {
            Event::Unread(unread) => Some(unread),
            _ => None,
        });
        if let Some(unread) = decided {
            return Ok(unread.paths.clone());
        }
        let Some(unread) = self.find_unread()? else { return Ok(Vec::new()) };
        self.oracle.recorder.event(Event::Unread(unread.clone()))?;
        Ok(unread.paths)
    }

    /// The commits to leave out, or why none is. `None` if no build recorded what it read, if there
    /// is nothing to leave out, or if the configuration asks for all commits.
    fn find_unread(&self) -> Result<Option<Unread>, HuntError> {
        let config = &self.oracle.recipes.config;
        // Inside a dependency the commits are another repository's.
        if config.build.unread == UnreadCommits::Build || self.begun.within.is_some() {
            return Ok(None);
        }
        let why_not = |why: WhyNot| {
            let commits = self.begun.commits;
            Ok(Some(Unread { commits, why_not: Some(why), ..Unread::default() }))
        };
        let ends = self.begun.ends();
        let [old, new] = ends;
        let (Some(before), Some(now)) = (self.recorded(old)?, self.recorded(new)?) else {
            return Ok(None);
        };
        let configs = [self.oracle.recipes.at(old)?, self.oracle.recipes.at(new)?];
        if let Some(why) = configs.iter().find_map(unreliable) {
            return why_not(why);
        }
        for (end, setup) in ends.into_iter().zip([&before, &now]) {
            if let Some(gap) = setup.read.as_ref().and_then(|read| read.gap.as_ref()) {
                return why_not(format!(
                    "the build of {} does not record all files that it reads: {gap}",
                    end.short()
                ));
            }
        }
        let commands = commands(config, &configs);
        let Some(unread) = self.unread_files(ends, [before, now], &commands)? else {
            return why_not("this clone lacks a part of the endpoints' trees".to_owned());
        };
        let range =
            Range { first_parent: self.begun.options.first_parent, ..Range::between(old, new) };
        let touched = self.oracle.history.touched_paths(&range)?;
        let paths = excluded(&touched, &unread);
        if paths.len() > MOST_PATHS {
            return why_not(format!("git would have to compare {} paths", paths.len()));
        }
        if paths.is_empty() && commands.reads_tree {
            return why_not(
                "the runs may read any file of the tree, because they start a script or get {src}"
                    .to_owned(),
            );
        }
        if paths.is_empty() {
            return Ok(None);
        }
        let asked = self.begun.options.paths.clone();
        let filter = PathFilter { asked, unread: paths.clone() };
        let left = self.oracle.history.count(&Range { paths: filter.specs(), ..range })?;
        if left == 0 {
            return why_not(
                "no commit changes anything that the endpoints' builds read, although the \
                 endpoints differ"
                    .to_owned(),
            );
        }
        let commits = self.begun.commits;
        let left_out = commits.saturating_sub(left);
        Ok((left_out > 0).then_some(Unread { left_out, commits, paths, why_not: None }))
    }

    /// The setup of the newest build of this end that worked and recorded what it read.
    fn recorded(&self, end: &CommitId) -> Result<Option<Setup>, HuntError> {
        let recipe = self.oracle.recipes.at(end)?;
        let key = self.oracle.recipes.build_key_of(end, &recipe)?;
        for build in self.oracle.store.builds(&key)?.into_iter().rev() {
            let Some(digest) = build.setup.filter(|_| build.failure.is_none()) else { continue };
            let setup = self.oracle.store.setup(&digest)?;
            if let Some(setup) = setup.filter(|setup| setup.read.is_some()) {
                return Ok(Some(setup));
            }
        }
        Ok(None)
    }

    /// Looks through the trees of both ends; `None` if this clone lacks a part of them.
    fn unread_files(
        &self,
        ends: [&CommitId; 2],
        setups: [Setup; 2],
        commands: &Commands,
    ) -> Result<Option<UnreadFiles>, HuntError> {
        let history = &self.oracle.history;
        let mut files: Vec<BTreeMap<String, BlobId>> = Vec::new();
        for end in ends {
            let Some(snapshot) = history.snapshot(end)? else { return Ok(None) };
            files.push(snapshot.files.into_iter().collect());
        }
        let is_whole = Cell::new(true);
        let text = |files: &BTreeMap<String, BlobId>, path: &str| {
            // The build may have read a file that it made itself among the sources.
            let blob = files.get(path)?;
            let bytes = history.blob(*blob, LONGEST);
            is_whole.set(is_whole.get() && bytes.is_some());
            bytes.map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
        };
        let [old, new] = [0, 1].map(|end: usize| {
            let files = &files[end];
            move |path: &str| text(files, path)
        });
        let [before, now] = setups;
        let tree = |end: usize, setup: Setup, text| BuiltTree {
            files: files[end].keys().cloned().collect(),
            text,
            read: setup.read.unwrap_or_default(),
            caches: setup.caches,
        };
        let unread = UnreadFiles::of([tree(0, before, &old), tree(1, now, &new)], commands);
        Ok(is_whole.get().then_some(unread))
    }
}

/// Why the records of this recipe's builds would not tell what a commit changes.
fn unreliable(config: &Config) -> Option<WhyNot> {
    if config.build.mode == BuildMode::Incremental {
        return Some("incremental builds keep the files of other commits".to_owned());
    }
    if !config.patches.is_empty() || !config.overlays.is_empty() {
        return Some("patches and overlays change what is built".to_owned());
    }
    let words = config.build.commands.iter().flat_map(|command| &command.words);
    let word = words.map(Template::text).find(|word| keeps_no_records(word))?;
    Some(format!("builds with `{word}` do not record all files that they read"))
}

/// The commands of both recipes, and the conditions of all overrides.
fn commands(config: &Config, recipes: &[Config; 2]) -> Commands {
    let mut commands = Commands::default();
    let text = |template: &Template| template.text().to_owned();
    for recipe in recipes {
        let build = recipe.build.commands.iter();
        commands.build.extend(build.map(|command| command.words.iter().map(text).collect()));
        let run = recipe.measures.iter().flat_map(Measure::templates);
        let run: Vec<&Template> =
            run.chain(recipe.prepares.iter().flat_map(Prepare::templates)).collect();
        let words: Vec<String> = run.iter().map(|template| text(template)).collect();
        let uses_tree = run.iter().flat_map(|template| template.placeholders());
        commands.reads_tree |=
            runs_a_script(&words) || uses_tree.into_iter().any(|one| *one == Placeholder::Src);
        commands.run.extend(words);
    }
    for condition in &config.overrides {
        let files = [&condition.missing, &condition.exists].into_iter().flatten();
        commands.conditions.extend(files.cloned());
        commands.conditions.extend(condition.contains.iter().map(|(file, _)| file.clone()));
    }
    commands.conditions.extend(config.worktree.link.iter().cloned());
    commands
}

/// The paths to leave out: those of commits that change only unread files. A folder stands for its
/// files if no commit changes another file there.
fn excluded(touched: &[TouchedPaths], unread: &UnreadFiles) -> Vec<String> {
    let is_unread =
        |one: &TouchedPath| one.is_file && one.path.as_ref().is_some_and(|path| unread.has(path));
    let mut files = BTreeSet::new();
    for commit in touched.iter().filter(|commit| commit.paths.iter().all(is_unread)) {
        files.extend(commit.paths.iter().filter_map(|one| one.path.as_deref()));
    }
    let all = touched.iter().flat_map(|commit| &commit.paths).map(|one| one.path.as_deref());
    let others = all.filter(|path| path.is_none_or(|path| !files.contains(path)));
    let mut mixed = BTreeSet::new();
    for path in others {
        // A path that is not UTF-8 may lie in any folder, so no folder can stand for its files.
        let Some(path) = path else { return files.into_iter().map(str::to_owned).collect() };
        mixed.extend(folders(path));
    }
    let shortest = |path: &str| {
        let folder = folders(path).find(|folder| !mixed.contains(folder));
        folder.unwrap_or(path).to_owned()
    };
    files.iter().map(|path| shortest(path)).collect::<BTreeSet<_>>().into_iter().collect()
}

/// The folders that a path goes through, the outermost first.
fn folders(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/').map(|(at, _)| &path[..at])
}

#[cfg(test)]
mod tests;
