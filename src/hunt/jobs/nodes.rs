//! The nodes that a hunt's jobs must not or should not run on.

use std::collections::{BTreeMap, BTreeSet};

use crate::slurm;
use crate::store::journal::{Entry, Event};
use crate::store::{HuntDir, StoreError};

/// The nodes that were set aside because they are slower or faster than the others, each with its
/// runs that do not count.
pub(crate) fn odd_nodes(entries: &[Entry]) -> BTreeMap<String, Vec<String>> {
    let mut nodes = BTreeMap::<String, Vec<String>>::new();
    for entry in entries {
        if let Event::NodeSetAside { node, attempts, .. } = &entry.event {
            nodes.entry(node.clone()).or_default().extend(attempts.iter().cloned());
        }
    }
    nodes
}

/// The nodes that the hunt's driving job avoids if it can: those of another speed, and the one that
/// the hunt last left in order to confirm a claim on another node.
pub(crate) fn avoided_nodes(entries: &[Entry]) -> BTreeSet<String> {
    let left = entries.iter().rev().find_map(|entry| match &entry.event {
        Event::ConfirmsElsewhere { node, .. } => Some(node.clone()),
        _ => None,
    });
    odd_nodes(entries).into_keys().chain(left).collect()
}

/// The nodes to which no job that measures ahead is submitted.
pub(crate) fn excluded_nodes(hunt: &HuntDir) -> Result<BTreeSet<String>, StoreError> {
    let mut nodes = slurm::nodes_set_aside(&hunt.jobs());
    nodes.extend(odd_nodes(&hunt.entries()?).into_keys());
    Ok(nodes)
}
