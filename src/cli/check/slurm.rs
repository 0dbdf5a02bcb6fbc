//! The cluster of `[executor] kind = "slurm"`: whether jobs can be submitted here.

use std::collections::BTreeSet;

use crate::config::{Config, JobOptions, Template};
use crate::slurm::{Partition, SlurmError, check_partition, check_sbatch, nodes_in_service};
use crate::ui::text;

use super::lines::Lines;

/// Reports whether sbatch is installed, the controller answers, and the partitions take jobs.
/// Submits nothing.
pub(crate) fn check(lines: &mut Lines, config: &Config) {
    let Some(slurm) = &config.executor.slurm else { return };
    match check_sbatch() {
        Ok(version) => lines.ok("sbatch", &version),
        Err(error) => return lines.fail("sbatch", &error.to_string(), Some(cure(&error))),
    }
    partition(lines, "partition", &slurm.measure);
    let Some(build) = &slurm.build else { return };
    partition(lines, "build partition", build);
    let nodes = [&slurm.measure, build].map(|jobs| nodes_in_service(jobs.partition.as_deref()));
    if let [Ok(measure), Ok(build)] = &nodes
        && let Some(why) = shared_nodes(measure, build)
    {
        lines.warn("shared nodes", &why, SHARED_CURE);
    }
    if !is_portable(config) {
        lines.warn(
            "build nodes",
            "commits are built on other nodes than they run on, perhaps with another processor",
            "build for the processor that runs, not for the one that builds: no -march=native; in \
             llama.cpp -DGGML_NATIVE=OFF",
        );
    }
}

/// Most nodes that are named.
const MOST_NAMED: usize = 8;

/// What to do if jobs that measure and jobs that build share nodes.
const SHARED_CURE: &str = "give [executor.build] a partition with other nodes, or leave it out: \
                           each job then builds what it measures";

/// What it means that some nodes take jobs that measure and jobs that build; `None` if none does.
fn shared_nodes(measure: &BTreeSet<String>, build: &BTreeSet<String>) -> Option<String> {
    let shared: Vec<&str> = measure.intersection(build).map(String::as_str).collect();
    let named = shared.get(..MOST_NAMED).unwrap_or(&shared).join(", ");
    let more = shared.len().saturating_sub(MOST_NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    (!shared.is_empty()).then(|| {
        format!(
            "jobs that measure and jobs that build share {named}{more}: a job that measures may \
             hold the node that its build waits for"
        )
    })
}

/// Whether a build command or variable switches a `NATIVE` option off.
fn is_portable(config: &Config) -> bool {
    let words = config.build.commands.iter().map(|command| command.text.as_str());
    let mut texts = words.chain(config.build.env.values().map(Template::text));
    texts.any(|text| text.to_uppercase().contains("NATIVE=OFF"))
}

/// Reports whether the partition of these jobs takes jobs.
fn partition(lines: &mut Lines, check: &'static str, options: &JobOptions) {
    let name = options.partition.as_deref();
    let shown = name.unwrap_or("the default partition");
    match check_partition(name) {
        Ok(Some(found)) if found.state == "up" => match found.idle_reason() {
            None => {
                let most = text::plural(options.max_jobs, "job");
                lines.ok(check, &format!("{shown} is up; at most {most} at the same time"));
            }
            Some(why) => lines.warn(
                check,
                &format!("{shown} is up, but none of its nodes takes jobs: {why}"),
                "jobs wait until a node is back; `sinfo -R` says why nodes are out of service",
            ),
        },
        Ok(Some(Partition { state, .. })) => {
            lines.warn(check, &format!("{shown} is {state}"), "jobs wait until it is up");
        }
        Ok(None) => {
            let cure = "correct `partition` under [executor]; `sinfo` lists them".to_owned();
            lines.fail(check, &format!("the cluster does not have {shown}"), Some(cure));
        }
        Err(error) => lines.fail(check, &error.to_string(), Some(cure(&error))),
    }
}

fn cure(error: &SlurmError) -> String {
    match error {
        SlurmError::Missing(_) => {
            "run this on a login node of the cluster, or put Slurm's programs into PATH"
        }
        _ => "ask whoever runs the cluster; SLURM_CONF names its configuration",
    }
    .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nodes_that_measure_and_build_are_named() {
        let nodes = |count: usize| -> BTreeSet<String> {
            (1..=count).map(|number| format!("n{number}")).collect()
        };
        assert_eq!(shared_nodes(&nodes(2), &BTreeSet::from(["n3".to_owned()])), None);
        let two = shared_nodes(&nodes(2), &nodes(3)).unwrap();
        assert!(two.contains(" share n1, n2: a job that measures may hold "), "{two}");
        assert!(shared_nodes(&nodes(9), &nodes(9)).unwrap().contains(" n8 and 1 more: "));
    }
}
