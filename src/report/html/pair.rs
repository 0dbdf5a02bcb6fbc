//! A first bad commit and its worst parent side by side: their values, and the recorded
//! differences besides the source.

use std::collections::{BTreeMap, BTreeSet};

use crate::evaluation::{CommitId, DifferenceIn, Metric, Phase, Value};
use crate::report::commands::comparable;
use crate::report::differences;
use crate::report::links::Logs;
use crate::report::model::{FirstBad, MeasuredCommit, Report};
use crate::report::tables::{Cell, Output, Table, figure};
use crate::report::words;
use crate::ui::text;

use super::cells::TableView;

/// The comparison of the two commits.
pub(super) struct Pair {
    pub(super) values: TableView,
    /// Differences: name, value at the parent, value at the commit.
    pub(super) differences: Vec<(String, String, String)>,
    /// Names of the things that are the same.
    pub(super) same: Vec<String>,
    /// Differences in the build configuration, and in named constants of the source.
    pub(super) besides: TableView,
    /// Whether nothing of what was recorded differs.
    pub(super) is_same: bool,
}

impl Pair {
    pub(super) fn of(report: &Report, first: &FirstBad, logs: &Logs) -> Self {
        let at = |id: &CommitId| report.commits.iter().find(|commit| commit.commit == *id);
        let both = at(&first.parent).zip(at(&first.commit));
        let mut pair = Self {
            values: TableView::new(&values(report, both), logs),
            differences: Vec::new(),
            same: Vec::new(),
            besides: TableView::new(&differences::table(first), logs),
            is_same: false,
        };
        if let Some((parent, here)) = both {
            pair.compare_commands(report, parent, here);
            pair.compare_facts(parent, here);
        }
        let has_clue = first.differences.as_ref().is_some_and(|all| all.count() > 0);
        pair.is_same = pair.differences.is_empty() && !has_clue;
        // A hunt has one set of inputs, and runs each probe once. In a cluster it may have several
        // machines.
        if report.hosts.len() < 2 {
            pair.same.push("the machine".to_owned());
        }
        if !report.inputs.is_empty() {
            pair.same.push("the inputs, by content".to_owned());
        }
        let mut found = first.differences.iter().flat_map(|all| &all.found);
        let has_probe_difference = found.any(|one| one.kind == DifferenceIn::Probe);
        if !report.environment.is_empty() && !has_probe_difference {
            pair.same.push("what the probes of the environment said".to_owned());
        }
        let known = differences::same(first).filter(|kind| *kind != DifferenceIn::Probe);
        pair.same.extend(known.map(|kind| kind.plural().to_owned()));
        pair
    }

    fn compare_commands(
        &mut self,
        report: &Report,
        parent: &MeasuredCommit,
        here: &MeasuredCommit,
    ) {
        let builds = |commit: &MeasuredCommit| {
            let last = commit.builds.iter().rev().find(|build| !build.commands.is_empty());
            last.map(|build| {
                build.commands.iter().map(|argv| comparable(argv, report, commit)).collect()
            })
        };
        self.compare("the build commands", builds(parent), builds(here));
        let runs = |commit: &MeasuredCommit| -> BTreeMap<String, Vec<Vec<String>>> {
            let all = commit.runs.iter();
            all.map(|run| (run.measure.clone(), vec![comparable(&run.argv, report, commit)]))
                .collect()
        };
        let (before, after) = (runs(parent), runs(here));
        for measure in before.keys().chain(after.keys()).collect::<BTreeSet<_>>() {
            let name = format!("the command of {measure}");
            self.compare(&name, before.get(measure).cloned(), after.get(measure).cloned());
        }
    }

    fn compare(
        &mut self,
        name: &str,
        before: Option<Vec<Vec<String>>>,
        after: Option<Vec<Vec<String>>>,
    ) {
        let shown = |commands: Option<Vec<Vec<String>>>| match commands {
            Some(commands) => {
                commands.iter().map(|argv| text::typed(argv)).collect::<Vec<_>>().join("\n")
            }
            None => "not recorded".to_owned(),
        };
        match (before, after) {
            (None, None) => {}
            (before, after) if before == after => self.same.push(name.to_owned()),
            (before, after) => {
                let [before, after] = [before, after].map(|it| text::lines(&shown(it)));
                self.differences.push((name.to_owned(), before, after));
            }
        }
    }

    fn compare_facts(&mut self, parent: &MeasuredCommit, here: &MeasuredCommit) {
        let facts = |commit: &MeasuredCommit| -> BTreeMap<Metric, BTreeSet<String>> {
            let mut facts = BTreeMap::<_, BTreeSet<_>>::new();
            for sample in &commit.samples {
                if let Some(Value::Fact(fact)) = &sample.value {
                    facts.entry(sample.metric.clone()).or_default().insert(fact.clone());
                }
            }
            facts
        };
        let (before, after) = (facts(parent), facts(here));
        for metric in before.keys().chain(after.keys()).collect::<BTreeSet<_>>() {
            let (before, after) = (before.get(metric), after.get(metric));
            if before == after {
                self.same.push(format!("the fact {metric}"));
                continue;
            }
            let said = |facts: Option<&BTreeSet<String>>| match facts {
                Some(facts) => {
                    facts.iter().map(|fact| text::line(fact)).collect::<Vec<_>>().join(", ")
                }
                None => "not said".to_owned(),
            };
            self.differences.push((format!("the fact {metric}"), said(before), said(after)));
        }
    }
}

/// The values of each metric in the confirmation's runs.
fn values(report: &Report, both: Option<(&MeasuredCommit, &MeasuredCommit)>) -> Table {
    let Some((parent, here)) = both else { return Table::default() };
    let fresh = |commit: &MeasuredCommit| -> BTreeMap<Metric, Vec<Output>> {
        let mut outputs = BTreeMap::<_, Vec<_>>::new();
        for sample in commit.samples.iter().filter(|sample| sample.phase == Phase::Confirm) {
            outputs.entry(sample.metric.clone()).or_default().push(figure(sample));
        }
        outputs
    };
    let (before, after) = (fresh(parent), fresh(here));
    let metrics: BTreeSet<_> = before.keys().chain(after.keys()).collect();
    let of = |outputs: &BTreeMap<_, Vec<_>>, metric| {
        Cell::Outputs(outputs.get(metric).cloned().unwrap_or_default())
    };
    Table {
        columns: [
            "measured afresh".to_owned(),
            format!("parent {}", parent.commit.short()),
            format!("{} {}", words::sought(report), here.commit.short()),
        ]
        .to_vec(),
        rows: metrics
            .into_iter()
            .map(|metric| vec![metric.to_string().into(), of(&before, metric), of(&after, metric)])
            .collect(),
    }
}
