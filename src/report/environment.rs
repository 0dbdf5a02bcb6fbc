//! The environment of a hunt, each fact by a command that prints it.

use std::collections::{BTreeMap, BTreeSet};

use crate::evaluation::Surroundings;

/// The output of the probes, the versions of the compilers, and the inherited variables that count.
/// The key of each is a command that prints it. If `cc` and `gcc` are the same, one is listed.
pub(crate) fn environment(
    probes: &BTreeMap<String, String>,
    surroundings: &Surroundings,
) -> BTreeMap<String, String> {
    let Surroundings { variables, compilers } = surroundings;
    let mut said = probes.clone();
    let mut versions = BTreeSet::new();
    for (name, version) in compilers {
        let version = version.lines().next().unwrap_or_default();
        let without_name = version.strip_prefix(name.as_str()).unwrap_or(version);
        if versions.insert(without_name) {
            said.entry(format!("{name} --version")).or_insert_with(|| version.to_owned());
        }
    }
    for (name, value) in variables {
        said.insert(format!("printenv {name}"), value.clone());
    }
    said
}
