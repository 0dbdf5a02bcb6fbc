//! Finds the first tensor of the first bad commit that differs from its parent's.

use crate::config::{Measure, Parser};
use crate::evaluation::{CommitId, Finding, Phase, TensorChange, TensorRun};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::hunt::inquiry::Pair;
use crate::oracle::TensorRuns;
use crate::store::StoredRun;
use crate::store::journal::Event;

/// Number of tensors that the report keeps before the first different one, and after it.
const BEFORE: usize = 8;
const AFTER: usize = 40;

impl Driver<'_> {
    /// Adds to a finding how the tensors of its main first bad commit differ from its parent's, for
    /// each measure of tensors.
    pub(crate) fn add_tensors(&mut self, mut finding: Finding) -> Result<Finding, HuntError> {
        let Some(pair) = self.pair_to_compare(&finding)? else { return Ok(finding) };
        let is_asked = |measure: &&Measure| matches!(measure.parser, Parser::Tensors);
        for measure in pair.recipe.measures.iter().filter(is_asked) {
            if let Some(known) = self.known_tensors(&pair, &measure.name)? {
                finding.inquiry.tensors.push(known);
                continue;
            }
            let what = format!("the tensors of {} were not compared", measure.name);
            let asked = self.tensors(&pair, measure);
            match self.unless_ended(asked, &mut finding, &what)? {
                Some(Ok(mut change)) => {
                    change.comparison.keep_near(BEFORE, AFTER);
                    let event = Event::Tensors(Box::new(change.clone()));
                    self.oracle.recorder.event(event)?;
                    finding.inquiry.tensors.push(change);
                }
                Some(Err(why)) => finding.notes.push(format!("{what}: {why}")),
                None => break,
            }
        }
        Ok(finding)
    }

    /// What an earlier driver compared.
    fn known_tensors(&self, pair: &Pair, measure: &str) -> Result<Option<TensorChange>, HuntError> {
        let is_it = |one: &TensorChange| {
            one.measure == measure && one.commit == pair.commit && one.parent == pair.parent
        };
        let known = self.hunt.entries()?.iter().find_map(|entry| match &entry.event {
            Event::Tensors(change) if is_it(change) => Some(change.as_ref().clone()),
            _ => None,
        });
        Ok(known)
    }

    /// Dumps parent and commit, and compares all tensors. The inner `Err` says why that is
    /// impossible.
    pub(crate) fn tensors(
        &mut self,
        pair: &Pair,
        measure: &Measure,
    ) -> Result<Result<TensorChange, String>, HuntError> {
        let (mut runs, mut harmless) = (TensorRuns::default(), None);
        for (id, count, found) in
            [(&pair.parent, 2, &mut runs.parent), (&pair.commit, 1, &mut runs.commit)]
        {
            match self.oracle.dump_tensors(id, &measure.name, count, Phase::Inquiry)? {
                Ok(dumped) => *found = dumped,
                Err(why) => return Ok(Err(format!("of {}: {why}", id.short()))),
            }
        }
        for id in self.harmless(&pair.parent)? {
            // Any build of the commit will do, so none is made again.
            if let Ok(found) = self.oracle.dump_tensors(&id, &measure.name, 1, Phase::Search)? {
                runs.harmless = found;
                harmless = Some(id);
                break;
            }
        }
        if are_different(&runs.parent)
            && let Ok(found) =
                self.oracle.dump_tensors(&pair.commit, &measure.name, 2, Phase::Inquiry)?
        {
            runs.commit = found;
        }
        let mut found = self.oracle.compare_tensors(measure, &runs)?;
        if found.is_err() && !runs.harmless.is_empty() {
            // A dump of an old commit may have another format.
            runs.harmless.clear();
            harmless = None;
            found = self.oracle.compare_tensors(measure, &runs)?;
        }
        Ok(found.map(|comparison| {
            let all = runs.parent.iter().chain(&runs.commit).chain(&runs.harmless);
            TensorChange {
                measure: measure.name.clone(),
                parent: pair.parent.clone(),
                commit: pair.commit.clone(),
                harmless,
                runs: all.map(tensor_run).collect(),
                comparison,
            }
        }))
    }

    /// Commits that differ from the parent only by harmless changes. First the older end: it
    /// differs by all changes of the range before the parent, and so shows their effect on each
    /// tensor. An old commit may lack the dump option. So the second one is the last judged commit
    /// that has, with all its parents, the verdict of the older end.
    fn harmless(&self, parent: &CommitId) -> Result<Vec<CommitId>, HuntError> {
        let verdicts = self.last_verdicts()?;
        let [old, _] = self.begun.ends();
        let history = &self.oracle.history;
        let wanted = verdicts.get(old).copied();
        let is_like_old =
            |commit: &CommitId| wanted.is_some() && verdicts.get(commit).copied() == wanted;
        let mut found: Vec<CommitId> = (old != parent).then(|| old.clone()).into_iter().collect();
        for commit in self.order()?.iter().rev() {
            if commit != parent
                && commit != old
                && is_like_old(commit)
                && history.is_ancestor(commit, parent)?
                && history.parents(commit)?.iter().all(is_like_old)
            {
                found.push(commit.clone());
                break;
            }
        }
        Ok(found)
    }
}

fn tensor_run(run: &StoredRun) -> TensorRun {
    TensorRun { commit: run.record.commit.clone(), attempt: run.record.attempt.clone() }
}

/// Whether the dumps of two runs differ in a file.
fn are_different(runs: &[StoredRun]) -> bool {
    runs.windows(2).any(|pair| match (&pair[0].record, &pair[1].record) {
        // Printed tensors are in the log, which also contains times.
        (a, b) if a.dumps.is_empty() || b.dumps.is_empty() => true,
        (a, b) => a.dumps != b.dumps,
    })
}
