//! Whether the runs of both endpoints loaded an installed copy of the engine in place of the
//! commit's own. Then the commits change only scripts and main programs, and one of them would be
//! named for what it does with the old copy.
//!
//! If the runs load other code of the commit that differs too, or programs that its build made, the
//! engine may be the commit's, and the copy a helper that is meant. Then the hunt goes on, with less
//! confidence in its answer.

use std::path::Path;

use crate::differ::is_document;
use crate::evaluation::{
    Culprit, FileDifference, FileDifferenceKind, Finding, InstalledCopy, Loaded, Outcome,
};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::hunt::open_doubt::lower_confidence;
use crate::oracle::{Observation, guarded_measures};
use crate::store::journal::Event;

use super::targets::unmeasurable;

/// A copy that the runs of a measure at both endpoints loaded, and that hides what differs there.
struct HidingCopy {
    measure: String,
    copy: InstalledCopy,
    /// Whether the runs also load other code of the commit, so that the copy may be meant.
    is_beside: bool,
}

impl Driver<'_> {
    /// The finding that the runs of a guarded measure at both endpoints loaded an installed copy of
    /// a library or a package that differs between the endpoints. If the copy may be meant, writes
    /// a note instead.
    pub(super) fn installed_copies(
        &mut self,
        good: &Observation,
        bad: &Observation,
    ) -> Result<Option<Box<Finding>>, HuntError> {
        let found = self.hiding_copies(good, bad)?;
        if let Some(found) = found.iter().find(|found| !found.is_beside) {
            let what = told(&found.copy, &found.measure);
            let finding = unmeasurable(format!("{what}, which differs between the ends"));
            return Ok(Some(Box::new(Finding { next: vec![cure(&found.copy)], ..*finding })));
        }
        for HidingCopy { measure, copy, .. } in &found {
            let text = format!("{}: unless this is meant, {}", told(copy, measure), cure(copy));
            self.oracle.recorder.event(Event::Note { text })?;
        }
        Ok(None)
    }

    /// Lowers the confidence in the commits of the finding if the runs of both endpoints loaded an
    /// installed copy in place of files that differ between the endpoints.
    pub(crate) fn lower_if_copies_ran(
        &mut self,
        mut finding: Finding,
    ) -> Result<Finding, HuntError> {
        if finding.outcome != Outcome::Culprit {
            return Ok(finding);
        }
        // The commits are found: a fault of the machine must not lose the answer.
        let found = self.hiding_copies_of_ends();
        let found = self.unless_faulty(found)?;
        for culprit in &mut finding.culprits {
            if let Some(found) = found.iter().find(|found| is_of(culprit, &found.measure)) {
                lower_confidence(culprit);
                culprit.doubts.copy_doubt = Some(found.copy.clone());
            }
        }
        Ok(finding)
    }

    fn hiding_copies_of_ends(&mut self) -> Result<Vec<HidingCopy>, HuntError> {
        let measures = guarded_measures(&self.guards());
        let [good, bad] = self.known_runs_of_ends(&measures)?;
        self.hiding_copies(&good, &bad)
    }

    fn hiding_copies(
        &self,
        good: &Observation,
        bad: &Observation,
    ) -> Result<Vec<HidingCopy>, HuntError> {
        let mut changed: Option<Vec<Vec<u8>>> = None;
        let mut found = Vec::new();
        for measure in guarded_measures(&self.guards()) {
            let [at_good, at_bad] = [good, bad].map(|seen| loaded(seen, &measure));
            for [copy, other] in copies_at_both(&at_good, &at_bad) {
                if changed.is_none() {
                    let all = self.oracle.history.diff_files(Some(&good.commit), &bad.commit)?;
                    changed = Some(all.into_iter().map(|change| change.path).collect());
                }
                let changed = changed.as_deref().unwrap_or_default();
                if is_other(copy, other, changed) {
                    let ran_a_build = ran_the_build(&at_good, &at_bad)
                        || ran_built_program(&at_good, &at_bad, changed);
                    let is_beside =
                        copy.is_python() && ran_a_build || ran_own_code(&at_good, &at_bad);
                    let (measure, copy) = (measure.clone(), copy.clone());
                    found.push(HidingCopy { measure, copy, is_beside });
                }
            }
        }
        Ok(found)
    }
}

/// Whether the commit's step is one of this measure; a failure has no effects.
fn is_of(culprit: &Culprit, measure: &str) -> bool {
    let mut effects = culprit.effects.iter();
    culprit.effects.is_empty() || effects.any(|effect| effect.metric.measure == measure)
}

/// What the runs of a measure at an endpoint loaded, failed runs included.
fn loaded<'o>(seen: &'o Observation, measure: &str) -> Vec<&'o Loaded> {
    seen.of(measure).iter().filter_map(|run| run.loaded.as_ref()).collect()
}

/// The copies that runs of both endpoints loaded, with the commit's file at the good and at the bad
/// one, if no run loaded that file, and the copy resembles it at one endpoint at least: the package
/// may be an early or a late version. A run that ends early may load nothing.
fn copies_at_both<'o>(good: &[&'o Loaded], bad: &[&'o Loaded]) -> Vec<[&'o InstalledCopy; 2]> {
    let mut found: Vec<[&InstalledCopy; 2]> = Vec::new();
    for copy in good.iter().flat_map(|run| &run.copies) {
        let mut others = bad.iter().flat_map(|run| &run.copies);
        let Some(other) = others.find(|other| other.path == copy.path) else { continue };
        let mut runs = good.iter().chain(bad);
        let is_loaded =
            runs.any(|run| run.own.contains_key(&copy.own) || run.own.contains_key(&other.own));
        let is_unlike = copy.is_unlike && other.is_unlike;
        let is_new = !found.iter().any(|[known, _]| known.path == copy.path);
        if !is_loaded && !is_unlike && is_new {
            found.push([copy, other]);
        }
    }
    found
}

/// Whether the commit's file, or another file of its package, differs between the endpoints.
/// `changed`: the paths that git shows as different.
fn is_other(good: &InstalledCopy, bad: &InstalledCopy, changed: &[Vec<u8>]) -> bool {
    let is_in = |folder: &str, path: &[u8]| {
        path.starts_with(folder.as_bytes()) && !is_document(&String::from_utf8_lossy(path))
    };
    let is_changed = |folder: &str| changed.iter().any(|path| is_in(folder, path));
    good.own != bad.own || good.sha256 != bad.sha256 || good.package().is_some_and(is_changed)
}

/// Whether a run opened a file of the build.
fn ran_the_build(good: &[&Loaded], bad: &[&Loaded]) -> bool {
    let mut files = good.iter().chain(bad).flat_map(|run| run.own.keys());
    files.any(|path| path.starts_with("build/"))
}

/// Whether runs of both endpoints opened a program that the build made in the checkout, such as that
/// of a makefile, and that differs between them.
fn ran_built_program(good: &[&Loaded], bad: &[&Loaded], changed: &[Vec<u8>]) -> bool {
    any_differs(good, bad, |good, bad, file| {
        let is_executable = |run: &Loaded| {
            run.executable.as_ref().is_some_and(|programs| programs.contains(&file.path))
        };
        file.how == FileDifferenceKind::Content
            && [good, bad].into_iter().all(is_executable)
            && is_built(&file.path, changed)
    })
}

/// Whether a file that differs between the endpoints, given below the slot, is one of the checkout
/// that the build made: git shows no difference in it. In a hunt inside a dependency, git shows the
/// paths below the dependency.
fn is_built(path: &str, changed: &[Vec<u8>]) -> bool {
    let folder = format!("{path}/");
    // The file itself, or a submodule with it.
    let is_shown =
        |shown: &Vec<u8>| folder.contains(&format!("/{}/", String::from_utf8_lossy(shown)));
    path.starts_with("src/") && !changed.iter().any(is_shown)
}

/// Whether runs of both endpoints loaded a shared object of the commit, or imported a package of
/// it, that differs between them. A script or a main program is no such sign: it uses the engine.
fn ran_own_code(good: &[&Loaded], bad: &[&Loaded]) -> bool {
    any_differs(good, bad, |good, bad, file| {
        let path = Path::new(&file.path);
        let is_both = file.how == FileDifferenceKind::Content;
        path.is_relative() && (is_both && is_library(path) || is_in_package(good, bad, path))
    })
}

/// Whether such a file differs between a run of the good and a run of the bad endpoint.
fn any_differs(
    good: &[&Loaded],
    bad: &[&Loaded],
    is_such: impl Fn(&Loaded, &Loaded, &FileDifference) -> bool,
) -> bool {
    let differ =
        |good: &Loaded, bad: &Loaded| bad.unlike(good).iter().any(|file| is_such(good, bad, file));
    good.iter().any(|good| bad.iter().any(|bad| differ(good, bad)))
}

fn is_library(path: &Path) -> bool {
    let name = path.file_name().map(|name| name.to_string_lossy());
    name.is_some_and(|name| name.ends_with(".so") || name.contains(".so."))
}

/// Whether the file is below a Python package that both runs imported from the commit.
fn is_in_package(good: &Loaded, bad: &Loaded, path: &Path) -> bool {
    path.ancestors().skip(1).any(|folder| {
        let init = folder.join("__init__.py");
        let init = init.to_string_lossy();
        [good, bad].iter().all(|run| run.own.contains_key(&*init))
    })
}

fn told(copy: &InstalledCopy, measure: &str) -> String {
    let own = copy.own_in_config();
    format!("the runs of {measure} load {}, and not the commit's {own}", copy.path)
}

fn cure(copy: &InstalledCopy) -> String {
    let folder = copy.folder_in_config();
    if copy.is_python() {
        format!(
            "let the runs load the commit's: env = {{ PYTHONPATH = \"{folder}\" }}, or let the \
             build install the commit into a folder below {{build}}"
        )
    } else {
        format!("let the runs load the commit's: env = {{ LD_LIBRARY_PATH = \"{folder}\" }}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn copy(own: &str, sha256: &str) -> InstalledCopy {
        let path = if own.contains("eng/") { "/p/eng/__init__.py" } else { "/p/libeng.so" };
        let (path, own, sha256) = (path.to_owned(), own.to_owned(), sha256.to_owned());
        InstalledCopy { path, own, sha256, is_unlike: false }
    }

    fn run(own: &[&str], copies: &[InstalledCopy]) -> Loaded {
        let file = |path: &&str| match path.split_once(' ') {
            Some((path, sha)) => (path.to_owned(), sha.to_owned()),
            None => ((*path).to_owned(), "1".to_owned()),
        };
        let own = own.iter().map(file).collect();
        Loaded { own, copies: copies.to_vec(), ..Loaded::default() }
    }

    #[test]
    fn a_copy_counts_if_both_ends_load_it_and_no_run_loads_the_commits() {
        let library = copy("build/lib/libeng.so", "1");
        let copied = run(&["build/ppl"], std::slice::from_ref(&library));
        let none = run(&["build/ppl"], &[]);
        let own = run(&["build/ppl", "build/lib/libeng.so"], &[]);
        let count = |good: &[&Loaded], bad: &[&Loaded]| copies_at_both(good, bad).len();
        assert_eq!(count(&[&copied, &copied], &[&copied]), 1);
        assert_eq!(count(&[&copied], &[&none, &copied]), 1);
        assert_eq!(count(&[&copied], &[&none]), 0);
        assert_eq!(count(&[&none], &[&copied]), 0);
        assert_eq!(count(&[&copied], &[&copied, &own]), 0);
    }

    #[test]
    fn a_copy_that_is_like_the_commits_at_neither_end_is_another_package() {
        let alike = copy("src/eng/__init__.py", "1");
        let unlike = InstalledCopy { is_unlike: true, ..alike.clone() };
        let [alike, unlike] = [alike, unlike].map(|copy| run(&["src/bench.py"], &[copy]));
        assert_eq!(copies_at_both(&[&unlike], &[&unlike]).len(), 0);
        assert_eq!(copies_at_both(&[&alike], &[&unlike]).len(), 1);
        assert_eq!(copies_at_both(&[&unlike], &[&alike]).len(), 1);
    }

    #[test]
    fn a_copy_counts_if_the_commits_file_differs() {
        let change = |path: &str| path.as_bytes().to_vec();
        let [one, same, other] = ["1", "1", "2"].map(|sha| copy("build/lib/libeng.so", sha));
        assert!(is_other(&one, &other, &[]));
        assert!(!is_other(&one, &same, &[change("src/lib.c")]));
        let [package, moved] =
            ["src/src/eng/__init__.py", "src/eng/__init__.py"].map(|own| copy(own, "1"));
        assert!(is_other(&package, &package, &[change("src/eng/v.json")]));
        let others = ["tools/bench.py", "src/engine.py", "src/eng/README.md"].map(change);
        assert!(!is_other(&package, &package, &others));
        assert!(is_other(&package, &moved, &[]));
    }

    #[test]
    fn other_code_of_the_commit_may_be_the_engine() {
        let is_beside = |good: &[&str], bad: &[&str]| {
            let [good, bad] = [good, bad].map(|own| run(own, &[]));
            ran_own_code(&[&good], &[&bad])
        };
        assert!(is_beside(&["build/libeng.so 1"], &["build/libeng.so 2"]));
        assert!(!is_beside(&["build/libeng.so 1"], &["build/libeng.so 1"]));
        // Only one end loads it; a script or a main program uses the engine.
        assert!(!is_beside(&["src/bench.py"], &["src/bench.py", "build/libeng.so"]));
        for script in ["src/tools/bench.py", "build/bin/ppl", "src/eng/_version.py"] {
            let [good, bad] = [1, 2].map(|sha| format!("{script} {sha}"));
            assert!(!is_beside(&[good.as_str()], &[bad.as_str()]));
        }
        let package = "src/eng/__init__.py";
        assert!(is_beside(&[package, "src/eng/v/k 1"], &[package, "src/eng/v/k 2"]));
        assert!(is_beside(&[package], &[package, "src/eng/new.py"]));
        assert!(!is_beside(&[], &[package, "src/eng/new.py"]), "a run that ended early");
    }

    #[test]
    fn a_program_that_the_build_made_in_the_checkout_may_be_the_engine() {
        let changed = ["main.c", "tools/run.sh", "third_party/sub"];
        let changed = changed.map(|path| path.as_bytes().to_vec());
        let is_beside = |good: &str, bad: &str, is_executable: bool| {
            let [good, bad] = [good, bad].map(|own| {
                let mut run = run(&[own], &[]);
                let programs = run.own.keys().filter(|_| is_executable).cloned().collect();
                run.executable = Some(programs);
                run
            });
            ran_built_program(&[&good], &[&bad], &changed)
        };
        assert!(is_beside("src/main 1", "src/main 2", true));
        assert!(is_beside("src/third_party/main 1", "src/third_party/main 2", true));
        assert!(!is_beside("src/main 1", "src/main 1", true), "the engine is another one");
        assert!(!is_beside("src/table.bin 1", "src/table.bin 2", false), "not a program");
        assert!(!is_beside("src/main", "src/other", true), "only one end runs it");
        // Scripts of the commits: of the repository, of a submodule, of a dependency.
        for path in ["src/tools/run.sh", "src/third_party/sub/run.sh", "src/dep/tools/run.sh"] {
            assert!(!is_beside(&format!("{path} 1"), &format!("{path} 2"), true), "{path}");
        }
    }

    #[test]
    fn the_cure_names_the_folder_of_the_commits_file() {
        let of = |own: &str| cure(&copy(own, "1"));
        assert!(of("build/lib/libeng.so").contains("LD_LIBRARY_PATH = \"{build}/lib\""));
        assert!(of("src/src/eng/__init__.py").contains("PYTHONPATH = \"{src}/src\""));
        let text = told(&copy("build/lib/libeng.so", "1"), "ppl");
        assert!(text.starts_with("the runs of ppl load /p/libeng.so, and not the commit's "));
        assert!(text.ends_with(" {build}/lib/libeng.so"));
    }
}
