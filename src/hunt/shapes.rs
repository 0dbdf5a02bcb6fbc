//! From the first bad commit to the cells that show its regression. Sweeps the parameters of
//! `[sweep]` at the commit and at its worst parent.
//!
//! The whole grid comes first. Then `search::most_informative_cell` chooses further cells until one
//! rule is left.

mod again;
mod cell;
pub(crate) mod evidence;
mod grid;

use crate::config::{Config, Measure};
use crate::evaluation::{
    CellSide, CommitId, Culprit, FailureKind, Finding, MeasureSweep, Metric, Shapes, Shows,
    SweepEnd, SweptCell, Target,
};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;
use crate::hunt::inquiry::{OTHER_RECIPE, note_limit};
use crate::hunt::localize::step::is_judged_alone;
use crate::oracle::{Observation, OracleError};
use crate::search::{JudgedCell, most_informative_cell, separating_rules};
use crate::store::journal::Event;

use cell::Criterion;
use evidence::{
    RUNS_TO_CLAIM, discard_small_differences, end, is_in_vain, judged_cell, single_run_that_decides,
};
use grid::{Grid, Values};

/// Runs of each side in a cell if the runs of the measure vary, or if those of a cell disagree.
const RUNS_IN_NOISE: usize = 3;

impl Driver<'_> {
    /// Adds to a finding the cells in which its main first bad commit shows the regression.
    pub(crate) fn sweep_shapes(&mut self, mut finding: Finding) -> Result<Finding, HuntError> {
        let is_asked = self.oracle.recipes.config.sweep.is_some();
        let culprit = self.main_to_explain(&finding).filter(|_| is_asked).cloned();
        let Some(culprit) = culprit else { return Ok(finding) };
        // The commit is found: a machine fault must not lose the answer now.
        let shapes = match self.shapes(&culprit) {
            Err(error) if self.must_end(&error) => return Err(error),
            Err(fault) => {
                note_limit(&mut finding, &fault);
                not_swept(&culprit, fault.to_string())
            }
            Ok(shapes) => shapes,
        };
        finding.shapes = Some(shapes);
        Ok(finding)
    }

    fn shapes(&mut self, culprit: &Culprit) -> Result<Shapes, HuntError> {
        let (mut targets, mut written, mut is_begun) = (Vec::new(), Vec::new(), false);
        for entry in &self.hunt.entries()? {
            match &entry.event {
                Event::Targets { targets: chosen, .. } => targets.clone_from(chosen),
                Event::Sweeping { .. } => is_begun = true,
                Event::Swept(cell) => written.push(cell.as_ref().clone()),
                _ => {}
            }
        }
        let [parent, commit] = [&culprit.parent, &culprit.info.commit];
        let Some(recipe) = self.common_recipe(culprit)? else {
            return Ok(not_swept(culprit, OTHER_RECIPE.to_owned()));
        };
        if let Some(why) = self.obstacle(culprit, &targets) {
            return Ok(not_swept(culprit, why.to_owned()));
        }
        // An override may change which parameters a measure names.
        let sweep = recipe.sweep.clone().expect("no override changes [sweep]");
        let measures = sweep.measures.iter().filter_map(|name| recipe.measure(name).cloned());
        let plans: Vec<(Measure, Grid<'_>)> = measures
            .map(|measure| {
                let parameters = sweep.parameters_of(&measure);
                (measure, Grid { parameters })
            })
            .collect();
        let cells: usize = plans.iter().map(|(_, grid)| grid.cells().len()).sum();
        if !is_begun {
            let event = Event::Sweeping { commit: commit.clone(), cells };
            self.oracle.recorder.event(event)?;
        }
        let mut ongoing = OngoingSweep {
            driver: self,
            culprit,
            recipe,
            targets,
            tolerance: sweep.tolerance,
            written,
            left: sweep.budget.saturating_sub(cells),
            has_disagreement: false,
        };
        let sweeps = plans.iter().map(|(measure, grid)| ongoing.sweep(measure, grid));
        let sweeps: Vec<MeasureSweep> = sweeps.collect::<Result<_, _>>()?;
        for side in [parent, commit] {
            self.oracle.release(side);
        }
        let (commit, parent) = (commit.clone(), parent.clone());
        Ok(Shapes { commit, parent, sweeps, not_swept: None })
    }

    /// Why single runs of the commit and its parent cannot be compared.
    fn obstacle(&self, culprit: &Culprit, targets: &[Target]) -> Option<&'static str> {
        if culprit.failure.as_ref().is_some_and(|failure| failure.kind == FailureKind::Build) {
            return Some("it does not build");
        }
        let by = self.begun.options.search;
        let varies = |target: &Target| culprit.breaks(target) && !is_judged_alone(target, by);
        let varies = targets.iter().any(varies);
        (varies || self.is_flaky).then_some("runs vary too much to compare single cells")
    }
}

/// A sweep in progress.
struct OngoingSweep<'c, 'd> {
    driver: &'c mut Driver<'d>,
    culprit: &'c Culprit,
    /// The common recipe of the commit and its parent.
    recipe: Config,
    targets: Vec<Target>,
    tolerance: Option<f64>,
    /// The cells that the journal already has.
    written: Vec<SweptCell>,
    /// How many cells may still be tested beyond the grids.
    left: usize,
    /// Whether runs of one cell of the measure disagree: the regression comes and goes.
    has_disagreement: bool,
}

/// One measure, and how its cells are judged.
#[derive(Clone)]
struct Swept<'s> {
    measure: &'s Measure,
    criterion: Criterion,
    /// Runs of each side at first.
    runs: usize,
}

/// The cell that is judged next.
enum Asked {
    /// A new one.
    New(Values),
    /// A cell that was judged before, with more runs.
    Again(usize),
}

impl OngoingSweep<'_, '_> {
    fn sweep(&mut self, measure: &Measure, grid: &Grid<'_>) -> Result<MeasureSweep, HuntError> {
        let mut cells = Vec::new();
        let swept = self.swept(measure);
        self.has_disagreement = false;
        let end = match self.cells(&swept, grid, &mut cells) {
            Err(error) if self.driver.must_end(&error) => return Err(error),
            Err(fault) => {
                if let HuntError::Limit(limit) = &fault {
                    self.driver.limit = Some(limit.clone());
                }
                SweepEnd::Stopped(fault.to_string())
            }
            Ok(end) => end,
        };
        let cells = discard_small_differences(&cells, grid.cells().len(), &swept.criterion);
        let parameters = grid.parameters.iter().map(|one| one.name.clone()).collect();
        Ok(MeasureSweep { measure: measure.name.clone(), parameters, cells, end })
    }

    fn swept<'m>(&self, measure: &'m Measure) -> Swept<'m> {
        let guards = &self.recipe.guards;
        let criterion = cell::criterion(measure, &self.targets, guards, self.tolerance);
        let is_noisy =
            self.targets.iter().filter_map(Target::guard).any(|target| {
                target.guard.metric.measure == measure.name && target.noise.is_some()
            });
        Swept { measure, criterion, runs: if is_noisy { RUNS_IN_NOISE } else { 1 } }
    }

    /// Judges the grid, and then cells that distinguish rules.
    fn cells(
        &mut self,
        swept: &Swept<'_>,
        grid: &Grid<'_>,
        cells: &mut Vec<SweptCell>,
    ) -> Result<SweepEnd, HuntError> {
        let mut tried = grid.cells();
        let grid_size = tried.len();
        for values in &tried {
            cells.push(self.judged(swept, grid, values)?);
        }
        let mut swept = swept.clone();
        loop {
            if self.has_disagreement && swept.runs < RUNS_IN_NOISE {
                // One run of a cell may show nothing by chance.
                swept.runs = RUNS_IN_NOISE;
                let again = tried.iter().map(|values| self.judged(&swept, grid, values));
                *cells = again.collect::<Result<_, _>>()?;
            }
            let judged = discard_small_differences(cells, grid_size, &swept.criterion);
            let known: Vec<JudgedCell> = judged.iter().filter_map(judged_cell).collect();
            let showing = known.iter().filter(|cell| cell.shows).count();
            if known.is_empty() {
                return Ok(SweepEnd::Unresolved);
            } else if showing == known.len() {
                return Ok(SweepEnd::Everywhere);
            } else if showing == 0 {
                return Ok(SweepEnd::Nowhere);
            }
            let rules = separating_rules(&known);
            let candidates = grid.candidates(&tried);
            let properties: Vec<_> = candidates.iter().map(|cell| grid::properties(cell)).collect();
            let next = most_informative_cell(&rules, &properties);
            // Perhaps no cell beyond the grid can be judged: a size may be too large for the
            // memory.
            let is_over = self.left == 0 || is_in_vain(&judged[grid_size..]);
            let asked = match next.filter(|_| !is_over) {
                Some(place) => {
                    self.left -= 1;
                    Asked::New(candidates[place].clone())
                }
                None => match single_run_that_decides(&judged).filter(|_| !rules.is_empty()) {
                    Some(place) => Asked::Again(place),
                    None => return Ok(end(rules, next.is_some() && self.left == 0)),
                },
            };
            let answer = match &asked {
                Asked::New(values) => self.judged(&swept, grid, values),
                Asked::Again(place) => {
                    let twice = Swept { runs: RUNS_TO_CLAIM, ..swept.clone() };
                    self.judged(&twice, grid, &tried[*place])
                }
            };
            let cell = match answer {
                // The cells judged so far give an answer.
                Err(HuntError::Limit(limit)) => {
                    self.driver.limit = Some(limit);
                    return Ok(end(rules, true));
                }
                cell => cell?,
            };
            match asked {
                Asked::New(values) => {
                    tried.push(values);
                    cells.push(cell);
                }
                // A fault of the machine: the single run stands.
                Asked::Again(_) if cell.commit.attempts.is_empty() => {
                    return Ok(end(rules, false));
                }
                Asked::Again(place) => cells[place] = cell,
            }
        }
    }

    /// Judges one cell. Writes it to the journal unless an earlier driver did.
    fn judged(
        &mut self,
        swept: &Swept<'_>,
        grid: &Grid<'_>,
        values: &Values,
    ) -> Result<SweptCell, HuntError> {
        let named = grid.parameters.iter().copied().zip(values.iter().cloned());
        let (recipe, name) = self.recipe.in_sweep_cell(swept.measure, &named.collect::<Vec<_>>());
        let bare = SweptCell {
            measure: name,
            labels: grid::labels(values),
            properties: grid::properties(values),
            shows: Shows::Unresolved,
            reason: String::new(),
            metric: None,
            parent: CellSide::default(),
            commit: CellSide::default(),
        };
        let cell = match self.measured(swept, &recipe, bare.clone()) {
            // A fault of the machine, or a lack of memory in this cell only.
            Err(HuntError::Oracle(
                fault @ (OracleError::MachineFault { .. } | OracleError::PortTaken { .. }),
            )) => SweptCell { reason: fault.to_string(), ..bare },
            cell => cell?,
        };
        if !self.written.contains(&cell) {
            self.driver.oracle.recorder.event(Event::Swept(Box::new(cell.clone())))?;
        }
        Ok(cell)
    }

    fn measured(
        &mut self,
        swept: &Swept<'_>,
        recipe: &Config,
        bare: SweptCell,
    ) -> Result<SweptCell, HuntError> {
        let Swept { measure, criterion, runs } = swept;
        let terms = self.driver.terms();
        let name = bare.measure.clone();
        let mut runs = *runs;
        loop {
            let parent = self.evaluate(&self.culprit.parent.clone(), recipe, &name, runs)?;
            let commit = self.evaluate(&self.culprit.info.commit.clone(), recipe, &name, runs)?;
            let [good, bad] = terms.good_and_bad([("parent", &parent), ("commit", &commit)]);
            let (sides, seen) = ([good.0, bad.0], [good.1, bad.1]);
            let (shows, reason) = cell::shows(criterion, &name, &measure.parser, sides, seen);
            if shows == Shows::Difference && runs < RUNS_TO_CLAIM {
                runs = RUNS_TO_CLAIM;
                continue;
            }
            self.has_disagreement |=
                cell::do_runs_disagree(criterion, &name, &measure.parser, sides, seen);
            let metric = cell::shown_metric(criterion, &name, &measure.parser, seen[0]);
            let [parent, commit] = [&parent, &commit].map(|seen| cell::side(seen, metric.as_ref()));
            let metric = metric.map(|own| Metric { measure: measure.name.clone(), ..own });
            return Ok(SweptCell { shows, reason, metric, parent, commit, ..bare });
        }
    }

    fn evaluate(
        &mut self,
        commit: &CommitId,
        recipe: &Config,
        measure: &str,
        runs: usize,
    ) -> Result<Observation, HuntError> {
        let seen = self.driver.measure_extra(commit, measure, runs, Some(recipe))?;
        // Another build for each cell would fail too.
        if let Some(failure) = &seen.build_failure {
            let why =
                format!("{} built before, but now it does not: {}", commit.short(), failure.detail);
            return Err(HuntError::Environment(why));
        }
        Ok(seen)
    }
}

/// No cell was tested. `why`: the reason.
fn not_swept(culprit: &Culprit, why: String) -> Shapes {
    Shapes {
        commit: culprit.info.commit.clone(),
        parent: culprit.parent.clone(),
        sweeps: Vec::new(),
        not_swept: Some(why),
    }
}
