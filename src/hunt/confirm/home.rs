//! The confirmation's builds and runs have an empty home folder. If their results are not those of
//! the search, the confirmation is made again with the user's own home folder, to tell why: a cache
//! there carries results from one commit to another, or the engine needs a file of that folder.

use std::collections::BTreeSet;

use crate::config::HomeUse;
use crate::evaluation::{CommitId, Reading};
use crate::hunt::HuntError;
use crate::hunt::claim::{Claim, ConfirmationOutcome};
use crate::hunt::driver::Driver;
use crate::hunt::strategy::SearchStrategy;
use crate::oracle::{Observation, measures_of};
use crate::store::journal::Event;

use super::confirmation_runs::ConfirmationRuns;

/// What an empty home folder may change.
pub(super) enum HomeEffect {
    /// A commit fails. The text says how.
    Fails(String),
    /// All runs of a commit give the same value, which is not the search's. The claim still holds.
    OtherValue(String),
    /// The same, and the claim does not hold. The text is the reason.
    Contradicts(String),
}

impl Driver<'_> {
    /// What the empty home folder may have changed; `None` if nothing.
    pub(super) fn effect_of_home(
        &mut self,
        fresh: &ConfirmationRuns,
        refusal: Option<&ConfirmationOutcome>,
        strategy: &SearchStrategy,
    ) -> Result<Option<HomeEffect>, HuntError> {
        if self.oracle.recipes.config.home != HomeUse::Checked {
            return Ok(None);
        }
        let measures = measures_of(&strategy.targets);
        for seen in fresh.parents.iter().chain([&fresh.commit]) {
            let mut before = self.known_runs(&seen.commit, &measures)?;
            let own: BTreeSet<String> = seen.attempts().into_iter().collect();
            for samples in before.samples.values_mut() {
                samples.retain(|sample| !own.contains(&sample.attempt));
            }
            let name = seen.commit.short();
            if let Some(failure) = seen.first_failure()
                && fails_always(seen)
                && before.first_failure().is_none()
            {
                return Ok(Some(HomeEffect::Fails(format!("{name} fails: {}", failure.detail))));
            }
            if strategy.noisy().is_some() || !repeats_another_value(seen, &before) {
                continue;
            }
            match refusal.map(reason_of) {
                None => {
                    return Ok(Some(HomeEffect::OtherValue(format!("{name} has other values"))));
                }
                Some(Some(why)) => return Ok(Some(HomeEffect::Contradicts(why))),
                Some(None) => {}
            }
        }
        Ok(None)
    }

    /// Confirms again, with new builds and the user's home folder, which the hunt uses from now on.
    /// The runs with an empty one no longer count.
    pub(super) fn measure_with_user_home(
        &mut self,
        claim: Claim<'_>,
        parents: &[CommitId],
    ) -> Result<ConfirmationRuns, HuntError> {
        self.oracle.recorder.event(Event::Home { empty: false })?;
        self.oracle.recipes.config.home = HomeUse::Shared;
        self.measure_in_rounds(claim, parents, true)
    }

    /// Notes that the hunt uses the user's home folder.
    pub(super) fn note_home(&mut self, effect: &HomeEffect) -> Result<(), HuntError> {
        let (HomeEffect::Fails(why) | HomeEffect::OtherValue(why)) = effect else {
            return Ok(());
        };
        let text = format!(
            "the confirmation used your home folder, since with an empty one {why}; whether files \
             there carry results from one commit to another is not checked"
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
fn reason_of(refusal: &ConfirmationOutcome) -> Option<String> {
    match refusal {
        ConfirmationOutcome::NotReproduced(why) | ConfirmationOutcome::ParentAlready(_, why) => {
            Some(why.clone())
        }
        _ => None,
    }
}
