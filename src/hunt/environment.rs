//! Checks that a resumed hunt goes on in the environment in which it began.

use crate::oracle::{Facts, Oracle};
use crate::store::journal::{BuildNode, Machine};

use super::HuntError;

/// Stops if the machine or its environment changed since the hunt began: runs of different
/// machines, drivers or compilers are never compared.
pub(crate) fn check_environment_unchanged(oracle: &Oracle) -> Result<(), HuntError> {
    let now = Facts::gather(&oracle.recipes.config, &oracle.store, oracle.checkout.as_deref())?;
    check_machine_unchanged(&oracle.recipes.facts.machine, &now.machine)?;
    let changes = now.surroundings.changes_since(&oracle.recipes.facts.surroundings);
    if !changes.is_empty() {
        let changes = changes.join("; ");
        return Err(HuntError::Environment(format!(
            "the environment of commands has changed since the hunt began: {changes}. Restore it, \
             or begin a new hunt: results that still hold are taken from the store"
        )));
    }
    if now.environment != oracle.recipes.facts.environment {
        return Err(HuntError::Environment(
            "the output of [environment] probe has changed since the hunt began".to_owned(),
        ));
    }
    Ok(())
}

/// Stops if the machine is of another class, or this process may use another number of cores.
pub(crate) fn check_machine_unchanged(began: &Machine, now: &Machine) -> Result<(), HuntError> {
    if now.class != began.class {
        return Err(HuntError::Environment(format!(
            "the hunt began on another class of machine ({}), this is {}",
            began.cpu, now.cpu
        )));
    }
    if now.cores != began.cores {
        return Err(HuntError::Environment(format!(
            "the hunt began with {0} cores, but this process may use {1}: allow {0} cores again, or \
             begin a new hunt",
            began.cores, now.cores
        )));
    }
    Ok(())
}

/// What differs between the nodes that build, in a sentence; `None` if nothing does.
pub(crate) fn build_node_change(began: &BuildNode, now: &BuildNode) -> Option<String> {
    if let Err(error) = check_machine_unchanged(&began.machine, &now.machine) {
        return Some(error.to_string());
    }
    let changes = now.surroundings.changes_since(&began.surroundings);
    if !changes.is_empty() {
        return Some(format!("builds have another environment there: {}", changes.join("; ")));
    }
    let is_same = now.environment == began.environment;
    (!is_same).then(|| "[environment] probe has another output there".to_owned())
}
