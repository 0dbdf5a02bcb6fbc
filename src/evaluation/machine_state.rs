//! The machine's state around a run, to distinguish a slow commit from a hot machine.

use serde::{Deserialize, Serialize};

/// The machine at one moment. A value that the machine does not report is absent, never zero.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct MachineState {
    /// Load average over the last minute: processes that run or wait to run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<f64>,
    /// Mean clock of the CPU cores, MHz.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_mhz: Option<f64>,
    /// The highest temperature of all sensors, °C.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hottest_c: Option<f64>,
    /// How often heat throttled the CPU since boot, summed over all cores and packages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throttle_count: Option<u64>,
    /// How many processes the kernel has killed for lack of memory: of this program's control
    /// group, or of the whole machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub oom_kills: Option<u64>,
    /// Memory that programs can still get, MiB.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub free_mib: Option<f64>,
    /// The GPUs, if queried.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gpus: Vec<GpuState>,
}

/// One GPU at one moment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct GpuState {
    /// The GPU's number.
    pub index: u32,
    /// Clock of the multiprocessors, MHz.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sm_mhz: Option<f64>,
    /// Temperature, °C.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature_c: Option<f64>,
    /// Why the clocks are below their maximum: the bits of `nvmlClocksEventReasons`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasons: Option<u64>,
}

/// The machine right before and right after a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct MachineStates {
    /// Before the program starts.
    pub before: MachineState,
    /// After the program ends.
    pub after: MachineState,
}

/// The bits of `nvmlClocksEventReasons` (NVML's reference) that make a time unreliable: something
/// other than the GPU's own work lowered a clock.
///
/// The other bits do not make a result unreliable. Idle (0x1) is normal around a run. Clocks
/// that a user set (0x2, 0x100) or that GPUs synchronise (0x10) are the same for each run. The
/// power cap (0x4) is normal for a large model, and steady.
const HELD_DOWN: [(u64, &str); 4] = [
    (0x40, "hardware thermal slowdown"),
    (0x20, "software thermal slowdown"),
    (0x80, "power brake"),
    // Set together with each of the two hardware reasons above, so it comes last.
    (0x8, "hardware slowdown"),
];

impl MachineStates {
    /// Whether the kernel killed a process for lack of memory during the run.
    pub(crate) fn is_out_of_memory(&self) -> bool {
        self.before
            .oom_kills
            .zip(self.after.oom_kills)
            .is_some_and(|(before, after)| after > before)
    }

    /// Whether heat throttled the CPU during the run.
    pub(crate) fn is_throttled_by_heat(&self) -> bool {
        let counts = self.before.throttle_count.zip(self.after.throttle_count);
        counts.is_some_and(|(before, after)| after > before)
    }

    /// The reason why a time measured here is unreliable, if it is: heat throttled the CPU during
    /// the run, or something throttled a GPU at its start or end.
    pub(crate) fn throttled(&self) -> Option<String> {
        if self.is_throttled_by_heat() {
            return Some("heat throttled the processor".to_owned());
        }
        let mut gpus = self.before.gpus.iter().chain(&self.after.gpus);
        gpus.find_map(|gpu| {
            let reasons = gpu.reasons?;
            let (_, why) = HELD_DOWN.iter().find(|(bit, _)| reasons & bit != 0)?;
            Some(format!("GPU {} was slowed down: {why}", gpu.index))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(before: Option<u64>, after: Option<u64>) -> MachineStates {
        let at = |throttle_count| MachineState { throttle_count, ..MachineState::default() };
        MachineStates { before: at(before), after: at(after) }
    }

    fn gpus(before: &[Option<u64>], after: &[Option<u64>]) -> MachineStates {
        let at = |reasons: &[Option<u64>]| MachineState {
            gpus: (0..)
                .zip(reasons)
                .map(|(index, reasons)| GpuState { index, reasons: *reasons, ..Default::default() })
                .collect(),
            ..MachineState::default()
        };
        MachineStates { before: at(before), after: at(after) }
    }

    #[test]
    fn a_processor_throttles_when_its_count_rises() {
        let heat = Some("heat throttled the processor".to_owned());
        assert_eq!(counted(Some(7), Some(8)).throttled(), heat);
        assert_eq!(counted(Some(7), Some(7)).throttled(), None);
        // A core went offline, so its count is missing.
        assert_eq!(counted(Some(7), Some(5)).throttled(), None);
        assert_eq!(counted(None, Some(5)).throttled(), None);
        assert_eq!(counted(Some(5), None).throttled(), None);
    }

    #[test]
    fn memory_is_short_when_the_count_of_kills_rises() {
        let killed = |before, after| {
            let at = |oom_kills| MachineState { oom_kills, ..MachineState::default() };
            MachineStates { before: at(before), after: at(after) }.is_out_of_memory()
        };
        assert!(killed(Some(0), Some(1)));
        assert!(!killed(Some(3), Some(3)));
        assert!(!killed(None, Some(3)) && !killed(Some(3), None));
    }

    #[test]
    fn a_gpu_throttles_when_something_outside_its_work_holds_it_down() {
        for bit in [0x1, 0x2, 0x4, 0x10, 0x100, 0x117] {
            assert_eq!(gpus(&[Some(bit)], &[Some(bit)]).throttled(), None, "{bit:#x}");
        }
        let said = |bits| gpus(&[Some(0)], &[Some(bits)]).throttled().unwrap();
        assert_eq!(said(0x8), "GPU 0 was slowed down: hardware slowdown");
        assert_eq!(said(0x20), "GPU 0 was slowed down: software thermal slowdown");
        assert_eq!(said(0x48), "GPU 0 was slowed down: hardware thermal slowdown");
        assert_eq!(said(0x8c), "GPU 0 was slowed down: power brake");
        let second = gpus(&[None, Some(0x24)], &[Some(0x1), Some(0x1)]);
        let why = second.throttled().unwrap();
        assert_eq!(why, "GPU 1 was slowed down: software thermal slowdown");
        assert_eq!(gpus(&[None], &[]).throttled(), None);
    }

    #[test]
    fn what_the_machine_does_not_tell_is_not_written() {
        let state = MachineState { load: Some(0.5), ..MachineState::default() };
        assert_eq!(serde_json::to_string(&state).unwrap(), r#"{"load":0.5}"#);
        let read: MachineState = serde_json::from_str("{}").unwrap();
        assert_eq!(read, MachineState::default());
    }
}
