//! By how much the engine's logits differ from themselves with another number of threads. A
//! difference of that size between two commits may be rounding.

use crate::evaluation::{CommitId, Phase, ThreadFloor};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::oracle::Request;
use crate::store::journal::Event;

impl Driver<'_> {
    /// Measures the logits of the good end with another number of threads, once for each measure
    /// of logits that takes `{threads}`.
    pub(crate) fn measure_thread_floors(&mut self, good: &CommitId) -> Result<(), HuntError> {
        let known: Vec<String> = self
            .hunt
            .entries()?
            .into_iter()
            .filter_map(|entry| match entry.event {
                Event::ThreadFloor(floor) => Some(floor.measure),
                _ => None,
            })
            .collect();
        let recipe = self.oracle.recipes.at(good)?;
        let usual = recipe.run.threads.unwrap_or_else(|| {
            u32::try_from(self.oracle.recipes.facts.machine.cores).unwrap_or(u32::MAX)
        });
        let other = if usual == 1 { 2 } else { 1 };
        for measure in &recipe.measures {
            if !measure.parser.is_compared() || measure.for_cause || known.contains(&measure.name) {
                continue;
            }
            let Some(variant) = measure.with_threads(other) else { continue };
            let mut wider = recipe.clone();
            let name = [variant.name.clone()];
            wider.measures.push(variant);
            let look = Request::look(good, &name, Phase::Endpoint);
            self.oracle.evaluate(Request { runs: 1, recipe: Some(&wider), ..look })?;
            let Some(difference) =
                self.oracle.logits_with(good, &wider, &measure.name, &name[0])?
            else {
                continue;
            };
            self.oracle.recorder.event(Event::ThreadFloor(Box::new(ThreadFloor {
                measure: measure.name.clone(),
                threads: [usual, other],
                difference,
            })))?;
        }
        Ok(())
    }
}
