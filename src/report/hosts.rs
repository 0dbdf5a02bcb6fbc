//! The computers on which the runs of a hunt were made.

use std::collections::{BTreeMap, HashSet};

use crate::evaluation::Host;
use crate::store::journal::{BuildDone, Event};
use crate::ui::text;

use super::cost::is_run;
use super::model::{BuildNodeLine, HostLine, MeasuredCommit};

/// A line for each computer, without its number of runs: see [`count_runs`]. `set_aside`: the nodes
/// that got no further jobs, with the reason.
pub(super) fn of(commits: &[MeasuredCommit], set_aside: &BTreeMap<&str, &str>) -> Vec<HostLine> {
    let runs = commits.iter().flat_map(|commit| &commit.runs);
    let hosts: BTreeMap<&str, &Host> =
        runs.filter_map(|run| run.host.as_ref()).map(|host| (host.name.as_str(), host)).collect();
    let line = |host: &Host| HostLine {
        set_aside: set_aside.get(host.name.as_str()).map(|why| (*why).to_owned()),
        host: host.clone(),
        runs: 0,
    };
    hosts.into_values().map(line).collect()
}

/// Counts the runs that the hunt made on each computer, as in its totals: also those that test
/// parts of a change, and none whose result was in the store.
pub(super) fn count_runs<'e>(lines: &mut [HostLine], events: impl Iterator<Item = &'e Event>) {
    let mut seen = HashSet::new();
    for event in events {
        if let Event::Run(run) = event
            && is_run(run)
            && seen.insert(&run.attempt)
            && let Some(host) = &run.host
            && let Some(line) = lines.iter_mut().find(|line| line.host.name == host.name)
        {
            line.runs += 1;
        }
    }
}

/// `n1 (12 runs; NVIDIA H100, GPU-6b1c…), n2 (3 runs)`; `None` if no run names its computer.
pub(super) fn in_words(lines: &[HostLine]) -> Option<String> {
    let line = |line: &HostLine| {
        let runs = match line.runs {
            0 => "stored results".to_owned(),
            runs => text::plural(runs, "run"),
        };
        let mut facts = vec![runs];
        facts.extend(line.host.gpus.iter().cloned());
        facts.extend(line.set_aside.is_some().then(|| "set aside".to_owned()));
        text::line(&format!("{} ({})", line.host.name, facts.join("; ")))
    };
    let lines: Vec<String> = lines.iter().map(line).collect();
    (!lines.is_empty()).then(|| lines.join(", "))
}

/// A line for each node that only builds.
pub(super) fn that_build<'e>(events: impl Iterator<Item = &'e Event>) -> Vec<BuildNodeLine> {
    let mut nodes = BTreeMap::<&str, usize>::new();
    for event in events {
        if let Event::Build(BuildDone { node: Some(node), reused: false, .. }) = event {
            *nodes.entry(node).or_default() += 1;
        }
    }
    let line = |(name, builds): (&str, usize)| BuildNodeLine { name: name.to_owned(), builds };
    nodes.into_iter().map(line).collect()
}

/// `n1 (12 builds), n2 (1 build)`; `None` if all builds were made where their runs were.
pub(super) fn builds_in_words(lines: &[BuildNodeLine]) -> Option<String> {
    let line = |line: &BuildNodeLine| {
        text::line(&format!("{} ({})", line.name, text::plural(line.builds, "build")))
    };
    let lines: Vec<String> = lines.iter().map(line).collect();
    (!lines.is_empty()).then(|| lines.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::Phase;
    use crate::report::tests::fixture::Hunt;
    use crate::store::journal::RunDone;

    #[test]
    fn each_node_that_builds_is_named_with_its_builds() {
        let line = |name: &str, builds| BuildNodeLine { name: name.to_owned(), builds };
        assert_eq!(builds_in_words(&[]), None);
        let said = builds_in_words(&[line("n1", 12), line("n2", 1)]);
        assert_eq!(said.unwrap(), "n1 (12 builds), n2 (1 build)");
    }

    #[test]
    fn each_computer_is_named_with_its_runs_and_gpus() {
        let line = |name: &str, gpus: &[&str], runs| HostLine {
            host: Host {
                name: name.to_owned(),
                gpus: gpus.iter().map(|gpu| (*gpu).to_owned()).collect(),
            },
            runs,
            set_aside: (runs == 1).then(|| "node n2 is slow".to_owned()),
        };
        assert_eq!(in_words(&[]), None);
        assert_eq!(in_words(&[line("n1", &[], 0)]).unwrap(), "n1 (stored results)");
        let said = in_words(&[line("n1", &["H100, GPU-1", "H100, GPU-2"], 12), line("n2", &[], 1)]);
        assert_eq!(said.unwrap(), "n1 (12 runs; H100, GPU-1; H100, GPU-2), n2 (1 run; set aside)");
    }

    #[test]
    fn a_run_counts_once_and_a_stored_result_not_at_all() {
        let mut hunt = Hunt::at_search();
        let mut run = hunt.run('d', Phase::Search, Some(7.52));
        run.host = Some(Box::new(Host { name: "n1".to_owned(), gpus: Vec::new() }));
        for (attempt, reused) in [("one", false), ("one", false), ("two", false), ("old", true)] {
            let attempt = attempt.to_owned();
            hunt.append(Event::Run(RunDone { attempt, reused, ..run.clone() }));
        }
        let report = hunt.report();
        let line = report.hosts.iter().find(|line| line.host.name == "n1").unwrap();
        assert_eq!(line.runs, 2);
    }
}
