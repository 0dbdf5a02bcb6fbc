//! The confirmation's builds and runs have an empty home folder. If their results are not those of
//! the search, the confirmation is made again with the user's own home folder, to tell why: a cache
//! there carries results from one commit to another, or the engine needs a file of that folder.

use std::collections::BTreeSet;

use crate::build::changed_in_home;
use crate::config::HomeUse;
use crate::evaluation::{CommitId, Culprit, HomeDoubt, Phase, Reading};
use crate::hunt::HuntError;
use crate::hunt::claim::{Claim, ConfirmationOutcome};
use crate::hunt::driver::Driver;
use crate::hunt::home_evidence::{HUNT_WITH_HOME, levels};
use crate::hunt::open_doubt::lower_confidence;
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
        let only_failures = strategy.noisy().is_some() || self.values_vary_with_one_home()?;
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
            if only_failures || !repeats_another_value(seen, &before) {
                continue;
            }
            match refusal.map(reason_of) {
                None => {
                    return Ok(Some(HomeEffect::OtherValue(format!("{name} has other values"))));
                }
                // Builds that kept files explain it too: the hunt begins again with clean ones, and
                // asks again at the next confirmation.
                Some(Some(_)) if self.oracle.recipes.config.build.mode.keeps_files() => {}
                Some(Some(why)) => return Ok(Some(HomeEffect::Contradicts(why))),
                Some(None) => {}
            }
        }
        Ok(None)
    }

    /// Confirms again, with new builds and the user's home folder.
    pub(super) fn measure_with_user_home(
        &mut self,
        claim: Claim<'_>,
        parents: &[CommitId],
    ) -> Result<ConfirmationRuns, HuntError> {
        self.with_user_home(|driver| driver.measure_in_rounds(claim, parents, true))
    }

    /// Does this with the user's home folder, unless all builds and runs get an empty one.
    pub(crate) fn with_user_home<T>(&mut self, ask: impl FnOnce(&mut Self) -> T) -> T {
        let home = self.oracle.recipes.config.home;
        if home == HomeUse::Checked {
            self.oracle.recipes.config.home = HomeUse::Shared;
        }
        let told = ask(self);
        self.oracle.recipes.config.home = home;
        told
    }

    /// Uses the user's home folder from now on. The runs with an empty one no longer count.
    pub(super) fn keep_user_home(&mut self) -> Result<(), HuntError> {
        self.oracle.recipes.config.home = HomeUse::Shared;
        Ok(self.oracle.recorder.event(Event::Home { empty: false })?)
    }

    /// Whether the user's home folder makes a difference. Notes that the hunt uses it from now on,
    /// or that the runs with an empty one and those with it show the same.
    pub(super) fn note_home(
        &mut self,
        effect: &HomeEffect,
        [empty, own]: [&ConfirmationRuns; 2],
        strategy: &SearchStrategy,
    ) -> Result<bool, HuntError> {
        let is_same = is_same_with_both(empty, own, strategy.noisy().is_some());
        let text = match effect {
            HomeEffect::Contradicts(_) => return Ok(!is_same),
            HomeEffect::Fails(why) if is_same => {
                format!("{why}; it fails with an empty home folder and with yours")
            }
            HomeEffect::OtherValue(why) if is_same => {
                let mode = self.oracle.recipes.config.build.mode;
                let stale = if mode.keeps_files() {
                    "; builds of the search may have kept files of other commits (`mode` under \
                     [build])"
                } else {
                    ""
                };
                format!(
                    "{why} in the confirmation than in the search, with an empty home folder and \
                     with yours{stale}"
                )
            }
            HomeEffect::Fails(why) | HomeEffect::OtherValue(why) => format!(
                "the confirmation used your home folder, since with an empty one {why}; whether \
                 files there carry results from one commit to another is not checked"
            ),
        };
        self.oracle.recorder.event(Event::Note { text })?;
        Ok(!is_same)
    }

    /// Lowers the confidence in a confirmed commit if files in the home folder may have carried
    /// results from one commit to another, or if the hunt left out the user's settings there. Not if
    /// the configuration says which home folder to use.
    pub(super) fn doubt_home(&self, culprit: &mut Culprit) -> Result<(), HuntError> {
        let doubt = if let Some(shown) = self.shown_with_user_home()? {
            Some(HomeDoubt::EmptyHome(levels(&shown)))
        } else if self.oracle.recipes.config.home.is_empty_in(Phase::Confirm) {
            self.change_in_home().map(HomeDoubt::Changed)
        } else {
            let entries = self.hunt.entries()?;
            let is_forced = entries.iter().any(|entry| matches!(entry.event, Event::Home { .. }));
            is_forced.then_some(HomeDoubt::UserHome)
        };
        if let Some(doubt) = doubt {
            lower_confidence(culprit);
            culprit.doubts.home_doubt = Some(doubt);
        }
        Ok(())
    }

    /// The candidates if the endpoints show another regression with an empty home folder than they
    /// showed with the user's. The settings there then matter, and a commit that makes the step
    /// without them need not make the user's step: all commits of the range are candidates.
    pub(super) fn settings_objection(
        &self,
        claim: Claim<'_>,
    ) -> Result<Option<ConfirmationOutcome>, HuntError> {
        let Some([shown, now]) = self.other_step_without_settings()? else { return Ok(None) };
        let candidates = self.oracle.history.commits(&self.whole())?;
        let why = format!(
            "with an empty home folder {} is confirmed, and the endpoints show {now}; with yours they \
             showed {shown}, so files there, such as settings, change the result too; {HUNT_WITH_HOME}",
            claim.commit.short(),
        );
        Ok(Some(ConfirmationOutcome::Undecidable(candidates, why.into())))
    }

    /// A file that changed during the hunt, and that an empty home folder has too, by a link. If a
    /// build or run wrote it, an empty home folder does not show whether it matters. Any time since
    /// the hunt began counts: what the search wrote is there for the confirmation to read.
    pub(crate) fn change_in_home(&self) -> Option<String> {
        self.hunt.began().and_then(changed_in_home)
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

/// Whether the confirmation with an empty home folder and that with the user's show the same: each
/// commit fails always in both, or has the same values in both. In noise (`is_noisy`) values always
/// differ, so only failures count.
fn is_same_with_both(empty: &ConfirmationRuns, own: &ConfirmationRuns, is_noisy: bool) -> bool {
    let pairs = empty.parents.iter().zip(&own.parents);
    let mut pairs = pairs.chain([(&empty.commit, &own.commit)]);
    pairs.all(|(one, other)| show_the_same(one, other, is_noisy))
}

fn show_the_same(one: &Observation, other: &Observation, is_noisy: bool) -> bool {
    match [one, other].map(fails_always) {
        [true, true] => true,
        [false, false] => is_noisy || have_same_values(one, other),
        _ => false,
    }
}

/// Whether all runs of a commit in both sets are bit-identical, and both have some.
fn have_same_values(one: &Observation, other: &Observation) -> bool {
    let is_same = |measure: &String| {
        let [one, other] =
            [one, other].map(|seen| seen.readings(measure).collect::<Vec<&Reading>>());
        let (Some(first), false) = (one.first(), other.is_empty()) else { return false };
        one.iter().chain(&other).all(|reading| reading.same_bits(first))
    };
    !one.samples.is_empty() && one.samples.keys().all(is_same)
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle::fixture::{at, unbuildable};

    #[test]
    fn a_home_folder_that_changes_nothing_gives_the_same_values() {
        let seen = at('1', &[7.0, 7.0]);
        assert!(have_same_values(&seen, &at('1', &[7.0])));
        assert!(!have_same_values(&seen, &at('1', &[7.0, 7.5])));
        assert!(!have_same_values(&seen, &unbuildable('1', "x")));
        assert!(!have_same_values(&unbuildable('1', "x"), &unbuildable('1', "x")));
    }

    #[test]
    fn a_commit_that_fails_with_both_home_folders_does_not_need_the_users() {
        let seen = at('1', &[7.0, 7.0]);
        let other = at('1', &[7.1, 7.2]);
        for is_noisy in [false, true] {
            assert!(show_the_same(&unbuildable('1', "x"), &unbuildable('1', "x"), is_noisy));
            assert!(show_the_same(&seen, &seen, is_noisy));
            assert!(!show_the_same(&unbuildable('1', "x"), &seen, is_noisy));
            assert_eq!(show_the_same(&seen, &other, is_noisy), is_noisy);
        }
    }
}
