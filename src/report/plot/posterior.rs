//! The plot of a posterior: the probability that each commit is the first bad one as bars, and
//! the probability that the commit is bad as a line.

use std::collections::HashMap;
use std::ops::RangeInclusive;

use crate::evaluation::{CommitId, Verdict};
use crate::report::certainty::chance;
use crate::report::model::PosteriorLine;
use crate::report::model::Report;
use crate::report::range::Range;
use crate::report::sought::Sought;
use crate::ui::text;

use super::Drawing;
use super::canvas::{Anchor, Canvas, Row, drawing, width_of};
use super::palette::{BAD, INK, MARKED, MUTED, RULE};

/// Height of the part with probabilities.
const PLOT: i32 = 200;

/// Height of the top margin, which names the marked commits.
const TOP: i32 = 24;

/// Height of the bottom margin: marks of measured commits, their numbers of runs, the places and
/// the axis title.
const BOTTOM: i32 = 82;

/// Smallest probability that gets a bar. A lower bar would be invisible.
const LEAST: f64 = 0.001;

/// A range with more commits may get a second plot of the part in question.
const LONG: usize = 100;

/// The second plot is made if the part in question is less than 1/`CLOSE` of the range.
const CLOSE: usize = 3;

/// The commits of a range with their probabilities.
pub(in crate::report) struct PosteriorPlot {
    /// Oldest first, including the older end if its place is known.
    commits: Vec<PlottedCommit>,
    sought: Sought,
    /// Whether a sample is a pair of runs, one of them at the older end.
    is_paired: bool,
}

#[derive(Clone)]
struct PlottedCommit {
    commit: CommitId,
    subject: String,
    /// The probability that it is the first bad one.
    first: f64,
    /// The probability that it is bad.
    bad: f64,
    samples: usize,
    verdict: Verdict,
    answer: Option<Answer>,
}

/// The role of a commit in the hunt's answer.
#[derive(Clone, Copy, PartialEq)]
enum Answer {
    Found,
    Candidate,
}

impl PosteriorPlot {
    /// The commits and probabilities of a search.
    pub(in crate::report) fn of(report: &Report, range: &Range, one: &PosteriorLine) -> Self {
        let search =
            report.searches.iter().find(|search| search.search_number == one.search_number);
        let sought = Sought::of(report);
        let ends = search.and_then(|search| {
            let [old, new] = sought.ends(search);
            Some((range.place(old)?, range.place(new)?))
        });
        let known = |commit: &CommitId| Known::of(report, commit);
        let commits = match ends {
            Some((old, new)) => placed(range, one, old..=new, sought, known),
            // An old hunt stored no range: the commits of the posterior are placed side by side.
            None => one
                .commits
                .iter()
                .map(|weighed| {
                    let (first, bad, samples) = (weighed.first, weighed.bad, weighed.samples);
                    known(&weighed.commit).plotted(&weighed.commit, first, bad, samples)
                })
                .collect(),
        };
        Self { commits, sought, is_paired: one.noise.paired }
    }

    /// The part of a long range with all commits in question; `None` if a second plot would not
    /// help.
    pub(in crate::report) fn closer(&self) -> Option<Self> {
        if self.commits.len() <= LONG {
            return None;
        }
        let is_open = |one: &PlottedCommit| one.first >= LEAST;
        let from = self.commits.iter().position(is_open)?;
        let to = self.commits.iter().rposition(is_open)?;
        // A margin on both sides shows the position of the part.
        let margin = ((to - from) / 4).max(6);
        let (from, to) = (from.saturating_sub(margin), (to + margin).min(self.commits.len() - 1));
        let is_worth = (to - from) * CLOSE < self.commits.len();
        is_worth.then(|| Self { commits: self.commits[from..=to].to_vec(), ..*self })
    }

    /// Whether a measured commit with this verdict is drawn.
    pub(in crate::report) fn shows(&self, verdict: Verdict) -> bool {
        self.commits.iter().any(|one| one.samples > 0 && one.verdict == verdict)
    }

    /// The probability that each commit is bad, in order of history.
    #[cfg(test)]
    pub(in crate::report) fn bad(&self) -> Vec<f64> {
        self.commits.iter().map(|one| one.bad).collect()
    }

    /// The drawing.
    pub(in crate::report) fn draw(&self, width: u32) -> Drawing {
        let wide = i32::try_from(width).unwrap_or(i32::MAX);
        let layout = Layout {
            left: width_of("100 %") + 10,
            // The last place is named under the last commit.
            right: wide - self.commits.last().map_or(6, |last| width_of(last.commit.short()) / 2),
            count: i64::try_from(self.commits.len()).unwrap_or(i64::MAX),
        };
        drawing(width, u32::try_from(TOP + PLOT + BOTTOM).unwrap_or(0), |canvas| {
            self.mark_answers(canvas, &layout);
            for percent in [0, 25, 50, 75, 100] {
                let y = height(f64::from(percent) / 100.0);
                canvas.line((layout.left, y), (layout.right, y), RULE);
                canvas.text(&format!("{percent} %"), (layout.left - 6, y), Anchor::End, MUTED);
            }
            self.bars(canvas, &layout);
            self.line(canvas, &layout);
            canvas.line((layout.left, height(0.0)), (layout.right, height(0.0)), MUTED);
            self.measured(canvas, &layout);
            self.places(canvas, &layout);
            self.tips(canvas, &layout);
        })
    }

    /// The drawing as text.
    pub(in crate::report) fn in_words(&self) -> String {
        let mut likely: Vec<_> = self.commits.iter().filter(|one| one.first >= LEAST).collect();
        likely.sort_by(|a, b| b.first.total_cmp(&a.first));
        let named = likely.iter().take(5).map(|one| {
            let answer = match one.answer {
                Some(Answer::Found) => format!(", the confirmed {}", self.sought.commit()),
                _ => String::new(),
            };
            format!("{}{answer}: {}", one.commit.short(), chance(one.first))
        });
        let named = named.collect::<Vec<_>>().join("; ");
        let measured = self.commits.iter().filter(|one| one.samples > 0).count();
        format!(
            "How likely each of {} is the {}, in order of history: {named}. {} of them were \
             measured.",
            text::plural(self.commits.len(), "commit"),
            self.sought.one(),
            measured
        )
    }

    fn mark_answers(&self, canvas: &Canvas<'_>, layout: &Layout) {
        let mut row = Row::default();
        let mut answers: Vec<_> =
            self.commits.iter().enumerate().filter(|(_, one)| one.answer.is_some()).collect();
        answers.sort_by(|(_, a), (_, b)| b.first.total_cmp(&a.first));
        for (at, one) in answers {
            let (from, to) = layout.bar(at);
            canvas.bar((from - 2, TOP - 4), (to + 2, height(0.0)), MARKED);
            let name = match one.answer {
                Some(Answer::Found) => self.sought.commit(),
                _ => "candidate",
            };
            let half = width_of(name) / 2;
            let leftmost = layout.left + half;
            let middle =
                i32::midpoint(from, to).clamp(leftmost, (layout.right - half).max(leftmost));
            if row.take(name, middle) {
                canvas.text(name, (middle, TOP / 2 - 2), Anchor::Middle, INK);
            }
        }
    }

    fn bars(&self, canvas: &Canvas<'_>, layout: &Layout) {
        for (at, one) in self.commits.iter().enumerate().filter(|(_, one)| one.first >= LEAST) {
            let (from, to) = layout.bar(at);
            let top = height(one.first).min(height(0.0) - 1);
            canvas.bar((from, top), (to, height(0.0)), BAD);
        }
    }

    /// Draws the probability as steps: horizontal over each commit, vertical between two. Commits
    /// of the same height share one line.
    fn line(&self, canvas: &Canvas<'_>, layout: &Layout) {
        let mut since = 0;
        for at in 1..=self.commits.len() {
            let y = height(self.commits[since].bad);
            let next = self.commits.get(at).map(|one| height(one.bad));
            if next == Some(y) {
                continue;
            }
            let (from, to) = (layout.edge(since), layout.edge(at));
            canvas.stroke((from, y), (to, y), INK);
            if let Some(next) = next {
                canvas.stroke((to, y), (to, next), INK);
            }
            since = at;
        }
    }

    /// Draws a mark under each measured commit, and its number of runs.
    fn measured(&self, canvas: &Canvas<'_>, layout: &Layout) {
        let mut row = Row::default();
        let size = if layout.slot() < 9 { 3 } else { 4 };
        let measured = || self.commits.iter().enumerate().filter(|(_, one)| one.samples > 0);
        // First the commits of the answer get numbers, then those with most runs.
        let mut order: Vec<_> = measured().collect();
        order.sort_by_key(|(_, one)| (one.answer.is_none(), usize::MAX - one.samples));
        for (at, one) in measured() {
            canvas.mark(one.verdict, (layout.middle(at), height(0.0) + 12), size, &self.tip(one));
        }
        for (at, one) in order {
            let label = one.samples.to_string();
            if row.take(&label, layout.middle(at)) {
                let at = (layout.middle(at), height(0.0) + 28);
                canvas.text(&label, at, Anchor::Middle, MUTED);
            }
        }
        let samples = if self.is_paired { "pairs" } else { "runs" };
        canvas.text(samples, (0, height(0.0) + 28), Anchor::Start, MUTED);
    }

    /// A tooltip over the bar of each commit with a bar.
    fn tips(&self, canvas: &Canvas<'_>, layout: &Layout) {
        for (at, one) in self.commits.iter().enumerate().filter(|(_, one)| one.first >= LEAST) {
            let (from, to) = layout.bar(at);
            canvas.tip((from, TOP), (to, height(0.0)), &self.tip(one));
        }
    }

    fn tip(&self, one: &PlottedCommit) -> String {
        let runs = match (one.samples, self.is_paired) {
            (1, true) => "1 pair of runs".to_owned(),
            (many, true) => format!("{many} pairs of runs"),
            (many, false) => text::plural(many, "run"),
        };
        format!(
            "{}\n{} the {}\n{} bad\n{runs}, {}",
            text::commit(&one.commit, &one.subject),
            chance(one.first),
            self.sought.commit(),
            chance(one.bad),
            one.verdict
        )
    }

    fn places(&self, canvas: &Canvas<'_>, layout: &Layout) {
        let y = height(0.0) + 38;
        canvas.line((layout.left, y), (layout.right, y), RULE);
        let mut row = Row::default();
        let answers = (0..self.commits.len()).filter(|at| self.commits[*at].answer.is_some());
        let last = self.commits.len().saturating_sub(1);
        let parts = (1..8).map(|part| part * last / 8);
        for at in answers.chain([0, last]).chain(parts) {
            let Some(one) = self.commits.get(at) else { continue };
            let label = one.commit.short();
            if row.take(label, layout.middle(at)) {
                let colour = if one.answer.is_some() { INK } else { MUTED };
                let middle = layout.middle(at);
                canvas.line((middle, y), (middle, y + 4), MUTED);
                canvas.text(label, (middle, y + 12), Anchor::Middle, colour);
            }
        }
        let [first, last] = self.sought.verdicts();
        let long = format!("commits in order of history, from {first} to {last}");
        let short = "commits in order of history";
        let axis = if width_of(&long) < layout.right - layout.left { &long } else { short };
        let middle = i32::midpoint(layout.left, layout.right);
        canvas.text(axis, (middle, y + 30), Anchor::Middle, MUTED);
    }
}

/// A commit's verdict and its role in the answer.
struct Known {
    subject: String,
    verdict: Verdict,
    answer: Option<Answer>,
}

impl Known {
    fn of(report: &Report, commit: &CommitId) -> Self {
        let measured = report.commits.iter().find(|measured| measured.commit == *commit);
        let answer = if report.culprits.iter().any(|first| first.commit == *commit) {
            Some(Answer::Found)
        } else if report.culprit.is_none() && report.candidates.contains(commit) {
            Some(Answer::Candidate)
        } else {
            None
        };
        let subject = measured.and_then(|measured| measured.subject.clone()).unwrap_or_default();
        let verdict = measured.map_or(Verdict::Unknown, |measured| measured.verdict);
        Self { subject, verdict, answer }
    }

    fn plotted(self, commit: &CommitId, first: f64, bad: f64, samples: usize) -> PlottedCommit {
        let Self { subject, verdict, answer } = self;
        PlottedCommit { commit: commit.clone(), subject, first, bad, samples, verdict, answer }
    }
}

/// Every commit from the older end to the newer one. The journal leaves out commits that are
/// certain; their probability follows from the commits that they contain.
fn placed(
    range: &Range,
    one: &PosteriorLine,
    places: RangeInclusive<usize>,
    sought: Sought,
    known: impl Fn(&CommitId) -> Known,
) -> Vec<PlottedCommit> {
    let listed: HashMap<usize, _> =
        one.commits.iter().filter_map(|w| Some((range.place(&w.commit)?, w))).collect();
    // Runs that belong to no listed commit were made at the older end.
    let of_commits: usize = one.commits.iter().map(|weighed| weighed.samples).sum();
    let at_old = if one.noise.paired { 0 } else { one.runs.saturating_sub(of_commits) };
    let mut newer: HashMap<usize, f64> = HashMap::new();
    let mut commits = Vec::new();
    for place in places.clone() {
        let weighed = listed.get(&place);
        let sure = match (weighed, range.parents(place)) {
            (Some(weighed), _) => sought.p_newer(weighed.bad),
            (None, [parent]) => newer.get(parent).copied().unwrap_or(0.0),
            (None, []) => 0.0,
            (None, _) => {
                let within = range.reached([place].into_iter());
                let mass = listed.iter().filter(|(at, _)| within[**at]).map(|(_, w)| w.first);
                mass.sum::<f64>().min(1.0)
            }
        };
        newer.insert(place, sure);
        let commit = range.commit(place);
        let known = known(commit);
        let samples = match weighed {
            Some(weighed) => weighed.samples,
            None if place == *places.start() => at_old,
            None => 0,
        };
        let first = weighed.map_or(0.0, |w| w.first);
        commits.push(known.plotted(commit, first, sought.p_newer(sure), samples));
    }
    commits
}

/// The positions of the plot's parts.
struct Layout {
    left: i32,
    right: i32,
    count: i64,
}

impl Layout {
    /// Left edge of a commit, in pixels.
    fn edge(&self, at: usize) -> i32 {
        let at = i64::try_from(at).unwrap_or(i64::MAX).min(self.count);
        let wide = i64::from(self.right - self.left);
        self.left + i32::try_from(wide * at / self.count.max(1)).unwrap_or(0)
    }

    fn middle(&self, at: usize) -> i32 {
        i32::midpoint(self.edge(at), self.edge(at + 1))
    }

    /// Approximate width of a commit, in pixels.
    fn slot(&self) -> i32 {
        self.edge(1) - self.left
    }

    /// Left and right edge of a commit's bar, at least two pixels apart.
    fn bar(&self, at: usize) -> (i32, i32) {
        let (from, to) = (self.edge(at), self.edge(at + 1));
        let gap = (to - from) / 8;
        let (from, to) = (from + gap, to - gap);
        if to - from >= 2 { (from, to) } else { (from, from + 2) }
    }
}

/// The y coordinate of a probability.
fn height(p: f64) -> i32 {
    #[expect(clippy::cast_possible_truncation, reason = "a plot has some hundred pixels")]
    let rise = (p.clamp(0.0, 1.0) * f64::from(PLOT)).round() as i32;
    TOP + PLOT - rise
}
