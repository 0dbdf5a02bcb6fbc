//! Checks of measures of time: whether they are exclusive, and whether the machine is busy.

use crate::config::{Config, Exclusive, Measure};
use crate::evaluation::{Guard, GuardForm, Resource};
use crate::oracle::load_average;
use crate::ui::text;

use super::lines::Lines;

/// Warns of time measures that are not exclusive, and of a busy machine.
pub(super) fn timed(lines: &mut Lines, config: &Config) {
    for measure in config.measures.iter().filter(|measure| measure.exclusive == Exclusive::No) {
        let guards = config.guards.iter().filter(|guard| guard.metric.measure == measure.name);
        let yields_speeds = measure.parser.yields_speeds();
        if let Some(guard) = guards.into_iter().find(|guard| yields_speeds || is_of_time(guard)) {
            let about = format!("{} looks like a time or a speed", guard.metric);
            let cure = format!(
                "`exclusive = true` in the measure `{}` keeps our other builds and runs away \
                 from its runs",
                measure.name
            );
            lines.warn("measure", &about, &cure);
        }
    }
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    if config.measures.iter().any(Measure::is_exclusive)
        && let Some(load) = load_average().filter(|load| is_busy(*load, cores))
    {
        let about = format!("the load average is {load} on {}", text::plural(cores, "core"));
        lines.warn("load", &about, "times are worth more when the machine is idle");
    }
}

/// Whether a guard is probably on a time or a speed: `wall_s`, or a decrease in percent, which
/// is the usual tolerance of a throughput.
fn is_of_time(guard: &Guard) -> bool {
    matches!(guard.form, GuardForm::MaxDecreasePercent(_))
        || Resource::of(&guard.metric) == Some(Resource::WallTime)
}

/// Whether the load average exceeds half the cores.
fn is_busy(load: f64, cores: usize) -> bool {
    load > cores as f64 / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::Metric;

    #[test]
    fn a_machine_is_busy_when_more_than_half_its_cores_are() {
        assert!(!is_busy(0.2, 1) && is_busy(0.6, 1));
        assert!(!is_busy(8.0, 16) && is_busy(8.1, 16));
    }

    #[test]
    fn speeds_and_times_are_known_by_their_guards() {
        let of = |metric: Metric, form| is_of_time(&Guard { metric, form });
        assert!(of(Metric::named("speed", "tg"), GuardForm::MaxDecreasePercent(5.0)));
        assert!(of(Metric::named("ppl", "wall_s"), GuardForm::Max(60.0)));
        assert!(!of(Metric::of("ppl"), GuardForm::MaxIncrease(0.1)));
        assert!(!of(Metric::named("ppl", "peak_rss_mib"), GuardForm::MaxIncreasePercent(5.0)));
    }
}
