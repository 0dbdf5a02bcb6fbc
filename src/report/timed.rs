//! The state of the machine around exclusive runs.

use std::collections::{BTreeMap, HashSet};

use crate::evaluation::{ExclusionReason, GpuState, MachineStates};
use crate::ui::text;

use super::model::{MeasuredCommit, RunLine, TimedLine};

/// A line for each measure with exclusive runs. The load is taken before a run, since afterwards it
/// includes the run itself. All other values are taken right after a run, when the run has warmed
/// the machine. A run of two commits with the same tree counts once.
pub(super) fn of(commits: &[MeasuredCommit]) -> Vec<TimedLine> {
    let mut seen = HashSet::new();
    let mut measures: BTreeMap<&str, Vec<(&RunLine, &MachineStates)>> = BTreeMap::new();
    for run in commits.iter().flat_map(|commit| &commit.runs) {
        if let Some(machine) = &run.machine
            && seen.insert(&run.attempt)
        {
            measures.entry(&run.measure).or_default().push((run, machine));
        }
    }
    measures.into_iter().map(|(measure, runs)| line(measure, &runs)).collect()
}

fn line(measure: &str, runs: &[(&RunLine, &MachineStates)]) -> TimedLine {
    let throttled = |run: &RunLine| matches!(run.apart, Some(ExclusionReason::Throttled(_)));
    let counted: Vec<&MachineStates> =
        runs.iter().filter(|(run, _)| run.apart.is_none()).map(|(_, machine)| *machine).collect();
    let after = || counted.iter().map(|around| &around.after);
    let gpus = |figure: fn(&GpuState) -> Option<f64>| {
        range(after().flat_map(|state| &state.gpus).filter_map(figure))
    };
    TimedLine {
        measure: measure.to_owned(),
        runs: counted.len(),
        throttled: runs.iter().filter(|(run, _)| throttled(run)).count(),
        load: range(counted.iter().filter_map(|around| around.before.load)),
        cpu_mhz: range(after().filter_map(|state| state.cpu_mhz)),
        hottest_c: range(after().filter_map(|state| state.hottest_c)),
        gpu_mhz: gpus(|gpu| gpu.sm_mhz),
        gpu_c: gpus(|gpu| gpu.temperature_c),
    }
}

fn range(figures: impl Iterator<Item = f64>) -> Option<[f64; 2]> {
    figures.fold(None, |range, x| {
        let [low, high] = range.unwrap_or([x, x]);
        Some([low.min(x), high.max(x)])
    })
}

/// `speed: 12 exclusive runs (load 0.10 to 0.42, …)`.
pub(super) fn words(line: &TimedLine) -> String {
    let shown = |what: &str, range: Option<[f64; 2]>, digits: usize, unit: &str| {
        let [low, high] = range?.map(|x| format!("{x:.digits$}"));
        let both = if low == high { low } else { format!("{low} to {high}") };
        Some(format!("{what} {both}{unit}"))
    };
    let figures: Vec<String> = [
        shown("load", line.load, 2, ""),
        shown("cores at", line.cpu_mhz, 0, " MHz"),
        shown("hottest sensor", line.hottest_c, 0, " °C"),
        shown("GPU at", line.gpu_mhz, 0, " MHz"),
        shown("GPU", line.gpu_c, 0, " °C"),
    ]
    .into_iter()
    .flatten()
    .collect();
    let figures = if figures.is_empty() {
        "state of the machine unknown".to_owned()
    } else {
        figures.join(", ")
    };
    let thrown = match line.throttled {
        0 => String::new(),
        n => {
            format!("; {} did not count, since the machine throttled", text::plural(n, "more run"))
        }
    };
    let runs = text::plural(line.runs, "exclusive run");
    format!("{}: {runs} ({figures}){thrown}", line.measure)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_the_state_of_the_machine_and_the_throttled_runs() {
        let mut line = TimedLine { measure: "speed".to_owned(), runs: 12, ..TimedLine::default() };
        let told = "speed: 12 exclusive runs (state of the machine unknown)";
        assert_eq!(words(&line), told);
        line.throttled = 2;
        line.load = Some([0.1, 0.42]);
        line.cpu_mhz = Some([3400.2, 3399.8]);
        line.hottest_c = Some([58.0, 71.5]);
        assert_eq!(
            words(&line),
            "speed: 12 exclusive runs (load 0.10 to 0.42, cores at 3400 MHz, \
             hottest sensor 58 to 72 °C); 2 more runs did not count, since the machine throttled"
        );
    }

    #[test]
    fn a_range_has_the_lowest_and_the_highest_value() {
        assert_eq!(range([].into_iter()), None);
        assert_eq!(range([3.0, 1.0, 2.0].into_iter()), Some([1.0, 3.0]));
    }
}
