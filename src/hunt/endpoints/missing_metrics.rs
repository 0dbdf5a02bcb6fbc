//! Guards on metrics that the endpoints' runs do not yield. Pure.

use crate::evaluation::{Guard, Metric};
use crate::oracle::Observation;

/// Maximum number of metric names in a message. The others are only counted.
const MOST_NAMES: usize = 40;

/// A message if no run of this commit yielded the metric of a guard. `whose`: words for the commit,
/// such as `the good endpoint`. Measures that yielded nothing at all are left out, because another
/// message reports their failure.
pub(crate) fn not_yielded(seen: &Observation, guards: &[Guard], whose: &str) -> Option<String> {
    let metrics = guards.iter().map(|guard| &guard.metric);
    let found = metrics.filter(|metric| seen.readings(&metric.measure).next().is_some());
    let missing = found.into_iter().find(|metric| seen.values(metric).is_empty())?;
    let what = missing_at(seen, missing, whose);
    Some(format!("{what}. Correct the guard, or what the command of {} runs", missing.measure))
}

/// A message that the metric is missing at a commit, with the metrics that its runs yielded.
pub(crate) fn missing_at(seen: &Observation, metric: &Metric, whose: &str) -> String {
    let all = seen.yielded(&metric.measure);
    let names: Vec<String> = all.iter().take(MOST_NAMES).map(ToString::to_string).collect();
    let more = match all.len().saturating_sub(MOST_NAMES) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{whose}'s runs did not yield {metric} (they yielded: {}{more})", names.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::{GuardForm, Value};
    use crate::oracle::fixture::at;

    const GOOD: &str = "the good endpoint";

    fn guard(metric: Metric) -> Guard {
        Guard { metric, form: GuardForm::MaxIncrease(0.1) }
    }

    #[test]
    fn the_names_that_there_are_are_told() {
        let mut seen = at('1', &[7.0, 7.0]);
        let known = [guard(Metric::of("ppl")), guard(Metric::named("ppl", "wall_s"))];
        assert_eq!(not_yielded(&seen, &known, GOOD), None);
        // Another message reports measures that did not run or failed.
        assert_eq!(not_yielded(&seen, &[guard(Metric::named("speed", "tg"))], GOOD), None);
        let unknown = [guard(Metric::named("ppl", "tg128"))];
        assert_eq!(
            not_yielded(&seen, &unknown, GOOD).unwrap(),
            "the good endpoint's runs did not yield ppl.tg128 (they yielded: ppl, \
             ppl.wall_s). Correct the guard, or what the command of ppl runs"
        );
        let reading = seen.samples.get_mut("ppl").unwrap()[0].result.as_mut().unwrap();
        reading.values.extend(
            (0..60).map(|i| (Metric::named("ppl", &format!("tg{i:03}")), Value::Number(1.0))),
        );
        let said = missing_at(&seen, &Metric::named("ppl", "tg128"), "the bad endpoint");
        assert!(said.contains("ppl.tg000, ppl.tg001") && said.ends_with(" and 22 more)"), "{said}");
    }
}
