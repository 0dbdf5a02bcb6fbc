//! Reads the machine's current state from `/proc` and `/sys`.

use std::path::{Path, PathBuf};

use crate::evaluation::MachineState;
use crate::process::oom_kills;

/// Plausible temperatures, °C. Sensors that are not connected show the ends of their scale.
const PLAUSIBLE_C: std::ops::Range<f64> = 1.0..127.0;

/// The state from the files below `root` (`/` for the machine itself), without GPUs.
pub(super) fn read(root: &Path) -> MachineState {
    let cpus = numbered(&root.join("sys/devices/system/cpu"), "cpu");
    let khz: Vec<f64> =
        cpus.iter().filter_map(|cpu| number(&cpu.join("cpufreq/scaling_cur_freq"))).collect();
    // Each core repeats its package's count. Only a rise of the sum matters.
    let counts = cpus.iter().flat_map(|cpu| {
        let counts = cpu.join("thermal_throttle");
        ["core_throttle_count", "package_throttle_count"].map(|file| counts.join(file))
    });
    MachineState {
        load: load(root),
        cpu_mhz: (!khz.is_empty()).then(|| khz.iter().sum::<f64>() / khz.len() as f64 / 1000.0),
        hottest_c: hottest(root),
        throttle_count: counts.filter_map(|file| whole(&file)).reduce(u64::saturating_add),
        oom_kills: oom_kills(root),
        free_mib: free_mib(root),
        gpus: Vec::new(),
    }
}

/// The load average of the last minute, if the system provides it.
pub(crate) fn load_average() -> Option<f64> {
    load(Path::new("/"))
}

fn load(root: &Path) -> Option<f64> {
    let text = std::fs::read_to_string(root.join("proc/loadavg")).ok()?;
    finite(text.split_whitespace().next()?)
}

/// The memory that programs can still get, as the kernel estimates it (`MemAvailable`, in KiB).
fn free_mib(root: &Path) -> Option<f64> {
    let text = std::fs::read_to_string(root.join("proc/meminfo")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    Some(finite(line.split_whitespace().next()?)? / 1024.0)
}

/// The highest temperature in °C; the files hold thousandths.
fn hottest(root: &Path) -> Option<f64> {
    let zones = numbered(&root.join("sys/class/thermal"), "thermal_zone");
    let zones = zones.into_iter().map(|zone| zone.join("temp"));
    let chips = numbered(&root.join("sys/class/hwmon"), "hwmon");
    let sensors = chips.iter().flat_map(|chip| {
        let is_input = |path: &PathBuf| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            name.starts_with("temp") && name.ends_with("_input")
        };
        entries(chip).into_iter().filter(is_input)
    });
    zones
        .chain(sensors)
        .filter_map(|file| number(&file))
        .map(|thousandths| thousandths / 1000.0)
        .filter(|degrees| PLAUSIBLE_C.contains(degrees))
        .max_by(f64::total_cmp)
}

/// The entries of a folder whose names are `word` and a number.
fn numbered(folder: &Path, word: &str) -> Vec<PathBuf> {
    let mut found = entries(folder);
    found.retain(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.strip_prefix(word).is_some_and(|rest| rest.parse::<u32>().is_ok())
    });
    found
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten();
    entries.filter_map(|entry| Some(entry.ok()?.path())).collect()
}

/// The number in a file; `None` for sensors of a sleeping device, which cannot be read.
fn number(file: &Path) -> Option<f64> {
    finite(&std::fs::read_to_string(file).ok()?)
}

fn whole(file: &Path) -> Option<u64> {
    std::fs::read_to_string(file).ok()?.trim().parse().ok()
}

fn finite(text: &str) -> Option<f64> {
    text.trim().parse().ok().filter(|number: &f64| number.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A fake machine: a folder with such files.
    struct Made(tempfile::TempDir);

    impl Made {
        fn of(files: &[(&str, &str)]) -> Self {
            let made = Self(tempfile::tempdir().unwrap());
            for (path, text) in files {
                let path = made.0.path().join(path);
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(path, text).unwrap();
            }
            made
        }

        fn read(&self) -> MachineState {
            read(self.0.path())
        }
    }

    #[test]
    fn a_machine_that_tells_everything() {
        let made = Made::of(&[
            ("proc/loadavg", "3.25 2.00 1.00 2/345 6789\n"),
            ("proc/vmstat", "oom_kill 2\n"),
            ("proc/meminfo", "MemTotal: 4096 kB\nMemAvailable:   2048 kB\n"),
            ("sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "3400000\n"),
            ("sys/devices/system/cpu/cpu1/cpufreq/scaling_cur_freq", "2600000\n"),
            ("sys/devices/system/cpu/cpufreq/policy0/scaling_cur_freq", "1\n"),
            ("sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count", "2\n"),
            ("sys/devices/system/cpu/cpu1/thermal_throttle/core_throttle_count", "3\n"),
            ("sys/devices/system/cpu/cpu1/thermal_throttle/package_throttle_count", "10\n"),
            ("sys/class/thermal/thermal_zone0/temp", "58000\n"),
            ("sys/class/thermal/cooling_device0/temp", "99000\n"),
            ("sys/class/hwmon/hwmon2/temp1_input", "61500\n"),
            ("sys/class/hwmon/hwmon2/temp1_max", "100000\n"),
            // Not connected, and one that cannot be read now.
            ("sys/class/hwmon/hwmon3/temp7_input", "127000\n"),
            ("sys/class/hwmon/hwmon3/temp8_input", "-128000\n"),
            ("sys/class/hwmon/hwmon3/temp9_input", ""),
        ]);
        let state = made.read();
        assert_eq!(state.load, Some(3.25));
        assert_eq!(state.cpu_mhz, Some(3000.0));
        assert_eq!(state.hottest_c, Some(61.5));
        assert_eq!(state.throttle_count, Some(15));
        assert_eq!(state.oom_kills, Some(2));
        assert_eq!(state.free_mib, Some(2.0));
        assert!(state.gpus.is_empty());
    }

    #[test]
    fn what_a_machine_does_not_tell_is_absent() {
        assert_eq!(Made::of(&[]).read(), MachineState::default());
        let made = Made::of(&[
            ("proc/loadavg", "nan\n"),
            ("sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count", "0\n"),
            ("sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "<unknown>\n"),
        ]);
        let none_yet = MachineState { throttle_count: Some(0), ..MachineState::default() };
        assert_eq!(made.read(), none_yet);
    }
}
