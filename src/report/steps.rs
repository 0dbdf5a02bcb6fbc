//! Sentences about how far a metric moved: levels, own steps, tolerances, and how much of the whole
//! change is explained.

use crate::evaluation::{Unexplained, Value};
use crate::ui::text;

use super::certainty::{StepWithInterval, noise_of};
use super::model::{AccountLine, EffectLine, FormName, GuardLine, Report};
use super::sought::Sought;

/// The change between two levels in percent, if both are numbers.
pub(super) fn percent(before: &Value, after: &Value) -> Option<String> {
    text::change(before.number()?, after.number()?)
}

/// `7.54 (+4.6 %)`: the level at the bad end, with its change from the good end.
pub(super) fn changed_level(before: Option<&Value>, after: &Value) -> String {
    let change = before.and_then(|before| percent(before, after));
    let change = change.map(|percent| format!(" ({percent})")).unwrap_or_default();
    format!("{}{change}", text::value(after))
}

/// Label of [`over_text`].
pub(super) const OVER_TEXT: &str = "Over the text";

/// `ppl: 7.21 → 7.52, +4.3 %, 0.31 worse (tolerance 0.05)`; with noise also the step's 95 %
/// interval.
pub(super) fn step(report: &Report, effect: &EffectLine) -> String {
    let (parent, commit) = (&effect.parent, &effect.commit);
    let change = percent(parent, commit).map(|percent| format!(", {percent}"));
    let levels = format!(
        "{}: {}{}",
        effect.metric,
        text::values(parent, commit),
        change.unwrap_or_default()
    );
    let limit = text::value(&effect.limit);
    if let Some(about) = StepWithInterval::of(report, effect) {
        let StepWithInterval { step, interval } = about;
        return format!("{levels}, {step} (95 % interval {interval}; tolerance {limit})");
    }
    match &effect.own_step {
        Some(step) => format!("{levels}, {} (tolerance {limit})", moved(report, step)),
        None if noise_of(report, effect).is_some() => levels,
        None => format!("{levels} (must not change)"),
    }
}

/// The step over the text's chunks: the paired interval and the unpaired one.
pub(super) fn over_text(report: &Report, effect: &EffectLine) -> Option<String> {
    let found = effect.over_text.as_ref()?;
    let range =
        |[low, high]: [f64; 2]| format!("{} to {}", text::difference(low), text::difference(high));
    Some(format!(
        "{}: {} {}, chunk against chunk ({} interval); {} if the two had read different \
         texts; {} of {} moved beyond their noise",
        effect.metric,
        range(found.paired),
        Sought::of(report).change(),
        text::percent(found.confidence),
        range(found.plain),
        found.carrying,
        text::plural(found.chunks, "chunk"),
    ))
}

/// `0.31 worse`, `0.02 better`, `nan worse`.
fn worse(step: &Value) -> String {
    match step.number() {
        Some(x) if x < 0.0 => format!("{} better", text::difference(-x)),
        Some(x) => format!("{} worse", text::difference(x)),
        None => format!("{} worse", text::value(step)),
    }
}

/// A step in the direction of the hunt: `0.31 worse`, or `0.31 better` in a hunt for a fix.
pub(super) fn moved(report: &Report, step: &Value) -> String {
    match step.number() {
        Some(x) => worse(&Value::Number(Sought::of(report).worsening(x))),
        None => worse(step),
    }
}

/// A rest of at most this share of the whole change is not mentioned.
const NEGLIGIBLE: f64 = 0.001;

/// `ppl got 0.33 worse from good to bad: 0.31 explained, 0.02 left (tolerance 0.05)`.
pub(super) fn account(report: &Report, account: &AccountLine) -> String {
    let [from, to] = Sought::of(report).verdicts();
    let total =
        format!("{} got {} from {from} to {to}", account.metric, moved(report, &account.total));
    let number =
        |value: &Value| value.number().map_or_else(|| text::value(value), text::difference);
    let small = account.total.number().map_or(0.0, |total| NEGLIGIBLE * total.abs());
    let overlap = account.overlap.as_ref().and_then(Value::number).unwrap_or(0.0);
    let plus = |value: &Value, by: f64| {
        value.number().map_or_else(|| value.clone(), |x| Value::Number(x + by))
    };
    let (explained, rest) = (plus(&account.explained, -overlap), plus(&account.rest, overlap));
    let account_of_all = match rest.number() {
        // The steps add up to the whole, but a measurement shows that they are not what the bad end
        // has.
        _ if report.unexplained.contains(&Unexplained::Metric(account.metric.clone()))
            && rest.number().is_some_and(|rest| rest <= small) =>
        {
            "the confirmed commits do not explain it".to_owned()
        }
        Some(rest) if rest.abs() <= small => "all of it is explained".to_owned(),
        Some(rest) if rest < 0.0 => {
            let back = text::difference(-rest);
            format!("all of it is explained; other commits gained back {back}")
        }
        _ if account.in_small_steps => format!(
            "{} explained, {} left in small steps (none above the tolerance of {})",
            number(&explained),
            number(&rest),
            text::value(&account.limit)
        ),
        _ => format!(
            "{} explained, {} left (tolerance {})",
            number(&explained),
            number(&rest),
            text::value(&account.limit)
        ),
    };
    let twice = if overlap > 0.0 {
        "; the steps of two commits overlap: either of them is enough"
    } else {
        ""
    };
    format!("{total}: {account_of_all}{twice}")
}

/// `may rise by at most 0.05`.
pub(super) fn tolerance(guard: &GuardLine) -> String {
    let amount = guard.amount.as_ref().map(text::value).unwrap_or_default();
    match guard.form {
        Some(FormName::MaxIncrease) => format!("may rise by at most {amount}"),
        Some(FormName::MaxIncreasePercent) => format!("may rise by at most {amount} %"),
        Some(FormName::MaxDecrease) => format!("may fall by at most {amount}"),
        Some(FormName::MaxDecreasePercent) => format!("may fall by at most {amount} %"),
        Some(FormName::Max) => format!("at most {amount}"),
        Some(FormName::Min) => format!("at least {amount}"),
        Some(FormName::Unchanged) => "must not change".to_owned(),
        None => String::new(),
    }
}
