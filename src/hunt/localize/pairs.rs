//! In noise, tests whether the newer end needs the main first bad commit: fresh runs of that end
//! and of the same end without the commit's change, in turn, as in a confirmation.

use std::collections::BTreeSet;

use crate::config::Config;
use crate::differ;
use crate::evaluation::{CommitId, Culprit, Effect, Finding, GuardTarget, Phase, Target};
use crate::git::History;
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::hunt::samples::samples;
use crate::oracle::{Request, Sample};
use crate::search::{FreshPairs, Side, Step};

use super::change::{Change, Part};
use super::open_change::{OpenChange, WhyOpen};
use super::revert::Patched;

/// Maximum number of files without a reader that are tried one by one if a removal conflicts.
const MOST_UNREAD: usize = 8;

impl Driver<'_> {
    /// The main first bad commit, if fresh pairs reject its step between the newer end without its
    /// change and the newer end. Only in noise, and only if no other test took the change out of
    /// that end. `None` also if nothing tells.
    pub(crate) fn idle_in_noise(
        &mut self,
        finding: &Finding,
    ) -> Result<Option<OpenChange>, HuntError> {
        let Some(culprit) = self.main_to_explain(finding) else { return Ok(None) };
        let is_tested = finding.cause.as_ref().is_some_and(|cause| cause.revert.is_some());
        let [_, end] = self.begun.ends().map(CommitId::clone);
        if is_tested
            || self.is_flaky
            || self.limit.is_some()
            || !self.terms().explains_levels()
            || culprit.info.commit == end
            || self.common_recipe(culprit)?.is_none()
        {
            return Ok(None);
        }
        let (targets, _) = self.sought()?;
        let Some((target, step)) = noisy_step(culprit, &targets) else { return Ok(None) };
        let idle = OpenChange { commit: culprit.info.commit.clone(), why: WhyOpen::NoEffect };
        let history = History::open(self.oracle.history.repository())?;
        let change = Change::of(&history, &culprit.parent, culprit)?;
        let recipe = match self.end_without(&end, culprit, &change, target)? {
            Patched::Done { recipe, .. } => recipe,
            Patched::Same => return Ok(Some(idle)),
            Patched::Conflict(_) => return Ok(None),
        };
        match self.pairs_of_end(&end, &recipe, target, step) {
            Err(HuntError::Limit(limit)) => {
                self.limit = Some(limit);
                Ok(None)
            }
            side => Ok((side? == Some(Side::Good)).then_some(idle)),
        }
    }

    /// The end without a commit's change. If that conflicts, files that no build or run reads keep
    /// their change: first one of them, then all.
    fn end_without(
        &mut self,
        end: &CommitId,
        culprit: &Culprit,
        change: &Change<'_>,
        target: &GuardTarget,
    ) -> Result<Patched, HuntError> {
        let [without, whole] = self.step_trees(culprit, change, &[])?;
        let patched = self.patched(end, &[[whole, without]])?;
        if !matches!(patched, Patched::Conflict(_)) {
            return Ok(patched);
        }
        let files = change.whole();
        let unread = self.unread_files_of(change, &files, target)?;
        let each = unread.iter().take(MOST_UNREAD).map(|file| vec![*file]);
        let all = Some(unread.clone()).filter(|all| all.len() > 1);
        // A removal of nothing would tell nothing.
        for kept in each.chain(all).filter(|kept| kept.len() < files.len()) {
            let [without, whole] = self.step_trees(culprit, change, &kept)?;
            let patched = self.patched(end, &[[whole, without]])?;
            if !matches!(patched, Patched::Conflict(_)) {
                return Ok(patched);
            }
        }
        Ok(patched)
    }

    /// The files of a change that no build or run of the hunt's endpoints reads, as far as is known:
    /// documents, and those that the search leaves out, unless a run loaded them.
    fn unread_files_of(
        &mut self,
        change: &Change<'_>,
        files: &[Part],
        target: &GuardTarget,
    ) -> Result<Vec<Part>, HuntError> {
        let measures = [target.guard.metric.measure.clone()];
        let mut loaded: BTreeSet<String> = BTreeSet::new();
        for seen in self.known_runs_of_ends(&measures)? {
            let runs = seen.of(&measures[0]).iter().filter_map(|run| run.loaded.as_ref());
            loaded.extend(runs.flat_map(|loaded| loaded.own.keys().cloned()));
        }
        let is_unread = |part: &&Part| {
            let path = change.path(**part);
            let is_left_out = self.unread.iter().any(|one| is_in(&path, one));
            (differ::is_document(&path) || is_left_out)
                && !loaded.iter().any(|one| one.ends_with(&path))
        };
        Ok(files.iter().filter(is_unread).copied().collect())
    }

    /// `Bad` if the end has the step and the end with this recipe does not; `Good` if both have it
    /// or both lack it. `None` if the pairs do not decide, or if a run cannot be judged.
    fn pairs_of_end(
        &mut self,
        end: &CommitId,
        without: &Config,
        target: &GuardTarget,
        step: Step,
    ) -> Result<Option<Side>, HuntError> {
        let own = self.oracle.recipes.at(end)?;
        let wanted = self.wanted_confidence(false)?;
        let orientation = self.terms().orientation(target);
        for round in 1.. {
            let mut runs_of = |recipe: &Config| self.runs_of_test(end, recipe, target, round);
            // In turn: each round reverses the order.
            let (without, with) = if round % 2 == 1 {
                let without = runs_of(without)?;
                (without, runs_of(&own)?)
            } else {
                let with = runs_of(&own)?;
                (runs_of(without)?, with)
            };
            let mut pairs = FreshPairs::new(step, wanted);
            let (Some(without), Some(with)) = (without, with) else { return Ok(None) };
            for (without, with) in without.iter().zip(&with) {
                pairs.add(orientation.sample(*without), orientation.sample(*with));
            }
            if let Some(side) = pairs.verdict() {
                return Ok(Some(side));
            }
            if pairs.is_exhausted() {
                break;
            }
        }
        Ok(None)
    }

    /// The samples of so many runs that were made for tests of an endpoint; makes those that are
    /// missing. `None` if one of them cannot be judged.
    fn runs_of_test(
        &mut self,
        end: &CommitId,
        recipe: &Config,
        target: &GuardTarget,
        runs: usize,
    ) -> Result<Option<Vec<f64>>, HuntError> {
        let measures = [target.guard.metric.measure.clone()];
        let look = Request::look(end, &measures, Phase::Localize);
        let look = Request { recipe: Some(recipe), ..look };
        let hunt = self.oracle.recorder.hunt().map(str::to_owned);
        let is_own = |sample: &Sample| sample.phase == Phase::Localize && sample.hunt == hunt;
        let known = self.oracle.evaluate(look)?;
        // The runs of searches and of other hunts do not count: they were not made in turn.
        let others = known.of(&measures[0]).iter().filter(|sample| !is_own(sample)).count();
        let mut seen = self.oracle.evaluate(Request { runs: others + runs, ..look })?;
        for samples in seen.samples.values_mut() {
            samples.retain(is_own);
        }
        Ok(samples(&seen, target, recipe).ok())
    }
}

/// Whether a path is this one, or below this folder.
fn is_in(path: &str, folder: &str) -> bool {
    path.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The target that a commit's first effect is on, and the step to test; `None` without noise, for a
/// failure rate, and if the step has no number.
fn noisy_step<'t>(culprit: &Culprit, targets: &'t [Target]) -> Option<(&'t GuardTarget, Step)> {
    let Effect { metric, parent, commit, .. } = culprit.effects.first()?;
    let mut guards = targets.iter().filter_map(Target::guard);
    let target = guards.find(|target| target.guard.metric == *metric && !target.is_rate())?;
    let noise = target.noise.filter(|noise| noise.sd > 0.0)?;
    let scale = target.orientation();
    let step = scale.oriented(commit.number()?) - scale.oriented(parent.number()?);
    let sd = noise.sd_of_difference();
    (step.is_finite() && step > 0.0).then_some((target, Step::Size { step, sd }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::{GuardForm, Noise, NoiseKind};
    use crate::oracle::fixture::{self, effect, target};

    #[test]
    fn a_folder_has_its_own_files_only() {
        assert!(is_in("docs/a.txt", "docs") && is_in("VERSION", "VERSION"));
        assert!(!is_in("docs2/a.txt", "docs") && !is_in("VERSION.in", "VERSION"));
    }

    #[test]
    fn only_a_level_in_noise_has_a_step_to_test() {
        let culprit =
            Culprit { effects: vec![effect(10.0, 14.0, 1.0)], ..fixture::culprit('5', '4') };
        let plain = target(GuardForm::MaxIncrease(1.0), 10.0, 14.0);
        let noise = |kind, paired| {
            let noise =
                Noise { kind, good: 10.0, bad: 14.0, sd: 0.5, runs: 4, paired, error: 0.001 };
            [Target::Guard(GuardTarget { noise: Some(noise), ..plain.clone() })]
        };
        let step = |targets: &[Target]| noisy_step(&culprit, targets).map(|(_, step)| step);
        assert_eq!(step(&noise(NoiseKind::Plain, true)), Some(Step::Size { step: 4.0, sd: 0.5 }));
        let sd = 0.5 * std::f64::consts::SQRT_2;
        assert_eq!(step(&noise(NoiseKind::Plain, false)), Some(Step::Size { step: 4.0, sd }));
        assert_eq!(step(&noise(NoiseKind::Breaks, false)), None);
        assert_eq!(step(&[Target::Guard(plain.clone())]), None);
    }
}
