//! Whether runs opened files that git tracks and that their build wrote, such as a generated table.
//! These files are put back after each build, so the runs read them as the commit has them, and not
//! as the build made them. A commit of the generated file is named then, and not the one that changed
//! its generator. The hunt goes on, with less confidence in its answer.

use crate::evaluation::{Finding, PutBack};
use crate::report::put_back_in_words;
use crate::store::journal::{Entry, Event};

use super::HuntError;
use super::driver::Driver;
use super::open_doubt::lower_confidence;

/// What to do about it.
pub(super) const WRITE_ELSEWHERE: &str = "let the build write it below {build}";

impl Driver<'_> {
    /// Notes which files were put back before runs of the hunt opened them, and lowers the
    /// confidence in the commits of the finding.
    pub(super) fn lower_if_files_were_put_back(
        &mut self,
        mut finding: Finding,
    ) -> Result<Finding, HuntError> {
        let Some(found) = first(&self.hunt.entries()?) else { return Ok(finding) };
        let text = format!("{}; {WRITE_ELSEWHERE}", put_back_in_words(&found));
        self.oracle.recorder.note_once(text)?;
        for culprit in &mut finding.culprits {
            lower_confidence(culprit);
            culprit.doubts.put_back_doubt = Some(found.clone());
        }
        Ok(finding)
    }
}

/// The first such run of the hunt.
fn first(entries: &[Entry]) -> Option<PutBack> {
    entries.iter().find_map(|entry| match &entry.event {
        Event::PutBack(found) => Some(found.clone()),
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_run_counts() {
        let entry = |event: Event| Entry { at: String::new(), event };
        let found = |path: &str| PutBack {
            measure: "ppl".to_owned(),
            commit: "1".repeat(40).parse().unwrap(),
            paths: vec![path.to_owned()],
        };
        let [one, other] = ["a", "b"].map(|path| entry(Event::PutBack(found(path))));
        let entries = [entry(Event::NoDirectMode), one, other];
        assert_eq!(first(&entries[..1]), None);
        assert_eq!(first(&entries), Some(found("a")));
    }
}
