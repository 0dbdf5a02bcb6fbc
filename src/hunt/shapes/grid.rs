//! The cells of a sweep: the whole grid of values, and further cells that may distinguish rules.
//! Pure.

use std::collections::BTreeSet;

use crate::config::{SweepParameter, SweepValue};
use crate::evaluation::Properties;
use crate::search::distinguishing_numbers;

/// Maximum number of cells to choose the next one from.
const MOST_CANDIDATES: usize = 1 << 14;

/// One value for each parameter, in order.
pub(super) type Values = Vec<SweepValue>;

/// The parameters of one measure.
pub(super) struct Grid<'s> {
    pub(super) parameters: Vec<&'s SweepParameter>,
}

impl Grid<'_> {
    /// Each combination of the values. The last parameter changes fastest.
    pub(super) fn cells(&self) -> Vec<Values> {
        self.with(None)
    }

    /// The untested cells in which one parameter has another number of its range and the others
    /// have values of the grid. Numbers near a tested number come first.
    pub(super) fn candidates(&self, tried: &[Values]) -> Vec<Values> {
        let known: BTreeSet<Vec<String>> = tried.iter().map(|cell| labels(cell)).collect();
        let mut candidates = Vec::new();
        for (place, parameter) in self.parameters.iter().enumerate() {
            let Some(range) = parameter.range else { continue };
            let mut numbers = parameter.numbers();
            numbers.extend(tried.iter().filter_map(|cell| cell[place].text.parse::<u64>().ok()));
            for number in distinguishing_numbers(range, &numbers) {
                let cells = self.with(Some((place, &parameter.number(number))));
                candidates.extend(cells.into_iter().filter(|cell| !known.contains(&labels(cell))));
                if candidates.len() >= MOST_CANDIDATES {
                    return candidates;
                }
            }
        }
        candidates
    }

    /// Each combination of the values. `only`: fixes the value of one parameter.
    fn with(&self, only: Option<(usize, &SweepValue)>) -> Vec<Values> {
        let mut cells: Vec<Values> = vec![Vec::new()];
        for (place, parameter) in self.parameters.iter().enumerate() {
            let values = match only {
                Some((own, value)) if own == place => std::slice::from_ref(value),
                _ => parameter.values.as_slice(),
            };
            let longer = |cell: &Values| {
                let cell = cell.clone();
                values.iter().map(move |value| {
                    let mut longer = cell.clone();
                    longer.push(value.clone());
                    longer
                })
            };
            cells = cells.iter().flat_map(longer).collect();
        }
        cells
    }
}

/// The names of a cell's values.
pub(super) fn labels(cell: &[SweepValue]) -> Vec<String> {
    cell.iter().map(|value| value.label.clone()).collect()
}

/// All properties of a cell.
pub(super) fn properties(cell: &[SweepValue]) -> Properties {
    cell.iter().flat_map(|value| value.properties.clone()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parameter(name: &str, values: &[u64], range: Option<[u64; 2]>) -> SweepParameter {
        let bare = SweepParameter { name: name.to_owned(), values: Vec::new(), range };
        let values = values.iter().map(|value| bare.number(*value)).collect();
        SweepParameter { values, ..bare }
    }

    fn shown(cells: &[Values]) -> Vec<String> {
        cells.iter().map(|cell| labels(cell).join(" ")).collect()
    }

    #[test]
    fn the_grid_has_each_combination() {
        let (width, threads) =
            (parameter("width", &[96, 171], None), parameter("t", &[1, 2], None));
        let grid = Grid { parameters: vec![&width, &threads] };
        assert_eq!(shown(&grid.cells()), ["96 1", "96 2", "171 1", "171 2"]);
        assert_eq!(properties(&grid.cells()[2]).len(), 2);
        assert!(grid.candidates(&grid.cells()).is_empty());
    }

    #[test]
    fn the_numbers_of_a_range_that_were_not_tried_are_candidates() {
        let width = parameter("width", &[2, 5], Some([1, 6]));
        let threads = parameter("t", &[1, 8], None);
        let grid = Grid { parameters: vec![&width, &threads] };
        let mut tried = grid.cells();
        assert_eq!(
            shown(&grid.candidates(&tried)),
            ["1 1", "1 8", "3 1", "3 8", "4 1", "4 8", "6 1", "6 8"]
        );
        tried.push(vec![width.number(3), threads.values[1].clone()]);
        assert!(!shown(&grid.candidates(&tried)).contains(&"3 8".to_owned()));
    }
}
