//! Builds on other nodes: the side that needs a build, and the side of the job that makes it.

use std::time::{Duration, Instant};

use crate::build::{self, BuildAnswer, BuildOrder, BuildRecipe, Built, Slot, SlotOrder};
use crate::evaluation::Phase;
use crate::process::node_name;
use crate::store::RecordedFault;
use crate::store::journal::{BuildNode, Event};

use super::build_in_slot::SlotBuild;
use super::build_jobs::{BuildJobs, JobNews};
use super::facts;
use super::machine_lock::MachineShare;
use super::parts::Oracle;
use super::{OracleError, Task};

/// How long one node may take to see what another one wrote: a network disk caches folders for a
/// minute.
const SEEN_AFTER: Duration = Duration::from_secs(90);

/// Time between two checks.
const POLL_INTERVAL: Duration = Duration::from_millis(200);

/// What the user can do if a node never sees what another one wrote.
const SHARED: &str = "the nodes must share that folder: name one with `dir` under [worktree]";

impl Oracle {
    /// Asks a job what builds on its node depend on.
    pub(crate) fn ask_build_node(&mut self, jobs: &BuildJobs) -> Result<BuildNode, OracleError> {
        let (commit, recorder) = (&self.recipes.ends[0], &mut self.recorder);
        let describes = "waiting for a job to describe the nodes that build";
        let mut tell = |news: JobNews| {
            match news {
                JobNews::Waits(why) => recorder.waits(&why, commit, None, Phase::Endpoint),
                JobNews::Begun => recorder.waits(describes, commit, None, Phase::Endpoint),
                JobNews::GaveUp => recorder.gave_node_back()?,
                JobNews::Refused(text) => recorder.event(Event::Note { text })?,
            }
            Ok(())
        };
        let (answer, _) = jobs.ask(&BuildOrder::Describe, &self.stop, &mut tell)?;
        match answer {
            BuildAnswer::Node(node) => Ok(*node),
            BuildAnswer::Fault(fault) => Err(OracleError::InJob(fault)),
            BuildAnswer::Built(_) => unreachable!("it was asked to describe itself"),
        }
    }

    /// Lets a job build in this process's slot.
    pub(super) fn build_in_job(
        &mut self,
        jobs: &BuildJobs,
        slot: &Slot,
        asked: SlotBuild<'_>,
        (task, phase): (Task, Phase),
        recipe: BuildRecipe,
    ) -> Result<Built, OracleError> {
        let order = BuildOrder::Build(Box::new(SlotOrder {
            root: slot.root().to_owned(),
            number: slot.number(),
            is_whole: slot.is_whole(),
            commit: asked.commit.clone(),
            checkout_spec: asked.checkout_spec.clone(),
            recipe,
            key: asked.key.clone(),
            phase,
            hunt: self.recorder.hunt().map(str::to_owned),
        }));
        let recorder = &mut self.recorder;
        let mut tell = |news: JobNews| {
            match news {
                JobNews::Waits(why) => recorder.waits(&why, asked.commit, None, phase),
                JobNews::Begun => {
                    recorder.now(task, asked.commit, None, phase);
                    recorder.build_has_begun()?;
                }
                JobNews::GaveUp => recorder.gave_node_back()?,
                JobNews::Refused(text) => recorder.event(Event::Note { text })?,
            }
            Ok(())
        };
        let answered = jobs.ask(&order, &self.stop, &mut tell);
        if let Err(OracleError::InJob(fault)) = &answered
            && fault.may_pass
        {
            self.recorder.lost_job(&fault.reason)?;
        }
        let (answer, node) = answered?;
        let built = match answer {
            BuildAnswer::Built(built) => *built,
            BuildAnswer::Fault(fault) => return Err(OracleError::InJob(fault)),
            BuildAnswer::Node(_) => unreachable!("it was asked to build"),
        };
        let works = built.record.failure.is_none();
        let attempt = &built.record.attempt;
        let unseen = || {
            let root = slot.root().display();
            format!("node {node} built in {root}, but the build is not there")
        };
        self.wait_until_seen(|| Ok(slot.take_over(attempt)? || !works), unseen)?;
        Ok(built)
    }

    /// Waits until the shared disk shows what another node wrote. `unseen`: the reason if it does not
    /// in time.
    fn wait_until_seen(
        &self,
        is_seen: impl Fn() -> Result<bool, OracleError>,
        unseen: impl Fn() -> String,
    ) -> Result<(), OracleError> {
        let since = Instant::now();
        while !is_seen()? {
            if self.stop.within(POLL_INTERVAL) {
                return Err(OracleError::stopped(&self.stop));
            }
            if since.elapsed() > SEEN_AFTER {
                let hint = Some(SHARED.to_owned());
                let fault = RecordedFault { reason: unseen(), hint, ..RecordedFault::default() };
                return Err(OracleError::InJob(fault));
            }
        }
        Ok(())
    }

    /// Does what a job that builds is asked for, on its node.
    pub(crate) fn answer_order(&mut self, order: &BuildOrder) -> Result<BuildAnswer, OracleError> {
        let order = match order {
            BuildOrder::Describe => {
                let node = facts::build_node(&self.recipes.config)?;
                return Ok(BuildAnswer::Node(Box::new(node)));
            }
            BuildOrder::Build(order) => order,
        };
        match self.build_lent(order) {
            Ok(built) => Ok(BuildAnswer::Built(Box::new(built))),
            Err(error @ (OracleError::Stopped | OracleError::Limit(_))) => Err(error),
            Err(error) => Ok(BuildAnswer::Fault(error.recorded())),
        }
    }

    fn build_lent(&mut self, order: &SlotOrder) -> Result<Built, OracleError> {
        let SlotOrder { commit, phase, .. } = order;
        let _held = self.lock_machine(MachineShare::Build, commit, None, *phase)?;
        let slots = self.pool.slots().clone();
        let slot = Slot::lent(order.root.clone(), order.number);
        let unseen = || format!("this node does not see the build in {}", order.root.display());
        self.wait_until_seen(|| Ok(slot.has_turn()), unseen)?;
        if order.is_whole {
            // The mark names the boot of the node that asks; this node accepts only its own.
            slot.set_whole()?;
        }
        let built = build::build(build::BuildRequest {
            repository: self.recipes.engine.history.repository(),
            store: &self.store,
            slots: &slots,
            slot: &slot,
            commit,
            recipe: &order.recipe,
            checkout_spec: &order.checkout_spec,
            key: &order.key,
            probes: &facts::probed_for(*phase, &self.recipes.config)?,
            phase: *phase,
            hunt: order.hunt.as_deref(),
            node: Some(&node_name()),
            checkout: self.checkout.as_deref(),
            progress: &|_| {},
            stop: &self.stop,
        })?;
        slot.sync()?;
        Ok(built)
    }
}
