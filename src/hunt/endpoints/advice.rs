//! What to try if the endpoints show no regression.

use crate::evaluation::{Guard, GuardForm, Metric};
use crate::oracle::Observation;
use crate::ui::text;

use super::empty_home::is_equal;

/// What to try, one sentence each: a tolerance that the endpoints exceed, and other settings.
pub(super) fn advice(good: &Observation, bad: &Observation, guards: &[Guard]) -> Vec<String> {
    let mut next: Vec<String> =
        guards.iter().filter_map(|guard| lower(good, bad, guard)).take(1).collect();
    let measure = guards.first().map_or("MEASURE", |guard| guard.metric.measure.as_str());
    if let Some(metric) = guards.iter().find_map(|guard| out_of_bounds(good, guard)) {
        next.push(format!(
            "name a --good at which {metric} is within its bounds, or correct the command of {}: \
             `bisect-ppl measure {}` shows what it prints",
            metric.measure,
            good.commit.short()
        ));
        return next;
    }
    next.push(format!(
        "measure as you did when you saw the regression: `start --arg {measure}='WORDS'` adds \
         options to the command, `--set inputs.NAME=FILE` takes another input, [matrix] measures \
         more cells"
    ));
    if is_equal(good, bad, measure) {
        next.push(
            "if commits share files in a fixed place (/var/tmp, an install folder), one may show \
             the result of another: `start --set run.sandbox=true` lets builds and runs write \
             only to their own folders"
                .to_owned(),
        );
    }
    next
}

/// The metric of a `max` or `min` that the good endpoint breaks.
fn out_of_bounds<'g>(good: &Observation, guard: &'g Guard) -> Option<&'g Metric> {
    let level = good.level(&guard.metric)?;
    let is_absolute = matches!(guard.form, GuardForm::Max(_) | GuardForm::Min(_));
    (is_absolute && guard.is_broken(&level, &level)).then_some(&guard.metric)
}

/// A tolerance of half of the step, if the metric is worse at bad and repeats. In noise a step
/// within the tolerance may be due to chance.
fn lower(good: &Observation, bad: &Observation, guard: &Guard) -> Option<String> {
    let metric = &guard.metric;
    let [from, to] = [good, bad].map(|end| end.level(metric).and_then(|level| level.number()));
    let (from, to) = from.zip(to)?;
    let step = guard.worsening(from, to);
    let repeats = good.repeats(metric) && bad.repeats(metric);
    // A guard of a matrix has one tolerance for all its cells. No cell's name can set it.
    let is_plain =
        metric.to_string().chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c));
    let form = guard.form.name();
    let amount = form.amount_of(step, from)?;
    let half: f64 = format!("{:.1e}", amount / 2.0).parse().ok()?;
    if !(half.is_finite() && half > 0.0 && repeats && is_plain) {
        return None;
    }
    Some(format!(
        "`start --set guard.{metric}.{}={half}` hunts for the {} by which {metric} is worse at bad; \
         the runs of the ends count again",
        form.key(),
        text::figure(step)
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::oracle::fixture::{at, guard};

    #[test]
    fn half_of_the_step_is_proposed_where_the_values_repeat() {
        let next =
            |form, good: &[f64], bad: &[f64]| advice(&at('1', good), &at('2', bad), &[guard(form)]);
        let told = next(GuardForm::MaxIncrease(0.05), &[7.0, 7.0], &[7.04, 7.04]);
        let words =
            "`start --set guard.ppl.max_increase=0.02` hunts for the 0.04 by which ppl is worse";
        assert!(told.len() == 2 && told[0].starts_with(words), "{told:?}");
        assert!(told[1].contains("`start --arg ppl='WORDS'`"), "{told:?}");
        let told = next(GuardForm::MaxDecreasePercent(5.0), &[100.0, 100.0], &[97.0, 97.0]);
        assert!(told[0].contains("max_decrease_percent=1.5`"), "{told:?}");
        for (good, bad) in [([7.0, 7.0], [6.9, 6.9]), ([7.0, 7.1], [7.2, 7.2])] {
            assert_eq!(next(GuardForm::MaxIncrease(0.5), &good, &bad).len(), 1, "{good:?} {bad:?}");
        }
        let told = next(GuardForm::MaxIncrease(0.5), &[7.0, 7.0], &[7.0, 7.0]);
        assert!(told.len() == 2 && told[1].contains("run.sandbox=true"), "{told:?}");
        assert_eq!(next(GuardForm::Max(9.0), &[7.0], &[8.0]).len(), 1);
        let told = next(GuardForm::Max(0.0), &[2.0], &[2.0]);
        assert!(
            told.len() == 1 && told[0].contains("at which ppl is within its bounds"),
            "{told:?}"
        );
    }
}
