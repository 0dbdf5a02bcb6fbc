//! Named commits without which the bad end is worse, beside others that explain it. If a later
//! commit made what such a commit began to use better, it is left out. If no later commit edits
//! anything of that, the improvement is elsewhere: the step may be whole, while a path that the bad
//! end does not use became worse.

use std::collections::BTreeSet;

use crate::evaluation::{
    CommitId, Culprit, Finding, LoadedFilesComparison, Metric, Outcome, Unexplained,
};
use crate::git::Range;
use crate::hunt::HuntError;
use crate::hunt::distinct::distinct;
use crate::hunt::driver::Driver;
use crate::ui::text;

/// If a commit changes or begins to use more files, they tell nothing.
const MOST_FILES: usize = 400;

impl Driver<'_> {
    /// Whether a later commit edits a file of the change of each of these named commits, or a file
    /// that came into use with it.
    pub(super) fn are_all_edited_later(
        &self,
        finding: &Finding,
        commits: &[CommitId],
    ) -> Result<bool, HuntError> {
        let is_one = |culprit: &&Culprit| commits.contains(&culprit.info.commit);
        for culprit in finding.culprits.iter().filter(is_one) {
            if !self.is_edited_later(culprit)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn is_edited_later(&self, culprit: &Culprit) -> Result<bool, HuntError> {
        let [_, end] = self.begun.ends();
        let commit = &culprit.info.commit;
        let by_runs = culprit.ran.iter().flat_map(LoadedFilesComparison::only_now);
        let own = culprit.files.iter().map(|file| file.path.clone());
        let mut files: BTreeSet<String> = by_runs.map(str::to_owned).chain(own).collect();
        files.extend(self.newly_read(&culprit.parent, commit)?);
        if files.is_empty() || files.len() > MOST_FILES {
            return Ok(!files.is_empty());
        }
        let paths = files.iter().map(|path| format!(":(top,literal){path}")).collect();
        let later = Range { paths, ..Range::between(commit, end) };
        Ok(self.oracle.history.count(&later)? > 0)
    }
}

/// The finding as candidates: the named commits. `worse`: those of them without which the bad end
/// is worse.
pub(super) fn left_open(finding: Finding, worse: &[CommitId]) -> Finding {
    let names = text::joined(worse.iter().map(|commit| commit.short().to_owned()).collect());
    let is_one = |culprit: &&Culprit| worse.contains(&culprit.info.commit);
    let effects = finding.culprits.iter().filter(is_one).flat_map(|culprit| &culprit.effects);
    let metrics: Vec<Metric> = distinct(effects.map(|effect| effect.metric.clone()));
    let summary = format!(
        "{}; but without {names} the bad end is even worse in {}, and no later commit edits what \
         {names} began to use: the bad end may need all named commits, or not {names}",
        finding.summary,
        text::joined(metrics.iter().map(Metric::to_string).collect())
    );
    let candidates = finding.culprits.iter().map(|culprit| culprit.info.commit.clone()).collect();
    let unexplained = metrics.into_iter().map(Unexplained::Metric).collect();
    Finding {
        outcome: Outcome::Candidates,
        main: None,
        summary,
        candidates,
        unexplained,
        ..finding
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle::fixture::{self, commit, effect};

    #[test]
    fn all_named_commits_are_candidates() {
        let step = |digit: char, from: f64, to: f64| Culprit {
            effects: vec![effect(from, to, 0.1)],
            ..fixture::culprit(digit, '2')
        };
        let finding = Finding {
            culprits: vec![step('3', 7.5, 7.9), step('5', 7.9, 8.35)],
            main: Some(1),
            candidates: vec![commit('5')],
            ..Finding::plain(Outcome::Culprit, "5 is the first bad commit")
        };
        let open = left_open(finding, &[commit('3')]);
        assert_eq!((open.outcome, open.main), (Outcome::Candidates, None));
        assert_eq!(open.candidates, ['3', '5'].map(commit));
        assert_eq!(open.unexplained, [Unexplained::Metric(Metric::of("ppl"))]);
        assert!(open.summary.contains("even worse in ppl"), "{}", open.summary);
    }
}
