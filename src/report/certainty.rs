//! How sure an answer is and how the search found it, for an engineer who knows no statistics.

use crate::evaluation::{Basis, CommitId, Metric, NoiseKind, Value};
use crate::search::Rates;
use crate::store::journal::SearchMethod;
use crate::ui::text;

use super::doubts::doubts;
use super::merge::is_by_first_parent;
use super::model::{EffectLine, FirstBad, GuardLine, NoiseLine, PosteriorLine, Report};
use super::sought::Sought;

/// The confidence in a first bad commit, and its evidence.
pub(super) fn confidence(report: &Report, first: &FirstBad) -> String {
    let mut sure = text::percent(first.confidence);
    let shown = evidence(report, first);
    let doubts = doubts(report, first);
    if !doubts.is_empty() {
        return format!("at most {sure}: {shown}, but {}", doubts.join("; "));
    }
    if first.failure.is_some() {
        sure.push_str(" that it brought this failure");
    }
    if first.basis == Basis::BitExact || !report.was_found_in_noise(first) {
        let wrong = chance_of_error(first.confidence);
        return format!("{sure}: {shown}; {wrong} of that by luck");
    }
    if report.was_found_by_rates(first) {
        return format!(
            "{sure}: {shown}; the rest is the chance that they do so by luck, or that another \
             commit changed the failure rate too"
        );
    }
    let fresh = format!(
        "{sure}: fresh runs of it and of its {} favour a real change {} : 1",
        match first.parents.len() {
            0 | 1 => "parent",
            _ if is_by_first_parent(report, first) => "first parent",
            _ => "parents",
        },
        odds(first.confidence)
    );
    let likely = report.first(&first.commit);
    match likely.filter(|_| first.basis == Basis::Posterior) {
        Some(likely) => {
            format!("{fresh}; the search had given it {} from its own runs", chance(likely))
        }
        None => fresh,
    }
}

/// The confidence in a first bad commit, without its evidence.
pub(super) fn confidence_alone(report: &Report, first: &FirstBad) -> String {
    let sure = text::percent(first.confidence);
    if doubts(report, first).is_empty() { sure } else { format!("at most {sure}") }
}

/// What the runs show, without odds.
fn evidence(report: &Report, first: &FirstBad) -> &'static str {
    let in_noise = report.was_found_in_noise(first);
    if first.failure.is_some() && !in_noise {
        if is_by_first_parent(report, first) {
            "fresh runs of it fail alike, those of its first parent do not"
        } else {
            "fresh runs of it fail alike, those of its parents do not"
        }
    } else if first.basis == Basis::BitExact {
        "every run repeated bit for bit"
    } else if in_noise {
        "fresh runs of it and of its parents favour a real change"
    } else {
        "repeated runs never overlap"
    }
}

/// "0.8 % chance".
fn chance_of_error(confidence: f64) -> String {
    let percent = 100.0 * (1.0 - confidence);
    let digits = if percent < 0.1 { 2 } else { 1 };
    format!("{percent:.digits$} % chance")
}

/// The odds of a real step, rounded down: e^Σl over the fresh pairs of runs.
fn odds(confidence: f64) -> String {
    let odds = confidence / (1.0 - confidence);
    match odds {
        odds if odds < 10.0 => format!("{odds:.1}"),
        odds if odds < 1e6 => {
            let unit = 10_f64.powf(odds.log10().floor() - 1.0);
            format!("{:.0}", (odds / unit + 1e-6).floor() * unit)
        }
        _ => "more than a million".to_owned(),
    }
}

/// How each posterior search found its answer, a paragraph per search.
pub(super) fn searches(report: &Report) -> Vec<String> {
    let all = report.posterior.iter().map(|one| {
        let calibrated = one.calibrated.as_ref().unwrap_or(&one.noise);
        let levels = levels(report, &one.metric, calibrated, one.noise.paired);
        let search = match report.posterior.len() {
            1 => String::new(),
            _ => format!("Search {}: ", one.search_number + 1),
        };
        format!("{search}{levels} {}", weighing(report, one))
    });
    all.collect()
}

/// Levels and noise of the endpoints' runs, for [`SearchMethod::Sequential`].
pub(super) fn settled(report: &Report) -> Option<String> {
    if report.steadiness != Some(SearchMethod::Sequential) {
        return None;
    }
    let distance = |guard: &GuardLine| guard.noise.as_ref()?.distance.number();
    let noisy = report.guards.iter().filter(|guard| guard.target && guard.noise.is_some());
    // The search uses the metric with the largest effect size d.
    let leads = noisy.max_by(|a, b| {
        let [a, b] = [a, b].map(|guard| distance(guard).unwrap_or(0.0));
        a.total_cmp(&b)
    })?;
    Some(levels(report, &leads.metric, leads.noise.as_ref()?, false))
}

/// `good 7.213, bad 7.412, run-to-run noise 0.053`; `None` if values repeat.
pub(super) fn levels_in_short(guard: &GuardLine) -> Option<String> {
    let noise = guard.noise.as_ref()?;
    let [good, bad] = ends(guard, noise);
    if noise.kind.is_rate() {
        return Some(format!("at good {good}, at bad {bad}"));
    }
    Some(format!("good {good}, bad {bad}, run-to-run noise {}", sd_in_words(noise)))
}

/// A sentence with the levels and the noise of a search's two ends.
fn levels(report: &Report, metric: &Metric, noise: &NoiseLine, paired: bool) -> String {
    let runs = noise.runs;
    if noise.kind.is_rate() {
        let guard = report.guards.iter().find(|guard| guard.target && guard.metric == *metric);
        let does = noise.kind.counted_run(guard.and_then(|guard| guard.form));
        let [good, bad] = failures(noise);
        return format!(
            "{metric} {does} in {good} of {runs} runs at the good end and in {bad} of {runs} at \
             the bad end."
        );
    }
    let [good, bad] = levels_of(noise);
    let sd = sd_in_words(noise);
    let distance = noise.distance.number().unwrap_or(f64::INFINITY);
    let apart = if distance.is_finite() {
        format!("; good and bad are {distance:.1}σ apart")
    } else {
        String::new()
    };
    let ends = format!(
        "{runs} runs of each endpoint put {metric} at {good} at the good end and {bad} at the bad \
         end"
    );
    match (noise.paired, paired) {
        (true, _) => format!(
            "The machine drifts, so each run was compared with one of the good endpoint beside \
             it. {ends}; noise of such a difference {sd}{apart}."
        ),
        (false, true) => format!(
            "{ends}; run-to-run noise {sd}{apart}. Then the machine drifted, and from there \
             on each run was compared with one of the good endpoint beside it."
        ),
        (false, false) => format!("{ends}; run-to-run noise {sd}{apart}."),
    }
}

/// The good and the bad level, with the digits that the noise allows, or `fails in 1 of 9 runs`.
pub(super) fn ends(guard: &GuardLine, noise: &NoiseLine) -> [String; 2] {
    if noise.kind.is_rate() {
        let does = noise.kind.counted_run(guard.form);
        let runs = noise.runs;
        return failures(noise).map(|failed| format!("{does} in {failed} of {runs} runs"));
    }
    levels_of(noise)
}

/// The good and the bad level, with the digits that the noise allows.
fn levels_of(noise: &NoiseLine) -> [String; 2] {
    let [good, bad] = [&noise.good, &noise.bad].map(|level| level.number().unwrap_or(f64::NAN));
    let sd = noise.sd.number().unwrap_or(0.0);
    let sd = if noise.kind == NoiseKind::Log { sd * good.abs() } else { sd };
    [good, bad].map(|level| rounded(level, sd))
}

/// The standard deviation of one run: `0.053`, `1.2 %`.
fn sd_in_words(noise: &NoiseLine) -> String {
    let sd = noise.sd.number().unwrap_or(f64::NAN);
    match noise.kind {
        NoiseKind::Log => format!("{} %", rounded(100.0 * sd, 100.0 * sd)),
        _ => rounded(sd, sd),
    }
}

/// How many runs failed at the good and at the bad end. The estimated rates are never 0: a sentence
/// with them would tell of failures that nobody saw.
fn failures(noise: &NoiseLine) -> [usize; 2] {
    let rate = |value: &Value| value.number().unwrap_or(f64::NAN);
    [&noise.good, &noise.bad].map(|value| Rates::failures(rate(value), noise.runs))
}

/// How many runs the search used, and which probability its answer reached.
fn weighing(report: &Report, one: &PosteriorLine) -> String {
    let measured = one.commits.iter().filter(|commit| commit.samples > 0).count();
    let weighed = format!(
        "The search weighed all {} of {} together",
        text::plural(one.runs, "run"),
        // `commits` does not contain the good end.
        text::plural(measured + 1, "commit"),
    );
    let search = report.searches.iter().find(|search| search.search_number == one.search_number);
    let named = search.and_then(|search| search.named.as_ref());
    match named.and_then(|named| Some((named, one.first(named)?))) {
        Some((named, first)) => {
            let sure = chance(first);
            format!(
                "{weighed} until one commit, {}, held {sure} of the probability.",
                named.short()
            )
        }
        None if one.smallest_set.is_empty() => format!("{weighed}."),
        None if !report.are_candidates_weighed() => format!(
            "{weighed}. Its probabilities do not count for this answer: they assume that one \
             commit made the whole change."
        ),
        None => {
            let set = &one.smallest_set;
            let held: f64 = set.iter().map(|likely| likely.first).sum();
            let commits = text::plural(set.len(), "commit");
            let verb = if set.len() == 1 { "holds" } else { "hold" };
            format!("{weighed}; {commits} {verb} {} of the probability.", chance(held))
        }
    }
}

/// `61.4 %`: the probability that a candidate is the first bad commit, if a search computed one.
pub(super) fn likely(report: &Report, commit: &CommitId) -> Option<String> {
    report.first(commit).map(chance)
}

/// A probability in percent with one decimal, rounded down; a small one is never shown as 0 %.
pub(super) fn chance(p: f64) -> String {
    match 100.0 * p {
        p if p <= 0.0 => "0 %".to_owned(),
        p if p < 0.1 => "under 0.1 %".to_owned(),
        p if p >= 100.0 => "100 %".to_owned(),
        p if p > 99.9 => "over 99.9 %".to_owned(),
        p => format!("{:.1} %", (p * 10.0 + 1e-6).floor() / 10.0),
    }
}

/// The noise of a targeted metric, if it has any.
pub(super) fn noise_of<'r>(report: &'r Report, effect: &EffectLine) -> Option<&'r NoiseLine> {
    let guards = report.guards.iter().filter(|guard| guard.target);
    guards.filter(|guard| guard.metric == effect.metric).find_map(|guard| guard.noise.as_ref())
}

/// A step with its 95 % interval, with the digits that the noise allows. The interval counts in the
/// direction of the hunt, as the step does.
pub(super) struct StepWithInterval {
    /// `0.312 worse`.
    pub(super) step: String,
    /// `0.281 to 0.342`.
    pub(super) interval: String,
}

impl StepWithInterval {
    /// `None` if values repeat or the target has no numeric step.
    pub(super) fn of(report: &Report, effect: &EffectLine) -> Option<Self> {
        noise_of(report, effect).filter(|noise| !noise.kind.is_rate())?;
        let step = effect.own_step.as_ref()?.number()?;
        let [low, high] = effect.interval.as_ref()?.each_ref().map(Value::number);
        let (low, high) = (low?, high?);
        let error = (high - low) / 2.0;
        let word = if Sought::of(report).worsening(step) < 0.0 { "better" } else { "worse" };
        let step = format!("{} {word}", rounded(step.abs(), error));
        Some(Self {
            step,
            interval: format!("{} to {}", rounded(low, error), rounded(high, error)),
        })
    }
}

/// A number rounded to the second significant digit of its error.
fn rounded(x: f64, error: f64) -> String {
    let is_plain = error.is_finite() && error.abs() > 1e-12 && x.is_finite() && x.abs() < 1e15;
    if !is_plain {
        return text::figure(x);
    }
    #[expect(clippy::cast_possible_truncation, reason = "between -16 and 308")]
    let decimals = (1 - error.abs().log10().floor() as i32).clamp(0, 12);
    format!("{x:.*}", usize::try_from(decimals).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn odds_are_never_rounded_up() {
        for (confidence, said) in
            [(0.995, "190"), (0.8, "4.0"), (0.999_93, "14000"), (1.0, "more than a million")]
        {
            assert_eq!(odds(confidence), said, "{confidence}");
        }
    }

    #[test]
    fn digits_end_where_the_noise_begins() {
        for (x, error, said) in [
            (7.213_456, 0.05, "7.213"),
            (0.311_9, 0.03, "0.312"),
            (183.27, 4.0, "183.3"),
            (1834.0, 120.0, "1834"),
            (-0.012, 0.2, "-0.01"),
            (7.5, 0.0, "7.5"),
            (f64::NAN, 1.0, "nan"),
        ] {
            assert_eq!(rounded(x, error), said);
        }
    }

    #[test]
    fn a_chance_is_never_rounded_to_certainty() {
        for (p, said) in [
            (0.0, "0 %"),
            (0.000_4, "under 0.1 %"),
            (0.614_2, "61.4 %"),
            (0.999_5, "over 99.9 %"),
            (1.0, "100 %"),
        ] {
            assert_eq!(chance(p), said);
        }
    }
}
