//! Estimates builds, runs and time of a hunt once its endpoints are measured, from their durations.

use crate::config::ConfirmBuild;
use crate::evaluation::{GuardTarget, Phase, Target};
use crate::git::Range;
use crate::hunt::HuntError;
use crate::hunt::ahead::in_noise::WorkAhead;
use crate::hunt::driver::Driver;
use crate::hunt::known_results::{KnownResults, LeastSearch};
use crate::hunt::plan_parts::{CONFIRMED_COMMITS, Durations, HuntSize, plan_parts, work_ahead};
use crate::hunt::run_verdicts::ROUNDS;
use crate::hunt::strategy::SearchStrategy;
use crate::oracle::measures_of;
use crate::search::{Levels, expected_cost, steps_of};
use crate::stats;
use crate::store::journal::{Entry, Event, HuntPart, Plan, PlanAhead, SearchBy, SearchMethod};

impl Driver<'_> {
    /// Writes the plan to the journal, once per hunt. A resumed hunt keeps its first plan.
    pub(crate) fn announce(&mut self, targets: &[Target]) -> Result<(), HuntError> {
        let entries = self.hunt.entries()?;
        if entries.iter().any(|entry| matches!(entry.event, Event::Plan(_))) {
            return Ok(());
        }
        let strategy = SearchStrategy::of(targets, self.begun.options.search);
        let measures = measures_of(&strategy.targets);
        let mut durations = durations(&entries, &measures);
        // An earlier hunt, or the outer one in a dependency, already built the ends, but not the
        // commits between them.
        let has_built_ends = self.begun.within.is_some() || entries.iter().any(is_taken_build);
        if durations.build.is_none() && has_built_ends {
            durations.build = self.known_build()?;
        }
        let rebuilt = match self.oracle.recipes.config.build.confirm {
            ConfirmBuild::Rebuild => CONFIRMED_COMMITS,
            ConfirmBuild::Reuse => 0,
        };
        let left_out = entries.iter().find_map(|entry| match &entry.event {
            Event::Unread(unread) => Some(unread.left_out),
            _ => None,
        });
        let commits = self.begun.commits - left_out.unwrap_or(0);
        let plan = if let Some(target) = strategy.noisy() {
            noisy_plan(commits, rebuilt, target, durations)
        } else {
            let is_failure = |target: &Target| matches!(target, Target::Failure { .. });
            // A failure has no values to compare: its confirmation runs as often as in noise.
            let rounds = if targets.iter().any(is_failure) { ROUNDS } else { 1 };
            plan(Size { commits, measures: measures.len(), rounds, rebuilt }, durations)
        };
        // Levels so far apart that one or two runs decide a commit, unless the user chose `git
        // bisect` in any noise.
        let is_apart = strategy.method == SearchMethod::Sequential
            && self.begun.options.search == SearchBy::Auto;
        let in_noise = strategy.noisy().filter(|_| !is_apart).map(|_| [plan.steps, plan.runs]);
        let is_guard = |target: &Target| matches!(target, Target::Guard(_));
        let size = HuntSize {
            commits,
            measures: measures.len(),
            ends: Some(made(&entries)),
            in_noise,
            localizes: self.begun.options.localize,
            known: self.known_results()?,
            reuses_runs: strategy.method == SearchMethod::BitIdentical
                && strategy.targets.iter().all(is_guard)
                && !self.is_any_exclusive(&measures),
            slots: self.slots_of_search(&strategy),
        };
        let config = &self.oracle.recipes.config;
        let (parts, gpus) = (plan_parts(config, size, durations), config.executor.gpus());
        let search = parts.iter().find(|part| part.part == HuntPart::Search);
        let ahead = search.and_then(|search| work_ahead(size, search, durations));
        let in_jobs = config.executor.is_cluster();
        let ahead = ahead.map(|ahead| PlanAhead { in_jobs, ..ahead });
        let stored = is_from_the_store(&entries) || size.known.has_commits;
        Ok(self.oracle.recorder.event(Event::Plan(Plan { stored, parts, gpus, ahead, ..plan }))?)
    }

    /// What is known of the range before the search.
    fn known_results(&self) -> Result<KnownResults, HuntError> {
        // The store names the commits of the outer hunt, not those of the dependency.
        if self.begun.within.is_some() {
            let search = LeastSearch::Nothing;
            return Ok(KnownResults { has_ends: true, has_commits: true, search });
        }
        let [old, new] = self.begun.ends();
        let first_parent = self.begun.options.first_parent;
        let range = Range { first_parent, ..Range::between(old, new) };
        let skips = !self.begun.options.skip.is_empty();
        KnownResults::of(&self.oracle.history, &self.oracle.store, &range, skips)
    }

    /// How many slots or jobs build, and how many run, while the search measures a commit.
    fn slots_of_search(&self, strategy: &SearchStrategy) -> [usize; 2] {
        if self.needs_one_node(&strategy.targets) {
            return [1; 2];
        }
        let slots = self.slots();
        let posterior = strategy.noisy().filter(|_| strategy.method == SearchMethod::Posterior);
        let Some(target) = posterior else {
            return self.oracle.recipes.config.executor.slots_of_search(slots);
        };
        let is_paired = target.noise.is_some_and(|noise| noise.paired);
        match self.work_ahead(target, false, is_paired) {
            None => [1; 2],
            Some(WorkAhead::Builds) => [slots, 1],
            Some(WorkAhead::Runs) => [slots; 2],
        }
    }

    /// Duration of a build relative to a run of the measure; 1 if unknown. Uses stored durations,
    /// so that a hunt that reuses all builds makes the same choices.
    pub(crate) fn price_of_build(&self, measure: &str) -> Result<f64, HuntError> {
        let durations = durations(&self.hunt.entries()?, &[measure.to_owned()]);
        Ok(match self.known_build()? {
            Some(build) if durations.run > 0.0 => build / durations.run,
            _ => 1.0,
        })
    }

    /// Mean seconds of the ends' stored builds; `None` if none succeeded.
    fn known_build(&self) -> Result<Option<f64>, HuntError> {
        let mut builds = Vec::new();
        for end in [&self.begun.good.commit, &self.begun.bad.commit] {
            let recipe = self.oracle.recipes.at(end)?;
            let known =
                self.oracle.store.builds(&self.oracle.recipes.build_key_of(end, &recipe)?)?;
            let worked = known.into_iter().find(|build| build.failure.is_none());
            builds.extend(worked.map(|build| build.wall_s));
        }
        Ok(mean(builds.into_iter()))
    }
}

/// The size of a search with its confirmation.
#[derive(Clone, Copy, Debug)]
struct Size {
    /// Commits that may be the first bad one.
    commits: usize,
    /// Number of measures that each commit runs.
    measures: usize,
    /// Number of runs of each measure at each commit of the confirmation.
    rounds: usize,
    /// Number of commits that the confirmation builds again.
    rebuilt: usize,
}

/// `steps × (build + runs) + confirmation`.
fn plan(size: Size, durations: Durations) -> Plan {
    let steps = steps_of(size.commits);
    let builds = steps + size.rebuilt;
    let rounds = steps + CONFIRMED_COMMITS * size.rounds;
    Plan {
        commits: size.commits,
        steps,
        builds: if durations.build.is_some() { builds } else { 0 },
        runs: rounds * size.measures,
        seconds: builds as f64 * durations.build.unwrap_or(0.0) + rounds as f64 * durations.run,
        ..Plan::default()
    }
}

/// The plan of a search in noise. The number of runs depends on the effect size d.
fn noisy_plan(commits: usize, rebuilt: usize, target: &GuardTarget, durations: Durations) -> Plan {
    let noise = target.noise.expect("a target in noise");
    // Failure rates need about as many runs as levels with d = 2.
    let levels = target.levels().unwrap_or(Levels { good: 0.0, bad: 2.0, sd: 1.0 });
    let expected = expected_cost(commits, &levels, noise.paired);
    let runs = stats::whole(expected.runs, 0, usize::MAX).saturating_sub(2 * noise.runs);
    let builds = stats::whole(expected.builds, 0, usize::MAX) + rebuilt;
    Plan {
        commits,
        steps: steps_of(commits),
        builds: if durations.build.is_some() { builds } else { 0 },
        runs,
        seconds: builds as f64 * durations.build.unwrap_or(0.0) + runs as f64 * durations.run,
        ..Plan::default()
    }
}

/// Mean durations at the endpoints: of builds made by this hunt, and of all runs, reused or not.
fn durations(entries: &[Entry], measures: &[String]) -> Durations {
    let builds = entries.iter().filter_map(|entry| match &entry.event {
        Event::Build(build)
            if build.phase == Phase::Endpoint && !build.reused && build.prepare.is_none() =>
        {
            Some(build.wall_s)
        }
        _ => None,
    });
    let runs_of = |name: &String| {
        mean(entries.iter().filter_map(|entry| match &entry.event {
            Event::Run(run)
                if run.phase == Phase::Endpoint && run.measure == *name && run.apart.is_none() =>
            {
                Some(run.wall_s)
            }
            _ => None,
        }))
    };
    Durations { build: mean(builds), run: measures.iter().filter_map(runs_of).sum() }
}

/// Whether this is a working build of an end that an earlier hunt made.
fn is_taken_build(entry: &Entry) -> bool {
    matches!(&entry.event, Event::Build(build) if build.is_taken() && build.phase == Phase::Endpoint)
}

/// The builds and runs that this hunt made so far.
fn made(entries: &[Entry]) -> [usize; 2] {
    let count =
        |is_one: fn(&Event) -> bool| entries.iter().filter(|entry| is_one(&entry.event)).count();
    let is_build = |event: &Event| match event {
        Event::Build(build) => !build.reused && build.prepare.is_none(),
        _ => false,
    };
    [count(is_build), count(|event| matches!(event, Event::Run(run) if !run.reused))]
}

/// Whether all results so far come from the store.
fn is_from_the_store(entries: &[Entry]) -> bool {
    let is_made = |entry: &Entry| match &entry.event {
        Event::Build(build) => !build.reused,
        Event::Run(run) => !run.reused,
        _ => false,
    };
    !entries.iter().any(is_made)
}

fn mean(seconds: impl Iterator<Item = f64>) -> Option<f64> {
    stats::mean(&seconds.collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::GuardForm;
    use crate::oracle::fixture::noisy;

    const SIZE: Size = Size { commits: 41, measures: 1, rounds: 1, rebuilt: 2 };

    #[test]
    fn a_plan_adds_up_steps_and_confirmation() {
        let durations = Durations { build: Some(600.0), run: 30.0 };
        let made = plan(SIZE, durations);
        assert_eq!((made.steps, made.builds, made.runs), (6, 8, 8));
        assert!((made.seconds - (8.0 * 600.0 + 8.0 * 30.0)).abs() < 1e-9);
    }

    #[test]
    fn every_measure_counts_and_so_does_each_round() {
        let durations = Durations { build: Some(1.0), run: 10.0 };
        let made = plan(Size { measures: 2, rounds: 5, ..SIZE }, durations);
        assert_eq!((made.builds, made.runs), (8, 2 * (6 + 2 * 5)));
        // `durations.run` is the sum over both measures.
        assert!((made.seconds - (8.0 + 16.0 * 10.0)).abs() < 1e-9);
    }

    #[test]
    fn noise_costs_runs() {
        let runs = |distance: f64| {
            let mut target = noisy(GuardForm::MaxIncrease(0.5), 1.0, 1.0 + distance);
            if let Some(noise) = &mut target.noise {
                noise.sd = 1.0;
            }
            noisy_plan(128, 2, &target, Durations { build: Some(1.0), run: 1.0 }).runs
        };
        assert!(runs(2.0) > runs(3.0) && runs(3.0) > runs(10.0), "{} {}", runs(2.0), runs(3.0));
    }

    #[test]
    fn what_is_never_built_takes_no_builds() {
        let made = plan(Size { rebuilt: 0, ..SIZE }, Durations { build: None, run: 2.0 });
        assert_eq!((made.builds, made.seconds), (0, 16.0));
    }
}
