//! The cells of a sweep at another commit than the first bad one: whether a fix heals each of them.

use crate::config::{Measure, SweepParameter, SweepValue};
use crate::evaluation::{Culprit, MeasureSweep, SweptCell, Target};
use crate::hunt::HuntError;
use crate::hunt::driver::Driver;

use super::OngoingSweep;
use super::grid::{Grid, Values, labels};

impl Driver<'_> {
    /// Judges every cell of the grids, and every further cell that an earlier sweep tried, at a
    /// commit and its parent. Inner `Err`: why they cannot be compared.
    pub(crate) fn sweep_again(
        &mut self,
        pair: &Culprit,
        targets: &[Target],
        known: &[MeasureSweep],
    ) -> Result<Result<Vec<SweptCell>, String>, HuntError> {
        let Some(recipe) = self.common_recipe(pair)? else {
            return Ok(Err(crate::hunt::inquiry::OTHER_RECIPE.to_owned()));
        };
        let Some(sweep) = recipe.sweep.clone() else { return Ok(Ok(Vec::new())) };
        let mut ongoing = OngoingSweep {
            driver: self,
            culprit: pair,
            recipe: recipe.clone(),
            targets: targets.to_vec(),
            tolerance: sweep.tolerance,
            written: Vec::new(),
            left: 0,
            has_disagreement: false,
        };
        let mut judged = Vec::new();
        let measures: Vec<Measure> =
            sweep.measures.iter().filter_map(|name| recipe.measure(name).cloned()).collect();
        for measure in &measures {
            let parameters = sweep.parameters_of(measure);
            let mut cells = Grid { parameters: parameters.clone() }.cells();
            for cell in
                known.iter().filter(|one| one.measure == measure.name).flat_map(|s| &s.cells)
            {
                let further = values(&parameters, &cell.labels);
                let is_new = |one: &Values| !cells.iter().any(|cell| labels(cell) == labels(one));
                let further = further.filter(is_new);
                cells.extend(further);
            }
            let grid = Grid { parameters };
            let swept = ongoing.swept(measure);
            for values in &cells {
                judged.push(ongoing.judged(&swept, &grid, values)?);
            }
        }
        Ok(Ok(judged))
    }
}

/// The values with these names; `None` if a name is neither in the grid nor a number.
fn values(parameters: &[&SweepParameter], labels: &[String]) -> Option<Values> {
    if parameters.len() != labels.len() {
        return None;
    }
    let value = |(parameter, label): (&&SweepParameter, &String)| -> Option<SweepValue> {
        let of_grid = parameter.values.iter().find(|value| value.label == *label);
        of_grid.cloned().or_else(|| Some(parameter.number(label.parse().ok()?)))
    };
    parameters.iter().zip(labels).map(value).collect()
}
