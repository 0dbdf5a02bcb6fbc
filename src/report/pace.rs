//! The pace of a hunt, from its journal: the current stage, the time so far, and an estimate of the
//! time left. The estimate uses the plan's numbers and the durations of this hunt's own builds and
//! runs.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use jiff::Timestamp;

use crate::evaluation::{CommitId, Neighbours, Phase, Target};
use crate::search::steps_of;
use crate::stats;
use crate::store::journal::{Entry, Event, Plan, SearchEnd, SearchMethod};

use super::driven::DrivenTime;

/// The current stage of the hunt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Stage {
    /// The hunt measures the endpoints.
    #[default]
    Endpoints,
    /// The hunt searches the range.
    Search,
    /// The hunt measures the first bad commit and its parents again.
    Confirmation,
    /// The hunt measures commits after a confirmed one, to see whether its change lasts.
    LaterCommits,
    /// The hunt measures commits before a confirmed one and its parent.
    EarlierCommits,
    /// The hunt tests parts of the first bad commit's change.
    Localization,
    /// The hunt tests the bad end without the changes of the named commits, in noise.
    EndWithout,
    /// The hunt compares the first bad commit with its parent in the cells of a sweep.
    Sweep,
}

impl Stage {
    /// What the hunt does, in a few words.
    pub(crate) fn words(self) -> &'static str {
        match self {
            Self::Endpoints => "measuring the endpoints",
            Self::Search => "searching",
            Self::Confirmation => "confirming",
            Self::LaterCommits => "checking later commits",
            Self::EarlierCommits => "checking earlier commits",
            Self::Localization => "looking for the cause inside the commit",
            Self::EndWithout => "testing the bad end without the named commits",
            Self::Sweep => "looking where the commit shows its regression",
        }
    }
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.words())
    }
}

/// Seconds of builds and runs that were not taken from the store.
#[derive(Debug, Default)]
struct Spent {
    builds: Vec<f64>,
    runs: Vec<f64>,
}

impl Spent {
    fn seconds(&self) -> f64 {
        self.builds.iter().chain(&self.runs).sum()
    }
}

/// The pace of a hunt, from its journal.
#[derive(Debug, Default)]
pub(crate) struct Pace {
    stage: Stage,
    driven: DrivenTime,
    plan: Option<Plan>,
    /// Finished steps of the current search.
    steps_done: usize,
    /// Commits and steps left in the current search.
    left: Option<(usize, usize)>,
    /// The ends of the current search, and how many commits may be the first bad one at its start.
    searched: Option<(CommitId, CommitId, usize)>,
    /// Whether the hunt was resumed, and no search began since then.
    is_resumed: bool,
    /// Whether values vary from run to run. The number of steps then says little about the number
    /// of runs.
    is_noisy: bool,
    /// The measures that each step runs.
    measures: BTreeSet<String>,
    /// Seconds of each measure's endpoint runs.
    endpoint_runs: BTreeMap<String, Vec<f64>>,
    endpoints: Spent,
    search: Spent,
    confirmation: Spent,
    /// Builds and runs of all searches and confirmations.
    made: [usize; 2],
    /// The commits that the searches judged, including those from the store.
    judged: BTreeSet<CommitId>,
    /// Seconds of the search when its last step ended.
    at_last_step: f64,
    /// Seconds of all builds, and of all runs of each measure, whatever they were for.
    durations: (Vec<f64>, BTreeMap<String, Vec<f64>>),
}

/// Number of latest builds or runs from which the time of the next one is estimated. Older ones may
/// have read more text, or had no compiler cache.
const LATEST: usize = 5;

impl Pace {
    /// The pace after all of these entries.
    pub(crate) fn of(entries: &[Entry]) -> Self {
        let mut pace = Self::default();
        for entry in entries {
            pace.see(entry);
        }
        pace
    }

    /// Takes the next entry of the journal.
    pub(crate) fn see(&mut self, entry: &Entry) {
        self.driven.see(entry);
        match &entry.event {
            Event::Build(build) if !build.reused && build.prepare.is_none() => {
                self.durations.0.push(build.wall_s);
            }
            Event::Run(run) if !run.reused => {
                self.durations.1.entry(run.measure.clone()).or_default().push(run.wall_s);
            }
            _ => {}
        }
        match &entry.event {
            Event::Plan(plan) => self.plan = Some(plan.clone()),
            Event::Targets { targets, .. } => {
                self.is_noisy = targets.iter().any(Target::is_noisy);
                self.measures = targets.iter().filter_map(measure).collect();
            }
            Event::Resumed { .. } => self.is_resumed = true,
            Event::Search { good, bad, commits, method, .. } => {
                self.stage = Stage::Search;
                let has_steps = *method != Some(SearchMethod::Posterior);
                let searched = Some((good.clone(), bad.clone(), *commits));
                // The steps that an interrupted search made are not made again.
                let goes_on = std::mem::take(&mut self.is_resumed)
                    && has_steps
                    && self.left.is_some()
                    && self.searched == searched;
                if !goes_on {
                    self.steps_done = 0;
                    self.left = has_steps.then(|| (*commits, steps_of(*commits)));
                }
                self.searched = searched;
                self.confirmation = Spent::default();
            }
            Event::SearchEnd { end, .. } => {
                self.left = None;
                if matches!(end, SearchEnd::FirstBad(_)) {
                    self.stage = Stage::Confirmation;
                }
            }
            Event::Judged(judged) => {
                if judged.phase == Phase::Search {
                    self.judged.insert(judged.commit.clone());
                    self.at_last_step = self.search.seconds();
                }
                if judged.left.is_some() {
                    self.steps_done += 1;
                    self.left = judged.left;
                }
            }
            // What follows a confirmation asks whether the change lasts.
            Event::Confirmed(_) => self.stage = Stage::LaterCommits,
            Event::Neighbours { side, .. } => {
                self.stage = match side {
                    Neighbours::Later => Stage::LaterCommits,
                    Neighbours::Earlier => Stage::EarlierCommits,
                };
            }
            Event::Localizing { .. } => self.stage = Stage::Localization,
            Event::EndWithout { .. } => self.stage = Stage::EndWithout,
            Event::Sweeping { .. } => self.stage = Stage::Sweep,
            Event::Build(build) if matches!(build.phase, Phase::Localize | Phase::Inquiry) => {}
            Event::Build(build) if !build.reused => {
                self.spent(build.phase).builds.push(build.wall_s);
                self.made[0] += usize::from(build.phase != Phase::Endpoint);
            }
            Event::Run(run) if !run.reused && run.phase.exclusion_reason().is_none() => {
                self.spent(run.phase).runs.push(run.wall_s);
                self.made[1] += usize::from(run.phase != Phase::Endpoint);
                if run.phase == Phase::Endpoint {
                    self.endpoint_runs.entry(run.measure.clone()).or_default().push(run.wall_s);
                }
            }
            _ => {}
        }
    }

    /// The current stage.
    pub(crate) fn stage(&self) -> Stage {
        self.stage
    }

    /// The step, all steps and the commits left: `step 3 of about 6, 12 commits left`. `None`
    /// outside of a search by steps.
    pub(crate) fn step(&self) -> Option<(usize, usize, usize)> {
        // Without commits left the last step is over, and the search ends.
        let (commits, steps) = self.left.filter(|(commits, _)| *commits > 0)?;
        Some((self.steps_done + 1, self.steps_done + steps.max(1), commits))
    }

    /// The steps that the current search made, with the commits and steps that are left; `None`
    /// before its first step.
    pub(crate) fn steps_made(&self) -> Option<(usize, (usize, usize))> {
        self.left.filter(|_| self.steps_done > 0).map(|left| (self.steps_done, left))
    }

    /// Seconds during which a process drove the hunt: until `now`, or until the last event.
    pub(crate) fn seconds(&self, now: Option<Timestamp>) -> f64 {
        now.map_or_else(|| self.driven.seconds(), |now| self.driven.seconds_until(now))
    }

    /// Seconds that a build takes, or with `measure` a run of it: the median of the latest ones.
    /// `None` before the first one.
    pub(crate) fn usual(&self, measure: Option<&str>) -> Option<f64> {
        let (builds, runs) = &self.durations;
        let all = measure.map_or(Some(builds), |measure| runs.get(measure))?;
        stats::median(&all[all.len().saturating_sub(LATEST)..])
    }

    /// Seconds left; `current`: seconds since the current build or run began. `None` if the time is
    /// unknown: before the plan, between two searches, after more runs than planned, and if all
    /// results so far come from the store, since these do not show what a new result costs.
    pub(crate) fn seconds_left(&self, current: f64) -> Option<f64> {
        let plan = self.plan.as_ref()?;
        let all = |of: fn(&Spent) -> &Vec<f64>| {
            let phases = [&self.endpoints, &self.search, &self.confirmation].into_iter();
            stats::mean(&phases.flat_map(of).copied().collect::<Vec<_>>())
        };
        let run = all(|spent| &spent.runs)?;
        let build = all(|spent| &spent.builds).unwrap_or(0.0);
        let cost = |builds: usize, runs: usize| builds as f64 * build + runs as f64 * run;
        if self.is_noisy {
            let builds = plan.builds.saturating_sub(self.made[0]);
            let runs = plan.runs.checked_sub(self.made[1]).filter(|runs| *runs > 0)?;
            return Some(positive(cost(builds, runs) - current.min(build.max(run))));
        }
        let measures = self.measures.len().max(1);
        let builds = plan.builds.saturating_sub(plan.steps);
        let runs = plan.runs.saturating_sub(plan.steps * measures);
        match (self.stage, self.left) {
            (Stage::Search, Some((_, steps))) => {
                let step = self.seconds_of_step(build)?;
                let spent = self.search.seconds() - self.at_last_step + current;
                Some(positive(step * steps as f64 - spent.min(step) + cost(builds, runs)))
            }
            (Stage::Confirmation, _) => {
                let runs = runs.checked_sub(self.confirmation.runs.len()).filter(|n| *n > 0)?;
                let builds = builds.saturating_sub(self.confirmation.builds.len());
                let under_way = if builds > 0 { build } else { run };
                Some(positive(cost(builds, runs) - current.min(under_way)))
            }
            _ => None,
        }
    }

    fn spent(&mut self, phase: Phase) -> &mut Spent {
        match phase {
            Phase::Endpoint => &mut self.endpoints,
            Phase::Confirm => &mut self.confirmation,
            _ => &mut self.search,
        }
    }

    /// Expected seconds of a step: the mean of the steps so far, or the endpoints' seconds before
    /// the first step. Steps may be faster than the endpoints, because a compiler cache makes later
    /// builds faster and a commit from the store takes no time.
    fn seconds_of_step(&self, build: f64) -> Option<f64> {
        if self.judged.is_empty() {
            let runs = self.measures.iter().filter_map(|name| self.endpoint_runs.get(name));
            return Some(build + runs.filter_map(|runs| stats::mean(runs)).sum::<f64>());
        }
        let step = self.at_last_step / self.judged.len() as f64;
        (step > 0.0).then_some(step)
    }
}

fn positive(seconds: f64) -> f64 {
    seconds.max(0.0)
}

fn measure(target: &Target) -> Option<String> {
    match target {
        Target::Guard(guard) => Some(guard.guard.metric.measure.clone()),
        Target::Failure { measure, .. } => measure.clone(),
    }
}

#[cfg(test)]
mod tests;
