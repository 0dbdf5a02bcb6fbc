//! The metrics that every run has, whatever it prints.

use super::Metric;

/// A figure that the system measures of every run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resource {
    /// Wall-clock seconds.
    WallTime,
    /// Largest resident set, MiB.
    PeakMemory,
}

impl Resource {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::WallTime, Self::PeakMemory];

    /// The metric's name after the measure's, as in oracle.toml.
    pub const fn name(self) -> &'static str {
        match self {
            Self::WallTime => "wall_s",
            Self::PeakMemory => "peak_rss_mib",
        }
    }

    /// The resource that a metric is; `None` for a metric that the engine prints.
    pub fn of(metric: &Metric) -> Option<Self> {
        let name = metric.name.as_deref()?;
        Self::ALL.into_iter().find(|resource| resource.name() == name)
    }

    /// The metric of this resource for a measure.
    pub fn metric(self, measure: &str) -> Metric {
        Metric::named(measure, self.name())
    }
}
