//! The prior of a search in noise. A commit is likelier to be the first bad one if it changes a
//! source that the builds of the two ends compiled to different code. A wrong prior costs runs,
//! never the answer: the weights are bounded, and the confirmation does not use them.

use std::collections::{BTreeMap, BTreeSet};

use crate::differ::{self, BuiltSources};
use crate::evaluation::{CommitId, Lineage, ReadFiles, Setup};
use crate::git::{Range, TouchedPath};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::search::ChangeReach;

/// What the builds of both ends made of their sources.
struct EndBuilds {
    built: BuiltSources,
    /// What each build read; `None` if a record is missing or not whole.
    read: Option<[ReadFiles; 2]>,
}

/// Whether some of the commits that the search tests change compiled code, and others do not.
fn tells_apart(reaches: &[ChangeReach], tested: &[bool]) -> bool {
    let tested = reaches.iter().zip(tested).filter(|(_, is_tested)| **is_tested);
    let changes: BTreeSet<bool> = tested.map(|(reach, _)| *reach == ChangeReach::Code).collect();
    changes.len() == 2
}

impl Driver<'_> {
    /// The weight of each commit of a range. A commit that a path filter hides has none.
    pub(crate) fn prior(
        &mut self,
        lineage: &[Lineage],
        range: &Range,
    ) -> Result<Vec<f64>, HuntError> {
        let reaches = self.reaches(lineage, range)?;
        let mut tested = vec![true; lineage.len()];
        if !range.paths.is_empty() {
            let touching: BTreeSet<CommitId> =
                self.oracle.history.commits(range)?.into_iter().collect();
            tested = lineage.iter().map(|one| touching.contains(&one.commit)).collect();
        }
        if tells_apart(&reaches, &tested) {
            let code = reaches.iter().filter(|reach| **reach == ChangeReach::Code).count();
            let change = if code == 1 { "changes" } else { "change" };
            let text = format!(
                "{code} of {} commits {change} code that the builds of the two ends compiled \
                 differently; the search starts with the assumption that the first bad commit is \
                 likelier to be one of them",
                lineage.len()
            );
            self.oracle.recorder.note_once(text)?;
        }
        let weighed = reaches.into_iter().zip(tested);
        Ok(weighed.map(|(reach, is_tested)| if is_tested { reach.weight() } else { 0.0 }).collect())
    }

    /// What the change of each commit reaches; all equal if the ends' builds left no records.
    fn reaches(&self, lineage: &[Lineage], range: &Range) -> Result<Vec<ChangeReach>, HuntError> {
        let unknown = vec![ChangeReach::Open; lineage.len()];
        // Inside a dependency the commits are another repository's.
        if self.begun.within.is_some() {
            return Ok(unknown);
        }
        let [old, new] = self.begun.ends();
        let (Some(before), Some(now)) = (self.first_setup(old)?, self.first_setup(new)?) else {
            return Ok(unknown);
        };
        let ends = EndBuilds::of(before, now);
        let whole = Range { paths: Vec::new(), ..range.clone() };
        let touched = self.oracle.history.touched_paths(&whole)?;
        let reach: BTreeMap<&CommitId, ChangeReach> =
            touched.iter().map(|one| (&one.commit, ends.reach(&one.paths))).collect();
        // Merges are not listed: the commits of their branches are.
        let reach_of = |one: &Lineage| reach.get(&one.commit).copied();
        Ok(lineage.iter().map(|one| reach_of(one).unwrap_or(ChangeReach::Idle)).collect())
    }

    /// The setup of this end's first build that worked. Later builds do not count, so that a
    /// resumed hunt has the same prior.
    fn first_setup(&self, end: &CommitId) -> Result<Option<Setup>, HuntError> {
        let recipe = self.oracle.recipes.at(end)?;
        let key = self.oracle.recipes.build_key_of(end, &recipe)?;
        let builds = self.oracle.store.builds(&key)?;
        let mut worked = builds.into_iter().filter(|build| build.failure.is_none());
        match worked.find_map(|build| build.setup) {
            Some(digest) => Ok(self.oracle.store.setup(&digest)?),
            None => Ok(None),
        }
    }
}

impl EndBuilds {
    fn of(before: Setup, now: Setup) -> Self {
        let built = BuiltSources::of(&before, &now);
        let whole = |read: Option<ReadFiles>| read.filter(|read| read.gap.is_none());
        let read = whole(before.read).zip(whole(now.read)).map(<[ReadFiles; 2]>::from);
        Self { built, read }
    }

    /// What a commit with these changed paths reaches: as much as the path that reaches most.
    fn reach(&self, paths: &[TouchedPath]) -> ChangeReach {
        paths.iter().map(|one| self.reach_of(one)).max().unwrap_or(ChangeReach::Idle)
    }

    fn reach_of(&self, touched: &TouchedPath) -> ChangeReach {
        let Some(path) = touched.path.as_ref().filter(|_| touched.is_file) else {
            return ChangeReach::Open;
        };
        let is_compiled = differ::is_source(path) || differ::is_header(path);
        let is_read = self.read.as_ref().is_none_or(|ends| ends.iter().any(|one| one.has(path)));
        if differ::is_document(path) || self.built.is_idle(path) || (is_compiled && !is_read) {
            ChangeReach::Idle
        } else if self.built.differs(path) {
            ChangeReach::Code
        } else {
            ChangeReach::Open
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn setup(objects: &[(&str, &str)], read: &[&str]) -> Setup {
        let owned = |(path, code): &(&str, &str)| (format!("{{build}}/{path}"), (*code).to_owned());
        let files = read.iter().map(|path| (*path).to_owned()).collect();
        Setup {
            objects: objects.iter().map(owned).collect(),
            read: Some(ReadFiles { files, ..ReadFiles::default() }),
            ..Setup::default()
        }
    }

    fn ends() -> EndBuilds {
        let read = ["src/k.c", "src/same.c", "src/shape.h"];
        EndBuilds::of(
            setup(&[("k.o", "1"), ("same.o", "2")], &read),
            setup(&[("k.o", "9"), ("same.o", "2")], &read),
        )
    }

    fn reach(ends: &EndBuilds, paths: &[&str]) -> ChangeReach {
        let touched = paths
            .iter()
            .map(|path| TouchedPath { path: Some((*path).to_owned()), is_file: true })
            .collect::<Vec<_>>();
        ends.reach(&touched)
    }

    #[test]
    fn a_source_with_different_code_is_likelier_than_one_with_the_same_code() {
        let ends = ends();
        assert_eq!(reach(&ends, &["src/k.c"]), ChangeReach::Code);
        assert_eq!(reach(&ends, &["src/same.c"]), ChangeReach::Idle);
        assert_eq!(reach(&ends, &["docs/k.md"]), ChangeReach::Idle);
        assert_eq!(reach(&ends, &["tests/check.c"]), ChangeReach::Idle);
        assert_eq!(reach(&ends, &["src/shape.h"]), ChangeReach::Open);
        assert_eq!(reach(&ends, &["Makefile"]), ChangeReach::Open);
        // A commit counts as much as the file that reaches most.
        assert_eq!(reach(&ends, &["docs/k.md", "src/k.c", "src/shape.h"]), ChangeReach::Code);
        assert_eq!(reach(&ends, &[]), ChangeReach::Idle);
    }

    #[test]
    fn what_is_not_known_stays_open() {
        let ends = EndBuilds::of(Setup::default(), Setup::default());
        assert_eq!(reach(&ends, &["src/k.c"]), ChangeReach::Open);
        let link = [TouchedPath { path: Some("engine".to_owned()), is_file: false }];
        assert_eq!(ends.reach(&link), ChangeReach::Open);
        assert_eq!(ends.reach(&[TouchedPath { path: None, is_file: true }]), ChangeReach::Open);
        // A record that is not whole says nothing about the files that it lacks.
        let mut before = setup(&[], &["a.c"]);
        before.read.as_mut().unwrap().gap = Some("no record of b.o".to_owned());
        let ends = EndBuilds::of(before, setup(&[], &["a.c"]));
        assert_eq!(reach(&ends, &["b.c"]), ChangeReach::Open);
    }

    #[test]
    fn commits_that_the_search_leaves_out_tell_nothing_apart() {
        let reaches = [ChangeReach::Code, ChangeReach::Idle, ChangeReach::Code, ChangeReach::Open];
        assert!(tells_apart(&reaches, &[true; 4]));
        assert!(tells_apart(&reaches, &[true, true, false, false]));
        assert!(!tells_apart(&reaches, &[true, false, true, false]), "all of them change code");
        assert!(!tells_apart(&reaches, &[false, true, false, true]), "none of them does");
    }

    #[test]
    fn no_weight_is_more_than_eight_times_another() {
        let weights =
            [ChangeReach::Idle, ChangeReach::Open, ChangeReach::Code].map(ChangeReach::weight);
        assert!(weights.is_sorted() && weights[2] <= 8.0 * weights[0]);
    }
}
