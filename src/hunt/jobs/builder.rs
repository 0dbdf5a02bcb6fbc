//! Jobs that build (`[executor.build]`): what the first of them finds out, and the work of one.

use crate::git::Repository;
use crate::hunt::HuntError;
use crate::hunt::begin::open::{begun, open_with};
use crate::hunt::driver::Driver;
use crate::oracle::Recorder;
use crate::process::Stop;
use crate::slurm::Attempt;
use crate::store::journal::{Begun, Event, Machine};
use crate::store::{HuntDir, Store};

impl Driver<'_> {
    /// Asks what builds depend on, if other nodes build than this one and no job has said it yet.
    /// All keys of the hunt contain the answer.
    pub(crate) fn ask_build_node(&mut self) -> Result<(), HuntError> {
        let Some(jobs) = self.oracle.build_jobs.clone() else { return Ok(()) };
        if self.begun.build_node.is_some() {
            return Ok(());
        }
        let node = self.oracle.ask_build_node(&jobs)?;
        if let Some(text) = other_processor(&node.machine, &self.begun.machine) {
            self.oracle.recorder.note_once(text)?;
        }
        self.begun = Begun { build_node: Some(node.clone()), ..self.begun.clone() };
        self.oracle.recipes.facts.build_node = Some(node);
        Ok(self.oracle.recorder.event(Event::Begun(Box::new(self.begun.clone())))?)
    }
}

/// What to say if the processor that builds is another model than the one that runs.
fn other_processor(builds: &Machine, runs: &Machine) -> Option<String> {
    (builds.cpu != runs.cpu).then(|| {
        format!(
            "commits are built on {} and run on {}: a build for the processor that it is made on \
             (-march=native, GGML_NATIVE=ON) may crash there, or be slower",
            builds.cpu, runs.cpu
        )
    })
}

/// The work of `bisect-ppl oracle --build`: does what the attempt's order says, and writes the
/// answer beside it. Writes nothing into the journal.
pub(crate) fn build_in_job(
    repository: &Repository,
    hunt: &HuntDir,
    token: &str,
    stop: &Stop,
) -> Result<(), HuntError> {
    let attempt = Attempt::named(&hunt.jobs(), token);
    let order = attempt.order().and_then(|bytes| serde_json::from_slice(&bytes).ok());
    let order = order.ok_or_else(|| {
        HuntError::Environment(format!("this node does not see the order of job {token}"))
    })?;
    let store = Store::open_to_measure(repository.common_dir())?;
    let (begun, recorder) = (begun(hunt)?, Recorder::none());
    let (mut oracle, _) = open_with(repository, hunt, store, begun, recorder, stop)?;
    let answer = oracle.answer_order(&order)?;
    let bytes = serde_json::to_vec(&answer).expect("an answer is plain data");
    Ok(attempt.put_answer(&bytes)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_model_of_processor_is_told_with_what_it_means() {
        let machine = |cpu: &str| Machine { cpu: cpu.to_owned(), ..Machine::default() };
        assert_eq!(other_processor(&machine("A"), &machine("A")), None);
        let said = other_processor(&machine("A"), &machine("B")).unwrap();
        assert!(said.starts_with("commits are built on A and run on B: "), "{said}");
    }
}
