//! What the engine prints about itself, and the text that it generates, at the first bad commit and
//! at its parent. Nothing is judged: a changed launch configuration may be the cause, and a text
//! that went wrong is plain to a reader.

use crate::config::{Measure, MeasureKind, Parser};
use crate::evaluation::{
    CommitId, FactChange, Finding, GeneratedText, Metric, Outcome, Phase, Reading, TextPair,
};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::oracle::{Request, Sample};

impl Driver<'_> {
    /// Adds to a finding the facts that differ between the main first bad commit and its parent, and
    /// the texts of both.
    pub(crate) fn compare_printed(&mut self, mut finding: Finding) -> Result<Finding, HuntError> {
        let Some(main) = finding.main.filter(|_| finding.outcome == Outcome::Culprit) else {
            return Ok(finding);
        };
        if !self.begun.options.localize || self.oracle.recipes.engine.within.is_some() {
            return Ok(finding);
        }
        let culprit = &finding.culprits[main];
        let commits = [culprit.parent.clone(), culprit.info.commit.clone()];
        for measure in self.oracle.recipes.config.measures.clone() {
            let is_fact = measure.kind == MeasureKind::Fact;
            if !is_fact && !matches!(measure.parser, Parser::Text { .. }) {
                continue;
            }
            // The commit is found: a fault of the machine now must not take the answer away.
            let runs = match self.run_of_each(&measure.name, &commits) {
                Err(HuntError::Stopped) => return Err(HuntError::Stopped),
                Err(fault) => {
                    finding.notes.push(format!("{} was not compared: {fault}", measure.name));
                    break;
                }
                Ok(runs) => runs,
            };
            let Some([parent, commit]) = runs else { continue };
            if is_fact {
                finding.facts.extend(changes(&parent, &commit));
            } else {
                finding.texts.extend(pair(&measure, &parent, &commit));
            }
        }
        Ok(finding)
    }

    /// A run of each commit; `None` if one does not build.
    fn run_of_each(
        &mut self,
        measure: &str,
        commits: &[CommitId; 2],
    ) -> Result<Option<[Sample; 2]>, HuntError> {
        let names = [measure.to_owned()];
        let mut runs = Vec::new();
        for commit in commits {
            let look = Request::look(commit, &names, Phase::Inquiry);
            let seen = self.oracle.evaluate(Request { runs: 1, ..look })?;
            runs.extend(seen.of(measure).first().cloned());
        }
        Ok(runs.try_into().ok())
    }
}

/// The facts that differ. A run that failed says nothing.
fn changes(parent: &Sample, commit: &Sample) -> Vec<FactChange> {
    let (Ok(before), Ok(after)) = (&parent.result, &commit.result) else { return Vec::new() };
    let metrics: std::collections::BTreeSet<&Metric> =
        before.values.keys().chain(after.values.keys()).collect();
    let of = |reading: &Reading, metric: &Metric| {
        reading.values.get(metric).map(std::string::ToString::to_string)
    };
    let change = |metric: &Metric| FactChange {
        metric: metric.clone(),
        parent: of(before, metric),
        commit: of(after, metric),
        attempts: vec![parent.attempt.clone(), commit.attempt.clone()],
    };
    let all = metrics.into_iter().map(change);
    all.filter(|change| change.parent != change.commit).collect()
}

fn pair(measure: &Measure, parent: &Sample, commit: &Sample) -> Option<TextPair> {
    let Parser::Text { category } = &measure.parser else { return None };
    Some(TextPair {
        measure: measure.name.clone(),
        category: category.clone(),
        parent: generated(measure, parent)?,
        commit: generated(measure, commit)?,
    })
}

fn generated(measure: &Measure, sample: &Sample) -> Option<GeneratedText> {
    let reading = sample.result.as_ref().ok()?;
    let of = |name| reading.values.get(&Metric::named(&measure.name, name))?.number();
    Some(GeneratedText {
        text: reading.text.clone()?,
        words: of("words")?,
        distinct_1: of("distinct_1"),
        distinct_2: of("distinct_2"),
        repeated_4: of("repeated_4"),
        attempt: sample.attempt.clone(),
    })
}
