//! Where no commit's own step is large: which stretches of history the rise is made of.

use crate::evaluation::{Contribution, GuardTarget, Phase};
use crate::oracle::Request;
use crate::store::journal::Event;

use super::HuntError;
use super::driver::Driver;
use super::endpoints::Endpoints;

/// How many of them a finding lists.
const MOST: usize = 20;

impl Driver<'_> {
    /// The rises between the measured commits of the first-parent path, the largest first.
    /// Nothing is run for it.
    pub(super) fn contributions(
        &mut self,
        endpoints: &Endpoints,
        target: Option<GuardTarget>,
    ) -> Result<Vec<Contribution>, HuntError> {
        let Some(target) = target else { return Ok(Vec::new()) };
        let metric = &target.guard.metric;
        let (good, bad) = (&endpoints.good.commit, &endpoints.bad.commit);
        let mut judged = Vec::new();
        for entry in self.hunt.entries()? {
            if let Event::Judged(one) = entry.event
                && !judged.contains(&one.commit)
            {
                judged.push(one.commit);
            }
        }
        let path = self.oracle.history.first_parent_path(good, bad)?;
        let mut levels = Vec::new();
        if let Some(level) = endpoints.good.level(metric).and_then(|v| v.number()) {
            levels.push((0, good.clone(), level));
        }
        for (position, commit) in path.iter().enumerate() {
            if !judged.contains(commit) && commit != bad {
                continue;
            }
            let measures = [metric.measure.clone()];
            let seen = self.oracle.evaluate(Request {
                commit,
                measures: &measures,
                runs: 0,
                phase: Phase::Search,
                recipe: None,
                chunks: None,
                keep: false,
            })?;
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
                rise: target.guard.worsening(pair[0].2, pair[1].2),
                metric: metric.clone(),
            })
            .filter(|contribution| contribution.rise > 0.0)
            .collect();
        rises.sort_by(|a, b| b.rise.total_cmp(&a.rise));
        rises.truncate(MOST);
        Ok(rises)
    }
}
