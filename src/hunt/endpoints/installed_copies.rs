//! Whether the runs of both endpoints loaded an installed copy of the engine in place of the
//! commit's own. Then the commits change only scripts and main programs, and one of them would be
//! named for what it does with the old copy.

use crate::evaluation::{Finding, InstalledCopy, Loaded};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::oracle::{Observation, guarded_measures};
use crate::store::journal::Event;

use super::targets::unmeasurable;

impl Driver<'_> {
    /// The finding that the runs of a guarded measure at both endpoints loaded an installed copy of
    /// a library or a package that differs between the endpoints. If the runs of a copied package
    /// also ran something of the build, the copy may be there on purpose: writes a note instead.
    pub(super) fn installed_copies(
        &mut self,
        good: &Observation,
        bad: &Observation,
    ) -> Result<Option<Box<Finding>>, HuntError> {
        let mut changed: Option<Vec<Vec<u8>>> = None;
        for measure in guarded_measures(&self.guards()) {
            let [at_good, at_bad] = [good, bad].map(|seen| loaded(seen, &measure));
            for [copy, other] in copies_at_both(&at_good, &at_bad) {
                if changed.is_none() {
                    let all = self.oracle.history.diff_files(Some(&good.commit), &bad.commit)?;
                    changed = Some(all.into_iter().map(|change| change.path).collect());
                }
                if !is_other(copy, other, changed.as_deref().unwrap_or_default()) {
                    continue;
                }
                let what = told(copy, &measure);
                if copy.package().is_some() && ran_the_build(&at_good, &at_bad) {
                    let text = format!("{what}: unless this is meant, {}", cure(copy));
                    self.oracle.recorder.event(Event::Note { text })?;
                    continue;
                }
                let finding = unmeasurable(format!("{what}, which differs between the ends"));
                return Ok(Some(Box::new(Finding { next: vec![cure(copy)], ..*finding })));
            }
        }
        Ok(None)
    }
}

/// What the runs of a measure at an endpoint loaded, failed runs included.
fn loaded<'o>(seen: &'o Observation, measure: &str) -> Vec<&'o Loaded> {
    seen.of(measure).iter().filter_map(|run| run.loaded.as_ref()).collect()
}

/// The copies that runs of both endpoints loaded, with the commit's file at the good and at the bad
/// one, if no run loaded that file. A run that ends early may load nothing.
fn copies_at_both<'o>(good: &[&'o Loaded], bad: &[&'o Loaded]) -> Vec<[&'o InstalledCopy; 2]> {
    let mut found: Vec<[&InstalledCopy; 2]> = Vec::new();
    for copy in good.iter().flat_map(|run| &run.copies) {
        let mut others = bad.iter().flat_map(|run| &run.copies);
        let Some(other) = others.find(|other| other.path == copy.path) else { continue };
        let mut runs = good.iter().chain(bad);
        let is_loaded =
            runs.any(|run| run.own.contains_key(&copy.own) || run.own.contains_key(&other.own));
        if !is_loaded && !found.iter().any(|[known, _]| known.path == copy.path) {
            found.push([copy, other]);
        }
    }
    found
}

/// Whether the commit's file, or another file of its package, differs between the endpoints.
/// `changed`: the paths that git shows as different.
fn is_other(good: &InstalledCopy, bad: &InstalledCopy, changed: &[Vec<u8>]) -> bool {
    let is_changed = |folder: &str| changed.iter().any(|path| path.starts_with(folder.as_bytes()));
    good.own != bad.own || good.sha256 != bad.sha256 || good.package().is_some_and(is_changed)
}

/// Whether a run opened a file of the build.
fn ran_the_build(good: &[&Loaded], bad: &[&Loaded]) -> bool {
    let mut files = good.iter().chain(bad).flat_map(|run| run.own.keys());
    files.any(|path| path.starts_with("build/"))
}

fn told(copy: &InstalledCopy, measure: &str) -> String {
    let InstalledCopy { path, own, .. } = copy;
    format!("the runs of {measure} load {path}, and not the commit's {}", placed(own))
}

fn cure(copy: &InstalledCopy) -> String {
    let own = placed(&copy.own);
    let above = |path: &str| path.rsplit_once('/').map_or(String::new(), |(above, _)| above.into());
    let folder = above(&own);
    if copy.package().is_none() {
        return format!(
            "let the runs load the commit's: env = {{ LD_LIBRARY_PATH = \"{folder}\" }}"
        );
    }
    let top = above(&folder);
    format!(
        "let the runs load the commit's: env = {{ PYTHONPATH = \"{top}\" }}, or let the build \
         install the commit into a folder below {{build}}"
    )
}

/// A path below the slot as it is written in the configuration: `{build}/lib/libeng.so`.
fn placed(own: &str) -> String {
    own.split_once('/').map_or_else(|| own.to_owned(), |(top, rest)| format!("{{{top}}}/{rest}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn copy(own: &str, sha256: &str) -> InstalledCopy {
        let path = if own.contains("eng/") { "/p/eng/__init__.py" } else { "/p/libeng.so" };
        InstalledCopy { path: path.to_owned(), own: own.to_owned(), sha256: sha256.to_owned() }
    }

    fn run(own: &[&str], copies: &[InstalledCopy]) -> Loaded {
        Loaded {
            own: own.iter().map(|path| ((*path).to_owned(), "1".to_owned())).collect(),
            copies: copies.to_vec(),
            ..Loaded::default()
        }
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
    fn a_copy_counts_if_the_commits_file_differs() {
        let change = |path: &str| path.as_bytes().to_vec();
        let [one, same, other] = ["1", "1", "2"].map(|sha| copy("build/lib/libeng.so", sha));
        assert!(is_other(&one, &other, &[]));
        assert!(!is_other(&one, &same, &[change("src/lib.c")]));
        let [package, moved] =
            ["src/src/eng/__init__.py", "src/eng/__init__.py"].map(|own| copy(own, "1"));
        assert!(is_other(&package, &package, &[change("src/eng/v.json")]));
        let others = ["tools/bench.py", "src/engine.py"].map(change);
        assert!(!is_other(&package, &package, &others));
        assert!(is_other(&package, &moved, &[]));
    }

    #[test]
    fn the_cure_names_the_folder_of_the_commits_file() {
        let of = |own: &str| cure(&copy(own, "1"));
        assert!(of("build/lib/libeng.so").contains("LD_LIBRARY_PATH = \"{build}/lib\""));
        assert!(of("build/libeng.so").contains("LD_LIBRARY_PATH = \"{build}\""));
        assert!(of("src/src/eng/__init__.py").contains("PYTHONPATH = \"{src}/src\""));
        assert!(of("src/eng/__init__.py").contains("PYTHONPATH = \"{src}\""));
        let text = told(&copy("build/lib/libeng.so", "1"), "ppl");
        assert!(text.starts_with("the runs of ppl load /p/libeng.so, and not the commit's "));
        assert!(text.ends_with(" {build}/lib/libeng.so"));
    }
}
