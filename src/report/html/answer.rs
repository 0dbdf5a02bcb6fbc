//! The first screen: the answer, its confidence, and how to reproduce it.

use crate::report::certainty::{About, noise_of};
use crate::report::links::{Logs, SCRIPT};
use crate::report::measured::is_resource;
use crate::report::model::{EffectLine, FirstBad, GuardLine, Report};
use crate::report::tables::Cell;
use crate::report::{certainty, inside, tables, words};
use crate::ui::text;

use super::cells::TableView;
use super::facts::facts;

/// Longest heading, in characters; the table of commits has the whole subject.
const HEADING: usize = 240;

/// Most metrics on the first screen if there is no target.
const MOST_ENDS: usize = 3;

/// Labels of the facts in `who`; the other facts are in `what`.
const WHO: [&str; 5] = ["Commit", "Author", "Date", "Parent", words::AROUND];

/// An answer, or a first bad commit besides the main one.
pub(super) struct Answer {
    pub(super) heading: String,
    pub(super) summary: String,
    pub(super) hunted: Option<String>,
    /// Who and when, or the ends of the range.
    pub(super) who: Vec<(&'static str, String)>,
    pub(super) levels: Vec<LevelView>,
    /// The other facts.
    pub(super) what: Vec<(&'static str, String)>,
    pub(super) effects: TableView,
    pub(super) files: TableView,
    pub(super) reproduce: String,
    pub(super) script: Option<String>,
}

/// How a metric moved.
pub(super) struct LevelView {
    pub(super) metric: String,
    pub(super) before: String,
    pub(super) after: String,
    /// The step and the tolerance.
    pub(super) moved: String,
}

impl Answer {
    pub(super) fn main(report: &Report, logs: &Logs) -> Self {
        let heading = text::shorten(&words::headline(report), HEADING);
        match &report.culprit {
            Some(first) => {
                let mut answer = Self { heading, ..Self::of(report, first, logs) };
                // With one commit the summary repeats the lines below it.
                if report.culprits.len() == 1 {
                    answer.summary.clear();
                }
                answer
            }
            None => Self { heading, ..Self::without_commit(report, logs) },
        }
    }

    pub(super) fn other(report: &Report, first: &FirstBad, logs: &Logs) -> Self {
        let name = text::commit(&first.commit, &first.subject);
        let also = words::also(report);
        let heading = text::shorten(&format!("{also}: {name}"), HEADING);
        Self { heading, summary: String::new(), hunted: None, ..Self::of(report, first, logs) }
    }

    fn of(report: &Report, first: &FirstBad, logs: &Logs) -> Self {
        let known =
            words::first_bad(report, first).into_iter().filter(|(label, _)| *label != "Own step");
        let (who, mut what): (Vec<_>, Vec<_>) = known.partition(|(label, _)| WHO.contains(label));
        let broken = first.effects.iter().map(|effect| &effect.metric);
        let tolerances = broken.filter_map(|metric| {
            let guard = report.guards.iter().find(|guard| guard.metric == *metric)?;
            Some(("Tolerance", format!("{metric} {}", words::tolerance(guard))))
        });
        what.splice(0..0, tolerances);
        Self {
            who: facts(who),
            levels: first
                .effects
                .iter()
                .map(|effect| LevelView::of_effect(report, effect))
                .collect(),
            what: facts(what),
            effects: TableView::new(&tables::effects(report, first), logs),
            files: TableView::new(&tables::files(first), logs),
            ..Self::without_commit(report, logs)
        }
    }

    fn without_commit(report: &Report, logs: &Logs) -> Self {
        let end = |point: &crate::report::model::Endpoint| {
            format!("{} {} ({})", point.commit.short(), point.subject, point.asked)
        };
        let targets = report.guards.iter().filter(|guard| guard.target);
        let tolerance = |guard: &GuardLine| {
            ("Tolerance", format!("{} {}", guard.metric, words::tolerance(guard)))
        };
        let mut levels: Vec<_> = targets.clone().filter_map(LevelView::of_guard).collect();
        if levels.is_empty() {
            levels = LevelView::of_ends(report);
        }
        Self {
            heading: String::new(),
            summary: text::line(&report.summary),
            hunted: words::hunted_failure(report).map(|hunted| text::line(&hunted)),
            who: facts(
                [
                    ("Good end", end(&report.good)),
                    ("Bad end", end(&report.bad)),
                    ("Between", text::plural(report.range, "commit")),
                ]
                .into_iter()
                .chain(inside::around(report).map(|around| (words::AROUND, around)))
                .collect(),
            ),
            levels,
            what: facts(targets.map(tolerance).collect()),
            effects: TableView::new(&tables::Table::default(), logs),
            files: TableView::new(&tables::Table::default(), logs),
            reproduce: words::reproduce(report),
            script: logs.href(SCRIPT),
        }
    }
}

impl LevelView {
    fn of_effect(report: &Report, effect: &EffectLine) -> Self {
        let allowed = text::value(&effect.limit);
        Self {
            metric: effect.metric.to_string(),
            before: text::value(&effect.parent),
            after: text::value(&effect.commit),
            moved: match (About::of(report, effect), &effect.own_step) {
                (Some(About { step, interval }), _) => {
                    format!("own step {step}, 95 % interval {interval}, tolerance {allowed}")
                }
                (None, Some(step)) => {
                    format!("own step {}, tolerance {allowed}", words::moved(report, step))
                }
                (None, None) if noise_of(report, effect).is_some() => {
                    "measured afresh in turn".to_owned()
                }
                (None, None) => "changed, though it must not".to_owned(),
            },
        }
    }

    /// The levels at the endpoints, if no guard is a target.
    fn of_ends(report: &Report) -> Vec<Self> {
        let measured = tables::noise(report).rows.into_iter().filter_map(|row| {
            let [Cell::Text(metric), Cell::Text(before), Cell::Text(after)] = row.as_slice() else {
                return None;
            };
            let is_shown = metric.parse().is_ok_and(|metric| !is_resource(&metric));
            is_shown.then(|| Self {
                metric: metric.clone(),
                before: before.clone(),
                after: after.clone(),
                moved: "from good to bad".to_owned(),
            })
        });
        measured.take(MOST_ENDS).collect()
    }

    fn of_guard(guard: &GuardLine) -> Option<Self> {
        let (before, after) = (guard.baseline.as_ref()?, guard.bad.as_ref()?);
        let ends = guard.noise.as_ref().map(certainty::ends);
        let [before, after] = ends.unwrap_or_else(|| [before, after].map(text::value));
        Some(Self {
            metric: guard.metric.to_string(),
            before,
            after,
            moved: match &guard.limit {
                Some(limit) => format!("from good to bad, tolerance {}", text::value(limit)),
                None => "from good to bad".to_owned(),
            },
        })
    }
}
