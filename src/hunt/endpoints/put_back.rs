//! Before the answer "no regression": whether the build of an endpoint wrote a file that git tracks
//! and that a run opened. The file is put back after the build, so the run measured it as the commit
//! has it: what the build made of it was not measured.

use crate::evaluation::{CommitId, Finding};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::hunt::put_back::WRITE_ELSEWHERE;
use crate::oracle::{Observation, Sample, guarded_measures};
use crate::report::put_back_files;
use crate::store::BuildRecord;
use crate::ui::text;

use super::targets::unmeasurable;

impl Driver<'_> {
    /// The finding that the build of an endpoint left a file that git tracks with another content
    /// than the commit's, and that a run of a guarded measure opened this file.
    pub(super) fn put_back(
        &self,
        good: &Observation,
        bad: &Observation,
    ) -> Result<Option<Box<Finding>>, HuntError> {
        for end in [bad, good] {
            let builds = self.builds_with_written_files(&end.commit)?;
            for measure in guarded_measures(&self.guards()) {
                let paths = opened(end.of(&measure), &builds);
                if !paths.is_empty() {
                    return Ok(Some(refusal(&end.commit, &measure, &paths)));
                }
            }
        }
        Ok(None)
    }

    fn builds_with_written_files(&self, end: &CommitId) -> Result<Vec<BuildRecord>, HuntError> {
        let recipe = self.oracle.recipes.at(end)?;
        let key = self.oracle.recipes.build_key_of(end, &recipe)?;
        let mut builds = self.oracle.store.builds(&key)?;
        builds.retain(|build| build.written.is_some());
        Ok(builds)
    }
}

/// The files that a build wrote and that a run of this build opened; of the first such run.
fn opened(runs: &[Sample], builds: &[BuildRecord]) -> Vec<String> {
    let of = |run: &Sample| {
        let build = builds.iter().find(|build| build.finished == run.built)?;
        Some(build.written.as_ref()?.opened_in(run.loaded.as_ref()?))
    };
    runs.iter().filter_map(of).find(|paths| !paths.is_empty()).unwrap_or_default()
}

fn refusal(commit: &CommitId, measure: &str, paths: &[String]) -> Box<Finding> {
    let it = if paths.len() == 1 { "it" } else { "them" };
    let measure = text::line(measure);
    let finding = unmeasurable(format!(
        "the build of {} writes {}, which git tracks, and the runs of {measure} read {it} as the \
         commit has {it}, because tracked files are put back after each build: what the build wrote \
         was not measured",
        commit.short(),
        put_back_files(paths)
    ));
    let cure = format!("{WRITE_ELSEWHERE}, and let the runs of {measure} read it there");
    Box::new(Finding { next: vec![cure], ..*finding })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::Loaded;
    use crate::oracle::fixture::{commit, ppl};

    fn build(finished: &str, written: &str) -> BuildRecord {
        serde_json::from_value(serde_json::json!({
            "attempt": "a",
            "build_key": "k",
            "commit": commit('1'),
            "phase": "endpoint",
            "commands": [],
            "finished": finished,
            "wall_s": 1.0,
            "failure": null,
            "written": { "paths": [written], "more": 0 },
        }))
        .unwrap()
    }

    #[test]
    fn only_files_that_a_run_of_the_same_build_opened_count() {
        let run = |built: &str, path: &str| {
            let own = [(path.to_owned(), "1".to_owned())].into();
            let loaded = Some(Loaded { own, ..Loaded::default() });
            Sample { built: built.to_owned(), loaded, ..ppl(7.0) }
        };
        let builds = [build("1", "other.sh"), build("2", "tables.sh")];
        assert_eq!(opened(&[run("2", "src/tables.sh")], &builds), ["tables.sh"]);
        assert!(opened(&[run("1", "src/tables.sh")], &builds).is_empty());
        assert!(opened(&[run("3", "src/tables.sh")], &builds).is_empty());
        assert!(opened(&[run("2", "build/tables.sh"), ppl(7.0)], &builds).is_empty());
    }

    #[test]
    fn the_refusal_names_the_file_and_the_cure() {
        let finding = refusal(&commit('1'), "ppl", &["tables.sh".to_owned()]);
        let start = "the build of 1111111111 writes tables.sh, which git tracks, and the runs of ppl \
                     read it as the commit has it, ";
        assert!(finding.summary.starts_with(start), "{}", finding.summary);
        let cure = "let the build write it below {build}, and let the runs of ppl read it there";
        assert_eq!(finding.next, [cure]);
    }
}
