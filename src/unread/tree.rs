//! The trees of two builds, and the files in them that neither build can have read.

use std::collections::{BTreeMap, BTreeSet};

use crate::evaluation::ReadFiles;

use super::cmake::{cmake_names, is_false};
use super::kinds::{is_cmake, is_compiled, is_makefile, is_of_git, is_recipe, is_script, name};
use super::names::{Matcher, Names, is_below};
use super::words::{quoted, words};

/// The commands that build and measure commits, split into words, with their placeholders.
#[derive(Clone, Debug, Default)]
pub(crate) struct Commands {
    /// The commands that build.
    pub build: Vec<Vec<String>>,
    /// The words of commands that run later, and of their environments.
    pub run: Vec<String>,
    /// Whether these later commands may read any file of the tree, except compiled sources.
    pub reads_tree: bool,
    /// Paths that decide which recipe a commit gets.
    pub conditions: Vec<String>,
}

/// A tree that was built.
pub(crate) struct BuiltTree<'t> {
    /// The regular files.
    pub files: BTreeSet<String>,
    /// The text of a file.
    pub text: &'t dyn Fn(&str) -> Option<String>,
    /// What its build read.
    pub read: ReadFiles,
    /// The values of its CMake caches.
    pub caches: BTreeMap<String, BTreeMap<String, String>>,
}

/// Says which files of two trees no build of them can have read.
pub(crate) struct UnreadFiles {
    files: BTreeSet<String>,
    read: [ReadFiles; 2],
    /// Folders with a build script of Cargo, which may read anything there.
    scripted: BTreeSet<String>,
    named: Named<Matcher>,
    reads_tree: bool,
}

/// The names in texts, by which files they make count as read.
#[derive(Debug, Default)]
struct Named<T> {
    /// From CMake calls that may read files. Any file with such a name counts, and files of such a
    /// folder.
    read: T,
    /// From commands, makefiles, manifests and scripts. Files of such a folder count only if no
    /// compiler reads them, because such texts also name the folders of sources.
    said: T,
    /// From CMake calls that pass files on, and from quotes in sources. Only files that no compiler
    /// reads count.
    quoted: T,
}

impl Named<Names> {
    fn matcher(self) -> Named<Matcher> {
        Named {
            read: self.read.matcher(),
            said: self.said.matcher(),
            quoted: self.quoted.matcher(),
        }
    }
}

impl Named<Matcher> {
    fn into_names(self) -> Named<Names> {
        Named {
            read: self.read.into_names(),
            said: self.said.into_names(),
            quoted: self.quoted.into_names(),
        }
    }

    fn has(&self, path: &str) -> bool {
        if is_compiled(path) {
            return self.read.has_with_paths(path) || self.said.has(path);
        }
        self.read.has_with_folders(path)
            || self.said.has_with_folders(path)
            || self.quoted.has(path)
    }
}

impl UnreadFiles {
    /// Looks through the texts of both trees.
    pub(crate) fn of(trees: [BuiltTree<'_>; 2], commands: &Commands) -> Self {
        let mut named = Named::default();
        for tree in &trees {
            Scan { tree, commands, scanned: BTreeSet::new(), named: &mut named }.scan();
        }
        for word in &commands.conditions {
            named.said.add(word);
        }
        let scripts =
            trees.iter().flat_map(|tree| &tree.files).filter(|path| name(path) == "build.rs");
        let folder =
            |path: &String| path.rsplit_once('/').map_or("", |(folder, _)| folder).to_owned();
        let scripted = scripts.map(folder).collect();
        let [old, new] = trees;
        Self {
            files: old.files.into_iter().chain(new.files).collect(),
            read: [old.read, new.read],
            scripted,
            named: named.matcher(),
            reads_tree: commands.reads_tree,
        }
    }

    /// Whether neither build can have read the regular file at this path. A path that neither tree
    /// has counts as read.
    pub(crate) fn has(&self, path: &str) -> bool {
        let is_read = !self.files.contains(path)
            || is_recipe(path)
            || is_of_git(path)
            || self.scripted.iter().any(|folder| is_below(path, folder))
            || self.read.iter().any(|read| read.has(path))
            || self.named.has(path)
            || self.reads_tree && !is_compiled(path);
        !is_read
    }
}

/// Looks through the texts of one tree.
struct Scan<'s, 't> {
    tree: &'s BuiltTree<'t>,
    commands: &'s Commands,
    scanned: BTreeSet<&'s str>,
    named: &'s mut Named<Names>,
}

impl Scan<'_, '_> {
    fn scan(mut self) {
        let tree = self.tree;
        let systems = Systems::of(self.commands);
        let mut texts = BTreeMap::new();
        // CMake lists the texts that it ran.
        let has_list = tree.read.files.iter().any(|path| is_cmake(path));
        for path in tree.files.iter().filter(|path| is_recipe(path)) {
            let is_used = if is_cmake(path) {
                systems.cmake && (!has_list || tree.read.files.contains(path))
            } else if is_makefile(path) {
                systems.make
            } else {
                systems.others || name(path).starts_with("Cargo") || name(path) == "build.rs"
            };
            let Some(text) = is_used.then(|| (tree.text)(path)).flatten() else { continue };
            self.scanned.insert(path);
            if is_cmake(path) {
                texts.insert(path.clone(), text);
            } else if is_makefile(path) {
                self.take(&make_text(&text));
            } else {
                self.take(&manifest_text(&text));
            }
        }
        let is_off = |variable: &str| {
            let mut values =
                tree.caches.values().filter_map(|cache| cache.get(variable)).peekable();
            values.peek().is_some() && values.all(|value| is_false(value))
        };
        let installs = self.commands.build.iter().flatten().any(|word| word.contains("install"));
        let found = cmake_names(&texts, &is_off, installs);
        self.named.read.extend(found.read);
        self.named.quoted.extend(found.named);
        for path in tree.read.files.iter().filter(|path| is_compiled(path)) {
            if let Some(text) = (tree.text)(path) {
                self.named.quoted.add_all(quoted(&text));
            }
        }
        for word in self.commands.build.iter().flatten().chain(&self.commands.run) {
            self.take(word);
        }
        self.follow_scripts();
    }

    /// Takes a text of which every word may name a file that is read.
    fn take(&mut self, text: &str) {
        self.named.said.add_all(words(text));
    }

    /// Takes the texts of scripts that recipes, commands and scripts name.
    fn follow_scripts(&mut self) {
        let tree = self.tree;
        let mut left: Vec<&String> = tree.files.iter().filter(|path| is_script(path)).collect();
        left.retain(|path| !self.scanned.contains(path.as_str()));
        loop {
            let named = std::mem::take(self.named).matcher();
            let is_named = |path: &&String| named.read.has(path) || named.said.has(path);
            let (found, others): (Vec<_>, Vec<_>) = left.into_iter().partition(is_named);
            *self.named = named.into_names();
            if found.is_empty() {
                return;
            }
            for path in found {
                let Some(text) = (tree.text)(path) else { continue };
                self.take(&text);
                // `import shapes` reads `shapes.py`.
                let ending = name(path).rsplit_once('.').map_or("", |(_, ending)| ending);
                let imports = text.lines().filter(|line| is_import(line)).flat_map(words);
                let modules = imports.map(|word| format!("{word}.{ending}"));
                self.named.said.add_all(modules);
            }
            left = others;
        }
    }
}

/// Whether a line of a script imports another script.
fn is_import(line: &str) -> bool {
    let words = ["import ", "from ", "require", "use ", "source ", ". "];
    words.iter().any(|word| line.trim_start().starts_with(word))
}

/// The build systems that the commands may start.
struct Systems {
    cmake: bool,
    make: bool,
    others: bool,
}

impl Systems {
    fn of(commands: &Commands) -> Self {
        let programs: BTreeSet<&str> = commands
            .build
            .iter()
            .filter_map(|words| words.first())
            .map(|word| name(word))
            .collect();
        let only = |known: &[&str]| programs.iter().all(|program| known.contains(program));
        // Ninja and make then run in the folder that CMake filled.
        let is_cmake = programs.contains("cmake") && only(&["cmake", "ctest", "make", "ninja"]);
        let runs_make = !is_cmake && only(&["gmake", "make"]);
        let is_cargo = only(&["cargo"]);
        let is_other = !is_cmake && !runs_make && !is_cargo;
        Self { cmake: !is_cargo, make: runs_make || is_other, others: runs_make || is_other }
    }
}

/// A makefile without its rules for object files: compilers record what these read.
fn make_text(text: &str) -> String {
    let joined = text.replace("\\\n", " ");
    let lines = joined.lines().filter(|line| {
        let target = line.split_once(':').map_or("", |(target, _)| target);
        let is_object =
            |word: &str| [".o", ".obj", ".d", ".lo"].iter().any(|end| word.ends_with(end));
        let is_rule = !line.starts_with('\t') && !target.is_empty();
        let compiles = is_rule && target.split_whitespace().all(is_object);
        !compiles && !line.starts_with('#')
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// A manifest without the names of texts that only people read.
fn manifest_text(text: &str) -> String {
    let is_kept = |line: &&str| !line.starts_with("readme") && !line.starts_with("license-file");
    text.lines().filter(is_kept).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests;
