//! The node-hours and GPU-hours that a hunt used: the time of its jobs in a cluster, or the time of
//! its runs on GPUs of this machine.

use std::collections::HashSet;
use std::path::Path;

use jiff::Timestamp;

use crate::config::Config;
use crate::slurm::{Attempt, JobTime};
use crate::store::HuntDir;
use crate::store::journal::{Entry, Event, last_begun};

/// What a hunt used.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Usage {
    /// Seconds of nodes; `None` if the hunt had no jobs.
    pub(crate) node_s: Option<f64>,
    /// Seconds of GPUs; `None` if the number of GPUs is unknown.
    pub(crate) gpu_s: Option<f64>,
    /// Whether it may be more: the end of a job is unknown.
    pub(crate) is_least: bool,
}

impl Usage {
    /// What a hunt used since this time; `None` means since its beginning. The runs of workers
    /// count when they end: the journal has them only when a worker has made all of its runs, and
    /// never if a limit stops it before. `gpus`: the GPUs of a slot, read from the hunt's
    /// configuration once they are needed.
    pub(crate) fn of(
        hunt: &HuntDir,
        entries: &[Entry],
        since: Option<Timestamp>,
        gpus: &mut Option<u32>,
    ) -> Self {
        let times = times(hunt, entries);
        if !times.is_empty() {
            return of_jobs(&times, since);
        }
        *gpus = gpus.or_else(|| gpus_of_slot(hunt, entries));
        let ahead = hunt.all_measured_ahead();
        let runs: Vec<(String, f64)> = ahead.into_iter().flat_map(|worker| worker.runs).collect();
        Self::of_runs(entries, *gpus, since, &runs)
    }

    /// Adds up the time of the runs, each once: the search may take a worker's run over later.
    /// `of_workers`: the runs of workers that are at work, and of earlier ones.
    fn of_runs(
        entries: &[Entry],
        gpus: Option<u32>,
        since: Option<Timestamp>,
        of_workers: &[(String, f64)],
    ) -> Self {
        let Some(gpus) = gpus else { return Self::default() };
        let mut counted = HashSet::new();
        let mut seconds = 0.0;
        for entry in entries {
            let runs: Vec<(&str, f64)> = match &entry.event {
                Event::Run(run) if !run.reused => vec![(run.attempt.as_str(), run.wall_s)],
                Event::Ahead(ahead) => {
                    ahead.runs.iter().map(|(name, wall_s)| (name.as_str(), *wall_s)).collect()
                }
                _ => continue,
            };
            let is_counted = is_since(entry, since);
            for (name, wall_s) in runs {
                if counted.insert(name) && is_counted {
                    seconds += wall_s;
                }
            }
        }
        for (name, wall_s) in of_workers {
            if counted.insert(name.as_str()) {
                seconds += wall_s;
            }
        }
        Self { gpu_s: Some(seconds * f64::from(gpus)), ..Self::default() }
    }

    /// `at least 1.2 node-hours and 4.8 GPU-hours`; `None` if nothing is known.
    pub(crate) fn in_words(self) -> Option<String> {
        let nodes = self.node_s.map(|seconds| format!("{} node-hours", hours(seconds)));
        let gpus = self.gpu_s.map(|seconds| format!("{} GPU-hours", hours(seconds)));
        let all: Vec<String> = nodes.into_iter().chain(gpus).collect();
        let least = if self.is_least { "at least " } else { "" };
        Some(all.join(" and ")).filter(|all| !all.is_empty()).map(|all| format!("{least}{all}"))
    }
}

/// The times of a hunt's jobs. The job that ended the hunt writes the report before it ends itself:
/// its time is then known up to the hunt's end.
fn times(hunt: &HuntDir, entries: &[Entry]) -> Vec<JobTime> {
    let last = entries.last().filter(|entry| matches!(entry.event, Event::Ended { .. }));
    let ended: Option<Timestamp> = last.and_then(|entry| entry.at.parse().ok());
    let of = |attempt: Attempt| {
        let mut time = attempt.time()?;
        let is_last = || hunt.is_current_job(attempt.token()).unwrap_or(false);
        if let Some(ended) = ended
            && !time.is_over
            && is_last()
        {
            time.seconds += ended.duration_since(time.at).as_secs_f64().max(0.0);
            time.is_over = true;
        }
        Some(time)
    };
    Attempt::all(&hunt.jobs()).into_iter().filter_map(of).collect()
}

/// What jobs used together. With `since`, only jobs that worked after that time count, each with its
/// whole time: a hunt gets new limits only between two jobs, so no job worked both before and after
/// it.
fn of_jobs(times: &[JobTime], since: Option<Timestamp>) -> Usage {
    let counted = || times.iter().filter(move |time| since.is_none_or(|since| time.at >= since));
    let has_gpus = times.iter().any(|time| time.gpus > 0);
    let gpu_s: f64 = counted().map(|time| time.seconds * f64::from(time.gpus)).sum();
    Usage {
        node_s: Some(counted().map(|time| time.seconds).sum::<f64>()),
        gpu_s: has_gpus.then_some(gpu_s),
        is_least: counted().any(|time| !time.is_over),
    }
}

fn is_since(entry: &Entry, since: Option<Timestamp>) -> bool {
    since.is_none_or(|since| entry.at.parse::<Timestamp>().is_ok_and(|at| at >= since))
}

/// The GPUs of one slot of this machine, by the hunt's frozen configuration.
fn gpus_of_slot(hunt: &HuntDir, entries: &[Entry]) -> Option<u32> {
    let begun = last_begun(entries)?;
    let text = hunt.config_text(&begun.config_sha256).ok().flatten()?;
    let config = Config::parse(&text, Path::new(&begun.base), "the hunt's oracle.toml").ok()?;
    Some(config.executor).filter(|executor| !executor.is_cluster())?.gpus()
}

/// Hours with two or three digits that decide: `0.013`, `1.25`, `48.0`.
pub(crate) fn hours(seconds: f64) -> String {
    let hours = seconds / 3600.0;
    let digits = if hours < 0.1 {
        3
    } else if hours < 10.0 {
        2
    } else {
        1
    };
    format!("{hours:.digits$}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::Phase;
    use crate::store::journal::AheadDone;
    use crate::store::{AheadRecord, Store};

    fn time(seconds: f64, gpus: u32, at: &str, is_over: bool) -> JobTime {
        JobTime { seconds, gpus, at: at.parse().unwrap(), is_over }
    }

    #[test]
    fn the_time_of_each_job_counts_with_its_gpus() {
        let (early, late) = ("2026-11-23T22:00:00Z", "2026-11-24T06:00:00Z");
        let times = [time(3600.0, 4, early, true), time(1800.0, 0, late, true)];
        let used = of_jobs(&times, None);
        assert_eq!(used.in_words().unwrap(), "1.50 node-hours and 4.00 GPU-hours");
        let since = of_jobs(&times, Some("2026-11-24T00:00:00Z".parse().unwrap()));
        assert_eq!(since.in_words().unwrap(), "0.50 node-hours and 0.000 GPU-hours");
        let lost = of_jobs(&[time(60.0, 0, early, false)], None);
        assert_eq!(lost.in_words().unwrap(), "at least 0.017 node-hours");
        assert_eq!(Usage::default().in_words(), None);
    }

    #[test]
    fn without_jobs_only_runs_on_gpus_count() {
        assert_eq!(Usage::of_runs(&[], None, None, &[]), Usage::default());
        assert_eq!(Usage::of_runs(&[], Some(2), None, &[]).gpu_s, Some(0.0));
    }

    #[test]
    fn a_workers_run_counts_when_it_ends_and_only_once() {
        let runs = [("1-a".to_owned(), 10.0), ("2-a".to_owned(), 5.0)];
        let ahead = |at: &str, runs: &[(String, f64)]| Entry {
            at: at.to_owned(),
            event: Event::Ahead(AheadDone {
                commit: "1".repeat(40).parse().unwrap(),
                phase: Phase::Endpoint,
                slot: 2,
                seconds: 20.0,
                builds: Vec::new(),
                runs: runs.to_vec(),
                cancelled: false,
            }),
        };
        let seconds = |entries: &[Entry]| {
            let since = Some("2026-11-24T06:00:00Z".parse().unwrap());
            Usage::of_runs(entries, Some(2), since, &runs).gpu_s
        };
        assert_eq!(seconds(&[]), Some(30.0), "the worker is at work");
        assert_eq!(seconds(&[ahead("2026-11-24T07:00:00Z", &runs)]), Some(30.0));
        let earlier = ahead("2026-11-24T05:00:00Z", &runs[..1]);
        assert_eq!(seconds(&[earlier]), Some(10.0), "the first one was before the limit");
    }

    #[test]
    fn the_runs_of_a_worker_that_a_limit_stopped_count() {
        let folder = tempfile::tempdir().unwrap();
        let hunt = Store::open_to_measure(folder.path()).unwrap().new_hunt().unwrap();
        hunt.make_ahead().unwrap();
        let mut record = AheadRecord::new("1".repeat(40).parse().unwrap(), Phase::Search);
        record.runs.push(("1-a".to_owned(), 10.0));
        hunt.keep_ahead(&record).unwrap();
        // The journal has nothing of it.
        assert_eq!(Usage::of(&hunt, &[], None, &mut Some(2)).gpu_s, Some(20.0));
    }

    #[test]
    fn hours_have_the_digits_that_decide() {
        let said = [36.0, 4500.0, 172_800.0].map(hours);
        assert_eq!(said, ["0.010", "1.25", "48.0"]);
    }
}
