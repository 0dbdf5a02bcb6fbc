//! Every build and every run, with command and output.

use crate::report::commands::comparable;
use crate::report::links::Logs;
use crate::report::model::{BuildLine, MeasuredCommit, Report};
use crate::report::places::Places;
use crate::report::tables::Output;
use crate::report::words;
use crate::ui::text;

use super::cells::OutputView;

/// A longer list is folded.
const MANY: usize = 60;

/// The list of builds and runs.
pub(super) struct Records {
    pub(super) rows: Vec<RecordView>,
    /// Each distinct command once; slots and commit ids do not make a difference.
    pub(super) commands: Vec<String>,
    pub(super) is_long: bool,
}

/// A build or a run.
pub(super) struct RecordView {
    pub(super) what: String,
    pub(super) commit: String,
    pub(super) phase: String,
    pub(super) took: String,
    pub(super) memory: String,
    /// Positions in [`Records::commands`], from 1.
    pub(super) commands: Vec<usize>,
    pub(super) output: OutputView,
    pub(super) failure: String,
}

/// The distinct commands so far.
#[derive(Default)]
struct Known {
    keys: Vec<Vec<String>>,
    shown: Vec<String>,
}

impl Records {
    pub(super) fn of(report: &Report, logs: &Logs) -> Self {
        let (mut known, places) = (Known::default(), Places::of(report));
        let rows: Vec<_> = report
            .commits
            .iter()
            .flat_map(|commit| rows(report, commit, logs, places, &mut known))
            .collect();
        Self { is_long: rows.len() > MANY, rows, commands: known.shown }
    }
}

fn rows(
    report: &Report,
    commit: &MeasuredCommit,
    logs: &Logs,
    places: Places,
    known: &mut Known,
) -> Vec<RecordView> {
    let output = |log: &str, stored| {
        let output = Output { words: "output".to_owned(), log: log.to_owned(), stored };
        OutputView::new(&output, logs)
    };
    let name = commit.commit.short().to_owned();
    let mut rows = Vec::new();
    for build in &commit.builds {
        let commands =
            build.commands.iter().map(|argv| known.number(argv, report, commit)).collect();
        rows.push(RecordView {
            what: what(build) + &places.build(build),
            commit: name.clone(),
            phase: build.phase.to_string(),
            took: text::seconds(build.wall_s),
            memory: String::new(),
            commands,
            output: output(&build.log, words::stored_build(build)),
            failure: text::line(build.failure.as_deref().unwrap_or_default()),
        });
    }
    for run in &commit.runs {
        let memory = run.peak_rss_mib.map(|mib| format!("{mib:.1}\u{a0}MiB"));
        let failed = commit.samples.iter().find(|sample| sample.log == run.log);
        let apart = run.apart.as_ref().map(|why| format!("does not count: {why}"));
        let failure = apart.or_else(|| failed?.failure.clone()).unwrap_or_default();
        rows.push(RecordView {
            what: format!("{}{}", run.measure, places.run(run)),
            commit: name.clone(),
            phase: run.phase.to_string(),
            took: text::seconds(run.wall_s),
            memory: memory.unwrap_or_default(),
            commands: vec![known.number(&run.argv, report, commit)],
            output: output(
                &run.log,
                words::taken_from(run.reused, run.stored_at.as_deref(), run.same_as.as_ref()),
            ),
            failure: text::line(&failure),
        });
    }
    rows
}

/// The label of a build or a prepare step.
pub(super) fn what(build: &BuildLine) -> String {
    match (&build.prepare, build.compiler_cache) {
        (Some(name), _) => format!("prepare {}", text::line(name)),
        (None, None) => "build".to_owned(),
        (None, Some(cache)) => format!("build, {}", words::compiler_cache(cache)),
    }
}

impl Known {
    fn number(&mut self, argv: &[String], report: &Report, commit: &MeasuredCommit) -> usize {
        let key = comparable(argv, report, commit);
        let at = self.keys.iter().position(|known| *known == key);
        1 + at.unwrap_or_else(|| {
            self.keys.push(key);
            self.shown.push(text::lines(&text::typed(argv)));
            self.keys.len() - 1
        })
    }
}
