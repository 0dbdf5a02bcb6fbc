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

/// The nodes that no job of the hunt is submitted to.
pub(crate) fn excluded_nodes(hunt: &HuntDir) -> Result<BTreeSet<String>, StoreError> {
    let mut nodes = slurm::nodes_set_aside(&hunt.jobs());
    nodes.extend(odd_nodes(&hunt.entries()?).into_keys());
    Ok(nodes)
}
