//! How the logits of the first bad commit differ from its parent's.

use crate::evaluation::{Finding, LogitsChange, Outcome};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::store::journal::Event;

impl Driver<'_> {
    /// Adds to a finding how the logits of its main first bad commit differ from its parent's, for
    /// each measure of logits that both yield.
    pub(crate) fn compare_logits(&mut self, mut finding: Finding) -> Result<Finding, HuntError> {
        let Some(main) = finding.main.filter(|_| finding.outcome == Outcome::Culprit) else {
            return Ok(finding);
        };
        let mut floors = Vec::new();
        for entry in self.hunt.entries()? {
            if let Event::ThreadFloor(floor) = entry.event {
                floors.push(*floor);
            }
        }
        let culprit = &finding.culprits[main];
        let (parent, commit) = (culprit.parent.clone(), culprit.info.commit.clone());
        let config = self.oracle.recipes.config.clone();
        let measures = config.measures.iter().filter(|measure| measure.parser.is_compared());
        for measure in measures.filter(|measure| !measure.for_cause) {
            // The commit is found: a fault of the machine now must not take the answer away.
            let Ok(Some(difference)) = self.oracle.logits_between(&parent, &commit, &measure.name)
            else {
                continue;
            };
            finding.logits.push(LogitsChange {
                measure: measure.name.clone(),
                difference,
                floor: floors.iter().find(|floor| floor.measure == measure.name).cloned(),
            });
        }
        Ok(finding)
    }
}
