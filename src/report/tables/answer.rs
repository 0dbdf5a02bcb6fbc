//! Tables of the answer.

use crate::evaluation::{Basis, FileRole, OpenStep, TouchedFile};
use crate::report::certainty::{self, StepWithInterval, noise_of};
use crate::report::model::{EffectLine, FirstBad, PosteriorLine, Report};
use crate::report::sought::Sought;
use crate::report::{candidates, steps, words};
use crate::ui::text;

use super::{Cell, Table};

/// Probability below which a commit is listed only in report.json.
const UNLIKELY: f64 = 0.001;

/// Maximum rows of likely commits.
const MOST_LIKELY: usize = 20;

/// The step of each target at a first bad commit. Empty for a single step between values that
/// repeat bit for bit, because the answer contains it.
pub(in crate::report) fn effects(report: &Report, first: &FirstBad) -> Table {
    if first.effects.len() == 1 && first.basis == Basis::BitExact {
        return Table::default();
    }
    let noisy = first.effects.iter().filter(|effect| noise_of(report, effect).is_some()).count();
    let is_mixed = noisy > 0 && noisy < first.effects.len();
    let rows = first.effects.iter().map(|effect| {
        let (step, interval, kind) = match StepWithInterval::of(report, effect) {
            Some(StepWithInterval { step, interval }) => (step, interval, " (95 %)"),
            None => (plain_step(report, effect), over_pairs(effect), " (all pairs of runs)"),
        };
        let kind = if is_mixed && !interval.is_empty() { kind } else { "" };
        let [parent, commit] = text::pair(&effect.parent, &effect.commit);
        [
            effect.metric.to_string(),
            parent,
            commit,
            step,
            format!("{interval}{kind}"),
            steps::limit(report, &effect.metric, &effect.limit),
        ]
        .map(Cell::Text)
    });
    let interval = match noisy {
        0 => "over all pairs of runs",
        _ if is_mixed => "between",
        _ => "95 % interval",
    };
    let sought = words::sought(report);
    Table::new(["metric", "parent", sought, "own step", interval, "tolerance"], rows)
}

fn plain_step(report: &Report, effect: &EffectLine) -> String {
    let changed = match noise_of(report, effect) {
        Some(_) => Sought::of(report).rate_change(),
        None => "changed",
    };
    effect.own_step.as_ref().map_or_else(|| changed.to_owned(), text::value)
}

fn over_pairs(effect: &EffectLine) -> String {
    let between = |[low, high]: &[_; 2]| format!("{} to {}", text::value(low), text::value(high));
    effect.interval.as_ref().map(between).unwrap_or_default()
}

/// Files that a first bad commit touches.
pub(in crate::report) fn files(files: &[TouchedFile]) -> Table {
    let has_roles = files.iter().any(|file| file.role != FileRole::Unknown);
    let rows = files.iter().map(|file| {
        let lines = Cell::Lines(file.added, file.removed);
        let role = has_roles.then(|| file.role.to_string().into());
        [file.path.as_str().into(), lines].into_iter().chain(role).collect()
    });
    let columns = ["file", "lines"].into_iter().chain(has_roles.then_some("role"));
    Table { columns: columns.map(str::to_owned).collect(), rows: rows.collect() }
}

/// What was measured if no commit is named: the confirmed steps, then the improvements.
pub(in crate::report) fn open_steps(report: &Report) -> Table {
    let line = |step: &OpenStep, known: &str| {
        let change = candidates::change(report, step);
        vec![
            Cell::Name(step.commit.clone()),
            report.subject(&step.commit).into(),
            change.into(),
            known.into(),
        ]
    };
    let steps = candidates::steps(report).map(|step| line(step, "confirmed"));
    let later = "better here, perhaps since an earlier commit";
    let improvements = candidates::improvements(report).map(|step| line(step, later));
    let columns = ["commit", "subject", "change", "what is known"];
    Table {
        columns: columns.map(str::to_owned).to_vec(),
        rows: steps.chain(improvements).collect(),
    }
}

/// Commits that may be the first bad one; empty if the hunt names one. If many were not measured,
/// those are left out.
pub(in crate::report) fn candidates(report: &Report) -> Table {
    let is_open = report.culprit.is_none();
    let open = if is_open { candidates::listed(report) } else { Vec::new() };
    let is_weighed = open.iter().any(|commit| report.first(commit).is_some());
    let rows = open.iter().map(|&commit| {
        let known = report.commits.iter().find(|measured| measured.commit == *commit);
        let likely = certainty::likely(report, commit).unwrap_or_default();
        let mut row = vec![
            Cell::Name(commit.clone()),
            report.subject(commit).into(),
            known.map_or("not measured", |known| &known.reason).into(),
        ];
        row.splice(1..1, is_weighed.then(|| likely.into()));
        row
    });
    let mut columns = vec!["commit", "subject", "what is known"];
    columns.splice(1..1, is_weighed.then_some("probability"));
    Table { columns: columns.into_iter().map(str::to_owned).collect(), rows: rows.collect() }
}

/// The likely commits of a posterior, the most likely first.
pub(in crate::report) fn likely(report: &Report, one: &PosteriorLine) -> Table {
    let mut likeliest: Vec<_> = one.commits.iter().filter(|known| known.first > UNLIKELY).collect();
    likeliest.sort_by(|a, b| b.first.total_cmp(&a.first));
    let rows = likeliest.into_iter().take(MOST_LIKELY).map(|known| {
        let seen = report.commits.iter().find(|measured| measured.commit == known.commit);
        let subject = seen.and_then(|seen| seen.subject.clone()).unwrap_or_default();
        [
            Cell::Commit(known.commit.clone(), subject),
            certainty::chance(known.first).into(),
            certainty::chance(known.bad).into(),
            known.samples.to_string().into(),
        ]
    });
    let samples = if one.noise.paired { "pairs of runs" } else { "runs" };
    let sought = format!("the {}", Sought::of(report).one());
    Table::new(["commit", sought.as_str(), "bad", samples], rows)
}

/// Ranges that add up to the total change, if it comes from many small steps.
pub(in crate::report) fn contributions(report: &Report) -> Table {
    let rows = report.contributions.iter().map(|rise| {
        [
            format!("{}..{}", rise.from.short(), rise.to.short()),
            rise.commits.to_string(),
            rise.metric.to_string(),
            steps::moved(report, &rise.rise),
        ]
        .map(Cell::Text)
    });
    Table::new(["range", "commits", "metric", "rise"], rows)
}
