//! Stored runs of the endpoints that earlier hunts made. If different hunts made the runs of the
//! two ends, something outside may have changed between these hunts. Then the step from good to bad
//! may be one that no commit made. So one fresh run must show what the stored runs of its end show.

use crate::evaluation::{CommitId, Phase, Target};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::hunt::earlier_runs::{
    are_of_one_hunt, common_hunt, days_of, difference, earlier_hunts, is_made_by, metrics_of,
};
use crate::hunt::machine_change::MachineChange;
use crate::oracle::{Observation, Request, Sample, guarded_measures, measures_of};

use super::merge;

impl Driver<'_> {
    /// The measures with stored runs at the endpoints, except those for which the runs of one
    /// earlier hunt at both ends show what all other stored runs show.
    pub(super) fn doubted_measures(
        &mut self,
        measures: &[String],
    ) -> Result<Vec<String>, HuntError> {
        let [good, bad] = self.known_runs_of_ends(measures)?;
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

    /// Compares the stored runs of an endpoint with its runs of this hunt. If this hunt has no
    /// run of a doubted measure there, makes one. `Some` if the run does not show what the stored
    /// ones show.
    pub(super) fn compare_with_earlier_runs(
        &mut self,
        seen: &mut Observation,
        doubted: &[String],
    ) -> Result<Option<MachineChange>, HuntError> {
        let own = self.own_hunts();
        let is_own = |sample: &Sample| is_made_by(sample, &own);
        for measure in doubted {
            let known = seen.of(measure);
            if known.iter().all(is_own) {
                continue;
            }
            if !known.iter().any(is_own) {
                let runs = known.len() + 1;
                let commit = seen.commit.clone();
                let look = Request::look(&commit, std::slice::from_ref(measure), Phase::Endpoint);
                merge(seen, self.oracle.evaluate(Request { runs, ..look })?);
                if seen.build_failure.is_some() {
                    return Ok(None);
                }
            }
        }
        Ok(self.contradicted_earlier_runs(seen, doubted))
    }

    /// After a claim that fresh runs contradict: whether runs of this hunt at the claimed commit, or
    /// at one of its parents, contradict runs of earlier hunts there too. Makes no runs.
    pub(crate) fn outside_changed(
        &mut self,
        claimed: &CommitId,
        targets: &[Target],
    ) -> Result<Option<MachineChange>, HuntError> {
        let measures = measures_of(targets);
        let parents = self.oracle.history.parents(claimed)?;
        for commit in parents.iter().chain([claimed]) {
            let seen = self.known_runs(commit, &measures)?;
            let change = self.contradicted_earlier_runs(&seen, &measures);
            if change.is_some() {
                return Ok(change);
            }
        }
        Ok(None)
    }

    /// The measures of which all runs of this hunt contradict the runs of earlier hunts at a commit;
    /// `None` if there are none.
    fn contradicted_earlier_runs(
        &self,
        seen: &Observation,
        among: &[String],
    ) -> Option<MachineChange> {
        let own = self.own_hunts();
        let guards = self.guards();
        let (mut measures, mut attempts, mut texts) = (Vec::new(), Vec::new(), Vec::new());
        for measure in among {
            let (fresh, earlier): (Vec<&Sample>, Vec<&Sample>) =
                seen.of(measure).iter().partition(|sample| is_made_by(sample, &own));
            if earlier.is_empty() {
                continue;
            }
            let metrics = metrics_of(&guards, measure);
            let told = fresh.iter().map(|fresh| difference(&earlier, fresh, &metrics));
            let told: Option<Vec<String>> = told.collect();
            if let Some(told) = told.unwrap_or_default().first() {
                measures.push(measure.clone());
                attempts.extend(earlier.iter().map(|sample| sample.attempt.clone()));
                texts.push(format!("{told} (stored runs of {measure} of {})", days_of(&earlier)));
            }
        }
        if measures.is_empty() {
            return None;
        }
        let text = format!(
            "something outside changed since an earlier hunt measured {}: {}. Runs of earlier \
             hunts no longer count for {}, and the hunt begins again",
            seen.commit.short(),
            texts.join("; "),
            measures.join(", ")
        );
        Some(MachineChange { text, measures, attempts })
    }

    /// Before the answer "no regression": the guarded measures whose runs vary and are not all of
    /// one hunt. If runs vary, one fresh run does not show a small change of the machine, and such
    /// a change may hide a regression.
    pub(super) fn earlier_runs_that_vary(
        &self,
        good: &Observation,
        bad: &Observation,
    ) -> Option<MachineChange> {
        let own = self.own_hunts();
        let guards = self.guards();
        let (mut measures, mut attempts) = (Vec::new(), Vec::new());
        for measure in guarded_measures(&guards) {
            let metrics = metrics_of(&guards, &measure);
            let repeats = metrics.iter().all(|metric| good.repeats(metric) && bad.repeats(metric));
            if repeats || are_of_one_hunt([good, bad], &measure, &own) {
                continue;
            }
            let runs = good.of(&measure).iter().chain(bad.of(&measure));
            let earlier = runs.filter(|sample| !is_made_by(sample, &own));
            attempts.extend(earlier.map(|sample| sample.attempt.clone()));
            measures.push(measure);
        }
        if measures.is_empty() {
            return None;
        }
        let text = format!(
            "the endpoints show no regression, but runs of {} vary, and earlier hunts made a part \
             of them: these no longer count, and the hunt begins again",
            measures.join(", ")
        );
        Some(MachineChange { text, measures, attempts })
    }
}
