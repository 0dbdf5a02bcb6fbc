//! Sentences about how far a metric moved: levels, own steps, tolerances, and how much of the whole
//! change is explained.

use crate::evaluation::{Metric, TouchedFile, Unexplained, Value};
use crate::ui::text;

use super::certainty::{StepWithInterval, noise_of};
use super::model::{AccountLine, EffectLine, FirstBad, FormName, GuardLine, Report};
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

/// `ppl: 7.21 → 7.52, +4.3 %, 0.31 worse (tolerance 0.05)`; with noise also how many runs gave the
/// step, and its 95 % interval.
pub(super) fn step(report: &Report, effect: &EffectLine) -> String {
    let (parent, commit) = (&effect.parent, &effect.commit);
    let change = percent(parent, commit).map(|percent| format!(", {percent}"));
    let levels = format!(
        "{}: {}{}",
        effect.metric,
        text::values(parent, commit),
        change.unwrap_or_default()
    );
    let limit = limit(report, &effect.metric, &effect.limit);
    if let Some(about) = StepWithInterval::of(report, effect) {
        let StepWithInterval { step, interval } = about;
        let runs = from_runs(effect);
        return format!("{levels}, {step}{runs} (95 % interval {interval}; tolerance {limit})");
    }
    match &effect.own_step {
        Some(step) => format!("{levels}, {} (tolerance {limit})", moved(report, step)),
        None if noise_of(report, effect).is_some() => levels,
        None => format!("{levels} (must not change)"),
    }
}

/// ` from 2 runs of each`: how many runs of parent and commit gave a step in noise. Empty if that
/// is not known.
pub(super) fn from_runs(effect: &EffectLine) -> String {
    let Some([parent, commit]) = effect.runs else { return String::new() };
    if parent == commit {
        return format!(" from {} of each", text::plural(commit, "run"));
    }
    format!(" from {} of the parent and {commit} of the commit", text::plural(parent, "run"))
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

/// In noise, a rest of at most this many standard errors may be no change at all.
const SURE: f64 = 2.0;

/// In noise, other commits surely gained something back if the steps exceed the whole change by
/// more than the tolerance and this many standard errors, as for any mend. Two are not enough: a
/// confirmation ends when its runs show the step, so the step is often too large.
const SURE_OF_GAIN: f64 = 3.0;

/// `ppl got 0.33 worse from good to bad: 0.31 explained, 0.02 left (tolerance 0.05)`; in noise the
/// rest has its uncertainty: `0.02 ± 0.01`.
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
    let error = account.error.as_ref().and_then(Value::number);
    let noise = error.map(|error| SURE * error);
    let reach = noise.map_or_else(String::new, |noise| format!(" ± {}", text::difference(noise)));
    let tolerance = limit(report, &account.metric, &account.limit);
    let tolerated = account.limit.number().unwrap_or(0.0).max(0.0);
    let is_open = report.unexplained.contains(&Unexplained::Metric(account.metric.clone()));
    let is_noise = |size: f64| noise.is_some_and(|noise| size <= noise);
    // What is left may be above the tolerance, and it is not known to be small steps.
    let may_exceed = |rest: f64| {
        let is_possible = noise.is_some_and(|noise| rest + noise > tolerated);
        rest <= tolerated && is_possible && !is_open && !account.in_small_steps
    };
    let most_without_gain = error.map(|error| tolerated + SURE_OF_GAIN * error);
    let account_of_all = match rest.number() {
        // The steps add up to the whole, but a measurement shows that they are not what the bad end
        // has.
        Some(rest) if is_open && rest <= small => {
            "the confirmed commits do not explain it".to_owned()
        }
        Some(x) if may_exceed(x) => format!(
            "{} explained; by these runs, what is left may be above the tolerance of {tolerance} \
             (rest {}{reach})",
            number(&explained),
            number(&rest)
        ),
        Some(rest) if rest.abs() <= small => "all of it is explained".to_owned(),
        Some(x) if !is_open && is_noise(x.abs()) => {
            format!("all of it is explained, within the noise (rest {}{reach})", number(&rest))
        }
        Some(x) if x < 0.0 && noise.is_some() && -x <= tolerated => format!(
            "all of it is explained (rest {}{reach}, within the tolerance of {tolerance})",
            number(&rest)
        ),
        Some(x) if x < 0.0 && most_without_gain.is_some_and(|most| -x <= most) => format!(
            "all of it is explained (rest {}{reach}, not surely more than the tolerance of \
             {tolerance})",
            number(&rest)
        ),
        Some(rest) if rest < 0.0 && is_one_step_twice(report, &account.metric, -rest, small) => {
            format!(
                "all of it is explained; both commits make the same step in the same file, and the \
                 {} end has it once",
                Sought::of(report).newer_end()
            )
        }
        Some(rest) if rest < 0.0 => {
            let back = text::difference(-rest);
            format!("all of it is explained; other commits gained back {back}{reach}")
        }
        _ if account.in_small_steps => format!(
            "{} explained, {}{reach} left in small steps (none above the tolerance of {tolerance})",
            number(&explained),
            number(&rest)
        ),
        Some(x) if !is_open && x > tolerated && is_noise(x - tolerated) => format!(
            "{} explained, {}{reach} left (tolerance {tolerance}; not surely above it)",
            number(&explained),
            number(&rest)
        ),
        _ => format!(
            "{} explained, {}{reach} left (tolerance {tolerance})",
            number(&explained),
            number(&rest)
        ),
    };
    let twice = if overlap > 0.0 {
        "; the steps of two commits overlap: either of them is enough"
    } else {
        ""
    };
    format!("{total}: {account_of_all}{twice}")
}

/// Whether the hunt names two commits that make the same step, of this size, and change a file by
/// equally many lines: one change on two branches. `small`: the rounding of a step.
fn is_one_step_twice(report: &Report, metric: &Metric, size: f64, small: f64) -> bool {
    let [one, other] = report.culprits.as_slice() else { return false };
    let step = |first: &FirstBad| {
        let effect = first.effects.iter().find(|effect| effect.metric == *metric)?;
        effect.own_step.as_ref()?.number()
    };
    let is_size = |first: &FirstBad| step(first).is_some_and(|step| (step - size).abs() <= small);
    let is_once = |first: &FirstBad| first.undone_by.is_none();
    let is_same = |a: &TouchedFile, b: &TouchedFile| {
        a.path == b.path && a.added.is_some() && [a.added, a.removed] == [b.added, b.removed]
    };
    let shares_file = one.files.iter().any(|a| other.files.iter().any(|b| is_same(a, b)));
    [one, other].into_iter().all(|first| is_size(first) && is_once(first)) && shares_file
}

/// A tolerance in the metric's unit: `0.05`, or `3.9, 4 % of good`. A percentage counts from the
/// level at the hunt's good end, whatever the levels of the commit and its parent are.
pub(super) fn limit(report: &Report, metric: &Metric, limit: &Value) -> String {
    let amount = text::value(limit);
    let is_its =
        |guard: &&GuardLine| guard.metric == *metric && guard.limit.as_ref() == Some(limit);
    let guard = report.guards.iter().filter(|guard| guard.target).find(is_its);
    let percent = guard.filter(|guard| guard.form.is_some_and(FormName::is_percent));
    match percent.and_then(|guard| guard.amount.as_ref()) {
        Some(percent) => format!("{amount}, {} % of good", text::value(percent)),
        None => amount,
    }
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
