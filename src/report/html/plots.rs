//! The plots of the page, each in two widths: for a wide screen and paper, and for a phone.

use std::fmt::Write as _;

use crate::evaluation::{TensorChange, Verdict};
use crate::report::links::Logs;
use crate::report::model::Report;
use crate::report::plot::{Drawing, Growth, Levels, Narrowing, PosteriorPlot, What, shown};
use crate::report::range::Range;
use crate::report::{certainty, steps, tables, tensors, words};
use crate::ui::text;

use super::cells::{TableView, VerdictView};

/// Width of a drawing for a wide screen, in pixels.
const WIDE: u32 = 920;

/// Width of a drawing for a phone, in pixels.
const NARROW: u32 = 330;

/// The plot of a metric.
pub(super) struct Plot {
    pub(super) name: String,
    /// Whether the plot stands with the targets: the metric is a target or has no guard.
    pub(super) decides: bool,
    pub(super) words: String,
    pub(super) caption: String,
    pub(super) wide: Drawing,
    pub(super) narrow: Drawing,
    verdicts: Vec<Verdict>,
    has_band: bool,
    has_rows: bool,
}

/// The explanation of the marks; it has only those that occur.
#[derive(Default)]
pub(super) struct Legend {
    /// Whether bars and a line for probabilities are drawn.
    pub(super) is_belief: bool,
    pub(super) verdicts: Vec<(VerdictView, &'static str)>,
    pub(super) has_band: bool,
    pub(super) note: &'static str,
}

/// All verdicts, in the order of a legend.
const VERDICTS: [Verdict; 4] = [Verdict::Good, Verdict::Bad, Verdict::Skip, Verdict::Unknown];

impl Legend {
    pub(super) fn of_plots(plots: &[Plot]) -> Self {
        let occurs = |verdict: &Verdict| plots.iter().any(|plot| plot.verdicts.contains(verdict));
        Self {
            is_belief: false,
            verdicts: entries(occurs, "not judged"),
            has_band: plots.iter().any(|plot| plot.has_band),
            note: if plots.iter().any(|plot| plot.has_rows) {
                "One mark per run; runs without a number are drawn above the axis."
            } else {
                "One mark per run."
            },
        }
    }

    pub(super) fn of_beliefs(beliefs: &[Belief]) -> Self {
        let all = || beliefs.iter().flat_map(|belief| &belief.verdicts);
        Self {
            is_belief: true,
            verdicts: entries(|verdict| all().any(|other| other == verdict), "undecided"),
            has_band: false,
            note: "Below the bars: the measured commits, with their number of runs.",
        }
    }
}

fn entries(
    occurs: impl Fn(&Verdict) -> bool,
    unknown: &'static str,
) -> Vec<(VerdictView, &'static str)> {
    let word = |verdict| match verdict {
        Verdict::Good => "good",
        Verdict::Bad => "bad",
        Verdict::Skip => "skipped",
        Verdict::Unknown => unknown,
    };
    let occurring = VERDICTS.into_iter().filter(occurs);
    occurring.map(|verdict| (VerdictView::of(verdict), word(verdict))).collect()
}

/// The plots, and the names of metrics without samples.
pub(super) fn of(report: &Report, range: &Range) -> (Vec<Plot>, Vec<String>) {
    let mut untried = Vec::new();
    let mut plots = Vec::new();
    for metric in shown(report) {
        let Some(levels) = Levels::of(report, range, &metric) else {
            untried.push(metric.to_string());
            continue;
        };
        let guard = report.guards.iter().find(|guard| guard.metric == metric);
        let is_hunted = report.target_failure.as_ref().is_some_and(|target| {
            target.measure.as_deref().is_none_or(|measure| metric.measure == measure)
        });
        let mut caption = guard.map(steps::tolerance).unwrap_or_default();
        if let Some(words) = guard.and_then(certainty::levels_in_short) {
            let _ = write!(caption, "; {words}");
        } else if let Some(threshold) = guard.and_then(|guard| guard.threshold.as_ref()) {
            let _ = write!(caption, "; threshold {}", text::value(threshold));
        }
        if report.posterior.iter().any(|one| one.metric == metric && one.noise.paired) {
            caption += "; the machine drifts, so only runs taken side by side compare";
        }
        if levels.has_medians() {
            caption += "; a dash is a median";
        }
        if levels.is_logarithmic() {
            caption += "; the scale is logarithmic";
        }
        plots.push(Plot {
            name: metric.to_string(),
            decides: is_hunted || guard.is_none_or(|guard| guard.target),
            words: levels.in_words(),
            caption: caption.trim_start_matches("; ").to_owned(),
            wide: levels.draw(WIDE),
            narrow: levels.draw(NARROW),
            verdicts: VERDICTS.into_iter().filter(|verdict| levels.shows(*verdict)).collect(),
            has_band: levels.has_band(),
            has_rows: levels.has_rows(),
        });
    }
    (plots, untried)
}

/// The posterior of a search.
pub(super) struct Belief {
    /// How the search found its answer.
    pub(super) how: String,
    /// The plot of the range; for a long range also one of the part in question.
    pub(super) pictures: Vec<Picture>,
    pub(super) likely: TableView,
    verdicts: Vec<Verdict>,
}

/// A drawing for every screen.
pub(super) struct Picture {
    pub(super) name: String,
    pub(super) caption: String,
    pub(super) words: String,
    pub(super) wide: Drawing,
    pub(super) narrow: Drawing,
}

/// How the difference of the tensors grows, by measure.
pub(super) fn growth(report: &Report) -> Vec<Picture> {
    let all =
        report.inquiry.tensors.iter().filter_map(|change| Some((change, Growth::of(change)?)));
    let picture = |(change, growth): (&TensorChange, Growth<'_>)| Picture {
        name: change.measure.clone(),
        caption: tensors::axis_title(change.comparison.axis)
            + if growth.is_logarithmic() { "; the scale is logarithmic" } else { "" },
        words: growth.in_words(),
        wide: growth.draw(WIDE),
        narrow: growth.draw(NARROW),
    };
    all.map(picture).collect()
}

impl Belief {
    /// The posterior of each search that computed one.
    pub(super) fn all(report: &Report, range: &Range, logs: &Logs) -> Vec<Self> {
        let all = certainty::searches(report).into_iter().zip(&report.posterior);
        all.map(|(how, one)| {
            let whole = PosteriorPlot::of(report, range, one);
            let closer = whole.closer();
            let verdicts = VERDICTS.into_iter().filter(|verdict| whole.shows(*verdict)).collect();
            let metric = &one.metric;
            let name = match report.posterior.len() {
                1 => format!("The search for {metric}"),
                _ => format!("Search {}, {metric}", one.search_number + 1),
            };
            let views = [Some((whole, "")), closer.map(|it| (it, "the part in question, closer"))];
            let pictures = views.into_iter().flatten().map(|(weighing, caption)| Picture {
                name: name.clone(),
                caption: caption.to_owned(),
                words: weighing.in_words(),
                wide: weighing.draw(WIDE),
                narrow: weighing.draw(NARROW),
            });
            let likely = TableView::new(&tables::likely(report, one), logs);
            Self { how, pictures: pictures.collect(), likely, verdicts }
        })
        .collect()
    }
}

/// How the searches narrowed the range.
pub(super) struct Steps {
    pub(super) name: &'static str,
    pub(super) words: String,
    pub(super) is_cut: bool,
    pub(super) wide: Drawing,
    pub(super) narrow: Drawing,
    pub(super) rows: Vec<StepView>,
}

/// A step in the table.
pub(super) struct StepView {
    pub(super) name: String,
    pub(super) subject: String,
    pub(super) place: String,
    pub(super) verdict: Option<VerdictView>,
    pub(super) left: String,
    /// Whether the store had the answer, so that git did not ask.
    pub(super) was_known: bool,
}

impl Steps {
    pub(super) fn of(report: &Report, range: &Range) -> Option<Self> {
        let narrowing = Narrowing::of(report, range)?;
        let rows = narrowing.rows.iter().map(|row| {
            let (step, place) = match &row.what {
                What::Step(step, place) => (Some(step), *place),
                What::Found(_, place) => (None, *place),
                What::Range(_) => (None, None),
            };
            let known = step
                .and_then(|step| report.commits.iter().find(|commit| commit.commit == step.commit));
            let subject = match &row.what {
                What::Range(_) => "in question at the start".to_owned(),
                What::Found(..) => {
                    format!("{}, measured afresh with its parents", words::sought(report))
                }
                What::Step(..) => {
                    known.and_then(|commit| commit.subject.clone()).unwrap_or_default()
                }
            };
            StepView {
                name: row.name(),
                subject: text::line(&subject),
                place: place.map(|place| place.to_string()).unwrap_or_default(),
                verdict: step.map(|step| VerdictView::of(step.verdict)),
                left: row.left.map(|left| left.to_string()).unwrap_or_default(),
                was_known: step.is_some_and(|step| step.left.is_none()),
            }
        });
        Some(Self {
            name: "How the range narrowed",
            rows: rows.collect(),
            words: narrowing.in_words(),
            is_cut: narrowing.is_cut(),
            wide: narrowing.draw(WIDE),
            narrow: narrowing.draw(NARROW),
        })
    }
}
