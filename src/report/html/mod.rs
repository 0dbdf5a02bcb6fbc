//! `report.html`: one self-contained file without scripts, for a browser, a phone, or paper. The
//! template escapes all text. This module only lays the page out; `report` has the contents.

mod answer;
mod cells;
mod change;
mod embedded;
mod excerpt;
mod facts;
mod live;
mod pair;
mod plots;
mod quoted;
mod records;

use std::fmt::Write as _;

use askama::Template;

use crate::evaluation::{Outcome, TextPair};
use crate::ui::text;

use self::answer::Answer;
use self::cells::TableView;
use self::change::CandidateView;
use self::embedded::Embedded;
use self::facts::FactView;
pub(crate) use self::live::{LivePage, Now};
use self::pair::Pair;
use self::plots::{Belief, Legend, Picture, Plot, Steps};
use self::quoted::Quoted;
use self::records::Records;
use super::links::Logs;
use super::model::{MatrixLine, Report};
use super::next_steps::words_and_lines;
use super::plot::{KEYS, hex};
use super::range::Range;
use super::{candidates, certainty, generated, inquiry, matrix, steps, tables, tensors, words};

/// Where the part about this moment stands in the page of a running hunt.
const LIVE: &str = "<!-- now -->";

/// Seconds after which a browser loads the page of a running hunt again.
const REFRESH: u32 = 5;

/// The whole page, with the logs that fit into it; `logs` makes the links to the other files.
pub(crate) fn html(report: &Report, logs: &Logs) -> String {
    let (embedded, logs) = Embedded::of(report, logs);
    Page::of(report, &logs, embedded).render().expect("a string takes everything")
}

/// A metric with the table of its cells.
struct Grid {
    metric: String,
    table: TableView,
}

impl Grid {
    fn of(report: &Report, line: &MatrixLine, logs: &Logs) -> Self {
        let table = TableView::new(&matrix::grid(report, line), logs);
        Self { metric: line.metric.to_string(), table }
    }
}

#[derive(Template)]
#[template(path = "report.html", whitespace = "minimize")]
struct Page {
    /// CSS for the colours of plots.
    colours: String,
    hunt: String,
    tool: String,
    began: String,
    until: String,
    is_interrupted: bool,
    /// Whether the page is written again while the hunt runs.
    is_live: bool,
    answer: Answer,
    /// First bad commits besides the main one.
    others: Vec<Answer>,
    /// What failed builds and runs printed.
    quoted: Vec<Quoted>,
    steps_title: String,
    /// The confirmed steps and the improvements, if no commit is named.
    open_steps: TableView,
    candidates_title: &'static str,
    candidates_caution: Option<&'static str>,
    candidates: TableView,
    /// How many candidates the table leaves out.
    unlisted: Option<String>,
    /// Which candidates print a value elsewhere.
    elsewhere: Option<String>,
    candidate_changes: Vec<CandidateView>,
    contributions: TableView,
    /// Tables about the inside of the commit, with their titles.
    inquiry: Vec<(String, TableView)>,
    /// The texts that parent and commit generate.
    texts: Vec<TextView>,
    /// The heading of their table in `inquiry`.
    texts_title: &'static str,
    /// How the difference of the tensors grows.
    growth: Vec<Picture>,
    /// The heading of its table in `inquiry`.
    growth_title: &'static str,
    targets: Vec<Plot>,
    targets_legend: Legend,
    further: Vec<Plot>,
    /// Metrics without a plot: nobody measured them, or there are too many.
    unplotted: Vec<String>,
    /// `first bad commit` or `first fixed commit`.
    sought: &'static str,
    beliefs: Vec<Belief>,
    beliefs_legend: Legend,
    steps: Option<Steps>,
    pair: Option<Pair>,
    accounts: Vec<String>,
    /// A sentence for each metric of a matrix.
    cells: Vec<String>,
    grids: Vec<Grid>,
    guards: TableView,
    changes: TableView,
    endpoints: TableView,
    noise: TableView,
    repeats: TableView,
    settled: Option<String>,
    steadiness: Option<&'static str>,
    measured: TableView,
    apart: TableView,
    skipped: TableView,
    notes: Vec<String>,
    next: Vec<(String, String)>,
    machine: Vec<FactView>,
    probes: Vec<(String, String)>,
    inputs: TableView,
    config: String,
    records: Records,
    embedded: Embedded,
    folder: Option<String>,
    missing: Option<String>,
    totals: String,
}

/// What one prompt gives at parent and commit.
struct TextView {
    title: String,
    parent: String,
    commit: String,
}

impl TextView {
    fn of(pair: &TextPair) -> Self {
        Self {
            title: generated::title(pair),
            parent: text::lines(&pair.parent.text),
            commit: text::lines(&pair.commit.text),
        }
    }
}

/// Most plots of a page; the tables have the other metrics.
const MOST_PLOTS: usize = 12;

impl Page {
    fn of(report: &Report, logs: &Logs, embedded: Embedded) -> Self {
        let view = |table: &tables::Table| TableView::new(table, logs);
        let range = Range::of(report);
        let (mut plotted, mut unplotted) = plots::of(report, &range);
        unplotted.extend(plotted.drain(MOST_PLOTS.min(plotted.len())..).map(|plot| plot.name));
        let (targets, further): (Vec<_>, _) = plotted.into_iter().partition(|plot| plot.decides);
        let beliefs = Belief::all(report, &range, logs);
        let listed = report.culprit.is_some() || report.candidates.is_empty();
        let others = words::other_culprits(report).map(|first| Answer::other(report, first, logs));
        let line = |words: &String| text::line(words);
        Self {
            colours: colours(),
            hunt: text::line(&report.hunt),
            tool: text::line(&report.tool),
            began: moment(&report.began),
            until: moment(&report.until),
            is_interrupted: report.outcome == Outcome::Interrupted,
            is_live: false,
            answer: Answer::main(report, logs),
            others: others.collect(),
            quoted: report.failed.iter().map(|failed| Quoted::of(failed, logs)).collect(),
            steps_title: candidates::steps_title(report),
            open_steps: view(&tables::open_steps(report)),
            candidates_title: words::candidates_title(report),
            candidates_caution: words::candidates_caution(report).filter(|_| !listed),
            candidates: view(&tables::candidates(report)),
            unlisted: candidates::unlisted(report).filter(|_| !listed),
            elsewhere: candidates::printed_elsewhere(report),
            candidate_changes: report
                .candidate_changes
                .iter()
                .map(|candidate| CandidateView::of(candidate, logs))
                .collect(),
            contributions: view(&tables::contributions(report)),
            growth: plots::growth(report),
            growth_title: tensors::GROWTH,
            inquiry: inquiry::tables(report)
                .into_iter()
                .map(|(title, table)| (title, view(&table)))
                .filter(|(_, table)| !table.is_empty())
                .collect(),
            texts_title: generated::TEXTS,
            texts: report.inquiry.texts.iter().map(TextView::of).collect(),
            targets_legend: Legend::of_plots(&targets),
            targets,
            further,
            unplotted,
            sought: words::sought(report),
            beliefs_legend: Legend::of_beliefs(&beliefs),
            beliefs,
            steps: Steps::of(report, &range),
            pair: report.culprit.as_ref().map(|first| Pair::of(report, first, logs)),
            accounts: report.accounts.iter().map(|one| steps::account(report, one)).collect(),
            cells: matrix::in_words(report),
            grids: report.matrix.iter().map(|line| Grid::of(report, line, logs)).collect(),
            guards: view(&tables::guards(report)),
            changes: view(&tables::changes(report)),
            endpoints: view(&tables::endpoints(report)),
            noise: view(&tables::noise(report)),
            repeats: view(&tables::repeats(report)),
            settled: certainty::settled(report),
            steadiness: words::steadiness(report),
            measured: view(&tables::measured(report)),
            apart: view(&tables::apart(report)),
            skipped: view(&tables::skipped(report)),
            notes: report.notes.iter().map(line).collect(),
            next: report.next.iter().map(|step| words_and_lines(step)).collect(),
            machine: words::machine(report)
                .iter()
                .map(|(label, words)| FactView::new(label, words))
                .collect(),
            probes: report
                .environment
                .iter()
                .map(|(command, output)| (text::line(command), text::lines(output)))
                .collect(),
            inputs: view(&tables::inputs(report)),
            config: report.config_sha256.clone(),
            records: Records::of(report, logs),
            embedded,
            folder: (!report.is_unpacked).then(|| text::line(&report.folder.to_string_lossy())),
            missing: logs.missing_in_words(),
            totals: words::totals(report),
        }
    }
}

/// `2026-01-02 03:04:05 UTC`; a text that is not a time stays as it is.
fn moment(time: &str) -> String {
    let parsed = time.parse::<jiff::Timestamp>();
    parsed.map_or_else(|_| text::line(time), |at| at.strftime("%Y-%m-%d %H:%M:%S UTC").to_string())
}

/// CSS: the variables of the light scheme, and rules that colour plots by the scheme in use.
fn colours() -> String {
    let mut variables = String::new();
    let mut rules = String::new();
    for (colour, name) in KEYS {
        let hex = hex(colour);
        let _ = write!(variables, "--{name}:{hex};");
        for attribute in ["fill", "stroke"] {
            let _ = write!(rules, "svg [{attribute}=\"{hex}\"]{{{attribute}:var(--{name})}}");
        }
    }
    format!(":root{{{variables}}}{rules}")
}
