//! Whether the node of a cluster on which a hunt goes on is as fast as the nodes before it.
//!
//! Nodes of one class may differ: one is hot, or another user's job shares it. If a job is lost,
//! the next one may begin on another node. Before it measures any commit, it measures the good
//! endpoint there. If the level is as before, runs of both nodes count. If not, the slower node is
//! set aside, or this node if it differs from several others. The runs of a node that is set aside
//! do not count, and no further job is submitted to it.

use std::collections::BTreeSet;

use crate::config::Measure;
use crate::evaluation::{GuardTarget, Metric, Phase, Target, Value};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::hunt::jobs::nodes::odd_nodes;
use crate::hunt::machine_change::MachineChange;
use crate::oracle::{Request, measures_of};
use crate::stats::median;
use crate::store::journal::{Event, RunDone};
use crate::ui::text;

use super::due::with_level;
use super::{LOOKS, is_moved};

/// The values of one metric at the good endpoint.
struct Levels {
    /// On the node of this process.
    here: Vec<f64>,
    /// On other nodes.
    there: Vec<f64>,
}

impl Driver<'_> {
    /// Whether these targets are compared on one node only: in a cluster, those that depend on the
    /// speed of the node.
    pub(crate) fn needs_one_node(&self, targets: &[Target]) -> bool {
        self.oracle.recipes.config.executor.is_cluster()
            && targets.iter().any(|target| match target {
                Target::Guard(target) => self.is_timed(target),
                Target::Failure { .. } => false,
            })
    }

    /// Whether a target's level depends on the speed of the node: it varies from run to run, or its
    /// measure is exclusive.
    fn is_timed(&self, target: &GuardTarget) -> bool {
        let measure = self.oracle.recipes.config.measure(&target.guard.metric.measure);
        let varies = target.noise.is_some() && target.guard.depends_on_speed();
        varies || measure.is_some_and(Measure::is_exclusive)
    }

    /// Compares this node with those on which the hunt measured before. `Some`: they are set aside,
    /// and the hunt begins again without their runs.
    ///
    /// # Errors
    /// [`HuntError::LeavesNode`] if this node differs and is set aside.
    pub(crate) fn node_change(&mut self) -> Result<Option<MachineChange>, HuntError> {
        if !self.oracle.recipes.config.executor.is_cluster() {
            return Ok(None);
        }
        let targets = self.timed_targets()?;
        let measures = measures_of(&targets.iter().cloned().map(Target::Guard).collect::<Vec<_>>());
        let Some((target, levels)) = self.other_level(&targets, &measures)? else {
            return Ok(None);
        };
        let here = self.oracle.host().to_owned();
        let runs = self.timed_runs(&measures)?;
        let others: BTreeSet<String> = runs
            .iter()
            .filter_map(node_of)
            .filter(|node| *node != here)
            .map(str::to_owned)
            .collect();
        let [now, before] =
            [&levels.here, &levels.there].map(|all| median(all).unwrap_or_default());
        let is_slower = target.guard.worsening(before, now) > 0.0;
        let name = others.iter().map(String::as_str).collect::<Vec<_>>().join(", ");
        let metric = &target.guard.metric;
        let [shown_now, shown_before] = [now, before].map(text::figure);
        let difference = format!(
            "{metric} of the good end {} is {shown_now} on {here} and {shown_before} on {name}",
            self.begun.good.commit.short()
        );
        // Two nodes that agree are right, whether the third one is slower or faster.
        let is_odd = is_slower || others.len() > 1;
        let was_set_aside = odd_nodes(&self.hunt.entries()?).contains_key(&here);
        if is_odd && !was_set_aside {
            let word = if is_slower { "slow" } else { "fast" };
            let why = format!("node {here} is {word}: {difference}");
            let is_here = |run: &&RunDone| node_of(run) == Some(&here);
            let attempts = runs.iter().filter(is_here).map(|run| run.attempt.clone()).collect();
            self.set_node_aside(here, &why, attempts)?;
            return Err(HuntError::LeavesNode(format!(
                "{why}. The hunt continues on another node"
            )));
        }
        if !is_odd {
            for node in &others {
                let why = format!("node {node} is slow: {difference}");
                self.set_node_aside(node.clone(), &why, Vec::new())?;
            }
        }
        let text =
            format!("{difference}. Runs on {name} no longer count, and the hunt begins again");
        let is_there = |run: &&RunDone| node_of(run) != Some(&here);
        let attempts = runs.iter().filter(is_there).map(|run| run.attempt.clone()).collect();
        Ok(Some(MachineChange { text, measures, attempts }))
    }

    /// Why each node was set aside, in a sentence.
    pub(crate) fn set_aside(&self) -> Result<BTreeSet<String>, HuntError> {
        let entries = self.hunt.entries()?;
        let whys = entries.iter().filter_map(|entry| match &entry.event {
            Event::NodeSetAside { why, .. } => Some(why.clone()),
            _ => None,
        });
        Ok(whys.collect())
    }

    fn set_node_aside(
        &mut self,
        node: String,
        why: &str,
        attempts: Vec<String>,
    ) -> Result<(), HuntError> {
        self.oracle.stored.leave_node(&node, &attempts);
        self.oracle.recorder.event(Event::Note { text: why.to_owned() })?;
        let why = why.to_owned();
        Ok(self.oracle.recorder.event(Event::NodeSetAside { node, why, attempts })?)
    }

    /// The targets that depend on the speed of the node. Before the hunt has targets: its guards,
    /// with the level that the good endpoint has on the other nodes.
    fn timed_targets(&self) -> Result<Vec<GuardTarget>, HuntError> {
        let entries = self.hunt.entries_in_force()?;
        if entries.iter().any(|entry| matches!(entry.event, Event::Targets { .. })) {
            let targets = with_level(&entries).into_iter();
            return Ok(targets.filter(|target| self.is_timed(target)).collect());
        }
        let config = &self.oracle.recipes.config;
        let guards = config.guards.iter().filter(|guard| config.is_timed(&guard.metric.measure));
        let mut targets = Vec::new();
        for guard in guards {
            let runs = self.timed_runs(std::slice::from_ref(&guard.metric.measure))?;
            let values = self.values(&runs, &guard.metric, |node| node != self.oracle.host());
            if let Some(level) = median(&values) {
                let level = Value::Number(level);
                targets.push(GuardTarget::between(guard, level.clone(), level, None));
            }
        }
        Ok(targets)
    }

    /// The first target whose level on this node differs from that on the others. Measures the good
    /// endpoint here until a run shows the level of the others, or until enough runs do not.
    fn other_level<'t>(
        &mut self,
        targets: &'t [GuardTarget],
        measures: &[String],
    ) -> Result<Option<(&'t GuardTarget, Levels)>, HuntError> {
        let good = self.begun.good.commit.clone();
        loop {
            let mut moved = Vec::new();
            let mut fewest = usize::MAX;
            for target in targets {
                let metric = &target.guard.metric;
                let runs = self.timed_runs(std::slice::from_ref(&metric.measure))?;
                let [here, there] = [true, false].map(|is_here| {
                    self.values(&runs, metric, |node| (node == self.oracle.host()) == is_here)
                });
                if there.is_empty() || (!here.is_empty() && !has_other_level(target, &here, &there))
                {
                    continue;
                }
                fewest = fewest.min(here.len());
                moved.push((target, Levels { here, there }));
            }
            if moved.is_empty() || fewest >= LOOKS {
                return Ok(moved.into_iter().next());
            }
            let look = Request::look(&good, measures, Phase::Endpoint);
            let known = self.oracle.evaluate(look)?;
            let known = known.fewest_runs();
            let before = self.oracle.recorder.made();
            let seen = self.oracle.evaluate(Request { runs: known + 1, keep: true, ..look })?;
            let has_failed =
                measures.iter().any(|name| seen.of(name).iter().any(|s| s.result.is_err()));
            if has_failed || self.oracle.recorder.made() == before {
                // The search deals with a good endpoint that fails now.
                return Ok(None);
            }
        }
    }

    /// The runs of these measures that name their node and count.
    fn timed_runs(&self, measures: &[String]) -> Result<Vec<RunDone>, HuntError> {
        let excluded: BTreeSet<String> =
            odd_nodes(&self.hunt.entries()?).into_values().flatten().collect();
        let entries = self.hunt.entries_in_force()?;
        let runs = entries.iter().filter_map(|entry| match &entry.event {
            Event::Run(run) => Some(run),
            _ => None,
        });
        let counts = |run: &&RunDone| {
            measures.contains(&run.measure)
                && run.apart.is_none()
                && run.host.is_some()
                && !excluded.contains(&run.attempt)
        };
        Ok(runs.filter(counts).cloned().collect())
    }

    /// The values of a metric at the good endpoint on some nodes.
    fn values(
        &self,
        runs: &[RunDone],
        metric: &Metric,
        is_asked: impl Fn(&str) -> bool,
    ) -> Vec<f64> {
        let good = &self.begun.good.commit;
        let runs = runs.iter().filter(|run| run.commit == *good && run.phase == Phase::Endpoint);
        let runs = runs.filter(|run| node_of(run).is_some_and(&is_asked));
        runs.filter_map(|run| run.values.get(metric)?.number()).filter(|x| x.is_finite()).collect()
    }
}

/// Whether every run here has left the level of the other nodes. Without a calibrated noise, the
/// runs of both must not overlap either.
fn has_other_level(target: &GuardTarget, here: &[f64], there: &[f64]) -> bool {
    let is_above = |x: &f64| there.iter().all(|y| x > y);
    let is_below = |x: &f64| there.iter().all(|y| x < y);
    let is_apart = here.iter().all(is_above) || here.iter().all(is_below);
    is_moved(target, here) && (target.noise.is_some() || is_apart)
}

fn node_of(run: &RunDone) -> Option<&str> {
    run.host.as_ref().map(|host| host.name.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::{GuardForm, Noise, NoiseKind};
    use crate::oracle::fixture::target;

    #[test]
    fn a_node_differs_if_every_run_is_beyond_half_of_the_tolerance_and_apart_from_all_others() {
        let target = target(GuardForm::MaxDecreasePercent(10.0), 100.0, 100.0);
        let differs = |here: &[f64], there: &[f64]| has_other_level(&target, here, there);
        assert!(differs(&[90.0, 92.0, 93.0], &[100.0, 99.0]));
        assert!(differs(&[110.0], &[100.0]), "a faster node differs too");
        assert!(!differs(&[90.0, 96.0, 90.0], &[100.0]), "one run is as before");
        assert!(!differs(&[90.0, 92.0], &[100.0, 91.0, 101.0]), "the others vary as much");
        // A noise that was measured says by itself what is far.
        let kind = NoiseKind::Plain;
        let noise =
            Noise { kind, good: -100.0, bad: -80.0, sd: 1.0, runs: 4, paired: false, error: 0.0 };
        let target = GuardTarget { noise: Some(noise), ..target };
        assert!(has_other_level(&target, &[90.0, 92.0], &[100.0, 91.0, 101.0]));
    }
}
