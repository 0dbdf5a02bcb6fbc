//! Two hunts at the same time measure a commit once: what another hunt measures right now is waited
//! for, and its result is taken from the store.

use std::time::{Duration, Instant};

use crate::config::Config;
use crate::evaluation::Phase;
use crate::store::{FlightClaim, InFlight};

use super::parts::Oracle;
use super::{OracleError, Request};

/// Time until the second try: the other hunt may only have looked into the store.
const FIRST_PAUSE: Duration = Duration::from_millis(20);
/// Interval between two later tries. Much longer than the time between two requests of one hunt for
/// the same commit, so that the hunt which has the build makes its further runs too.
const PAUSE: Duration = Duration::from_millis(500);

impl Oracle {
    /// Claims what this request asks for, as long as the returned values live. If another hunt
    /// measures one of its measures at this commit right now, waits for the end, at most as long as
    /// a build and a run may take. A request that the store answers already waits for nothing, and one
    /// that takes only results of its own hunt claims nothing.
    pub(super) fn claim_in_flight(
        &mut self,
        request: Request<'_>,
        recipe: &Config,
    ) -> Result<Vec<InFlight>, OracleError> {
        let shares = matches!(request.phase, Phase::Endpoint | Phase::Search);
        let Some(hunt) = self.recorder.hunt().map(str::to_owned) else { return Ok(Vec::new()) };
        if !shares || request.runs == 0 || request.rebuild {
            return Ok(Vec::new());
        }
        let (keys, longest) = self.keys_and_longest(request, recipe)?;
        let begun = Instant::now();
        let (mut pause, mut is_said) = (FIRST_PAUSE, false);
        let mut held = Vec::new();
        // In the order of their keys: two hunts never wait for each other.
        for key in keys {
            loop {
                match self.store.claim_in_flight(&key, &hunt)? {
                    FlightClaim::Held(claim) => {
                        held.push(claim);
                        break;
                    }
                    FlightClaim::OtherHunt(_) if self.is_answered(request, recipe)? => {
                        return Ok(Vec::new());
                    }
                    FlightClaim::OtherHunt(other) if begun.elapsed() < longest => {
                        if pause == PAUSE && !std::mem::replace(&mut is_said, true) {
                            let commit = request.commit;
                            let why = format!(
                                "waiting for {}, which hunt {other} measures now",
                                commit.short()
                            );
                            self.recorder.waits(&why, commit, None, request.phase);
                        }
                    }
                    FlightClaim::OtherHunt(_) | FlightClaim::Untold => break,
                }
                if self.stop.within(pause) {
                    return Err(OracleError::stopped(&self.stop));
                }
                pause = PAUSE;
            }
        }
        Ok(held)
    }

    /// Whether the store has as many runs of each measure as the request asks for.
    fn is_answered(&self, request: Request<'_>, recipe: &Config) -> Result<bool, OracleError> {
        for name in request.measures {
            let Some(measure) = recipe.measure(name) else { continue };
            let recipe = recipe.reading(measure, request.chunks);
            let key = self.recipes.run_key_of(request.commit, &recipe, measure)?;
            let runs = self.stored_runs(request.commit, &recipe, measure, &key)?;
            if runs.len() < request.runs {
                return Ok(false);
            }
        }
        Ok(!request.measures.is_empty())
    }

    /// The keys of what the request may measure, sorted, and the longest time that one build and one
    /// run of each may take.
    fn keys_and_longest(
        &self,
        request: Request<'_>,
        recipe: &Config,
    ) -> Result<(Vec<String>, Duration), OracleError> {
        let mut longest = recipe.build.timeout;
        let mut keys = Vec::new();
        for name in request.measures {
            let Some(measure) = recipe.measure(name) else { continue };
            let recipe = recipe.reading(measure, request.chunks);
            keys.push(self.recipes.run_key_of(request.commit, &recipe, measure)?.to_string());
            longest = longest.saturating_add(measure.timeout);
        }
        if request.measures.is_empty() {
            keys.push(self.recipes.build_key_of(request.commit, recipe)?.to_string());
        }
        keys.sort_unstable();
        keys.dedup();
        Ok((keys, longest))
    }
}
