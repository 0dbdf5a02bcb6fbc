//! Gradual changes, in which no own step is large. Lists the ranges of history that contribute, and
//! looks for a dip that hides a large step.

use crate::evaluation::{CommitId, Contribution, Culprit, GuardTarget, Target, Value};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::hunt::endpoints::Endpoints;
use crate::hunt::range::SearchRange;

use super::account::Ledger;

/// Maximum number of ranges that a finding lists.
const MOST: usize = 20;

/// How many evenly spaced commits are measured to find a dip.
const MOST_LOOKS: usize = 6;

impl Driver<'_> {
    /// Looks for a dip before a small step that crosses the threshold: a commit better than the
    /// step's parent by more than the tolerance. A large step may start there, from a level better
    /// than the good end's. Returns the range from the dip to the small step.
    pub(crate) fn find_dip(
        &mut self,
        search_range: &SearchRange,
        crossing: &Culprit,
    ) -> Result<Option<SearchRange>, HuntError> {
        let Some(target) = search_range.targets.iter().find_map(Target::guard) else {
            return Ok(None);
        };
        let metric = &target.guard.metric;
        let effect = crossing.effect_on(metric);
        let Some(top) = effect.and_then(|effect| effect.parent.number()) else { return Ok(None) };
        let chain = self.chain(&search_range.older, &crossing.parent)?;
        let judged = self.judged()?;
        let mut looks: Vec<CommitId> =
            chain.iter().filter(|commit| judged.contains(*commit)).cloned().collect();
        let every = chain.len() / (MOST_LOOKS + 1);
        looks.extend((1..=MOST_LOOKS).filter_map(|n| chain.get(n * every).cloned()));
        let mut lowest: Option<(f64, CommitId, Value)> = None;
        for commit in looks {
            self.judge(&commit, &search_range.targets)?;
            let seen = self.known_runs(&commit, std::slice::from_ref(&metric.measure))?;
            let Some(level) = seen.level(metric) else { continue };
            let Some(depth) = level.number().map(|x| target.guard.worsening(x, top)) else {
                continue;
            };
            if lowest.as_ref().is_none_or(|(deepest, ..)| depth > *deepest) {
                lowest = Some((depth, commit, level));
            }
        }
        let unit = if target.guard.form.is_relative() { top.abs() } else { 1.0 };
        let error = target.noise.map_or(0.0, |noise| 4.0 * noise.sd * unit);
        let found = lowest.filter(|(depth, ..)| *depth > target.limit.max(0.0) + error);
        Ok(found.map(|(_, older, baseline)| SearchRange {
            older,
            newer: crossing.info.commit.clone(),
            targets: vec![Target::Guard(GuardTarget {
                baseline,
                bad: effect.map_or(target.bad.clone(), |effect| effect.commit.clone()),
                ..target.clone()
            })],
            ..search_range.clone()
        }))
    }

    /// What each commit of a gradual change adds; empty for any other change, and at a limit.
    pub(crate) fn contributions_if_gradual(
        &mut self,
        endpoints: &Endpoints,
        ledger: &mut Ledger,
    ) -> Result<Vec<Contribution>, HuntError> {
        if !ledger.is_gradual() {
            return Ok(Vec::new());
        }
        match self.contributions(endpoints, ledger.first_metric()) {
            Err(HuntError::Limit(limit)) => {
                self.leave_open(ledger, limit);
                Ok(Vec::new())
            }
            other => other,
        }
    }

    /// How much the metric gets worse between measured commits of the first-parent path, the
    /// largest first; for a fix, how much it gets better. Makes no runs.
    fn contributions(
        &mut self,
        endpoints: &Endpoints,
        target: Option<GuardTarget>,
    ) -> Result<Vec<Contribution>, HuntError> {
        let Some(target) = target else { return Ok(Vec::new()) };
        let metric = &target.guard.metric;
        let terms = self.terms();
        let [old, new] = endpoints.ends(terms);
        let judged = self.judged()?;
        let path = self.oracle.history.first_parent_path(&old.commit, &new.commit)?;
        let mut levels = Vec::new();
        if let Some(level) = old.level(metric).and_then(|v| v.number()) {
            levels.push((0, old.commit.clone(), level));
        }
        for (position, commit) in path.iter().enumerate() {
            if !judged.contains(commit) && *commit != new.commit {
                continue;
            }
            let seen = self.known_runs(commit, std::slice::from_ref(&metric.measure))?;
            if let Some(level) = seen.level(metric).and_then(|v| v.number()) {
                levels.push((position + 1, commit.clone(), level));
            }
        }
        let mut rises: Vec<Contribution> = levels
            .windows(2)
            .map(|pair| Contribution {
                from: pair[0].1.clone(),
                to: pair[1].1.clone(),
                commits: pair[1].0 - pair[0].0,
                rise: terms.step(&target.guard, pair[0].2, pair[1].2),
                metric: metric.clone(),
            })
            .filter(|contribution| contribution.rise > 0.0)
            .collect();
        rises.sort_by(|a, b| b.rise.total_cmp(&a.rise));
        rises.truncate(MOST);
        Ok(rises)
    }
}
