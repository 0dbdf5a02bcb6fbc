//! `store show`: shows a hunt, or the runs of a commit, a run key or an attempt.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use anyhow::anyhow;

use crate::cli::args::StoreShow;
use crate::cli::ended::report_failed;
use crate::cli::{Failed, exit};
use crate::evaluation::{CommitId, Ended, MachineState, MachineStates, RunRecord};
use crate::git::{History, Repository};
use crate::report::{Report, terminal_answer};
use crate::store::journal::{Event, RunDone};
use crate::store::{BuildRecord, HuntDir, Store, StoreError, StoredRun};
use crate::ui::{Ui, text};

use super::ls::local;

/// Shortest prefix of a run key; shorter ones are ambiguous.
const SHORTEST_KEY: usize = 6;

/// `store show`.
pub(crate) fn run(
    args: &StoreShow,
    repository: &Repository,
    store: &Store,
    ui: Ui,
) -> Result<u8, Failed> {
    let what = args.what.as_str();
    let out = match store.hunt(Some(what)) {
        Ok(hunt) => of_hunt(&hunt)?,
        Err(StoreError::UnknownHunt { .. } | StoreError::NoHunts) => {
            let found = found(what, repository, store)?;
            let readings = Readings::of(store).map_err(Failed::store)?;
            let builds = found.builds.iter().map(|build| tell_build(store, build));
            let told = builds.chain(found.runs.iter().map(|run| readings.tell(run)));
            told.chain(store.take_damaged().iter().map(|one| format!("left out: {one}\n")))
                .collect()
        }
        Err(error) => return Err(Failed::store(error)),
    };
    ui.out(&out).map_err(Failed::stdout)?;
    Ok(exit::DONE)
}

fn of_hunt(hunt: &HuntDir) -> Result<String, Failed> {
    let report = Report::of(hunt).map_err(report_failed)?;
    let mut out = format!("hunt {}, began {}\n", hunt.id(), local(&report.began));
    let end = |name: &str, end: &crate::report::Endpoint| {
        format!("{name:<5} {}\n", text::commit(&end.commit, &end.subject))
    };
    out.push_str(&end("good", &report.good));
    out.push_str(&end("bad", &report.bad));
    out.push_str(&terminal_answer(&report));
    let _ = writeln!(
        out,
        "{} in {}, {} in {}; folder: {}",
        text::plural(report.totals.runs, "run"),
        text::seconds(report.totals.run_s),
        text::plural(report.totals.builds, "build"),
        text::seconds(report.totals.build_s),
        text::line(&hunt.path().to_string_lossy())
    );
    Ok(out)
}

/// The stored records that match the argument.
#[derive(Default)]
struct CommitRecords {
    runs: Vec<StoredRun>,
    /// Failed builds only; the runs show the successful ones.
    builds: Vec<BuildRecord>,
}

/// The runs of an attempt or a run key's prefix, or the runs and failed builds of a commit.
fn found(what: &str, repository: &Repository, store: &Store) -> Result<CommitRecords, Failed> {
    let is_key = what.len() >= SHORTEST_KEY && what.chars().all(|c| c.is_ascii_hexdigit());
    let by_name = |run: &RunRecord| {
        run.attempt == what || (is_key && run.run_key.starts_with(&what.to_ascii_lowercase()))
    };
    let runs = store.runs_where(by_name).map_err(Failed::store)?;
    if !runs.is_empty() {
        return Ok(CommitRecords { runs, ..CommitRecords::default() });
    }
    let git = |error: crate::git::GitError| {
        let hint = error.hint();
        Failed::world(error.into(), hint)
    };
    let history = History::open(repository).map_err(git)?;
    let Ok(commit) = history.resolve(what) else {
        return Err(Failed::usage(
            anyhow!("`{what}` is no known hunt, run or commit"),
            Some("`bisect-ppl store ls` lists the hunts".to_owned()),
        ));
    };
    // Commits with the same tree share runs: a hunt may use another commit's run for this one.
    let read: Vec<String> = shared(store, &commit).map_err(Failed::store)?;
    let of_commit = |run: &RunRecord| {
        run.phase.exclusion_reason().is_none()
            && (run.commit == commit || read.contains(&run.attempt))
    };
    let runs = store.runs_where(of_commit).map_err(Failed::store)?;
    let mut builds = store.builds_of(&commit).map_err(Failed::store)?;
    // A build with part of a change, or for another purpose, does not count for the commit.
    builds.retain(|build| build.failure.is_some() && build.phase.exclusion_reason().is_none());
    if runs.is_empty() && builds.is_empty() {
        return Err(Failed::usage(
            anyhow!("nothing was measured at {}", commit.short()),
            Some(format!("`bisect-ppl measure {}` does", commit.short())),
        ));
    }
    Ok(CommitRecords { runs, builds })
}

/// A failed build in three lines, like a run.
fn tell_build(store: &Store, build: &BuildRecord) -> String {
    let failure = build.failure.as_ref();
    format!(
        "{}  does not build: {}\n  {}, {}, for {}\n  log {}\n",
        build.commit.short(),
        failure.map_or_else(String::new, |failure| text::line(&failure.detail)),
        local(&build.finished),
        build.phase,
        text::seconds(build.wall_s),
        text::line(&store.build_log(build).to_string_lossy())
    )
}

/// Attempts that hunts used for a commit, as their journals tell.
fn shared(store: &Store, commit: &CommitId) -> Result<Vec<String>, StoreError> {
    let mut attempts = Vec::new();
    for hunt in store.hunts()? {
        attempts.extend(hunt.entries()?.iter().filter_map(|entry| match &entry.event {
            Event::Run(run) if run.commit == *commit && run.phase.exclusion_reason().is_none() => {
                Some(run.attempt.clone())
            }
            _ => None,
        }));
    }
    Ok(attempts)
}

/// The journal's entry of each run by attempt, with the processor of its hunt.
struct Readings(BTreeMap<String, (RunDone, String)>);

impl Readings {
    fn of(store: &Store) -> Result<Self, StoreError> {
        let mut readings = BTreeMap::new();
        for hunt in store.hunts()? {
            let mut machine = String::new();
            for entry in &hunt.entries()? {
                match &entry.event {
                    Event::Begun(begun) => machine.clone_from(&begun.machine.cpu),
                    Event::Run(run) => {
                        readings.insert(run.attempt.clone(), (run.clone(), machine.clone()));
                    }
                    _ => {}
                }
            }
        }
        Ok(Self(readings))
    }

    /// A run as text: its values, its origin, remarks if it does not count, its key and its log.
    fn tell(&self, run: &StoredRun) -> String {
        let record = &run.record;
        let read = self.0.get(&record.attempt);
        let said = match read {
            Some((read, _)) if read.failure.is_some() => {
                read.failure.as_ref().map(|failure| text::line(&failure.detail))
            }
            Some((read, _)) => {
                let values = read.values.iter();
                let values = values.map(|(metric, v)| format!("{metric} {}", text::value(v)));
                Some(values.collect::<Vec<_>>().join("  "))
            }
            None if record.ended == Ended::Exited(0) => None,
            None => Some(record.ended.to_string()),
        };
        let mut out = format!(
            "{}  {}  {}\n",
            record.commit.short(),
            record.measure,
            said.unwrap_or_else(|| "no hunt read its values; the log has its output".to_owned())
        );
        let of = record.hunt.as_ref().map_or_else(String::new, |hunt| format!(" of hunt {hunt}"));
        let on = read.map(|(_, machine)| format!(" on {}", text::line(machine)));
        let _ = writeln!(
            out,
            "  {}, {}{of}{}, for {}",
            local(&record.started),
            record.phase,
            on.unwrap_or_default(),
            text::seconds(record.used.wall_s)
        );
        if run.control.as_ref().is_some_and(|control| !control.worked) {
            out.push_str("  does not count: the control failed too\n");
        }
        if let Some(why) = record.exclusion_reason() {
            let _ = writeln!(out, "  does not count: {why}");
        }
        if let Some(around) = record.machine.as_ref().filter(|_| record.alone) {
            let _ = writeln!(out, "  exclusive run; {}", machine_words(around));
        }
        let _ = writeln!(out, "  run key {}", record.run_key);
        let _ = writeln!(out, "  log {}", text::line(&run.log.to_string_lossy()));
        out
    }
}

/// The state of the machine before and after a run, without unknown figures.
fn machine_words(around: &MachineStates) -> String {
    let both = |what: &str, figure: fn(&MachineState) -> Option<f64>, unit: &str| {
        let [before, after] = [&around.before, &around.after].map(figure);
        let shown = |x: Option<f64>| x.map_or_else(|| "?".to_owned(), |x| format!("{x:.1}"));
        let told = before.is_some() || after.is_some();
        told.then(|| format!("{what} {} → {}{unit}", shown(before), shown(after)))
    };
    let figures = [
        both("load", |state| state.load, ""),
        both("cores", |state| state.cpu_mhz, " MHz"),
        both("hottest sensor", |state| state.hottest_c, " °C"),
        both("GPU", |state| state.gpus.first()?.sm_mhz, " MHz"),
        both("GPU", |state| state.gpus.first()?.temperature_c, " °C"),
    ];
    let figures: Vec<String> = figures.into_iter().flatten().collect();
    if figures.is_empty() { "no state of the machine".to_owned() } else { figures.join(", ") }
}
