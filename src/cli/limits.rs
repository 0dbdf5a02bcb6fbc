//! The limits of a hunt that is left alone: `--deadline`, `--max-runs`, `--max-hours`,
//! `--max-gpu-hours`.

use std::time::Duration;

use anyhow::anyhow;
use jiff::civil::Time;
use jiff::{Timestamp, ToSpan, Zoned};

use crate::config::Executor;
use crate::evaluation::Limits;

use super::Failed;
use super::args::Unattended;

/// Most hours of `--max-hours`: a year.
const MOST_HOURS: f64 = 8766.0;

/// Most hours of `--max-gpu-hours`: a year of a thousand GPUs.
const MOST_GPU_HOURS: f64 = 1000.0 * MOST_HOURS;

/// The limits; `None` if none is given.
pub(crate) fn of(args: &Unattended) -> Result<Option<Limits>, Failed> {
    let now = Zoned::now();
    let limits = Limits {
        max_runs: args.max_runs,
        max_seconds: hours("--max-hours", args.max_hours, MOST_HOURS)?,
        max_gpu_seconds: hours("--max-gpu-hours", args.max_gpu_hours, MOST_GPU_HOURS)?,
        deadline: args.deadline.as_deref().map(|text| deadline(text, &now)).transpose()?,
    };
    Ok(Some(limits).filter(|limits| !limits.is_empty()))
}

/// Refuses a limit of GPU-hours if the configuration names no number of GPUs: such a limit would
/// never be reached. `file`: the configuration.
pub(super) fn check_gpus(limits: &Limits, executor: &Executor, file: &str) -> Result<(), Failed> {
    if limits.max_gpu_seconds.is_none() || executor.gpus().is_some() {
        return Ok(());
    }
    let hint = "name it: `gres = \"gpu:N\"` under [executor] with kind = \"slurm\", or \
                CUDA_VISIBLE_DEVICES in the env of every slot, equally many in each";
    let error = anyhow!("--max-gpu-hours: {file} does not say how many GPUs a run has");
    Err(Failed::usage(error, Some(hint.to_owned())))
}

/// The seconds of an option in hours.
fn hours(option: &str, typed: Option<f64>, most: f64) -> Result<Option<u64>, Failed> {
    typed.map(|hours| seconds(option, hours, most)).transpose()
}

fn seconds(option: &str, hours: f64, most: f64) -> Result<u64, Failed> {
    if hours > 0.0
        && hours <= most
        && let Ok(time) = Duration::try_from_secs_f64(hours * 3600.0)
    {
        return Ok(time.as_secs() + u64::from(time.subsec_nanos() > 0));
    }
    let hint = format!("write hours as a number above 0, up to {most}, such as 8 or 0.5");
    Err(Failed::usage(anyhow!("{option} {hours}: not a possible time"), Some(hint)))
}

fn deadline(text: &str, now: &Zoned) -> Result<Timestamp, Failed> {
    let refused = |what: &str, hint: &str| {
        Failed::usage(anyhow!("--deadline {text}: {what}"), Some(hint.to_owned()))
    };
    let form = "write HH:MM, or a date and a time with its offset: 2026-11-24T08:00:00+01:00";
    let at = match time_of_day(text) {
        Some(time) => next(time, now),
        None => text.parse().ok(),
    };
    let at = at.ok_or_else(|| refused("not a time", form))?;
    if at <= now.timestamp() {
        let hint = "name a time that is still to come; HH:MM is the next one";
        return Err(refused("this time is in the past", hint));
    }
    Ok(at)
}

/// The time of `8:05` or `08:05`.
fn time_of_day(text: &str) -> Option<Time> {
    let (hour, minute) = text.split_once(':')?;
    let is_number = |text: &str, lengths: std::ops::RangeInclusive<usize>| {
        lengths.contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit())
    };
    if !is_number(hour, 1..=2) || !is_number(minute, 2..=2) {
        return None;
    }
    Time::new(hour.parse().ok()?, minute.parse().ok()?, 0, 0).ok()
}

/// The next point in time after now at which clocks here show this time of day.
fn next(time: Time, now: &Zoned) -> Option<Timestamp> {
    let on = |date: jiff::civil::Date| {
        let at = date.to_datetime(time).to_zoned(now.time_zone().clone()).ok()?;
        Some(at.timestamp()).filter(|at| *at > now.timestamp())
    };
    on(now.date()).or_else(|| on(now.date().checked_add(1.day()).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(text: &str) -> Result<String, String> {
        let now: Zoned = "2026-11-23T22:15:00+01:00[Europe/Berlin]".parse().unwrap();
        deadline(text, &now).map(|at| at.to_string()).map_err(|failed| failed.error.to_string())
    }

    #[test]
    fn a_time_of_day_is_the_next_one_here() {
        assert_eq!(at("08:00").unwrap(), "2026-11-24T07:00:00Z");
        assert_eq!(at("8:00").unwrap(), "2026-11-24T07:00:00Z");
        assert_eq!(at("22:16").unwrap(), "2026-11-23T21:16:00Z");
        assert_eq!(at("22:15").unwrap(), "2026-11-24T21:15:00Z");
    }

    #[test]
    fn a_date_has_its_offset_and_lies_ahead() {
        assert_eq!(at("2026-11-24T08:00:00+01:00").unwrap(), "2026-11-24T07:00:00Z");
        assert_eq!(at("2026-11-24 08:00Z").unwrap(), "2026-11-24T08:00:00Z");
        assert!(at("2026-11-23T20:00:00Z").unwrap_err().contains("in the past"));
        for text in ["", "8", "24:00", "08:60", "-8:00", "08:00:00x", "2026-11-24T08:00", "soon"] {
            assert!(at(text).unwrap_err().contains("not a time"), "{text}");
        }
    }

    #[test]
    fn hours_are_positive_and_finite() {
        let of = |hours: f64| seconds("--max-hours", hours, MOST_HOURS).ok();
        assert_eq!(of(8.0), Some(28_800));
        assert_eq!(of(0.0001), Some(1));
        for hours in [0.0, -1.0, f64::NAN, f64::INFINITY, 1e9] {
            assert_eq!(of(hours), None, "{hours}");
        }
    }
}
