//! How many GPUs a job or a slot has, from the settings that ask for them.

use super::slurm::DEVICES;
use super::{Executor, ExecutorSlot, JobOptions};

impl Executor {
    /// The GPUs of one job that measures, or of one slot; `None` if the configuration does not say
    /// it, or if slots have different numbers.
    pub(crate) fn gpus(&self) -> Option<u32> {
        if let Some(slurm) = &self.slurm {
            return slurm.measure.gpus();
        }
        let mut counts = self.slots.iter().map(ExecutorSlot::gpus);
        let first = counts.next()??;
        counts.all(|count| count == Some(first)).then_some(first)
    }
}

impl ExecutorSlot {
    /// The GPUs that the slot's variables choose.
    fn gpus(&self) -> Option<u32> {
        let listed = DEVICES.iter().find_map(|name| self.env.get(*name))?;
        let chosen = listed.split(',').map(str::trim).take_while(|word| is_device(word)).count();
        u32::try_from(chosen).ok().filter(|count| *count > 0)
    }
}

impl JobOptions {
    /// The GPUs that a job asks for; `None` if it asks for none.
    pub(crate) fn gpus(&self) -> Option<u32> {
        // A job has one node, so both options say how many it gets.
        let of = |word: &String| {
            let count = ["--gpus=", "--gpus-per-node="].iter().find_map(|it| word.strip_prefix(it));
            count.and_then(gpus_of_type)
        };
        let asked = self.sbatch_args.iter().rev().find_map(of);
        asked.or_else(|| self.gres.as_deref().and_then(gpus_of_gres)).filter(|count| *count > 0)
    }
}

/// The CUDA driver ignores everything from the first word on that names no device.
fn is_device(word: &str) -> bool {
    !word.is_empty() && !word.starts_with('-')
}

/// The GPUs of `gpu:4`, `gpu:a100:4`, `gres/gpu=4` or `gpu`, also among other resources.
fn gpus_of_gres(text: &str) -> Option<u32> {
    let counts = text.split(',').filter_map(|one| {
        let one = one.trim();
        let one = one.strip_prefix("gres/").or_else(|| one.strip_prefix("gres:")).unwrap_or(one);
        let rest = one.strip_prefix("gpu")?;
        match rest.strip_prefix([':', '=']) {
            Some(rest) => gpus_of_type(rest),
            None => rest.is_empty().then_some(1),
        }
    });
    counts.reduce(u32::saturating_add)
}

/// The number of `4`, `a100:4` or `a100=4`; 1 for a type alone.
fn gpus_of_type(text: &str) -> Option<u32> {
    // `gpu:2(S:0)` names sockets behind the number.
    let text = text.split('(').next().unwrap_or(text);
    let last = text.rsplit([':', '=']).next().unwrap_or(text);
    match last.parse() {
        Ok(count) => Some(count),
        Err(_) if text == last && !text.is_empty() => Some(1),
        Err(_) => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Slurm;

    #[test]
    fn the_gpus_of_a_job_are_read_from_all_forms() {
        for (gres, count) in [
            ("gpu:4", Some(4)),
            ("gpu:a100:4", Some(4)),
            ("gres/gpu=4", Some(4)),
            ("gres/gpu:a100=2", Some(2)),
            ("gpu", Some(1)),
            ("gpu:a100", Some(1)),
            ("gpu:a100:2,gpu:v100:1,nvme:3", Some(3)),
            ("gpu:2(S:0-1)", Some(2)),
            ("gpu:0", None),
            ("nvme:3", None),
            ("gpumem:8", None),
        ] {
            let options = JobOptions { gres: Some(gres.to_owned()), ..JobOptions::default() };
            assert_eq!(options.gpus(), count, "{gres}");
        }
        for (word, count) in [
            ("--gpus=4", Some(4)),
            ("--gpus=a100:3", Some(3)),
            ("--gpus-per-node=2", Some(2)),
            ("--mem-per-gpu=8", None),
            ("--cpus-per-gpu=8", None),
        ] {
            let sbatch_args = vec![word.to_owned()];
            assert_eq!(JobOptions { sbatch_args, ..JobOptions::default() }.gpus(), count, "{word}");
        }
    }

    #[test]
    fn slots_have_gpus_if_all_choose_equally_many() {
        let slots = |values: &[&str]| {
            let slot = |value: &&str| ExecutorSlot {
                env: [("CUDA_VISIBLE_DEVICES".to_owned(), (*value).to_owned())].into(),
                cpus: Vec::new(),
            };
            Executor { slots: values.iter().map(slot).collect(), ..Executor::default() }.gpus()
        };
        assert_eq!(slots(&["0", "1"]), Some(1));
        assert_eq!(slots(&["0,1", "2,3"]), Some(2));
        assert_eq!(slots(&["0,1", "2"]), None);
        assert_eq!(slots(&[""]), None);
        assert_eq!(slots(&["-1"]), None);
        assert_eq!(Executor::default().gpus(), None);
        let measure = JobOptions { gres: Some("gpu:8".to_owned()), ..JobOptions::default() };
        let slurm = Some(Slurm { measure, ..Slurm::default() });
        assert_eq!(Executor { slurm, ..Executor::default() }.gpus(), Some(8));
    }
}
