//! Confirmation: before the hunt names a commit, fresh runs measure the commit and its parents in
//! turn. The builds are new and clean, unless `build.confirm` is `reuse`.

pub(crate) mod boundary;
pub(crate) mod chance;
pub(crate) mod chunk_differences;
mod clean_build;
pub(crate) mod confirmation_runs;
pub(crate) mod differences;
mod earlier_confirmation;
pub(crate) mod effect;
mod exchanged_values;
mod flaky_commits;
mod fork;
pub(crate) mod fresh;
pub(crate) mod home;
mod home_reset;
pub(crate) mod loaded_files;
pub(crate) mod lost_runs;
mod offsets;
mod other_guards;
mod other_node;
mod other_place;
mod pointers;
mod rates_at_ends;
pub(crate) mod recheck;
mod resolution;
mod rivals;
pub(crate) mod ruler;
pub(crate) mod steadiness;
pub(crate) mod uneven;
mod user_home;
pub(crate) mod verdict_counts;

use crate::config::{ConfirmBuild, HomeUse};
use crate::evaluation::{
    Basis, CommitId, Culprit, Doubts, Judgement, Metric, Phase, SkipReason, Target, Verdict,
};
use crate::git::FileChange;
use crate::oracle::{Observation, measures_of};
use crate::store::journal::{Event, SearchMethod};
use crate::store::{Confirmation, KeyHasher};
use crate::ui::text;

use super::HuntError;
use super::claim::{Claim, ConfirmationOutcome};
use super::distinct::distinct;
use super::driver::Driver;
use super::strategy::SearchStrategy;
use super::terms::SearchTerms;
use super::verdict::{VerdictContext, write_down};
use chance::reported_confidence;
use confirmation_runs::ConfirmationRuns;
use effect::is_blamed;
use fork::with_doubt_about_forks;
use home::HomeEffect;
use other_guards::OtherGuards;
use other_place::doubt_place;

impl Driver<'_> {
    /// Confirms a commit against its parents, or says why that is not possible.
    pub(crate) fn confirm(&mut self, claim: Claim<'_>) -> Result<ConfirmationOutcome, HuntError> {
        let Claim { commit, targets, strategy, .. } = claim;
        let mut parents = self.oracle.history.parents(commit)?;
        if self.begun.options.first_parent {
            // With `--first-parent` a merge counts as the author of its branch's changes.
            parents.truncate(1);
        }
        self.drop_excluded_parents(&mut parents, claim)?;
        if parents.is_empty() {
            let why = self.why_no_parent().into();
            return Ok(ConfirmationOutcome::Undecidable(vec![commit.clone()], why));
        }
        let before = self.taken_over(claim, &parents)?;
        if before.is_none() {
            self.leave_to_confirm(claim)?;
            if let Some(rejection) = self.rejection_by_clean_build(claim, &parents)? {
                self.oracle.pool.free_all_but(&self.begun.good.commit);
                return Ok(rejection);
            }
        }
        let mut fresh = self.measure_afresh(claim, &parents)?;
        let mut verdicts = self.verdicts(&fresh, claim)?;
        let mut refusal = reason_to_reject(commit, &parents, &verdicts, claim.terms);
        if let Some(effect) = self.effect_of_home(&fresh, refusal.as_ref(), strategy)? {
            let own = self.measure_with_user_home(claim, &parents)?;
            // If the home folder makes no difference, the check goes on with empty ones.
            if self.note_home(&effect, [&fresh, &own], strategy)? {
                self.keep_user_home()?;
                fresh = own;
                verdicts = self.verdicts(&fresh, claim)?;
                refusal = reason_to_reject(commit, &parents, &verdicts, claim.terms);
                if let (HomeEffect::Contradicts(why), None) = (&effect, &refusal) {
                    self.oracle.pool.free_all_but(&self.begun.good.commit);
                    let why = format!("{} is not confirmed: {why}", commit.short());
                    return Ok(ConfirmationOutcome::HomeMatters(why));
                }
            }
        }
        let on_others = match &refusal {
            None => self.effects_on_other_guards(claim, &parents)?,
            Some(_) => OtherGuards::default(),
        };
        self.oracle.pool.free_all_but(&self.begun.good.commit);
        if let Some(refusal) = refusal {
            self.exclude_from_confirmations(&fresh, strategy);
            return Ok(refusal);
        }
        if let Some(why) = self.check_repeatability(claim, &fresh)? {
            self.exclude_from_confirmations(&fresh, strategy);
            return Ok(ConfirmationOutcome::Undecided(why));
        }
        if let Some(objection) = self.recipe_objection(claim, &parents)? {
            return Ok(objection);
        }
        if let Some(objection) = self.ruler_objection(claim, &fresh)? {
            return Ok(objection);
        }
        let broken = fresh.broken(targets, strategy, &self.oracle.recipes.config);
        let (mut culprit, worst) = self.culprit(claim, &parents, &fresh, &broken)?;
        if let Some(why) = why_not_blamed(&culprit, &fresh) {
            return Ok(ConfirmationOutcome::Undecidable(vec![commit.clone()], why.into()));
        }
        let sides = [&fresh.parents[worst], &fresh.commit];
        if let Some(objection) = self.exchange_objection(claim, &culprit, sides)? {
            return Ok(objection);
        }
        if let Some(objection) = self.settings_objection(claim)? {
            return Ok(objection);
        }
        culprit.confidence = with_doubt_about_forks(culprit.confidence, claim.aside);
        self.doubt_home(&mut culprit)?;
        doubt_place(&mut culprit, sides, targets);
        self.doubt_resolution(&mut culprit, sides)?;
        self.doubt_pointers(&mut culprit)?;
        match before {
            Some(before) if before.hunt != self.hunt.id() => {
                culprit.confirmed_before = Some((before.date, before.hunt));
            }
            _ => {
                // The key of now: the confirmation may have changed to the user's home folder.
                let key = self.confirmation_key(commit, &parents, targets)?;
                self.keep_confirmation(&key, &fresh, on_others.attempts)?;
            }
        }
        if self.oracle.recipes.config.build.confirm == ConfirmBuild::Reuse {
            let text = "the confirmation used the builds of the search, not new clean builds, because \
                        build.confirm is \"reuse\"";
            self.oracle.recorder.event(Event::Note { text: text.to_owned() })?;
        }
        let observation = fresh.bad_side(worst).clone();
        if !is_blamed(&culprit) || !fresh.are_surely_large(strategy) {
            return Ok(ConfirmationOutcome::Small(Box::new(culprit), observation));
        }
        if culprit.failure.is_none() {
            culprit.effects.extend(on_others.effects);
        }
        self.oracle.recorder.event(Event::Confirmed(Box::new(culprit.clone())))?;
        Ok(ConfirmationOutcome::Culprit(Box::new(culprit), observation))
    }

    fn why_no_parent(&self) -> &'static str {
        if self.oracle.history.repository().is_shallow() {
            "no parent of it is in this shallow clone to measure it against (git fetch --unshallow)"
        } else {
            "it has no parent to measure it against"
        }
    }

    /// The stored confirmation of this claim, if it still holds; its runs then count.
    fn taken_over(
        &mut self,
        claim: Claim<'_>,
        parents: &[CommitId],
    ) -> Result<Option<Confirmation>, HuntError> {
        let key = self.confirmation_key(claim.commit, parents, claim.targets)?;
        // `--retry-failed` drops an earlier hunt's confirmation: it may rest on failures. A change
        // of the machine drops it too.
        let is_dropped = self.begun.options.retry_failed || self.oracle.stored.has_outdated();
        let stored = self.oracle.store.confirmation(&key);
        let stored = stored.filter(|stored| !is_dropped || stored.hunt == self.hunt.id());
        let Some(stored) = stored else { return Ok(None) };
        if !self.still_holds(&stored, claim, parents)? {
            return Ok(None);
        }
        self.oracle.stored.taken_over.extend(stored.attempts.iter().cloned());
        Ok(Some(stored))
    }

    /// Whether fresh runs confirm the step from `against` to the claimed commit, if the commits
    /// between them cannot be tested.
    pub(crate) fn confirm_span(
        &mut self,
        claim: Claim<'_>,
        against: &[CommitId],
    ) -> Result<bool, HuntError> {
        let fresh = self.measure_afresh(claim, against)?;
        let verdicts = self.verdicts(&fresh, claim)?;
        let stands = reason_to_reject(claim.commit, against, &verdicts, claim.terms).is_none();
        if !stands {
            self.exclude_from_confirmations(&fresh, claim.strategy);
        }
        Ok(stands)
    }

    /// In noise, the fresh runs of a rejected claim must not confirm the next claim.
    fn exclude_from_confirmations(&mut self, fresh: &ConfirmationRuns, strategy: &SearchStrategy) {
        if strategy.method != SearchMethod::BitIdentical {
            let all = fresh.parents.iter().chain([&fresh.commit]);
            self.excluded_runs.extend(all.flat_map(Observation::attempts));
        }
    }

    /// Judges the parents and the commit by fresh runs alone and records the verdicts.
    fn verdicts(
        &mut self,
        fresh: &ConfirmationRuns,
        claim: Claim<'_>,
    ) -> Result<Vec<Judgement>, HuntError> {
        let verdicts = fresh.verdicts(claim.strategy, &self.oracle.recipes.config);
        let observations = fresh.parents.iter().chain([&fresh.commit]);
        for (observation, judgement) in observations.zip(&verdicts) {
            let place = VerdictContext {
                search_number: claim.search_number,
                phase: Phase::Confirm,
                left: None,
            };
            write_down(&mut self.oracle, observation, judgement, place)?;
        }
        Ok(verdicts)
    }

    /// The culprit as reported, and the index of the parent that it is compared with.
    fn culprit(
        &self,
        claim: Claim<'_>,
        parents: &[CommitId],
        fresh: &ConfirmationRuns,
        broken: &[Metric],
    ) -> Result<(Culprit, usize), HuntError> {
        let Claim { commit, targets, .. } = claim;
        let (mut effects, worst) = fresh.effects(targets, &self.oracle.recipes.config);
        // The commit is not blamed for a metric that stays within its tolerance.
        effects.retain(|effect| broken.contains(&effect.metric));
        let wanted = targets.iter().find_map(Target::failure).cloned();
        // A commit that prints NaN, for example, has no level and no step.
        let failure = wanted.or_else(|| {
            fresh.bad_side(worst).first_failure().cloned().filter(|_| effects.is_empty())
        });
        let parent = &parents[worst];
        let (confidence, basis) = match fresh.confidence() {
            Some(confidence) => {
                let basis = match claim.strategy.method {
                    SearchMethod::Posterior => Basis::Posterior,
                    SearchMethod::BitIdentical | SearchMethod::Sequential => Basis::Sequential,
                };
                (confidence, basis)
            }
            None if fresh.is_exact => (reported_confidence(fresh.chance_of_error), Basis::BitExact),
            None => (reported_confidence(fresh.chance_of_error), Basis::Sequential),
        };
        let history = &self.oracle.history;
        let changes = history.diff_files(Some(parent), commit)?;
        let dependencies = history.dependencies(parent, commit, &changes)?;
        let files = changes.iter().map(FileChange::touched).collect();
        let parents_in_git = history.parents(commit)?;
        let own_files = match parents_in_git.len() {
            0 | 1 => None,
            _ => history.own_files_of_merge(commit)?,
        };
        let culprit = Culprit {
            info: self.oracle.history.named(commit)?,
            parents: parents_in_git,
            parent: parent.clone(),
            confidence,
            basis,
            effects,
            failure,
            files,
            dependencies,
            own_files,
            ran: self.compare_loaded_files(&fresh.parents[worst], &fresh.commit, targets)?,
            differences: Some(self.differences(parent, commit)?),
            confirmed_before: None,
            doubts: Doubts::default(),
            undone_by: None,
            hidden: None,
        };
        Ok((culprit, worst))
    }

    /// The key of a confirmation: a hash of everything that its runs depend on.
    fn confirmation_key(
        &self,
        commit: &CommitId,
        parents: &[CommitId],
        targets: &[Target],
    ) -> Result<String, HuntError> {
        let rebuilt = self.oracle.recipes.config.build.confirm == ConfirmBuild::Rebuild;
        let builds = if rebuilt { "built anew" } else { "the search's" };
        let mut hasher = KeyHasher::new("confirmation").field("builds", builds);
        if self.oracle.recipes.config.home == HomeUse::Shared {
            hasher = hasher.field("home", "the user's");
        }
        for one in parents.iter().chain([commit]) {
            let recipe = self.oracle.recipes.at(one)?;
            hasher =
                hasher.field("build", self.oracle.recipes.build_key_of(one, &recipe)?.as_str());
            for name in measures_of(targets) {
                if let Some(measure) = recipe.measure(&name) {
                    let key = self.oracle.recipes.run_key_of(one, &recipe, measure)?;
                    hasher = hasher.field("run", key.as_str());
                }
            }
        }
        Ok(hasher.hex())
    }

    /// Stores the confirmation. `others`: its runs for other guards.
    fn keep_confirmation(
        &self,
        key: &str,
        fresh: &ConfirmationRuns,
        others: Vec<String>,
    ) -> Result<(), HuntError> {
        let seen = fresh.parents.iter().chain([&fresh.commit]);
        let attempts = distinct(seen.flat_map(Observation::attempts).chain(others));
        let made = Confirmation {
            hunt: self.hunt.id().to_owned(),
            date: jiff::Timestamp::now().to_string(),
            attempts,
        };
        Ok(self.oracle.store.put_confirmation(key, &made)?)
    }
}

/// Why fresh runs do not show that the commit made a difference, if they do not.
fn why_not_blamed(culprit: &Culprit, fresh: &ConfirmationRuns) -> Option<String> {
    if let Some(ran) = culprit.ran.as_ref().filter(|ran| ran.is_same()) {
        return Some(format!(
            "it and its parent ran {}, so it did not cause the difference",
            text::plural(ran.alike, "identical file")
        ));
    }
    (culprit.confidence < fresh.wanted).then(|| {
        format!(
            "its fresh runs differ from its parent's with a confidence of only {:.4}, below {:.4}",
            culprit.confidence, fresh.wanted
        )
    })
}

/// Why the verdicts do not support the claim; `None` if they do.
pub(crate) fn reason_to_reject(
    commit: &CommitId,
    parents: &[CommitId],
    verdicts: &[Judgement],
    terms: SearchTerms,
) -> Option<ConfirmationOutcome> {
    let (own, theirs) = verdicts.split_last().expect("the commit is the last of them");
    match own.verdict {
        verdict if terms.is_newer(verdict) => {}
        Verdict::Good | Verdict::Bad => {
            return Some(ConfirmationOutcome::not_reproduced(own, terms));
        }
        Verdict::Skip | Verdict::Unknown => {
            let why = format!("measured afresh it cannot be judged: {}", own.reason);
            return Some(open(own, vec![commit.clone()], why));
        }
    }
    for (parent, judgement) in parents.iter().zip(theirs) {
        match judgement.verdict {
            verdict if terms.is_older(verdict) => {}
            Verdict::Good | Verdict::Bad => {
                return Some(ConfirmationOutcome::parent_already(parent, judgement, terms));
            }
            Verdict::Skip | Verdict::Unknown => {
                let why = format!(
                    "its parent {} cannot be measured: {}",
                    parent.short(),
                    judgement.reason
                );
                return Some(open(judgement, vec![commit.clone(), parent.clone()], why));
            }
        }
    }
    None
}

/// The outcome if a judgement is neither good nor bad.
fn open(judgement: &Judgement, commits: Vec<CommitId>, why: String) -> ConfirmationOutcome {
    if judgement.skip == Some(SkipReason::Unsteady) {
        ConfirmationOutcome::Undecided(why)
    } else {
        ConfirmationOutcome::Undecidable(commits, why.into())
    }
}
