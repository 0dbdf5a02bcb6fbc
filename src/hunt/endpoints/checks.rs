//! Compares the checks that the endpoints ran, for measures that must run the same ones. Pure.

use crate::evaluation::{Checks, Reading, Target};
use crate::oracle::Observation;

/// Why the endpoints cannot be compared: a sentence that names the checks that differ. `None` if
/// all runs of `measures` ran the same checks.
pub(crate) fn other_checks(
    good: &Observation,
    bad: &Observation,
    measures: &[String],
) -> Option<String> {
    measures.iter().find_map(|measure| {
        let wanted = good.checks(measure)?;
        let differs = |seen: &Observation| {
            let mut found = seen.readings(measure).filter_map(Reading::checks);
            found.find_map(|own| own.besides(wanted))
        };
        if let Some(what) = differs(good) {
            return Some(format!(
                "the good endpoint's own runs of {measure} ran different checks: {what}"
            ));
        }
        differs(bad).map(|what| {
            format!(
                "the bad endpoint cannot be compared: {measure} ran other checks there than at the \
                 good endpoint: {what}. Choose endpoints that run the same checks, or let the \
                 command name only checks that both have"
            )
        })
    })
}

/// The targets, with the good endpoint's checks for these measures. A run of other checks is not
/// judged.
pub(crate) fn with_checks(
    mut targets: Vec<Target>,
    good: &Observation,
    measures: &[String],
) -> Vec<Target> {
    let of = |measure: &str| -> Option<Checks> {
        let is_required = measures.iter().any(|required| required == measure);
        good.checks(measure).filter(|_| is_required).cloned()
    };
    for target in &mut targets {
        match target {
            Target::Guard(target) => target.checks = of(&target.guard.metric.measure),
            Target::Failure { measure: Some(measure), checks, .. } => *checks = of(measure),
            Target::Failure { measure: None, .. } => {}
        }
    }
    targets
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::GuardForm;
    use crate::oracle::fixture::{at, target};

    /// One run for each list of checks.
    fn ran(digit: char, runs: &[&str]) -> Observation {
        let mut seen = at(digit, &vec![1.0; runs.len()]);
        for (sample, names) in seen.samples.get_mut("ppl").unwrap().iter_mut().zip(runs) {
            let names = names.split_whitespace().map(str::to_owned);
            sample.result.as_mut().unwrap().checks = Some(names.collect());
        }
        seen
    }

    #[test]
    fn endpoints_that_ran_other_checks_are_not_compared() {
        let required = ["ppl".to_owned()];
        let good = ran('1', &["a b", "a b"]);
        let told = |good: &Observation, bad: &Observation| other_checks(good, bad, &required);
        assert_eq!(told(&good, &ran('2', &["b a", "a b"])), None);
        assert_eq!(other_checks(&good, &ran('2', &["a", "a"]), &[]), None);
        let said = told(&good, &ran('2', &["a b", "a"])).unwrap();
        assert!(said.contains("than at the good endpoint: 1 did not run (b). Choose"), "{said}");
        let said = told(&ran('1', &["a b", "a b c"]), &good).unwrap();
        assert!(said.ends_with("ran different checks: 1 ran in addition (c)"), "{said}");
    }

    #[test]
    fn targets_know_the_checks_of_what_is_required() {
        let good = ran('1', &["a b"]);
        let guarded = || vec![Target::Guard(target(GuardForm::Max(0.0), 0.0, 1.0))];
        let bound = |measures: &[String]| match &with_checks(guarded(), &good, measures)[0] {
            Target::Guard(target) => target.checks.clone(),
            Target::Failure { .. } => None,
        };
        assert_eq!(bound(&["ppl".to_owned()]).unwrap().into_iter().count(), 2);
        assert_eq!(bound(&["other".to_owned()]), None);
    }
}
