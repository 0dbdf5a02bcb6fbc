//! The cluster of `[executor] kind = "slurm"`: whether jobs can be submitted here.

use crate::config::Config;
use crate::slurm::{SlurmError, check_partition, check_sbatch};
use crate::ui::text;

use super::lines::Lines;

/// Reports whether sbatch is installed, the controller answers, and the partition takes jobs.
/// Submits nothing.
pub(crate) fn check(lines: &mut Lines, config: &Config) {
    let Some(slurm) = &config.executor.slurm else { return };
    match check_sbatch() {
        Ok(version) => lines.ok("sbatch", &version),
        Err(error) => return lines.fail("sbatch", &error.to_string(), Some(cure(&error))),
    }
    let name = slurm.partition.as_deref();
    let shown = name.unwrap_or("the default partition");
    match check_partition(name) {
        Ok(Some(state)) if state == "up" => {
            lines.ok(
                "partition",
                &format!(
                    "{shown} is up; at most {} at the same time",
                    text::plural(slurm.max_jobs, "job")
                ),
            );
        }
        Ok(Some(state)) => {
            lines.warn("partition", &format!("{shown} is {state}"), "jobs wait until it is up");
        }
        Ok(None) => {
            let cure = "correct `partition` under [executor]; `sinfo` lists them".to_owned();
            lines.fail("partition", &format!("the cluster does not have {shown}"), Some(cure));
        }
        Err(error) => lines.fail("partition", &error.to_string(), Some(cure(&error))),
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
