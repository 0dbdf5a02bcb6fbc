//! A confirmation that an earlier hunt stored. Something that no key contains may have changed
//! since. So the confirmation counts only if the same hunt measured the endpoints too, or if fresh
//! runs show what the confirmation's runs show.

use crate::evaluation::{CommitId, Guard, Phase, Target};
use crate::hunt::HuntError;
use crate::hunt::claim::Claim;
use crate::hunt::driver::Driver;
use crate::hunt::earlier_runs::{common_hunt, difference, is_made_by, metrics_of};
use crate::oracle::{Observation, Request, Sample, measures_of};
use crate::store::Confirmation;

impl Driver<'_> {
    /// Whether a stored confirmation of this claim counts. It does if this hunt made it, or the
    /// earlier hunt that measured both endpoints. Otherwise the commit and each parent need a run
    /// by one of these two hunts that shows what the confirmation's runs show. If a commit has no
    /// run by these hunts, one is made, from a new build.
    pub(super) fn still_holds(
        &mut self,
        before: &Confirmation,
        claim: Claim<'_>,
        parents: &[CommitId],
    ) -> Result<bool, HuntError> {
        let mut trusted = self.own_hunts();
        trusted.extend(self.hunt_of_ends(claim.targets)?);
        if trusted.contains(&before.hunt) {
            return Ok(true);
        }
        // In a cluster another node confirms, and its runs are not compared with those of this one.
        if self.oracle.recipes.config.executor.is_cluster() {
            return Ok(false);
        }
        for commit in parents.iter().chain([claim.commit]) {
            if let Some(told) = self.differs_now(commit, before, claim.targets, &trusted)? {
                let text = format!(
                    "the confirmation of {} by hunt {} does not count, since something outside \
                     changed: at {} {told}",
                    claim.commit.short(),
                    before.hunt,
                    commit.short()
                );
                self.oracle.recorder.note_once(text)?;
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether a stored confirmation that counts has runs of all these commits. Then its runs answer
    /// the claim, and nothing is measured ahead: workers do not know that its runs count.
    pub(super) fn has_earlier_confirmation_of(
        &mut self,
        commits: &[&CommitId],
        measures: &[String],
    ) -> Result<bool, HuntError> {
        if self.oracle.stored.taken_over.is_empty() {
            return Ok(false);
        }
        for commit in commits {
            let known = self.oracle.evaluate(Request::look(commit, measures, Phase::Confirm))?;
            let taken = &self.oracle.stored.taken_over;
            let is_taken = |sample: &Sample| taken.contains(&sample.attempt);
            if !measures.iter().all(|measure| known.of(measure).iter().any(is_taken)) {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The earlier hunt that measured both endpoints, if its runs show what all other stored runs
    /// show; `None` also if it is not the same hunt for all measures.
    fn hunt_of_ends(&mut self, targets: &[Target]) -> Result<Option<String>, HuntError> {
        let measures = measures_of(targets);
        let [good, bad] = self.known_runs_of_ends(&measures)?;
        let own = self.own_hunts();
        let mut hunts = measures.iter().map(|measure| {
            let metrics = metrics_of(guards_of(targets), measure);
            common_hunt([&good, &bad], measure, &metrics, &own)
        });
        let first = hunts.next().flatten();
        Ok(first.filter(|first| hunts.all(|hunt| hunt == Some(*first))).map(str::to_owned))
    }

    /// How the first run of a commit by one of the `trusted` hunts differs from those of an earlier
    /// confirmation, in words; `None` if it shows what they show. If there is none, makes one.
    fn differs_now(
        &mut self,
        commit: &CommitId,
        before: &Confirmation,
        targets: &[Target],
        trusted: &[String],
    ) -> Result<Option<String>, HuntError> {
        let measures = measures_of(targets);
        let is_own = |sample: &Sample| is_made_by(sample, trusted);
        let lacks_run = |seen: &Observation| {
            measures.iter().any(|measure| !seen.of(measure).iter().any(is_own))
        };
        let mut seen = self.known_runs(commit, &measures)?;
        if lacks_run(&seen) {
            let look = Request::look(commit, &measures, Phase::Confirm);
            let fresh = self.oracle.evaluate(Request { runs: 1, ..look })?;
            if let Some(failure) = fresh.build_failure {
                return Ok(Some(format!("the build fails now ({})", failure.detail)));
            }
            seen = self.known_runs(commit, &measures)?;
        }
        for measure in &measures {
            let runs = seen.of(measure);
            let is_before = |sample: &&Sample| before.attempts.contains(&sample.attempt);
            let earlier: Vec<&Sample> = runs.iter().filter(is_before).collect();
            let Some(fresh) = runs.iter().find(|sample| is_own(sample)) else {
                return Ok(Some(format!("no run of {measure} counts now")));
            };
            let metrics = metrics_of(guards_of(targets), measure);
            if earlier.is_empty() {
                return Ok(Some(format!("no stored run of {measure} counts now")));
            }
            if let Some(told) = difference(&earlier, fresh, &metrics) {
                return Ok(Some(told));
            }
        }
        Ok(None)
    }
}

/// The guards among these targets.
fn guards_of(targets: &[Target]) -> impl Iterator<Item = &Guard> {
    targets.iter().filter_map(Target::guard).map(|target| &target.guard)
}
