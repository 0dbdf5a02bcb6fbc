//! Which source files two builds compiled or read, and which of their object files differ.

use std::collections::{BTreeMap, BTreeSet};

use crate::evaluation::Setup;

use super::flags::{file_name, is_source};

/// The source files of two builds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct BuiltSources {
    /// Files that either build compiled; empty if the list of one build is not known.
    compiled: Vec<String>,
    /// By the file name of objects, without its ending: whether all of them are the same in both
    /// builds.
    is_same: BTreeMap<String, bool>,
}

impl BuiltSources {
    /// Compares the compiled files and the objects of two builds.
    pub(crate) fn of(before: &Setup, now: &Setup) -> Self {
        let mut built = Self::default();
        if !before.files.is_empty() && !now.files.is_empty() {
            built.compiled.extend(before.files.by.keys().chain(now.files.by.keys()).cloned());
        }
        for path in before.objects.keys().chain(now.objects.keys()) {
            let Some((name, _)) = file_name(path).rsplit_once('.') else { continue };
            let is_same = before.objects.get(path) == now.objects.get(path);
            *built.is_same.entry(name.to_owned()).or_insert(true) &= is_same;
        }
        built
    }

    /// Whether the source file makes no difference by itself: it is not compiled, or its object is
    /// the same in both builds. False for a header, because objects do not say what they include.
    pub(crate) fn is_idle(&self, path: &str) -> bool {
        is_source(path) && (self.is_left_out(path) || self.same_object(path) == Some(true))
    }

    /// Whether the builds made different objects of the source file, or only one made an object.
    pub(crate) fn differs(&self, path: &str) -> bool {
        is_source(path) && self.same_object(path) == Some(false)
    }

    fn is_left_out(&self, path: &str) -> bool {
        let is_it = |file: &String| {
            let (long, short) =
                if file.len() > path.len() { (file.as_str(), path) } else { (path, file.as_str()) };
            long.strip_suffix(short).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
        };
        !self.compiled.is_empty() && !self.compiled.iter().any(is_it)
    }

    /// Whether the objects of the source file are the same in both builds; `None` if no object has
    /// its name. CMake calls the object of `pack.c` `pack.c.o`, most makefiles call it `pack.o`.
    fn same_object(&self, path: &str) -> Option<bool> {
        let name = file_name(path);
        let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
        let known = [name, stem].map(|name| self.is_same.get(name));
        known.into_iter().flatten().copied().reduce(|all, is_same| all && is_same)
    }
}

/// The files of the source tree that only the newer build compiled or read, by path from the top of
/// the tree, as far as both builds have records of the same kind. Compilers may print paths from
/// another folder, so the tree may lack some of these files.
pub(crate) fn newly_read(before: &Setup, now: &Setup) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    if !before.files.is_empty() {
        let compiled = now.files.by.keys().filter(|name| !before.files.by.contains_key(*name));
        let paths = compiled.map(|name| name.strip_prefix("{src}/").unwrap_or(name));
        found.extend(paths.filter(|path| is_below(path)).map(str::to_owned));
    }
    if let (Some(before), Some(now)) = (&before.read, &now.read) {
        found.extend(now.files.difference(&before.files).cloned());
    }
    found
}

/// Whether a path may be one from the top of the source tree.
fn is_below(path: &str) -> bool {
    let is_elsewhere = path.is_empty() || path.starts_with(['/', '{']);
    !is_elsewhere && path.split('/').all(|part| part != "..")
}

#[cfg(test)]
mod tests {
    use crate::evaluation::ReadFiles;

    use super::*;

    fn setup(compiled: &[&str], objects: &[(&str, &str)]) -> Setup {
        let mut setup = Setup::default();
        for file in compiled {
            setup.files.add(file, vec!["cc".to_owned()]);
        }
        let objects = objects.iter().map(|(path, code)| ((*path).to_owned(), (*code).to_owned()));
        setup.objects = objects.collect();
        setup
    }

    #[test]
    fn what_only_the_newer_build_compiles_or_reads_is_told() {
        let reading = |setup: Setup, files: &[&str]| {
            let files = files.iter().map(|file| (*file).to_owned()).collect();
            Setup { read: Some(ReadFiles { files, ..ReadFiles::default() }), ..setup }
        };
        let before = setup(&["{src}/src/gemm.c"], &[]);
        let now = ["{src}/src/gemm_fast.c", "src/k.c", "{build}/v.c", "../a.c", "/usr/src/b.c"];
        let now = setup(&now, &[]);
        let told = |before: &Setup, now: &Setup| -> Vec<String> {
            newly_read(before, now).into_iter().collect()
        };
        assert_eq!(told(&before, &now), ["src/gemm_fast.c", "src/k.c"]);
        assert_eq!(told(&before, &before), [""; 0]);
        assert_eq!(told(&setup(&[], &[]), &now), [""; 0]);
        let before = reading(setup(&[], &[]), &["src/a.c", "inc/a.h"]);
        let now = reading(now, &["src/a.c", "inc/fast.h"]);
        assert_eq!(told(&before, &now), ["inc/fast.h"]);
    }

    #[test]
    fn a_file_that_is_not_compiled_is_idle() {
        let one = setup(&["{src}/src/rope.c"], &[]);
        let built = BuiltSources::of(&one, &one);
        assert!(built.is_idle("src/model.c") && !built.is_idle("src/rope.c"));
        assert!(!built.is_idle("src/model.h"));
        let short = setup(&["rope.c"], &[]);
        assert!(!BuiltSources::of(&short, &short).is_idle("src/rope.c"));
        assert!(!BuiltSources::of(&setup(&[], &[]), &one).is_idle("src/model.c"));
    }

    #[test]
    fn a_file_whose_objects_are_the_same_is_idle() {
        let before = [("{build}/a/pack.c.o", "1"), ("{build}/a/arm.c.o", "2"), ("{src}/k.o", "3")];
        let now = [("{build}/a/pack.c.o", "9"), ("{build}/a/arm.c.o", "2"), ("{src}/k.o", "3")];
        let built = BuiltSources::of(&setup(&[], &before), &setup(&[], &now));
        assert!(!built.is_idle("src/pack.c") && built.is_idle("src/arm.c"));
        assert!(built.differs("src/pack.c") && !built.differs("src/arm.c"));
        assert!(!built.differs("src/other.c") && !built.differs("src/pack.h"));
        assert!(built.is_idle("src/k.cu") && !built.is_idle("src/other.c"));
        // Compiled twice, once with a difference; or in one build only.
        let twice = [("{build}/b/arm.c.o", "5")];
        let other = [before.as_slice(), &twice].concat();
        assert!(!BuiltSources::of(&setup(&[], &before), &setup(&[], &other)).is_idle("src/arm.c"));
        let both = [("{build}/arm.c.o", "1"), ("{src}/arm.o", "2")];
        let differ = [("{build}/arm.c.o", "1"), ("{src}/arm.o", "3")];
        assert!(!BuiltSources::of(&setup(&[], &both), &setup(&[], &differ)).is_idle("arm.c"));
    }
}
