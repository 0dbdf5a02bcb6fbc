//! Before the answer "no regression" in noise: whether builds of one endpoint differ. One build of
//! each endpoint then says too little: a build of the bad end that came out better than others can
//! hide a regression.

use crate::config::ConfirmBuild;
use crate::evaluation::{Direction, Finding, Guard, Metric, Outcome};
use crate::hunt::HuntError;
use crate::hunt::distinct::distinct;
use crate::hunt::driver::Driver;
use crate::oracle::{Observation, guarded_measures};
use crate::search::{CalibrationSettings, DriftPrior, interval};
use crate::ui::text;

use super::noise::{EndpointPolicy, LEAST};
use super::targets::choose;

/// Builds of one commit count as different if their levels surely differ by more than this share of
/// the tolerance.
const SHARE: f64 = 0.5;

/// What the user can do.
const CURE: &str = "let the build give the same program each time (no time stamps, no random \
                    layout, one compiler), or hunt with a wider tolerance";

impl Driver<'_> {
    /// The finding that builds of one endpoint differ, in place of `denied`. Makes a new build of
    /// each endpoint and runs it, if a guarded metric varies by levels. `Err`: what to add to the
    /// answer if the builds do not differ.
    pub(super) fn uneven_builds(
        &mut self,
        good: &Observation,
        bad: &Observation,
        policy: &EndpointPolicy,
        denied: &Finding,
    ) -> Result<Result<Box<Finding>, &'static str>, HuntError> {
        let mut guards = self.guards();
        guards.retain(|guard| !policy.is_spread && varies(guard, [good, bad], policy));
        if guards.is_empty() || self.oracle.recipes.config.build.confirm != ConfirmBuild::Rebuild {
            return Ok(Err(""));
        }
        let measures = guarded_measures(&guards);
        let mut new = Vec::new();
        for end in [good, bad] {
            match self.measure_new_build(&end.commit, &measures, LEAST) {
                Err(HuntError::Limit(_)) => {
                    return Ok(Err("; whether other builds of them differ was not measured"));
                }
                end => new.push(end?),
            }
        }
        let told = if choose(&new[0], &new[1], &guards, policy).is_ok() {
            Some("new builds of both endpoints show a regression".to_owned())
        } else {
            let ends = [("good", good, &new[0]), ("bad", bad, &new[1])];
            ends.into_iter().find_map(|(name, old, new)| uneven(name, [old, new], &guards))
        };
        let Some(told) = told else { return Ok(Err("; nor do new builds of them")) };
        let summary = format!(
            "builds of one commit differ, so one build of each endpoint says too little: {told}. By \
             the first builds, {}",
            denied.summary
        );
        let next = vec![CURE.to_owned()];
        Ok(Ok(Box::new(Finding { next, ..Finding::plain(Outcome::NoiseTooLarge, summary) })))
    }
}

/// Whether the metric's values vary and are no counts of a few: then the guard goes by levels.
fn varies(guard: &Guard, ends: [&Observation; 2], policy: &EndpointPolicy) -> bool {
    let metric = &guard.metric;
    let values = ends.iter().flat_map(|end| end.values(metric));
    guard.direction() != Direction::Any
        && !policy.pass_fail.contains(metric)
        && ends.iter().any(|end| !end.repeats(metric))
        && ends.iter().all(|end| end.numbers(metric).len() >= LEAST)
        && distinct(values).len() > 3
}

/// Says that two builds of one endpoint (`name`) surely differ, in the first such metric.
/// `builds`: the runs of the two.
fn uneven(name: &str, builds: [&Observation; 2], guards: &[Guard]) -> Option<String> {
    guards.iter().find_map(|guard| {
        let metric = &guard.metric;
        let numbers = builds.map(|seen| seen.numbers(metric));
        let runs = numbers[0].len().min(numbers[1].len());
        let level = builds[0].level(metric)?.number()?;
        let limit = guard.limit(level).max(0.0);
        let [one, other] = numbers.each_ref().map(|numbers| &numbers[..runs]);
        do_differ(one, other, limit).then(|| told(name, metric, &numbers))
    })
}

/// Whether the levels of these runs surely differ by more than [`SHARE`] of the tolerance `limit`.
fn do_differ(one: &[f64], other: &[f64], limit: f64) -> bool {
    let rule = CalibrationSettings { tolerance: 0.0, drift: DriftPrior::Never, paired: false };
    let most = SHARE * limit;
    interval(one, other, rule).is_some_and(|[low, high]| low > most || high < -most)
}

fn told(name: &str, metric: &Metric, numbers: &[Vec<f64>; 2]) -> String {
    let shown = |runs: &[f64]| {
        let runs: Vec<String> = runs.iter().map(|run| text::figure(*run)).collect();
        runs.join(", ")
    };
    format!(
        "{metric} is {} in runs of a new build of {name} and {} in runs of the build before it",
        shown(&numbers[1]),
        shown(&numbers[0])
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::GuardForm;
    use crate::oracle::fixture::{at, guard};

    #[test]
    fn two_builds_of_one_commit_differ_if_their_runs_surely_do() {
        let of = |form, new: &[f64]| {
            let old = at('1', &[100.0, 100.2, 99.9, 100.1]);
            uneven("bad", [&old, &at('1', new)], &[guard(form)])
        };
        let most = |limit| GuardForm::MaxIncrease(limit);
        let other = [104.0, 104.2, 103.9, 104.1];
        let said = of(most(4.0), &other).unwrap();
        assert_eq!(
            said,
            "ppl is 104, 104.2, 103.9, 104.1 in runs of a new build of bad and 100, 100.2, 99.9, \
             100.1 in runs of the build before it"
        );
        assert!(of(GuardForm::MaxDecreasePercent(4.0), &other).is_some());
        // Not by more than half of the tolerance; or by runs that vary too much.
        assert_eq!(of(most(9.0), &other), None);
        assert_eq!(of(most(4.0), &[101.0, 110.0, 99.0, 106.0]), None);
    }

    #[test]
    fn only_metrics_that_vary_by_levels_need_new_builds() {
        let form = || guard(GuardForm::MaxIncrease(1.0));
        let [one, other] = [[7.0, 7.1, 7.2, 7.3], [7.1, 7.2, 7.4, 7.5]];
        let policy = EndpointPolicy::default();
        let is_it = |a: &[f64], b: &[f64]| varies(&form(), [&at('1', a), &at('2', b)], &policy);
        assert!(is_it(&one, &other));
        assert!(!is_it(&[7.0; 4], &[7.1; 4]));
        // Two values: a rate.
        assert!(!is_it(&[7.0, 7.3, 7.0, 7.0], &[7.0, 7.0, 7.3, 7.0]));
        assert!(!is_it(&one[..3], &other[..3]));
    }
}
