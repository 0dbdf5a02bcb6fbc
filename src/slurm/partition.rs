//! Whether a partition takes jobs, and whether its nodes do.

use std::collections::BTreeSet;

use super::client::{SlurmError, answer};

/// The first letters of the states in which a node takes jobs, now or when it has room. Nodes that
/// were switched off to save power are switched on for a job.
const IN_SERVICE: [&str; 7] = ["idle", "mix", "alloc", "comp", "planned", "power", "reserved"];

/// What `sinfo` says of a partition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Partition {
    /// Its state, such as `up`.
    pub state: String,
    /// Each state of its nodes, such as `drained`, with their number.
    nodes: Vec<(String, usize)>,
}

impl Partition {
    /// Why no node takes a job: `2 nodes drained, 1 node inval`. `None` if one does.
    pub(crate) fn idle_reason(&self) -> Option<String> {
        if self.nodes.iter().any(|(state, _)| is_in_service(state)) {
            return None;
        }
        let counted = |(state, count): &(String, usize)| {
            let nodes = if *count == 1 { "node" } else { "nodes" };
            format!("{count} {nodes} {state}")
        };
        let all: Vec<String> = self.nodes.iter().map(counted).collect();
        Some(if all.is_empty() { "it has none".to_owned() } else { all.join(", ") })
    }
}

/// A star after the state says that the node does not answer.
fn is_in_service(state: &str) -> bool {
    let state = state.to_lowercase();
    !state.ends_with('*') && IN_SERVICE.iter().any(|first| state.starts_with(first))
}

/// Asks for a partition; `None` if the cluster does not have it. Without a name: the default
/// partition.
pub(crate) fn check_partition(name: Option<&str>) -> Result<Option<Partition>, SlurmError> {
    let said = answer("sinfo", ["-h", "-o", "%P|%a|%D|%T"].map(str::to_owned))?;
    Ok(read(&said, name))
}

/// The nodes of some partitions (`a,b`) that take jobs, now or when they have room. Without a
/// name: those of the default partition.
pub(crate) fn nodes_in_service(names: Option<&str>) -> Result<BTreeSet<String>, SlurmError> {
    Ok(read_nodes(&NodeStates::ask()?.0, names, true))
}

/// The states of the nodes of all partitions, as `sinfo` lists them: lines `PARTITION|NODE|STATE`.
#[derive(Clone, Debug, Default)]
pub(super) struct NodeStates(pub(super) String);

impl NodeStates {
    /// Asks the controller.
    pub(super) fn ask() -> Result<Self, SlurmError> {
        Ok(Self(answer("sinfo", ["-h", "-N", "-o", "%P|%N|%T"].map(str::to_owned))?))
    }

    /// The nodes of some partitions (`a,b`) that take no jobs.
    pub(super) fn out_of_service(&self, partitions: &str) -> BTreeSet<String> {
        read_nodes(&self.0, Some(partitions), false)
    }
}

/// Reads lines `PARTITION|NODE|STATE`. A star follows the default partition.
fn read_nodes(text: &str, names: Option<&str>, in_service: bool) -> BTreeSet<String> {
    let lines = text.lines().filter_map(|line| {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let [partition, node, state] = cells[..] else { return None };
        let is_asked = match names {
            Some(names) => names.split(',').any(|name| name == partition.trim_end_matches('*')),
            None => partition.ends_with('*'),
        };
        (is_asked && is_in_service(state) == in_service).then(|| node.to_owned())
    });
    lines.collect()
}

/// Reads lines `PARTITION|STATE|NODES|STATE OF THESE NODES`. A star follows the default partition.
fn read(text: &str, name: Option<&str>) -> Option<Partition> {
    let mut found: Option<Partition> = None;
    for line in text.lines() {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let [partition, state, count, of_nodes] = cells[..] else { continue };
        let is_it = match name {
            Some(name) => partition.trim_end_matches('*') == name,
            None => partition.ends_with('*'),
        };
        if !is_it {
            continue;
        }
        let one =
            found.get_or_insert_with(|| Partition { state: state.to_owned(), nodes: Vec::new() });
        let count = count.parse().unwrap_or(0);
        if count > 0 {
            one.nodes.push((of_nodes.to_owned(), count));
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn idle_reason(text: &str) -> Option<String> {
        read(text, Some("gpu")).unwrap().idle_reason()
    }

    #[test]
    fn a_partition_is_found_by_its_name_or_as_the_default() {
        let text = "cpu*|up|2|idle\ngpu|down|1|idle\ngpu|down|1|drained\n";
        assert_eq!(read(text, None).unwrap().state, "up");
        assert_eq!(read(text, Some("cpu")).unwrap().state, "up");
        assert_eq!(read(text, Some("gpu")).unwrap().state, "down");
        assert_eq!(read(text, Some("gp")), None);
    }

    #[test]
    fn nodes_that_take_no_jobs_are_counted_unless_another_one_does() {
        let out = "gpu|up|2|drained\ngpu|up|1|inval\nother|up|3|idle\n";
        assert_eq!(idle_reason(out).as_deref(), Some("2 nodes drained, 1 node inval"));
        for state in ["idle", "mixed", "allocated", "completing", "idle~", "planned", "reserved"] {
            let text = format!("{out}gpu|up|1|{state}\n");
            assert_eq!(idle_reason(&text), None, "{state}");
        }
        for state in ["down*", "idle*", "draining", "maint", "unknown"] {
            assert!(idle_reason(&format!("gpu|up|1|{state}\n")).is_some(), "{state}");
        }
        assert_eq!(idle_reason("gpu|up|0|n/a\n").as_deref(), Some("it has none"));
    }

    #[test]
    fn nodes_are_those_of_the_partition() {
        let text = "cpu*|n1|idle\ngpu|n2|mixed\ngpu|n3|drained\ncpu*|n4|down*\nbig|n5|idle\n";
        let nodes = |names| read_nodes(text, names, true).into_iter().collect::<Vec<_>>();
        assert_eq!(nodes(None), ["n1"]);
        assert_eq!(nodes(Some("gpu")), ["n2"]);
        assert_eq!(nodes(Some("gpu,big")), ["n2", "n5"]);
        let states = NodeStates(text.to_owned());
        assert_eq!(Vec::from_iter(states.out_of_service("gpu")), ["n3"]);
    }
}
