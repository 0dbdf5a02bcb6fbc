//! The confirmation's builds and runs have an empty home folder. If it rejects a claim, this tells
//! whether the home folder is the reason: a cache of results there leads from one commit to another,
//! or the engine needs a file of it.

use std::collections::BTreeSet;

use crate::config::HomeUse;
use crate::evaluation::{CommitId, Phase, Reading};
use crate::hunt::HuntError;
use crate::hunt::claim::{Claim, ConfirmationOutcome};
use crate::hunt::driver::Driver;
use crate::hunt::strategy::SearchStrategy;
use crate::oracle::{Observation, Request, measures_of};
use crate::store::journal::Event;

use super::fresh::ConfirmationRuns;

impl Driver<'_> {
    /// Whether the home folder may be the reason for a rejected claim: something failed with an
    /// empty one, or a commit repeats a value there that the search did not see.
    pub(super) fn may_be_about_home(
        &mut self,
        fresh: &ConfirmationRuns,
        refusal: &ConfirmationOutcome,
        strategy: &SearchStrategy,
    ) -> Result<bool, HuntError> {
        if self.oracle.recipes.config.home != HomeUse::Checked {
            return Ok(false);
        }
        let measures = measures_of(&strategy.targets);
        for seen in fresh.parents.iter().chain([&fresh.commit]) {
            let look = Request::look(&seen.commit, &measures, Phase::Search);
            let mut before = self.oracle.evaluate(look)?;
            let own: BTreeSet<String> = seen.attempts().into_iter().collect();
            for samples in before.samples.values_mut() {
                samples.retain(|sample| !own.contains(&sample.attempt));
            }
            if fails_always(seen) && before.first_failure().is_none() {
                return Ok(true);
            }
            let is_new = strategy.noisy().is_none() && repeats_another_value(seen, &before);
            if is_new && reason_of(refusal).is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Confirms again, with new builds and the user's home folder. The runs with an empty one no
    /// longer count.
    pub(super) fn measure_with_own_home(
        &mut self,
        claim: Claim<'_>,
        parents: &[CommitId],
        checked: &ConfirmationRuns,
    ) -> Result<ConfirmationRuns, HuntError> {
        let all = checked.parents.iter().chain([&checked.commit]);
        self.excluded_runs.extend(all.flat_map(Observation::attempts));
        self.oracle.recipes.config.home = HomeUse::Shared;
        self.rebuilds = true;
        let measured = self.measure_afresh(claim, parents);
        self.rebuilds = false;
        self.oracle.recipes.config.home = HomeUse::Checked;
        measured
    }

    /// Notes that the confirmation needed the user's home folder.
    pub(super) fn note_home_is_needed(
        &mut self,
        checked: &ConfirmationRuns,
    ) -> Result<(), HuntError> {
        let mut all = checked.parents.iter().chain([&checked.commit]);
        let failed = all.find_map(|seen| Some((seen, seen.first_failure()?)));
        let why = failed.map_or_else(
            || "results differ from run to run".to_owned(),
            |(seen, failure)| format!("{} fails: {}", seen.commit.short(), failure.detail),
        );
        let text = format!(
            "the confirmation used your home folder, since with an empty one {why}; whether files \
             there lead from one commit to another is not checked"
        );
        self.oracle.recorder.event(Event::Note { text })?;
        Ok(())
    }
}

/// Whether the build or every run failed.
fn fails_always(seen: &Observation) -> bool {
    let mut samples = seen.samples.values().flatten();
    seen.first_failure().is_some() && samples.all(|sample| sample.result.is_err())
}

/// Whether all runs of a commit are bit-identical, and another value was seen before.
fn repeats_another_value(seen: &Observation, before: &Observation) -> bool {
    seen.samples.keys().any(|measure| {
        let now: Vec<&Reading> = seen.readings(measure).collect();
        let known: Vec<&Reading> = before.readings(measure).collect();
        let [first, more @ ..] = now.as_slice() else { return false };
        let repeats = !more.is_empty() && more.iter().all(|one| one.same_bits(first));
        repeats && !known.is_empty() && known.iter().all(|one| !one.same_bits(first))
    })
}

/// Why fresh runs contradict the search; `None` if they cannot be judged.
pub(super) fn reason_of(refusal: &ConfirmationOutcome) -> Option<String> {
    match refusal {
        ConfirmationOutcome::NotReproduced(why) | ConfirmationOutcome::ParentAlready(_, why) => {
            Some(why.clone())
        }
        _ => None,
    }
}
