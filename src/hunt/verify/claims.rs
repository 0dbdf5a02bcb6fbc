//! Measures the first bad commits of a report again, each against its parents.

use crate::evaluation::{Aim, CommitId, Failure, Phase, Target, Value};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::hunt::terms::SearchTerms;
use crate::oracle::ControlSlot;
use crate::report::{EffectLine, FirstBad};
use crate::store::journal::{Entry, Event};

use super::compare::{Compared, Pair};
use super::result::{Check, ClaimVerified, Conclusion, Sides, all};

/// A first bad commit of a report.
pub(super) struct Claimed {
    pub(super) first: FirstBad,
    /// The targets whose change the report blames on this commit.
    pub(super) targets: Vec<Target>,
    /// The parents to measure it against. The report's own parent comes first.
    pub(super) parents: Vec<CommitId>,
    /// Which side of the step is the good one.
    terms: SearchTerms,
}

impl Claimed {
    /// The targets that the report blames on the commit: those with an effect, else all.
    pub(super) fn new(
        first: FirstBad,
        targets: &[Target],
        parents: Vec<CommitId>,
        aim: Aim,
    ) -> Self {
        let is_blamed = |target: &&Target| match target {
            Target::Guard(target) => first.effect_on(&target.guard.metric).is_some(),
            Target::Failure { .. } => first.failure.is_some(),
        };
        let blamed: Vec<Target> = targets.iter().filter(is_blamed).cloned().collect();
        let targets = if blamed.is_empty() { targets.to_vec() } else { blamed };
        Self { first, targets, parents, terms: SearchTerms::of(aim) }
    }

    /// The good and the bad side of the claim.
    pub(super) fn good_and_bad(&self) -> [&CommitId; 2] {
        self.terms.good_and_bad([&self.parents[0], &self.first.commit])
    }

    fn effect(&self, target: &Target) -> Option<&EffectLine> {
        let Target::Guard(target) = target else { return None };
        self.first.effect_on(&target.guard.metric)
    }
}

impl Driver<'_> {
    /// Measures a claim again.
    pub(super) fn verify_claim(&mut self, claimed: &Claimed) -> Result<ClaimVerified, HuntError> {
        let terms = claimed.terms;
        let commit = &claimed.first.commit;
        let [healthy, _] = claimed.good_and_bad();
        self.oracle.control = Some(ControlSlot::unbuilt(healthy.clone()));
        let pair = Pair { commit, parents: &claimed.parents, terms };
        let mut checks = Vec::new();
        for target in &claimed.targets {
            let effect = claimed.effect(target);
            let levels = effect.map(|effect| terms.good_and_bad([&effect.parent, &effect.commit]));
            let compared = match self.compare_afresh(pair, target, levels) {
                Err(HuntError::Limit(limit)) => {
                    let reason = crate::ui::reached_limit(&limit);
                    undecided(format!("the fresh runs do not decide: {reason}"))
                }
                other => other?,
            };
            let logs = self.logs_of(pair, target)?;
            checks.push(check(target, effect, claimed.first.failure.as_ref(), compared, logs));
        }
        self.oracle.pool.free_all();
        Ok(ClaimVerified {
            commit: commit.clone(),
            subject: self.oracle.history.info(commit)?.subject,
            parents: claimed.parents.clone(),
            verdict: all(checks.iter().map(|check| check.verdict)),
            checks,
        })
    }

    /// The logs of the fresh runs of a target's measure, at the commit and at its parents. Also the
    /// logs of builds that failed, and of all builds if the target is a failed build.
    fn logs_of(&self, pair: Pair<'_>, target: &Target) -> Result<Vec<String>, HuntError> {
        let measure = match target {
            Target::Guard(target) => Some(&target.guard.metric.measure),
            Target::Failure { measure, .. } => measure.as_ref(),
        };
        let is_its = |commit: &CommitId| commit == pair.commit || pair.parents.contains(commit);
        let log = |entry: &Entry| match &entry.event {
            Event::Run(run) if run.phase == Phase::Confirm && is_its(&run.commit) => {
                (Some(&run.measure) == measure).then(|| run.log.clone())
            }
            Event::Build(build) if build.phase == Phase::Confirm && is_its(&build.commit) => {
                (measure.is_none() || build.failure.is_some()).then(|| build.log.clone())
            }
            _ => None,
        };
        Ok(self.hunt.entries()?.iter().filter_map(log).collect())
    }
}

fn undecided(reason: String) -> Compared {
    Compared {
        verdict: Conclusion::Undecided,
        reason,
        here: Sides::default(),
        limit: None,
        confidence: None,
        runs: 0,
        fails: None,
    }
}

fn check(
    target: &Target,
    effect: Option<&EffectLine>,
    failure: Option<&Failure>,
    compared: Compared,
    logs: Vec<String>,
) -> Check {
    let (metric, wanted) = match target {
        Target::Guard(target) => (Some(target.guard.metric.clone()), None),
        Target::Failure { failure, .. } => (None, Some(failure)),
    };
    let reported = effect.map(|effect| Sides {
        parent: Some(effect.parent.clone()),
        commit: Some(effect.commit.clone()),
        own_step: effect.own_step.clone(),
    });
    let Compared { verdict, reason, here, limit, confidence, runs, .. } = compared;
    Check {
        metric,
        failure: wanted.or(failure).map(|failure| failure.detail.clone()),
        verdict,
        reason,
        reported: reported.unwrap_or_default(),
        here,
        limit: limit.map(Value::Number),
        confidence,
        runs,
        logs,
    }
}
