//! Measures the later commits that name what a found commit adds (an option, a function, a file) or
//! sets (a switch, another value), or that edit its new files, or files that it begins to use. One of
//! them may switch the new code off, and another one may switch it on again. Most of the found
//! commit's own lines stay, so neither the text nor a removal shows this: without the code or its
//! switch, there is nothing to switch on. After a merge, the same holds for the next merges of its
//! files.

use std::collections::{BTreeMap, BTreeSet};

use crate::differ::{
    changed_settings, coined_name, coined_words, file_names, has_file_name, names_among,
};
use crate::evaluation::{CommitId, GuardTarget, LoadedFilesComparison, Target};
use crate::git::ChangedLines;
use crate::hunt::HuntError;
use crate::hunt::distinct::distinct;
use crate::hunt::driver::Driver;
use crate::hunt::open_doubt::lower_confidence;
use crate::hunt::spread::spread;
use crate::oracle::Observation;

use super::account::Ledger;
use super::followed_files::FollowedFiles;
use super::found_step::FoundStep;
use super::lasting::drifts;
use super::shown_later::ShownLater;

/// A name that more later commits change lines with is in common use: it tells nothing.
const MOST_NAMINGS: usize = 3;
/// Maximum number of commits that are measured for this reason.
const MOST_MEASURED: usize = 4;
/// In a longer history after the found commit, or with more names to look up, nothing is asked.
const MOST_COMMITS: usize = 2000;
const MOST_NAMES: usize = 50;
/// A commit that sets more settings changes a table or a whole file: their names tell nothing.
const MOST_SETTINGS: usize = 20;
/// If the runs or builds of the found commit open more files that its parent's do not, they may run
/// or make a whole other program: these files tell nothing.
const MOST_OPENED: usize = 20;

/// What a commit adds or sets that later commits may name.
#[derive(Debug)]
struct AddedNames {
    /// Coined words that its lines and the names of its new files bring in.
    words: BTreeSet<String>,
    /// Names of the settings that it gives another value. The parent's tree may have them too: a
    /// later commit that overrides the value needs the name.
    settings: BTreeSet<String>,
    /// Its new files, and their folders.
    places: BTreeSet<String>,
    /// Names of files that its lines bring in. Other commits may have added these files.
    files: BTreeSet<String>,
    /// Files that came into use: runs or builds of this commit open them, and those of its parent do
    /// not. The parent's tree has them too. This commit may edit them.
    opened: BTreeSet<String>,
    /// The files that it changes.
    own: BTreeSet<String>,
}

impl Driver<'_> {
    /// Measures after the later commits that name what the found commit adds or sets. Returns the
    /// runs of the first place that surely has the older end's verdict. If one cannot be judged,
    /// lowers the confidence in the found commit. If there are too many places, some are left out.
    pub(super) fn undone_where_named(
        &mut self,
        ledger: &mut Ledger,
        step: &FoundStep<'_>,
    ) -> Result<Option<Observation>, HuntError> {
        let (search_range, found) = (step.search_range, &step.culprit.info.commit);
        if search_range.targets.iter().any(|target| self.needs_pairs(target)) {
            return Ok(None);
        }
        let places = self.places_that_name(step)?;
        let measured = self.measured()?;
        let is_open = |one: &&CommitId| !measured.contains(*one);
        let open: Vec<CommitId> = places.iter().filter(is_open).cloned().collect();
        let chosen = spread(&open, MOST_MEASURED);
        if !chosen.is_empty() {
            self.begin_later(found, chosen.len())?;
        }
        let is_looked_at = |one: &CommitId| measured.contains(one) || chosen.contains(one);
        let places: Vec<CommitId> = places.into_iter().filter(is_looked_at).collect();
        let untold = match self.shown_later(search_range, step.culprit, &places)? {
            ShownLater::Undone(seen) => return Ok(Some(seen)),
            ShownLater::Lasts { untold, .. } => untold,
        };
        if untold > 0 {
            let is_found = |commit: &CommitId| commit == found;
            for one in ledger.found().iter_mut().filter(|one| is_found(&one.culprit.info.commit)) {
                lower_confidence(&mut one.culprit);
                one.culprit.doubts.untold_namings = Some(untold);
            }
        }
        Ok(None)
    }

    /// Whether runs of different hours cannot be compared: the machine drifts, or may.
    pub(super) fn needs_pairs(&self, target: &Target) -> bool {
        let is_paired = |target: &GuardTarget| target.noise.is_some_and(|noise| noise.paired);
        target.guard().is_some_and(is_paired) || (self.has_drifted && drifts(target))
    }

    /// The commits to measure, oldest first. Each shows what the naming commits up to it left: these
    /// are the commits that name what the found one adds or sets. So they are the commit before each
    /// naming one except the first, and the last naming one. Commits that change nothing that builds
    /// read are passed over, and so is the end of the search range. A merge stands for all that it
    /// brings in.
    fn places_that_name(&self, step: &FoundStep<'_>) -> Result<Vec<CommitId>, HuntError> {
        let [_, newer] = step.search_range.ends();
        let found = &step.culprit.info.commit;
        let chain = self.chain(found, newer)?;
        let naming = self.naming(step, &chain)?;
        if naming.is_empty() {
            return Ok(Vec::new());
        }
        let mut read: BTreeSet<CommitId> =
            self.read_by_builds(found, &chain)?.into_iter().collect();
        for commit in &chain {
            // A merge may be like its second parent, so no list of paths has it.
            if self.oracle.history.parents(commit)?.len() > 1 {
                read.insert(commit.clone());
            }
        }
        let read: Vec<&CommitId> = chain.iter().filter(|one| read.contains(*one)).collect();
        let positions: Vec<usize> =
            (0..read.len()).filter(|at| naming.contains(read[*at])).collect();
        // Where a later commit names something too, the commit before it shows what the ones
        // before left.
        let before_later = positions.iter().skip(1).filter_map(|at| at.checked_sub(1));
        let mut places: Vec<CommitId> =
            before_later.chain(positions.last().copied()).map(|at| read[at].clone()).collect();
        places.retain(|one| one != newer);
        Ok(distinct(places))
    }

    /// The commits of this line after the found one that change lines with a name that it adds or
    /// sets. If the found commit is a merge, also the later merges that change its files: a commit
    /// beside them may have adapted to the first merge, until the next one brought more.
    fn naming(
        &self,
        step: &FoundStep<'_>,
        chain: &[CommitId],
    ) -> Result<BTreeSet<CommitId>, HuntError> {
        let mut all = BTreeSet::new();
        if !(2..=MOST_COMMITS).contains(&chain.len()) {
            return Ok(all);
        }
        let history = &self.oracle.history;
        let (parent, before) = (&step.culprit.parent, &step.culprit.info.commit);
        let is_merge = |commit: &CommitId| Ok::<_, HuntError>(history.parents(commit)?.len() > 1);
        let follows_merges = !self.begun.options.first_parent && is_merge(before)?;
        let Some(own) = history.changed_lines(parent, before, &[])? else { return Ok(all) };
        let ran = step.culprit.ran.iter().flat_map(LoadedFilesComparison::only_now);
        let by_runs: BTreeSet<String> = ran.map(str::to_owned).collect();
        let added = AddedNames::of(&own).with_opened([by_runs, self.newly_read(parent, before)?]);
        let added = self.really_new(parent, added)?;
        if added.is_empty() && !follows_merges {
            return Ok(all);
        }
        let mut namings: BTreeMap<String, Vec<&CommitId>> = BTreeMap::new();
        let mut opened = FollowedFiles::new(&added.opened, &added.places);
        let mut merges = Vec::new();
        for (commit, changed) in chain.iter().zip(history.changed_lines_along(before, chain)) {
            let changed = changed?.unwrap_or_default();
            let mut named = added.named_by(&changed);
            named.extend(opened.edited_by(&changed));
            for name in named {
                namings.entry(name).or_default().push(commit);
            }
            if follows_merges && added.shares_a_file(&changed) && is_merge(commit)? {
                merges.push(commit.clone());
            }
        }
        if merges.len() <= MOST_NAMINGS {
            all.extend(merges);
        }
        namings.retain(|_, commits| commits.len() <= MOST_NAMINGS);
        if namings.len() > MOST_NAMES {
            return Ok(all);
        }
        for (name, commits) in namings {
            let is_known = commits.iter().all(|commit| all.contains(*commit));
            let is_certain = added.is_certain(&name) || opened.include(&name);
            if !is_known && (is_certain || !history.has_word(parent, sought(&name))?) {
                all.extend(commits.into_iter().cloned());
            }
        }
        Ok(all)
    }

    /// Only the new files and folders that the parent's tree does not have, and only the opened
    /// files that it has.
    fn really_new(&self, parent: &CommitId, added: AddedNames) -> Result<AddedNames, HuntError> {
        let (mut places, mut opened) = (BTreeSet::new(), BTreeSet::new());
        for place in added.places {
            if !self.oracle.history.path_exists(parent, &place)? {
                places.insert(place);
            }
        }
        for path in added.opened {
            if self.oracle.history.path_exists(parent, &path)? {
                opened.insert(path);
            }
        }
        Ok(AddedNames { places, opened, ..added })
    }
}

impl AddedNames {
    /// The names that these changes add or set. A word of a removed line is not new.
    fn of(changed: &[ChangedLines]) -> Self {
        let (mut words, mut files) = (BTreeSet::new(), BTreeSet::new());
        for file in changed {
            words.extend(coined_words(&file.path, &file.added));
            words.extend(coined_name(&file.path).filter(|_| file.is_new).map(str::to_owned));
            files.extend(file_names(&file.path, &file.added));
        }
        for file in changed {
            for old in coined_words(&file.path, &file.removed) {
                words.remove(&old);
            }
            for old in file_names(&file.path, &file.removed) {
                files.remove(&old);
            }
        }
        let mut settings = changed_settings(changed);
        if settings.len() > MOST_SETTINGS {
            settings.clear();
        }
        let new = changed.iter().filter(|file| file.is_new);
        let places = new.flat_map(|file| places_of(&file.path)).collect();
        let own = changed.iter().map(|file| file.path.clone()).collect();
        Self { words, settings, places, files, opened: BTreeSet::new(), own }
    }

    /// Also with the files that only the runs, and only the builds of the adding commit open, and
    /// not those of its parent. Its new files are known already.
    fn with_opened(self, opened: [BTreeSet<String>; 2]) -> Self {
        let mut all = BTreeSet::new();
        for mut files in opened {
            files.retain(|path| !self.places.contains(path));
            let (own, others): (BTreeSet<String>, BTreeSet<String>) =
                files.into_iter().partition(|path| self.own.contains(path));
            for mut part in [own, others] {
                if part.len() <= MOST_OPENED {
                    all.append(&mut part);
                }
            }
        }
        Self { opened: all, ..self }
    }

    fn is_empty(&self) -> bool {
        let all = [&self.words, &self.settings, &self.places, &self.files, &self.opened];
        all.iter().all(|it| it.is_empty())
    }

    /// Whether a name tells even if the parent's tree has it in a text.
    fn is_certain(&self, name: &str) -> bool {
        [&self.places, &self.settings, &self.opened].iter().any(|it| it.contains(name))
    }

    /// Whether these changes of another commit are of a file that the adding commit changed too.
    fn shares_a_file(&self, changed: &[ChangedLines]) -> bool {
        changed.iter().any(|file| self.own.contains(&file.path))
    }

    /// The names that these changes of another commit have in their lines, and the new files and
    /// folders that they change. Settings count only in other files than the adding commit's: where
    /// its own line has another value, the text tells.
    fn named_by(&self, changed: &[ChangedLines]) -> BTreeSet<String> {
        let mut named = BTreeSet::new();
        for file in changed {
            let is_own = self.own.contains(&file.path);
            for side in [&file.removed, &file.added] {
                let words = coined_words(&file.path, side).into_iter();
                named.extend(words.filter(|word| self.words.contains(word)));
                if !is_own {
                    named.extend(names_among(&file.path, side, &self.settings));
                }
            }
            let is_telling = |place: &String| !is_own || *place == file.path;
            let places = places_of(&file.path).filter(is_telling);
            named.extend(places.filter(|place| self.places.contains(place)));
            if !is_own {
                let is_of_file = |name: &&String| has_file_name(&file.path, name);
                named.extend(self.files.iter().filter(is_of_file).cloned());
            }
        }
        named
    }
}

/// The word to look for in the parent's tree: a folder's path without its last `/`, so that names of
/// files below it count. The name of a single folder keeps it: without it, it may be a plain word.
fn sought(name: &str) -> &str {
    name.strip_suffix('/').filter(|path| path.contains('/')).unwrap_or(name)
}

/// The path of a file, and that of its folder if it is not at the top.
fn places_of(path: &str) -> impl Iterator<Item = String> {
    let folder = path.rsplit_once('/').map(|(folder, _)| folder);
    std::iter::once(path).chain(folder).map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(path: &str, is_new: bool, removed: &[&str], added: &[&str]) -> ChangedLines {
        let [removed, added] =
            [removed, added].map(|lines| lines.iter().map(|line| (*line).to_owned()).collect());
        ChangedLines { path: path.to_owned(), is_new, is_gone: false, removed, added }
    }

    fn set(names: &[&str]) -> BTreeSet<String> {
        names.iter().map(|name| (*name).to_owned()).collect()
    }

    #[test]
    fn a_commit_adds_the_words_that_it_does_not_only_move() {
        let added = AddedNames::of(&[
            file("kernels/fp16.cmake", true, &[], &["set(ENG_FP16 ON)", "set(ENG_ARCH 90)"]),
            file("CMakeLists.txt", false, &["set(ENG_ARCH 90)"], &["include(kernels)"]),
        ]);
        assert_eq!(added.words, set(&["ENG_FP16", "fp16"]));
        assert_eq!(added.places, set(&["kernels", "kernels/fp16.cmake"]));
    }

    #[test]
    fn a_later_commit_names_what_it_changes() {
        let added = AddedNames::of(&[file("kernels/fp16.cmake", true, &[], &["set(ENG_FP16 ON)"])]);
        let named = |one: ChangedLines| added.named_by(&[one]);
        let off = ["set(ENG_FP16 OFF)"];
        assert_eq!(named(file("cmake/arch.cmake", true, &[], &off)), set(&["ENG_FP16"]));
        assert_eq!(named(file("cmake/arch.cmake", false, &off, &[])), set(&["ENG_FP16"]));
        assert_eq!(named(file("kernels/base.cu", false, &["a"], &["b"])), set(&["kernels"]));
        let of_own = file("kernels/fp16.cmake", false, &off, &[]);
        assert!(added.shares_a_file(std::slice::from_ref(&of_own)));
        assert_eq!(named(of_own), set(&["ENG_FP16", "kernels/fp16.cmake"]));
        let of_own = file("kernels/fp16.cmake", false, &[], &["# tuned"]);
        assert_eq!(named(of_own), set(&["kernels/fp16.cmake"]));
        assert_eq!(named(file("cmake/arch.cmake", false, &[], &["set(ENG_ARCH 90)"])), set(&[]));
    }

    #[test]
    fn a_later_commit_edits_a_file_that_comes_into_use() {
        let line = |name: &str| format!("kernel = \"{name}\"");
        let [old, new] = [line("k1.cl"), line("k2.cl")];
        let added = AddedNames::of(&[file("engine.py", false, &[&old], &[&new])]);
        assert_eq!(added.files, set(&["k2.cl"]));
        let named = |one: ChangedLines| added.named_by(&[one]);
        assert_eq!(named(file("kernels/k2.cl", false, &["a"], &["b"])), set(&["k2.cl"]));
        assert_eq!(named(file("kernels/k1.cl", false, &["a"], &["b"])), set(&[]));
    }

    #[test]
    fn a_later_commit_edits_a_file_that_only_the_new_runs_or_builds_open() {
        let opened = |by_runs: &[&str], by_builds: &[&str]| {
            let added = AddedNames::of(&[file("which", false, &["slow"], &["fast"])]);
            added.with_opened([set(by_runs), set(by_builds)])
        };
        let added = opened(&["kernels/fast.cl", "which"], &["src/fast.c"]);
        // Also a file that the adding commit edits.
        assert_eq!(added.opened, set(&["kernels/fast.cl", "src/fast.c", "which"]));
        assert!(added.is_certain("kernels/fast.cl") && !added.is_empty());
        let edited = |path: &str| {
            let changed = file(path, false, &["a"], &["b"]);
            FollowedFiles::new(&added.opened, &added.places).edited_by(&[changed])
        };
        let fast = "kernels/fast.cl";
        assert_eq!(edited(fast), set(&[fast]));
        assert_eq!(edited("old/kernels/fast.cl"), set(&[]));
        let many: Vec<String> = (0..=MOST_OPENED).map(|number| number.to_string()).collect();
        let many: Vec<&str> = many.iter().map(String::as_str).collect();
        assert_eq!(opened(&many[1..], &many).opened.len(), MOST_OPENED);
        assert_eq!(opened(&many, &["src/fast.c"]).opened, set(&["src/fast.c"]));
        assert!(opened(&many, &many).is_empty());
    }

    #[test]
    fn the_name_of_a_folder_is_looked_for_without_its_last_mark() {
        let names = ["kernels/v2/", "v2/", "kernels/k2.cl", "ENG_FP16"];
        assert_eq!(names.map(sought), ["kernels/v2", "v2/", "kernels/k2.cl", "ENG_FP16"]);
    }

    #[test]
    fn a_later_commit_names_the_settings_that_a_commit_changes() {
        let flip = file("conf/default.conf", false, &["fused=false"], &["fused=true"]);
        let added = AddedNames::of(&[flip]);
        assert_eq!((&added.words, &added.settings), (&set(&[]), &set(&["fused"])));
        let named = |one: ChangedLines| added.named_by(&[one]);
        assert_eq!(named(file("conf/sm90.conf", true, &[], &["fused=false"])), set(&["fused"]));
        assert_eq!(named(file("conf/sm90.conf", false, &["fused=false"], &[])), set(&["fused"]));
        assert_eq!(named(file("conf/default.conf", false, &["fused=true"], &[])), set(&[]));
        assert_eq!(named(file("conf/sm90.conf", true, &[], &["kv=f16"])), set(&[]));
        let lines: Vec<String> = (0..21).map(|number| format!("part_{number}=on")).collect();
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        assert!(AddedNames::of(&[file("a.conf", false, &[], &lines)]).settings.is_empty());
    }
}
