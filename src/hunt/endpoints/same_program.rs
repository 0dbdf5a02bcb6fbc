//! Before the answer "no regression": whether the endpoints ran the same program. A script may run
//! an installed program by its bare name, and a build may take headers or libraries from elsewhere.
//! Then no commit can change what is measured, and equal values say nothing about the commits.

use crate::build::{Stamp, differ_only_in_times};
use crate::differ::{is_code, is_header, is_source};
use crate::evaluation::{CommitId, Finding, Guard, Loaded};
use crate::git::FileChange;
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::oracle::{Observation, OracleError, guarded_measures};

use super::nothing_ran::in_path;
use super::targets::unmeasurable;

const CURE: &str = "if the build takes headers or libraries from elsewhere (CPATH, an installed \
                    copy), let it look below {src} first; if the measure does not run what the \
                    commits change, measure something that does";

impl Driver<'_> {
    /// The finding that all runs of a guarded measure at both endpoints ran an installed program in
    /// place of the one that was built, or opened the same files of the commit, but for the times
    /// of builds, although code differs between the endpoints.
    pub(super) fn same_program(
        &mut self,
        good: &Observation,
        bad: &Observation,
    ) -> Result<Option<Box<Finding>>, HuntError> {
        // A guard that is broken at the good end already says enough.
        let is_kept = |guard: &Guard| {
            let level = good.level(&guard.metric);
            level.is_none_or(|level| !guard.is_broken(&level, &level))
        };
        let guards: Vec<Guard> = self.guards().into_iter().filter(is_kept).collect();
        for measure in guarded_measures(&guards) {
            let Some(all) = loaded(good, bad, &measure) else { continue };
            if let Some(installed) = InstalledProgram::of(&all) {
                return Ok(Some(installed.refusal(&measure)));
            }
            if let Some(server) = older_server(&all) {
                return Ok(Some(talked(&measure, server)));
            }
            // The outputs of `[[prepare]]` are not listed, and depend on the build.
            if !self.oracle.recipes.config.prepares.is_empty() {
                continue;
            }
            let Some(unlike) = unlike_files(&all) else { continue };
            let how = if all.iter().all(|one| one.own == all[0].own) {
                "byte for byte"
            } else if unlike.is_empty() {
                "but for the paths of the builds"
            } else if self.are_same_but_for_times([good, bad], &measure, &unlike)? {
                "but for the times of the builds"
            } else {
                continue;
            };
            let Some(source) = self.changed_code(&good.commit, &bad.commit)? else { continue };
            let opened = &all[0].own;
            let program = opened.keys().find(|path| path.starts_with("build/"));
            let program = program.or_else(|| opened.keys().next()).map_or("", String::as_str);
            let finding = unmeasurable(format!(
                "both ends ran the same program: {program} and whatever else the runs of {measure} \
                 opened of the commit are the same at both ends, {how}, although {source} differs"
            ));
            return Ok(Some(Box::new(Finding { next: vec![CURE.to_owned()], ..*finding })));
        }
        Ok(None)
    }

    /// Whether these files of the builds that ran at both endpoints differ only in times. False if
    /// one of the builds is gone.
    fn are_same_but_for_times(
        &mut self,
        ends: [&Observation; 2],
        measure: &str,
        paths: &[&str],
    ) -> Result<bool, HuntError> {
        let mut builds = Vec::new();
        for seen in ends {
            let ran = |stamp: &Stamp| {
                let runs = seen.of(measure);
                stamp.commit == seen.commit && runs.iter().all(|run| run.built == stamp.finished)
            };
            builds.extend(self.oracle.pool.find(ran).map_err(OracleError::from)?);
        }
        let [good, bad] = builds.as_slice() else { return Ok(false) };
        let is_same =
            |path: &&str| differ_only_in_times(&good.folder().join(path), &bad.folder().join(path));
        Ok(paths.iter().all(is_same))
    }

    /// A file of code that differs between two commits.
    fn changed_code(&self, one: &CommitId, other: &CommitId) -> Result<Option<String>, HuntError> {
        let changes = self.oracle.history.diff_files(Some(one), other)?;
        let mut paths = changes.iter().map(FileChange::shown_path);
        Ok(paths.find(|path| is_code(path) || is_header(path) || is_source(path)))
    }
}

/// What each run of a measure at both endpoints loaded; `None` if that is not known of all of them,
/// or if one opened nothing of the commit.
fn loaded<'o>(
    good: &'o Observation,
    bad: &'o Observation,
    measure: &str,
) -> Option<Vec<&'o Loaded>> {
    let ends = [good.of(measure), bad.of(measure)];
    if ends.iter().any(|runs| runs.is_empty()) {
        return None;
    }
    let known = |loaded: &&Loaded| loaded.is_watched && !loaded.own.is_empty();
    let runs = ends.into_iter().flatten();
    runs.map(|run| run.loaded.as_ref().filter(known)).collect()
}

/// A program that ran, or may have run, in place of the one that was built.
#[derive(Debug, PartialEq, Eq)]
struct InstalledProgram<'o> {
    /// The program that was built and not opened, as a path below the slot.
    built: &'o str,
    installed: String,
    /// Whether it was seen in memory. A short run may end before that.
    is_seen: bool,
}

impl<'o> InstalledProgram<'o> {
    /// `None` unless all runs are alike in this.
    fn of(all: &[&'o Loaded]) -> Option<Self> {
        let built = all.first()?.shadowed.as_deref()?;
        if all.iter().any(|loaded| loaded.shadowed.as_deref() != Some(built)) {
            return None;
        }
        let mut mapped = all.iter().flat_map(|loaded| loaded.elsewhere.keys());
        let name = file_name(built);
        if let Some(path) = mapped.find(|path| file_name(path) == name) {
            return Some(Self { built, installed: path.clone(), is_seen: true });
        }
        let installed = in_path(name)?.to_string_lossy().into_owned();
        Some(Self { built, installed, is_seen: false })
    }

    fn refusal(&self, measure: &str) -> Box<Finding> {
        let Self { built, installed, is_seen } = self;
        let name = file_name(built);
        let ran = if *is_seen { "both ends ran" } else { "both ends may have run" };
        let finding = unmeasurable(format!(
            "{ran} the same program: {installed}, and not {built}: the runs of {measure} opened \
             nothing of {{build}}"
        ));
        let rest = built.strip_prefix("build").unwrap_or(built);
        let cure = format!("let the scripts of {measure} name {{build}}{rest}, not {name}");
        Box::new(Finding { next: vec![cure], ..*finding })
    }
}

/// The files of the build that differ between runs. `None` if the runs did not open the same paths,
/// or if a file of the source differs.
fn unlike_files<'o>(all: &[&'o Loaded]) -> Option<Vec<&'o str>> {
    let (&first, rest) = all.split_first()?;
    let has_same_paths =
        |one: &&Loaded| one.own.keys().eq(first.own.keys()) && one.executable == first.executable;
    if !rest.iter().all(has_same_paths) {
        return None;
    }
    let differs = |path: &&String| rest.iter().any(|one| !one.has_same(first, path));
    let unlike: Vec<&str> = first.own.keys().filter(differs).map(String::as_str).collect();
    unlike.iter().all(|path| path.starts_with("build/")).then_some(unlike)
}

/// The program from before the runs to which each of them may have talked.
fn older_server<'o>(all: &[&'o Loaded]) -> Option<&'o str> {
    let servers: Option<Vec<&str>> = all.iter().map(|one| one.answered_by.as_deref()).collect();
    servers?.first().copied()
}

fn talked(measure: &str, server: &str) -> Box<Finding> {
    let finding = unmeasurable(format!(
        "the runs of {measure} may have measured a program that was there before them: {server}. \
         It has the name of one of the commit's files, and something connected to it during each run"
    ));
    let cure = "stop that program, or let the measure use a port that is free";
    Box::new(Finding { next: vec![cure.to_owned()], ..*finding })
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::oracle::Sample;
    use crate::oracle::fixture::{ppl, seen};

    fn run(own: &[(&str, &str)], shadowed: Option<&str>) -> Loaded {
        let own = own.iter().map(|(path, sha)| ((*path).to_owned(), (*sha).to_owned())).collect();
        let elsewhere =
            ["/usr/bin/dash", "/opt/bin/engine"].map(|path| (path.to_owned(), "1".into()));
        Loaded {
            own,
            elsewhere: BTreeMap::from(elsewhere),
            is_watched: true,
            shadowed: shadowed.map(str::to_owned),
            ..Loaded::default()
        }
    }

    fn at(digit: char, loaded: Option<Loaded>) -> Observation {
        seen(digit, "ppl", [Sample { loaded, ..ppl(7.0) }])
    }

    #[test]
    fn an_installed_program_is_told_if_all_runs_had_it() {
        let script = [("src/run.sh", "1")];
        let other = [("src/run.sh", "2")];
        let installed = run(&script, Some("build/bin/engine"));
        let later = run(&other, Some("build/bin/engine"));
        let told = InstalledProgram::of(&[&installed, &later]).unwrap();
        assert_eq!((told.installed.as_str(), told.is_seen), ("/opt/bin/engine", true));
        let finding = told.refusal("ppl");
        assert!(finding.summary.starts_with("both ends ran the same program: /opt/bin/engine, "));
        assert!(finding.next[0].ends_with("name {build}/bin/engine, not engine"));
        assert_eq!(InstalledProgram::of(&[&installed, &run(&script, None)]), None);
        assert_eq!(InstalledProgram::of(&[&run(&script, None)]), None);
    }

    #[test]
    fn a_program_from_before_is_told_if_it_answered_in_all_runs() {
        let one = Loaded { answered_by: Some("`s` (pid 7) on port 8080".into()), ..run(&[], None) };
        assert_eq!(older_server(&[&one, &one]), Some("`s` (pid 7) on port 8080"));
        assert_eq!(older_server(&[&one, &run(&[], None)]), None);
        let finding = talked("ppl", older_server(&[&one]).unwrap());
        assert!(finding.summary.contains("`s` (pid 7) on port 8080"), "{}", finding.summary);
        assert!(finding.next[0].starts_with("stop that program"));
    }

    #[test]
    fn the_same_files_are_the_same_in_all_runs() {
        let [one, same] = [(); 2].map(|()| run(&[("build/engine", "1")], None));
        let other = run(&[("build/engine", "2")], None);
        let more = run(&[("build/engine", "1"), ("build/lib.so", "1")], None);
        assert_eq!(unlike_files(&[&one, &same]), Some(vec![]));
        assert_eq!(unlike_files(&[&one, &same, &other]), Some(vec!["build/engine"]));
        assert_eq!(unlike_files(&[&more, &one]), None);
        let [script, edited] = ["1", "2"].map(|sha| run(&[("src/run.sh", sha)], None));
        assert_eq!(unlike_files(&[&script, &edited]), None);
    }

    #[test]
    fn runs_of_which_files_are_unknown_say_nothing() {
        let one = || run(&[("build/engine", "1")], None);
        let known = |good: Option<Loaded>, bad: Option<Loaded>| {
            loaded(&at('a', good), &at('b', bad), "ppl").is_some()
        };
        assert!(known(Some(one()), Some(one())));
        assert!(!known(Some(one()), None));
        assert!(!known(Some(one()), Some(run(&[], None))));
        assert!(!known(Some(Loaded { is_watched: false, ..one() }), Some(one())));
        assert!(loaded(&at('a', Some(one())), &seen('b', "ppl", []), "ppl").is_none());
    }
}
