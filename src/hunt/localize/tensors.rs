//! Which tensor of the first bad commit differs first from its parent's.

use crate::config::{Measure, Parser};
use crate::evaluation::{CommitId, Culprit, Finding, Outcome, Phase, TensorChange, TensorRun};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::oracle::TensorRuns;
use crate::store::StoredRun;
use crate::store::journal::Event;

/// Tensors before the first different one that the report keeps, and after it.
const BEFORE: usize = 8;
const AFTER: usize = 40;

impl Driver<'_> {
    /// Adds to a finding how the tensors of its main first bad commit differ from its parent's, for
    /// each measure of tensors.
    pub(crate) fn add_tensors(&mut self, mut finding: Finding) -> Result<Finding, HuntError> {
        let Some(main) = finding.main.filter(|_| finding.outcome == Outcome::Culprit) else {
            return Ok(finding);
        };
        let config = self.oracle.recipes.config.clone();
        let is_asked = |measure: &&Measure| matches!(measure.parser, Parser::Tensors);
        let measures: Vec<&Measure> = config.measures.iter().filter(is_asked).collect();
        if measures.is_empty() || !self.begun.options.localize {
            return Ok(finding);
        }
        let culprit = finding.culprits[main].clone();
        let mut known = Vec::new();
        for entry in self.hunt.entries()? {
            if let Event::Tensors(change) = entry.event {
                known.push(*change);
            }
        }
        for measure in measures {
            let is_it = |one: &&TensorChange| {
                one.measure == measure.name
                    && one.commit == culprit.info.commit
                    && one.parent == culprit.parent
            };
            if let Some(change) = known.iter().find(is_it) {
                finding.tensors.push(change.clone());
                continue;
            }
            // The commit is found: a fault of the machine now must not take the answer away.
            let why = match self.tensors_of(&culprit, measure) {
                Err(HuntError::Stopped) => return Err(HuntError::Stopped),
                Err(fault) => fault.to_string(),
                Ok(Err(why)) => why,
                Ok(Ok(change)) => {
                    let event = Event::Tensors(Box::new(change.clone()));
                    self.oracle.recorder.event(event)?;
                    finding.tensors.push(change);
                    continue;
                }
            };
            let name = &measure.name;
            finding.notes.push(format!("The tensors of `{name}` were not compared: {why}."));
        }
        Ok(finding)
    }

    /// Dumps parent and commit, and compares them. Inside: why that is not possible, in words.
    fn tensors_of(
        &mut self,
        culprit: &Culprit,
        measure: &Measure,
    ) -> Result<Result<TensorChange, String>, HuntError> {
        let (parent, commit) = (culprit.parent.clone(), culprit.info.commit.clone());
        let (mut runs, mut harmless) = (TensorRuns::default(), None);
        for (side, id) in [("parent", &parent), ("commit", &commit)] {
            let count = if side == "parent" { 2 } else { 1 };
            let found = match self.oracle.dump_tensors(id, &measure.name, count, Phase::Inquiry)? {
                Ok(found) => found,
                Err(why) => return Ok(Err(format!("of {}: {why}", id.short()))),
            };
            *(if side == "parent" { &mut runs.parent } else { &mut runs.commit }) = found;
        }
        for id in self.harmless(&parent)? {
            // Any build of it will do, so that it is not built again.
            if let Ok(found) = self.oracle.dump_tensors(&id, &measure.name, 1, Phase::Search)? {
                runs.harmless = found;
                harmless = Some(id);
                break;
            }
        }
        if are_different(&runs.parent)
            && let Ok(found) =
                self.oracle.dump_tensors(&commit, &measure.name, 2, Phase::Inquiry)?
        {
            runs.commit = found;
        }
        let mut found = self.oracle.compare_tensors(measure, &runs)?;
        if found.is_err() && !runs.harmless.is_empty() {
            // A dump of an old commit may have another form.
            runs.harmless.clear();
            harmless = None;
            found = self.oracle.compare_tensors(measure, &runs)?;
        }
        Ok(found.map(|mut comparison| {
            comparison.keep_near(BEFORE, AFTER);
            let all = runs.parent.iter().chain(&runs.commit).chain(&runs.harmless);
            TensorChange {
                measure: measure.name.clone(),
                parent,
                commit,
                harmless,
                runs: all.map(told).collect(),
                comparison,
            }
        }))
    }

    /// Commits that differ from the parent only by harmless changes. First the older end: it differs
    /// by all changes of the range before the parent, so it shows how far they go in each tensor.
    /// Then the last judged commit with the verdict of the older end whose parents have it too; an
    /// old commit may lack the option that dumps.
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

fn told(run: &StoredRun) -> TensorRun {
    TensorRun { commit: run.record.commit.clone(), attempt: run.record.attempt.clone() }
}

/// Whether the dumps of two runs differ in a file.
fn are_different(runs: &[StoredRun]) -> bool {
    runs.windows(2).any(|pair| match (&pair[0].record, &pair[1].record) {
        // Printed tensors are in the log, which has times too.
        (a, b) if a.dumps.is_empty() || b.dumps.is_empty() => true,
        (a, b) => a.dumps != b.dumps,
    })
}
