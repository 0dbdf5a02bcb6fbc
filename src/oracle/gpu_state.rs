//! The current state of the GPUs, from `nvidia-smi`.

use std::cell::Cell;
use std::time::Duration;

use crate::evaluation::{Ended, GpuState};
use crate::process::{Invocation, tool};

/// Time-out of a query. A query takes about a second, and longer if the driver must load first.
const PATIENCE: Duration = Duration::from_secs(8);

/// The field with the reasons for throttling: its name today, and its name before driver 535.
const REASONS: [&str; 2] = ["clocks_event_reasons.active", "clocks_throttle_reasons.active"];

/// Queries the GPUs. After one failed query this process does not query again, so that a
/// hanging driver costs one wait and not one per run.
#[derive(Debug, Default)]
pub(super) struct GpuProbe {
    known: Cell<Known>,
}

#[derive(Clone, Copy, Debug, Default)]
enum Known {
    #[default]
    Nothing,
    /// The query works with this field name.
    Answers(&'static str),
    Silent,
}

impl GpuProbe {
    /// The GPUs' state; empty if the query fails.
    pub(super) fn ask(&self) -> Vec<GpuState> {
        let names = match self.known.get() {
            Known::Nothing => &REASONS[..],
            Known::Answers(name) => &[name],
            Known::Silent => &[],
        };
        for name in names {
            match answer(name) {
                Answer::Said(text) => {
                    self.known.set(Known::Answers(name));
                    return parse(&text);
                }
                Answer::Refused => {}
                Answer::Nobody => break,
            }
        }
        self.known.set(Known::Silent);
        Vec::new()
    }
}

enum Answer {
    Said(String),
    /// `nvidia-smi` exited with an error: the field name may belong to another version.
    Refused,
    /// `nvidia-smi` does not exist, or hangs.
    Nobody,
}

fn answer(reasons: &str) -> Answer {
    let query = format!("--query-gpu=index,clocks.sm,temperature.gpu,{reasons}");
    let invocation = Invocation::new("nvidia-smi")
        .args([query.as_str(), "--format=csv,noheader,nounits"])
        .timeout(Some(PATIENCE))
        .grace(Duration::from_millis(500));
    match tool(&invocation) {
        Ok(output) if output.ended.is_success() => {
            Answer::Said(String::from_utf8_lossy(&output.stdout).into_owned())
        }
        Ok(output) if matches!(output.ended, Ended::Exited(_)) => Answer::Refused,
        _ => Answer::Nobody,
    }
}

/// Parses one line per GPU: `0, 1980, 45, 0x0000000000000004`. A missing value is `[N/A]`,
/// `[Not Supported]` or `[Unknown Error]`, by driver version. A line that does not begin with a
/// number is ignored.
fn parse(text: &str) -> Vec<GpuState> {
    let line = |line: &str| {
        let mut fields = line.split(',').map(str::trim);
        let index = fields.next()?.parse().ok()?;
        let mut number = || fields.next()?.parse().ok().filter(|x: &f64| x.is_finite());
        let (sm_mhz, temperature_c) = (number(), number());
        let reasons = fields.next().and_then(|field| field.strip_prefix("0x"));
        let reasons = reasons.and_then(|digits| u64::from_str_radix(digits, 16).ok());
        Some(GpuState { index, sm_mhz, temperature_c, reasons })
    };
    text.lines().filter_map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_gpus_of_which_some_have_no_values() {
        let text = "0, 1980, 45, 0x0000000000000004\n\
                    1, [N/A], 51, [Not Supported]\r\n\
                    2, 210, [Unknown Error], 0x0000000000000001\n";
        let gpu = |index, sm_mhz, temperature_c, reasons| GpuState {
            index,
            sm_mhz,
            temperature_c,
            reasons,
        };
        let wanted = [
            gpu(0, Some(1980.0), Some(45.0), Some(4)),
            gpu(1, None, Some(51.0), None),
            gpu(2, Some(210.0), None, Some(1)),
        ];
        assert_eq!(parse(text), wanted);
    }

    #[test]
    fn other_output_yields_no_gpu() {
        assert!(parse("").is_empty());
        assert!(parse("No devices were found\n").is_empty());
        assert!(parse("NVIDIA-SMI has failed because it couldn't communicate\n").is_empty());
        assert_eq!(parse("3\n"), [GpuState { index: 3, ..GpuState::default() }]);
        assert_eq!(parse("3, inf, x, 0xzz\n"), [GpuState { index: 3, ..GpuState::default() }]);
    }
}
