//! The computers on which the runs of a hunt were made.

use std::collections::{BTreeMap, HashSet};

use crate::evaluation::Host;
use crate::store::journal::{BuildDone, Event};
use crate::ui::text;

use super::model::{BuildNodeLine, HostLine, MeasuredCommit};

/// A line for each computer. `set_aside`: the nodes that got no further jobs, with the reason. A
/// run that two commits with the same tree share counts once.
pub(super) fn of(commits: &[MeasuredCommit], set_aside: &BTreeMap<&str, &str>) -> Vec<HostLine> {
    let mut seen = HashSet::new();
    let mut lines: BTreeMap<&str, (&Host, usize)> = BTreeMap::new();
    for run in commits.iter().flat_map(|commit| &commit.runs) {
        if let Some(host) = &run.host
            && seen.insert(&run.attempt)
        {
            lines.entry(&host.name).or_insert((host, 0)).1 += 1;
        }
    }
    let line = |(host, runs): (&Host, usize)| HostLine {
        set_aside: set_aside.get(host.name.as_str()).map(|why| (*why).to_owned()),
        host: host.clone(),
        runs,
    };
    lines.into_values().map(line).collect()
}

/// `n1 (12 runs; NVIDIA H100, GPU-6b1c…), n2 (3 runs)`; `None` if no run names its computer.
pub(super) fn in_words(lines: &[HostLine]) -> Option<String> {
    let line = |line: &HostLine| {
        let mut facts = vec![text::plural(line.runs, "run")];
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
        let said = in_words(&[line("n1", &["H100, GPU-1", "H100, GPU-2"], 12), line("n2", &[], 1)]);
        assert_eq!(said.unwrap(), "n1 (12 runs; H100, GPU-1; H100, GPU-2), n2 (1 run; set aside)");
    }
}
