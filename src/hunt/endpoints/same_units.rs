//! Checks that the runs of both endpoints print a metric's numbers in the same units. Pure.

use crate::evaluation::{Guard, PrintedUnits};
use crate::oracle::Observation;

/// Why the endpoints cannot be compared if a guarded metric has different units there, or numbers
/// without a unit that may be of two scales.
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
        if let Some(own) = other(bad) {
            return Some(format!(
                "the bad endpoint cannot be compared: {metric} has another unit there: {own}, but \
                 {wanted} at the good endpoint. Choose endpoints with the same unit, or write the \
                 unit into the pattern; if the program only prints another word behind the \
                 number, end the pattern with `.*`"
            ));
        }
        let mut readings = bad.readings(&metric.measure);
        let factor = readings.find_map(|one| one.hidden_factor(metric, wanted, baseline))?;
        Some(format!(
            "the bad endpoint cannot be compared: {metric} differs by a factor of {factor} there, \
             as if it had another scale, and it has no unit. Choose endpoints with the same scale; \
             if both have the same, let the command print a unit behind the number"
        ))
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

    #[test]
    fn endpoints_of_two_scales_without_a_unit_are_not_compared() {
        let guards = [Guard { metric: Metric::of("ppl"), form: GuardForm::Max(1.0) }];
        let shown = |digit: char, number: f64| {
            let mut seen = at(digit, &[number]);
            let none: PrintedUnits = std::iter::once(String::new()).collect();
            let sample = &mut seen.samples.get_mut("ppl").unwrap()[0];
            sample.result.as_mut().unwrap().units.insert(Metric::of("ppl"), none);
            seen
        };
        let told = |bad: f64| other_units(&shown('1', 45.2), &shown('2', bad), &guards);
        assert!(told(0.452).unwrap().contains("differs by a factor of 100 there"));
        assert_eq!(told(0.411), None);
    }
}
