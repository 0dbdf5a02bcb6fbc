//! The cluster of `[executor] kind = "slurm"`: whether jobs can be submitted here.

use crate::config::{Config, JobOptions, Template};
use crate::slurm::{Partition, SlurmError, check_partition, check_sbatch};
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
    if !is_portable(config) {
        lines.warn(
            "build nodes",
            "commits are built on other nodes than they run on, perhaps with another processor",
            "build for the processor that runs, not for the one that builds: no -march=native; in \
             llama.cpp -DGGML_NATIVE=OFF",
        );
    }
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
