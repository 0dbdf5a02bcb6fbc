//! The confirmation: a commit and its real parents measured afresh, interleaved, from clean
//! builds, before anybody is named.

use std::collections::BTreeMap;

use crate::config::{Config, ConfirmBuild};
use crate::evaluation::{
    Basis, CommitId, Culprit, Failure, Guard, GuardTarget, Judgement, Metric, Phase, Target,
    TouchedFile, Verdict,
};
use crate::oracle::{Decision, Observation, Request, judge, measures_of};
use crate::stats::{self, Side};
use crate::store::journal::{Event, Steadiness};
use crate::store::{Confirmation, KeyHasher};

use super::HuntError;
use super::begin::info;
use super::driver::Driver;
use super::effect::{bad_side, effects, is_blamed, is_large};
use super::verdict::{Place, write_down};

/// Fresh runs of each commit where values do not repeat bit for bit: five against five part by
/// chance once in 252 times.
pub(super) const ROUNDS_NOISY: usize = 5;

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
            let why = if self.oracle.history.repository().is_shallow() {
                "no parent of it is in this shallow clone to measure it against (git fetch \
                 --unshallow)"
            } else {
                "it has no parent to measure it against"
            };
            return Ok(Confirmed::Unsure(vec![commit.clone()], why.to_owned()));
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
        let broken = &verdicts.last().expect("the commit is the last of them").broken;
        let culprit = self.culprit(commit, &parents, targets, &fresh, broken)?;
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
        let request =
            Request { commit, measures, runs, phase, recipe: None, chunks: None, keep: true };
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
                chunks: None,
                keep: false,
            })?;
            let repeats = |target: &Target| match target {
                Target::Guard(target) => {
                    known.build_failure.is_some() || known.repeats(&target.guard.metric)
                }
                // A failure has no bits to compare, and may come and go: it is never exact.
                Target::Failure { measure, .. } => measure.is_none(),
            };
            if !targets.iter().all(repeats) || !self.begins_alike(commit, &known)? {
                return Ok(false);
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

    fn culprit(
        &self,
        commit: &CommitId,
        parents: &[CommitId],
        targets: &[Target],
        fresh: &Fresh,
        broken: &[Metric],
    ) -> Result<Culprit, HuntError> {
        let (mut effects, worst) = effects(&fresh.commit, &fresh.parents, targets);
        // A metric that keeps its tolerance is nobody's fault, however it moved.
        effects.retain(|effect| broken.contains(&effect.metric));
        let wanted = targets.iter().find_map(|target| match target {
            Target::Failure { failure, .. } => Some(failure.clone()),
            Target::Guard(_) => None,
        });
        // A commit that is bad since it prints NaN, say, has no level and no step.
        let failure =
            wanted.or_else(|| first_failure(&fresh.commit).filter(|_| effects.is_empty()));
        let parent = &parents[worst];
        let (confidence, basis) = if fresh.is_exact {
            (1.0, Basis::BitExact)
        } else {
            let least = |target: &Target| {
                let sides =
                    fresh.parents.iter().map(|parent| confidence(parent, &fresh.commit, target));
                sides.fold(1.0, f64::min)
            };
            let counts = |target: &&Target| match target {
                Target::Failure { .. } => true,
                Target::Guard(target) => effects
                    .iter()
                    .find(|effect| effect.metric == target.guard.metric)
                    .is_none_or(|effect| is_large(effect) || !effects.iter().any(is_large)),
            };
            (targets.iter().filter(counts).map(least).fold(0.0, f64::max), Basis::Sequential)
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

/// How surely the commit's fresh runs lie beyond a parent's: in the metric, or, where one of
/// them fails, in failing.
fn confidence(parent: &Observation, commit: &Observation, target: &Target) -> f64 {
    let fails = |seen: &Observation, measure: &str| -> Vec<f64> {
        seen.of(measure).iter().map(|s| f64::from(u8::from(s.result.is_err()))).collect()
    };
    match target {
        Target::Guard(target)
            if !commit.numbers(&target.guard.metric).is_empty()
                && commit.of(&target.guard.metric.measure).iter().all(|s| s.result.is_ok()) =>
        {
            stats::rank_confidence(
                &parent.numbers(&target.guard.metric),
                &commit.numbers(&target.guard.metric),
                bad_side(target.guard.direction()),
            )
        }
        Target::Guard(GuardTarget {
            guard: Guard { metric: Metric { measure, .. }, .. }, ..
        })
        | Target::Failure { measure: Some(measure), .. } => {
            stats::rank_confidence(&fails(parent, measure), &fails(commit, measure), Side::Above)
        }
        Target::Failure { measure: None, .. } => 1.0,
    }
}

fn first_failure(seen: &Observation) -> Option<Failure> {
    let mut samples = seen.samples.values().flatten();
    let failed = samples.find_map(|sample| sample.result.as_ref().err());
    seen.build_failure.as_ref().or(failed).cloned()
}

/// A judgement where no more runs are to be had: wanting more is being undecided.
pub(super) fn judged(
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
