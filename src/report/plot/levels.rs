//! The data of a metric's plot: every sample of each commit, including failures.

use std::collections::BTreeSet;

use crate::evaluation::{CommitId, Direction, Metric, Resource, Value, Verdict};
use crate::report::model::{GuardLine, MeasuredCommit, Report, SampleLine};
use crate::report::range::Range;
use crate::report::tables::figure;
use crate::report::words;
use crate::ui::text;

/// Larger numbers are drawn in a row above the scale, because their differences could overflow.
const LARGEST: f64 = 1e150;

/// Maximum rows for samples without a number. Further kinds share the last row.
const MOST_ROWS: usize = 8;

/// Minimum number of samples for a median.
const CLOUD: usize = 4;

/// Maximum length of a row's name, in characters.
const NAME: usize = 44;

/// A metric over the commits.
#[derive(Debug)]
pub(in crate::report) struct Levels {
    /// The metric.
    pub(in crate::report) metric: Metric,
    /// The commits with samples, in order of history.
    pub(super) commits: Vec<Level>,
    /// Names of the rows for samples without a number, such as kinds of failure.
    pub(super) words: Vec<String>,
    /// `first bad commit` or `first fixed commit`.
    pub(super) sought: &'static str,
    /// The level at the good endpoint.
    pub(super) baseline: Option<f64>,
    /// The worst level that the guard allows.
    pub(super) limit: Option<f64>,
    /// The threshold between good and bad, if values do not repeat and there is no noise model.
    pub(super) threshold: Option<f64>,
    /// Whether the metric is a failure rate: a commit then has no level.
    pub(super) is_rate: bool,
    /// The level at the bad end, if there is a noise model, which judges by both levels.
    pub(super) bad: Option<f64>,
}

/// The samples of a commit.
#[derive(Debug)]
pub(super) struct Level {
    pub(super) commit: CommitId,
    pub(super) subject: String,
    /// The commit's place in the range, if known.
    pub(super) place: Option<usize>,
    pub(super) verdict: Verdict,
    pub(super) role: Role,
    pub(super) points: Vec<Sample>,
}

/// The role of a commit in the hunt's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    /// No role.
    None,
    /// A first bad commit.
    Found,
    /// A candidate for the first bad commit.
    Candidate,
}

impl Level {
    /// The median of the numbers, if there are at least [`CLOUD`] and they differ.
    pub(super) fn median(&self) -> Option<f64> {
        let mut numbers: Vec<f64> = self.points.iter().filter_map(Sample::number).collect();
        numbers.sort_by(f64::total_cmp);
        let middle = numbers.get(numbers.len() / 2)?;
        let other = numbers[(numbers.len() - 1) / 2];
        let is_cloud = numbers.len() >= CLOUD && numbers.first() != numbers.last();
        is_cloud.then_some(f64::midpoint(*middle, other))
    }
}

impl Sample {
    fn number(&self) -> Option<f64> {
        match self.point {
            Point::Number(number) => Some(number),
            Point::Word(_) => None,
        }
    }
}

/// One sample, or a failed build.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Sample {
    pub(super) point: Point,
    /// The value, or the failure, with the reason for the run: `ppl 7.21 (search)`.
    pub(super) words: String,
}

/// The vertical place of a sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Point {
    /// A number.
    Number(f64),
    /// A sample without a number: an index into [`Levels::words`].
    Word(usize),
}

/// The metrics to plot: first the measure of a failure that the hunt looks for, then the guarded
/// metrics, targets first.
pub(in crate::report) fn shown(report: &Report) -> Vec<Metric> {
    let hunted = report.target_failure.as_ref().and_then(|target| target.measure.as_deref());
    let hunted = hunted.map(Metric::of).into_iter();
    let guarded = report.guards.iter().map(|guard| guard.metric.clone());
    let mut metrics: Vec<_> = hunted.chain(guarded).collect();
    if metrics.is_empty() {
        let all = report.commits.iter().flat_map(|commit| &commit.samples).map(|s| &s.metric);
        let measured: BTreeSet<_> =
            all.filter(|metric| Resource::of(metric).is_none()).cloned().collect();
        metrics.extend(measured);
    }
    let mut seen = BTreeSet::new();
    metrics.retain(|metric| seen.insert(metric.clone()));
    metrics
}

impl Levels {
    /// The levels of a metric; `None` if no commit has a sample.
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
                    commit: commit.commit.clone(),
                    subject: commit.subject.clone().unwrap_or_default(),
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

    fn points(&mut self, commit: &MeasuredCommit) -> Vec<Sample> {
        let broken = commit.builds.iter().filter_map(|build| Some((build, build.failed.as_ref()?)));
        let mut points = Vec::new();
        for (build, failure) in broken {
            let kind = words::failure_kind(failure);
            let point = self.word(&kind);
            points.push(Sample { point, words: format!("{kind} ({})", build.phase) });
        }
        for sample in &commit.samples {
            // A failed run that printed nothing counts for the measure's main metric.
            let is_its = sample.metric == self.metric
                || sample.value.is_none() && sample.metric == Metric::of(&self.metric.measure);
            if is_its {
                let point = self.point(sample);
                let value = figure(sample).words;
                let words = format!("{} {value} ({})", sample.metric, sample.phase);
                points.push(Sample { point, words: text::line(&words) });
            }
        }
        points
    }

    fn point(&mut self, sample: &SampleLine) -> Point {
        // Values over a different amount of text are not comparable, so no number is drawn.
        if let (Some(chunks), Some(_)) = (sample.chunks, &sample.value) {
            return self.word(&format!("over {}", text::plural(chunks, "chunk")));
        }
        match (&sample.value, &sample.failed) {
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

    /// Every number to draw, including baseline and limits; empty if no sample is a number.
    pub(super) fn numbers(&self) -> Vec<f64> {
        let points = self.commits.iter().flat_map(|commit| &commit.points);
        let numbers: Vec<_> = points.filter_map(Sample::number).collect();
        if numbers.is_empty() {
            return numbers;
        }
        let lines = [self.baseline, self.limit, self.threshold, self.bad].into_iter().flatten();
        numbers.into_iter().chain(lines).collect()
    }

    /// Whether a median is drawn at any commit.
    pub(in crate::report) fn has_medians(&self) -> bool {
        !self.is_rate && self.commits.iter().any(|commit| commit.median().is_some())
    }

    /// Whether a commit with this verdict is drawn.
    pub(in crate::report) fn shows(&self, verdict: Verdict) -> bool {
        self.commits.iter().any(|commit| commit.verdict == verdict)
    }

    /// Whether the tolerance is drawn as a band.
    pub(in crate::report) fn has_band(&self) -> bool {
        self.baseline.is_some() && self.limit.is_some() && !self.numbers().is_empty()
    }

    /// Whether samples without a number are drawn.
    pub(in crate::report) fn has_rows(&self) -> bool {
        !self.words.is_empty()
    }

    /// Number of samples.
    pub(super) fn samples(&self) -> usize {
        self.commits.iter().map(|commit| commit.points.len()).sum()
    }
}

fn is_drawable(number: f64) -> bool {
    number.abs() <= LARGEST
}

/// The worst level that a guard allows.
fn limit(guard: &GuardLine) -> Option<f64> {
    let baseline = guard.baseline.as_ref()?.number()?;
    let reach = guard.limit.as_ref()?.number()?;
    match guard.form?.direction() {
        Direction::Up => Some(baseline + reach),
        Direction::Down => Some(baseline - reach),
        Direction::Any => None,
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
