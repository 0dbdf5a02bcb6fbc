//! Stored runs of the endpoints that earlier hunts made. If the two ends have runs of different
//! hunts, something outside may have changed between them, and the step from good to bad would be
//! one that no commit made. So one fresh run must show what the stored runs of its end show.

use crate::evaluation::{Guard, Metric, Phase};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::hunt::earlier_runs::{
    are_of_one_hunt, common_hunt, days, difference, earlier_hunts, is_made_by,
};
use crate::hunt::machine_change::MachineChange;
use crate::oracle::{Observation, Request, Sample, guarded_measures};

impl Driver<'_> {
    /// The measures with stored runs at the endpoints for which no earlier hunt measured both ends
    /// and showed what all these runs show.
    pub(super) fn doubted_measures(
        &mut self,
        measures: &[String],
    ) -> Result<Vec<String>, HuntError> {
        let good = self.begun.good.commit.clone();
        let bad = self.begun.bad.commit.clone();
        let good = self.known_runs(&good, measures)?;
        let bad = self.known_runs(&bad, measures)?;
        let own = self.own_hunts();
        let is_stored =
            |seen: &Observation, measure: &str| !earlier_hunts(seen.of(measure), &own).is_empty();
        let guards = self.guards();
        let is_doubted = |measure: &&String| {
            let metrics = metrics_of(&guards, measure);
            (is_stored(&good, measure) || is_stored(&bad, measure))
                && common_hunt([&good, &bad], measure, &metrics, &own).is_none()
        };
        Ok(measures.iter().filter(is_doubted).cloned().collect())
    }

    /// Compares the stored runs of an endpoint with its first run of this hunt. If this hunt has no
    /// run of a doubted measure there, makes one. `Some` if the run does not show what the stored
    /// ones show.
    pub(super) fn compare_with_earlier_runs(
        &mut self,
        seen: &mut Observation,
        doubted: &[String],
    ) -> Result<Option<MachineChange>, HuntError> {
        let own = self.own_hunts();
        let is_own = |sample: &Sample| is_made_by(sample, &own);
        let (mut measures, mut attempts, mut texts) = (Vec::new(), Vec::new(), Vec::new());
        for measure in doubted {
            let known = seen.of(measure);
            if known.iter().all(is_own) {
                continue;
            }
            if !known.iter().any(is_own) {
                let runs = known.len() + 1;
                let commit = seen.commit.clone();
                let look = Request::look(&commit, std::slice::from_ref(measure), Phase::Endpoint);
                let fresh = self.oracle.evaluate(Request { runs, ..look })?;
                if fresh.build_failure.is_some() {
                    *seen = fresh;
                    return Ok(None);
                }
                seen.samples.extend(fresh.samples);
            }
            let (fresh, earlier): (Vec<&Sample>, Vec<&Sample>) =
                seen.of(measure).iter().partition(|sample| is_own(sample));
            let guards = self.guards();
            let metrics = metrics_of(&guards, measure);
            let told = fresh.first().and_then(|fresh| difference(&earlier, fresh, &metrics));
            if let Some(told) = told {
                measures.push(measure.clone());
                attempts.extend(earlier.iter().map(|sample| sample.attempt.clone()));
                texts.push(format!("{told} (stored runs of {measure} of {})", days(&earlier)));
            }
        }
        let text = format!(
            "something outside changed since an earlier hunt measured {}: {}. Runs of earlier \
             hunts no longer count for {}, and the hunt begins again",
            seen.commit.short(),
            texts.join("; "),
            measures.join(", ")
        );
        Ok((!measures.is_empty()).then_some(MachineChange { text, measures, attempts }))
    }

    /// Before the answer "no regression": the guarded measures whose runs are partly of earlier
    /// hunts and vary. One fresh run does not show a small change of what varies, and a small
    /// change may hide a regression.
    pub(super) fn earlier_runs_that_vary(
        &self,
        good: &Observation,
        bad: &Observation,
    ) -> Option<MachineChange> {
        let own = self.own_hunts();
        let guards = self.guards();
        let (mut measures, mut attempts) = (Vec::new(), Vec::new());
        for measure in guarded_measures(&guards) {
            let mut metrics = guards.iter().map(|guard| &guard.metric);
            let repeats = metrics.all(|metric| {
                metric.measure != measure || (good.repeats(metric) && bad.repeats(metric))
            });
            if repeats || are_of_one_hunt([good, bad], &measure, &own) {
                continue;
            }
            let runs = good.of(&measure).iter().chain(bad.of(&measure));
            let earlier = runs.filter(|sample| !is_made_by(sample, &own));
            attempts.extend(earlier.map(|sample| sample.attempt.clone()));
            measures.push(measure);
        }
        let text = format!(
            "the endpoints show no regression, but runs of {} vary, and earlier hunts made a part \
             of them: these no longer count, and the hunt begins again",
            measures.join(", ")
        );
        (!measures.is_empty()).then_some(MachineChange { text, measures, attempts })
    }
}

/// The guarded metrics of a measure.
fn metrics_of<'g>(guards: &'g [Guard], measure: &str) -> Vec<&'g Metric> {
    let metrics = guards.iter().map(|guard| &guard.metric);
    metrics.filter(|metric| metric.measure == measure).collect()
}
