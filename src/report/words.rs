//! Sentences that more than one form of the report says. What they quote is cleaned for one
//! line, not yet escaped.

use crate::evaluation::{Basis, Outcome, Value};
use crate::ui::text;

use super::model::{AccountLine, EffectLine, FirstBad, GuardLine, Report};

/// The first line of an answer.
pub(super) fn headline(report: &Report) -> String {
    match (&report.culprit, report.outcome) {
        (Some(first), Outcome::Culprit) => {
            format!("First bad commit: {} {}", first.commit.short(), text::line(&first.subject))
        }
        (_, Outcome::Candidates) => match report.candidates.len() {
            0 => "The first bad commit could not be narrowed down".to_owned(),
            1 => "The first bad commit may be this one, unconfirmed".to_owned(),
            many => format!("The first bad commit is one of {many}"),
        },
        (_, outcome) => outcome_words(outcome).to_owned(),
    }
}

fn outcome_words(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Culprit => "First bad commit",
        Outcome::Candidates => "Candidates",
        Outcome::Gradual => "No single commit: small steps add up",
        Outcome::NoRegression => "No regression between the endpoints",
        Outcome::NoiseTooLarge => "The noise is too large to search",
        Outcome::EndpointUnmeasurable => "An endpoint cannot be measured",
        Outcome::Interrupted => "Interrupted, no answer yet",
    }
}

/// `ppl: 7.21 at the parent, 7.52 here, 0.31 worse (limit 0.05)`.
pub(super) fn step(effect: &EffectLine) -> String {
    let levels = format!(
        "{}: {} at the parent, {} here",
        effect.metric,
        text::value(&effect.parent),
        text::value(&effect.commit)
    );
    match &effect.own_step {
        Some(step) => {
            format!("{levels}, {} (limit {})", worse(step), text::value(&effect.limit))
        }
        None => format!("{levels} (must not change)"),
    }
}

/// `0.31 worse`, `0.02 better`, `nan worse`.
pub(super) fn worse(step: &Value) -> String {
    match step.number() {
        Some(x) if x < 0.0 => format!("{} better", text::figure(-x)),
        _ => format!("{} worse", text::value(step)),
    }
}

/// How sure a first bad commit is, and what that rests on.
pub(super) fn confidence(first: &FirstBad) -> String {
    let sure = text::percent(first.confidence);
    match first.basis {
        Basis::BitExact => {
            format!("{sure}: every value repeated bit for bit, so nothing had to be estimated")
        }
        Basis::Sequential => format!(
            "{sure}: repeated runs of it and of its parents lie wholly apart; the rest is the \
             chance that runs without a difference would part as cleanly"
        ),
        Basis::Posterior => {
            format!("{sure}: the share of the probability over all commits that falls on it")
        }
    }
}

/// Where a confirmation was made before.
pub(super) fn confirmed_before(first: &FirstBad) -> Option<String> {
    let (date, hunt) = first.confirmed_before.as_ref()?;
    Some(format!("Confirmed on {date} by hunt {hunt}; not measured afresh in this one."))
}

/// `ppl got 0.33 worse from good to bad: 0.31 explained, 0.02 left (limit 0.05)`.
pub(super) fn account(account: &AccountLine) -> String {
    format!(
        "{} got {} from good to bad: {} explained, {} left (limit {})",
        account.metric,
        worse(&account.total),
        text::value(&account.explained),
        text::value(&account.rest),
        text::value(&account.limit)
    )
}

/// `may rise by at most 0.05`.
pub(super) fn tolerance(guard: &GuardLine) -> String {
    let amount = guard.amount.as_ref().map(text::value).unwrap_or_default();
    match guard.form.as_deref() {
        Some("max_increase") => format!("may rise by at most {amount}"),
        Some("max_increase_percent") => format!("may rise by at most {amount} %"),
        Some("max_decrease") => format!("may fall by at most {amount}"),
        Some("max_decrease_percent") => format!("may fall by at most {amount} %"),
        Some("max") => format!("at most {amount}"),
        Some("min") => format!("at least {amount}"),
        Some("unchanged") => "must not change".to_owned(),
        _ => String::new(),
    }
}

/// `+3 -1`, or `binary`.
pub(super) fn changed_lines(added: Option<usize>, removed: Option<usize>) -> String {
    match (added, removed) {
        (None, None) => "binary".to_owned(),
        _ => format!("+{} -{}", added.unwrap_or(0), removed.unwrap_or(0)),
    }
}
