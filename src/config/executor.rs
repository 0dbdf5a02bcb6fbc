//! `[executor]`: the slots in which a hunt measures at the same time.

use std::collections::{BTreeMap, BTreeSet};

use super::Slurm;

/// `[executor]`. Builds and runs of one hunt happen in several slots at once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Executor {
    /// The slots that the file lists; empty if it lists none. All have equally many CPUs and set
    /// the same variables, so that their runs may be compared.
    pub slots: Vec<ExecutorSlot>,
    /// The number of the slot in which this process builds and runs.
    pub own: usize,
    /// `kind = "slurm"`: everything is built and run in jobs.
    pub slurm: Option<Slurm>,
}

/// One slot: what builds and runs in it may use.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ExecutorSlot {
    /// Variables for runs and `[[prepare]]` steps.
    pub env: BTreeMap<String, String>,
    /// The CPUs for builds and runs, in ascending order. An empty list means all CPUs.
    pub cpus: Vec<usize>,
}

impl Executor {
    /// Whether everything is built and run in jobs of a cluster, which may be on different nodes.
    pub(crate) fn is_cluster(&self) -> bool {
        self.slurm.is_some()
    }

    /// The variables of this process's slot.
    pub(crate) fn env(&self) -> impl Iterator<Item = (&String, &String)> {
        self.slots.get(self.own).into_iter().flat_map(|slot| &slot.env)
    }

    /// The CPUs of this process's slot. An empty list means all CPUs.
    pub(crate) fn cpus(&self) -> &[usize] {
        self.slots.get(self.own).map_or(&[], |slot| &slot.cpus)
    }

    /// How many slots or jobs the file allows; `None` if it says nothing of that.
    pub(crate) fn listed(&self) -> Option<usize> {
        let slots = Some(self.slots.len()).filter(|listed| *listed > 0);
        self.slurm.as_ref().map(Slurm::most_commits).or(slots)
    }

    /// Of this many slots, how many build, and how many run, while a search measures a commit: jobs
    /// of a cluster that only build run nothing.
    pub(crate) fn slots_of_search(&self, slots: usize) -> [usize; 2] {
        let measuring = self.slurm.as_ref().map_or(slots, |slurm| slurm.measure.max_jobs);
        [slots, measuring.min(slots)]
    }

    /// Whether this process shares its job, and so the devices, with processes that build ahead:
    /// their runs take turns.
    pub(crate) fn shares_job(&self) -> bool {
        self.slurm.as_ref().is_some_and(|slurm| {
            slurm.builds_ahead() && (self.own == 0 || !slurm.has_job(self.own))
        })
    }

    /// The number of the slot in which a process beside the driver builds for the job that has slot
    /// `job`. It lies behind all slots that the file allows, so no job has it.
    pub(crate) fn builder_slot(&self, job: usize) -> usize {
        job + self.listed().unwrap_or(1)
    }

    /// Whether this variable only chooses among the equal devices of a job.
    pub(crate) fn chooses_devices_by(&self, name: &str) -> bool {
        self.is_cluster() && Slurm::chooses_devices_by(name)
    }

    /// How many CPUs each slot has, if the file says it.
    pub(crate) fn cores(&self) -> Option<usize> {
        self.slots.first().map(|slot| slot.cpus.len()).filter(|count| *count > 0)
    }

    /// Whether slots set this variable.
    pub(crate) fn sets(&self, name: &str) -> bool {
        self.slots.iter().any(|slot| slot.env.contains_key(name))
    }

    /// The variables that the slots set, by name. A value that differs between slots picks a
    /// device, and results do not depend on it: `None`.
    pub(crate) fn variables(&self) -> impl Iterator<Item = (&str, Option<&str>)> {
        let first = self.slots.first().into_iter().flat_map(|slot| &slot.env);
        first.map(|(name, value)| {
            let is_same = self.slots.iter().all(|slot| slot.env.get(name) == Some(value));
            (name.as_str(), is_same.then_some(value.as_str()))
        })
    }
}

/// The CPUs of a list such as `0-3,8`, in order; an error says what is wrong.
pub(super) fn cpus(text: &str) -> Result<Vec<usize>, String> {
    let number = |word: &str| {
        let cpu = word.trim().parse::<usize>().ok().filter(|cpu| *cpu < MOST_CPUS);
        cpu.ok_or_else(|| {
            format!("`{}` is not a CPU; write numbers and ranges, such as \"0-3,8\".", word.trim())
        })
    };
    let mut all = BTreeSet::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (number(first)?, number(last)?);
        if last < first {
            return Err(format!("`{}` ends before it begins.", part.trim()));
        }
        for cpu in first..=last {
            if !all.insert(cpu) {
                return Err(format!("has CPU {cpu} twice."));
            }
        }
    }
    Ok(all.into_iter().collect())
}

/// Linux's CPU masks (`cpu_set_t`) have this many bits.
const MOST_CPUS: usize = 1024;

#[cfg(test)]
mod tests {
    use super::super::JobOptions;
    use super::*;

    #[test]
    fn a_list_of_cpus_has_numbers_and_ranges() {
        assert_eq!(cpus("0-3,8"), Ok(vec![0, 1, 2, 3, 8]));
        assert_eq!(cpus(" 5 , 2"), Ok(vec![2, 5]));
        for (text, why) in [
            ("", "not a CPU"),
            ("a", "not a CPU"),
            ("1024", "not a CPU"),
            ("-1", "not a CPU"),
            ("3-1", "ends before"),
            ("0-3,2", "CPU 2 twice"),
        ] {
            assert!(cpus(text).unwrap_err().contains(why), "{text}");
        }
    }

    #[test]
    fn more_jobs_that_build_than_measure_give_slots_in_the_job_of_the_hunt() {
        let jobs = |max_jobs| JobOptions { max_jobs, ..JobOptions::default() };
        let executor = |measures, builds: Option<usize>, own| {
            let (measure, build) = (jobs(measures), builds.map(jobs));
            let slurm = Some(Slurm { measure, build, ..Slurm::default() });
            Executor { own, slurm, ..Executor::default() }
        };
        for (measures, builds, listed) in [(2, None, 2), (2, Some(1), 2), (2, Some(4), 4)] {
            assert_eq!(executor(measures, builds, 0).listed(), Some(listed));
        }
        assert_eq!(executor(2, Some(4), 0).slots_of_search(4), [4, 2], "two jobs only build");
        assert_eq!(executor(2, None, 0).slots_of_search(1), [1, 1], "--slots 1");
        assert_eq!(Executor::default().slots_of_search(3), [3, 3]);
        for (own, shares) in [(0, true), (1, false), (2, true), (3, true)] {
            assert_eq!(executor(2, Some(4), own).shares_job(), shares, "{own}");
            assert!(!executor(2, Some(2), own).shares_job(), "{own}");
        }
        assert!(!Executor::default().shares_job());
        let own = executor(2, Some(4), 0).builder_slot(1);
        assert!(own >= 4 && executor(2, Some(4), own).shares_job(), "{own}");
    }

    #[test]
    fn a_value_that_differs_between_slots_only_picks_a_device() {
        let slot = |device: &str| ExecutorSlot {
            env: [("DEVICE", device), ("MODE", "fast")]
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .into(),
            cpus: Vec::new(),
        };
        let both = Executor { slots: vec![slot("0"), slot("1")], own: 1, slurm: None };
        let seen: Vec<_> = both.variables().collect();
        assert_eq!(seen, [("DEVICE", None), ("MODE", Some("fast"))]);
        assert!(both.env().any(|(name, value)| name == "DEVICE" && value == "1"));
        let one = Executor { slots: vec![slot("0")], ..Executor::default() };
        assert_eq!(one.variables().next(), Some(("DEVICE", Some("0"))));
    }
}
