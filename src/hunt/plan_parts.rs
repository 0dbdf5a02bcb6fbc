//! What each part of a hunt costs: a lower bound, and what it usually costs at most. Limits that
//! the hunt itself uses are taken from where it uses them.

use crate::config::{Config, ConfirmBuild, Sweep};
use crate::search::steps_of;
use crate::store::journal::{HuntPart, PlanAhead, PlanPart};

use super::confirm::fresh::MOST_ROUNDS_UNSTEADY;
use super::endpoints::{RUNS_STEADY, RUNS_TO_DENY};
use super::known_results::{KnownResults, LeastSearch};
use super::run_verdicts::ROUNDS;
use super::shapes::evidence::RUNS_TO_CLAIM;

/// Commits that the confirmation measures: the first bad commit and one parent. A merge has more.
pub(crate) const CONFIRMED_COMMITS: usize = 2;

/// Steps that a search usually needs at most beyond the halvings: merges and untestable commits.
const SPARE_STEPS: usize = 2;

/// Runs that a commit of the search usually needs at most: a failure counts when it is seen twice.
const RUNS_OF_STEP: usize = 2;

/// Further commits that are usually measured at most, to see whether a confirmed step lasts: in
/// eight hunts of 2026-11-27, up to four if values repeat, and up to seven in noise.
const CHECKED_COMMITS: usize = 4;
/// The same in noise, and the runs of each.
const CHECKED_IN_NOISE: (usize, usize) = (8, 12);

/// Builds that a localisation usually needs at most; the same hunts needed 2 to 12.
const USUAL_TESTS: usize = 14;

/// The runs of each of them: a test that decides is repeated.
const RUNS_OF_TEST: usize = 2;

/// Runs of each side for one of the other measures, such as a dump of tensors.
const RUNS_OF_INQUIRY: usize = 2;

/// Measured durations, in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Durations {
    /// A build; `None` if nothing was built.
    pub(crate) build: Option<f64>,
    /// One run of each measure of the search, added up.
    pub(crate) run: f64,
}

/// What the cost of a hunt depends on, besides its configuration.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HuntSize {
    /// Commits that may be the first bad one.
    pub(crate) commits: usize,
    /// How many measures each commit runs.
    pub(crate) measures: usize,
    /// Builds and runs of the endpoints; `None` if they are not measured yet.
    pub(crate) ends: Option<[usize; 2]>,
    /// Steps and runs that the search in noise is expected to need; `None` if values repeat, or if
    /// their levels are so far apart that one or two runs decide a commit.
    pub(crate) in_noise: Option<[usize; 2]>,
    /// Whether the change of the found commit is tested in parts.
    pub(crate) localizes: bool,
    /// What is known before the search.
    pub(crate) known: KnownResults,
    /// Whether a build of the search that is identical to a measured one needs no run.
    pub(crate) reuses_runs: bool,
    /// Slots or jobs that build, and those that run, while the search measures a commit; 1 if
    /// nothing is measured ahead.
    pub(crate) slots: [usize; 2],
}

/// The parts of the hunt, in the order in which they happen.
pub(crate) fn plan_parts(config: &Config, size: HuntSize, durations: Durations) -> Vec<PlanPart> {
    let is_built = !config.build.commands.is_empty() || durations.build.is_some();
    let rounds = size.measures.max(1) as f64;
    let part = |part: HuntPart, builds: [usize; 2], runs: [usize; 2]| {
        let builds = if is_built { builds } else { [0, 0] };
        let seconds = |at: usize| {
            builds[at] as f64 * durations.build.unwrap_or(0.0)
                + runs[at] as f64 * durations.run / rounds
        };
        PlanPart { part, builds, runs, seconds: [seconds(0), seconds(1)] }
    };
    let (builds, runs) = ends(size);
    let mut parts = vec![part(HuntPart::Ends, builds, runs)];
    let (builds, runs) = search(size);
    parts.push(part(HuntPart::Search, builds, runs));
    let (builds, runs) = confirmation(config, size);
    parts.push(part(HuntPart::Confirmation, builds, runs));
    let (builds, runs) = later_commits(size);
    if runs[1] > 0 {
        parts.push(part(HuntPart::LaterCommits, builds, runs));
    }
    // In noise the tests run about twice as often.
    let times = if size.in_noise.is_some() { 2 } else { 1 };
    if size.localizes {
        let others = other_measures(config) * CONFIRMED_COMMITS * RUNS_OF_INQUIRY;
        let most = times * USUAL_TESTS * RUNS_OF_TEST * size.measures + others;
        // Some changes cannot be taken apart.
        parts.push(part(HuntPart::Localization, [0, USUAL_TESTS], [0, most]));
    }
    if let Some(sweep) = &config.sweep {
        let [least, most] = cells(config, sweep);
        // A commit whose values vary is not swept.
        let least = if size.in_noise.is_some() { 0 } else { least };
        let runs = [CONFIRMED_COMMITS * least, times * CONFIRMED_COMMITS * RUNS_TO_CLAIM * most];
        parts.push(part(HuntPart::Sweep, [0, CONFIRMED_COMMITS], runs));
    }
    parts
}

/// What other slots or jobs usually measure at most before the search asks for it. `search`: the
/// part of the search itself. `None` if nothing is measured ahead.
///
/// While the search measures a commit, each other slot measures about one, and no slot works longer
/// than the search. A search gives each commit to one worker at most, and measures one by itself.
pub(crate) fn work_ahead(
    size: HuntSize,
    search: &PlanPart,
    durations: Durations,
) -> Option<PlanAhead> {
    let [building, running] = size.slots.map(|slots| slots.saturating_sub(1));
    let others = size.commits.saturating_sub(1);
    let in_slots = |slots: usize, count: usize| slots.saturating_mul(count);
    let builds = in_slots(building, search.builds[1]).min(others);
    let runs = match size.in_noise {
        None => in_slots(running, search.runs[1]).min(others * RUNS_OF_STEP * size.measures),
        Some(_) => in_slots(running, search.runs[1]),
    };
    if builds + runs == 0 {
        return None;
    }
    let rounds = size.measures.max(1) as f64;
    let all = builds as f64 * durations.build.unwrap_or(0.0) + runs as f64 * durations.run / rounds;
    let seconds = all.min(running as f64 * search.seconds[1]);
    Some(PlanAhead { builds, runs, seconds, in_jobs: false })
}

/// At least, and usually at most.
type Bounds = [usize; 2];

fn ends(size: HuntSize) -> (Bounds, Bounds) {
    if let Some([builds, runs]) = size.ends {
        return ([builds; 2], [runs; 2]);
    }
    let runs = [2 * RUNS_STEADY * size.measures, 2 * RUNS_TO_DENY * size.measures];
    if size.known.has_ends { ([0, 2], [0, runs[1]]) } else { ([2; 2], runs) }
}

/// The bad end is known, so a search builds at most one commit less than there are.
fn search(size: HuntSize) -> (Bounds, Bounds) {
    let commits = size.commits.max(1);
    let most = |steps: usize| (steps + SPARE_STEPS).min(commits - 1);
    match size.in_noise {
        None => {
            let least = match size.known.search {
                LeastSearch::Halvings => commits.ilog2() as usize,
                LeastSearch::OneStep => 1.min(commits - 1),
                LeastSearch::Nothing => 0,
            };
            let least_runs = if size.reuses_runs { 0 } else { least * deciding(size) };
            let most = most(steps_of(commits));
            ([least, most], [least_runs, most * RUNS_OF_STEP * size.measures])
        }
        // The posterior may need few commits or many, or none if its prior is sure.
        Some([steps, runs]) => {
            let builds = most(steps);
            ([0, builds], [0, (2 * runs).max(builds) * size.measures])
        }
    }
}

fn confirmation(config: &Config, size: HuntSize) -> (Bounds, Bounds) {
    let rebuilt = match config.build.confirm {
        ConfirmBuild::Rebuild => CONFIRMED_COMMITS,
        ConfirmBuild::Reuse => 0,
    };
    let rounds = if size.in_noise.is_some() { MOST_ROUNDS_UNSTEADY } else { ROUNDS };
    let most = CONFIRMED_COMMITS * rounds * size.measures;
    // A stored confirmation may hold.
    if size.known.has_commits {
        return ([0, 2 * rebuilt], [0, most]);
    }
    ([rebuilt, 2 * rebuilt], [CONFIRMED_COMMITS * deciding(size), most])
}

/// How many measures surely decide. Which ones do is known from the endpoints.
fn deciding(size: HuntSize) -> usize {
    if size.ends.is_none() { size.measures.min(1) } else { size.measures }
}

/// There are fewer later commits than commits that may be the first bad one.
fn later_commits(size: HuntSize) -> (Bounds, Bounds) {
    let (checked, runs_of_each) = match size.in_noise {
        None => (CHECKED_COMMITS, RUNS_OF_STEP),
        Some(_) => CHECKED_IN_NOISE,
    };
    let most = checked.min(size.commits.saturating_sub(1));
    ([0, most], [0, most * runs_of_each * size.measures])
}

/// How many measures run at the found commit only, without those of the sweep.
fn other_measures(config: &Config) -> usize {
    let is_swept =
        |name: &String| config.sweep.as_ref().is_some_and(|sweep| sweep.measures.contains(name));
    let others = config.measures.iter().filter(|measure| measure.for_cause);
    others.filter(|measure| !is_swept(&measure.name)).count()
}

/// The cells of the grids, and with those that `range` usually adds: about two for each halving of
/// it.
fn cells(config: &Config, sweep: &Sweep) -> Bounds {
    let measures = sweep.measures.iter().filter_map(|name| config.measure(name));
    let (mut grid, mut more) = (0_usize, 0);
    for measure in measures {
        let parameters = sweep.parameters_of(measure);
        let values = parameters.iter().map(|parameter| parameter.values.len());
        grid = grid.saturating_add(values.fold(1, usize::saturating_mul));
        let ranges = parameters.iter().filter_map(|parameter| parameter.range);
        let halvings = |[from, to]: [u64; 2]| to.saturating_sub(from).max(1).ilog2() as usize + 1;
        more += ranges.map(|range| 2 * halvings(range)).sum::<usize>();
    }
    [grid, grid.saturating_add(more).min(sweep.budget.max(grid))]
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn config(more: &str) -> Config {
        let text = format!(
            "version = 1\n[build]\ncommands = ['make']\n[[measure]]\nname = 'a'\ncommand = 'a'\n\
             parser = 'exit-code'\n[[guard]]\nmetric = 'a'\nmax = 0\n{more}"
        );
        Config::parse(&text, Path::new("/"), "oracle.toml").unwrap()
    }

    const SIZE: HuntSize = HuntSize {
        commits: 41,
        measures: 1,
        ends: None,
        in_noise: None,
        localizes: true,
        known: KnownResults { has_ends: false, has_commits: false, search: LeastSearch::Halvings },
        reuses_runs: false,
        slots: [1; 2],
    };

    fn of(config: &Config, size: HuntSize) -> Vec<(HuntPart, Bounds, Bounds)> {
        let parts = plan_parts(config, size, Durations::default()).into_iter();
        parts.map(|part| (part.part, part.builds, part.runs)).collect()
    }

    #[test]
    fn each_part_has_a_lower_and_a_usual_upper_bound() {
        let parts = of(&config(""), SIZE);
        let expected = [
            (HuntPart::Ends, [2, 2], [4, 8]),
            (HuntPart::Search, [5, 8], [5, 16]),
            (HuntPart::Confirmation, [2, 4], [2, 10]),
            (HuntPart::LaterCommits, [0, 4], [0, 8]),
            (HuntPart::Localization, [0, 14], [0, 28]),
        ];
        assert_eq!(parts, expected);
    }

    #[test]
    fn what_does_not_happen_costs_nothing() {
        let measured = HuntSize { ends: Some([2, 4]), localizes: false, commits: 1, ..SIZE };
        let parts = of(&config(""), measured);
        assert_eq!(parts[0], (HuntPart::Ends, [2, 2], [4, 4]));
        assert_eq!(parts[1], (HuntPart::Search, [0, 0], [0, 0]));
        assert_eq!(parts.len(), 3, "{parts:?}");
    }

    #[test]
    fn noise_costs_runs() {
        let noisy = HuntSize { in_noise: Some([9, 30]), ..SIZE };
        let (quiet, noisy) = (of(&config(""), SIZE), of(&config(""), noisy));
        for (quiet, noisy) in quiet.iter().zip(&noisy).skip(1) {
            assert!(noisy.2[1] > quiet.2[1], "{quiet:?} {noisy:?}");
            assert!(noisy.1[0] <= quiet.1[0], "no lower bound rises: {quiet:?} {noisy:?}");
        }
    }

    fn least(size: HuntSize) -> Vec<[usize; 2]> {
        let parts = of(&config(""), size).into_iter();
        parts.map(|(_, builds, runs)| [builds[0], runs[0]]).collect()
    }

    #[test]
    fn known_results_cost_nothing() {
        assert_eq!(least(SIZE), [[2, 4], [5, 5], [2, 2], [0, 0], [0, 0]]);
        let known = KnownResults { search: LeastSearch::OneStep, ..SIZE.known };
        assert_eq!(least(HuntSize { known, ..SIZE })[1], [1, 1]);
        // An equal tree in the range says nothing of the confirmation.
        let known = KnownResults { search: LeastSearch::Nothing, ..SIZE.known };
        assert_eq!(least(HuntSize { known, ..SIZE })[1..3], [[0, 0], [2, 2]]);
        let known = KnownResults { has_commits: true, ..known };
        assert_eq!(least(HuntSize { known, ..SIZE })[..3], [[2, 4], [0, 0], [0, 0]]);
        let known = KnownResults { has_ends: true, ..SIZE.known };
        assert_eq!(least(HuntSize { known, ..SIZE })[0], [0, 0]);
        // The ends of this hunt are measured: that cost is known.
        let ends = Some([1, 3]);
        assert_eq!(least(HuntSize { ends, known, ..SIZE })[0], [1, 3]);
        assert_eq!(least(HuntSize { reuses_runs: true, ..SIZE })[1], [5, 0]);
        assert_eq!(least(HuntSize { in_noise: Some([9, 30]), ..SIZE })[1], [0, 0]);
    }

    #[test]
    fn one_measure_may_decide_until_the_ends_are_measured() {
        let two = HuntSize { measures: 2, ..SIZE };
        assert_eq!(least(two)[..3], [[2, 8], [5, 5], [2, 2]]);
        let measured = HuntSize { ends: Some([2, 8]), ..two };
        assert_eq!(least(measured)[..3], [[2, 8], [5, 10], [2, 4]]);
    }

    #[test]
    fn other_slots_work_as_long_as_the_search() {
        let durations = Durations { build: Some(10.0), run: 2.0 };
        let ahead = |slots: [usize; 2], in_noise| {
            let size = HuntSize { in_noise, slots, ..SIZE };
            let parts = plan_parts(&config(""), size, durations);
            let ahead = work_ahead(size, &parts[1], durations)?;
            Some(format!("{} {} {:.0}", ahead.builds, ahead.runs, ahead.seconds))
        };
        let ahead = |slots, in_noise| ahead(slots, in_noise).unwrap_or_default();
        assert_eq!(ahead([1, 1], None), "");
        // The search itself: 8 builds and 16 runs, 112 s.
        assert_eq!(ahead([2, 2], None), "8 16 112");
        // No commit is measured ahead twice: 40 builds and 80 runs.
        assert_eq!(ahead([64, 64], None), "40 80 560");
        // One job measures, and others build: no GPU works ahead.
        assert_eq!(ahead([4, 1], None), "24 0 0");
        assert!(ahead([3, 3], Some([9, 30])).starts_with("22 120 "), "in noise: 11 and 60 in each");
    }

    #[test]
    fn the_time_is_that_of_the_builds_and_runs() {
        let durations = Durations { build: Some(10.0), run: 6.0 };
        let two = HuntSize { measures: 2, ..SIZE };
        let parts = plan_parts(&config(""), two, durations);
        // Two builds, and two runs of two measures at each end.
        assert!((parts[0].seconds[0] - (2.0 * 10.0 + 4.0 * 6.0)).abs() < 1e-9, "{parts:?}");
        let unknown = plan_parts(&config(""), two, Durations::default());
        assert!(unknown.iter().all(|part| part.seconds[1] <= 0.0), "{unknown:?}");
    }

    #[test]
    fn a_sweep_has_its_cells_at_both_commits() {
        let sweep = "[[measure]]\nname = 'w'\ncommand = 'w {sweep.n}'\nparser = 'exit-code'\n\
                     [sweep]\nbudget = 6\n[sweep.parameters.n]\nvalues = [1, 2, 3]\n\
                     range = [1, 512]\n";
        let parts = of(&config(sweep), SIZE);
        assert_eq!(parts[5], (HuntPart::Sweep, [0, 2], [6, 24]));
    }
}
