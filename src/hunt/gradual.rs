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
    /// The rises between the measured commits of the first-parent path, the largest first; on
    /// the way to a fix what it fell. Nothing is run for it.
    pub(super) fn contributions(
        &mut self,
        endpoints: &Endpoints,
        target: Option<GuardTarget>,
    ) -> Result<Vec<Contribution>, HuntError> {
        let Some(target) = target else { return Ok(Vec::new()) };
        let metric = &target.guard.metric;
        let aim = self.begun.options.aim;
        let [old, new] = aim.turned([&endpoints.good, &endpoints.bad]);
        let mut judged = Vec::new();
        for entry in self.hunt.entries()? {
            if let Event::Judged(one) = entry.event
                && !judged.contains(&one.commit)
            {
                judged.push(one.commit);
            }
        }
        let path = self.oracle.history.first_parent_path(&old.commit, &new.commit)?;
        let mut levels = Vec::new();
        if let Some(level) = old.level(metric).and_then(|v| v.number()) {
            levels.push((0, old.commit.clone(), level));
        }
        for (position, commit) in path.iter().enumerate() {
            if !judged.contains(commit) && *commit != new.commit {
                continue;
            }
            let measures = [metric.measure.clone()];
            let look = Request::look(commit, &measures, Phase::Search);
            let seen = self.oracle.evaluate(look)?;
            if let Some(level) = seen.level(metric).and_then(|v| v.number()) {
                levels.push((position + 1, commit.clone(), level));
            }
        }
        let mut rises: Vec<Contribution> = levels
            .windows(2)
            .map(|pair| {
                let [good, bad] = aim.turned([pair[0].2, pair[1].2]);
                Contribution {
                    from: pair[0].1.clone(),
                    to: pair[1].1.clone(),
                    commits: pair[1].0 - pair[0].0,
                    rise: target.guard.worsening(good, bad),
                    metric: metric.clone(),
                }
            })
            .filter(|contribution| contribution.rise > 0.0)
            .collect();
        rises.sort_by(|a, b| b.rise.total_cmp(&a.rise));
        rises.truncate(MOST);
        Ok(rises)
    }
}
