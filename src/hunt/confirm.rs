//! The confirmation: a commit and its real parents measured afresh, interleaved, from clean
//! builds, before anybody is named.

use std::collections::BTreeMap;

use crate::config::{Config, ConfirmBuild};
use crate::evaluation::{Basis, CommitId, Culprit, Judgement, Phase, Target, TouchedFile, Verdict};
use crate::oracle::{Decision, Observation, Request, judge, measures_of};
use crate::stats;
use crate::store::journal::{Event, Steadiness};
use crate::store::{Confirmation, KeyHasher};

use super::HuntError;
use super::begin::info;
use super::driver::Driver;
use super::effect::{bad_side, effects, is_blamed};
use super::verdict::{Place, write_down};

/// Fresh runs of each commit where values do not repeat bit for bit: five against five part by
/// chance once in 252 times.
const ROUNDS_NOISY: usize = 5;

/// What a claim came to.
pub(super) enum Confirmed {
    /// It holds.
    Culprit(Box<Culprit>, Observation),
    /// It holds, but the own step is too small to blame anybody.
    Small(Box<Culprit>, Observation),
    /// Afresh, the commit is not bad.
    NotBad(String),
    /// Afresh, a parent is bad already.
    ParentBad(CommitId, String),
    /// It can neither be held nor dropped; it is one of these.
    Unsure(Vec<CommitId>, String),
}

/// A commit and its parents, measured afresh.
struct Fresh {
    commit: Observation,
    parents: Vec<Observation>,
    /// Every run repeated every earlier one bit for bit.
    is_exact: bool,
}

impl Driver<'_> {
    /// Confirms a commit against its real parents, or says why that cannot be done.
    pub(super) fn confirm(
        &mut self,
        commit: &CommitId,
        targets: &[Target],
        steadiness: Steadiness,
        stretch: usize,
    ) -> Result<Confirmed, HuntError> {
        let mut parents = self.oracle.history.parents(commit)?;
        if self.begun.options.first_parent {
            // What comes in by a merge is the merge's doing, as far as this search can see.
            parents.truncate(1);
        }
        if parents.is_empty() {
            let why = "it has no parent to measure it against".to_owned();
            return Ok(Confirmed::Unsure(vec![commit.clone()], why));
        }
        let key = self.confirmation_key(commit, &parents, targets)?;
        let before = self.oracle.store.confirmation(&key)?;
        if let Some(before) = &before {
            self.oracle.taken_over.extend(before.attempts.iter().cloned());
        }
        let fresh = self.measure_afresh(commit, &parents, targets, steadiness)?;
        let verdicts = self.verdicts(&fresh, targets, steadiness, stretch)?;
        self.oracle.kept.retain(|slot| {
            slot.stamp().is_some_and(|stamp| stamp.commit == self.begun.good.commit)
        });
        if let Some(refusal) = refusal(commit, &parents, &verdicts) {
            return Ok(refusal);
        }
        if let Some(why) = self.recipe_objection(commit, &parents, targets, steadiness)? {
            return Ok(Confirmed::Unsure(vec![commit.clone()], why));
        }
        let culprit = self.culprit(commit, &parents, targets, &fresh)?;
        let wanted = self.oracle.config.statistics.confidence;
        if culprit.confidence < wanted {
            let why = format!(
                "its fresh runs part from its parent's with a confidence of {:.3} only, below {wanted}",
                culprit.confidence
            );
            return Ok(Confirmed::Unsure(vec![commit.clone()], why));
        }
        let mut culprit = culprit;
        match before {
            Some(before) if before.hunt != self.hunt.id() => {
                culprit.confirmed_before = Some((before.date, before.hunt));
            }
            _ => self.keep_confirmation(&key, &fresh)?,
        }
        if self.oracle.config.build.confirm == ConfirmBuild::Reuse {
            let text = "confirmed with the search's own builds, not with newer clean ones, since \
                        build.confirm is \"reuse\"";
            self.oracle.recorder.event(Event::Note { text: text.to_owned() })?;
        }
        let observation = fresh.commit;
        if !is_blamed(&culprit) {
            return Ok(Confirmed::Small(Box::new(culprit), observation));
        }
        self.oracle.recorder.event(Event::Confirmed(Box::new(culprit.clone())))?;
        Ok(Confirmed::Culprit(Box::new(culprit), observation))
    }

    /// Measures commit and parents in turn, forth and back, one run a round; more rounds where
    /// anything does not repeat.
    fn measure_afresh(
        &mut self,
        commit: &CommitId,
        parents: &[CommitId],
        targets: &[Target],
        steadiness: Steadiness,
    ) -> Result<Fresh, HuntError> {
        let measures = measures_of(targets);
        let mut order: Vec<&CommitId> = parents.iter().chain([commit]).collect();
        let mut seen: BTreeMap<&CommitId, Observation> = BTreeMap::new();
        let mut is_exact = steadiness == Steadiness::BitIdentical;
        for round in 1..=ROUNDS_NOISY {
            for &one in &order {
                let observation = self.measure_once_more(one, &measures, round)?;
                seen.insert(one, observation);
            }
            is_exact = is_exact && self.all_repeat(&order, targets)?;
            if is_exact || measures.is_empty() {
                break;
            }
            order.reverse();
        }
        let mut take = |one: &CommitId| seen.remove(one).expect("every one was measured");
        Ok(Fresh {
            parents: parents.iter().map(&mut take).collect(),
            commit: take(commit),
            is_exact,
        })
    }

    fn measure_once_more(
        &mut self,
        commit: &CommitId,
        measures: &[String],
        runs: usize,
    ) -> Result<Observation, HuntError> {
        let phase = Phase::Confirm;
        let request = Request { commit, measures, runs, phase, recipe: None, keep: true };
        Ok(self.oracle.evaluate(request)?)
    }

    /// Whether all that is known of these commits, fresh or not, repeats bit for bit.
    fn all_repeat(&mut self, commits: &[&CommitId], targets: &[Target]) -> Result<bool, HuntError> {
        let measures = measures_of(targets);
        for commit in commits {
            let phase = Phase::Search;
            let known = self.oracle.evaluate(Request {
                commit,
                measures: &measures,
                runs: 0,
                phase,
                recipe: None,
                keep: false,
            })?;
            for target in targets {
                if let Target::Guard(target) = target
                    && known.build_failure.is_none()
                    && !known.repeats(&target.guard.metric)
                    && known.of(&target.guard.metric.measure).iter().any(|s| s.result.is_ok())
                {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// The verdicts on the parents and the commit, from fresh runs alone, written down.
    fn verdicts(
        &mut self,
        fresh: &Fresh,
        targets: &[Target],
        steadiness: Steadiness,
        stretch: usize,
    ) -> Result<Vec<Judgement>, HuntError> {
        let how = if fresh.is_exact { steadiness } else { Steadiness::Apart };
        let mut verdicts = Vec::new();
        for observation in fresh.parents.iter().chain([&fresh.commit]) {
            let judgement = judged(observation, targets, how, &self.oracle.config);
            let place = Place { stretch, phase: Phase::Confirm, left: None };
            write_down(&mut self.oracle, observation, &judgement, place)?;
            verdicts.push(judgement);
        }
        Ok(verdicts)
    }

    /// Where an override begins at the commit, both sides are measured with each recipe that
    /// runs on both. Says what is wrong when the step does not hold there.
    fn recipe_objection(
        &mut self,
        commit: &CommitId,
        parents: &[CommitId],
        targets: &[Target],
        steadiness: Steadiness,
    ) -> Result<Option<String>, HuntError> {
        let own = self.oracle.recipe(commit)?;
        let mut recipes = vec![own.clone()];
        for parent in parents {
            let theirs = self.oracle.recipe(parent)?;
            if recipes.iter().all(|recipe| recipe.text() != theirs.text()) {
                recipes.push(theirs);
            }
        }
        if recipes.len() == 1 {
            return Ok(None);
        }
        let measures = measures_of(targets);
        let runs = crate::oracle::first_runs(steadiness);
        let mut compared = false;
        for recipe in &recipes {
            let mut verdicts = Vec::new();
            let mut seen = Vec::new();
            for one in parents.iter().chain([commit]) {
                let observation = self.oracle.evaluate(Request {
                    commit: one,
                    measures: &measures,
                    runs,
                    phase: Phase::Confirm,
                    recipe: Some(recipe),
                    keep: false,
                })?;
                verdicts.push(judged(&observation, targets, steadiness, recipe).verdict);
                seen.push(observation);
            }
            let last = seen.pop().expect("the commit is the last of them");
            let (bad, rest) = verdicts.split_last().expect("the commit is the last of them");
            if *bad == Verdict::Skip || rest.contains(&Verdict::Skip) {
                continue;
            }
            compared = true;
            let step = effects(&last, &seen, targets).0;
            let holds = *bad == Verdict::Bad
                && rest.iter().all(|verdict| *verdict == Verdict::Good)
                && (step.is_empty() || step.iter().any(super::effect::is_large));
            if !holds {
                return Ok(Some(
                    "the recipe changes here, and with one and the same recipe for both sides the step vanishes"
                        .to_owned(),
                ));
            }
        }
        Ok((!compared).then(|| {
            "the recipe changes here, and neither recipe runs on both sides, so that nothing can be compared"
                .to_owned()
        }))
    }

    fn culprit(
        &self,
        commit: &CommitId,
        parents: &[CommitId],
        targets: &[Target],
        fresh: &Fresh,
    ) -> Result<Culprit, HuntError> {
        let (effects, worst) = effects(&fresh.commit, &fresh.parents, targets);
        let failure = targets.iter().find_map(|target| match target {
            Target::Failure { failure, .. } => Some(failure.clone()),
            Target::Guard(_) => None,
        });
        let parent = &parents[worst];
        let (confidence, basis) = if fresh.is_exact {
            (1.0, Basis::BitExact)
        } else {
            let of = |target: &Target| match target {
                Target::Guard(target) => Some(stats::rank_confidence(
                    &fresh.parents[worst].numbers(&target.guard.metric),
                    &fresh.commit.numbers(&target.guard.metric),
                    bad_side(target.guard.direction()),
                )),
                Target::Failure { .. } => None,
            };
            let best = targets.iter().filter_map(of).fold(0.0, f64::max);
            (best, Basis::Sequential)
        };
        let files = self
            .oracle
            .history
            .diff_files(Some(parent), commit)?
            .into_iter()
            .map(|change| TouchedFile {
                path: change.shown_path(),
                path_b64: change.path_base64(),
                added: change.added,
                removed: change.removed,
                role: "unknown".to_owned(),
            })
            .collect();
        Ok(Culprit {
            info: info(&self.oracle.history, commit)?,
            parents: parents.to_vec(),
            parent: parent.clone(),
            confidence,
            basis,
            effects,
            failure,
            files,
            confirmed_before: None,
        })
    }

    /// Names everything that the confirmation's runs depend on.
    fn confirmation_key(
        &self,
        commit: &CommitId,
        parents: &[CommitId],
        targets: &[Target],
    ) -> Result<String, HuntError> {
        let rebuilt = self.oracle.config.build.confirm == ConfirmBuild::Rebuild;
        let builds = if rebuilt { "built anew" } else { "the search's" };
        let mut hasher = KeyHasher::new("confirmation").field("builds", builds);
        for one in parents.iter().chain([commit]) {
            let recipe = self.oracle.recipe(one)?;
            hasher = hasher.field("build", self.oracle.build_key_of(one, &recipe)?.as_str());
            for name in measures_of(targets) {
                if let Some(measure) = recipe.measure(&name) {
                    let key = self.oracle.run_key_of(one, &recipe, measure)?;
                    hasher = hasher.field("run", key.as_str());
                }
            }
        }
        Ok(hasher.hex())
    }

    fn keep_confirmation(&self, key: &str, fresh: &Fresh) -> Result<(), HuntError> {
        let attempts = fresh.parents.iter().chain([&fresh.commit]);
        let made = Confirmation {
            hunt: self.hunt.id().to_owned(),
            date: jiff::Timestamp::now().to_string(),
            attempts: attempts.flat_map(Observation::attempts).collect(),
        };
        Ok(self.oracle.store.put_confirmation(key, &made)?)
    }
}

/// A judgement where no more runs are to be had: wanting more is being undecided.
fn judged(
    observation: &Observation,
    targets: &[Target],
    steadiness: Steadiness,
    config: &Config,
) -> Judgement {
    match judge(observation, targets, steadiness, config) {
        Decision::Settled(judgement) => judgement,
        Decision::More(_) => Judgement {
            verdict: Verdict::Skip,
            skip: Some(crate::evaluation::SkipReason::Unsteady),
            reason: "its fresh runs do not agree".to_owned(),
            broken: Vec::new(),
        },
    }
}

/// Why the verdicts do not bear the claim, if they do not.
fn refusal(commit: &CommitId, parents: &[CommitId], verdicts: &[Judgement]) -> Option<Confirmed> {
    let (own, theirs) = verdicts.split_last().expect("the commit is the last of them");
    match own.verdict {
        Verdict::Bad => {}
        Verdict::Good => {
            let why = format!("measured afresh it is not bad: {}", own.reason);
            return Some(Confirmed::NotBad(why));
        }
        Verdict::Skip | Verdict::Unknown => {
            let why = format!("measured afresh it cannot be judged: {}", own.reason);
            return Some(Confirmed::Unsure(vec![commit.clone()], why));
        }
    }
    for (parent, judgement) in parents.iter().zip(theirs) {
        match judgement.verdict {
            Verdict::Good => {}
            Verdict::Bad => {
                let why =
                    format!("its parent {} is bad already: {}", parent.short(), judgement.reason);
                return Some(Confirmed::ParentBad(parent.clone(), why));
            }
            Verdict::Skip | Verdict::Unknown => {
                let why = format!(
                    "its parent {} cannot be measured: {}",
                    parent.short(),
                    judgement.reason
                );
                return Some(Confirmed::Unsure(vec![commit.clone(), parent.clone()], why));
            }
        }
    }
    None
}
