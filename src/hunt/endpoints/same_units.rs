//! Checks that the runs of both endpoints print a metric's numbers in the same units. Pure.

use crate::evaluation::{Guard, PrintedUnits};
use crate::oracle::Observation;

/// Why the endpoints cannot be compared if a guarded metric has different units there.
pub(crate) fn other_units(
    good: &Observation,
    bad: &Observation,
    guards: &[Guard],
) -> Option<String> {
    guards.iter().map(|guard| &guard.metric).find_map(|metric| {
        let wanted = good.units(metric)?;
        let baseline = good.level(metric).and_then(|level| level.number());
        let other = |seen: &Observation| -> Option<PrintedUnits> {
            let mut readings = seen.readings(&metric.measure);
            readings.find_map(|reading| reading.other_units(metric, wanted, baseline)).cloned()
        };
        if let Some(own) = other(good) {
            return Some(format!(
                "the good endpoint's own runs print {metric} with different units: {wanted}, then \
                 {own}"
            ));
        }
        other(bad).map(|own| {
            format!(
                "the bad endpoint cannot be compared: {metric} has another unit there: {own}, but \
                 {wanted} at the good endpoint. Choose endpoints with the same unit, or write the \
                 unit into the pattern; if the program only prints another word behind the \
                 number, end the pattern with `.*`"
            )
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::{GuardForm, Metric};
    use crate::oracle::fixture::at;

    fn printed(digit: char, units: &[&str]) -> Observation {
        let mut seen = at(digit, &vec![1.0; units.len()]);
        for (sample, unit) in seen.samples.get_mut("ppl").unwrap().iter_mut().zip(units) {
            let units = std::iter::once((*unit).to_owned()).collect();
            sample.result.as_mut().unwrap().units.insert(Metric::of("ppl"), units);
        }
        seen
    }

    #[test]
    fn endpoints_with_different_units_are_not_compared() {
        let guards = [Guard { metric: Metric::of("ppl"), form: GuardForm::Max(1.0) }];
        let good = printed('1', &["kB/s", "kB/s"]);
        let told = |good: &Observation, bad: &Observation| other_units(good, bad, &guards);
        assert_eq!(told(&good, &printed('2', &["kB/s", "kB/s"])), None);
        assert_eq!(told(&at('1', &[1.0]), &at('2', &[1.0])), None);
        let said = told(&good, &printed('2', &["kB/s", "MB/s"])).unwrap();
        assert!(said.contains("MB/s, but kB/s at the good endpoint"), "{said}");
        let said = told(&printed('1', &["ms", "s"]), &good).unwrap();
        assert!(said.ends_with("with different units: ms, then s"), "{said}");
    }
}
