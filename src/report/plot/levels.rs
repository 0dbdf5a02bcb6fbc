//! What a metric was at each commit: every sample, numbers or not.

use std::collections::BTreeSet;

use crate::evaluation::{CommitId, Metric, Value, Verdict};
use crate::report::measured::is_resource;
use crate::report::model::{GuardLine, MeasuredCommit, Report, SampleLine};
use crate::report::range::Range;
use crate::report::words;
use crate::ui::text;

/// Beyond this a number is drawn beside the scale: differences of such would overflow.
const LARGEST: f64 = 1e150;

/// Most rows for what is no number; what does not fit shares the last.
const MOST_ROWS: usize = 8;

/// From so many samples on their level is not seen at a glance.
const CLOUD: usize = 4;

/// Longest name of a row.
const NAME: usize = 44;

/// A metric over the commits.
#[derive(Debug)]
pub(in crate::report) struct Levels {
    /// Which.
    pub(in crate::report) metric: Metric,
    /// The commits it was tried at, in order of history.
    pub(super) commits: Vec<Level>,
    /// What was said or happened in place of a number.
    pub(super) words: Vec<String>,
    /// What the commit is called that is sought.
    pub(super) sought: &'static str,
    /// The level at the good endpoint.
    pub(super) baseline: Option<f64>,
    /// How far it may go.
    pub(super) limit: Option<f64>,
    /// What parts good from bad where values do not repeat.
    pub(super) threshold: Option<f64>,
    /// Whether a commit is told by how many of its runs fail: then it has no level.
    pub(super) is_rate: bool,
    /// The level at the bad end, where both levels decide: in noise.
    pub(super) bad: Option<f64>,
}

/// A metric at a commit.
#[derive(Debug)]
pub(super) struct Level {
    /// Its place in the range, where that is known.
    pub(super) place: Option<usize>,
    pub(super) verdict: Verdict,
    pub(super) role: Role,
    pub(super) points: Vec<Point>,
}

/// What the hunt says of a commit besides its verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// Nothing.
    None,
    /// A first bad commit.
    Found,
    /// It may be one.
    Candidate,
}

impl Level {
    /// The median of its numbers, where they are enough to hide it.
    pub(super) fn median(&self) -> Option<f64> {
        let mut numbers: Vec<f64> = self.points.iter().filter_map(Point::number).collect();
        numbers.sort_by(f64::total_cmp);
        let middle = numbers.get(numbers.len() / 2)?;
        let other = numbers[(numbers.len() - 1) / 2];
        let is_cloud = numbers.len() >= CLOUD && numbers.first() != numbers.last();
        is_cloud.then_some(f64::midpoint(*middle, other))
    }
}

impl Point {
    fn number(&self) -> Option<f64> {
        match self {
            Self::Number(number) => Some(*number),
            Self::Word(_) => None,
        }
    }
}

/// One sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Point {
    /// A number.
    Number(f64),
    /// One of the words.
    Word(usize),
}

/// The metrics that are worth a plot: those that decided first.
pub(in crate::report) fn shown(report: &Report) -> Vec<Metric> {
    let hunted = report.target_failure.as_ref().and_then(|target| target.measure.as_deref());
    let hunted = hunted.map(Metric::of).into_iter();
    let guarded = report.guards.iter().map(|guard| guard.metric.clone());
    let mut metrics: Vec<_> = hunted.chain(guarded).collect();
    if metrics.is_empty() {
        let all = report.commits.iter().flat_map(|commit| &commit.samples).map(|s| &s.metric);
        let measured: BTreeSet<_> = all.filter(|metric| !is_resource(metric)).cloned().collect();
        metrics.extend(measured);
    }
    let mut seen = BTreeSet::new();
    metrics.retain(|metric| seen.insert(metric.clone()));
    metrics
}

impl Levels {
    /// What the report knows of a metric; `None` where nothing was tried.
    pub(in crate::report) fn of(report: &Report, range: &Range, metric: &Metric) -> Option<Self> {
        let guard = report.guards.iter().find(|guard| guard.metric == *metric);
        let number = |value: Option<&Value>| value.and_then(Value::number);
        let noise = guard.and_then(|guard| guard.noise.as_ref());
        let is_rate = noise.is_some_and(|noise| noise.kind.is_rate());
        let noise = noise.filter(|_| !is_rate);
        let mut levels = Self {
            metric: metric.clone(),
            commits: Vec::new(),
            words: Vec::new(),
            sought: words::sought(report),
            baseline: guard
                .and_then(|guard| number(guard.baseline.as_ref()))
                .filter(|x| is_drawable(*x)),
            limit: guard.and_then(limit).filter(|x| is_drawable(*x)),
            threshold: guard
                .and_then(|guard| number(guard.threshold.as_ref()))
                .filter(|x| is_drawable(*x) && noise.is_none()),
            is_rate,
            bad: noise.and_then(|noise| noise.bad.number()).filter(|x| is_drawable(*x)),
        };
        for commit in &report.commits {
            let points = levels.points(commit);
            if !points.is_empty() {
                levels.commits.push(Level {
                    place: range.place(&commit.commit),
                    verdict: commit.verdict,
                    role: role(report, &commit.commit),
                    points,
                });
            }
        }
        levels.commits.sort_by_key(|level| level.place);
        (!levels.commits.is_empty()).then_some(levels)
    }

    fn points(&mut self, commit: &MeasuredCommit) -> Vec<Point> {
        let broken = commit.builds.iter().filter_map(|build| build.failure.as_deref());
        let mut points: Vec<_> =
            broken.map(|failure| self.word(&words::failure_kind(failure))).collect();
        for sample in &commit.samples {
            // A run that failed before it said anything is known by its measure alone.
            let is_its = sample.metric == self.metric
                || sample.value.is_none() && sample.metric == Metric::of(&self.metric.measure);
            if is_its {
                points.push(self.point(sample));
            }
        }
        points
    }

    fn point(&mut self, sample: &SampleLine) -> Point {
        // What was read of another text stands on another scale: its verdict is shown alone.
        if let (Some(chunks), Some(_)) = (sample.chunks, &sample.value) {
            return self.word(&format!("over {}", text::plural(chunks, "chunk")));
        }
        match (&sample.value, &sample.failure) {
            (Some(Value::Number(number)), _) if is_drawable(*number) => Point::Number(*number),
            (Some(value), _) => self.word(&text::value(value)),
            (None, Some(failure)) => self.word(&words::failure_kind(failure)),
            (None, None) => self.word("nothing"),
        }
    }

    fn word(&mut self, word: &str) -> Point {
        let word = text::shorten(&text::line(word), NAME);
        let at = self.words.iter().position(|known| *known == word);
        Point::Word(at.unwrap_or_else(|| {
            if self.words.len() < MOST_ROWS - 1 {
                self.words.push(word);
            } else if self.words.len() < MOST_ROWS {
                self.words.push("something else".to_owned());
            }
            self.words.len() - 1
        }))
    }

    /// Every number there is, limits included.
    pub(super) fn numbers(&self) -> Vec<f64> {
        let points = self.commits.iter().flat_map(|commit| &commit.points);
        let numbers: Vec<_> = points.filter_map(Point::number).collect();
        if numbers.is_empty() {
            return numbers;
        }
        let lines = [self.baseline, self.limit, self.threshold, self.bad].into_iter().flatten();
        numbers.into_iter().chain(lines).collect()
    }

    /// Whether some commit has so many samples that their median is drawn.
    pub(in crate::report) fn has_medians(&self) -> bool {
        !self.is_rate && self.commits.iter().any(|commit| commit.median().is_some())
    }

    /// How many samples there are.
    pub(super) fn samples(&self) -> usize {
        self.commits.iter().map(|commit| commit.points.len()).sum()
    }
}

fn is_drawable(number: f64) -> bool {
    number.abs() <= LARGEST
}

/// The farthest value that a guard lets pass.
fn limit(guard: &GuardLine) -> Option<f64> {
    let baseline = guard.baseline.as_ref()?.number()?;
    let reach = guard.limit.as_ref()?.number()?;
    match guard.form.as_deref()? {
        "max_increase" | "max_increase_percent" | "max" => Some(baseline + reach),
        "max_decrease" | "max_decrease_percent" | "min" => Some(baseline - reach),
        _ => None,
    }
}

fn role(report: &Report, commit: &CommitId) -> Role {
    if report.culprits.iter().any(|first| first.commit == *commit) {
        Role::Found
    } else if report.candidates.contains(commit) {
        Role::Candidate
    } else {
        Role::None
    }
}
