//! The answer "no regression", after a look at what may hide a regression.

use crate::evaluation::Finding;
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::oracle::Observation;

use super::advice::advice;
use super::checks::no_longer_run;
use super::empty_home::WithEmptyHome;
use super::newly_failed;
use super::noise::EndpointPolicy;

impl Driver<'_> {
    /// The finding that the endpoints show no regression, or what a look at earlier runs, builds,
    /// the home folder and the programs that ran showed instead.
    pub(super) fn denied(
        &mut self,
        mut finding: Box<Finding>,
        good: &Observation,
        bad: &Observation,
        policy: &EndpointPolicy,
    ) -> Result<Box<Finding>, HuntError> {
        if let Some(change) = self.earlier_runs_that_vary(good, bad) {
            return Ok(Box::new(self.begin_after_change(change)?));
        }
        if let Some(refusal) = self.overwritten(good, bad)? {
            return Ok(refusal);
        }
        match self.check_with_empty_home(good, bad, policy)? {
            WithEmptyHome::Regression => {
                return Ok(Box::new(self.begin_with_empty_home("the endpoints differ")?));
            }
            WithEmptyHome::Same => {
                finding.summary += "; nor do they with an empty home folder";
            }
            WithEmptyHome::Unknown => {}
        }
        if let Some(refusal) = self.same_program(good, bad)? {
            return Ok(refusal);
        }
        let odd_nodes = Vec::from_iter(self.set_aside()?).join("; ");
        if !odd_nodes.is_empty() {
            finding.summary += "; no commit did it: ";
            finding.summary += &odd_nodes;
        }
        for told in newly_failed(good, bad).into_iter().chain(no_longer_run(good, bad)) {
            finding.summary += "; but ";
            finding.summary += &told;
        }
        finding.next = advice(good, bad, &self.guards());
        Ok(finding)
    }
}
