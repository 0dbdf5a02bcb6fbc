//! The first screen: the answer, its confidence, and how to reproduce it.

use crate::evaluation::Resource;
use crate::report::certainty::{StepWithInterval, noise_of};
use crate::report::facts::{self, Part};
use crate::report::links::{Logs, SCRIPT};
use crate::report::model::{EffectLine, FirstBad, GuardLine, Report};
use crate::report::{certainty, inside, steps, tables, words};
use crate::ui::text;

use super::cells::TableView;
use super::change::ChangeView;
use super::facts::FactView;

/// Longest heading, in characters; the table of commits has the whole subject.
const HEADING: usize = 240;

/// Most metrics on the first screen if there is no target.
const MOST_ENDS: usize = 3;

/// An answer, or a first bad commit besides the main one.
pub(super) struct Answer {
    pub(super) heading: String,
    pub(super) summary: Option<String>,
    pub(super) hunted: Option<String>,
    /// Who and when, or the ends of the range.
    pub(super) who: Vec<FactView>,
    pub(super) levels: Vec<LevelView>,
    /// The evidence.
    pub(super) what: Vec<FactView>,
    pub(super) effects: TableView,
    pub(super) change: ChangeView,
    /// Further details.
    pub(super) details: Vec<FactView>,
    pub(super) reproduce: String,
    pub(super) script: Option<String>,
}

/// How a metric moved.
pub(super) struct LevelView {
    pub(super) metric: String,
    pub(super) before: String,
    pub(super) after: String,
    /// The change in percent; empty if percentages mean nothing.
    pub(super) percent: String,
    /// The step and the tolerance.
    pub(super) moved: String,
}

impl Answer {
    pub(super) fn main(report: &Report, logs: &Logs) -> Self {
        let heading = text::shorten(&words::headline(report), HEADING);
        match &report.culprit {
            Some(first) => {
                // With one commit the summary repeats the lines below it.
                let summary = summary(report).filter(|_| report.culprits.len() > 1);
                Self { heading, summary, ..Self::of(report, first, logs) }
            }
            None => {
                Self { heading, summary: summary(report), ..Self::without_commit(report, logs) }
            }
        }
    }

    pub(super) fn other(report: &Report, first: &FirstBad, logs: &Logs) -> Self {
        let name = text::commit(&first.commit, &first.subject);
        let also = words::also(report);
        let heading = text::shorten(&format!("{also}: {name}"), HEADING);
        Self { heading, hunted: None, ..Self::of(report, first, logs) }
    }

    fn of(report: &Report, first: &FirstBad, logs: &Logs) -> Self {
        let facts = facts::first_bad(report, first);
        let of = |parts: &[Part]| -> Vec<FactView> {
            facts.iter().filter(|fact| parts.contains(&fact.part)).map(FactView::of).collect()
        };
        Self {
            who: of(&[Part::Name, Part::Origin]),
            levels: first
                .effects
                .iter()
                .map(|effect| LevelView::of_effect(report, effect))
                .collect(),
            // The levels show the steps already.
            what: of(&[Part::Evidence]),
            details: of(&[Part::Detail]),
            effects: TableView::new(&tables::effects(report, first), logs),
            change: ChangeView::of(first, logs),
            ..Self::without_commit(report, logs)
        }
    }

    fn without_commit(report: &Report, logs: &Logs) -> Self {
        let end = |point: &crate::report::model::Endpoint| {
            format!("{} {} ({})", point.commit.short(), point.subject, point.asked)
        };
        let script = logs.href(SCRIPT);
        let is_in_page = script.as_ref().is_some_and(|link| link.starts_with('#'));
        let place = if is_in_page { "at the end of this page" } else { "beside this page" };
        let targets = report.guards.iter().filter(|guard| guard.target);
        let mut levels: Vec<_> = targets.filter_map(LevelView::of_guard).collect();
        if levels.is_empty() {
            levels = LevelView::of_ends(report);
        }
        Self {
            heading: String::new(),
            summary: None,
            hunted: words::hunted_failure(report).map(|hunted| text::line(&hunted)),
            who: [
                ("Good end", end(&report.good)),
                ("Bad end", end(&report.bad)),
                ("Between", text::plural(report.range, "commit")),
            ]
            .into_iter()
            .chain(inside::around(report).map(|around| (words::AROUND, around)))
            .map(|(label, words)| FactView::new(label, &words))
            .collect(),
            levels,
            what: Vec::new(),
            details: Vec::new(),
            effects: TableView::default(),
            change: ChangeView::default(),
            reproduce: words::reproduce(report, place),
            script,
        }
    }
}

/// The summary, if the hunt has one.
fn summary(report: &Report) -> Option<String> {
    Some(text::line(&report.summary)).filter(|summary| !summary.is_empty())
}

impl LevelView {
    fn of_effect(report: &Report, effect: &EffectLine) -> Self {
        let allowed = steps::limit(report, &effect.metric, &effect.limit);
        let [before, after] = text::pair(&effect.parent, &effect.commit);
        Self {
            metric: effect.metric.to_string(),
            before,
            after,
            percent: steps::percent(&effect.parent, &effect.commit).unwrap_or_default(),
            moved: match (StepWithInterval::of(report, effect), &effect.own_step) {
                (Some(StepWithInterval { step, interval }), _) => {
                    let runs = steps::from_runs(effect);
                    format!("own step {step}{runs}, 95 % interval {interval}, tolerance {allowed}")
                }
                (None, Some(step)) => {
                    format!("own step {}, tolerance {allowed}", steps::moved(report, step))
                }
                (None, None) if noise_of(report, effect).is_some() => {
                    "commit and parent were measured again, in turn".to_owned()
                }
                (None, None) => "changed, though it must not".to_owned(),
            },
        }
    }

    /// The levels at the endpoints, if no guard is a target.
    fn of_ends(report: &Report) -> Vec<Self> {
        let shown = tables::spreads(report).filter(|spread| Resource::of(spread.metric).is_none());
        let level = |spread: tables::Spread<'_>| Self {
            metric: spread.metric.to_string(),
            before: spread.good,
            after: spread.bad,
            percent: String::new(),
            moved: "from good to bad".to_owned(),
        };
        shown.take(MOST_ENDS).map(level).collect()
    }

    fn of_guard(guard: &GuardLine) -> Option<Self> {
        let (before, after) = (guard.baseline.as_ref()?, guard.bad.as_ref()?);
        let percent = steps::percent(before, after).unwrap_or_default();
        let ends = guard.noise.as_ref().map(|noise| certainty::ends(guard, noise));
        let [before, after] = ends.unwrap_or_else(|| [before, after].map(text::value));
        Some(Self {
            metric: guard.metric.to_string(),
            before,
            after,
            percent,
            moved: match &guard.limit {
                Some(limit) => format!("from good to bad, tolerance {}", text::value(limit)),
                None => "from good to bad".to_owned(),
            },
        })
    }
}
