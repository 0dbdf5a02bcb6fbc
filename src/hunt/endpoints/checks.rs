//! Compares the checks that the endpoints ran, for measures that must run the same ones. Pure.

use crate::evaluation::{
    Checks, Guard, Metric, NeededChecks, Reading, Target, is_count_of_failures, is_unnamed_check,
};
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

/// The checks that a run needs for a verdict on this number; `None` if the metric is not made from
/// all checks, or if no check is needed. A test may be renamed or removed on the way to the bad end,
/// so only checks that still run there are needed.
pub(crate) fn needed_checks(
    good: &Observation,
    bad: &Observation,
    guard: &Guard,
) -> Option<NeededChecks> {
    let measure = &guard.metric.measure;
    let (ran, still_run) = (good.checks(measure)?, bad.checks(measure)?);
    let both_ran = || NeededChecks { known: ran.among(still_run), new: Checks::default() };
    let at_fault = |checks: Checks| {
        let new = checks.without(ran).without(&good.skipped_checks(measure));
        NeededChecks { known: checks.without(&new), new }
    };
    let needed = match guard.metric.name.as_deref()? {
        name if is_count_of_failures(name) => at_fault(bad.failed_checks(measure)),
        "max_diff" => far_off(good, bad, guard).map_or_else(both_ran, at_fault),
        "passed" | "tests" => both_ran(),
        _ => return None,
    };
    Some(needed).filter(|needed| !needed.is_empty())
}

/// The checks whose own distance breaks the guard at the bad end, for a guard on the largest one.
/// The distances of checks without a name are not known, so these checks are added. `None` if no
/// distance is known that breaks the guard.
fn far_off(good: &Observation, bad: &Observation, guard: &Guard) -> Option<Checks> {
    let measure = &guard.metric.measure;
    let baseline = good.level(&guard.metric)?;
    let (unnamed, named): (Vec<String>, Vec<String>) =
        bad.checks(measure)?.clone().into_iter().partition(|name| is_unnamed_check(name));
    let is_far_off = |name: &String| {
        let level = bad.level(&Metric::named(measure, name));
        level.is_some_and(|level| guard.is_broken(&baseline, &level))
    };
    let mut far_off = named.into_iter().filter(is_far_off).peekable();
    far_off.peek()?;
    Some(far_off.chain(unnamed).collect())
}

/// For each measure that counts checks: a sentence if some of its checks pass at the good end and
/// did not run at the bad end.
pub(crate) fn no_longer_run(good: &Observation, bad: &Observation) -> Vec<String> {
    let gone = |measure: &String| {
        let passed = good.checks(measure)?.without(&good.failed_checks(measure));
        let gone = passed.without(bad.checks(measure)?);
        let is_count = bad.readings(measure).any(|reading| reading.failed_checks().is_some());
        (is_count && !gone.is_empty()).then(|| {
            format!(
                "{measure} did not run checks at the bad end that pass at the good end ({}), and \
                 they may fail there",
                gone.names()
            )
        })
    };
    bad.samples.keys().filter_map(gone).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::{GuardForm, Value};
    use crate::oracle::fixture::{at, checks, target};

    const MAX_INCREASE: GuardForm = GuardForm::MaxIncrease(0.5);

    /// One run for each list of checks.
    fn ran(digit: char, runs: &[&str]) -> Observation {
        let mut seen = at(digit, &vec![1.0; runs.len()]);
        for (sample, names) in seen.samples.get_mut("ppl").unwrap().iter_mut().zip(runs) {
            sample.result.as_mut().unwrap().checks = Some(checks(names));
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
    fn checks_that_fail_at_the_bad_end_are_needed() {
        let (good, mut bad) = (ran('1', &["a b gone"]), ran('2', &["a b new"]));
        let failed = |seen: &mut Observation, names: &str| {
            let reading = seen.samples.get_mut("ppl").unwrap()[0].result.as_mut().unwrap();
            reading.failed = checks(names);
        };
        let of = |bad: &Observation, name: &str| {
            let guard = Guard { metric: Metric::named("ppl", name), form: MAX_INCREASE };
            let needed = needed_checks(&good, bad, &guard);
            needed.map(|needed| [needed.known, needed.new].map(|checks| checks.names()))
        };
        assert_eq!(of(&bad, "failed"), None);
        failed(&mut bad, "b new");
        assert_eq!(of(&bad, "failed").unwrap(), ["b", "new"]);
        assert_eq!(of(&bad, "passed").unwrap(), ["a, b", ""]);
        assert_eq!(of(&bad, "loss"), None);
    }

    #[test]
    fn a_distance_needs_the_checks_that_are_far_off_at_the_bad_end() {
        let levels = |digit: char, names: &str, distances: &[(&str, f64)]| {
            let mut seen = ran(digit, &[names]);
            let reading = seen.samples.get_mut("ppl").unwrap()[0].result.as_mut().unwrap();
            for (name, distance) in distances {
                reading.values.insert(Metric::named("ppl", name), Value::Number(*distance));
            }
            seen
        };
        let good = levels('1', "gelu norm", &[("max_diff", 0.1), ("gelu", 0.1), ("norm", 0.05)]);
        let of = |names: &str, distances: &[(&str, f64)]| {
            let guard = Guard { metric: Metric::named("ppl", "max_diff"), form: MAX_INCREASE };
            let needed = needed_checks(&good, &levels('2', names, distances), &guard).unwrap();
            [needed.known, needed.new].map(|checks| checks.names())
        };
        assert_eq!(of("gelu norm", &[("gelu", 0.9), ("norm", 0.05)]), ["gelu", ""]);
        assert_eq!(of("gelu new", &[("gelu", 0.1), ("new", 0.9)]), ["", "new"]);
        assert_eq!(of("gelu norm unnamed", &[("gelu", 0.9)]), ["gelu", "unnamed"]);
        assert_eq!(of("gelu norm unnamed", &[("gelu", 0.1)]), ["gelu, norm", ""]);
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
