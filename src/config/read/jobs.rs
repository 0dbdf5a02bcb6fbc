//! What jobs of a cluster ask Slurm for: keys of `[executor]` and of its tables.

use super::super::JobOptions;
use super::super::field::Field;
use super::super::reader::Reader;
use super::super::slurm::{SHORTEST_JOB, check_sbatch_arg};
use super::super::table_reader::TableReader;

/// The most jobs of one hunt. A search asks about few commits at the same time.
const MOST_JOBS: u32 = 64;

/// Reads the keys. Also returns the fields that the table has.
pub(super) fn job_options<'d>(
    reader: &mut Reader,
    section: &mut TableReader<'d>,
) -> (JobOptions, Vec<Field<'d>>) {
    let mut options = JobOptions::default();
    let mut given = Vec::new();
    for (key, option) in [
        ("partition", &mut options.partition),
        ("account", &mut options.account),
        ("gres", &mut options.gres),
        ("constraint", &mut options.constraint),
        ("container", &mut options.container),
    ] {
        let Some(field) = section.get(key) else { continue };
        *option = field.text(reader).map(str::to_owned);
        if option.as_ref().is_some_and(|text| text.contains(char::is_control)) {
            field.refuse(reader, "has a control character.");
        }
        if key == "container" && option.as_ref().is_some_and(|path| !path.starts_with('/')) {
            field.refuse(reader, "is not an absolute path; name the folder of an OCI bundle.");
        }
        given.push(field);
    }
    if let Some(field) = section.get("time") {
        options.time = field.duration(reader);
        if options.time.is_some_and(|time| time < SHORTEST_JOB) {
            field.refuse(reader, "is too short; a job needs at least 5m.");
        }
        given.push(field);
    }
    if let Some(field) = section.get("nodes") {
        if field.count(reader).is_some_and(|nodes| nodes != 1) {
            field.refuse(reader, "jobs of several nodes are not available yet. Allowed: 1");
        }
        given.push(field);
    }
    if let Some(field) = section.get("max_jobs") {
        let most = field.count_in(reader, 1..=MOST_JOBS).unwrap_or(1);
        options.max_jobs = usize::try_from(most).unwrap_or(1);
        given.push(field);
    }
    if let Some(field) = section.get("sbatch_args") {
        for item in field.list(reader).unwrap_or_default() {
            let Some(word) = item.text(reader) else { continue };
            if let Err(what) = check_sbatch_arg(word) {
                item.refuse(reader, what);
            }
            options.sbatch_args.push(word.to_owned());
        }
        given.push(field);
    }
    (options, given)
}
